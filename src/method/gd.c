/* Gradient descent, each stage from the last stage's output: x <- P(x - step * grad g_i(x)), i FOs a step. It stops as
 * soon as the proved bound is at most epsilon (the gradient it computes anyway proves it), or after T steps. */
#include <math.h>

#include "iterate/step.h"
#include "kernels/kernels.h"
#include "method/constants.h"
#include "method/method.h"
#include "problem/gap.h"

struct gd {
    double *gradient;
    struct kf_step_size step;
    uint64_t inner;
};

static keepfit_status gd_create(struct kf_task *task, void *state, keepfit_error *error)
{
    struct gd *gd = state;
    gd->inner = kf_given_or(task->problem.options->inner, 1000);
    if (!kf_iterate_prepare(task, KF_NEEDS_DRIFT) || !kf_task_vector(task, &gd->gradient))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(task->problem.options, (struct kf_step_size){KF_STEP_SHARE, 1}, false, false, &gd->step, error);
}

static keepfit_status gd_settle(struct kf_task *task, void *state, struct kf_outcome *outcome, keepfit_error *error)
{
    (void)error;
    struct gd *gd = state;
    double step = kf_step_fixed(&task->problem, &gd->step);
    for (uint64_t t = 0;; t++) {
        kf_drift_recompute(task, task->problem.points.count, NULL);
        outcome->bound = kf_gap_bound_of_pass(&task->problem, task->iterate.x, task->iterate.drift, task->vectors.doubt,
                                              gd->gradient);
        outcome->proof = KF_PROOF_GRADIENT;
        if (outcome->bound <= task->problem.options->epsilon || t == gd->inner)
            return KEEPFIT_OK;
        kf_step(task, step, &(struct kf_estimator){.drift_scale = kf_inverse_weight(&task->problem.objective)});
    }
}

const struct kf_method kf_gd = {
    .name = "gd",
    .summary = "gradient descent: full gradients until the proved bound is at most epsilon, at most T steps a stage",
    .does = "full gradients until the bound is at most epsilon, at most T",
    .gradients = "i a step",
    .output = "last iterate",
    .holds_epsilon = true,
    .targetless = true,
    .state_size = sizeof(struct gd),
    .create = gd_create,
    .settle = gd_settle,
};
