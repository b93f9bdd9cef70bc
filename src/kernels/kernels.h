/* Inner loops: pure functions that never decide anything.
 *
 * The order of every sum is part of the contract, so that all implementations, and so all machines, give the same bits: a dot
 * has sixteen partial sums, the k-th product going to the (k mod 16)-th, halved until one is left, and the products beyond
 * the last sixteen added by themselves; nothing is fused. The
 * plain implementation is the reference; those for AVX2 and AVX-512 are the same source compiled for them.
 *
 * A model of K outputs is stored as x[feature*K + output]. A pair array holds two vectors side by side: pairs[2k] and
 * pairs[2k+1] belong to coordinate k, and cost one cache line together. */
#ifndef KF_KERNELS_H
#define KF_KERNELS_H

#include "keepfit.h"

struct kf_pair {
    double first, second;
};

/* Of a block of points: slope, weight and curvature (`own`), computed at an earlier x, from which the score has moved by `far` in size,
 * which bends the slope by up to `bent` times its curvature more than a straight line; and the curvature that a Hessian has (`used`). */
#define KF_DOUBTS 128
struct kf_doubts {
    double slope[KF_DOUBTS], weight[KF_DOUBTS], own[KF_DOUBTS], used[KF_DOUBTS], far[KF_DOUBTS], bent[KF_DOUBTS];
    /* What slope + used times the move may be off by, that squared over `used`, and how many times smaller than it the curvature may
     * have become. */
    double off[KF_DOUBTS], square[KF_DOUBTS], ratio[KF_DOUBTS];
};

#define KF_GROUP 8
#define KF_DEPTH 64
#define KF_STRIP_ROWS 16
#define KF_TRIANGLE(group) (KF_GROUP * KF_GROUP / 2 * (group) * ((group) + 1))

/* A part of a matrix: rows of one strip, columns of one across, both `depth` columns deep. Its first row is `below` rows below the one where
 * its first column meets the diagonal; what is above the diagonal stays. */
struct kf_strip {
    size_t rows, columns, depth, below;
};

/* What |g|_{H^-1} is made of (certificate/bound.c): the gradient's sum, x, what H^-1 makes of both, what the sum's numbers may be off by, and
 * the roots of H^-1's diagonal. */
struct kf_decrement {
    const double *sum, *x, *at_sum, *at_x, *off, *width;
};

struct kf_kernels {
    const char *name;
    double (*dot)(size_t count, const double *a, const double *b);
    /* y += scale*a */
    void (*add)(size_t count, double scale, const double *a, double *y);
    /* x = keep*x + drift*m + first*a, then m += second*a */
    void (*advance)(size_t count, double keep, double drift, const double *a, double first, double second, double *x,
                    double *m);
    /* Four dots with the same vector: eight partial sums each, those beyond the last eight by themselves. */
    void (*dots)(size_t count, const double *a, const double *p, const double *q, const double *r, const double *s,
                 double *sums);
    /* x = keep*x + drift*m + first*a + second*b */
    void (*advance_both)(size_t count, double keep, double drift, const double *m, double first, const double *a,
                         double second, const double *b, double *x);
    /* advance, and the product of `next` with x as it is then: made of those with keep*x + drift*m and with a, summed like those of
     * dots, so that `first` is needed for its last addition only */
    double (*stride)(size_t count, double keep, double drift, const double *a, double first, double second, double *x,
                     double *m, const double *next);
    /* The sums of value_f * pairs[2f] and of value_f * pairs[2f+1] */
    struct kf_pair (*pair_dot)(const keepfit_row *row, const double *pairs);
    /* pairs[2f] += first*value_f, pairs[2f+1] += second*value_f */
    void (*pair_add)(const keepfit_row *row, double first, double second, double *pairs);
    /* out[k] += the sum over e of value[e] * rows[index[e]*stride + k], k < width; every sum in the order of e. index == NULL:
     * rows 0 .. count-1. Few columns of many rows at a time stay in the cache: callers with many columns go through them in
     * tiles of KF_TILE. */
    void (*combine)(size_t count, const uint32_t *index, const double *value, const double *rows, size_t stride,
                    size_t width, double *out);
    /* y[index[e]*width + k] += scale * value[e] * factor[k]; index == NULL: rows 0 .. count-1. */
    void (*outer)(size_t count, const uint32_t *index, const double *value, double scale, const double *factor,
                  size_t width, double *y);
    /* z[k] = -target[k]/(1 + exp(target[k]*z[k])) */
    void (*logistic_slopes)(size_t count, const double *target, double *z);
    /* The last three of the arrays from the others. */
    void (*doubts)(size_t count, double concordance, struct kf_doubts *doubts);

