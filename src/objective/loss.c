#include "objective/loss.h"

#include <math.h>

#include "base/logarithm.h"
#include "kernels/exponential.h"
#include "kernels/kernels.h"

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

/* softmax */

static double largest(const double *z, size_t outputs)
{
    double top = z[0];
    for (size_t k = 1; k < outputs; k++)
        top = fmax(top, z[k]);
    return top;
}

static double softmax_value(const double *z, size_t outputs, double b, double delta)
{
    UNUSED(delta);
    double top = largest(z, outputs), others = -1; /* the largest itself is exp(0) */
    for (size_t k = 0; k < outputs; k++)
        others += z[k] == top && others < 0 ? 1 : kf_exp_any(z[k] - top);
    return kf_log1p(others) + (top - z[(size_t)b]);
}

static void softmax_probabilities(const double *z, size_t outputs, double *p)
{
    double top = largest(z, outputs), sum = 0;
    for (size_t k = 0; k < outputs; k++)
        sum += p[k] = kf_exp(z[k] - top < -700 ? -700 : z[k] - top);
    for (size_t k = 0; k < outputs; k++)
        p[k] /= sum;
}

static void softmax_slopes(const double *z, size_t outputs, double b, double *slopes)
{
    softmax_probabilities(z, outputs, slopes);
    slopes[(size_t)b] -= 1;
}

static void softmax_curve(const double *z, size_t outputs, double b, double delta, double *curve)
{
    UNUSED(b), UNUSED(delta);
    double *p = curve + (outputs - 1) * outputs; /* the last row: written last, since all others are made from it */
    softmax_probabilities(z, outputs, p);
    for (size_t k = 0; k + 1 < outputs; k++)
        for (size_t l = 0; l < outputs; l++)
            curve[k * outputs + l] = (k == l ? p[k] : 0) - p[k] * p[l];
    double last = p[outputs - 1];
    for (size_t l = 0; l < outputs; l++)
        p[l] = (l + 1 == outputs ? last : 0) - last * p[l];
}

static double softmax_curve_bound(double delta)
{
    UNUSED(delta);
    return 0.5; /* of diag(p) - pp' */
}

static double softmax_slope_bound(double score, double b, double delta)
{
    UNUSED(score), UNUSED(b), UNUSED(delta);
    return sqrt(2);
}

static void squared_curves_of(size_t count, const double *slopes, double *curves)
{
    UNUSED(slopes);
    for (size_t k = 0; k < count; k++)
        curves[k] = 2;
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

static const struct kf_loss losses[] = {
    {
        .name = "squared",
        .summary = "(z-b)^2, for numbers",
        .targets = KF_NUMBERS,
        .value = squared_value,
        .slope = squared_slope,
        .curve = squared_curve,
        .curves_of = squared_curves_of,
        .curve_bound = squared_curve_bound,
        .slope_bound = squared_slope_bound,
        .concordance = 0,
    },
    {
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
        .concordance = 1,
        .settled = INFINITY,
    },
    {
        .name = "huber",
        .summary = "(z-b)^2 up to |z-b| = delta, linear beyond; for numbers with outliers",
        .targets = KF_NUMBERS,
        .value = huber_value,
        .slope = huber_slope,
        .curve = huber_curve,
        .curve_bound = squared_curve_bound,
        .bend = huber_bend,
        .slope_bound = huber_slope_bound,
        .concordance = INFINITY,
    },
    {
        .name = "hinge",
        .summary = "max(0, 1-bz) with its corner rounded over a width of delta, for two classes",
        .targets = KF_TWO_CLASSES,
        .value = hinge_value,
        .slope = hinge_slope,
        .curve = hinge_curve,
        .curve_bound = hinge_curve_bound,
        .bend = hinge_bend,
        .slope_bound = hinge_slope_bound,
        .concordance = INFINITY,
        .settled = 1,
    },
    {
        .name = "softmax",
        .summary = "log(sum_k exp z_k) - z_b, for any number of classes; gives probabilities",
        .targets = KF_MANY_CLASSES,
        .value = softmax_value,
        .slopes = softmax_slopes,
        .curve = softmax_curve,
        .curve_bound = softmax_curve_bound,
        .slope_bound = softmax_slope_bound,
        .probabilities = true,
        .concordance = INFINITY,
        .settled = INFINITY,
    },
    {
        .name = "network",
        .summary = "softmax behind a layer of H hidden units (ReLU), for any number of classes; not convex",
        .targets = KF_MANY_CLASSES,
        .value = softmax_value,
        .slopes = softmax_slopes,
        .curve = softmax_curve,
        .curve_bound = softmax_curve_bound,
        .slope_bound = softmax_slope_bound,
        .probabilities = true,
        .concordance = INFINITY,
        .settled = INFINITY,
        .network = "network:H",
    },
};

const struct kf_loss *kf_loss_entry(size_t k)
{
    return k < sizeof losses / sizeof losses[0] ? &losses[k] : NULL;
}
