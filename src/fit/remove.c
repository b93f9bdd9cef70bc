/* Points that leave: by index, or, with a window, the oldest. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "fit/centre.h"
#include "fit/durable.h"
#include "fit/fade.h"

static void update_lambda(keepfit_fit *fit)
{
    struct kf_objective *objective = &fit->task.problem.objective;
    if (!isnan(fit->options->lambda_total) && objective->weight_total > 0)
        objective->lambda = fit->options->lambda_total / objective->weight_total;
}

void kf_fit_compute_constants(keepfit_fit *fit)
{
    kf_objective_recount(&fit->task.problem.objective);
    fit->arrivals.left = 0;
    update_lambda(fit);
}

uint64_t kf_fit_arrival(const keepfit_fit *fit, size_t j)
{
    assert(j < fit->task.problem.points.count);
    return fit->arrivals.of ? fit->arrivals.of[j] : fit->arrivals.arrived - fit->task.problem.points.count + 1 + j;
}

/* From the first time that a point in the middle leaves, each has its arrival written down. */
static bool write_arrivals(keepfit_fit *fit)
{
    size_t count = fit->task.problem.points.count;
    if (fit->arrivals.of)
        return true;
    if (!KF_RESERVE(fit->arrivals.of, fit->arrivals.capacity, count + 1))
        return false;
    for (size_t k = 0; k < count; k++)
        fit->arrivals.of[k] = fit->arrivals.arrived - count + 1 + k;
    return true;
}

bool kf_fit_arrive(keepfit_fit *fit)
{
    size_t newest = fit->task.problem.points.count - 1;
    if (fit->arrivals.of && !KF_RESERVE(fit->arrivals.of, fit->arrivals.capacity, newest + 1))
        return false;
    fit->arrivals.arrived++;
    if (fit->arrivals.of)
        fit->arrivals.of[newest] = fit->arrivals.arrived;
    assert(fit->arrivals.arrived >= fit->task.problem.points.count);
    return true;
}

bool kf_fit_drop(keepfit_fit *fit, size_t j)
{
    struct kf_task *task = &fit->task;
    struct kf_objective *objective = &task->problem.objective;
    const struct kf_running *running = &fit->running[fit->running_count - 1];
    size_t count = task->problem.points.count;
    assert(j < count && running->method);
    if (j > 0 && !write_arrivals(fit))
        return false;
    kf_centre_leaves(fit, j);
    kf_keys_remove(&fit->arrivals.keys, kf_fit_arrival(fit, j));
    if (running->method->leave)
        running->method->leave(task, running->state, j);
    kf_iterate_write(task);
    if (fit->arrivals.of)
        memmove(fit->arrivals.of + j, fit->arrivals.of + j + 1, (count - j - 1) * sizeof *fit->arrivals.of);
    bool stale = kf_objective_discount(objective, j);
    kf_points_remove(&task->problem.points, j);
    kf_fade_drop(fit, j);
    assert(task->problem.points.count + 1 == count);
    kf_fit_forget_classes(fit);
    if (++fit->arrivals.left > task->problem.points.count || stale)
        kf_fit_compute_constants(fit);
    update_lambda(fit);
    return true;
}

void kf_fit_drop_oldest(keepfit_fit *fit, size_t count)
{
    struct kf_points *points = &fit->task.problem.points;
    size_t rest = points->count - count;
    assert(count <= points->count);
    for (size_t k = 0; k < count; k++) {
        kf_centre_leaves(fit, k);
        kf_keys_remove(&fit->arrivals.keys, kf_fit_arrival(fit, k));
    }
    if (fit->arrivals.of)
        memmove(fit->arrivals.of, fit->arrivals.of + count, rest * sizeof *fit->arrivals.of);
    for (size_t k = 0; k < count; k++) {
        kf_points_remove(points, 0);
        kf_fade_drop(fit, 0);
    }
    kf_fit_forget_classes(fit);
    kf_fit_compute_constants(fit);
    kf_fit_forget(fit);
    assert(points->count == rest);
}

keepfit_status kf_fit_settle(keepfit_fit *fit)
{
    bool settles = fit->running[fit->running_count - 1].method->settle;
    keepfit_status status = settles ? kf_fit_run(fit, (struct kf_occasion){.has_come = false}) : KEEPFIT_OK;
    if (status == KEEPFIT_OK && fit->task.problem.objective.memory_failed) /* while the points left */
        status = kf_fail_memory(&fit->error);
    if (status != KEEPFIT_OK)
        fit->death = fit->error;
    return status;
}

static keepfit_status check_indices(keepfit_fit *fit, const uint64_t *indices, size_t count)
{
    size_t present = fit->task.problem.points.count;
    for (size_t k = 0; k < count; k++) {
        if (indices[k] >= present)
            return kf_fail(&fit->error, KEEPFIT_USAGE, "there is no point %llu to remove: %zu are present",
                           (unsigned long long)indices[k], present);
        if (k > 0 && indices[k] <= indices[k - 1])
            return kf_fail(&fit->error, KEEPFIT_USAGE, "point %llu follows point %llu: indices must ascend",
                           (unsigned long long)indices[k], (unsigned long long)indices[k - 1]);
    }
    return KEEPFIT_OK;
}

keepfit_status keepfit_fit_remove_block(keepfit_fit *fit, const uint64_t *indices, size_t count)
{
    double start = kf_fit_clock();
    keepfit_status status = kf_fit_ready(fit);
    if (status == KEEPFIT_OK)
        status = check_indices(fit, indices, count);
    if (status == KEEPFIT_OK && count)
        status = kf_durable_removals(fit, indices, count);
    if (status != KEEPFIT_OK || count == 0)
        return status;
    bool room = true;
    for (size_t k = count; k > 0 && room; k--) /* the last first: the others keep their places */
        room = kf_fit_drop(fit, (size_t)indices[k - 1]);
    bool seen = !room || kf_centre_removed(fit, count);
    if (count > 1)
        kf_fit_allow(fit); /* what it took to take them out is not counted */
    status = kf_fit_settle(fit);
    fit->account.seconds += kf_fit_clock() - start;
    if (!(room && seen) && status == KEEPFIT_OK)
        status = kf_fail_memory(&fit->error);
    if (!seen || (!room && fit->durable)) /* they have left; the journal has them all */
        kf_fail_memory(&fit->death);
    return kf_durable_acknowledge(fit, status);
}

keepfit_status keepfit_fit_remove(keepfit_fit *fit, uint64_t index)
{
    return keepfit_fit_remove_block(fit, &index, 1);
}

bool keepfit_fit_find(const keepfit_fit *fit, uint64_t arrival, uint64_t *index)
{
    size_t count = fit->task.problem.points.count, low = 0, high = count;
    if (!fit->arrivals.of) {
        uint64_t first = fit->arrivals.arrived - count + 1;
        if (arrival < first || arrival > fit->arrivals.arrived || count == 0)
            return false;
        *index = arrival - first;
        return true;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (fit->arrivals.of[middle] < arrival)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || fit->arrivals.of[low] != arrival)
        return false;
    *index = low;
    return true;
}
