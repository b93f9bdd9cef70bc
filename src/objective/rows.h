/* Many sparse rows at a time against wide matrices, [slot][width]: what a network's passes are made of. Rows share slots, so the
 * blocks of a matrix are used many times; the order of the loops keeps them in the nearest cache meanwhile, and the sums in
 * registers. Each sum has one order, that of the slots or of the rows, whatever the loops. */
#ifndef KF_ROWS_H
#define KF_ROWS_H

#include "history/points.h"
#include "kernels/kernels.h"

/* The points which[0 .. count-1], or, without which, first .. first+count-1. */
struct kf_rows {
    const struct kf_points *points;
    const size_t *which;
    size_t first, count;
};

/* out[k*stride ..] = row k times the matrix, for the rows from `from` to `to`. */
void kf_rows_multiply(const struct kf_rows *rows, size_t from, size_t to, const struct kf_kernels *kernels,
                      const double *matrix, size_t width, double *out, size_t stride);

/* Rows the other way round: which of them have a slot, and with what value. In groups of rows, whose vectors below fit into the
 * cache. */
struct kf_turned {
    size_t groups, slots;
    size_t *start; /* by group and slot; the next one is the end */
    uint32_t *row;
    double *value;
    size_t start_capacity, row_capacity, value_capacity;
};

/* False: out of memory. */
bool kf_turned_build(struct kf_turned *turned, const struct kf_rows *rows, size_t slots);
void kf_turned_free(struct kf_turned *turned);

/* y[slot*width ..] += the sum over the rows that have the slot of value * vectors[row*stride ..], for the slots from `from` to
 * `to`: a sum of outer products. */
void kf_turned_add(const struct kf_turned *turned, const struct kf_kernels *kernels, size_t from, size_t to,
                   const double *vectors, size_t stride, size_t width, double *y);

#endif
