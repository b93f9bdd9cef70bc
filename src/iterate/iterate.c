/* What both representations share, and the dense one; scaled.c has the other. */
#include "iterate/iterate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "iterate/problem.h"
#include "iterate/scaled.h"
#include "iterate/whole.h"
#include "objective/deferred.h"

void kf_iterate_moved(struct kf_problem *problem)
{
    struct kf_iterate *iterate = &problem->iterate;
    struct kf_view *const views[] = {&iterate->view, &iterate->before};
    for (size_t k = 0; k < 2; k++) {
        views[k]->dense = iterate->scaled ? NULL : k == 0 ? problem->x : iterate->before_x;
        views[k]->pairs = iterate->pairs;
        views[k]->v = iterate->v;
        views[k]->m = iterate->m;
        views[k]->deferred = iterate->scaled ? iterate->deferred : NULL;
    }
    if (problem->objective.hidden)
        iterate->lanes = (struct kf_lanes){iterate->v, iterate->m, 1};
    else
        iterate->lanes = (struct kf_lanes){iterate->pairs, iterate->pairs ? iterate->pairs + 1 : NULL, 2};
}

static bool want(struct kf_problem *problem, double **vector, bool wanted)
{
    return !wanted || *vector || kf_problem_vector(problem, vector);
}

/* v and m of a network, and the list of what waits. */
static bool allocate_apart(struct kf_problem *problem)
{
    struct kf_iterate *iterate = &problem->iterate;
    if (!want(problem, &iterate->v, true) || !want(problem, &iterate->m, iterate->needs & KF_NEEDS_DRIFT))
        return false;
    if (!iterate->deferred)
        iterate->deferred = kf_deferred_make(problem->objective.hidden, iterate->needs & KF_NEEDS_DRIFT,
                                             iterate->needs & KF_NEEDS_AVERAGE);
    return iterate->deferred != NULL;
}

/* The vectors that this representation needs, as far as they are not there. */
static bool allocate(struct kf_problem *problem)
{
    struct kf_iterate *iterate = &problem->iterate;
    bool scaled = iterate->scaled;
    unsigned needs = iterate->needs;
    if (!want(problem, &iterate->average, needs & KF_NEEDS_AVERAGE) ||
        !want(problem, &iterate->drift, !scaled && needs & KF_NEEDS_DRIFT) ||
        !want(problem, &iterate->before_x, !scaled && needs & KF_NEEDS_BEFORE))
        return false;
    if (scaled && problem->objective.hidden && !allocate_apart(problem))
        return false;
    if (scaled && !problem->objective.hidden && !iterate->pairs && !kf_problem_pairs(problem, &iterate->pairs))
        return false;
    iterate->norms = scaled && !kf_domain_is_whole(&problem->domain);
    return want(problem, &iterate->temporary, !scaled || !iterate->average);
}

bool kf_iterate_prepare(struct kf_problem *problem, unsigned needs)
{
    problem->iterate.needs = needs;
    if (!allocate(problem))
        return false;
    kf_iterate_moved(problem);
    kf_load(problem);
    return true;
}

/* x and the drift move to the other representation. False: out of memory, and nothing has changed. */
static bool change_representation(struct kf_problem *problem)
{
    struct kf_iterate *iterate = &problem->iterate;
    kf_read(problem);
    iterate->scaled = !iterate->scaled;
    if (!allocate(problem)) {
        iterate->scaled = !iterate->scaled;
        return false;
    }
    for (size_t k = 0; k < kf_size(problem) && iterate->needs & KF_NEEDS_DRIFT; k++) {
        double *scaled = &iterate->lanes.m[k * iterate->lanes.stride], *dense = &iterate->drift[k];
        *(iterate->scaled ? scaled : dense) = *(iterate->scaled ? dense : scaled);
    }
    if (iterate->average)
        kf_clear(problem, iterate->average);
    kf_iterate_moved(problem);
    kf_load(problem);
    return true;
}

void kf_iterate_suit(struct kf_problem *problem)
{
    struct kf_iterate *iterate = &problem->iterate;
    size_t count = problem->points.count;
    if (!iterate->may_change || count < 16 || (count & (count - 1)) != 0)
        return; /* at stages 16, 32, 64, ...: the mean moves slowly */
    double filled = (double)problem->points.entries / (double)count / (double)problem->objective.slots;
    if ((iterate->scaled ? filled > 0.5 : filled < 0.4) && !change_representation(problem))
        problem->objective.memory_failed = true;
}

