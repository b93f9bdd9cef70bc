/* The bounds themselves, from what is known of H, the gradient and the scores (curvature.h). */
#include <math.h>

#include "certificate/internal.h"
#include "kernels/kernels.h"
#include "kernels/exponential.h"

/* So often what follows from a distance is put in again. */
#define DISTANCE_ROUNDS 3 /* speed: bench/tuning.md */
/* They bring it down by less than this. */
#define ROUNDS_BELOW 2.0 /* speed: bench/tuning.md */

/* With v the gradient as computed, y what at_sum and at_x make of H^-1 v, and e_k, f_k what their numbers may be off by,
 *
 *   |g|_{H^-1} <= |v|_{H^-1} + sum e_k width_k,     |v|^2_{H^-1} <= v.y + sum |v_k| f_k,     f_k <= width_k theta */
struct decrement {
    double product, sizes; /* v.y, and the sum of its terms' sizes */
    double widths, doubt;  /* sum |v_k| width_k, sum e_k width_k */
};

/* Free coordinates have no part of x in v, though at_x has numbers for them. */
static struct decrement measure_decrement(const struct kf_curvature *curvature, const struct kf_task *task,
                                          const struct kf_tracked *tracked)
{
    const struct kf_objective *objective = &task->problem.objective;
    double mean = kf_inverse_weight(objective), ridge = 2 * objective->lambda, unit = 6 * KF_UNIT, sums[4];
    size_t free = objective->free;
    struct kf_decrement rest = {tracked->sum + free,
                                task->iterate.x + free,
                                curvature->followed.at_sum + free,
                                curvature->followed.at_x + free,
                                tracked->off + free,
                                curvature->hessian.width + free};
    objective->kernels->decrement(curvature->hessian.size - free, mean, ridge, unit, &rest, sums);
    struct decrement found = {sums[0], sums[1], sums[2], sums[3]};
    for (size_t k = 0; k < free; k++) {
        double v = mean * tracked->sum[k],
               term = v * (mean * curvature->followed.at_sum[k] + ridge * curvature->followed.at_x[k]);
        found.product += term;
        found.sizes += fabs(term);
        found.widths += curvature->hessian.width[k] * fabs(v);
        found.doubt += curvature->hessian.width[k] * (mean * tracked->off[k] + unit * fabs(v));
    }
    return found;
}

double kf_curvature_decrement(const struct kf_curvature *curvature, const struct kf_task *task,
                              const struct kf_tracked *tracked)
{
    struct decrement found = measure_decrement(curvature, task, tracked);
    double mean = kf_inverse_weight(&task->problem.objective), ridge = 2 * task->problem.objective.lambda;
    double theta = mean * curvature->followed.sum_off + ridge * curvature->followed.x_off +
                   6 * KF_UNIT * (mean * curvature->followed.sum_length + ridge * curvature->followed.x_length);
    double square =
        fmax(found.product, 0) + found.widths * theta + kf_gamma((double)curvature->hessian.size + 8) * found.sizes;
    double length = sqrt(square) + found.doubt + mean * curvature->since.error;
    return length * length * (1 + kf_gamma((double)curvature->hessian.size + 64));
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
    double longest = objective->row_most * (1 + kf_gamma((double)objective->longest + 8));
    double concordance = kf_concordance(problem), reach = concordance * longest / sqrt(objective->lambda);
    double t = objective->free ? concordance * sqrt(curvature->hessian.inverse[0]) * sqrt(square) / c : 0;
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
    double rest = 1 - curvature->since.lost - KF_GIVEN_UP_MOST, farthest = sqrt(curvature->leverages.largest);
    return rest > 0 ? fmin(farthest, curvature->leverages.reach / rest) : farthest;
}

double kf_curvature_bound_at(const struct kf_curvature *curvature, const struct kf_problem *problem, double square,
                             double c, double most, double enough)
{
    double t = kf_concordance(problem) * reach_now(curvature) * sqrt(square) / c;
    double bound = t < most ? square / (2 * c) * kf_concordant_excess(t) : INFINITY;
    if (!curvature->plain && !(bound <= enough))
        bound = fmin(bound, bound_by_distance(curvature, problem, square, c, bound));
    return bound * KF_UPWARD + KF_UNDERFLOW;
}

double kf_curvature_bound(const struct kf_curvature *curvature, const struct kf_task *task,
                          const struct kf_tracked *tracked, double enough)
{
    if (!kf_is_certified(curvature))
        return INFINITY;
    return kf_curvature_bound_at(curvature, &task->problem, kf_curvature_decrement(curvature, task, tracked),
                                 kf_curvature_shrinkage(curvature, &task->problem, curvature->since.stretch), 1,
                                 enough);
}
