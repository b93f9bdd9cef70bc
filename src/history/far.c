#include "history/far.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define BITS_USUAL 12  /* speed: few messages, and shares of small data all the same */
#define SPLIT_BITS 2   /* safety: at least 4 shares a rank of each octave of arrivals, so that they are about equal */
#define KEPT_ROWS 4096 /* safety: room for what a stage draws, */
#define KEPT_BYTES ((size_t)1 << 24)  /* safety: and no more */
#define BUFFER_KEPT ((size_t)1 << 24) /* safety: a small part of the rows there are then */
#define SLOTS (4 * KEPT_ROWS)         /* safety: a hash table that is mostly empty */
#define DRAWN_MOST 64                 /* safety: draws that may be twice the same */
#define RUN_MOST ((size_t)1 << KF_BLOCK_BITS)
#define NUMBER_MASK 0x3fffffffu

struct chunk {
    struct chunk *next;
    double numbers[];
};

struct kept {
    size_t point; /* one more than it */
    const double *row;
};

/* Rows that were fetched, by point. */
struct generation {
    struct kept *slot;
    struct chunk *chunks;
    size_t rows, bytes;
};

struct buffer {
    double *numbers;
    size_t capacity;
};

struct kf_far {
    const keepfit_team *team;
    unsigned shift, shift_most; /* blocks of a share, as powers of 2 */
    unsigned split;             /* shares of an octave */
    uint64_t exchanges;         /* so far: all ranks have to be at the same one */
    struct buffer buffers[2];   /* what goes out, and what comes in */
    pthread_t thread;
    struct generation kept[2]; /* the newer one first */
    const struct kf_points *of;
    size_t next; /* the point that would be next in order */
};

static unsigned bits_of(uint64_t number)
{
    unsigned bits = 0;
    for (; number; number >>= 1)
        bits++;
    return bits;
}

struct kf_far *kf_far_create(const keepfit_team *team, uint64_t window)
{
    struct kf_far *far = kf_allocate(1, sizeof *far);
    if (!far)
        return NULL;
    unsigned bits = team->block_bits ? team->block_bits : BITS_USUAL;
    assert(bits >= KF_BLOCK_BITS && team->size > 0 && team->rank < team->size);
    *far = (struct kf_far){.team = team, .shift = bits - KF_BLOCK_BITS, .shift_most = 30, .thread = pthread_self()};
    far->split = bits_of(team->size - 1) + SPLIT_BITS;
    if (window) { /* no share is a large part of it */
        unsigned most = bits_of(window >> KF_BLOCK_BITS);
        far->shift_most = most > far->split ? most - far->split : 0;
    }
    if (far->shift_most < far->shift)
        far->shift_most = far->shift;
    return far;
}

static void clear(struct generation *generation)
{
    while (generation->chunks) {
        struct chunk *next = generation->chunks->next;
        free(generation->chunks);
        generation->chunks = next;
    }
    if (generation->slot && generation->rows)
        memset(generation->slot, 0, SLOTS * sizeof *generation->slot);
    generation->rows = generation->bytes = 0;
}

void kf_far_free(struct kf_far *far)
{
    for (size_t k = 0; far && k < 2; k++) {
        clear(&far->kept[k]);
        free(far->kept[k].slot);
        free(far->buffers[k].numbers);
    }
    free(far);
}

void kf_far_fail(const struct kf_far *far, const char *message)
{
    far->team->fail(far->team->context, message);
    abort(); /* an engine does not get here */
}

static void *need(const struct kf_far *far, void *memory)
{
    if (!memory)
        kf_far_fail(far, "out of memory");
    return memory;
}

/* ---- who has what ---- */

void kf_far_begin_own(struct kf_points *points)
{
    assert(points->far && points->fetches);
    points->fetches = false;
}

void kf_far_end_own(struct kf_points *points)
{
    assert(points->far && !points->fetches);
    points->fetches = true;
}

bool kf_far_at_hand(const struct kf_points *points)
{
    return !points->fetches;
}

/* Blocks of the share that a block is in, as a power of 2: shares grow with the number of arrival, so that there are few. */
static unsigned shift_at(const struct kf_far *far, uint32_t block)
{
    unsigned octave = bits_of(block), shift = octave > far->split + 1 ? octave - 1 - far->split : 0;
    return shift < far->shift ? far->shift : shift > far->shift_most ? far->shift_most : shift;
}

static size_t owner_of(const struct kf_far *far, uint32_t block)
{
    return (block >> shift_at(far, block)) % far->team->size;
}

bool kf_far_next(const struct kf_points *points, size_t count, struct kf_far_range *range)
{
    if (range->to >= count)
        return false;
    uint32_t block = points->place[range->to].block;
    unsigned shift = shift_at(points->far, block);
    size_t low = range->to + 1, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uint32_t)points->place[middle].block >> shift == block >> shift)
            low = middle + 1;
        else
            high = middle;
    }
    *range = (struct kf_far_range){.from = range->to, .to = low, .owner = owner_of(points->far, block)};
    return true;
}

