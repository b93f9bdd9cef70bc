/* The bounds themselves, from what is known of H, the gradient and the scores (curvature.h). */
#include <math.h>

#include "certificate/internal.h"
#include "kernels/exponential.h"

/* So often what follows from a distance is put in again. */
#define DISTANCE_ROUNDS 3
/* They bring it down by less than this. */
#define ROUNDS_BELOW 2.0

double kf_curvature_decrement(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    double mean = kf_inverse_weight(objective), ridge = 2 * objective->lambda;
    double sum_sum = mean * mean * curvature->sum_sum, x_x = ridge * ridge * curvature->x_x;
    double square = sum_sum + 2 * mean * ridge * curvature->sum_x + x_x;
    /* The three terms nearly cancel: what rounding may have left out is added. */
    square = fmax(square, 0) + 1e-14 * (sum_sum + x_x);
    if (curvature->error == 0)
        return square;
    double off = sqrt(square) + mean * curvature->error;
    return off * off;
}

/* u^2/(2 (u - 1 + exp(-u))), at most 1 + u/2: what the curvature at the start of a way is of its mean, if it falls like
 * exp(-u s). */
static double flattening(double u)
{
    return u < 0.01 ? 1 + u / 2 : u * u / (2 * (u + kf_expm1(-u)));
}

/* From how far away the optimum can be at all: D, and the inequality for the gap, at the head of curvature.h. What comes out is beside the
 * point where it is much more than the other bound. */
static double bound_by_distance(const struct kf_curvature *curvature, const struct kf_problem *problem, double square,
                                double c, double other)
{
    const struct kf_objective *objective = &problem->objective;
    double concordance = kf_concordance(problem), reach = concordance * objective->row_most / sqrt(objective->lambda);
    double t = objective->free ? concordance * sqrt(curvature->inverse[0]) * sqrt(square) / c : 0;
    if (!(t < 1))
        return INFINITY;
    double rest = 1 + sqrt(1 - t), half = 2 * square / (c * rest * rest);
    double e = half * reach / 4, root = e + sqrt(e * e + half), bound = root * root;
    for (int k = 0; k < DISTANCE_ROUNDS && !objective->free && bound < ROUNDS_BELOW * other; k++)
        bound = half * flattening(reach * sqrt(bound));
    return bound;
}

/* K where points' curvatures have become less than c says of all, or have left: the others' shares are the larger. */
static double reach_now(const struct kf_curvature *curvature)
{
    double rest = 1 - curvature->lost - KF_GIVEN_UP_MOST, farthest = sqrt(curvature->leverage);
    return rest > 0 ? fmin(farthest, curvature->reach / rest) : farthest;
}

double kf_curvature_bound_at(const struct kf_curvature *curvature, const struct kf_problem *problem, double square,
                             double c, double most, double enough)
{
    double t = kf_concordance(problem) * reach_now(curvature) * sqrt(square) / c;
    double bound = t < most ? square / (2 * c) * kf_concordant_excess(t) : INFINITY;
    return curvature->plain || bound <= enough ? bound
                                               : fmin(bound, bound_by_distance(curvature, problem, square, c, bound));
}

double kf_curvature_bound(const struct kf_curvature *curvature, const struct kf_problem *problem, double enough)
{
    if (!curvature->certified)
        return INFINITY;
    return kf_curvature_bound_at(curvature, problem, kf_curvature_decrement(curvature, problem),
                                 kf_curvature_shrinkage(curvature, problem, curvature->stretch), 1, enough);
}
