/* The gradient bound: what strong convexity says of the gap, from the gradient alone. Every number that it is made of is off by rounding, and
 * each formula here adds what that may come to (docs/guarantee.md, Theorem 20 (gradient bound in numbers)). */
#include <math.h>

#include "problem/gap.h"
#include "kernels/kernels.h"

/* The most of mu that what the gradient may be off by may use up inside a domain. */
#define SHARE_MOST 0.9 /* proof: "Theorem 3 (gradient bound)" */

/* Over the coordinates that are not free. */
struct slope {
    const struct kf_problem *problem;
    const double *x, *gradient;
    size_t from, size;
    double off; /* how far the gradient may be off, as a length */
};

/* Squares of numbers below it are lost. */
#define SQUARES_FROM 0x1p-500 /* proof: "Theorem 20 (gradient bound in numbers)" */
#define SQUARES_LOST 0x1p-536 /* proof: "Theorem 20 (gradient bound in numbers)" */

/* What a length that is the root of so many squares may have lost, since the square of a number below 2^-537 is no number. */
static double lost_to_underflow(const struct slope *slope)
{
    return sqrt((double)slope->size) * SQUARES_LOST;
}

/* length^2/(2 mu), also where the square underflows. */
static double half_square(double length, double mu)
{
    return length < SQUARES_FROM ? length / (2 * mu) * length : length * length / (2 * mu);
}

static double length_of_doubt(const struct slope *slope, const double *doubt, double more)
{
    double square = 0;
    for (size_t k = slope->from; k < slope->size && doubt; k++)
        square += doubt[k] * doubt[k];
    double lost = doubt ? lost_to_underflow(slope) : 0;
    return (sqrt(square) + more + lost) * (1 + kf_gamma((double)slope->size + 8));
}

/* (|gradient| + off)^2/(2 mu), each number by itself as far as its own doubt is known. */
static double bound_of_whole(const struct slope *slope, double mu, const double *doubt, double more)
{
    double square = 0;
    for (size_t k = slope->from; k < slope->size; k++) {
        double most = fabs(slope->gradient[k]) + (doubt ? doubt[k] : 0);
        square += most * most;
    }
    double length = sqrt(square) + more + lost_to_underflow(slope);
    return half_square(length, mu) * (1 + kf_gamma((double)slope->size + 8)) + KF_UNDERFLOW;
}

/* max -gradient.(y-x) - mu/2 |y-x|^2 = mu/2 (|t-x|^2 - |t-y|^2), t = x - gradient/mu, y = P(t). What comes out as y is not quite P(t): as the
 * function's slope there is mu (t-y), it falls short of the largest value by mu |t-y| times their distance at most. */
static double bound_by_projection(const struct slope *slope, double mu)
{
    const struct kf_problem *problem = slope->problem;
    double *y = problem->domain.spare, shift = 0, beyond = 0, bound = 0, sizes = 0;
    for (size_t k = 0; k < slope->size; k++)
        y[k] = slope->x[k] - slope->gradient[k] / mu;
    for (size_t k = slope->from; k < slope->size; k++) {
        double off = 2 * KF_UNIT * (fabs(slope->x[k]) + fabs(slope->gradient[k] / mu));
        shift += off * off;
    }
    kf_project(problem, y);
    for (size_t k = slope->from; k < slope->size; k++) {
        double move = slope->x[k] - y[k], past = slope->x[k] - slope->gradient[k] / mu - y[k];
        bound += slope->gradient[k] * move - mu / 2 * move * move;
        sizes += fabs(slope->gradient[k] * move) + mu / 2 * move * move;
        beyond += past * past;
    }
    size_t count = slope->size - slope->from;
    double apart = sqrt(shift) + problem->domain.type->rounding(&problem->domain, count);
    double slack = mu * (sqrt(beyond) + sqrt(shift)) * apart + kf_gamma((double)count + 8) * sizes;
    return fmax(bound, 0) + slack * (1 + kf_gamma((double)count + 8));
}

/* max -gradient.(y-x) <= gradient.x + max -gradient.y: for a mu that is next to nothing this is as good, and no large number comes in. What
 * lowers the support (in a box on one side of 0) are terms of at most |gradient_k x_k|, so all its terms are at most itself and those twice. */
static double bound_by_extent(const struct slope *slope)
{
    const struct kf_domain *domain = &slope->problem->domain;
    size_t count = slope->size - slope->from;
    const double *x = slope->x + slope->from, *gradient = slope->gradient + slope->from;
    double support = domain->type->support(domain, count, gradient), sizes = fabs(support);
    for (size_t k = 0; k < count; k++)
        sizes += fabs(gradient[k] * x[k]);
    double bound = kf_dot(count, gradient, x) + support + kf_gamma(3 * (double)count + 8) * sizes;
    return fmax(bound, 0) + slope->off * domain->type->diameter(domain, count) * KF_UPWARD;
}

/* For any share s of mu, off |y-x| <= off^2/(2 mu s) + (mu s/2) |y-x|^2. */
static double bound_inside(const struct slope *slope, double mu)
{
    double exact = bound_by_projection(slope, mu);
    if (slope->off > 0) {
        double share = fmin(slope->off / (sqrt(2 * mu * exact) + slope->off), SHARE_MOST);
        exact = half_square(slope->off, mu * share) + bound_by_projection(slope, mu * (1 - share));
    }
    return fmin(exact, bound_by_extent(slope)) * KF_UPWARD + KF_UNDERFLOW;
}

