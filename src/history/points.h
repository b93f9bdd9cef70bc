/* Points in memory: random access by index, rows packed into large blocks that never move.
 *
 * A row occupies count doubles followed by count 32-bit indices; a row whose indices are 0 .. count-1 is stored without
 * them ("dense"), whatever it looked like when it came. Per point: 16 bytes of place, 8 of target, 8 of weight. */
#ifndef KF_POINTS_H
#define KF_POINTS_H

#include "keepfit.h"

struct kf_place {
    double *value;
    uint32_t count;
    uint32_t dense;
};

struct kf_points {
    size_t count;
    struct kf_place *place;
    double *target;
    double *weight;
    size_t place_capacity, target_capacity, weight_capacity;
    struct kf_block *blocks; /* newest first */
};

void kf_points_free(struct kf_points *points);

/* Appends a point. lead != NULL puts *lead in front of the row as feature 0 and moves the others up by one (the bias).
 * False: out of memory, and nothing has changed. */
bool kf_points_append(struct kf_points *points, const keepfit_point *point, const double *lead);

static inline keepfit_row kf_points_row(const struct kf_points *points, size_t j)
{
    const struct kf_place *place = &points->place[j];
    return (keepfit_row){
        .count = place->count,
        .index = place->dense ? NULL : (const uint32_t *)(place->value + place->count),
        .value = place->value,
    };
}

/* One more than the highest feature of a row; 0 for an empty row. */
static inline size_t kf_row_width(const keepfit_row *row)
{
    if (row->count == 0)
        return 0;
    return row->index ? (size_t)row->index[row->count - 1] + 1 : row->count;
}

#endif
