/* What both representations share, and the dense one; scaled.c has the other. */
#include "iterate/iterate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "iterate/task.h"
#include "iterate/scaled.h"
#include "iterate/whole.h"
#include "objective/deferred.h"

void kf_iterate_moved(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    struct kf_view *const views[] = {&iterate->view, &iterate->before};
    for (size_t k = 0; k < 2; k++) {
        views[k]->dense = iterate->scaled ? NULL : k == 0 ? task->iterate.x : iterate->before_x;
        views[k]->pairs = iterate->pairs;
        views[k]->v = iterate->v;
        views[k]->m = iterate->m;
        views[k]->deferred = iterate->scaled ? iterate->deferred : NULL;
    }
    if (task->problem.objective.hidden)
        iterate->lanes = (struct kf_lanes){iterate->v, iterate->m, 1};
    else
        iterate->lanes = (struct kf_lanes){iterate->pairs, iterate->pairs ? iterate->pairs + 1 : NULL, 2};
}

static bool want(struct kf_task *task, double **vector, bool wanted)
{
    return !wanted || *vector || kf_task_vector(task, vector);
}

/* v and m of a network, and the list of what waits. */
static bool allocate_apart(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    if (!want(task, &iterate->v, true) || !want(task, &iterate->m, iterate->needs & KF_NEEDS_DRIFT))
        return false;
    if (!iterate->deferred)
        iterate->deferred = kf_deferred_make(task->problem.objective.hidden, iterate->needs & KF_NEEDS_DRIFT,
                                             iterate->needs & KF_NEEDS_AVERAGE);
    return iterate->deferred != NULL;
}

/* The vectors that this representation needs, as far as they are not there. */
static bool allocate(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    bool scaled = iterate->scaled;
    unsigned needs = iterate->needs;
    if (!want(task, &iterate->average, needs & KF_NEEDS_AVERAGE) ||
        !want(task, &iterate->drift, !scaled && needs & KF_NEEDS_DRIFT) ||
        !want(task, &iterate->before_x, !scaled && needs & KF_NEEDS_BEFORE))
        return false;
    if (scaled && task->problem.objective.hidden && !allocate_apart(task))
        return false;
    if (scaled && !task->problem.objective.hidden && !iterate->pairs && !kf_task_pairs(task, &iterate->pairs))
        return false;
    iterate->norms = scaled && !kf_domain_is_whole(&task->problem.domain);
    return want(task, &iterate->temporary, !scaled || !iterate->average);
}

bool kf_iterate_prepare(struct kf_task *task, unsigned needs)
{
    task->iterate.needs = needs;
    if (!allocate(task))
        return false;
    kf_iterate_moved(task);
    kf_load(task);
    return true;
}

