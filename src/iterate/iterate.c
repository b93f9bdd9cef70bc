/* What both representations share, and the dense one; scaled.c has the other. */
#include "iterate/iterate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "iterate/task.h"
#include "iterate/scaled.h"
#include "objective/deferred.h"

void kf_iterate_moved(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    struct kf_view *const views[] = {&iterate->view, &iterate->before};
    for (size_t k = 0; k < 2; k++) {
        views[k]->dense = iterate->scaled ? NULL : k == 0 ? task->iterate.x : iterate->before_x;
        views[k]->pairs = iterate->lazy.pairs;
        views[k]->v = iterate->lazy.v;
        views[k]->m = iterate->lazy.m;
        views[k]->deferred = iterate->scaled ? iterate->lazy.deferred : NULL;
    }
    if (task->problem.objective.hidden)
        iterate->lazy.lanes = (struct kf_lanes){iterate->lazy.v, iterate->lazy.m, 1};
    else
        iterate->lazy.lanes =
            (struct kf_lanes){iterate->lazy.pairs, iterate->lazy.pairs ? iterate->lazy.pairs + 1 : NULL, 2};
}

static bool want(struct kf_task *task, double **vector, bool wanted)
{
    return !wanted || *vector || kf_task_vector(task, vector);
}

/* v and m of a network, and the list of what waits. */
static bool allocate_apart(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    if (!want(task, &iterate->lazy.v, true) || !want(task, &iterate->lazy.m, iterate->needs & KF_NEEDS_DRIFT))
        return false;
    if (!iterate->lazy.deferred)
        iterate->lazy.deferred = kf_deferred_make(task->problem.objective.hidden, iterate->needs & KF_NEEDS_DRIFT,
                                                  iterate->needs & KF_NEEDS_AVERAGE);
    return iterate->lazy.deferred != NULL;
}

/* The vectors that this representation needs, as far as they are not there. */
static bool allocate(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    bool scaled = iterate->scaled;
    unsigned needs = iterate->needs;
    if (!want(task, &iterate->mean.vector, needs & KF_NEEDS_AVERAGE) ||
        !want(task, &iterate->drift, !scaled && needs & KF_NEEDS_DRIFT) ||
        !want(task, &iterate->before_x, !scaled && needs & KF_NEEDS_BEFORE))
        return false;
    if (scaled && task->problem.objective.hidden && !allocate_apart(task))
        return false;
    if (scaled && !task->problem.objective.hidden && !iterate->lazy.pairs && !kf_task_pairs(task, &iterate->lazy.pairs))
        return false;
    iterate->norms.kept = scaled && !kf_domain_is_whole(&task->problem.domain);
    return want(task, &iterate->temporary, !scaled || !iterate->mean.vector);
}

bool kf_iterate_prepare(struct kf_task *task, unsigned needs)
{
    task->iterate.needs = needs;
    if (!allocate(task))
        return false;
    kf_iterate_moved(task);
    kf_load(task);
    kf_iterate_check(task);
    return true;
}

/* x and the drift move to the other representation. False: out of memory, and nothing has changed. */
static bool change_representation(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    assert(iterate->may_change && !iterate->mean.under_way);
    kf_read(task);
    iterate->scaled = !iterate->scaled;
    if (!allocate(task)) {
        iterate->scaled = !iterate->scaled;
        return false;
    }
    for (size_t k = 0; k < kf_size(&task->problem) && iterate->needs & KF_NEEDS_DRIFT; k++) {
        double *scaled = &iterate->lazy.lanes.m[k * iterate->lazy.lanes.stride], *dense = &iterate->drift[k];
        *(iterate->scaled ? scaled : dense) = *(iterate->scaled ? dense : scaled);
    }
    if (iterate->mean.vector)
        kf_clear(&task->problem, iterate->mean.vector);
    kf_iterate_moved(task);
    kf_load(task);
    kf_iterate_check(task);
    return true;
}

void kf_iterate_suit(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    size_t count = task->problem.points.count;
    if (!iterate->may_change || count < 16 || (count & (count - 1)) != 0)
        return; /* at stages 16, 32, 64, ...: the mean moves slowly */
    double filled = (double)task->problem.points.entries / (double)count / (double)task->problem.objective.slots;
    if ((iterate->scaled ? filled > 0.5 : filled < 0.4) && !change_representation(task))
        task->problem.objective.memory_failed = true;
}

