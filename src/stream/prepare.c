#include "stream/prepare.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"

bool kf_kept_append(struct kf_kept *kept, const keepfit_point *point, uint64_t line)
{
    size_t j = kept->points.count;
    if (!KF_RESERVE(kept->line, kept->line_capacity, j + 1) || !kf_points_append(&kept->points, point, NULL))
        return false;
    kept->line[j] = line;
    return true;
}

void kf_kept_free(struct kf_kept *kept)
{
    kf_points_free(&kept->points);
    kf_marks_free(&kept->marks);
    free(kept->line);
    *kept = (struct kf_kept){0};
}

static size_t *draw_order(size_t count, uint64_t seed)
{
    size_t *order = kf_allocate(count, sizeof *order);
    if (!order)
        return NULL;
    struct kf_random random;
    kf_random_seed(&random, seed);
    for (size_t k = 0; k < count; k++)
        order[k] = k;
    for (size_t k = count; k > 1; k--) {
        size_t other = (size_t)kf_random_below(&random, k), held = order[k - 1];
        order[k - 1] = order[other];
        order[other] = held;
    }
    return order;
}

size_t kf_plan_row(const struct kf_plan *plan, size_t j)
{
    return plan->order ? plan->order[j] : j;
}

/* The largest room that any row needs, so that handing out cannot run out of memory. */
static size_t largest_room(const struct kf_plan *plan, const struct kf_kept *kept)
{
    size_t most = 0;
    for (size_t j = 0; j < plan->used; j++) {
        keepfit_row row = kf_points_row(&kept->points, kf_plan_row(plan, j));
        size_t room = kf_scaling_room(&plan->scaling, &row);
        most = room > most ? room : most;
    }
    return most;
}

keepfit_status kf_plan_make(struct kf_plan *plan, const struct kf_kept *kept, const keepfit_options *options,
                            uint64_t seed, keepfit_error *error)
{
    size_t count = kept->points.count;
    *plan = (struct kf_plan){.used = options->limit && options->limit < count ? (size_t)options->limit : count};
    if (options->shuffle && !(plan->order = draw_order(count, seed)))
        return kf_fail_memory(error);
    keepfit_status status =
        kf_scaling_make(&plan->scaling, (enum kf_scale)options->scale, &kept->points, plan->order, plan->used, error);
    if (status == KEEPFIT_OK && options->scale != KF_SCALE_NONE &&
        !(plan->value = kf_allocate(largest_room(plan, kept), sizeof *plan->value)))
        status = kf_fail_memory(error);
    if (status != KEEPFIT_OK)
        kf_plan_free(plan);
    return status;
}

void kf_plan_free(struct kf_plan *plan)
{
    kf_scaling_free(&plan->scaling);
    free(plan->order);
    free(plan->value);
    *plan = (struct kf_plan){0};
}

void kf_plan_point(const struct kf_plan *plan, const struct kf_kept *kept, size_t j, keepfit_point *point,
                   uint64_t *line)
{
    assert(j < plan->used);
    size_t k = kf_plan_row(plan, j);
    keepfit_row row = kf_points_row(&kept->points, k);
    *point = (keepfit_point){
        .row = kf_scaling_apply(&plan->scaling, &row, plan->value),
        .target = kept->points.place[k].target,
        .weight = kept->points.place[k].weight,
        .weightless = kept->points.place[k].weight == 0,
    };
    *line = kept->line[k];
}
