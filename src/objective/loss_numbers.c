/* Losses for numbers, of r = z-b. */
#include <math.h>

#include "base/logarithm.h"
#include "kernels/exponential.h"
#include "objective/loss_records.h"

#define UNUSED(argument) (void)(argument)

/* squared */

static double squared_value(const double *z, size_t outputs, double b, double delta)
{
    UNUSED(outputs), UNUSED(delta);
    return (z[0] - b) * (z[0] - b);
}

static double squared_slope(double z, double b, double delta)
{
    UNUSED(delta);
    return 2 * (z - b);
}

static void squared_curve(const double *z, size_t outputs, double b, double delta, double *curve)
{
    UNUSED(z), UNUSED(outputs), UNUSED(b), UNUSED(delta);
    curve[0] = 2;
}

static double squared_curve_bound(double delta)
{
    UNUSED(delta);
    return 2;
}

static double squared_slope_bound(double score, double b, double delta)
{
    UNUSED(delta);
    return 2 * (score + fabs(b));
}

static void squared_curves_of(size_t count, const double *slopes, double *curves)
{
    UNUSED(slopes);
    for (size_t k = 0; k < count; k++)
        curves[k] = 2;
}

const struct kf_loss kf_loss_squared = {
    .name = "squared",
    .summary = "(z-b)^2, for numbers",
    .targets = KF_NUMBERS,
    .value = squared_value,
    .slope = squared_slope,
    .curve = squared_curve,
    .curves_of = squared_curves_of,
    .curve_bound = squared_curve_bound,
    .slope_bound = squared_slope_bound,
    .likelihood = 2,
    .concordance = 0,
};

/* huber */

static double huber_value(const double *z, size_t outputs, double b, double delta)
{
    UNUSED(outputs);
    double r = fabs(z[0] - b);
    return r <= delta ? r * r : delta * (2 * r - delta);
}

static double huber_slope(double z, double b, double delta)
{
    double r = z - b;
    return fabs(r) <= delta ? 2 * r : copysign(2 * delta, r);
}

static void huber_curve(const double *z, size_t outputs, double b, double delta, double *curve)
{
    UNUSED(outputs);
    curve[0] = fabs(z[0] - b) <= delta ? 2 : 0;
}

/* The room is what is left of delta. */
static double huber_piece(double slope, double delta, double *room)
{
    double left = delta - fabs(slope) / 2 - KF_PIECE_ROUNDING * delta;
    *room = left > 0 ? left : 0;
    return fabs(slope) < 2 * delta ? 2 : 0;
}

static double huber_bend(double z, double b, double delta, double slope, double blur)
{
    UNUSED(slope);
    double past = fabs(z - b) - delta;
    return past > blur + 0x1p-50 * (fabs(z - b) + delta) ? 0 : 2;
}

static double huber_slope_bound(double score, double b, double delta)
{
    return fmin(2 * delta, 2 * (score + fabs(b)));
}

const struct kf_loss kf_loss_huber = {
    .name = "huber",
    .summary = "(z-b)^2 up to |z-b| = delta, linear beyond; for numbers with outliers",
    .targets = KF_NUMBERS,
    .value = huber_value,
    .slope = huber_slope,
    .curve = huber_curve,
    .piece = huber_piece,
    .curve_bound = squared_curve_bound,
    .bend = huber_bend,
    .slope_bound = huber_slope_bound,
    .concordance = INFINITY,
};

/* logcosh: with r = z-b, phi' = tanh r, phi'' = 1 - tanh^2 r, phi''' = -2 tanh r phi''; so |phi'''| <= 2 phi'' */

/* proof: "Lemma 18 (losses in numbers)"; 2/(2n)!, n = 9 .. 2: up to r = 1 what they leave out of (cosh r - 1)/(r^2/2) is less than 1e-18 */
static const double cosh_terms[] = {2 / 6402373705728000.0, 2 / 20922789888000.0, 2 / 87178291200.0, 2 / 479001600.0,
                                    2 / 3628800.0,          2 / 40320.0,          2 / 720.0,         2 / 24.0};