    /* ---- sizes, for what rounding may have done ---- */

    /* The sums of a_k b_k and of |a_k b_k| */
    struct kf_pair (*sized_dot)(size_t count, const double *a, const double *b);
    /* off += share |a| + unit |sum|, number by number */
    void (*widen)(size_t count, double share, const double *a, double unit, const double *sum, double *off);
    /* mass += weight |a|, most = max(most, |a|), number by number */
    void (*count_sizes)(size_t count, double weight, const double *a, double *mass, double *most);
    /* With v = mean sum + ridge x, y = mean at_sum + ridge at_x: the sums of v y, |v y|, width |v| and
     * width (mean off + unit (|mean sum| + |ridge x|)). */
    void (*decrement)(size_t count, double mean, double ridge, double unit, const struct kf_decrement *of,
                      double *sums);

    /* ---- what the functions of dense.h are made of ---- */

    /* A strip is so many rows, at most KF_STRIP_ROWS, of some columns, column behind column; an `across` is groups of KF_GROUP rows, each
     * stored like that. Rows that are missing are 0. */
    size_t strip_rows;
    void (*strip_read)(size_t rows, size_t depth, const double *matrix, size_t stride, double *strip);
    void (*strip_write)(size_t rows, size_t depth, const double *strip, double *matrix, size_t stride);
    void (*across_read)(size_t rows, size_t depth, const double *matrix, size_t stride, double *across);
    /* out += sign * strip * across', where `part` says */
    void (*strip_add)(const struct kf_strip *part, const double *strip, const double *across, double sign, double *out,
                      size_t stride);
    /* KF_GROUP columns of a strip -= the strip's first `depth` columns times one group's across' */
    void (*strip_take_off)(size_t rows, size_t depth, const double *strip, const double *across, double *columns);
    /* strip = strip * L^-T, but for the columns before those of group `from`, which are 0. Group g of L lies at KF_TRIANGLE(g), an across
     * of 8(g+1) columns, with reciprocals on its diagonal. */
    void (*strip_solve)(size_t rows, size_t from, size_t groups, const double *triangle, double *strip);
    /* kf_symmetric_times; v = L^-1 v; v = L^-T v */
    void (*symmetric_times)(size_t size, const double *matrix, size_t stride, const double *v, double *out);
    void (*solve_lower)(size_t size, const double *factor, size_t stride, double *v);
    void (*solve_upper)(size_t size, const double *factor, size_t stride, double *v);
};

#define KF_TILE 64

/* The fastest that this processor runs, or the one that the environment variable KEEPFIT_VECTORS names, if it runs that. */
const struct kf_kernels *kf_kernels_best(void);
/* From now on this one is the best, for tests; NULL: as before. */
void kf_kernels_use(const struct kf_kernels *kernels);
/* Implementation k that this processor runs, the plain one first; NULL past the last. */
const struct kf_kernels *kf_kernels_entry(size_t k);

double kf_dot(size_t count, const double *a, const double *b);
/* |a|^2 */
double kf_square(size_t count, const double *a);
/* The Euclidean norm, also where squares would overflow or vanish. */
double kf_norm(size_t count, const double *a);
/* y += scale*a */
void kf_add(size_t count, double scale, const double *a, double *y);
/* y = keep*y + scale*a */
void kf_blend(size_t count, double keep, double *y, double scale, const double *a);
void kf_scale(size_t count, double scale, double *y);
bool kf_all_finite(size_t count, const double *a);

/* score[k] = sum over the row's features f of value_f * x[f*outputs + k]; features at or beyond `slots` count as 0. */
void kf_row_scores(const keepfit_row *row, const double *x, size_t slots, size_t outputs, double *score);
/* y[f*outputs + k] += scale * factor[k] * value_f */
void kf_row_add(const keepfit_row *row, double scale, const double *factor, size_t outputs, double *y);

/* The same on a pair array of several outputs: sums has 2*outputs numbers, each pair of sums side by side. */
void kf_pair_scores(const struct kf_kernels *kernels, const keepfit_row *row, const double *pairs, size_t outputs,
                    double *sums);
/* pairs of (feature f, output k) += (first, second) * factor[k] * value_f; scratch has 2*outputs numbers. */
void kf_pair_update(const struct kf_kernels *kernels, const keepfit_row *row, double first, double second,
                    const double *factor, size_t outputs, double *scratch, double *pairs);

#endif
