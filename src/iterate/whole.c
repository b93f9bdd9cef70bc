/* Steps over full rows, in registers from end to end: at some fifty features what goes through memory in between costs as much
 * as the rows.
 *
 * What a step waits for is a chain: the row's product with x, the loss's slope (an exponential and a division), x itself, and
 * then the next row's product. But x changes by known vectors, so the next score follows from the next row's products with
 * these, which wait for no slope:
 *
 *     next.(keep x + drift m + first a) = next.(keep x + drift m) + first (next.a)
 *
 * Where many steps are made at once they are computed in the same pass that moves x. */
#include "iterate/step.h"

#include <assert.h>

#include "kernels/kernels.h"

static bool is_whole(const struct kf_task *task)
{
    const struct kf_objective *objective = &task->problem.objective;
    const struct kf_iterate *iterate = &task->iterate;
    return !iterate->scaled && kf_is_single(objective) && !objective->free && iterate->drift &&
           !(iterate->needs & KF_NEEDS_BEFORE);
}

static bool is_full(const struct kf_problem *problem, size_t point)
{
    const struct kf_place *place = &problem->points.place[point];
    return place->dense && place->count == kf_size(problem);
}

/* The factor of a point with score z, less the remembered one, which it may replace. */
static inline double find_change(const struct kf_objective *objective, const struct kf_place *place, double z,
                                 double *remembered, bool renew)
{
    double then = remembered ? *remembered : 0;
    double now = place->weight * objective->loss->slope(z, place->target, objective->delta);
    if (remembered && renew)
        *remembered = now;
    return now - then;
}

static const double *row_of(const struct kf_task *task, size_t point)
{
    return kf_points_row(&task->problem.points, point).value;
}

static bool whole_fits(const struct kf_task *task, const struct kf_estimator *estimator)
{
    if (!is_whole(task) || estimator->count == 0)
        return false;
    for (size_t k = 0; k < estimator->count; k++)
        if (!is_full(&task->problem, estimator->sample[k].point))
            return false;
    return true;
}

static void step_whole(struct kf_task *task, double step, const struct kf_estimator *estimator)
{
    assert(whole_fits(task, estimator));
    struct kf_objective *objective = &task->problem.objective;
    const struct kf_kernels *kernels = objective->kernels;
    const struct kf_sample *samples = estimator->sample;
    size_t size = kf_size(&task->problem);
    double *x = task->iterate.x, *drift = task->iterate.drift, change[KF_SAMPLES_MOST];
    for (size_t k = 0; k < estimator->count; k++) {
        const struct kf_place *place = &task->problem.points.place[samples[k].point];
        double z = kernels->dot(size, row_of(task, samples[k].point), x);
        change[k] = find_change(objective, place, z, samples[k].remembered, samples[k].renew);
    }
    kf_sampler_refill(task); /* while the slopes are on their way */
    for (size_t k = 0; k < estimator->count; k++) {
        const double *row = row_of(task, samples[k].point);
        double first = -step * samples[k].scale * change[k], second = samples[k].drift * change[k];
        if (k == 0)
            kernels->advance(size, 1 - 2 * objective->lambda * step, -step * estimator->drift_scale, row, first, second,
                             x, drift);
        else
            kernels->add(size, first, row, x);
        if (k > 0 && samples[k].drift != 0)
            kernels->add(size, second, row, drift);
    }
    objective->fo += estimator->count;
    task->stage.steps++;
    if (!kf_domain_is_whole(&task->problem.domain))
        kf_project(&task->problem, x);
}

/* Whatever points are drawn. */
static bool fits_all(const struct kf_task *task, const struct kf_course *course)
{
    const struct kf_points *points = &task->problem.points;
    return course->count > 0 && course->estimator.count > 0 && is_whole(task) &&
           points->entries == (uint64_t)points->count * kf_size(&task->problem);
}

const struct kf_step_path kf_whole_path = {
    .name = "full rows",
    .estimators = "all",
    .iterates = "dense, one output without a free intercept, each row that is sampled covers all of x; any domain",
    .fits = whole_fits,
    .fits_course = fits_all,
    .step = step_whole,
};

static bool stride_fits(const struct kf_task *task, const struct kf_course *course)
{
    return course->estimator.count == 1 && kf_domain_is_whole(&task->problem.domain) && fits_all(task, course);
}

static bool stride_both_fits(const struct kf_task *task, const struct kf_course *course)
{
    const struct kf_sample *samples = course->estimator.sample;
    return course->estimator.count == 2 && samples[0].drift == 0 && samples[1].drift == 0 &&
           kf_domain_is_whole(&task->problem.domain) && fits_all(task, course);
}

