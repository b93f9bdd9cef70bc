/* With 1 + f between sqrt(1/2) and sqrt(2), s = f/(2 + f) and z = s^2,
 *
 *   ln(1 + f) = 2 s (1 + z/3 + z^2/5 + ...) = f - f^2/2 + s (f^2/2 + R),   R = 2 (z/3 + z^2/5 + ...)
 *
 * whose largest terms are exact or nearly so. z is at most 0.0295, and what the series leaves out is less than 1e-18 of f. */
#include "base/logarithm.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LN2_HIGH 0x1.62e42fefa38p-1 /* times any exponent: exact */
#define LN2_LOW 0x1.ef35793c7673p-45

static const double odd_terms[] = {2.0 / 21, 2.0 / 17, 2.0 / 13, 2.0 / 9, 2.0 / 5};
static const double even_terms[] = {2.0 / 19, 2.0 / 15, 2.0 / 11, 2.0 / 7, 2.0 / 3};

/* ln 2^k (1 + f) (1 + small) */
static double from_parts(int k, double f, double small)
{
    double s = f / (2 + f), z = s * s, half = f * f / 2;
    double square = z * z, odd = 2.0 / 25, even = 2.0 / 23; /* two sums, so that neither has to wait for the other */
    for (size_t n = 0; n < sizeof odd_terms / sizeof odd_terms[0]; n++) {
        odd = odd_terms[n] + square * odd;
        even = even_terms[n] + square * even;
    }
    double tail = s * (half + z * (even + z * odd)) + (k * LN2_LOW + small);
    return k * LN2_HIGH - ((half - tail) - f);
}

/* x = 2^k m, sqrt(1/2) <= m < sqrt(2); x > 0 and finite. Its bits are the exponent, with 1023 added, and the fraction. */
static double split(double x, int *k)
{
    *k = 0;
    if (x < 0x1p-1022) { /* its exponent does not say how small it is */
        x *= 0x1p54;
        *k = -54;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    *k += (int)(bits >> 52) - 1022;
    bits = (bits & 0xfffffffffffffull) | 0x3fe0000000000000ull; /* m between 1/2 and 1 */
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        (*k)--;
    }
    return m;
}

double kf_log(double x)
{
    if (!(x > 0))
        return x == 0 ? -INFINITY : NAN;
    if (isinf(x))
        return x;
    int k;
    double m = split(x, &k);
    return from_parts(k, m - 1, 0);
}

double kf_log1p(double x)
{
    if (!(x > -1) || isinf(x))
        return kf_log(1 + x);
    if (x > -0.29 && x < 0.41)
        return fabs(x) < 0x1p-54 ? x : from_parts(0, x, 0);
    int k;
    double sum = 1 + x, m = split(sum, &k), lost = x > 1 ? 1 - (sum - x) : x - (sum - 1);
    return from_parts(k, m - 1, lost / sum);
}
