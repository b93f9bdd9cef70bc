/* Loopless SVRG (Kovalev, Horvath, Richtarik 2020, "Don't Jump Through Hoops and Remove Those Loops"): SVRG whose snapshot w moves by
 * chance, not at the ends of epochs. T steps a stage of
 *
 *     x <- P(x - step * (grad f_u(x) - grad f_u(w) + mean gradient at w)),  u uniform on 1..i                        (2 FOs)
 *     with probability p = 1/i: w <- x, and the mean is computed there                                               (i FOs)
 *
 * T = 100, step 1/(6L) as in that paper's theorem. The output is the last iterate.
 *
 * Decided here: w and its mean stay from stage to stage, since no loop ends there; a new point's gradient at w joins the mean (1 FO), and a
 * point that leaves takes its own out of it (1 FO). w becomes the iterate after the step, not the one before it, which is gone by then. How
 * many steps it is until w moves is drawn at once, from the geometric distribution; as that has no memory, each stage draws anew. When the
 * functions themselves change (a new class, swapped labels), w moves to the iterate at the next stage. */
#include <assert.h>

#include "base/logarithm.h"
#include "iterate/step.h"
#include "kernels/kernels.h"
#include "method/constants.h"
#include "method/method.h"

struct lsvrg {
    double *snapshot; /* w; the drift is the gradient sum there */
    struct kf_step_size step;
    uint64_t inner;
    bool known; /* that sum has all points but the newest */
};

static keepfit_status lsvrg_create(struct kf_task *task, void *state, keepfit_error *error)
{
    struct lsvrg *lsvrg = state;
    lsvrg->inner = kf_given_or(task->problem.options->inner, 100);
    if (!kf_iterate_prepare(task, KF_NEEDS_DRIFT) || !kf_task_vector(task, &lsvrg->snapshot))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(task->problem.options, (struct kf_step_size){KF_STEP_SHARE, 1.0 / 6}, false, false,
                        &lsvrg->step, error);
}

static void move_snapshot(struct kf_task *task, struct lsvrg *lsvrg)
{
    kf_copy(&task->problem, lsvrg->snapshot, kf_read(task));
    kf_drift_recompute(task, task->problem.points.count, NULL);
    lsvrg->known = true;
}

/* Point j's gradient at the snapshot joins the sum, or leaves it with sign -1. */
static void change_sum(struct kf_task *task, const struct lsvrg *lsvrg, size_t j, double sign)
{
    struct kf_view snapshot = kf_dense_view(lsvrg->snapshot);
    double *factors = task->vectors.factors[0];
    assert(lsvrg->known);
    kf_factors(&task->problem.objective, &snapshot, j, factors);
    kf_drift_add(task, sign, j, factors);
}

/* Steps up to the first after which the snapshot moves: k with probability p (1-p)^(k-1), p = 1/i. */
static uint64_t draw_length(struct kf_task *task)
{
    size_t i = task->problem.points.count;
    double chance = kf_random_unit(&task->stage.random); /* also for i = 1: others are drawn alike */
    double length = i > 1 ? 1 + kf_log1p(-chance) / kf_log1p(-1 / (double)i) : 1;
    assert(length >= 1);
    return length < 1e18 ? (uint64_t)length : (uint64_t)1e18;
}

static keepfit_status lsvrg_stage(struct kf_task *task, void *state, keepfit_error *error)
{
    (void)error;
    struct lsvrg *lsvrg = state;
    size_t i = task->problem.points.count;
    if (lsvrg->known)
        change_sum(task, lsvrg, i - 1, 1);
    else
        move_snapshot(task, lsvrg);
    for (uint64_t left = lsvrg->inner; left > 0;) {
        uint64_t length = draw_length(task), steps = length < left ? length : left;
        kf_steps_anchored(task, lsvrg->snapshot, kf_step_fixed(&task->problem, &lsvrg->step), steps);
        if (steps == length)
            move_snapshot(task, lsvrg);
        left -= steps;
    }
    return KEEPFIT_OK;
}

static void lsvrg_forget(struct kf_task *task, void *state)
{
    (void)task;
    ((struct lsvrg *)state)->known = false;
}

static void lsvrg_leave(struct kf_task *task, void *state, size_t j)
{
    if (((struct lsvrg *)state)->known)
        change_sum(task, state, j, -1);
}

static void lsvrg_archive(struct kf_task *task, void *state, struct kf_archive *archive)
{
    struct lsvrg *lsvrg = state;
    kf_task_archive_vector(task, archive, &lsvrg->snapshot);
    kf_archive_flag(archive, &lsvrg->known);
}

const struct kf_method kf_lsvrg = {
    .name = "lsvrg",
    .summary = "loopless SVRG: T steps (100) a stage, and a full gradient with probability 1/i after each",
    .does = "T steps; after each, with probability 1/i, a full gradient, which stays from stage to stage",
    .gradients = "2T + 1, and i each time",
    .output = "last iterate",
    .scaled = true,
    .state_size = sizeof(struct lsvrg),
    .create = lsvrg_create,
    .stage = lsvrg_stage,
    .forget = lsvrg_forget,
    .leave = lsvrg_leave,
    .archive = lsvrg_archive,
};
