/* What the parts of dense.h share. */
#ifndef KF_DENSE_LOOPS_H
#define KF_DENSE_LOOPS_H

#include "kernels/kernels.h"

/* Room for a strip, and for the groups of L in a triangle; vectors that lie across cache lines would take longer. */
#define KF_STRIP(name) _Alignas(64) double name[KF_DEPTH * KF_STRIP_ROWS]
#define KF_ACROSS(name) _Alignas(64) double name[KF_DEPTH * KF_DEPTH]
#define KF_CORNER(name) _Alignas(64) double name[KF_TRIANGLE(KF_DEPTH / KF_GROUP)]

static inline size_t kf_at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

static inline size_t kf_groups(size_t columns)
{
    return (columns + KF_GROUP - 1) / KF_GROUP;
}

/* out += sign * A A', from the diagonal downwards, in the first `columns` columns; A has `rows` rows and at most KF_DEPTH columns. Nothing of
 * A may lie there. */
void kf_add_piece(const struct kf_kernels *kernels, size_t rows, size_t columns, size_t depth, const double *a,
                  size_t a_stride, double sign, double *out, size_t stride);

/* As many columns of a strip as whole groups have; those behind the first `depth` are 0. */
void kf_strip_fill(const struct kf_kernels *kernels, size_t rows, size_t depth, const double *matrix, size_t stride,
                   double *strip);

#endif
