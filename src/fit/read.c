/* Reading a fit: what is known at no cost, and measurements. */
#include <math.h>

#include "base/error.h"
#include "base/sized.h"
#include "fit/centre.h"
#include "kernels/kernels.h"
#include "problem/gap.h"

const keepfit_options *keepfit_fit_options(const keepfit_fit *fit)
{
    return fit->options;
}

void keepfit_fit_report(const keepfit_fit *fit, keepfit_report *report)
{
    const struct kf_task *task = &fit->task;
    const struct kf_objective *objective = &task->problem.objective;
    double count = (double)fit->account.validated;
    bool numbers = fit->meaning.labels.kind == KF_NUMBERS;
    const keepfit_report made = {
        .method = fit->running[fit->running_count - 1].method->name,
        .reason = fit->choice.reason,
        .stage = fit->arrivals.arrived,
        .points = task->problem.points.count,
        .features = fit->meaning.features,
        .classes = numbers ? 0 : fit->meaning.labels.count,
        .fo = objective->fo,
        .steps = task->stage.steps,
        .lambda = objective->lambda,
        .bound = fit->outcome.bound,
        .worst_bound = fit->account.tally.worst_bound,
        .target = fit->outcome.target,
        .proved = fit->account.tally.proved,
        .missed = fit->account.tally.missed,
        .unproved = fit->account.tally.unproved,
        .waiting = fit->account.tally.waiting,
        .given_up = fit->account.tally.given_up,
        .smoothness = kf_smoothness(objective),
        .seconds = fit->account.seconds,
        .validated = fit->account.validated,
        .validation_loss = fit->account.loss_sum / count,
        .validation_error = numbers ? sqrt(fit->account.square_sum / count) : (double)fit->account.wrong / count,
        .outcome = fit->came_of_it,
        .improvements = fit->account.tally.improvements,
        .products = task->stage.products,
    };
    KF_GIVE(report, &made);
}

static keepfit_no_proof why_no_proof(const keepfit_fit *fit)
{
    const keepfit_options *options = fit->options;
    double lambda = isnan(options->lambda_total) ? options->lambda : options->lambda_total;
    if (fit->task.problem.objective.hidden)
        return KEEPFIT_NOT_CONVEX;
    if (!(lambda > 0))
        return KEEPFIT_NO_LAMBDA;
    const struct kf_method *method = fit->running[fit->running_count - 1].method;
    if (!method->holds_epsilon || (method->targetless && !kf_bounds_gap(&fit->task.problem)))
        return KEEPFIT_NO_PROMISE;
    return options->guarantee == KF_GUARANTEE_PROVED ? KEEPFIT_PROVES : KEEPFIT_ESTIMATES;
}

keepfit_no_proof keepfit_fit_no_proof(const keepfit_fit *fit, const char **reason)
{
    static const char *const reasons[] = {
        [KEEPFIT_PROVES] = "",
        [KEEPFIT_NOT_CONVEX] = "a network is not convex",
        [KEEPFIT_NO_LAMBDA] = "lambda is 0 (a small one, such as 1e-6, is enough)",
        [KEEPFIT_NO_PROMISE] = "the method promises nothing (auto does)",
        [KEEPFIT_ESTIMATES] = "estimates were asked for (guarantee estimate)",
    };
    keepfit_no_proof why = why_no_proof(fit);
    if (reason)
        *reason = reasons[why];
    return why;
}

const double *keepfit_fit_iterate(keepfit_fit *fit, size_t *dimension)
{
    *dimension = kf_size(&fit->task.problem);
    kf_read(&fit->task);
    return kf_centre_read_x(fit);
}

/* The bound at x, from a pass of gradients. */
static double measure_bound(struct kf_task *task)
{
    double *gradient = kf_borrow(task);
    kf_gradient_sum(&task->problem.objective, task->iterate.x, task->problem.points.count, gradient, NULL,
                    task->vectors.factors[0]);
    double bound = kf_gap_bound_of_pass(&task->problem, task->iterate.x, gradient, task->vectors.doubt, gradient);
    kf_give_back(task, gradient);
    return bound;
}

/* What the optimum that was found may be off by is more than this share of the objective: then it is not one to measure gaps by. */
#define OPTIMUM_TO 1e-9 /* safety: a gap is shown to 1e-9 of the objective */