void kf_iterate_free(struct kf_iterate *iterate)
{
    free(iterate->touched);
    kf_deferred_free(iterate->deferred);
}

void kf_iterate_write(struct kf_problem *problem)
{
    if (problem->iterate.scaled)
        kf_scaled_write(problem);
}

const double *kf_read(struct kf_problem *problem)
{
    if (problem->iterate.scaled && !problem->iterate.read)
        kf_scaled_read(problem);
    return problem->x;
}

void kf_load(struct kf_problem *problem)
{
    if (problem->iterate.scaled)
        kf_scaled_load(problem);
}

/* x = keep*x - step*drift_scale*m, but for the free coordinates, which are not shrunk. */
static void dense_shrink(struct kf_problem *problem, double keep, double step, double drift_scale)
{
    size_t free = problem->objective.free, rest = kf_size(problem) - free;
    double *x = problem->x, *drift = problem->iterate.drift;
    if (drift_scale != 0) {
        kf_add(free, -step * drift_scale, drift, x);
        kf_blend(rest, keep, x + free, -step * drift_scale, drift + free);
    } else {
        kf_scale(rest, keep, x + free);
    }
}

static void dense_step(struct kf_problem *problem, double step, double drift_scale, const struct kf_term *terms,
                       size_t count)
{
    const struct kf_objective *objective = &problem->objective;
    struct kf_iterate *iterate = &problem->iterate;
    if (iterate->needs & KF_NEEDS_BEFORE)
        kf_copy(problem, iterate->before_x, problem->x);
    dense_shrink(problem, 1 - 2 * objective->lambda * step, step, drift_scale);
    for (size_t k = 0; k < count; k++) {
        objective->type->add(objective, -step * terms[k].scale, terms[k].point, terms[k].factors, problem->x);
        if (terms[k].drift != 0)
            objective->type->add(objective, terms[k].drift, terms[k].point, terms[k].factors, iterate->drift);
    }
    kf_project(problem, problem->x);
}

void kf_step(struct kf_problem *problem, double step, double drift_scale, const struct kf_term *terms, size_t count)
{
    problem->steps++;
    (problem->iterate.scaled ? kf_scaled_step : dense_step)(problem, step, drift_scale, terms, count);
}

/* A network's gradient and the remembered one are two terms. One that is renewed is put aside first. */
static size_t network_terms(struct kf_problem *problem, const struct kf_view *x, const struct kf_sample *samples,
                            size_t count, struct kf_term *terms)
{
    struct kf_objective *objective = &problem->objective;
    size_t bytes = objective->type->factor_count(objective) * sizeof(double), made = 0;
    for (size_t k = 0; k < count; k++) {
        const struct kf_sample *sample = &samples[k];
        double *now = problem->factors[k], *then = sample->remembered;
        kf_factors(objective, x, sample->point, now);
        if (then && sample->renew) {
            then = memcpy(problem->factors[KF_SAMPLES_MOST + k], sample->remembered, bytes);
            memcpy(sample->remembered, now, bytes);
        }
        terms[made++] = (struct kf_term){sample->scale, sample->drift, sample->point, now};
        if (then)
            terms[made++] = (struct kf_term){-sample->scale, -sample->drift, sample->point, then};
    }
    return made;
}

