/* Points: random access by index, rows packed into large blocks of memory that never move, or lying elsewhere, in the mapped
 * files of a journal.
 *
 * A row occupies count doubles followed by count 32-bit indices; a row whose indices are 0 .. count-1 is stored without
 * them ("dense"), whatever it looked like when it came. Per point there are 32 bytes besides, half a cache line. */
#ifndef KF_POINTS_H
#define KF_POINTS_H

#include "base/lead.h"

/* Points of a block. */
#define KF_BLOCK_BITS 10 /* safety: all bits go by it, so it stays */

struct kf_place {
    double *value;
    uint32_t count;
    uint32_t dense : 1;
    uint32_t filled : 1; /* has entries that did not come with it (centres.h) */
    uint32_t block : 30; /* the number of its arrival, in blocks: what sums go by (objective/tree.h) */
    double target, weight;
};

struct kf_points {
    size_t count;
    struct kf_place *place; /* of the oldest; the memory begins `gone` places before it */
    size_t place_capacity, gone;
    uint64_t arrived;        /* points that have ever come */
    uint64_t entries;        /* stored values in all */
    struct kf_block *blocks; /* newest first */
    struct kf_block *oldest;
    bool closed;        /* the newest block takes no more rows */
    bool fetches;       /* rows are asked of `far` */
    struct kf_far *far; /* which rows are on other ranks (far.h); NULL: all are here */
};

void kf_points_free(struct kf_points *points);
/* No points, but the memory is kept for new ones. */
void kf_points_clear(struct kf_points *points);

/* Appends a point, with the lead (base/lead.h) in front of its row. False: out of memory, and nothing has changed. */
bool kf_points_append(struct kf_points *points, const keepfit_point *point, const struct kf_lead *lead);

/* Appends a point whose row lies elsewhere, and stays there as long as the points do. False: out of memory, and nothing has
 * changed. */
bool kf_points_append_lent(struct kf_points *points, const struct kf_place *place);
/* Point j came as the arrival-th. Of one that was appended last it is known already. */
static inline void kf_points_number(struct kf_points *points, size_t j, uint64_t arrival)
{
    points->place[j].block = (uint32_t)((arrival - 1) >> KF_BLOCK_BITS & 0x3fffffff);
    points->arrived = arrival;
}
/* The next row in memory begins a block of its own. */
void kf_points_close_block(struct kf_points *points);
/* The rows from `first` on, which fill whole blocks of memory, lie elsewhere now (the caller has changed their places): the
 * blocks are freed. False: out of memory, and nothing has changed. */
bool kf_points_lend(struct kf_points *points, size_t first);

/* Point j leaves; those after it move up by one. O(1) for the oldest. Its memory is free once all that came with it has left. */
void kf_points_remove(struct kf_points *points, size_t j);
/* The same for an array that has `each` numbers for every one of `count` points. */
void kf_points_close_gap(double *numbers, size_t count, size_t each, size_t j);

keepfit_row kf_far_row(const struct kf_points *points, size_t j);

static inline keepfit_row kf_points_row(const struct kf_points *points, size_t j)
{
    if (__builtin_expect(points->fetches, 0))
        return kf_far_row(points, j);
    const struct kf_place *place = &points->place[j];
    return (keepfit_row){
        .count = place->count,
        .index = place->dense ? NULL : (const uint32_t *)(place->value + place->count),
        .value = place->value,
    };
}

/* Asks for point j's place, and later, when that has come, for its row: a random row costs a cache miss a line, unless it was
 * asked for in time. */
static inline void kf_points_prefetch_place(const struct kf_points *points, size_t j)
{
    __builtin_prefetch(&points->place[j]);
}

static inline void kf_points_prefetch_row(const struct kf_points *points, size_t j)
{
    const struct kf_place *place = &points->place[j];
    if (!place->value)
        return;
    const char *from = (const char *)place->value;
    size_t bytes = place->count * (place->dense ? sizeof(double) : sizeof(double) + sizeof(uint32_t));
    for (size_t at = 0; at < bytes && at < 2048; at += 64)
        __builtin_prefetch(from + at);
}

/* One more than the highest feature of a row; 0 for an empty row. */
static inline size_t kf_row_width(const keepfit_row *row)
{
    if (row->count == 0)
        return 0;
    return row->index ? (size_t)row->index[row->count - 1] + 1 : row->count;
}

#endif
