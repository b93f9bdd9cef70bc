/* The reference of estimator.h, and the table of paths. */
#include "iterate/step.h"

#include <assert.h>
#include <string.h>

#include "iterate/scaled.h"

/* Those for one step, in the order of preference, of which one fits always; and those for many. */
#define STEPS(ROW) ROW(kf_scaled_path) ROW(kf_whole_path) ROW(kf_plain_path)
#define COURSES(ROW) ROW(kf_stride_path) ROW(kf_stride_both_path)

#define ADDRESS(path) &path,
static const struct kf_step_path *const paths[] = {STEPS(ADDRESS) COURSES(ADDRESS)};
#define PATHS (sizeof paths / sizeof paths[0])

const struct kf_step_path *kf_step_path_entry(size_t k)
{
    return k < PATHS ? paths[k] : NULL;
}

/* A network's gradient and the remembered one are two terms. One that is renewed is put aside first. */
static size_t network_terms(struct kf_task *task, const struct kf_view *x, const struct kf_estimator *estimator,
                            struct kf_term *terms)
{
    struct kf_objective *objective = &task->problem.objective;
    size_t bytes = objective->type->factor_count(objective) * sizeof(double), made = 0;
    for (size_t k = 0; k < estimator->count; k++) {
        const struct kf_sample *sample = &estimator->sample[k];
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

size_t kf_step_terms(struct kf_task *task, const struct kf_view *x, const struct kf_estimator *estimator,
                     struct kf_term *terms)
{
    struct kf_objective *objective = &task->problem.objective;
    assert(estimator->count <= KF_SAMPLES_MOST);
    if (objective->hidden)
        return network_terms(task, x, estimator, terms);
    bool single = kf_is_single(objective);
    size_t each = single ? 1 : objective->type->factor_count(objective);
    for (size_t k = 0; k < estimator->count; k++) {
        const struct kf_sample *sample = &estimator->sample[k];
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
    return estimator->count;
}

/* x - step * (2 lambda x + drift_scale*m), but for the free coordinates, which are not regularised. */
static void shrink(struct kf_task *task, double step, double drift_scale)
{
    size_t free = task->problem.objective.free, rest = kf_size(&task->problem) - free;
    double *x = task->iterate.x, *drift = task->iterate.drift, keep = 1 - 2 * task->problem.objective.lambda * step;
    if (drift_scale != 0) {
        kf_add(free, -step * drift_scale, drift, x);
        kf_blend(rest, keep, x + free, -step * drift_scale, drift + free);
    } else {
        kf_scale(rest, keep, x + free);
    }
}

static void plain_along(struct kf_task *task, double step, double drift_scale, const struct kf_term *terms,
                        size_t count)
{
    const struct kf_objective *objective = &task->problem.objective;
    struct kf_iterate *iterate = &task->iterate;
    assert(drift_scale == 0 || iterate->drift);
    if (iterate->needs & KF_NEEDS_BEFORE)
        kf_copy(&task->problem, iterate->before_x, iterate->x);
    shrink(task, step, drift_scale);
    for (size_t k = 0; k < count; k++) {
        objective->type->add(objective, -step * terms[k].scale, terms[k].point, terms[k].factors, iterate->x);
        if (terms[k].drift != 0)
            objective->type->add(objective, terms[k].drift, terms[k].point, terms[k].factors, iterate->drift);
    }
    kf_project(&task->problem, iterate->x);
}

void kf_step_along(struct kf_task *task, double step, double drift_scale, const struct kf_term *terms, size_t count)
{
    assert(count <= KF_TERMS_MOST && (drift_scale == 0 || task->iterate.needs & KF_NEEDS_DRIFT));
    task->stage.steps++;
    (task->iterate.scaled ? kf_scaled_step : plain_along)(task, step, drift_scale, terms, count);
    kf_iterate_check(task);
}

/* The formula with its terms: on the dense iterate it is the reference. */
static void step_by_terms(struct kf_task *task, double step, const struct kf_estimator *estimator)
{
    struct kf_term terms[KF_TERMS_MOST];
    size_t made = kf_step_terms(task, &task->iterate.view, estimator, terms);
    kf_sampler_refill(task); /* while the slopes are on their way */
    kf_step_along(task, step, estimator->drift_scale, terms, made);
}

const struct kf_step_path kf_plain_path = {
    .name = "plain",
    .estimators = "all",
    .iterates = "dense: any rows, any domain",
    .step = step_by_terms,
};

/* scaled.c has what differs. */
const struct kf_step_path kf_scaled_path = {
    .name = "scaled",
    .estimators = "all",
    .iterates = "scaled: the whole space or a ball",
    .scaled = true,
    .step = step_by_terms,
};

/* NULL: they are made one by one. */
static const struct kf_step_path *path_of_course(const struct kf_task *task, const struct kf_course *course)
{
    for (size_t k = 0; k < PATHS; k++)
        if (paths[k]->course && paths[k]->scaled == task->iterate.scaled && paths[k]->fits_course(task, course))
            return paths[k];
    return NULL;
}

/* Row by row of the table, and not by a loop: the compiler sees the functions, of which some are short. */
#define TRY(path)                                                                                                      \
    if ((path).scaled == task->iterate.scaled && (!(path).fits || (path).fits(task, estimator))) {                     \
        (path).step(task, step, estimator);                                                                            \
        return;                                                                                                        \
    }

void kf_step(struct kf_task *task, double step, const struct kf_estimator *estimator)
{
    STEPS(TRY)
    assert(!"no path fits");
}

/* What makes the single steps of a course: where a path is known to fit all of them, none has to ask. */
static kf_stepper *stepper_of(const struct kf_task *task, const struct kf_course *course)
{
    for (size_t k = 0; k < PATHS; k++) {
        const struct kf_step_path *path = paths[k];
        if (path->step && path->scaled == task->iterate.scaled)
            return !path->fits || path->fits_course(task, course) ? path->step : kf_step;
    }
    return kf_step;
}

void kf_steps(struct kf_task *task, const struct kf_course *course)
{
    size_t each = task->problem.objective.type->factor_count(&task->problem.objective);
    const struct kf_step_path *path = path_of_course(task, course);
    assert(course->estimator.count > 0);
    kf_sampler_start(task, course->bound, course->count, course->table);
    if (path) {
        path->course(task, course);
        return;
    }
    struct kf_estimator estimator = course->estimator;
    kf_stepper *step = stepper_of(task, course);
    for (uint64_t t = 0; t < course->count; t++) {
        size_t drawn = kf_sampler_next(task);
        kf_estimate_at(&estimator, drawn, course->table ? course->table + drawn * each : NULL);
        step(task, course->step, &estimator);
    }
}

void kf_steps_anchored(struct kf_task *task, const double *snapshot, double step, uint64_t count)
{
    struct kf_objective *objective = &task->problem.objective;
    size_t i = task->problem.points.count;
    double *then = task->vectors.factors[KF_SAMPLES_MOST];
    struct kf_view there = kf_dense_view(snapshot);
    struct kf_course course = {step, kf_estimate_anchored(i, kf_inverse_weight(objective)), i, count, NULL};
    kf_stepper *stepper = stepper_of(task, &course);
    kf_sampler_start(task, i, count, NULL);
    for (uint64_t t = 0; t < count; t++) {
        kf_estimate_at(&course.estimator, kf_sampler_next(task), then);
        kf_factors(objective, &there, course.estimator.sample[0].point, then);
        stepper(task, step, &course.estimator);
    }
}