bool kf_far_is_own(const struct kf_far *far, const struct kf_far_range *range)
{
    return range->owner == far->team->rank;
}

unsigned kf_far_shift(const struct kf_far *far)
{
    return far->shift;
}

size_t kf_far_ranks(const struct kf_far *far)
{
    return far->team->size;
}

size_t kf_far_rank(const struct kf_far *far)
{
    return far->team->rank;
}

bool kf_far_keeps(const struct kf_far *far, uint32_t block)
{
    return owner_of(far, block) == far->team->rank;
}

/* ---- exchanges ---- */

/* Numbers on their way: `own`, and `all`, in both of which each rank's begin with one that says which exchange this is. So ranks that have come
 * apart are found out, and nobody takes one thing for another. */
struct parcel {
    size_t ranks, total, *counts, *begin; /* of numbers, those included; where each rank's begin in `all` */
    double *own, *all;
};

static double *make_buffer(struct kf_far *far, struct buffer *buffer, size_t count)
{
    if (!KF_RESERVE(buffer->numbers, buffer->capacity, count))
        kf_far_fail(far, "out of memory");
    return buffer->numbers;
}

/* counts[r] numbers of rank r are to be exchanged: this one's go to own + 1. */
static struct parcel pack(struct kf_far *far, const size_t *counts)
{
    struct parcel parcel = {.ranks = far->team->size};
    parcel.counts = need(far, kf_allocate(2 * parcel.ranks, sizeof *parcel.counts));
    parcel.begin = parcel.counts + parcel.ranks;
    for (size_t r = 0; r < parcel.ranks; r++) {
        parcel.counts[r] = (counts[r] + 1) * sizeof(double);
        parcel.begin[r] = parcel.total + 1;
        parcel.total += counts[r] + 1;
    }
    parcel.own = make_buffer(far, &far->buffers[0], counts[far->team->rank] + 1);
    parcel.all = make_buffer(far, &far->buffers[1], parcel.total);
    return parcel;
}

static void send(struct kf_far *far, struct parcel *parcel)
{
    bool together = true;
    parcel->own[0] = (double)++far->exchanges;
    far->team->gather(far->team->context, parcel->own, parcel->counts, parcel->all);
    for (size_t r = 0; r < parcel->ranks; r++)
        together &= parcel->all[parcel->begin[r] - 1] == parcel->own[0];
    if (!together)
        kf_far_fail(far, "the ranks have come apart: not all have the same options and data");
}

static void unpack(struct kf_far *far, struct parcel *parcel)
{
    free(parcel->counts);
    for (size_t k = 0; k < 2; k++)
        if (far->buffers[k].capacity * sizeof(double) > BUFFER_KEPT) {
            free(far->buffers[k].numbers);
            far->buffers[k] = (struct buffer){0};
        }
}

void kf_far_gather(struct kf_far *far, const double *own, const size_t *counts, double *all)
{
    struct parcel parcel = pack(far, counts);
    memcpy(parcel.own + 1, own, counts[far->team->rank] * sizeof *own);
    send(far, &parcel);
    for (size_t r = 0; r < parcel.ranks; all += counts[r++])
        memcpy(all, parcel.all + parcel.begin[r], counts[r] * sizeof *all);
    unpack(far, &parcel);
}

void kf_far_exchange(const struct kf_points *points, size_t count, size_t each, double *numbers)
{
    struct kf_far *far = points->far;
    size_t *counts = need(far, kf_allocate(far->team->size, sizeof *counts)), at = 1;
    for (struct kf_far_range range = {0}; kf_far_next(points, count, &range);)
        counts[range.owner] += (range.to - range.from) * each;
    struct parcel parcel = pack(far, counts);
    for (struct kf_far_range range = {0}; kf_far_next(points, count, &range);)
        if (kf_far_is_own(far, &range)) {
            memcpy(parcel.own + at, numbers + range.from * each, (range.to - range.from) * each * sizeof *numbers);
            at += (range.to - range.from) * each;
        }
    send(far, &parcel);
    for (struct kf_far_range range = {0}; kf_far_next(points, count, &range);) {
        size_t length = (range.to - range.from) * each;
        if (!kf_far_is_own(far, &range))
            memcpy(numbers + range.from * each, parcel.all + parcel.begin[range.owner], length * sizeof *numbers);
        parcel.begin[range.owner] += length;
    }
    unpack(far, &parcel);
    free(counts);
}

/* ---- rows ---- */

static struct kept *slot_of(const struct generation *generation, size_t point)
{
    size_t at = (point * 0x9e3779b97f4a7c15u) >> 32 & (SLOTS - 1);
    while (generation->slot[at].point && generation->slot[at].point != point + 1)
        at = (at + 1) & (SLOTS - 1);
    return &generation->slot[at];
}

static const double *find(const struct kf_far *far, size_t point)
{
    for (size_t k = 0; k < 2; k++)
        if (far->kept[k].rows) {
            const struct kept *kept = slot_of(&far->kept[k], point);
            if (kept->point)
                return kept->row;
        }
    return NULL;
}

