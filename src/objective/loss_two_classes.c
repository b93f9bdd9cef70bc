/* Losses for two classes, of bz, b = -1 or 1. */
#include <math.h>

#include "base/logarithm.h"
#include "kernels/exponential.h"
#include "kernels/kernels.h"
#include "objective/loss_records.h"

#define UNUSED(argument) (void)(argument)

/* logistic */

static double logistic_value(const double *z, size_t outputs, double b, double delta)
{
    UNUSED(outputs), UNUSED(delta);
    double margin = b * z[0], far = fabs(margin);
    double rest = kf_log1p(kf_exp_any(-far));
    return margin > 0 ? rest : rest - margin;
}

static double logistic_slope(double z, double b, double delta)
{
    UNUSED(delta);
    return kf_logistic_tail(b * z, -b);
}

static void logistic_slopes_of(const struct kf_kernels *kernels, size_t count, const double *b, double *z)
{
    kernels->logistic_slopes(count, b, z);
}

static void logistic_curve(const double *z, size_t outputs, double b, double delta, double *curve)
{
    UNUSED(outputs), UNUSED(delta);
    curve[0] = kf_logistic_tail(b * z[0], 1) * kf_logistic_tail(-b * z[0], 1);
}

static double logistic_curve_bound(double delta)
{
    UNUSED(delta);
    return 0.25;
}

/* p(1-p) is less than p, and changes by exp(blur) at most; exp(t) <= 1 + 2t up to 1. */
static double logistic_bend(double z, double b, double delta, double slope, double blur)
{
    UNUSED(z), UNUSED(b), UNUSED(delta);
    return blur < 1 ? fmin(0.25, fabs(slope) * (1 + 2 * blur) * (1 + 0x1p-40) + 0x1p-960) : 0.25;
}

static double logistic_slope_bound(double score, double b, double delta)
{
    UNUSED(b), UNUSED(delta);
    return kf_logistic_tail(-score, 1);
}

/* A slope is off by at most 8 units of itself: so p(1-p) is by 16 of itself, or, where 1-p is the small one, by as many of 1. */
static void logistic_curves_of(size_t count, const double *slopes, double *curves)
{
    for (size_t k = 0; k < count; k++) {
        double probability = fabs(slopes[k]), curve = probability * (1 - probability);
        double least = curve - 0x1p-48 * (probability > 0.5 ? 1 : curve);
        curves[k] = least > 0 ? least : 0;
    }
}

const struct kf_loss kf_loss_logistic = {
    .name = "logistic",
    .summary = "log(1+exp(-bz)), for two classes; gives probabilities",
    .targets = KF_TWO_CLASSES,
    .value = logistic_value,
    .slope = logistic_slope,
    .slopes_of = logistic_slopes_of,
    .curve = logistic_curve,
    .curves_of = logistic_curves_of,
    .curve_bound = logistic_curve_bound,
    .bend = logistic_bend,
    .slope_bound = logistic_slope_bound,
    .probabilities = true,
    .likelihood = 1,
    .concordance = 1,
    .settled = INFINITY,
};

/* hinge, its corner rounded */

static double hinge_value(const double *z, size_t outputs, double b, double delta)
{
    UNUSED(outputs);
    double short_by = 1 - b * z[0];
    if (short_by <= 0)
        return 0;
    return short_by < delta ? short_by * short_by / (2 * delta) : short_by - delta / 2;
}

static double hinge_slope(double z, double b, double delta)
{
    double short_by = 1 - b * z;
    return short_by <= 0 ? 0 : short_by < delta ? -b * short_by / delta : -b;
}

static void hinge_curve(const double *z, size_t outputs, double b, double delta, double *curve)
{
    UNUSED(outputs);
    double short_by = 1 - b * z[0];
    curve[0] = short_by > 0 && short_by < delta ? 1 / delta : 0;
}

static double hinge_curve_bound(double delta)
{
    return 1 / delta;
}

/* The size of the slope is the share of the corner that the score has still to go; the rest of it lies behind. */
static double hinge_piece(double slope, double delta, double *room)
{
    double share = fabs(slope), left = fmin(share * (1 - KF_PIECE_ROUNDING), 1 - share - KF_PIECE_ROUNDING) * delta;
    *room = left > 0 ? left * (1 - KF_PIECE_ROUNDING) : 0;
    return share > 0 && share < 1 ? 1 / delta * (1 - KF_PIECE_ROUNDING) : 0;
}

static double hinge_bend(double z, double b, double delta, double slope, double blur)
{
    UNUSED(slope);
    double short_by = 1 - b * z, off = blur + 0x1p-50 * (1 + fabs(z));
    return short_by + off < 0 || short_by - off > delta ? 0 : 1 / delta;
}

static double hinge_slope_bound(double score, double b, double delta)
{
    UNUSED(b);
    return fmin(1, (1 + score) / delta);
}

const struct kf_loss kf_loss_hinge = {
    .name = "hinge",
    .summary = "max(0, 1-bz) with its corner rounded over a width of delta, for two classes",
    .targets = KF_TWO_CLASSES,
    .value = hinge_value,
    .slope = hinge_slope,
    .curve = hinge_curve,
    .piece = hinge_piece,
    .curve_bound = hinge_curve_bound,
    .bend = hinge_bend,
    .slope_bound = hinge_slope_bound,
    .concordance = INFINITY,
    .settled = 1,
};

/* squared hinge: not halved, as in liblinear and scikit-learn */

static double squared_hinge_value(const double *z, size_t outputs, double b, double delta)
{
    UNUSED(outputs), UNUSED(delta);
    double short_by = 1 - b * z[0];
    return short_by <= 0 ? 0 : short_by * short_by;
}

static double squared_hinge_slope(double z, double b, double delta)
{
    UNUSED(delta);
    double short_by = 1 - b * z;
    return short_by <= 0 ? 0 : -2 * b * short_by;
}

static void squared_hinge_curve(const double *z, size_t outputs, double b, double delta, double *curve)
{
    UNUSED(outputs), UNUSED(delta);
    curve[0] = 1 - b * z[0] > 0 ? 2 : 0;
}

static double squared_hinge_piece(double slope, double delta, double *room)
{
    UNUSED(delta);
    *room = fabs(slope) / 2 * (1 - KF_PIECE_ROUNDING);
    return slope != 0 ? 2 : 0;
}

static double squared_hinge_bend(double z, double b, double delta, double slope, double blur)
{
    UNUSED(delta), UNUSED(slope);
    return 1 - b * z + blur + 0x1p-50 * (1 + fabs(z)) < 0 ? 0 : 2;
}

static double squared_hinge_curve_bound(double delta)
{
    UNUSED(delta);
    return 2;
}

static double squared_hinge_slope_bound(double score, double b, double delta)
{
    UNUSED(b), UNUSED(delta);
    return 2 * (1 + score);
}

const struct kf_loss kf_loss_squared_hinge = {
    .name = "squared-hinge",
    .summary = "max(0, 1-bz)^2, for two classes",
    .targets = KF_TWO_CLASSES,
    .value = squared_hinge_value,
    .slope = squared_hinge_slope,
    .curve = squared_hinge_curve,
    .piece = squared_hinge_piece,
    .curve_bound = squared_hinge_curve_bound,
    .bend = squared_hinge_bend,
    .slope_bound = squared_hinge_slope_bound,
    .concordance = INFINITY,
    .settled = 1,
};
