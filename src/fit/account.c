/* What every new point changes besides the model: the constants, and the record of progressive validation. */
#include <assert.h>
#include <math.h>

#include "fit/fit.h"
#include "fit/validation.h"
#include "kernels/exponential.h"

/* W, lambda and the largest curvature, with the newest point. */
static void update_constants(keepfit_fit *fit)
{
    struct kf_task *task = &fit->task;
    struct kf_objective *objective = &task->problem.objective;
    kf_objective_count(objective, task->problem.points.count - 1);
    if (!isnan(fit->options->lambda_total) && objective->weight_total > 0)
        objective->lambda = fit->options->lambda_total / objective->weight_total;
}

static bool is_wrong(const struct kf_objective *objective, double target)
{
    const double *z = objective->scores;
    size_t best = 0;
    assert(objective->loss->targets != KF_NUMBERS);
    if (objective->loss->targets == KF_TWO_CLASSES)
        return (z[0] > 0) != (target > 0);
    for (size_t k = 1; k < objective->outputs; k++)
        if (z[k] > z[best])
            best = k;
    return best != (size_t)target;
}

/* The score and the probability that the prediction gave, where there are classes to tell apart. */
static void judge_class(const keepfit_fit *fit, double target, struct kf_judged *judged)
{
    const struct kf_objective *objective = &fit->task.problem.objective;
    const double *z = objective->scores;
    judged->score = judged->probability = NAN;
    judged->has_classes = fit->meaning.labels.count > 1;
    if (objective->loss->targets == KF_TWO_CLASSES) {
        judged->happened = target > 0;
        judged->score = z[0];
        if (objective->loss->probabilities)
            judged->probability = kf_logistic_tail(-z[0], 1);
        return;
    }
    size_t best = 0;
    double sum = 0;
    for (size_t k = 1; k < objective->outputs; k++)
        best = z[k] > z[best] ? k : best;
    for (size_t k = 0; k < objective->outputs; k++)
        sum += kf_exp_any(z[k] - z[best]);
    judged->happened = best == (size_t)target;
    judged->probability = 1 / sum;
}

/* Progressive validation: the newest point, predicted by the model that has not seen it. Returns its loss, NaN: not known. */
static double validate(keepfit_fit *fit)
{
    struct kf_task *task = &fit->task;
    struct kf_objective *objective = &task->problem.objective;
    size_t newest = task->problem.points.count - 1;
    if (!objective->loss || newest == 0)
        return NAN;
    double target = task->problem.points.place[newest].target;
    double loss = objective->type->value(objective, &task->iterate.view, newest);
    struct kf_judged judged = {.arrival = fit->arrivals.arrived, .loss = loss};
    fit->account.validated++;
    assert(fit->account.wrong <= fit->account.validated);
    fit->account.loss_sum += loss;
    if (objective->loss->targets == KF_NUMBERS) {
        double miss = objective->scores[0] - target;
        fit->account.square_sum += judged.miss = miss * miss;
    } else {
        judged.miss = is_wrong(objective, target);
        fit->account.wrong += judged.miss > 0;
        judge_class(fit, target, &judged);
    }
    judged.learns = task->problem.points.count < KF_DRIFT_A_COORDINATE * kf_dimension(objective);
    kf_validation_take(fit->account.validation, &judged);
    return loss;
}

double kf_fit_account(keepfit_fit *fit)
{
    update_constants(fit);
    return validate(fit);
}