bool kf_gap_is_nothing(const struct kf_problem *problem, const double *x)
{
    const struct kf_objective *objective = &problem->objective;
    if (!objective->loss || objective->hidden)
        return false;
    bool zeros = objective->loss->targets == KF_NUMBERS && objective->target_most == 0;
    bool one = objective->loss->targets == KF_MANY_CLASSES && objective->outputs == 1; /* whose probability is 1 */
    if (!zeros && !one)
        return false;
    for (size_t k = 0; k < kf_size(problem); k++)
        if (x[k] != 0)
            return false;
    return true;
}

double kf_held_bound(const struct kf_problem *problem, double mu, const double *x, const double *gradient,
                     const double *doubt, double more)
{
    struct slope slope = {problem, x, gradient, problem->objective.free, kf_size(problem), 0};
    if (!(mu > 0))
        return NAN;
    if (more == 0 && kf_gap_is_nothing(problem, x))
        return 0;
    if (kf_domain_is_whole(&problem->domain))
        return bound_of_whole(&slope, mu, doubt, more);
    slope.off = length_of_doubt(&slope, doubt, more);
    return bound_inside(&slope, mu);
}

/* |x*| at most, x* the optimum without its intercept: that of the domain; and as lambda |x*|^2 <= g* <= g(0), where 0 is in it. */
static double optimum_norm_most(const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    const struct kf_domain *domain = &problem->domain;
    const struct kf_domain_type *type = domain->type;
    bool has_zero = !type->constant_sum && (!type->lowest || (type->lowest(domain) <= 0 && type->highest(domain) >= 0));
    double norm = type->radius(domain, kf_size(problem) - objective->free);
    double of_zero = sqrt(objective->zeros.high * kf_inverse_weight(objective) / objective->lambda);
    return (has_zero ? fmin(norm, of_zero) : norm) * KF_UPWARD;
}

/* |b*| at most, for a best intercept b*. Beyond it all scores would lie on one side of their targets, or all points of one class
 * would cost nothing, and a smaller one were no worse. Infinite where no score is enough (logistic, softmax). */
static double intercept_most(const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    double scores = objective->loss->targets == KF_NUMBERS ? objective->target_most : objective->loss->settled;
    return (scores + objective->row_most * optimum_norm_most(problem)) * (1 + kf_gamma((double)objective->longest + 8));
}

/* Squared loss: the best intercept for w is slope/2 away and gains slope^2/4, and there the gradient in w is another by slope times the mean
 * row. */
static double bound_with_best_intercept(const struct kf_problem *problem, const double *x, const double *gradient,
                                        const double *doubt, double more, double slope)
{
    const struct kf_objective *objective = &problem->objective;
    double row =
        objective->row_masses * kf_inverse_weight(objective) * (1 + kf_gamma((double)problem->points.count + 8));
    double mu = 2 * objective->lambda;
    return (slope * slope / 4 + kf_held_bound(problem, mu, x, gradient, doubt, more + slope * row)) * KF_UPWARD;
}

bool kf_bounds_gap(const struct kf_problem *problem)
{
    return !problem->objective.free || isfinite(problem->objective.loss->settled);
}

double kf_gap_bound(const struct kf_problem *problem, const double *x, const double *gradient, const double *doubt,
                    double more)
{
    const struct kf_objective *objective = &problem->objective;
    if (objective->hidden)
        return NAN;
    double bound = kf_held_bound(problem, 2 * objective->lambda, x, gradient, doubt, more);
    if (!objective->free)
        return bound;
    double slope = (fabs(gradient[0]) + (doubt ? doubt[0] : 0) + more) * KF_UPWARD;
    bound += slope * (fabs(x[0]) + intercept_most(problem)) * KF_UPWARD;
    if (objective->loss->concordance == 0)
        bound = fmin(bound, bound_with_best_intercept(problem, x, gradient, doubt, more, slope));
    return isfinite(bound) ? bound : NAN;
}

double kf_gap_bound_of_pass(const struct kf_problem *problem, const double *x, double *sum, double *doubt,
                            double *gradient)
{
    const struct kf_objective *objective = &problem->objective;
    struct kf_tracked tracked = {sum, doubt};
    if (objective->hidden)
        return NAN;
    kf_rounding_of_pass(objective, x, doubt);
    kf_complete_doubt(objective, &tracked, x, doubt);
    kf_complete_gradient(objective, sum, x, gradient);
    return kf_gap_bound(problem, x, gradient, doubt, 0);
}

double kf_gap_estimate(const struct kf_problem *problem, const double *x, const double *gradient)
{
    const struct kf_objective *objective = &problem->objective;
    double bound = kf_gap_bound(problem, x, gradient, NULL, 0);
    if (!isnan(bound) || !(objective->lambda > 0))
        return bound;
    double curve = objective->loss ? 0.1 * objective->loss->curve_bound(objective->delta) : 1;
    return kf_held_bound(problem, 2 * objective->lambda, x, gradient, NULL, 0) +
           kf_square(objective->free, gradient) / (2 * curve);
}
