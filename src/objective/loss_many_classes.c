/* Losses for any number of classes, each with a score of its own. */
#include <math.h>

#include "base/logarithm.h"
#include "kernels/exponential.h"
#include "objective/loss_records.h"

#define UNUSED(argument) (void)(argument)

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

/* w p, from w (p - (1 for the class)): what the subtraction has taken comes back with the same digits. */
static double share_of(const double *slopes, size_t k, double b, double weight)
{
    return slopes[k] + (k == (size_t)b ? weight : 0);
}

static void softmax_curve_of(const double *slopes, size_t outputs, double b, double weight, double *curve)
{
    for (size_t k = 0; k < outputs; k++) {
        double share = share_of(slopes, k, b, weight);
        for (size_t l = 0; l < outputs; l++)
            curve[k * outputs + l] = (k == l ? share : 0) - share * (share_of(slopes, l, b, weight) / weight);
    }
}

static void softmax_bend_of(const double *slopes, size_t outputs, double b, double weight, double *z)
{
    double own = slopes[(size_t)b] + weight, sum = weight * z[(size_t)b];
    for (size_t k = 0; k < outputs; k++)
        sum += slopes[k] * z[k];
    double mean = sum / weight, last = own * (z[(size_t)b] - mean);
    for (size_t k = 0; k < outputs; k++)
        z[k] = slopes[k] * (z[k] - mean);
    z[(size_t)b] = last;
}

static void softmax_diagonal_of(const double *slopes, size_t outputs, double b, double weight, double *diagonal)
{
    for (size_t k = 0; k < outputs; k++) {
        double share = share_of(slopes, k, b, weight);
        diagonal[k] = share * (1 - share / weight);
    }
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

const struct kf_loss kf_loss_softmax = {
    .name = "softmax",
    .summary = "log(sum_k exp z_k) - z_b, for any number of classes; gives probabilities",
    .targets = KF_MANY_CLASSES,
    .value = softmax_value,
    .slopes = softmax_slopes,
    .curve = softmax_curve,
    .curve_of = softmax_curve_of,
    .bend_of = softmax_bend_of,
    .diagonal_of = softmax_diagonal_of,
    .curve_bound = softmax_curve_bound,
    .slope_bound = softmax_slope_bound,
    .probabilities = true,
    .likelihood = 1,
    .concordance = INFINITY,
    .range_concordance = 1,
    .settled = INFINITY,
};

const struct kf_loss kf_loss_network = {
    .name = "network",
    .summary = "softmax behind a layer of H hidden units (ReLU), for any number of classes; not convex",
    .targets = KF_MANY_CLASSES,
    .value = softmax_value,
    .slopes = softmax_slopes,
    .curve = softmax_curve,
    .curve_bound = softmax_curve_bound,
    .slope_bound = softmax_slope_bound,
    .probabilities = true,
    .likelihood = 1,
    .concordance = INFINITY,
    .settled = INFINITY,
    .network = "network:H",
};
