#include "optimum/optimum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/kernels.h"
#include "optimum/standing.h"

#define SPARE_VECTORS 6                  /* safety: room; the solvers' need */
#define WORK_VECTORS (SPARE_VECTORS + 1) /* safety: room; and one */

void kf_curves_free(struct kf_curves *curves)
{
    free(curves->of);
    free(curves->columns);
    *curves = (struct kf_curves){0};
}

void kf_optimum_free(struct kf_optimum *optimum)
{
    kf_quadratic_free(&optimum->quadratic);
    kf_curves_free(&optimum->curves);
    free(optimum->work);
    memset(optimum, 0, sizeof *optimum);
}

void kf_standing_measure(struct kf_task *task, struct kf_standing *at)
{
    struct kf_objective *objective = &task->problem.objective;
    kf_gradient_sum(objective, at->x, task->problem.points.count, at->sum, NULL, task->vectors.factors[0]);
    kf_complete_gradient(objective, at->sum, at->x, at->gradient);
    at->value = kf_optimum_value(task, at->x);
    at->bound = kf_gap_estimate(&task->problem, at->x, at->gradient);
}

bool kf_line_search(struct kf_task *task, struct kf_standing *at, const double *direction, double slope,
                    double *candidate)
{
    size_t size = kf_size(&task->problem);
    double noise = 4e-16 * kf_standing_scale(at);
    /* Where a loss is flat, Newton's step may be too long by 16 digits. */
    for (double step = 1; step > 1e-20; step /= 2) {
        memcpy(candidate, at->x, size * sizeof *candidate);
        kf_add(size, step, direction, candidate);
        double value = kf_optimum_value(task, candidate);
        if (value <= at->value + 1e-4 * step * slope + noise) {
            memcpy(at->x, candidate, size * sizeof *candidate);
            kf_standing_measure(task, at);
            return true;
        }
    }
    return false;
}

/* Those that prove something are made lower bounds of what they stand for: two slopes of 8 units each, and the weight. */
#define LEAST (1 - 0x1p-47) /* proof: "Lemma 18 (losses in numbers)" */

void kf_curves(struct kf_curves *curves, struct kf_task *task, const double *x, size_t from, size_t to)
{
    struct kf_objective *objective = &task->problem.objective;
    size_t each = objective->outputs * objective->outputs;
    struct kf_view view = kf_dense_view(x);
    bool proves = kf_is_single(objective) && objective->loss->concordance > 0 && isfinite(objective->loss->concordance);
    for (size_t j = from; j < to; j++) {
        objective->type->curve(objective, &view, j, curves->of + j * each);
        kf_scale(each, task->problem.points.place[j].weight * (proves ? LEAST : 1), curves->of + j * each);
    }
    objective->fo += to - from;
}

bool kf_optimum_reserve(struct kf_optimum *optimum, const struct kf_problem *problem, bool hessian, bool dense)
{
    size_t size = kf_size(problem), each = problem->objective.outputs * problem->objective.outputs;
    return KF_RESERVE(optimum->work, optimum->work_capacity, WORK_VECTORS * (size + 1)) &&
           KF_RESERVE(optimum->curves.columns, optimum->curves.columns_capacity,
                      dense ? KF_COLUMNS * (size + 1) : 2 * problem->objective.outputs) &&
           (!hessian || KF_RESERVE(optimum->curves.of, optimum->curves.capacity, problem->points.count * each)) &&
           (!dense || kf_quadratic_reserve(&optimum->quadratic, size));
}

/* x is where an earlier solve ended. An intercept that went far while one class was all there was may have left it where all
 * losses are flat, and no way leads back: then it is better to begin at 0, or next to it in the domain. */
static void begin_well(struct kf_task *task, double *zero, double *x)
{
    kf_project(&task->problem, zero);
    if (kf_objective_value(&task->problem.objective, x) > kf_objective_value(&task->problem.objective, zero))
        kf_copy(&task->problem, x, zero);
}

/* A solver that rounding has led astray leaves an x that can be gone on from. */
static bool stays_finite(struct kf_task *task, struct kf_standing *at)
{
    if (kf_all_finite(kf_size(&task->problem), at->x))
        return true;
    kf_clear(&task->problem, at->x);
    kf_project(&task->problem, at->x);
    kf_standing_measure(task, at);
    return false;
}

keepfit_status kf_optimum_find(struct kf_optimum *optimum, struct kf_task *task, double target, double *x, double *sum,
                               keepfit_error *error)
{
    size_t size = kf_size(&task->problem);
    bool hessian = task->problem.objective.type->has_hessian;
    bool dense = hessian && size <= KF_DENSE_MOST;
    if (!kf_optimum_reserve(optimum, &task->problem, hessian, dense))
        return kf_fail_memory(error);
    double *vectors[WORK_VECTORS];
    for (size_t k = 0; k < WORK_VECTORS; k++)
        vectors[k] = optimum->work + k * (size + 1);
    struct kf_standing at = {.x = x, .sum = sum, .gradient = vectors[0]};
    double **spare = vectors + 1;

    memset(spare[0], 0, size * sizeof **spare);
    at.zero_value = fabs(kf_objective_value(&task->problem.objective, spare[0]));
    begin_well(task, spare[0], x);
    kf_standing_measure(task, &at);
    bool solved;
    if (dense)
        solved = kf_newton_dense(optimum, task, target, &at, spare);
    else if (hessian && kf_domain_is_whole(&task->problem.domain))
        solved = kf_newton_cg(optimum, task, target, &at, spare);
    else
        solved = kf_accelerated(task, target, &at, spare);
    if (task->problem.objective.callback_failed)
        return kf_fail(error, KEEPFIT_CALLBACK, "a user-written objective reported a failure");
    if (!stays_finite(task, &at) || !solved || !isfinite(at.value))
        return kf_fail(error, KEEPFIT_UNSOLVED, "the optimum of stage %zu could not be computed",
                       task->problem.points.count);
    return KEEPFIT_OK;
}
