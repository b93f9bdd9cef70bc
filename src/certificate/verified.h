/* Factorisations that prove something in spite of rounding (verified.c). Matrices are symmetric, stored by columns with a stride; their lower
 * triangles count. */
#ifndef KF_VERIFIED_H
#define KF_VERIFIED_H

#include <stdbool.h>
#include <stddef.h>

struct kf_square {
    double *numbers;
    size_t size, stride;
};

/* What |E_kl| <= gamma sqrt(m_k m_l) comes to as a matrix is at most size gamma diag(m): this is that, for one m. */
double kf_margin(size_t size, double operations, double peak);
/* Whether A is positive definite, of which A + E is at hand, E at most diag(margin) as a matrix. It is shown by a Cholesky factor, which takes
 * the numbers' place: LL' <= A. */
bool kf_verified_factor(const struct kf_square *matrix, const double *margin);
/* From such a factor the inverse of LL', both triangles. Returns a number that no eigenvalue of L'YL is farther from 1 than, Y the inverse as
 * computed; infinite: nobody can say. diagonal[k] is at least (LL')_kk. */
double kf_verified_inverse(const struct kf_square *factor, const double *diagonal);

#endif
