/* A sum that is followed by adding and subtracting: twice as many digits as a number has, and a bound on its error.
 * docs/guarantee.md, Lemma 17 (followed sums). */
#ifndef KF_SUM_H
#define KF_SUM_H

#include <math.h>
#include <stdbool.h>

struct kf_sum {
    double high, low; /* the sum, the nearest number to it first */
    double error;     /* what both together may be off by */
};

static inline void kf_sum_add(struct kf_sum *sum, double term)
{
    double high = sum->high + term, other = high - sum->high;
    double low = sum->low + ((sum->high - (high - other)) + (term - other)); /* what the addition lost, exactly */
    sum->high = high + low;
    sum->low = low - (sum->high - high);
    sum->error += 0x1p-104 * (fabs(high) + fabs(low)); /* only the low parts are rounded: u^2 of the sum each time */
}

/* Whether `high` is the sum to one unit more than any number can be; if not, it is to be summed anew. */
static inline bool kf_sum_is_sharp(const struct kf_sum *sum)
{
    return sum->error <= 0x1p-53 * fabs(sum->high) || sum->error == 0;
}

#endif
