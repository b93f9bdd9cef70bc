/* The bounds themselves, from what is known of H, the gradient and the scores (curvature.h). */
#include <math.h>

#include "certificate/internal.h"
#include "kernels/kernels.h"
#include "kernels/exponential.h"

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

double kf_curvature_bound_at(const struct kf_curvature *curvature, const struct kf_problem *problem, double square,
                             double c, double most, double enough)
{
    return kf_fall(problem)->bound(curvature, problem, square, c, most, enough) * KF_UPWARD + KF_UNDERFLOW;
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
