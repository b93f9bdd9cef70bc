#include "iterate/scaled.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "objective/deferred.h"

/* Below this, v is multiplied out before s gets too small to divide by. */
#define SMALLEST_SCALE 1e-100 /* safety: far above underflow */
#define SCALES_APART 1e4      /* safety: 4 digits of 16 */

static double *v_of(struct kf_iterate *iterate, size_t k)
{
    return &iterate->lanes.v[k * iterate->lanes.stride];
}

static double m_of(const struct kf_iterate *iterate, size_t k)
{
    return iterate->lanes.m ? iterate->lanes.m[k * iterate->lanes.stride] : 0;
}

void kf_scaled_write(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    if (iterate->deferred && !kf_deferred_write(iterate->deferred, &task->problem.objective,
                                                (double *[]){iterate->v, iterate->m, iterate->average}))
        task->problem.objective.memory_failed = true;
}

/* |v|^2, v.m and |m|^2 over the coordinates that the domain holds, from scratch. */
static void measure_norms(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    double vv = 0, vm = 0, mm = 0;
    for (size_t k = task->problem.objective.free; k < kf_size(&task->problem); k++) {
        double v = *v_of(iterate, k), m = m_of(iterate, k);
        vv += v * v;
        vm += v * m;
        mm += m * m;
    }
    iterate->vv = vv;
    iterate->vm = vm;
    iterate->mm = mm;
    iterate->peak = vv;
    iterate->since_norms = 0;
}

static void multiply(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    double s = iterate->view.s, c = iterate->view.c;
    kf_scaled_write(task);
    for (size_t k = 0; k < kf_size(&task->problem); k++)
        task->iterate.x[k] = s * *v_of(iterate, k) + c * m_of(iterate, k);
}

/* Where s*v and c*m are large and nearly cancel, the norms that keep x in a ball are off: who reads it gets one that is inside. */
void kf_scaled_read(struct kf_task *task)
{
    multiply(task);
    if (task->iterate.norms)
        kf_project(&task->problem, task->iterate.x);
    task->iterate.read = true;
}

static void reset_scales(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    iterate->view.s = 1;
    iterate->view.c = 0;
    if (iterate->norms)
        measure_norms(task);
}

void kf_scaled_load(struct kf_task *task)
{
    kf_scaled_write(task); /* t too may have something to take in */
    for (size_t k = 0; k < kf_size(&task->problem); k++)
        *v_of(&task->iterate, k) = task->iterate.x[k];
    reset_scales(task);
    task->iterate.read = true;
}

void kf_scaled_set_drift(struct kf_task *task, const double *drift)
{
    const struct kf_lanes *lanes = &task->iterate.lanes;
    for (size_t k = 0; k < kf_size(&task->problem); k++)
        lanes->m[k * lanes->stride] = drift[k];
    kf_scaled_load(task); /* x was read to compute the drift at it */
}

/* Takes a change of v by first*f and of m by second*f, f the factors times the row, out of t, so that A stays. */
static void correct_average(struct kf_task *task, double first, double second, size_t point, const double *factors)
{
    struct kf_iterate *iterate = &task->iterate;
    double change = iterate->sum_s * first + iterate->sum_c * second;
    if (change != 0)
        task->problem.objective.type->add(&task->problem.objective, -change, point, factors, iterate->average);
    if (!iterate->touched_count || iterate->touched[iterate->touched_count - 1] != point) {
        if (KF_RESERVE(iterate->touched, iterate->touched_capacity, iterate->touched_count + 1))
            iterate->touched[iterate->touched_count++] = point;
        else
            task->problem.objective.memory_failed = iterate->everywhere =
                true; /* without a list, everything is looked at */
    }
}

