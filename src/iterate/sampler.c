/* Points drawn ahead of their use. */
#include "iterate/task.h"

#include <assert.h>
#include "history/far.h"
#include "objective/deferred.h"

#define AHEAD 8           /* safety: room; a few rows */
#define FETCHED_MOST 1024 /* safety: room on the stack, and for rows (history/far.h) */

/* Of a team: the rows of the draws that are to come are fetched at once. That something else draws in between is no harm: then some come
 * by themselves. */
static void fetch_ahead(struct kf_task *task)
{
    struct kf_sampler *sampler = &task->iterate.sampler;
    struct kf_random copy = task->stage.random;
    size_t points[FETCHED_MOST], count = sampler->left < FETCHED_MOST ? (size_t)sampler->left : FETCHED_MOST;
    for (size_t k = 0; k < count; k++)
        points[k] = kf_random_below(&copy, sampler->bound);
    kf_far_fetch(&task->problem.points, count, points);
    sampler->fetched = sampler->drawn + count;
}

/* Draws one more, and asks for its place; the row of one drawn earlier is asked for when its place has had time to come. */
static void draw_ahead(struct kf_task *task)
{
    struct kf_sampler *sampler = &task->iterate.sampler;
    const struct kf_points *points = &task->problem.points;
    assert(sampler->left > 0 && sampler->drawn - sampler->taken < KF_AHEAD_MOST);
    if (points->far && sampler->drawn >= sampler->fetched)
        fetch_ahead(task);
    size_t drawn = kf_random_below(&task->stage.random, sampler->bound);
    sampler->ring[sampler->drawn % KF_AHEAD_MOST] = drawn;
    kf_points_prefetch_place(points, drawn);
    if (sampler->drawn >= AHEAD / 2)
        kf_points_prefetch_row(points, sampler->ring[(sampler->drawn - AHEAD / 2) % KF_AHEAD_MOST]);
    if (sampler->table)
        __builtin_prefetch(sampler->table + drawn * sampler->each);
    sampler->drawn++;
    sampler->left--;
}

size_t kf_sampler_foresee(const struct kf_task *task, uint64_t bound)
{
    struct kf_random copy = task->stage.random;
    return kf_random_below(&copy, bound);
}

void kf_sampler_start(struct kf_task *task, uint64_t bound, uint64_t count, const double *table)
{
    assert((bound > 0 || count == 0) && bound <= task->problem.points.count);
    struct kf_sampler *sampler = &task->iterate.sampler;
    sampler->left = count;
    sampler->bound = bound;
    sampler->drawn = sampler->taken = sampler->fetched = 0;
    sampler->ahead = task->iterate.view.deferred ? KF_AHEAD_MOST : AHEAD;
    sampler->table = table;
    sampler->each = task->problem.objective.type->factor_count(&task->problem.objective);
    while (sampler->drawn < sampler->ahead - 1 && sampler->left > 0)
        draw_ahead(task);
}

/* The products of all points drawn, as soon as that of the next one is not there. What waits is written before, rather than when
 * these products would be void by it. */
static void prepare_ahead(struct kf_task *task)
{
    const struct kf_sampler *sampler = &task->iterate.sampler;
    const struct kf_view *view = &task->iterate.view;
    size_t next = sampler->ring[sampler->taken % KF_AHEAD_MOST], points[KF_AHEAD_MOST], count = 0;
    if (kf_deferred_has(view->deferred, next))
        return;
    kf_iterate_write(task);
    for (uint64_t t = sampler->taken; t < sampler->drawn; t++)
        points[count++] = sampler->ring[t % KF_AHEAD_MOST];
    kf_deferred_prepare(view->deferred, &task->problem.objective, view, points, count);
}

void kf_sampler_refill(struct kf_task *task)
{
    const struct kf_sampler *sampler = &task->iterate.sampler;
    if (sampler->left > 0 && sampler->drawn - sampler->taken < sampler->ahead - 1)
        draw_ahead(task);
}

size_t kf_sampler_next(struct kf_task *task)
{
    struct kf_sampler *sampler = &task->iterate.sampler;
    kf_sampler_refill(task);
    if (task->iterate.view.deferred)
        prepare_ahead(task);
    assert(sampler->taken < sampler->drawn);
    return sampler->ring[sampler->taken++ % KF_AHEAD_MOST];
}
