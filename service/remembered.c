/* What a service has to know again after a restart. It stands in the journal as notes, texts of lines:
 *
 *   A DIGEST COUNT DONE FIRST LAST KEY     the points of a request follow, but for those that are in already
 *   K DIGEST COUNT DONE FIRST LAST KEY     so many of them are in
 *   W SINCE LENGTH LENGTH LENGTH ID ROW PREDICTION     a row waits for its label
 *   V COUNT WRONG SQUARES                  what came of predictions whose labels came later; behind an A: once its points are in
 *
 * The learner takes one request after the other, so of the newest A as many points are in as have come since; and after a restart a K
 * says that, before anything else comes. A label is a request with the key "l:" and its id. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/service.h"

#define BUCKETS 4096
#define NOTES_LEAST 20000 /* before they are gathered */

struct memory {
    const struct limits *limits;
    struct remembered *keys[BUCKETS], *oldest_key, *newest_key;
    struct waiting *rows[BUCKETS], *oldest_row, *newest_row;
    size_t key_count, row_count, notes;
    struct validation validation;
    struct remembered *announced; /* while the notes are read: the newest A, */
    uint64_t announced_at;        /* and how many points there were then, */
    struct validation then;       /* and the validation once they are in, */
    bool has_then;                /* if it said one */
};

static size_t bucket(const char *words)
{
    uint64_t hash = 14695981039346656037u;
    for (; *words; words++)
        hash = (hash ^ (unsigned char)*words) * 1099511628211u;
    return (size_t)(hash >> 20) % BUCKETS;
}

struct memory *memory_create(const struct limits *limits)
{
    struct memory *memory = calloc(1, sizeof *memory);
    if (memory)
        memory->limits = limits;
    return memory;
}

static void free_key(struct remembered *entry)
{
    free(entry->key);
    free(entry);
}

static void free_row(struct waiting *waiting)
{
    free(waiting->id);
    free(waiting->row);
    free(waiting->prediction);
    free(waiting);
}

void memory_free(struct memory *memory)
{
    if (!memory)
        return;
    for (struct remembered *entry = memory->oldest_key, *next; entry; entry = next) {
        next = entry->newer;
        free_key(entry);
    }
    for (struct waiting *waiting = memory->oldest_row, *next; waiting; waiting = next) {
        next = waiting->newer;
        free_row(waiting);
    }
    free(memory);
}

struct remembered *memory_find(struct memory *memory, const char *key)
{
    struct remembered *entry = memory->keys[bucket(key)];
    while (entry && strcmp(entry->key, key) != 0)
        entry = entry->chain;
    return entry;
}

struct waiting *memory_waiting(struct memory *memory, const char *id)
{
    struct waiting *waiting = memory->rows[bucket(id)];
    while (waiting && strcmp(waiting->id, id) != 0)
        waiting = waiting->chain;
    return waiting;
}

static void drop_oldest_key(struct memory *memory)
{
    struct remembered *entry = memory->oldest_key, **place = &memory->keys[bucket(entry->key)];
    while (*place != entry)
        place = &(*place)->chain;
    *place = entry->chain;
    memory->oldest_key = entry->newer;
    if (entry->newer)
        entry->newer->older = NULL;
    else
        memory->newest_key = NULL;
    memory->key_count--;
    if (memory->announced == entry)
        memory->announced = NULL;
    free_key(entry);
}

static struct remembered *add_key(struct memory *memory, const char *key, uint64_t digest, uint64_t count)
{
    struct remembered *entry = calloc(1, sizeof *entry);
    if (!entry || !(entry->key = strdup(key))) {
        free(entry);
        return NULL;
    }
    while (memory->key_count >= memory->limits->keys && memory->oldest_key)
        drop_oldest_key(memory);
    entry->digest = digest;
    entry->count = count;
    entry->chain = memory->keys[bucket(key)];
    memory->keys[bucket(key)] = entry;
    entry->older = memory->newest_key;
    if (memory->newest_key)
        memory->newest_key->newer = entry;
    else
        memory->oldest_key = entry;
    memory->newest_key = entry;
    memory->key_count++;
    return entry;
}

void memory_labelled(struct memory *memory, struct waiting *waiting)
{
    struct waiting **place = &memory->rows[bucket(waiting->id)];
    while (*place != waiting)
        place = &(*place)->chain;
    *place = waiting->chain;
    *(waiting->older ? &waiting->older->newer : &memory->oldest_row) = waiting->newer;
    *(waiting->newer ? &waiting->newer->older : &memory->newest_row) = waiting->older;
    memory->row_count--;
    free_row(waiting);
}

void memory_again(struct memory *memory, const char *key, uint64_t digest)
{
    struct remembered *entry = memory_find(memory, key);
    if (!entry)
        return;
    entry->digest = digest;
    entry->done = 0;
}

