/* ridge_optimum.h - the exact optimum of every stage of a ridge regression, by its normal equations, which one point changes by a rank
 * one update. It shares nothing with the library, so gaps measured with it are an independent check.
 *
 *     g_i(x) = (1/i) sum_j (a_j.x - b_j)^2 + lambda |x|^2,   H x* = (1/i) sum b_j a_j,   H = (1/i) sum a_j a_j' + lambda I
 *     g_i(x) - g_i(x*) = (x - x*)' H (x - x*)
 *
 * The last line has no cancellation: gaps far below the rounding of g_i itself are right. */
#ifndef KEEPFIT_EXPERIMENTS_RIDGE_OPTIMUM_H
#define KEEPFIT_EXPERIMENTS_RIDGE_OPTIMUM_H

#include "keepfit.h"

struct optimum {
    size_t dimension;
    double lambda, count;
    double *gram, *moment; /* sums of a a' and b a */
    double *factor, *x;    /* Cholesky factor of H, and the optimum, once solved */
};

void optimum_start(struct optimum *optimum, size_t dimension, double lambda);
void optimum_free(struct optimum *optimum);
/* The point joins, and optimum->x is the new stage's. */
void optimum_add(struct optimum *optimum, const keepfit_point *point);
/* g_i(x) - min g_i; coordinates that x does not have are 0. */
double optimum_gap(const struct optimum *optimum, const double *x, size_t size);

#endif