void kf_iterate_check(const struct kf_task *task)
{
#ifndef NDEBUG
    const struct kf_iterate *iterate = &task->iterate;
    const struct kf_lazy *lazy = &iterate->lazy;
    bool hidden = task->problem.objective.hidden, needs_drift = iterate->needs & KF_NEEDS_DRIFT;
    assert(iterate->scaled ? !iterate->view.dense : iterate->view.dense == iterate->x && iterate->x);
    assert(!iterate->scaled || (lazy->lanes.v && lazy->lanes.v == (hidden ? lazy->v : lazy->pairs)));
    assert(!iterate->scaled || !needs_drift || lazy->lanes.m);
    assert(iterate->scaled || !needs_drift || iterate->drift);
    assert(iterate->scaled || !(iterate->needs & KF_NEEDS_BEFORE) || iterate->before_x);
    assert(iterate->norms.kept == (iterate->scaled && !kf_domain_is_whole(&task->problem.domain)));
    assert(iterate->mean.vector || !(iterate->needs & KF_NEEDS_AVERAGE || iterate->mean.under_way));
    assert(iterate->mean.count <= iterate->mean.capacity);
    assert(iterate->temporary || iterate->mean.vector); /* something to lend */
#else
    (void)task;
#endif
}

void kf_iterate_free(struct kf_iterate *iterate)
{
    free(iterate->mean.touched);
    kf_deferred_free(iterate->lazy.deferred);
}

void kf_iterate_write(struct kf_task *task)
{
    if (task->iterate.scaled)
        kf_scaled_write(task);
}

const double *kf_read(struct kf_task *task)
{
    if (task->iterate.scaled && !task->iterate.read)
        kf_scaled_read(task);
    return task->iterate.x;
}

void kf_load(struct kf_task *task)
{
    if (task->iterate.scaled)
        kf_scaled_load(task);
}

double *kf_borrow(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    assert(!iterate->mean.under_way && (iterate->temporary || iterate->mean.vector));
    return iterate->temporary ? iterate->temporary : iterate->mean.vector;
}

void kf_give_back(struct kf_task *task, double *vector)
{
    if (vector == task->iterate.mean.vector)
        kf_clear(&task->problem, vector);
}

void kf_drift_recompute(struct kf_task *task, size_t count, double *remembered)
{
    struct kf_iterate *iterate = &task->iterate;
    assert(iterate->needs & KF_NEEDS_DRIFT && count <= task->problem.points.count);
    double *sum = iterate->scaled ? kf_borrow(task) : iterate->drift;
    kf_gradient_sum(&task->problem.objective, kf_read(task), count, sum, remembered, task->vectors.factors[0]);
    if (iterate->scaled) {
        kf_scaled_set_drift(task, sum);
        kf_give_back(task, sum);
    }
    kf_iterate_check(task);
}

void kf_drift_add(struct kf_task *task, double scale, size_t point, const double *factors)
{
    assert(task->iterate.needs & KF_NEEDS_DRIFT && point < task->problem.points.count);
    if (task->iterate.scaled)
        kf_scaled_drift_add(task, scale, point, factors);
    else
        task->problem.objective.type->add(&task->problem.objective, scale, point, factors, task->iterate.drift);
}

struct kf_pair kf_iterate_dots(const struct kf_task *task, size_t point)
{
    const struct kf_iterate *iterate = &task->iterate;
    const struct kf_view *view = &iterate->view;
    keepfit_row row = kf_points_row(&task->problem.points, point);
    struct kf_pair dots;
    if (iterate->scaled) {
        struct kf_pair on = task->problem.objective.kernels->pair_dot(&row, iterate->lazy.pairs);
        return (struct kf_pair){view->s * on.first + view->c * on.second, on.second};
    }
    kf_row_scores(&row, task->iterate.x, kf_size(&task->problem), 1, &dots.first);
    kf_row_scores(&row, iterate->drift, kf_size(&task->problem), 1, &dots.second);
    return dots;
}

void kf_drift_read(struct kf_task *task, double *drift)
{
    const struct kf_iterate *iterate = &task->iterate;
    assert(iterate->needs & KF_NEEDS_DRIFT);
    kf_iterate_write(task);
    for (size_t k = 0; k < kf_size(&task->problem); k++)
        drift[k] = iterate->scaled ? iterate->lazy.lanes.m[k * iterate->lazy.lanes.stride] : iterate->drift[k];
}
