/* User-written objectives: value and gradient come from callbacks, and the factors are the gradient itself. A callback
 * that fails is remembered; the fit looks at the end of the stage and stops. */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "objective/objective.h"

static keepfit_point point_of(const struct kf_objective *objective, size_t j)
{
    return (keepfit_point){.row = kf_points_row(objective->points, j),
                           .target = objective->points->place[j].target,
                           .weight = objective->points->place[j].weight,
                           .weightless = objective->points->place[j].weight == 0};
}

static size_t callback_factor_count(const struct kf_objective *objective)
{
    return kf_dimension(objective);
}

static double callback_value(struct kf_objective *objective, const struct kf_view *x, size_t j)
{
    const keepfit_objective *user = objective->callbacks;
    keepfit_point point = point_of(objective, j);
    double value = NAN;
    if (user->value(user->context, x->dense, &point, &value) != 0)
        objective->callback_failed = true;
    return value;
}

static void callback_factors(struct kf_objective *objective, const struct kf_view *x, size_t j, double *factors)
{
    const keepfit_objective *user = objective->callbacks;
    keepfit_point point = point_of(objective, j);
    memset(factors, 0, kf_dimension(objective) * sizeof *factors);
    if (user->gradient(user->context, x->dense, &point, factors) != 0)
        objective->callback_failed = true;
    if (point.weight != 1)
        kf_scale(kf_dimension(objective), point.weight, factors);
}

static void callback_add(const struct kf_objective *objective, double scale, size_t j, const double *factors, double *y)
{
    (void)j;
    kf_add(kf_dimension(objective), scale, factors, y);
}

/* Without the callback for it the curvature counts as 0 here: the option smoothness replaces it. */
static double callback_curvature(struct kf_objective *objective, size_t j)
{
    const keepfit_objective *user = objective->callbacks;
    keepfit_point point = point_of(objective, j);
    double curvature = 0;
    if (user->curvature && user->curvature(user->context, &point, &curvature) != 0)
        objective->callback_failed = true;
    return curvature;
}

const struct kf_objective_type kf_callback_objective = {
    .factor_count = callback_factor_count,
    .value = callback_value,
    .factors = callback_factors,
    .add = callback_add,
    .curvature = callback_curvature,
    .has_hessian = false,
};
