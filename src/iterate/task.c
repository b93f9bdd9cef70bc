#include "iterate/task.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "kernels/kernels.h"
#include "objective/network.h"

keepfit_status kf_task_create(struct kf_task *task, const keepfit_options *options, keepfit_error *error)
{
    struct kf_problem *problem = &task->problem;
    struct kf_vectors *vectors = &task->vectors;
    memset(task, 0, sizeof *task);
    problem->options = options;
    problem->objective.points = &problem->points;
    problem->objective.delta = options->delta;
    problem->objective.kernels = kf_kernels_best();
    problem->objective.threads = kf_threads(options);
    task->stage.allowance = UINT64_MAX;
    task->stage.toil_most = INFINITY;
    kf_random_seed(&task->stage.random, options->seed);
    keepfit_status status = kf_domain_read(&problem->domain, options->domain, error);
    if (status != KEEPFIT_OK)
        return status;
    bool projects = !kf_domain_is_whole(&problem->domain);
    if (!kf_task_vector(task, &task->iterate.x) || !kf_task_vector(task, &vectors->doubt) ||
        (projects && !kf_task_vector(task, &problem->domain.scratch)) ||
        (projects && !kf_task_vector(task, &problem->domain.spare)))
        return kf_fail_memory(error);
    return KEEPFIT_OK;
}

void kf_task_free(struct kf_task *task)
{
    kf_vectors_free(&task->vectors);
    kf_objective_free(&task->problem.objective);
    kf_iterate_free(&task->iterate);
    kf_points_free(&task->problem.points);
}

bool kf_task_vector(struct kf_task *task, double **vector)
{
    return kf_vectors_add(&task->vectors, vector, kf_size(&task->problem), 1);
}

bool kf_task_pairs(struct kf_task *task, double **pairs)
{
    return kf_vectors_add(&task->vectors, pairs, kf_size(&task->problem), 2);
}

static bool make_room(struct kf_task *task, const struct kf_objective *larger)
{
    struct kf_objective *objective = &task->problem.objective;
    size_t columns = larger->hidden > larger->outputs ? larger->hidden : larger->outputs;
    if (larger->slots + larger->hidden + 1 > SIZE_MAX / sizeof(double) / 4 / columns)
        return false;
    return kf_vectors_reserve(&task->vectors, objective, larger) && kf_objective_reserve(objective, larger);
}

bool kf_task_resize(struct kf_task *task, size_t slots, size_t outputs)
{
    struct kf_objective *objective = &task->problem.objective;
    assert(slots >= objective->slots && outputs >= objective->outputs);
    if (slots == objective->slots && outputs == objective->outputs)
        return true;
    struct kf_objective larger = *objective;
    size_t slots_before = objective->slots, outputs_before = objective->outputs;
    larger.slots = slots;
    larger.outputs = outputs;
    if (objective->hidden)
        kf_read(task); /* new weights are written into x */
    if (!make_room(task, &larger)) {
        kf_iterate_moved(task); /* some have moved all the same */
        return false;
    }
    kf_vectors_rearrange(&task->vectors, objective, &larger);
    objective->slots = slots;
    objective->outputs = outputs;
    if (objective->free)
        objective->free = outputs;
    kf_iterate_moved(task);
    if (objective->hidden) {
        kf_network_initialise(objective, task->problem.options->seed, slots_before, outputs_before, task->iterate.x);
        kf_load(task);
    }
    if (!task->iterate.scaled)
        kf_project(&task->problem, task->iterate.x); /* a new coordinate may lie outside the domain */
    return true;
}
