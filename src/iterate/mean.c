#include "iterate/mean.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "iterate/scaled.h"

static void dense_add(struct kf_task *task, double weight)
{
    struct kf_mean *mean = &task->iterate.mean;
    double share = weight / mean->weight;
    if (share == 1)
        kf_copy(&task->problem, mean->vector, task->iterate.x); /* whatever the mean held before, even NaN */
    else
        kf_blend(kf_size(&task->problem), 1 - share, mean->vector, share, task->iterate.x);
}

void kf_mean_follow(struct kf_task *task, double first, double second, size_t point, const double *factors)
{
    struct kf_mean *mean = &task->iterate.mean;
    struct kf_objective *objective = &task->problem.objective;
    double change = mean->s * first + mean->c * second;
    assert(mean->under_way && task->iterate.scaled);
    if (change != 0)
        objective->type->add(objective, -change, point, factors, mean->vector);
    if (mean->count && mean->touched[mean->count - 1] == point)
        return;
    if (KF_RESERVE(mean->touched, mean->capacity, mean->count + 1))
        mean->touched[mean->count++] = point;
    else
        objective->memory_failed = mean->everywhere = true; /* without a list, everything is looked at */
}

void kf_mean_let_go(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    struct kf_mean *mean = &iterate->mean;
    for (size_t k = 0; k < kf_size(&task->problem) && mean->under_way; k++)
        mean->vector[k] += mean->s * *kf_v(iterate, k) + mean->c * kf_m(iterate, k);
    mean->s = mean->c = 0;
    mean->everywhere = true;
}

/* t of one row's coordinates goes into v. */
static void fold_row(struct kf_task *task, size_t point)
{
    struct kf_iterate *iterate = &task->iterate;
    struct kf_mean *mean = &iterate->mean;
    keepfit_row row = kf_points_row(&task->problem.points, point);
    size_t outputs = task->problem.objective.outputs, free = task->problem.objective.free;
    for (size_t e = 0; e < row.count; e++) {
        size_t from = (row.index ? row.index[e] : e) * outputs;
        for (size_t k = from; k < from + outputs; k++) {
            double v = *kf_v(iterate, k), dv = mean->vector[k] / mean->s;
            *kf_v(iterate, k) = v + dv;
            mean->vector[k] = 0;
            if (iterate->norms.kept && k >= free)
                kf_norms_add(&iterate->norms, dv * (2 * v + dv), dv * kf_m(iterate, k), 0);
        }
    }
}

/* v becomes the mean, coordinate by coordinate. */
static void fold_all(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    struct kf_mean *mean = &iterate->mean;
    double share = 1 / mean->weight;
    for (size_t k = 0; k < kf_size(&task->problem); k++) {
        double sum = mean->s * *kf_v(iterate, k) + mean->c * kf_m(iterate, k) + mean->vector[k];
        *kf_v(iterate, k) = share * sum;
        mean->vector[k] = 0;
    }
    kf_scaled_reset(task);
}

/* Whether S is a number to divide by: iterates of opposite sign may cancel in it, and it loses digits then. */
static bool is_sound(const struct kf_mean *mean, const struct kf_view *view)
{
    return fabs(mean->s) > 1e-3 * fabs(view->s) * mean->weight && fabs(mean->s) > KF_SMALLEST_SCALE;
}

static void scaled_end(struct kf_task *task)
{
    struct kf_mean *mean = &task->iterate.mean;
    struct kf_view *view = &task->iterate.view;
    task->iterate.read = false;
    kf_scaled_write(task);
    if (mean->everywhere || !is_sound(mean, view)) {
        fold_all(task);
        return;
    }
    for (size_t k = 0; k < mean->count; k++)
        fold_row(task, mean->touched[k]);
    double share = 1 / mean->weight;
    view->s = share * mean->s;
    view->c = share * mean->c;
}

void kf_average_begin(struct kf_task *task)
{
    struct kf_mean *mean = &task->iterate.mean;
    assert(!mean->under_way && mean->vector);
    mean->under_way = true;
    mean->weight = mean->s = mean->c = 0;
    mean->count = 0;
    mean->everywhere = false;
}

void kf_average_add(struct kf_task *task, double weight)
{
    struct kf_mean *mean = &task->iterate.mean;
    const struct kf_view *view = &task->iterate.view;
    assert(mean->under_way && !(weight < 0));
    mean->weight += weight;
    if (task->iterate.scaled) {
        mean->s += weight * view->s;
        mean->c += weight * view->c;
    } else if (mean->weight > 0) {
        dense_add(task, weight);
    }
}

void kf_average_end(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    assert(iterate->mean.under_way);
    if (iterate->scaled)
        scaled_end(task);
    else
        kf_copy(&task->problem, iterate->x, iterate->mean.vector);
    iterate->mean.under_way = false;
    kf_iterate_check(task);
}
