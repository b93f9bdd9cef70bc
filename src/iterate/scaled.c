#include "iterate/scaled.h"

#include <assert.h>
#include <math.h>

#include "objective/deferred.h"

#define SCALES_APART 1e4 /* safety: 4 digits of 16 */

void kf_scaled_write(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    if (iterate->lazy.deferred &&
        !kf_deferred_write(iterate->lazy.deferred, &task->problem.objective,
                           (double *[]){iterate->lazy.v, iterate->lazy.m, iterate->mean.vector}))
        task->problem.objective.memory_failed = true;
}

static void multiply(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    double s = iterate->view.s, c = iterate->view.c;
    kf_scaled_write(task);
    for (size_t k = 0; k < kf_size(&task->problem); k++)
        task->iterate.x[k] = s * *kf_v(iterate, k) + c * kf_m(iterate, k);
}

/* Where s*v and c*m are large and nearly cancel, the norms that keep x in a ball are off: who reads it gets one that is inside. */
void kf_scaled_read(struct kf_task *task)
{
    multiply(task);
    if (task->iterate.norms.kept)
        kf_project(&task->problem, task->iterate.x);
    task->iterate.read = true;
}

void kf_scaled_reset(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    iterate->view.s = 1;
    iterate->view.c = 0;
    if (iterate->norms.kept)
        kf_norms_measure(task);
}

void kf_scaled_load(struct kf_task *task)
{
    kf_scaled_write(task); /* t too may have something to take in */
    for (size_t k = 0; k < kf_size(&task->problem); k++)
        *kf_v(&task->iterate, k) = task->iterate.x[k];
    kf_scaled_reset(task);
    task->iterate.read = true;
}

void kf_scaled_set_drift(struct kf_task *task, const double *drift)
{
    const struct kf_lanes *lanes = &task->iterate.lazy.lanes;
    for (size_t k = 0; k < kf_size(&task->problem); k++)
        lanes->m[k * lanes->stride] = drift[k];
    kf_scaled_load(task); /* x was read to compute the drift at it */
}

/* The same change, with the norms following it. */
static void update_with_norms(struct kf_task *task, const keepfit_row *row, double first, double second,
                              const double *factors)
{
    struct kf_iterate *iterate = &task->iterate;
    assert(iterate->lazy.pairs);
    size_t outputs = task->problem.objective.outputs, lead = task->problem.objective.free > 0;
    double vv = 0, vm = 0, mm = 0;
    for (size_t e = 0; e < row->count; e++) {
        size_t feature = row->index ? row->index[e] : e;
        for (size_t k = 0; k < outputs; k++) {
            double *pair = &iterate->lazy.pairs[2 * (feature * outputs + k)], v = pair[0], m = pair[1];
            double dv = first * factors[k] * row->value[e], dm = second * factors[k] * row->value[e];
            pair[0] = v + dv;
            pair[1] = m + dm;
            if (e >= lead) {
                vv += dv * (2 * v + dv);
                vm += dv * m + dm * (v + dv);
                mm += dm * (2 * m + dm);
            }
        }
    }
    kf_norms_follow(task, vv, vm, mm);
}

/* Changes of a network wait, but for its second layer, which is small. */
static void change_network(struct kf_task *task, double first, double second, size_t point, const double *factors)
{
    struct kf_iterate *iterate = &task->iterate;
    double mean = iterate->mean.under_way ? -(iterate->mean.s * first + iterate->mean.c * second) : 0;
    iterate->mean.everywhere = true;
    if (!kf_deferred_has_room(iterate->lazy.deferred, point))
        kf_scaled_write(task);
    kf_deferred_add(iterate->lazy.deferred, &task->problem.objective, point, factors, (double[]){first, second, mean},
                    (double *[]){iterate->lazy.v, iterate->lazy.m, iterate->mean.vector});
}

static void change(struct kf_task *task, double first, double second, size_t point, const double *factors)
{
    struct kf_objective *objective = &task->problem.objective;
    struct kf_iterate *iterate = &task->iterate;
    iterate->overflown |= !kf_all_finite(objective->type->factor_count(objective), factors);
    if (objective->hidden) {
        change_network(task, first, second, point, factors);
        return;
    }
    keepfit_row row = kf_points_row(&task->problem.points, point);
    if (iterate->mean.under_way)
        kf_mean_follow(task, first, second, point, factors);
    if (iterate->norms.kept)
        update_with_norms(task, &row, first, second, factors);
    else
        objective->type->change(objective, first, second, point, factors, &iterate->lazy.lanes);
}

void kf_scaled_drift_add(struct kf_task *task, double scale, size_t point, const double *factors)
{
    const struct kf_view *view = &task->iterate.view;
    change(task, -view->c / view->s * scale, scale, point, factors);
}

