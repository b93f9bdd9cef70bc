/* The problem and its iterate as bytes. */
#include <stdlib.h>

#include "iterate/task.h"

/* A vector that may be there or not, with its numbers or without. */
static void archive_vector(struct kf_task *task, struct kf_archive *archive, double **vector, size_t width,
                           bool numbers)
{
    bool there = *vector != NULL;
    kf_archive_flag(archive, &there);
    kf_archive_require(archive, there || !*vector); /* what a new fit has, an older one has too */
    if (!there || archive->status != KEEPFIT_OK)
        return;
    bool room = *vector || (width == 2 ? kf_task_pairs : kf_task_vector)(task, vector);
    if (!room)
        archive->status = KEEPFIT_NO_MEMORY;
    else if (numbers)
        kf_archive_reals(archive, *vector, kf_size(&task->problem) * width);
}

void kf_task_archive_vector(struct kf_task *task, struct kf_archive *archive, double **vector)
{
    archive_vector(task, archive, vector, 1, true);
}

static void archive_iterate(struct kf_task *task, struct kf_archive *archive)
{
    struct kf_iterate *iterate = &task->iterate;
    kf_archive_require(archive, !iterate->mean.under_way);
    bool was_scaled = iterate->scaled;
    kf_archive_flag(archive, &iterate->scaled);
    kf_archive_require(archive, iterate->scaled == was_scaled || iterate->may_change);
    kf_archive_flag(archive, &iterate->overflown);
    kf_archive_flag(archive, &iterate->read);
    kf_archive_flag(archive, &iterate->norms.kept);
    archive_vector(task, archive, &iterate->drift, 1, true);
    if (task->problem.objective.hidden) { /* nothing waits to be written between stages */
        archive_vector(task, archive, &iterate->lazy.v, 1, true);
        archive_vector(task, archive, &iterate->lazy.m, 1, true);
    } else {
        archive_vector(task, archive, &iterate->lazy.pairs, 2, true);
    }
    archive_vector(task, archive, &iterate->mean.vector, 1, false);
    archive_vector(task, archive, &iterate->before_x, 1, false);
    archive_vector(task, archive, &iterate->temporary, 1, false);
    double *numbers[] = {&iterate->view.s,   &iterate->view.c,   &iterate->norms.vv,
                         &iterate->norms.vm, &iterate->norms.mm, &iterate->norms.peak};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        kf_archive_real(archive, numbers[k]);
    kf_archive_number(archive, &iterate->norms.since);
    bool has_form = !iterate->scaled || (task->problem.objective.hidden ? iterate->lazy.v : iterate->lazy.pairs);
    bool has_norms = iterate->norms.kept == (iterate->scaled && !kf_domain_is_whole(&task->problem.domain));
    bool has_drift = iterate->scaled ? !task->problem.objective.hidden || iterate->lazy.m : iterate->drift != NULL;
    bool has_needs = (!(iterate->needs & KF_NEEDS_DRIFT) || has_drift) &&
                     (!(iterate->needs & KF_NEEDS_BEFORE) || iterate->scaled || iterate->before_x) &&
                     (!(iterate->needs & KF_NEEDS_AVERAGE) || iterate->mean.vector) &&
                     (iterate->temporary || iterate->mean.vector);
    kf_archive_require(archive, has_form && has_norms && has_needs);
    kf_iterate_moved(task);
    if (archive->status == KEEPFIT_OK)
        kf_iterate_check(task);
}

/* Makes room for as many numbers as are still to come, at least. */
static void archive_size(struct kf_task *task, struct kf_archive *archive)
{
    size_t slots = task->problem.objective.slots, outputs = task->problem.objective.outputs;
    kf_archive_count(archive, &slots, SIZE_MAX);
    kf_archive_count(archive, &outputs, SIZE_MAX);
    if (!archive->reading)
        return;
    size_t columns = task->problem.objective.hidden ? task->problem.objective.hidden : outputs;
    bool grows = slots >= task->problem.objective.slots && outputs >= task->problem.objective.outputs && outputs > 0;
    kf_archive_require(archive, grows && slots <= SIZE_MAX / columns && kf_archive_holds(archive, slots * columns) &&
                                    kf_archive_holds(archive, outputs));
    if (archive->status == KEEPFIT_OK && !kf_task_resize(task, slots, outputs))
        archive->status = KEEPFIT_NO_MEMORY;
}

/* What is counted of the points besides; older versions have it not, and who reads one counts anew (fit/snapshot.c). */
static void archive_counts(struct kf_objective *objective, struct kf_archive *archive)
{
    if (archive->version < KF_VERSION_WITH_ROUNDING)
        return;
    objective->weights.high = objective->weight_total;
    double *reals[] = {&objective->weights.low, &objective->weights.error, &objective->zeros.low,
                       &objective->zeros.error, &objective->row_masses};
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
        kf_archive_real(archive, reals[k]);
    kf_archive_count(archive, &objective->longest, SIZE_MAX);
    size_t columns = objective->hidden ? 0 : objective->slots;
    kf_archive_reals(archive, objective->mass, columns);
    kf_archive_reals(archive, objective->most, columns);
}

void kf_task_archive(struct kf_task *task, struct kf_outcome *outcome, struct kf_archive *archive)
{
    struct kf_objective *objective = &task->problem.objective;
    archive_size(task, archive);
    kf_task_archive_vector(task, archive, &task->iterate.x);
    double *reals[] = {&objective->lambda,     &objective->weight_total, &objective->curvature_most,
                       &objective->zeros.high, &objective->row_most,     &objective->target_most,
                       &task->stage.work,      &outcome->bound,          &outcome->target};
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
        kf_archive_real(archive, reals[k]);
    uint64_t *counts[] = {&objective->fo, &task->stage.steps, &task->stage.fo_before};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        kf_archive_number(archive, counts[k]);
    uint64_t *state = task->stage.random.state;
    for (size_t k = 0; k < 4; k++)
        kf_archive_number(archive, &state[k]);
    kf_archive_require(archive, state[0] | state[1] | state[2] | state[3]); /* from 0 nothing else ever comes */
    archive_counts(objective, archive);
    archive_iterate(task, archive);
}
