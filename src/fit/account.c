/* What every new point changes besides the model: the constants, and the record of progressive validation. */
#include <assert.h>
#include <math.h>

#include "fit/fit.h"

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
    fit->account.validated++;
    assert(fit->account.wrong <= fit->account.validated);
    fit->account.loss_sum += loss;
    if (objective->loss->targets == KF_NUMBERS) {
        double miss = objective->scores[0] - target;
        fit->account.square_sum += miss * miss;
    } else {
        fit->account.wrong += is_wrong(objective, target);
    }
    return loss;
}

double kf_fit_account(keepfit_fit *fit)
{
    update_constants(fit);
    return validate(fit);
}