/* Whether it is: by the gradient bound there, or, where an intercept has none, by what that comes to if the losses are not all flat. */
static bool is_optimum(keepfit_fit *fit, double value)
{
    struct kf_task *task = &fit->task;
    const struct kf_objective *objective = &task->problem.objective;
    struct kf_tracked tracked = {fit->measured.sum, task->vectors.doubt};
    if (!objective->loss || !(objective->lambda > 0))
        return true;
    double *gradient = kf_borrow(task);
    kf_gradient_sum_closely(&task->problem.objective, fit->measured.x, &tracked, gradient, NULL,
                            task->vectors.factors[0]);
    kf_complete_doubt(objective, &tracked, fit->measured.x, task->vectors.doubt);
    kf_complete_gradient(objective, fit->measured.sum, fit->measured.x, gradient);
    double bound = kf_gap_bound(&task->problem, fit->measured.x, gradient, task->vectors.doubt, 0);
    if (isnan(bound)) {
        for (size_t k = 0; k < objective->free; k++)
            gradient[k] = fabs(gradient[k]) + task->vectors.doubt[k];
        bound =
            kf_held_bound(&task->problem, 2 * objective->lambda, fit->measured.x, gradient, task->vectors.doubt, 0) +
            kf_gap_estimate(&task->problem, fit->measured.x, gradient);
    }
    kf_give_back(task, gradient);
    return bound <= OPTIMUM_TO * fmax(fabs(value), objective->zeros.high * kf_inverse_weight(objective));
}

/* Solves the stage's problem, from the last optimum that was found. */
static keepfit_status measure_optimum(keepfit_fit *fit, keepfit_measurement *result)
{
    struct kf_task *task = &fit->task;
    if (task->problem.objective.hidden)
        return kf_fail(&fit->error, KEEPFIT_USAGE,
                       "a network is not convex: its optimum, and with it the gap, cannot be computed");
    if ((!fit->measured.x && !kf_task_vector(task, &fit->measured.x)) ||
        (!fit->measured.sum && !kf_task_vector(task, &fit->measured.sum)))
        return kf_fail_memory(&fit->error);
    kf_project(&task->problem, fit->measured.x);
    kf_fit_limit_measuring(fit);
    keepfit_status status =
        kf_optimum_find(&fit->measured.optimum, task, 0, fit->measured.x, fit->measured.sum, &fit->error);
    if (status != KEEPFIT_OK)
        return status;
    double optimum = kf_objective_value(&task->problem.objective, fit->measured.x);
    if (!is_optimum(fit, optimum))
        return kf_fail(&fit->error, KEEPFIT_UNSOLVED,
                       "the optimum of stage %llu cannot be computed to a billionth of the objective, for rounding",
                       (unsigned long long)fit->arrivals.arrived);
    result->optimum = optimum;
    result->gap = result->objective - result->optimum;
    return KEEPFIT_OK;
}

/* The measurements that are asked for; the objective's count of FOs and the stage are put back by the caller. */
static keepfit_status measure(keepfit_fit *fit, unsigned what, keepfit_measurement *result)
{
    struct kf_task *task = &fit->task;
    if (!kf_all_finite(kf_size(&task->problem), kf_read(task)))
        return kf_fit_overflown(fit);
    if (what & (KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_OPTIMUM))
        result->objective = kf_objective_value(&task->problem.objective, task->iterate.x);
    if (what & KEEPFIT_MEASURE_BOUND)
        result->bound = kf_centre_bound(fit, measure_bound(task));
    return what & KEEPFIT_MEASURE_OPTIMUM ? measure_optimum(fit, result) : KEEPFIT_OK;
}

keepfit_status kf_fit_read(keepfit_fit *fit)
{
    kf_read(&fit->task);
    if (!fit->task.problem.objective.memory_failed || fit->death.status != KEEPFIT_OK)
        return KEEPFIT_OK;
    kf_fail_memory(&fit->death);
    return kf_fail_memory(&fit->error);
}

/* With what went wrong underneath: neither ends the fit. */
static keepfit_status measured_soundly(keepfit_fit *fit, unsigned what, keepfit_measurement *result)
{
    struct kf_objective *objective = &fit->task.problem.objective;
    uint64_t counted = objective->fo;
    struct kf_stage stage = fit->task.stage;
    keepfit_status status = measure(fit, what, result);
    objective->fo = counted;
    fit->task.stage = stage;
    if (objective->callback_failed) {
        objective->callback_failed = false;
        return kf_fail(&fit->error, KEEPFIT_CALLBACK, "the user-written objective reported a failure");
    }
    if (objective->memory_failed && fit->death.status == KEEPFIT_OK) {
        objective->memory_failed = false;
        return kf_fail_memory(&fit->error);
    }
    return status;
}

keepfit_status keepfit_fit_measure(keepfit_fit *fit, unsigned what, keepfit_measurement *result)
{
    keepfit_measurement measured = {0, NAN, NAN, NAN, NAN};
    if (fit->task.problem.points.count == 0)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "there is nothing to measure before the first point");
    keepfit_status status = kf_fit_read(fit);
    if (status == KEEPFIT_OK)
        status = measured_soundly(fit, what, &measured);
    if (status == KEEPFIT_OK || status == KEEPFIT_UNSOLVED)
        KF_GIVE(result, &measured);
    return status;
}