static void count_steps(struct kf_task *task, const struct kf_course *course)
{
    task->problem.objective.fo += course->count * course->estimator.count;
    task->stage.steps += course->count;
}

/* One drawn point a step. */
static void stride(struct kf_task *task, const struct kf_course *course)
{
    assert(stride_fits(task, course));
    const struct kf_objective *objective = &task->problem.objective;
    const struct kf_kernels *kernels = objective->kernels;
    const struct kf_place *places = task->problem.points.place;
    const struct kf_sample *drawn = course->estimator.sample;
    size_t size = kf_size(&task->problem), point = kf_sampler_next(task);
    double *x = task->iterate.x, *m = task->iterate.drift, share = -course->step * drawn->scale;
    double keep = 1 - 2 * objective->lambda * course->step, drift = -course->step * course->estimator.drift_scale;
    const double *row = row_of(task, point);
    double z = kernels->dot(size, row, x);
    count_steps(task, course);
    for (uint64_t t = 1;; t++) {
        const struct kf_place *place = &places[point];
        double *remembered = course->table ? course->table + point : NULL;
        double change = find_change(objective, place, z, remembered, drawn->renew);
        double first = share * change, second = drawn->drift * change;
        if (t == course->count) {
            kernels->advance(size, keep, drift, row, first, second, x, m);
            return;
        }
        point = kf_sampler_next(task);
        const double *next = row_of(task, point);
        z = kernels->stride(size, keep, drift, row, first, second, x, m, next);
        row = next;
    }
}

/* And the other one with it. Of that one's products only the one with x has to be computed: the drift stays, and its product with
 * the row that comes next is known from the side of that row. */
static void stride_both(struct kf_task *task, const struct kf_course *course)
{
    assert(stride_both_fits(task, course));
    const struct kf_objective *objective = &task->problem.objective;
    const struct kf_kernels *kernels = objective->kernels;
    const struct kf_place *places = task->problem.points.place, *other = &places[course->estimator.sample[1].point];
    const double *beside = row_of(task, course->estimator.sample[1].point);
    const struct kf_sample *samples = course->estimator.sample;
    size_t size = kf_size(&task->problem), point = kf_sampler_next(task);
    double *x = task->iterate.x, *m = task->iterate.drift;
    double keep = 1 - 2 * objective->lambda * course->step, drift = -course->step * course->estimator.drift_scale;
    const double *row = row_of(task, point);
    double z = kernels->dot(size, row, x), z_other = kernels->dot(size, beside, x);
    double on_m = kernels->dot(size, beside, m), on_self = kernels->dot(size, beside, beside);
    double on_row = kernels->dot(size, beside, row), on_x = z_other;
    count_steps(task, course);
    for (uint64_t t = 1;; t++) {
        const struct kf_place *place = &places[point];
        const double *here = row;
        beside = row_of(task, course->estimator.sample[1].point); /* of another rank it does not stay for ever */
        double *remembered = course->table ? course->table + point : NULL, on[4];
        if (t < course->count) {
            point = kf_sampler_next(task);
            row = row_of(task, point);
            kernels->dots(size, row, x, m, here, beside, on);
            on_x = kernels->dot(size, beside, x);
        }
        double first =
            -course->step * samples[0].scale * find_change(objective, place, z, remembered, samples[0].renew);
        double second = -course->step * samples[1].scale *
                        find_change(objective, other, z_other, samples[1].remembered, samples[1].renew);
        kernels->advance_both(size, keep, drift, m, first, here, second, beside, x);
        if (t == course->count)
            return;
        z = keep * on[0] + drift * on[1] + first * on[2] + second * on[3];
        z_other = keep * on_x + drift * on_m + first * on_row + second * on_self;
        on_row = on[3];
    }
}

const struct kf_step_path kf_stride_path = {
    .name = "full rows, many steps",
    .estimators = "one sample, drawn",
    .iterates = "dense in the whole space, one output without a free intercept, all rows cover all of x",
    .fits_course = stride_fits,
    .course = stride,
};

const struct kf_step_path kf_stride_both_path = {
    .name = "full rows, many steps with the same second sample",
    .estimators = "two samples, of which one is drawn; neither joins the drift",
    .iterates = "dense in the whole space, one output without a free intercept, all rows cover all of x",
    .fits_course = stride_both_fits,
    .course = stride_both,
};