void memory_expire(struct memory *memory)
{
    uint64_t now = clock_seconds();
    while (memory->oldest_row && (memory->row_count > memory->limits->waiting ||
                                  memory->oldest_row->since + memory->limits->waiting_seconds < now))
        memory_labelled(memory, memory->oldest_row);
}

static char *copy(const char *bytes, size_t count)
{
    char *made = malloc(count + 1);
    if (made) {
        memcpy(made, bytes, count);
        made[count] = '\0';
    }
    return made;
}

static bool add_row(struct memory *memory, char *id, char *row, char *prediction, uint64_t since)
{
    struct waiting *waiting = calloc(1, sizeof *waiting), *before;
    if (!waiting || !id || !row || !prediction) {
        free(id);
        free(row);
        free(prediction);
        free(waiting);
        return false;
    }
    if ((before = memory_waiting(memory, id)))
        memory_labelled(memory, before); /* the newest row of an id counts */
    *waiting = (struct waiting){.id = id, .row = row, .prediction = prediction, .since = since};
    waiting->chain = memory->rows[bucket(id)];
    memory->rows[bucket(id)] = waiting;
    waiting->older = memory->newest_row;
    *(memory->newest_row ? &memory->newest_row->newer : &memory->oldest_row) = waiting;
    memory->newest_row = waiting;
    memory->row_count++;
    return true;
}

size_t memory_waiting_count(const struct memory *memory)
{
    return memory->row_count;
}

struct validation *memory_validation(struct memory *memory)
{
    return &memory->validation;
}

/* ---- writing ---- */

static void write_key(struct text *text, char kind, const struct remembered *entry)
{
    text_printf(text, "%c %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", kind, entry->digest,
                entry->count, entry->done, entry->first, entry->last, entry->key);
}

static void write_row(struct text *text, const struct waiting *waiting)
{
    text_printf(text, "W %" PRIu64 " %zu %zu %zu ", waiting->since, strlen(waiting->id), strlen(waiting->row),
                strlen(waiting->prediction));
    text_put(text, waiting->id);
    text_put(text, waiting->row);
    text_put(text, waiting->prediction);
    text_put(text, "\n");
}

static void write_validation(struct text *text, const struct validation *sums)
{
    text_printf(text, "V %" PRIu64 " %" PRIu64 " %.17g\n", sums->count, sums->wrong, sums->square_sum);
}

static keepfit_status write_note(struct memory *memory, keepfit_fit *fit, struct text *text, bool instead)
{
    keepfit_status status = KEEPFIT_NO_MEMORY;
    if (!text->failed)
        status = instead ? keepfit_fit_note_instead(fit, text->at, text->count)
                         : keepfit_fit_note(fit, text->at, text->count);
    memory->notes = instead ? 1 : memory->notes + 1;
    text_free(text);
    return status;
}

struct remembered *memory_announce(struct memory *memory, keepfit_fit *fit, const char *key, uint64_t digest,
                                   uint64_t count, const struct validation *then, keepfit_status *status)
{
    struct text text = {0};
    struct remembered *entry = memory_find(memory, key);
    if (!entry)
        entry = add_key(memory, key, digest, count);
    *status = entry ? KEEPFIT_OK : KEEPFIT_NO_MEMORY;
    if (!entry)
        return NULL;
    write_key(&text, 'A', entry);
    if (then)
        write_validation(&text, then);
    *status = write_note(memory, fit, &text, false);
    return *status == KEEPFIT_OK ? entry : NULL;
}

keepfit_status memory_wait(struct memory *memory, keepfit_fit *fit, const char *id, const char *row, size_t row_count,
                           const char *prediction, size_t prediction_count)
{
    struct text text = {0};
    if (!add_row(memory, copy(id, strlen(id)), copy(row, row_count), copy(prediction, prediction_count),
                 clock_seconds()))
        return KEEPFIT_NO_MEMORY;
    write_row(&text, memory->newest_row);
    memory_expire(memory);
    return write_note(memory, fit, &text, false);
}

keepfit_status memory_gather(struct memory *memory, keepfit_fit *fit, bool now)
{
    struct text text = {0};
    size_t live = memory->key_count + memory->row_count;
    if (memory->notes <= 1 || (!now && memory->notes < NOTES_LEAST + 4 * live))
        return KEEPFIT_OK;
    memory_expire(memory);
    for (const struct remembered *entry = memory->oldest_key; entry; entry = entry->newer)
        write_key(&text, 'K', entry);
    for (const struct waiting *waiting = memory->oldest_row; waiting; waiting = waiting->newer)
        write_row(&text, waiting);
    write_validation(&text, &memory->validation);
    return write_note(memory, fit, &text, true);
}

