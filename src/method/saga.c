/* SAGA (Defazio, Bach, Lacoste-Julien 2014), run anew at each stage from the last output: the table of all gradients is
 * filled at x_{i-1} (i FOs), then T steps of
 *
 *     x <- P(x - step * (grad f_u(x) - table_u + mean of the table)),   table_u <- grad f_u(x),   u uniform on 1..i   (1 FO)
 *
 * The table holds factors, not gradients. T = 300, step 1/(3L); the output is the last iterate. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "iterate/step.h"
#include "method/constants.h"
#include "method/method.h"

struct saga {
    double *table; /* factor_count numbers a point; the drift is the sum of its gradients */
    size_t table_capacity;
    struct kf_step_size step;
    uint64_t inner;
};

static keepfit_status saga_create(struct kf_task *task, void *state, keepfit_error *error)
{
    struct saga *saga = state;
    saga->inner = kf_given_or(task->problem.options->inner, 300);
    if (!kf_iterate_prepare(task, KF_NEEDS_DRIFT))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(task->problem.options, (struct kf_step_size){KF_STEP_SHARE, 1.0 / 3}, false, false, &saga->step,
                        error);
}

static keepfit_status saga_stage(struct kf_task *task, void *state, keepfit_error *error)
{
    struct saga *saga = state;
    struct kf_objective *objective = &task->problem.objective;
    size_t i = task->problem.points.count, each = objective->type->factor_count(objective);
    if (i > SIZE_MAX / each / sizeof(double) || !KF_RESERVE(saga->table, saga->table_capacity, i * each))
        return kf_fail_memory(error);
    kf_drift_recompute(task, i, saga->table);
    kf_steps(task, &(struct kf_course){.step = kf_step_fixed(&task->problem, &saga->step),
                                       .estimator = kf_estimate_by_table(i, kf_inverse_weight(objective)),
                                       .bound = i,
                                       .count = saga->inner,
                                       .table = saga->table});
    return KEEPFIT_OK;
}

static void saga_destroy(void *state)
{
    free(((struct saga *)state)->table);
}

const struct kf_method kf_saga = {
    .name = "saga",
    .summary = "a table of gradients filled at each stage, then T steps (300) that renew it",
    .does = "fills a table of gradients, T steps that renew it",
    .gradients = "i + T",
    .output = "last iterate",
    .scaled = true,
    .state_size = sizeof(struct saga),
    .create = saga_create,
    .stage = saga_stage,
    .destroy = saga_destroy,
};
