/* Points drawn ahead of their use. */
#include "iterate/problem.h"
#include "objective/deferred.h"

#define AHEAD 8

/* Draws one more, and asks for its place; the row of one drawn earlier is asked for when its place has had time to come. */
static void draw_ahead(struct kf_problem *problem)
{
    struct kf_sampler *sampler = &problem->iterate.sampler;
    const struct kf_points *points = &problem->points;
    size_t drawn = kf_random_below(&problem->random, sampler->bound);
    sampler->ring[sampler->drawn % KF_AHEAD_MOST] = drawn;
    kf_points_prefetch_place(points, drawn);
    if (sampler->drawn >= AHEAD / 2)
        kf_points_prefetch_row(points, sampler->ring[(sampler->drawn - AHEAD / 2) % KF_AHEAD_MOST]);
    if (sampler->table)
        __builtin_prefetch(sampler->table + drawn * sampler->each);
    sampler->drawn++;
    sampler->left--;
}

size_t kf_sampler_foresee(const struct kf_problem *problem, uint64_t bound)
{
    struct kf_random copy = problem->random;
    return kf_random_below(&copy, bound);
}

void kf_sampler_start(struct kf_problem *problem, uint64_t bound, uint64_t count, const double *table)
{
    struct kf_sampler *sampler = &problem->iterate.sampler;
    sampler->left = count;
    sampler->bound = bound;
    sampler->drawn = sampler->taken = 0;
    sampler->ahead = problem->iterate.view.deferred ? KF_AHEAD_MOST : AHEAD;
    sampler->table = table;
    sampler->each = problem->objective.type->factor_count(&problem->objective);
    while (sampler->drawn < sampler->ahead - 1 && sampler->left > 0)
        draw_ahead(problem);
}

/* The products of all points drawn, as soon as that of the next one is not there. What waits is written before, rather than when
 * these products would be void by it. */
static void prepare_ahead(struct kf_problem *problem)
{
    const struct kf_sampler *sampler = &problem->iterate.sampler;
    const struct kf_view *view = &problem->iterate.view;
    size_t next = sampler->ring[sampler->taken % KF_AHEAD_MOST], points[KF_AHEAD_MOST], count = 0;
    if (kf_deferred_has(view->deferred, next))
        return;
    kf_iterate_write(problem);
    for (uint64_t t = sampler->taken; t < sampler->drawn; t++)
        points[count++] = sampler->ring[t % KF_AHEAD_MOST];
    kf_deferred_prepare(view->deferred, &problem->objective, view, points, count);
}

void kf_sampler_refill(struct kf_problem *problem)
{
    const struct kf_sampler *sampler = &problem->iterate.sampler;
    if (sampler->left > 0 && sampler->drawn - sampler->taken < sampler->ahead - 1)
        draw_ahead(problem);
}

size_t kf_sampler_next(struct kf_problem *problem)
{
    struct kf_sampler *sampler = &problem->iterate.sampler;
    kf_sampler_refill(problem);
    if (problem->iterate.view.deferred)
        prepare_ahead(problem);
    return sampler->ring[sampler->taken++ % KF_AHEAD_MOST];
}
