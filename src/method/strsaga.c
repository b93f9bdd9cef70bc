/* STRSAGA (Jothimurugesan, Tahmasbi, Gibbons, Tirthapura 2018, "Variance-Reduced Stochastic Gradient Descent on Streaming
 * Data"): SAGA on T, the points used so far, with one table for the whole stream (prefix.h has the step). An arrival has rho
 * gradients (--inner): the first, third, fifth, ... take the next point not yet in T, in order of arrival and with a table entry
 * of 0, as long as there is one; the others draw uniformly from T. The output is the last iterate.
 *
 * A stage brings one point, which its first step takes, so T is everything seen (but for points of weight 0 at the very
 * beginning, which have no stage and are caught up with, one in two steps). With rho = 1 nothing is ever used twice.
 *
 * Decided here: rho = 10 and the step 1/(3L), L being the largest curvature so far (the paper tunes both to the
 * problem); the regulariser, the same in all f_j, is applied exactly and not kept in the table; when the functions themselves
 * change (a new class, swapped labels) all entries of T return to 0, so that the cost of a stage stays what it was. */
#include <stdlib.h>

#include "base/error.h"
#include "method/constants.h"
#include "method/method.h"
#include "method/prefix.h"

struct strsaga {
    struct kf_prefix prefix; /* first: tests look at it */
    struct kf_step_size step;
    uint64_t inner;
};

static keepfit_status strsaga_create(struct kf_task *task, void *state, keepfit_error *error)
{
    struct strsaga *strsaga = state;
    strsaga->inner = kf_given_or(task->problem.options->inner, 10);
    if (!kf_iterate_prepare(task, KF_NEEDS_DRIFT))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(task->problem.options, (struct kf_step_size){KF_STEP_SHARE, 1.0 / 3}, false, false,
                        &strsaga->step, error);
}

static keepfit_status strsaga_stage(struct kf_task *task, void *state, keepfit_error *error)
{
    struct strsaga *strsaga = state;
    struct kf_prefix *prefix = &strsaga->prefix;
    double step = kf_step_fixed(&task->problem, &strsaga->step);
    if (!kf_prefix_begin(task, prefix))
        return kf_fail_memory(error);
    uint64_t left = strsaga->inner;
    while (left > 0 && prefix->count < task->problem.points.count) {
        kf_prefix_take(task, prefix);
        kf_prefix_step(task, prefix, step, prefix->count - 1);
        left--;
        uint64_t until_next = prefix->count < task->problem.points.count && left > 0 ? 1 : left;
        kf_prefix_draw(task, prefix, step, until_next);
        left -= until_next;
    }
    return KEEPFIT_OK;
}

static void strsaga_forget(struct kf_task *task, void *state)
{
    (void)task;
    ((struct strsaga *)state)->prefix.stale = true;
}

static void strsaga_leave(struct kf_task *task, void *state, size_t j)
{
    kf_prefix_leave(task, &((struct strsaga *)state)->prefix, j);
}

static void strsaga_archive(struct kf_task *task, void *state, struct kf_archive *archive)
{
    kf_prefix_archive(task, &((struct strsaga *)state)->prefix, archive);
}

static void strsaga_destroy(void *state)
{
    free(((struct strsaga *)state)->prefix.table);
}

const struct kf_method kf_strsaga = {
    .name = "strsaga",
    .summary = "streaming SAGA: one table for the whole stream; T steps an arrival (10), the newest point among them",
    .does =
        "T steps (10) with a table kept over the whole stream; the first takes the newest point, the others are drawn",
    .gradients = "T",
    .output = "last iterate",
    .scaled = true,
    .state_size = sizeof(struct strsaga),
    .create = strsaga_create,
    .stage = strsaga_stage,
    .forget = strsaga_forget,
    .leave = strsaga_leave,
    .archive = strsaga_archive,
    .destroy = strsaga_destroy,
};
