/* SARAH (Nguyen, Liu, Scheinberg, Takac 2017), run anew at each stage from the last output: S epochs, each with
 *
 *     v = full gradient (i FOs), x_1 = P(x_0 - step*v), and then T times
 *     v <- grad f_u(x_t) - grad f_u(x_{t-1}) + v,   x_{t+1} = P(x_t - step*v),   u uniform on 1..i   (2 FOs)
 *
 * v tracks the loss's gradient; the regulariser, common to all f_u, is applied exactly. Departure: the next epoch starts
 * from the last iterate, not from one drawn at random among them. S = 10, T = 100, step 1/(3L). */
#include "iterate/step.h"

#include <assert.h>
#include "kernels/kernels.h"
#include "method/constants.h"
#include "method/method.h"

struct sarah {
    struct kf_step_size step;
    uint64_t outer, inner;
};

static keepfit_status sarah_create(struct kf_task *task, void *state, keepfit_error *error)
{
    struct sarah *sarah = state;
    sarah->outer = kf_given_or(task->problem.options->outer, 10);
    sarah->inner = kf_given_or(task->problem.options->inner, 100);
    if (!kf_iterate_prepare(task, KF_NEEDS_DRIFT | KF_NEEDS_BEFORE)) /* the drift is W*v */
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(task->problem.options, (struct kf_step_size){KF_STEP_SHARE, 1.0 / 3}, false, false,
                        &sarah->step, error);
}

static keepfit_status sarah_stage(struct kf_task *task, void *state, keepfit_error *error)
{
    (void)error;
    struct sarah *sarah = state;
    struct kf_objective *objective = &task->problem.objective;
    size_t i = task->problem.points.count;
    assert(i > 0 && task->iterate.needs & KF_NEEDS_BEFORE);
    double step = kf_step_fixed(&task->problem, &sarah->step);
    double mean = kf_inverse_weight(objective);
    struct kf_estimator change = kf_estimate_plainly(i, 1);
    double *then = task->vectors.factors[KF_SAMPLES_MOST];
    for (uint64_t s = 0; s < sarah->outer; s++) {
        kf_drift_recompute(task, i, NULL);
        kf_step_along(task, step, mean, NULL, 0);
        kf_sampler_start(task, i, sarah->inner, NULL);
        for (uint64_t t = 0; t < sarah->inner; t++) {
            size_t u = kf_sampler_next(task);
            struct kf_term terms[KF_TERMS_MOST];
            kf_factors(objective, &task->iterate.before, u, then);
            kf_estimate_at(&change, u, then);
            size_t made = kf_step_terms(task, &task->iterate.view, &change, terms);
            for (size_t k = 0; k < made; k++)
                kf_drift_add(task, terms[k].scale, u, terms[k].factors);
            kf_step_along(task, step, mean, NULL, 0);
        }
    }
    return KEEPFIT_OK;
}

const struct kf_method kf_sarah = {
    .name = "sarah",
    .summary = "stochastic recursive gradient: S epochs (10) of T steps (100) a stage",
    .does = "S epochs: a full gradient, T steps with a recursive estimate",
    .gradients = "S(i + 2T)",
    .output = "last iterate",
    .scaled = true,
    .looks_back = true,
    .state_size = sizeof(struct sarah),
    .create = sarah_create,
    .stage = sarah_stage,
};