size_t kf_sample_terms(struct kf_problem *problem, const struct kf_view *x, const struct kf_sample *samples,
                       size_t count, struct kf_term *terms)
{
    struct kf_objective *objective = &problem->objective;
    if (objective->hidden)
        return network_terms(problem, x, samples, count, terms);
    bool single = kf_is_single(objective);
    size_t each = single ? 1 : objective->type->factor_count(objective);
    for (size_t k = 0; k < count; k++) {
        const struct kf_sample *sample = &samples[k];
        double *now = problem->factors[k];
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

void kf_step_sampled(struct kf_problem *problem, double step, double drift_scale, const struct kf_sample *samples,
                     size_t count)
{
    if (kf_step_whole(problem, step, drift_scale, samples, count))
        return;
    struct kf_term terms[KF_TERMS_MOST];
    size_t made = kf_sample_terms(problem, &problem->iterate.view, samples, count, terms);
    kf_sampler_refill(problem); /* while the slopes are on their way */
    kf_step(problem, step, drift_scale, terms, made);
}

void kf_steps(struct kf_problem *problem, const struct kf_course *course)
{
    size_t each = problem->objective.type->factor_count(&problem->objective);
    kf_sampler_start(problem, course->bound, course->count, course->table);
    if (kf_steps_whole(problem, course))
        return;
    for (uint64_t t = 0; t < course->count; t++) {
        struct kf_sample samples[] = {course->drawn, course->other};
        samples[0].point = kf_sampler_next(problem);
        samples[0].remembered = course->table ? course->table + samples[0].point * each : NULL;
        kf_step_sampled(problem, course->step, course->drift_scale, samples, course->with_other ? 2 : 1);
    }
}

void kf_steps_of_table(struct kf_problem *problem, double step, double mean, size_t bound, double *table,
                       uint64_t count)
{
    kf_steps(problem, &(struct kf_course){.step = step,
                                          .drift_scale = mean,
                                          .bound = bound,
                                          .count = count,
                                          .drawn = {.scale = (double)bound * mean, .drift = 1, .renew = true},
                                          .table = table});
}

double *kf_borrow(struct kf_problem *problem)
{
    struct kf_iterate *iterate = &problem->iterate;
    assert(!iterate->averaging);
    return iterate->temporary ? iterate->temporary : iterate->average;
}

void kf_give_back(struct kf_problem *problem, double *vector)
{
    if (vector == problem->iterate.average)
        kf_clear(problem, vector);
}

void kf_drift_recompute(struct kf_problem *problem, size_t count, double *remembered)
{
    struct kf_iterate *iterate = &problem->iterate;
    double *sum = iterate->scaled ? kf_borrow(problem) : iterate->drift;
    kf_gradient_sum(&problem->objective, kf_read(problem), count, sum, remembered, problem->factors[0]);
    if (iterate->scaled) {
        kf_scaled_set_drift(problem, sum);
        kf_give_back(problem, sum);
    }
}

void kf_drift_add(struct kf_problem *problem, double scale, size_t point, const double *factors)
{
    if (problem->iterate.scaled)
        kf_scaled_drift_add(problem, scale, point, factors);
    else
        problem->objective.type->add(&problem->objective, scale, point, factors, problem->iterate.drift);
}

struct kf_pair kf_iterate_dots(const struct kf_problem *problem, size_t point)
{
    const struct kf_iterate *iterate = &problem->iterate;
    const struct kf_view *view = &iterate->view;
    keepfit_row row = kf_points_row(&problem->points, point);
    struct kf_pair dots;
    if (iterate->scaled) {
        struct kf_pair on = problem->objective.kernels->pair_dot(&row, iterate->pairs);
        return (struct kf_pair){view->s * on.first + view->c * on.second, on.second};
    }
    kf_row_scores(&row, problem->x, kf_size(problem), 1, &dots.first);
    kf_row_scores(&row, iterate->drift, kf_size(problem), 1, &dots.second);
    return dots;
}

void kf_drift_read(struct kf_problem *problem, double *drift)
{
    const struct kf_iterate *iterate = &problem->iterate;
    kf_iterate_write(problem);
    for (size_t k = 0; k < kf_size(problem); k++)
        drift[k] = iterate->scaled ? iterate->lanes.m[k * iterate->lanes.stride] : iterate->drift[k];
}

void kf_average_begin(struct kf_problem *problem)
{
    problem->iterate.weight = 0;
    problem->iterate.averaging = true;
    if (problem->iterate.scaled)
        kf_scaled_average_begin(problem);
}

static void dense_average_add(struct kf_problem *problem, double weight)
{
    struct kf_iterate *iterate = &problem->iterate;
    double share = weight / iterate->weight;
    if (share == 1)
        kf_copy(problem, iterate->average, problem->x); /* whatever the mean held before, even NaN */
    else
        kf_blend(kf_size(problem), 1 - share, iterate->average, share, problem->x);
}

void kf_average_add(struct kf_problem *problem, double weight)
{
    struct kf_iterate *iterate = &problem->iterate;
    iterate->weight += weight;
    if (iterate->scaled)
        kf_scaled_average_add(problem, weight);
    else if (iterate->weight > 0)
        dense_average_add(problem, weight);
}

void kf_average_end(struct kf_problem *problem)
{
    struct kf_iterate *iterate = &problem->iterate;
    if (iterate->scaled)
        kf_scaled_average_end(problem);
    else
        kf_copy(problem, problem->x, iterate->average);
    iterate->averaging = false;
}