static bool is_near(const struct kf_points *points, size_t j)
{
    return (uint32_t)points->place[j].block == (uint32_t)((points->arrived - 1) >> KF_BLOCK_BITS & NUMBER_MASK);
}

/* A row in doubles, its indices included. */
static size_t size_of(const struct kf_place *place)
{
    return place->count + (place->dense ? 0 : ((size_t)place->count + 1) / 2);
}

/* Room for that many more numbers, in the newer generation; the older one goes where the newer one is full. */
static double *make_room(struct kf_far *far, size_t rows, size_t numbers)
{
    size_t bytes = numbers * sizeof(double);
    if (far->kept[0].rows + rows > KEPT_ROWS || far->kept[0].bytes + bytes > KEPT_BYTES) {
        struct generation older = far->kept[1];
        clear(&older);
        far->kept[1] = far->kept[0];
        far->kept[0] = older;
    }
    if (!far->kept[0].slot)
        far->kept[0].slot = need(far, kf_allocate(SLOTS, sizeof(struct kept)));
    struct chunk *chunk = need(far, kf_allocate_raw(sizeof *chunk + bytes));
    chunk->next = far->kept[0].chunks;
    far->kept[0].chunks = chunk;
    far->kept[0].bytes += bytes;
    return chunk->numbers;
}

/* Rows of up to RUN_MOST points that nobody has fetched yet, into the memory of all. */
static void fetch(const struct kf_points *points, size_t count, const size_t *which)
{
    struct kf_far *far = points->far;
    size_t ranks = far->team->size, total = 0, at = 0;
    size_t *counts = need(far, kf_allocate(ranks, sizeof *counts)),
           *begin = need(far, kf_allocate(ranks, sizeof *begin));
    if (!pthread_equal(pthread_self(), far->thread))
        kf_far_fail(far, "a helper asks for a row of another rank");
    for (size_t k = 0; k < count; k++)
        counts[owner_of(far, points->place[which[k]].block)] += size_of(&points->place[which[k]]);
    for (size_t r = 0; r < ranks; r++) {
        begin[r] = total;
        total += counts[r];
    }
    double *own = need(far, kf_allocate_raw((counts[far->team->rank] + 1) * sizeof *own));
    for (size_t k = 0; k < count; k++) {
        const struct kf_place *place = &points->place[which[k]];
        if (owner_of(far, place->block) != far->team->rank)
            continue;
        memcpy(own + at, place->value, place->count * (place->dense ? 8 : 12));
        at += size_of(place);
    }
    double *room = make_room(far, count, total);
    kf_far_gather(far, own, counts, room);
    for (size_t k = 0; k < count; k++) {
        const struct kf_place *place = &points->place[which[k]];
        size_t owner = owner_of(far, place->block);
        *slot_of(&far->kept[0], which[k]) = (struct kept){which[k] + 1, room + begin[owner]};
        begin[owner] += size_of(place);
    }
    far->kept[0].rows += count;
    free(counts);
    free(begin);
    free(own);
}

void kf_far_fetch(const struct kf_points *points, size_t count, const size_t *which)
{
    size_t wanted[RUN_MOST], many = 0;
    if (kf_far_at_hand(points))
        return;
    for (size_t k = 0; k < count && many < RUN_MOST; k++) {
        bool there = is_near(points, which[k]) || (points->far->of == points && find(points->far, which[k]));
        for (size_t l = 0; l < many && count <= DRAWN_MOST && !there; l++) /* of many a few come twice */
            there = wanted[l] == which[k];
        if (!there)
            wanted[many++] = which[k];
    }
    if (many == 0)
        return;
    if (points->far->of != points) {
        kf_far_forget(points->far->of);
        points->far->of = points;
    }
    fetch(points, many, wanted);
}

void kf_far_forget(const struct kf_points *points)
{
    if (!points || points->far->of != points)
        return;
    clear(&points->far->kept[0]);
    clear(&points->far->kept[1]);
    points->far->next = SIZE_MAX;
}

/* The row of point j, and, where rows are read in order, those behind it in its block. */
static const double *fetch_from(const struct kf_points *points, size_t j)
{
    size_t which[RUN_MOST], count = 1, bytes = 0;
    which[0] = j;
    bool in_order = points->far->of == points && points->far->next == j;
    while (in_order && count < RUN_MOST && j + count < points->count &&
           points->place[j + count].block == points->place[j].block && bytes < KEPT_BYTES / 4) {
        bytes += size_of(&points->place[j + count]) * sizeof(double);
        which[count] = j + count;
        count++;
    }
    kf_far_fetch(points, count, which);
    points->far->next = j + count;
    return find(points->far, j);
}

keepfit_row kf_far_row(const struct kf_points *points, size_t j)
{
    const struct kf_place *place = &points->place[j];
    const double *value = place->value;
    assert(j < points->count);
    if (!is_near(points, j)) {
        value = points->far->of == points ? find(points->far, j) : NULL;
        if (!value)
            value = fetch_from(points, j);
    }
    assert(value);
    return (keepfit_row){
        .count = place->count,
        .index = place->dense ? NULL : (const uint32_t *)(value + place->count),
        .value = value,
    };
}