/* Near 0 the logarithm of 1 and what cosh r is more; both have all their digits. Beyond 1 nothing cancels but a part of |r|. */
static double logcosh_value(const double *z, size_t outputs, double b, double delta)
{
    UNUSED(outputs), UNUSED(delta);
    const double ln2 = 0x1.62e42fefa39efp-1;
    double r = fabs(z[0] - b), square = r * r, series = 0;
    if (!(r <= 1))
        return (r - ln2) + kf_log1p(kf_exp_any(-2 * r));
    for (size_t n = 0; n < sizeof cosh_terms / sizeof cosh_terms[0]; n++)
        series = cosh_terms[n] + square * series;
    return kf_log1p(square / 2 * (1 + square * series));
}

/* tanh r. Below 0.55 the eighth convergent of its continued fraction r/(1 + r^2/(3 + r^2/(5 + ...))), which is off by 1e-18 of itself and
 * has no term below 0; beyond, (1-t)/(1+t) with t = exp(-2|r|) <= 1/3. Six units with that of r, either way. */
static double logcosh_slope(double z, double b, double delta)
{
    UNUSED(delta);
    double r = z - b, size = fabs(r), s = r * r;
    if (size < 0.55)
        return r * (2027025 + s * (270270 + s * (6930 + s * 36))) /
               (2027025 + s * (945945 + s * (51975 + s * (630 + s))));
    double far = -2 * size, t = kf_exp(far < -700 ? -700 : far);
    return copysign((1 - t) / (1 + t), r);
}

/* 1/cosh^2 r, by what z - b = r + low loses in rounding, too: far out it changes as exp(-2|r|) does. */
static double logcosh_curve_at(double z, double b)
{
    double r = z - b, part = r - z, low = (z - (r - part)) - (b + part);
    double t = kf_exp_any(-2 * fabs(r)), one = 1 + t;
    return t > 0 ? 4 * t / (one * one) * (1 - 2 * (r < 0 ? -low : low)) : 0;
}

static void logcosh_curve(const double *z, size_t outputs, double b, double delta, double *curve)
{
    UNUSED(outputs), UNUSED(delta);
    curve[0] = logcosh_curve_at(z[0], b);
}

static double logcosh_curve_bound(double delta)
{
    UNUSED(delta);
    return 1;
}

/* 1 - s^2 = (1-s)(1+s): a slope that is off by 8 units leaves it off by 16 of 1, or, where s is at most 1/2, by fewer of itself. */
static void logcosh_curves_of(size_t count, const double *slopes, double *curves)
{
    for (size_t k = 0; k < count; k++) {
        double slope = fabs(slopes[k]), curve = (1 - slope) * (1 + slope);
        double least = curve - 0x1p-48 * (slope > 0.5 ? 1 : curve);
        curves[k] = least > 0 ? least : 0;
    }
}

/* Within `off` of a score it changes by exp(2 off) at most; exp(t) <= 1 + 2t up to 1. */
static double logcosh_bend(double z, double b, double delta, double slope, double blur)
{
    UNUSED(delta), UNUSED(slope);
    double off = 2 * blur;
    return off < 1 ? fmin(1, logcosh_curve_at(z, b) * (1 + 2 * off) * (1 + 0x1p-40) + 0x1p-960) : 1;
}

static double logcosh_slope_bound(double score, double b, double delta)
{
    UNUSED(delta);
    return fmin(1, score + fabs(b));
}

const struct kf_loss kf_loss_logcosh = {
    .name = "logcosh",
    .summary = "ln cosh(z-b), for numbers with outliers; smooth where huber has kinks",
    .targets = KF_NUMBERS,
    .value = logcosh_value,
    .slope = logcosh_slope,
    .curve = logcosh_curve,
    .curves_of = logcosh_curves_of,
    .curve_bound = logcosh_curve_bound,
    .bend = logcosh_bend,
    .slope_bound = logcosh_slope_bound,
    .concordance = 2,
};
