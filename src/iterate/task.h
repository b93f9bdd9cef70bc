/* What a method works on: the problem, x, what the stage may do, and the vectors of the model's size. */
#ifndef KF_TASK_H
#define KF_TASK_H

#include "base/archive.h"
#include "iterate/iterate.h"
#include "problem/costs.h"
#include "problem/problem.h"
#include "problem/stage.h"
#include "problem/vectors.h"

struct kf_task {
    struct kf_problem problem;
    struct kf_iterate iterate; /* the model: the output of the last stage */
    struct kf_stage stage;
    struct kf_vectors vectors;
};

keepfit_status kf_task_create(struct kf_task *task, const keepfit_options *options, keepfit_error *error);
void kf_task_free(struct kf_task *task);

/* Registers a vector: *vector is allocated, zero, and from now on follows the model's size. Freed with the task. */
bool kf_task_vector(struct kf_task *task, double **vector);
/* The same with two numbers a coordinate, side by side. */
bool kf_task_pairs(struct kf_task *task, double **pairs);

/* Makes room for slots x outputs; numbers keep their (slot, output) place, new ones are 0, except that a network's new
 * weights in x are drawn, and that x is put back into the domain. False: out of memory, and the size has not changed. */
bool kf_task_resize(struct kf_task *task, size_t slots, size_t outputs);

/* The whole of it, and what came of the last stage, but the points, which have to be there already, and what the options say; reading, it has the size of another
 * task at first. Vectors whose content does not outlive a stage are only made, as far as they are there. */
void kf_task_archive(struct kf_task *task, struct kf_outcome *outcome, struct kf_archive *archive);
/* A registered vector, for those who have some; reading, it is registered if it was and is not yet. */
void kf_task_archive_vector(struct kf_task *task, struct kf_archive *archive, double **vector);

/* All that the stage has done so far, and how many gradients it may still compute by that. */
static inline double kf_toil_done(const struct kf_task *task)
{
    uint64_t gradients = task->problem.objective.fo - task->stage.toil_from;
    return task->stage.toil + (double)gradients * kf_cost_gradient(&task->problem);
}

static inline uint64_t kf_toil_left(const struct kf_task *task)
{
    double left = (task->stage.toil_most - kf_toil_done(task)) / kf_cost_gradient(&task->problem);
    return left >= 1e18 ? UINT64_MAX : left > 0 ? (uint64_t)left : 0;
}

/* Gradients that the stage may still compute; none when it was asked to stop. */
static inline uint64_t kf_left(const struct kf_task *task)
{
    const struct kf_stage *stage = &task->stage;
    uint64_t spent = task->problem.objective.fo - stage->fo_before, toil = kf_toil_left(task);
    if (kf_is_raised(stage->stop))
        return 0;
    uint64_t left = spent < stage->allowance ? stage->allowance - spent : 0;
    return left < toil ? left : toil;
}

/* Whether the stage may compute so many gradients more. */
static inline bool kf_affords(const struct kf_task *task, uint64_t gradients)
{
    return gradients <= kf_left(task);
}

#endif
