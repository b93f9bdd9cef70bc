/* Newton's directions without a new Hessian, where there are many coordinates and one score a point, and it is too early for a Hessian's
 * bounds: conjugate gradients on products, which go by the factor of the last Hessian, or by H's diagonal while there is none. A product
 * costs a pass, without gradients, and none for points that have no curvature. Once products have taken as much work as a new Hessian does,
 * that is made: so no more is spent than twice what would have been, had one known. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "hold/hold.h"
#include "kernels/kernels.h"

#define ROUNDS_MOST 200 /* safety: then the step is what it is, and goes down */
/* As in truncated.c. */
#define SHARE_MOST 0.3   /* speed: bench/pieces.md */
#define SHARE_LEAST 1e-3 /* safety: three digits a step */
#define VECTORS 4        /* safety: room */

bool kf_hold_rents(const struct kf_task *task, const struct kf_hold *hold)
{
    const struct kf_problem *problem = &task->problem;
    return hold->certificate.gradient == KF_GRADIENT_REMEMBERED && !kf_hold_is_cheap(problem) &&
           (kf_hold_is_early(problem, hold) || (hold->reuse && kf_curvature_recentres(problem))) &&
           hold->products.rent < kf_cost_hessian(problem);
}

/* out = H v, with these curvatures of the points. */
static void multiply(const struct kf_problem *problem, const double *curves, const double *v, double *out)
{
    const struct kf_objective *objective = &problem->objective;
    size_t size = kf_size(problem);
    double mean = kf_inverse_weight(objective), z;
    for (size_t k = 0; k < size; k++)
        out[k] = k < objective->free ? 0 : 2 * objective->lambda * v[k];
    for (size_t j = 0; j < problem->points.count; j++) {
        if (!(curves[j] > 0))
            continue;
        keepfit_row row = kf_points_row(&problem->points, j);
        if (!row.index) {
            z = objective->kernels->dot(row.count, row.value, v);
            objective->kernels->add(row.count, mean * curves[j] * z, row.value, out);
            continue;
        }
        kf_row_scores(&row, v, size, 1, &z);
        z *= curves[j];
        kf_row_add(&row, mean, &z, 1, out);
    }
}

/* The reciprocals of H's diagonal. */
static void find_flat(const struct kf_problem *problem, const double *curves, double *flat)
{
    const struct kf_objective *objective = &problem->objective;
    size_t size = kf_size(problem);
    double mean = kf_inverse_weight(objective);
    for (size_t k = 0; k < size; k++)
        flat[k] = k < objective->free ? 0 : 2 * objective->lambda;
    for (size_t j = 0; j < problem->points.count; j++) {
        keepfit_row row = kf_points_row(&problem->points, j);
        for (size_t e = 0; e < row.count && curves[j] > 0; e++)
            flat[row.index ? row.index[e] : e] += mean * curves[j] * row.value[e] * row.value[e];
    }
    for (size_t k = 0; k < size; k++)
        flat[k] = 1 / fmax(flat[k], 1e-300);
}

struct solve {
    struct kf_task *task;
    const struct kf_curvature *factored; /* NULL: by the diagonal */
    const double *curves, *flat;
    double *residual, *search, *bent;
    double each; /* what a product takes */
};

/* bent = what the rounds go by makes of the residual; search = that + keep * search. Returns the product of residual and bent. */
static double turn(const struct solve *solve, double before)
{
    size_t size = kf_size(&solve->task->problem);
    if (solve->factored) {
        kf_curvature_step(solve->factored, solve->residual, solve->bent);
        kf_scale(size, -1, solve->bent);
    }
    for (size_t k = 0; k < size && !solve->factored; k++)
        solve->bent[k] = solve->flat[k] * solve->residual[k];
    double energy = kf_dot(size, solve->residual, solve->bent), keep = before > 0 ? energy / before : 0;
    for (size_t k = 0; k < size; k++)
        solve->search[k] = solve->bent[k] + keep * solve->search[k];
    return energy;
}

static void conjugate_gradients(struct kf_products *products, const struct solve *solve, double enough,
                                double *direction)
{
    struct kf_task *task = solve->task;
    size_t size = kf_size(&task->problem);
    double energy = turn(solve, 0);
    for (int round = 0; round < ROUNDS_MOST && energy > 0 && kf_toil_left(task); round++) {
        products->rent += solve->each;
        kf_spend_products(&task->stage, task->problem.points.count, solve->each);
        multiply(&task->problem, solve->curves, solve->search, solve->bent);
        double bend = kf_dot(size, solve->search, solve->bent);
        if (!(bend > 0))
            return;
        kf_add(size, energy / bend, solve->search, direction);
        kf_add(size, -energy / bend, solve->bent, solve->residual);
        if (!(kf_square(size, solve->residual) > enough))
            return;
        energy = turn(solve, energy);
    }
}

/* What a product takes: points without curvature are passed over. */
static double cost_of_product(const struct kf_problem *problem, const double *curves, bool factored)
{
    size_t bent = 0, size = kf_size(problem);
    for (size_t j = 0; j < problem->points.count; j++)
        bent += curves[j] > 0;
    return (double)bent * kf_cost_bend(problem) + (double)problem->points.count + KF_COST_VECTORS * (double)size +
           (factored ? kf_cost_solve((double)size) : 0);
}

double kf_hold_aim_rented(struct kf_task *task, struct kf_hold *hold)
{
    const struct kf_problem *problem = &task->problem;
    struct kf_certificate *certificate = &hold->certificate;
    struct kf_products *products = &hold->products;
    size_t size = kf_size(problem), count = problem->points.count;
    if (!KF_RESERVE(products->work, products->capacity, VECTORS * size + count)) {
        task->problem.objective.memory_failed = true;
        return NAN;
    }
    double *work = products->work, *curves = work + VECTORS * size;
    bool factored = kf_has_factor(&certificate->curvature) && certificate->curvature.hessian.size == size;
    kf_curves_recall(problem, 0, count, certificate->slopes.at, curves);
    if (!factored)
        find_flat(problem, curves, work + 3 * size);
    struct solve solve = {.task = task,
                          .factored = factored ? &certificate->curvature : NULL,
                          .curves = curves,
                          .flat = work + 3 * size,
                          .residual = work,
                          .search = work + size,
                          .bent = work + 2 * size,
                          .each = cost_of_product(problem, curves, factored)};
    kf_complete_gradient(&problem->objective, certificate->sum, task->iterate.x, certificate->complete);
    for (size_t k = 0; k < size; k++)
        solve.residual[k] = -certificate->complete[k];
    memset(hold->direction, 0, size * sizeof *hold->direction);
    memset(solve.search, 0, size * sizeof *solve.search);
    const struct kf_outcome *now = &certificate->now;
    double share = isfinite(now->bound) ? sqrt(kf_hold_share(task, hold) * now->target / now->bound) / 2 : SHARE_MOST;
    share = fmin(fmax(share, SHARE_LEAST), SHARE_MOST);
    conjugate_gradients(products, &solve, share * share * kf_square(size, solve.residual), hold->direction);
    return -kf_dot(size, certificate->complete, hold->direction);
}
