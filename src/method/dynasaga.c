/* DynaSAGA (Daneshmand, Lucchi, Hofmann 2016, "Starting Small - Learning with Adaptive Sample Sizes"): SAGA on a sample that
 * grows while it runs, here a prefix of the stream (prefix.h has the table and the step). A stage has T steps (--inner). Exactly:
 *
 *   before step t, counted from 1 over all stages: if t > 2 * (size of the sample) and a point outside has arrived, the next one
 *   in order of arrival joins, with a table entry of 0;
 *   then u is drawn uniformly from the sample, and one SAGA step is made on it (1 FO).
 *
 * So with enough points the sample has ceil(t/2) of them: two steps for each, the paper's linear schedule. The sample begins with
 * the first point, since nothing else is there then (the paper, which has all data, begins with about as many as the condition
 * number). With T >= 2 the schedule is always ahead of the arrivals, and the sample is everything seen: what is left of the
 * method is SAGA with a table that persists, where a new point waits at 0 until it is drawn (strsaga uses it at once). With T = 1
 * it is the older half. The output is the last iterate.
 *
 * Decided here: T = 10; the step 1/(3L); the mean of the table is over the whole sample, entries of 0 included, which keeps the
 * step unbiased; when the functions themselves change (a new class, swapped labels) all entries return to 0. */
#include <stdlib.h>

#include "base/error.h"
#include "method/constants.h"
#include "method/method.h"
#include "method/prefix.h"

struct dynasaga {
    struct kf_prefix prefix; /* first: tests look at it */
    struct kf_step_size step;
    uint64_t inner, steps; /* a stage, and so far */
};

static keepfit_status dynasaga_create(struct kf_task *task, void *state, keepfit_error *error)
{
    struct dynasaga *dynasaga = state;
    dynasaga->inner = kf_given_or(task->problem.options->inner, 10);
    if (!kf_iterate_prepare(task, KF_NEEDS_DRIFT))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(task->problem.options, (struct kf_step_size){KF_STEP_SHARE, 1.0 / 3}, false, false,
                        &dynasaga->step, error);
}

static keepfit_status dynasaga_stage(struct kf_task *task, void *state, keepfit_error *error)
{
    struct dynasaga *dynasaga = state;
    struct kf_prefix *prefix = &dynasaga->prefix;
    double step = kf_step_fixed(&task->problem, &dynasaga->step);
    if (!kf_prefix_begin(task, prefix))
        return kf_fail_memory(error);
    uint64_t left = dynasaga->inner;
    while (left > 0) {
        bool more = prefix->count < task->problem.points.count;
        if (more && dynasaga->steps + 1 > 2 * (uint64_t)prefix->count) {
            kf_prefix_take(task, prefix);
            more = prefix->count < task->problem.points.count;
        }
        uint64_t together = more ? 1 : left; /* the sample stays as it is for that long */
        kf_prefix_draw(task, prefix, step, together);
        dynasaga->steps += together;
        left -= together;
    }
    return KEEPFIT_OK;
}

static void dynasaga_forget(struct kf_task *task, void *state)
{
    (void)task;
    ((struct dynasaga *)state)->prefix.stale = true;
}

static void dynasaga_leave(struct kf_task *task, void *state, size_t j)
{
    kf_prefix_leave(task, &((struct dynasaga *)state)->prefix, j);
}

static void dynasaga_archive(struct kf_task *task, void *state, struct kf_archive *archive)
{
    kf_prefix_archive(task, &((struct dynasaga *)state)->prefix, archive);
    kf_archive_number(archive, &((struct dynasaga *)state)->steps);
}

static void dynasaga_destroy(void *state)
{
    free(((struct dynasaga *)state)->prefix.table);
}

const struct kf_method kf_dynasaga = {
    .name = "dynasaga",
    .summary = "SAGA on a sample that grows by a point in two steps at most; T steps a stage (10)",
    .does = "T steps (10) with such a table, all drawn from a sample that grows by one point in two steps at most",
    .gradients = "T",
    .output = "last iterate",
    .scaled = true,
    .state_size = sizeof(struct dynasaga),
    .create = dynasaga_create,
    .stage = dynasaga_stage,
    .forget = dynasaga_forget,
    .leave = dynasaga_leave,
    .archive = dynasaga_archive,
    .destroy = dynasaga_destroy,
};
