#include "method/prefix.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

static double inverse_weight(const struct kf_prefix *prefix)
{
    return prefix->weight > 0 ? 1 / prefix->weight : 0; /* points of weight 0 may be all there is yet */
}

bool kf_prefix_begin(struct kf_task *task, struct kf_prefix *prefix)
{
    size_t i = task->problem.points.count, each = task->problem.objective.type->factor_count(&task->problem.objective);
    if (i > SIZE_MAX / each / sizeof(double) || !KF_RESERVE(prefix->table, prefix->table_capacity, i * each))
        return false;
    if (prefix->stale && prefix->count > 0) {
        memset(prefix->table, 0, prefix->count * each * sizeof *prefix->table);
        kf_drift_recompute(task, 0, NULL);
    }
    prefix->stale = false;
    return true;
}

void kf_prefix_take(struct kf_task *task, struct kf_prefix *prefix)
{
    size_t next = prefix->count++, each = task->problem.objective.type->factor_count(&task->problem.objective);
    assert(next < task->problem.points.count && prefix->table_capacity >= prefix->count * each && !prefix->stale);
    prefix->weight += task->problem.points.place[next].weight;
    memset(prefix->table + next * each, 0, each * sizeof *prefix->table);
}

void kf_prefix_leave(struct kf_task *task, struct kf_prefix *prefix, size_t j)
{
    size_t each = task->problem.objective.type->factor_count(&task->problem.objective);
    if (j >= prefix->count)
        return;
    assert(prefix->count <= task->problem.points.count);
    if (!prefix->stale)
        kf_drift_add(task, -1, j, prefix->table + j * each);
    prefix->weight -= task->problem.points.place[j].weight;
    kf_points_close_gap(prefix->table, prefix->count--, each, j);
}

void kf_prefix_archive(struct kf_task *task, struct kf_prefix *prefix, struct kf_archive *archive)
{
    size_t each = task->problem.objective.type->factor_count(&task->problem.objective);
    kf_archive_count(archive, &prefix->count, task->problem.points.count);
    kf_archive_real(archive, &prefix->weight);
    kf_archive_flag(archive, &prefix->stale);
    kf_archive_array(archive, &prefix->table, &prefix->table_capacity, prefix->count * each);
}

struct kf_estimator kf_prefix_estimator(const struct kf_problem *problem, const struct kf_prefix *prefix, size_t u)
{
    size_t each = problem->objective.type->factor_count(&problem->objective);
    assert(u < prefix->count && !prefix->stale);
    struct kf_estimator estimator = kf_estimate_by_table(prefix->count, inverse_weight(prefix));
    kf_estimate_at(&estimator, u, prefix->table + u * each);
    return estimator;
}

void kf_prefix_step(struct kf_task *task, struct kf_prefix *prefix, double step, size_t u)
{
    struct kf_estimator estimator = kf_prefix_estimator(&task->problem, prefix, u);
    kf_step(task, step, &estimator);
}

void kf_prefix_draw(struct kf_task *task, struct kf_prefix *prefix, double step, uint64_t steps)
{
    assert((prefix->count > 0 || steps == 0) && !prefix->stale);
    kf_steps(task, &(struct kf_course){.step = step,
                                       .estimator = kf_estimate_by_table(prefix->count, inverse_weight(prefix)),
                                       .bound = prefix->count,
                                       .count = steps,
                                       .table = prefix->table});
}