/* x and the drift move to the other representation. False: out of memory, and nothing has changed. */
static bool change_representation(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    kf_read(task);
    iterate->scaled = !iterate->scaled;
    if (!allocate(task)) {
        iterate->scaled = !iterate->scaled;
        return false;
    }
    for (size_t k = 0; k < kf_size(&task->problem) && iterate->needs & KF_NEEDS_DRIFT; k++) {
        double *scaled = &iterate->lanes.m[k * iterate->lanes.stride], *dense = &iterate->drift[k];
        *(iterate->scaled ? scaled : dense) = *(iterate->scaled ? dense : scaled);
    }
    if (iterate->average)
        kf_clear(&task->problem, iterate->average);
    kf_iterate_moved(task);
    kf_load(task);
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

void kf_iterate_free(struct kf_iterate *iterate)
{
    free(iterate->touched);
    kf_deferred_free(iterate->deferred);
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

/* x = keep*x - step*drift_scale*m, but for the free coordinates, which are not shrunk. */
static void dense_shrink(struct kf_task *task, double keep, double step, double drift_scale)
{
    size_t free = task->problem.objective.free, rest = kf_size(&task->problem) - free;
    double *x = task->iterate.x, *drift = task->iterate.drift;
    if (drift_scale != 0) {
        kf_add(free, -step * drift_scale, drift, x);
        kf_blend(rest, keep, x + free, -step * drift_scale, drift + free);
    } else {
        kf_scale(rest, keep, x + free);
    }
}

static void dense_step(struct kf_task *task, double step, double drift_scale, const struct kf_term *terms, size_t count)
{
    const struct kf_objective *objective = &task->problem.objective;
    struct kf_iterate *iterate = &task->iterate;
    if (iterate->needs & KF_NEEDS_BEFORE)
        kf_copy(&task->problem, iterate->before_x, task->iterate.x);
    dense_shrink(task, 1 - 2 * objective->lambda * step, step, drift_scale);
    for (size_t k = 0; k < count; k++) {
        objective->type->add(objective, -step * terms[k].scale, terms[k].point, terms[k].factors, task->iterate.x);
        if (terms[k].drift != 0)
            objective->type->add(objective, terms[k].drift, terms[k].point, terms[k].factors, iterate->drift);
    }
    kf_project(&task->problem, task->iterate.x);
}

void kf_step(struct kf_task *task, double step, double drift_scale, const struct kf_term *terms, size_t count)
{
    task->stage.steps++;
    (task->iterate.scaled ? kf_scaled_step : dense_step)(task, step, drift_scale, terms, count);
}

/* A network's gradient and the remembered one are two terms. One that is renewed is put aside first. */
static size_t network_terms(struct kf_task *task, const struct kf_view *x, const struct kf_sample *samples,
                            size_t count, struct kf_term *terms)
{
    struct kf_objective *objective = &task->problem.objective;
    size_t bytes = objective->type->factor_count(objective) * sizeof(double), made = 0;
    for (size_t k = 0; k < count; k++) {
        const struct kf_sample *sample = &samples[k];
        double *now = task->vectors.factors[k], *then = sample->remembered;
        kf_factors(objective, x, sample->point, now);
        if (then && sample->renew) {
            then = memcpy(task->vectors.factors[KF_SAMPLES_MOST + k], sample->remembered, bytes);
            memcpy(sample->remembered, now, bytes);
        }
        terms[made++] = (struct kf_term){sample->scale, sample->drift, sample->point, now};
        if (then)
            terms[made++] = (struct kf_term){-sample->scale, -sample->drift, sample->point, then};
    }
    return made;
}

size_t kf_sample_terms(struct kf_task *task, const struct kf_view *x, const struct kf_sample *samples, size_t count,
                       struct kf_term *terms)
{
    struct kf_objective *objective = &task->problem.objective;
    if (objective->hidden)
        return network_terms(task, x, samples, count, terms);
    bool single = kf_is_single(objective);
    size_t each = single ? 1 : objective->type->factor_count(objective);
    for (size_t k = 0; k < count; k++) {
        const struct kf_sample *sample = &samples[k];
        double *now = task->vectors.factors[k];
        if (single)
            now[0] = kf_single_factor(objective, x, sample->point);
        else
            kf_factors(objective, x, sample->point, now);
        for (size_t l = 0; sample->remembered && l < each; l++) {
            double fresh = now[l];
            now[l] -= sample->remembered[l];
            if (sample->renew)
                sample->remembered[l] = fresh;
        }
        terms[k] = (struct kf_term){sample->scale, sample->drift, sample->point, now};
    }
    return count;
}

void kf_step_sampled(struct kf_task *task, double step, double drift_scale, const struct kf_sample *samples,
                     size_t count)
{
    if (kf_step_whole(task, step, drift_scale, samples, count))
        return;
    struct kf_term terms[KF_TERMS_MOST];
    size_t made = kf_sample_terms(task, &task->iterate.view, samples, count, terms);
    kf_sampler_refill(task); /* while the slopes are on their way */
    kf_step(task, step, drift_scale, terms, made);
}

void kf_steps(struct kf_task *task, const struct kf_course *course)
{
    size_t each = task->problem.objective.type->factor_count(&task->problem.objective);
    kf_sampler_start(task, course->bound, course->count, course->table);
    if (kf_steps_whole(task, course))
        return;
    for (uint64_t t = 0; t < course->count; t++) {
        struct kf_sample samples[] = {course->drawn, course->other};
        samples[0].point = kf_sampler_next(task);
        samples[0].remembered = course->table ? course->table + samples[0].point * each : NULL;
        kf_step_sampled(task, course->step, course->drift_scale, samples, course->with_other ? 2 : 1);
    }
}

void kf_steps_of_table(struct kf_task *task, double step, double mean, size_t bound, double *table, uint64_t count)
{
    kf_steps(task, &(struct kf_course){.step = step,
                                       .drift_scale = mean,
                                       .bound = bound,
                                       .count = count,
                                       .drawn = {.scale = (double)bound * mean, .drift = 1, .renew = true},
                                       .table = table});
}

double *kf_borrow(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    assert(!iterate->averaging);
    return iterate->temporary ? iterate->temporary : iterate->average;
}

void kf_give_back(struct kf_task *task, double *vector)
{
    if (vector == task->iterate.average)
        kf_clear(&task->problem, vector);
}

void kf_drift_recompute(struct kf_task *task, size_t count, double *remembered)
{
    struct kf_iterate *iterate = &task->iterate;
    double *sum = iterate->scaled ? kf_borrow(task) : iterate->drift;
    kf_gradient_sum(&task->problem.objective, kf_read(task), count, sum, remembered, task->vectors.factors[0]);
    if (iterate->scaled) {
        kf_scaled_set_drift(task, sum);
        kf_give_back(task, sum);
    }
}

void kf_drift_add(struct kf_task *task, double scale, size_t point, const double *factors)
{
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
        struct kf_pair on = task->problem.objective.kernels->pair_dot(&row, iterate->pairs);
        return (struct kf_pair){view->s * on.first + view->c * on.second, on.second};
    }
    kf_row_scores(&row, task->iterate.x, kf_size(&task->problem), 1, &dots.first);
    kf_row_scores(&row, iterate->drift, kf_size(&task->problem), 1, &dots.second);
    return dots;
}

void kf_drift_read(struct kf_task *task, double *drift)
{
    const struct kf_iterate *iterate = &task->iterate;
    kf_iterate_write(task);
    for (size_t k = 0; k < kf_size(&task->problem); k++)
        drift[k] = iterate->scaled ? iterate->lanes.m[k * iterate->lanes.stride] : iterate->drift[k];
}

void kf_average_begin(struct kf_task *task)
{
    task->iterate.weight = 0;
    task->iterate.averaging = true;
    if (task->iterate.scaled)
        kf_scaled_average_begin(task);
}

static void dense_average_add(struct kf_task *task, double weight)
{
    struct kf_iterate *iterate = &task->iterate;
    double share = weight / iterate->weight;
    if (share == 1)
        kf_copy(&task->problem, iterate->average, task->iterate.x); /* whatever the mean held before, even NaN */
    else
        kf_blend(kf_size(&task->problem), 1 - share, iterate->average, share, task->iterate.x);
}

void kf_average_add(struct kf_task *task, double weight)
{
    struct kf_iterate *iterate = &task->iterate;
    iterate->weight += weight;
    if (iterate->scaled)
        kf_scaled_average_add(task, weight);
    else if (iterate->weight > 0)
        dense_average_add(task, weight);
}

void kf_average_end(struct kf_task *task)
{
    struct kf_iterate *iterate = &task->iterate;
    if (iterate->scaled)
        kf_scaled_average_end(task);
    else
        kf_copy(&task->problem, task->iterate.x, iterate->average);
    iterate->averaging = false;
}