/* Free coordinates are not shrunk: v is set so that s*v + c*m is what it should be under the new scales. */
static void hold_free(struct kf_task *task, double s, double c, double drift)
{
    struct kf_iterate *iterate = &task->iterate;
    for (size_t k = 0; k < task->problem.objective.free; k++) {
        double v = *kf_v(iterate, k), m = kf_m(iterate, k);
        double x = iterate->view.s * v + (iterate->view.c - drift) * m;
        double next = (x - c * m) / s;
        *kf_v(iterate, k) = next;
        if (iterate->mean.under_way)
            iterate->mean.vector[k] -= iterate->mean.s * (next - v); /* as kf_mean_follow */
    }
}

/* v takes in everything: s = 1, c = 0. What the mean owes to the old v and m moves into t. */
static void multiply_out(struct kf_task *task, double s, double c)
{
    struct kf_iterate *iterate = &task->iterate;
    assert(!(iterate->needs & KF_NEEDS_BEFORE) || s != 0); /* v is what the iterate before is made of */
    kf_scaled_write(task);
    kf_mean_let_go(task);
    for (size_t k = 0; k < kf_size(&task->problem); k++)
        *kf_v(iterate, k) = s * *kf_v(iterate, k) + c * kf_m(iterate, k);
    kf_scaled_reset(task);
}

/* A step of exactly 1/(2 lambda) shrinks x to nothing, but for the free coordinates. */
static void forget_v(struct kf_task *task, double c, double drift)
{
    struct kf_iterate *iterate = &task->iterate;
    double *held = task->vectors.factors[KF_FACTOR_BUFFERS - 1];
    size_t free = task->problem.objective.free;
    for (size_t k = 0; k < free; k++)
        held[k] = iterate->view.s * *kf_v(iterate, k) + (iterate->view.c - drift) * kf_m(iterate, k);
    multiply_out(task, 0, c);
    for (size_t k = 0; k < free; k++)
        *kf_v(iterate, k) = held[k];
}

/* |x|^2 in the domain's coordinates, the long way. */
static double square_of_iterate(struct kf_task *task)
{
    multiply(task);
    task->iterate.read = false;
    size_t free = task->problem.objective.free;
    return kf_square(kf_size(&task->problem) - free, task->iterate.x + free);
}

static void project_on_ball(struct kf_task *task)
{
    struct kf_view *view = &task->iterate.view;
    const struct kf_norms *norms = &task->iterate.norms;
    assert(task->problem.domain.first > 0);
    kf_norms_count_step(task);
    double radius = task->problem.domain.first, square = kf_norms_square(norms, view->s, view->c);
    if (square <= radius * radius)
        return;
    if (kf_norms_cancel(norms, view->s, view->c, square))
        square = square_of_iterate(task);
    double shrink = radius / sqrt(square);
    if (shrink < 1) {
        hold_free(task, view->s * shrink, view->c * shrink, 0);
        view->s *= shrink;
        view->c *= shrink;
    }
}

/* s has become so small that dividing by it costs digits: absolutely, or against the iterates already in the mean, whose
 * share S*v of A is corrected in t by changes of size 1/s. Steps that overshoot a ball by far, and are projected back, do
 * that within a few steps. */
static bool is_worn(const struct kf_iterate *iterate)
{
    double s = fabs(iterate->view.s);
    return s < KF_SMALLEST_SCALE ||
           (iterate->mean.under_way && SCALES_APART * s * iterate->mean.weight < fabs(iterate->mean.s));
}

void kf_scaled_step(struct kf_task *task, double step, double drift_scale, const struct kf_term *terms, size_t count)
{
    struct kf_iterate *iterate = &task->iterate;
    struct kf_view *view = &iterate->view;
    if (is_worn(iterate))
        multiply_out(task, view->s, view->c);
    double keep = 1 - 2 * task->problem.objective.lambda * step, drift = step * drift_scale;
    double s = keep * view->s, c = keep * view->c - drift;
    if (s == 0 && iterate->needs & KF_NEEDS_BEFORE)
        s = 1e-30 * view->s; /* as good as nothing, and v stays what the iterate before is made of */
    iterate->read = false;
    iterate->before.s = view->s;
    iterate->before.c = view->c;
    if (s != 0) {
        hold_free(task, s, c, drift);
        view->s = s;
        view->c = c;
    } else {
        forget_v(task, c, drift);
    }
    for (size_t k = 0; k < count; k++) {
        const struct kf_term *term = &terms[k];
        double first = -(step * term->scale + view->c * term->drift) / view->s;
        change(task, first, term->drift, term->point, term->factors);
    }
    if (iterate->norms.kept)
        project_on_ball(task);
}