/* ---- reading ---- */

/* How many points of the newest announcement are in, now that `points` have come. */
static void resolve(struct memory *memory, uint64_t points)
{
    struct remembered *entry = memory->announced;
    bool has_then = memory->has_then;
    memory->announced = NULL;
    memory->has_then = false;
    if (!entry)
        return;
    uint64_t came = points - memory->announced_at, missing = entry->count - entry->done;
    uint64_t taken = came < missing ? came : missing;
    if (taken && entry->done == 0)
        entry->first = memory->announced_at + 1;
    if (taken)
        entry->last = memory->announced_at + taken;
    entry->done += taken;
    if (has_then && entry->done == entry->count)
        memory->validation = memory->then;
    if (entry->done == entry->count && strncmp(entry->key, "l:", 2) == 0 && memory_waiting(memory, entry->key + 2))
        memory_labelled(memory, memory_waiting(memory, entry->key + 2));
}

static bool read_key(struct memory *memory, const char *line, size_t length, uint64_t points)
{
    struct remembered read = {0};
    int at = 0;
    char *words = copy(line, length);
    bool good = words && sscanf(words, "%*c %" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %n",
                                &read.digest, &read.count, &read.done, &read.first, &read.last, &at) == 5;
    good = good && at > 0 && words[at] && read.done <= read.count;
    struct remembered *entry = good ? memory_find(memory, words + at) : NULL;
    if (good && !entry)
        entry = add_key(memory, words + at, read.digest, read.count);
    if (entry) {
        entry->digest = read.digest;
        entry->count = read.count;
        entry->done = read.done;
        entry->first = read.first;
        entry->last = read.last;
        memory->announced = *line == 'A' ? entry : memory->announced;
        memory->announced_at = points;
    }
    free(words);
    return entry;
}

/* The end of the line, whose texts may hold any byte. NULL: it makes no sense. */
static const char *read_row(struct memory *memory, const char *line, const char *end)
{
    uint64_t since;
    size_t lengths[3], sum = 0;
    int at = 0;
    char head[100];
    size_t most = (size_t)(end - line) < sizeof head - 1 ? (size_t)(end - line) : sizeof head - 1;
    memcpy(head, line, most);
    head[most] = '\0';
    if (sscanf(head, "W %" SCNu64 " %zu %zu %zu%n", &since, &lengths[0], &lengths[1], &lengths[2], &at) != 4 ||
        at == 0 || head[at] != ' ')
        return NULL;
    const char *from = line + at + 1;
    for (int k = 0; k < 3; k++) {
        if (lengths[k] > (size_t)(end - from) - sum)
            return NULL;
        sum += lengths[k];
    }
    if (from + sum >= end || from[sum] != '\n')
        return NULL;
    const char *row = from + lengths[0], *prediction = row + lengths[1];
    return add_row(memory, copy(from, lengths[0]), copy(row, lengths[1]), copy(prediction, lengths[2]), since)
               ? from + sum
               : NULL;
}

static bool read_validation(struct memory *memory, const char *line, size_t length, bool then)
{
    char *words = copy(line, length);
    struct validation *sums = then ? &memory->then : &memory->validation;
    memory->has_then = then;
    bool good =
        words && sscanf(words, "V %" SCNu64 " %" SCNu64 " %lf", &sums->count, &sums->wrong, &sums->square_sum) == 3;
    free(words);
    return good;
}

static bool read_note(struct memory *memory, const keepfit_note *note)
{
    const char *at = (const char *)note->bytes, *end = at + note->count;
    bool announces = false;
    resolve(memory, note->points);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            return false;
        bool good = false;
        announces = announces || *at == 'A';
        if (*at == 'A' || *at == 'K')
            good = read_key(memory, at, (size_t)(stop - at), note->points);
        else if (*at == 'W')
            good = (stop = read_row(memory, at, end)) != NULL;
        else if (*at == 'V')
            good = read_validation(memory, at, (size_t)(stop - at), announces);
        if (!good)
            return false;
        at = stop + 1;
    }
    return true;
}

keepfit_status memory_recall(struct memory *memory, keepfit_fit *fit)
{
    keepfit_note note = {.struct_size = sizeof note};
    keepfit_report report = {.struct_size = sizeof report};
    struct text text = {0};
    for (size_t k = 0; keepfit_fit_noted(fit, k, &note); k++, memory->notes++)
        if (!read_note(memory, &note))
            return KEEPFIT_CORRUPT;
    keepfit_fit_report(fit, &report);
    struct remembered *newest = memory->announced;
    resolve(memory, report.stage);
    memory_expire(memory);
    if (!newest || newest->done == newest->count)
        return KEEPFIT_OK;
    write_key(&text, 'K', newest);
    return write_note(memory, fit, &text, false);
}
