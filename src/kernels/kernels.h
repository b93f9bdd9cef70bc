/* Inner loops, in plain C with a fixed order of summation (so that every run gives the same bits): four partial sums,
 * added pairwise. Pure functions; nothing here decides anything.
 *
 * A model of K outputs is stored as x[feature*K + output]. */
#ifndef KF_KERNELS_H
#define KF_KERNELS_H

#include "keepfit.h"

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

#endif
