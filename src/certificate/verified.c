/* docs/guarantee.md, Theorem 21 (verified factor) and Theorem 22 (verified inverse).
 *
 * What n operations have done to a sum of terms p_k p_l is at most gamma_n sqrt(m_k m_l) in number (k, l), m the diagonal, by Cauchy and
 * Schwarz; so it is at most size gamma_n diag(m) as a matrix. A Cholesky factor L as computed has LL' = A + F, |F_kl| <= gamma sqrt(a_k a_l)
 * likewise, a the diagonal of A. Both are taken off the diagonal first: if a factor comes out all the same, LL' <= A.
 *
 * The inverse is Y = UU' with U made row by row of UL' = I (kernels/dense.h), so U = (I + E) L^-T with |E_ij| <= gamma sqrt(Y_ii a_j): row i of U
 * has the length sqrt(Y_ii), row j of L at most sqrt(a_j). With B = LL' the matrix B^1/2 Y B^1/2 is (I + G)(I + G)', G = B^1/2 E B^-1/2, and
 * |G| <= gamma size sqrt(tr(diag(Y) B) tr(diag(a) B^-1)), both of which are sum a_k Y_kk, or hardly more. */
#include "certificate/verified.h"

#include <assert.h>
#include <math.h>

#include "kernels/dense.h"
#include "objective/rounding.h"

/* No worse inverse is taken for one. */
#define APART_MOST 0.25 /* proof: "Theorem 22 (verified inverse)" */

double kf_margin(size_t size, double operations, double peak)
{
    assert(operations >= 0 && !(peak < 0));
    return (double)size * kf_gamma(operations) * peak * KF_UPWARD;
}

bool kf_verified_factor(const struct kf_square *matrix, const double *margin)
{
    assert(matrix->size <= matrix->stride);
    for (size_t k = 0; k < matrix->size; k++) {
        double *diagonal = &matrix->numbers[k * matrix->stride + k];
        if (!(margin[k] >= 0)) /* what is taken off may only make it smaller; a damaged snapshot's may be anything */
            return false;
        /* Its own factor, and the few operations that may have made it of other matrices. */
        *diagonal -= margin[k] + kf_margin(matrix->size, (double)matrix->size + 8, fabs(*diagonal)) + KF_UNDERFLOW;
        if (!(*diagonal > 0))
            return false;
    }
    return kf_cholesky(matrix->size, matrix->numbers, matrix->stride);
}

double kf_verified_inverse(const struct kf_square *factor, const double *diagonal)
{
    assert(factor->size <= factor->stride);
    double size = (double)factor->size, trace = 0;
    kf_cholesky_invert(factor->size, factor->numbers, factor->stride);
    for (size_t k = 0; k < factor->size; k++)
        trace += diagonal[k] * factor->numbers[k * factor->stride + k];
    /* While what comes out is below APART_MOST, the exact inverse's trace is at most so many times that of Y. */
    double apart = kf_gamma(size + 8) * size * trace * (1 + 2 * APART_MOST) * KF_UPWARD;
    apart = 3 * apart + apart * apart;
    return apart < APART_MOST ? apart : INFINITY;
}
