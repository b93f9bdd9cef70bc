/* exp, the same bits on every machine: those of the C library differ between processors with and without fused multiplication,
 * and a method that takes a million steps would show it. Inline, since a step waits for it.
 *
 * With N = 128: t = k ln2/N + r, |r| <= ln2/(2N), exp(t) = 2^(k/N) exp(r). The power of two is looked up, its whole part added to
 * the exponent; exp(r) - 1 is its series up to r^5, which leaves out less than 1e-18. The error is below 1.1 units in the last
 * place. */
#ifndef KF_EXPONENTIAL_H
#define KF_EXPONENTIAL_H

#include <stdint.h>
#include <string.h>

#define KF_POWERS 128
/* 2^(k/128) */
extern const double kf_powers_of_two[KF_POWERS];

/* For t from -700 to 700, or not a number, which it stays. */
static inline double kf_exp(double t)
{
    const double shift = 0x1.8p52; /* added to a number, it leaves an integer in the lowest bits */
    double shifted = t * 0x1.71547652b82fep+7 + shift, k = shifted - shift, power;
    double r = (t - k * 0x1.62e42fefp-8) - k * 0x1.473de6af278edp-41, square = r * r;
    uint64_t whole, bits;
    memcpy(&whole, &shifted, sizeof whole);
    memcpy(&bits, &kf_powers_of_two[whole % KF_POWERS], sizeof bits);
    bits += whole / KF_POWERS << 52;
    memcpy(&power, &bits, sizeof power);
    double less_one = r + (square * (0.5 + r * (1.0 / 6)) + square * square * (1.0 / 24 + r * (1.0 / 120)));
    return power + power * less_one;
}

/* For any t. */
double kf_exp_any(double t);
/* exp(t) - 1, also where exp(t) would lose what t has; within four units in the last place. */
double kf_expm1(double t);

/* numerator/(1+exp(t)): right to rounding at either end, without a branch to guess wrong; not a number stays one. */
static inline double kf_logistic_tail(double t, double numerator)
{
    t = t > 700 ? 700 : t;
    return numerator / (1 + kf_exp(t < -700 ? -700 : t));
}

#endif
