/* SVRG (Johnson and Zhang 2013), run anew at each stage from the last output: S epochs, each with the full gradient at
 * the snapshot (i FOs) and T steps of
 *
 *     x <- P(x - step * (grad f_u(x) - grad f_u(snapshot) + mean gradient at the snapshot)),  u uniform on 1..i  (2 FOs)
 *
 * The next snapshot is the last iterate (option I of that paper). S = 10, T = 100, step 1/(3L) as in the CSVRG paper. */
#include "iterate/step.h"

#include <assert.h>
#include "kernels/kernels.h"
#include "method/constants.h"
#include "method/method.h"

struct svrg {
    double *snapshot;
    struct kf_step_size step;
    uint64_t outer, inner;
};

static keepfit_status svrg_create(struct kf_task *task, void *state, keepfit_error *error)
{
    struct svrg *svrg = state;
    svrg->outer = kf_given_or(task->problem.options->outer, 10);
    svrg->inner = kf_given_or(task->problem.options->inner, 100);
    if (!kf_iterate_prepare(task, KF_NEEDS_DRIFT) || !kf_task_vector(task, &svrg->snapshot))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(task->problem.options, (struct kf_step_size){KF_STEP_SHARE, 1.0 / 3}, false, false, &svrg->step,
                        error);
}

static keepfit_status svrg_stage(struct kf_task *task, void *state, keepfit_error *error)
{
    (void)error;
    struct svrg *svrg = state;
    assert(task->problem.points.count > 0 && task->iterate.needs & KF_NEEDS_DRIFT);
    for (uint64_t s = 0; s < svrg->outer; s++) {
        kf_copy(&task->problem, svrg->snapshot, kf_read(task));
        kf_drift_recompute(task, task->problem.points.count, NULL);
        kf_steps_anchored(task, svrg->snapshot, kf_step_fixed(&task->problem, &svrg->step), svrg->inner);
    }
    return KEEPFIT_OK;
}

const struct kf_method kf_svrg = {
    .name = "svrg",
    .summary = "stochastic variance reduced gradient: S epochs (10) of T steps (100) a stage",
    .does = "S epochs: a full gradient, T steps",
    .gradients = "S(i + 2T)",
    .output = "last iterate",
    .scaled = true,
    .state_size = sizeof(struct svrg),
    .create = svrg_create,
    .stage = svrg_stage,
};
