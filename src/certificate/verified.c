/* What n operations have done to a sum of terms p_k p_l is at most gamma_n sqrt(m_k m_l) in number (k, l), m the diagonal, by Cauchy and
 * Schwarz; so it is at most size gamma_n diag(m) as a matrix. A Cholesky factor L as computed has LL' = A + F, |F_kl| <= gamma sqrt(a_k a_l)
 * likewise, a the diagonal of A. Both are taken off the diagonal first: if a factor comes out all the same, LL' <= A.
 *
 * The inverse is made of L: X is nearly L^-1, XL - I is computed and small, M = X'X. Then L'ML is nearly I, so M is nearly the inverse
 * of LL', in every direction at once. docs/guarantee.md ("Rounding") has the constants. */
#include "certificate/verified.h"

#include <math.h>
#include <string.h>

#include "objective/rounding.h"
#include "optimum/lapack.h"

double kf_margin(size_t size, double operations, double peak)
{
    return (double)size * kf_gamma(operations) * peak * KF_UPWARD;
}

bool kf_verified_factor(const struct kf_square *matrix, const double *margin)
{
    int n = (int)matrix->size, stride = (int)matrix->stride, info = 0;
    for (size_t k = 0; k < matrix->size; k++) {
        double *diagonal = &matrix->numbers[k * matrix->stride + k];
        /* Its own factor, and the few operations that may have made it of other matrices. */
        *diagonal -= margin[k] + kf_margin(matrix->size, (double)matrix->size + 8, fabs(*diagonal)) + KF_UNDERFLOW;
        if (!(*diagonal > 0))
            return false;
    }
    if (n)
        dpotrf_("L", &n, matrix->numbers, &stride, &info);
    return info == 0;
}

/* |XL - I| in the norm of Frobenius; `product` holds L, and is lost. */
static double distance_from_one(const struct kf_square *inverse, double *product)
{
    int n = (int)inverse->size, stride = (int)inverse->stride;
    double one = 1, square = 0;
    for (size_t k = 0; k < inverse->size; k++)
        memset(product + k * inverse->stride, 0, k * sizeof *product);
    dtrmm_("L", "L", "N", "N", &n, &n, &one, inverse->numbers, &stride, product, &stride);
    for (size_t k = 0; k < inverse->size; k++)
        for (size_t l = k; l < inverse->size; l++) {
            double off = product[k * inverse->stride + l] - (k == l);
            square += off * off;
        }
    return sqrt(square);
}

static void mirror(const struct kf_square *matrix)
{
    for (size_t k = 0; k < matrix->size; k++)
        for (size_t l = k + 1; l < matrix->size; l++)
            matrix->numbers[l * matrix->stride + k] = matrix->numbers[k * matrix->stride + l];
}

double kf_verified_inverse(const struct kf_square *factor, const double *diagonal, double *work)
{
    int n = (int)factor->size, stride = (int)factor->stride, info = 0;
    double size = (double)factor->size, gamma = kf_gamma(size + 4), trace = 0;
    if (!n)
        return 0;
    for (size_t k = 0; k < factor->size; k++)
        memcpy(work + k * factor->stride, factor->numbers + k * factor->stride, factor->size * sizeof(double));
    dtrtri_("L", "N", &n, factor->numbers, &stride, &info);
    if (info != 0)
        return INFINITY;
    double apart = distance_from_one(factor, work);
    dlauum_("L", &n, factor->numbers, &stride, &info);
    mirror(factor);
    for (size_t k = 0; k < factor->size; k++)
        trace += diagonal[k] * factor->numbers[k * factor->stride + k];
    trace *= 1 + 4 * gamma; /* diag(M) has only squares in its sums */
    apart += gamma * sqrt(size * trace); /* the product's own rounding */
    return (2 * apart + apart * apart + gamma * size * trace) * KF_UPWARD;
}