/* The same change, with the norms following it. */
static void update_with_norms(struct kf_task *task, const keepfit_row *row, double first, double second,
                              const double *factors)
{
    struct kf_iterate *iterate = &task->iterate;
    size_t outputs = task->problem.objective.outputs, lead = task->problem.objective.free > 0;
    double vv = 0, vm = 0, mm = 0;
    for (size_t e = 0; e < row->count; e++) {
        size_t feature = row->index ? row->index[e] : e;
        for (size_t k = 0; k < outputs; k++) {
            double *pair = &iterate->pairs[2 * (feature * outputs + k)], v = pair[0], m = pair[1];
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
    iterate->vv += vv;
    iterate->vm += vm;
    iterate->mm += mm;
    iterate->peak = fmax(iterate->peak, iterate->vv);
    if (iterate->vv < 1e-4 * iterate->peak)
        measure_norms(task); /* what is left is mostly the rounding of what was there */
}

/* Changes of a network wait, but for its second layer, which is small. */
static void change_network(struct kf_task *task, double first, double second, size_t point, const double *factors)
{
    struct kf_iterate *iterate = &task->iterate;
    double mean = iterate->averaging ? -(iterate->sum_s * first + iterate->sum_c * second) : 0;
    iterate->everywhere = true;
    if (!kf_deferred_has_room(iterate->deferred, point))
        kf_scaled_write(task);
    kf_deferred_add(iterate->deferred, &task->problem.objective, point, factors, (double[]){first, second, mean},
                    (double *[]){iterate->v, iterate->m, iterate->average});
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
    if (iterate->averaging)
        correct_average(task, first, second, point, factors);
    if (iterate->norms)
        update_with_norms(task, &row, first, second, factors);
    else
        objective->type->change(objective, first, second, point, factors, &iterate->lanes);
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
        double v = *v_of(iterate, k), m = m_of(iterate, k);
        double x = iterate->view.s * v + (iterate->view.c - drift) * m;
        double next = (x - c * m) / s;
        *v_of(iterate, k) = next;
        if (iterate->averaging)
            iterate->average[k] -= iterate->sum_s * (next - v);
    }
}

/* v takes in everything: s = 1, c = 0. What the mean owes to the old v and m moves into t. */
static void multiply_out(struct kf_task *task, double s, double c)
{
    struct kf_iterate *iterate = &task->iterate;
    kf_scaled_write(task);
    for (size_t k = 0; k < kf_size(&task->problem); k++) {
        double v = *v_of(iterate, k), m = m_of(iterate, k);
        if (iterate->averaging)
            iterate->average[k] += iterate->sum_s * v + iterate->sum_c * m;
        *v_of(iterate, k) = s * v + c * m;
    }
    iterate->sum_s = iterate->sum_c = 0;
    iterate->everywhere = true;
    reset_scales(task);
}

/* A step of exactly 1/(2 lambda) shrinks x to nothing, but for the free coordinates. */
static void forget_v(struct kf_task *task, double c, double drift)
{
    struct kf_iterate *iterate = &task->iterate;
    double *held = task->vectors.factors[KF_FACTOR_BUFFERS - 1];
    size_t free = task->problem.objective.free;
    for (size_t k = 0; k < free; k++)
        held[k] = iterate->view.s * *v_of(iterate, k) + (iterate->view.c - drift) * m_of(iterate, k);
    multiply_out(task, 0, c);
    for (size_t k = 0; k < free; k++)
        *v_of(iterate, k) = held[k];
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
    struct kf_iterate *iterate = &task->iterate;
    struct kf_view *view = &iterate->view;
    if (++iterate->since_norms > 1000 + kf_size(&task->problem) / 4)
        measure_norms(task);
    double radius = task->problem.domain.first, s = view->s, c = view->c;
    double square = s * s * iterate->vv + 2 * s * c * iterate->vm + c * c * iterate->mm;
    if (square <= radius * radius)
        return;
    /* Where s*v and c*m nearly cancel, the three numbers say little: count again before acting on them. */
    if (square < 1e-8 * (s * s * iterate->vv + c * c * iterate->mm))
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
    return s < SMALLEST_SCALE || (iterate->averaging && SCALES_APART * s * iterate->weight < fabs(iterate->sum_s));
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
    if (iterate->norms)
        project_on_ball(task);
}

void kf_scaled_average_begin(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    iterate->sum_s = iterate->sum_c = 0;
    iterate->touched_count = 0;
    iterate->everywhere = false;
}

void kf_scaled_average_add(struct kf_task *task, double weight)
{
    task->iterate.sum_s += weight * task->iterate.view.s;
    task->iterate.sum_c += weight * task->iterate.view.c;
}

/* t of one row's coordinates goes into v. */
static void fold_row(struct kf_task *task, size_t point)
{
    struct kf_iterate *iterate = &task->iterate;
    keepfit_row row = kf_points_row(&task->problem.points, point);
    size_t outputs = task->problem.objective.outputs, free = task->problem.objective.free;
    for (size_t e = 0; e < row.count; e++) {
        size_t from = (row.index ? row.index[e] : e) * outputs;
        for (size_t k = from; k < from + outputs; k++) {
            double v = *v_of(iterate, k), m = m_of(iterate, k), dv = iterate->average[k] / iterate->sum_s;
            *v_of(iterate, k) = v + dv;
            iterate->average[k] = 0;
            if (iterate->norms && k >= free) {
                iterate->vv += dv * (2 * v + dv);
                iterate->vm += dv * m;
            }
        }
    }
}

void kf_scaled_average_end(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    struct kf_view *view = &iterate->view;
    double share = 1 / iterate->weight;
    iterate->read = false;
    kf_scaled_write(task);
    /* Iterates of opposite sign may cancel in S: then dividing by it would lose digits. */
    bool sound = fabs(iterate->sum_s) > 1e-3 * fabs(view->s) * iterate->weight && fabs(iterate->sum_s) > SMALLEST_SCALE;
    if (iterate->everywhere || !sound) {
        for (size_t k = 0; k < kf_size(&task->problem); k++) {
            double sum = iterate->sum_s * *v_of(iterate, k) + iterate->sum_c * m_of(iterate, k) + iterate->average[k];
            *v_of(iterate, k) = share * sum;
            iterate->average[k] = 0;
        }
        reset_scales(task);
        return;
    }
    for (size_t k = 0; k < iterate->touched_count; k++)
        fold_row(task, iterate->touched[k]);
    view->s = share * iterate->sum_s;
    view->c = share * iterate->sum_c;
}
