/* Every path of steps (iterate/step.h) against the reference, from the same seed: the formula of estimator.h on the plain dense iterate.
 * The reference itself is held to the formula in the test's own words. */
#include <string.h>

#include "iterate/step.h"
#include "kernels/kernels.h"
#include "support.h"

#define POINTS 40
#define STEPS 120

/* Estimators, as the methods that use them begin a stage. */
enum { PLAIN, ANCHORED, BY_TABLE, CONTINUAL, ESTIMATORS };
static const char *const called[ESTIMATORS] = {"plain", "anchored", "by table", "continual"};

static struct kf_estimator make_estimator(const struct kf_problem *problem, int kind, size_t bound)
{
    double mean = kf_inverse_weight(&problem->objective);
    switch (kind) {
    case PLAIN:
        return kf_estimate_plainly(bound, mean);
    case ANCHORED:
        return kf_estimate_anchored(bound, mean);
    case BY_TABLE:
        return kf_estimate_by_table(bound, mean);
    default:
        return kf_estimate_continual(bound, mean);
    }
}

/* A fit whose iterate has come some way, with gradients remembered where it stood. */
struct walker {
    keepfit_fit *fit;
    struct kf_task *task;
    double *table;
    size_t each;
    struct kf_course course;
};

static struct walker walker_make(const struct cloud *cloud, const char *options, const char *iterate, int kind)
{
    char text[300];
    snprintf(text, sizeof text, "%s iterate=%s method=csvrg inner=3", options, iterate);
    struct walker walker = {.fit = fit_from(text)};
    struct kf_task *task = walker.task = &walker.fit->task;
    push_range(walker.fit, cloud, 0, cloud->count);
    size_t bound = cloud->count - (kind == CONTINUAL);
    walker.each = task->problem.objective.type->factor_count(&task->problem.objective);
    walker.table = calloc(cloud->count * walker.each, sizeof *walker.table);
    TAP_NEED(walker.table);
    kf_drift_recompute(task, bound, walker.table);
    walker.course = (struct kf_course){.step = 0.3 / kf_smoothness(&task->problem.objective),
                                       .estimator = make_estimator(&task->problem, kind, bound),
                                       .bound = bound,
                                       .count = STEPS,
                                       .table = kind == PLAIN ? NULL : walker.table};
    if (task->problem.objective.hidden)
        walker.course.step = 0.01;
    if (kind == PLAIN)
        kf_drift_recompute(task, 0, NULL);
    kf_random_seed(&task->stage.random, 77);
    return walker;
}

static void walker_free(struct walker *walker)
{
    keepfit_fit_free(walker->fit);
    free(walker->table);
}

static struct kf_estimator next_estimator(const struct walker *walker)
{
    struct kf_estimator estimator = walker->course.estimator;
    size_t drawn = kf_sampler_next(walker->task);
    double *remembered = walker->course.table ? walker->course.table + drawn * walker->each : NULL;
    kf_estimate_at(&estimator, drawn, remembered);
    return estimator;
}

/* All steps by this path. False: it does not fit. */
static bool walk(struct walker *walker, const struct kf_step_path *path)
{
    struct kf_task *task = walker->task;
    const struct kf_course *course = &walker->course;
    if (path->scaled != task->iterate.scaled || (path->course && !path->fits_course(task, course)))
        return false;
    if (path->course != kf_steps) /* which does it */
        kf_sampler_start(task, course->bound, course->count, course->table);
    if (path->course) {
        path->course(task, course);
        return true;
    }
    for (uint64_t t = 0; t < course->count; t++) {
        struct kf_estimator estimator = next_estimator(walker);
        if (path->fits && !path->fits(task, &estimator))
            return false;
        path->step(task, course->step, &estimator);
    }
    return true;
}

/* x, m and what is remembered. */
static double apart(struct walker *a, struct walker *b)
{
    size_t size = kf_size(&a->task->problem);
    double of_a[400], of_b[400];
    TAP_NEED(size <= 400 && size == kf_size(&b->task->problem));
    double most = largest_difference(size, kf_read(a->task), kf_read(b->task));
    kf_drift_read(a->task, of_a);
    kf_drift_read(b->task, of_b);
    most = fmax(most, largest_difference(size, of_a, of_b));
    most = fmax(most, largest_difference(POINTS * a->each, a->table, b->table));
    const struct kf_stage *of_stage = &a->task->stage, *other = &b->task->stage;
    bool same = a->task->problem.objective.fo == b->task->problem.objective.fo && of_stage->steps == other->steps &&
                memcmp(&of_stage->random, &other->random, sizeof other->random) == 0;
    return same ? most : INFINITY;
}

/* How far the path's walks are from the reference's. NaN: it fits nowhere here. */
static double against_reference(const struct cloud *cloud, const char *options, int kind,
                                const struct kf_step_path *path)
{
    struct walker reference = walker_make(cloud, options, "dense", kind);
    struct walker other = walker_make(cloud, options, path->scaled ? "scaled" : "dense", kind);
    double far = NAN;
    if (walk(&other, path)) {
        TAP_NEED(walk(&reference, &kf_plain_path));
        far = apart(&other, &reference);
    }
    walker_free(&reference);
    walker_free(&other);
    return far;
}

static const char *const settings[] = {"lambda=0.02",
                                       "lambda=0",
                                       "lambda=0.02 domain=ball:0.6",
                                       "lambda=0.02 domain=box:-0.1:0.2",
                                       "lambda=0.02 bias=1",
                                       "lambda=0.02 intercept=true"};
#define SETTINGS (sizeof settings / sizeof settings[0])

static bool is_allowed(const char *loss, const char *setting, const struct kf_step_path *path)
{
    bool network = strncmp(loss, "network", 7) == 0;
    return !(network && (strstr(setting, "intercept") || strstr(setting, "ball"))) &&
           !(path->scaled && strstr(setting, "box"));
}

/* The path on all problems, with one estimator: how many there were where it fits, and how far it was from the reference. */
static void follow(struct tap *tap, const struct kf_step_path *path, int kind, size_t *walks)
{
    double worst = 0;
    size_t made = 0;
    for (size_t l = 0; linear_loss(l) || (l > 0 && linear_loss(l - 1)); l++)
        for (size_t s = 0; s < SETTINGS; s++)
            for (int sparse = 0; sparse < 2; sparse++) {
                const char *loss = linear_loss(l) ? linear_loss(l) : "network:3";
                char options[200];
                if (!is_allowed(loss, settings[s], path))
                    continue;
                snprintf(options, sizeof options, "loss=%s %s", loss, settings[s]);
                struct cloud *cloud = cloud_make(loss, POINTS, 7, sparse, s % 2, 300 + l);
                double far = against_reference(cloud, options, kind, path);
                made += !isnan(far);
                worst = fmax(worst, far);
                free(cloud);
            }
    *walks += made;
    if (made)
        tap_check(tap, worst <= 1e-11, "%s, %s: as the reference on %zu problems (%.1e)", path->name, called[kind],
                  made, worst);
}

static bool always(const struct kf_task *task, const struct kf_course *course)
{
    return task && course;
}

/* As methods make them: whatever path that takes. */
static const struct kf_step_path chosen[] = {
    {.name = "as chosen, dense", .fits_course = always, .course = kf_steps},
    {.name = "as chosen, scaled", .scaled = true, .fits_course = always, .course = kf_steps},
};

static void test_choice(struct tap *tap)
{
    size_t walks = 0;
    for (size_t k = 0; k < 2; k++)
        for (int kind = 0; kind < ESTIMATORS; kind++)
            follow(tap, &chosen[k], kind, &walks);
}

static void test_paths(struct tap *tap)
{
    const struct kf_step_path *path;
    for (size_t k = 0; (path = kf_step_path_entry(k)); k++) {
        size_t walks = 0;
        if (path == &kf_plain_path)
            continue;
        for (int kind = 0; kind < ESTIMATORS; kind++)
            follow(tap, path, kind, &walks);
        tap_check(tap, walks >= 10, "%s: is tried (%zu walks)", path->name, walks);
    }
}

/* y += scale * the gradient that the factors stand for */
static void add(const struct kf_task *task, double scale, size_t point, const double *factors, double *y)
{
    task->problem.objective.type->add(&task->problem.objective, scale, point, factors, y);
}

/* One step in the words of the head of estimator.h, all vectors written out. */
static void step_by_hand(const struct walker *walker, const struct kf_estimator *estimator, double *x, double *m,
                         double *table)
{
    struct kf_task *task = walker->task;
    size_t size = kf_size(&task->problem), free = task->problem.objective.free;
    double e[400], change[KF_SAMPLES_MOST][400], now[400];
    struct kf_view here = kf_dense_view(x);
    for (size_t k = 0; k < size; k++)
        e[k] = (k < free ? 0 : 2 * task->problem.objective.lambda * x[k]) + estimator->drift_scale * m[k];
    for (size_t k = 0; k < estimator->count; k++) {
        const struct kf_sample *sample = &estimator->sample[k];
        double *then = sample->remembered ? table + sample->point * walker->each : NULL;
        memset(change[k], 0, sizeof change[k]);
        kf_factors(&task->problem.objective, &here, sample->point, now);
        add(task, 1, sample->point, now, change[k]);
        if (then)
            add(task, -1, sample->point, then, change[k]);
        if (then && sample->renew)
            memcpy(then, now, walker->each * sizeof *now);
        for (size_t c = 0; c < size; c++)
            e[c] += sample->scale * change[k][c];
    }
    for (size_t c = 0; c < size; c++) {
        x[c] -= walker->course.step * e[c];
        for (size_t k = 0; k < estimator->count; k++)
            m[c] += estimator->sample[k].drift * change[k][c];
    }
    kf_project(&task->problem, x);
}

/* The reference and the formula, written out, along a walk. */
static void test_reference(struct tap *tap, const char *loss, const char *setting, int kind)
{
    char options[200];
    snprintf(options, sizeof options, "loss=%s %s", loss, setting);
    struct cloud *cloud = cloud_make(loss, POINTS, 7, true, true, 9);
    struct walker walker = walker_make(cloud, options, "dense", kind);
    struct kf_task *task = walker.task;
    size_t size = kf_size(&task->problem), numbers = POINTS * walker.each;
    double x[400], m[400], own[400], *table = calloc(numbers, sizeof *table);
    TAP_NEED(table && size <= 400);
    memcpy(x, kf_read(task), size * sizeof *x);
    memcpy(table, walker.table, numbers * sizeof *table);
    kf_drift_read(task, m);
    kf_sampler_start(task, walker.course.bound, STEPS, NULL);
    for (size_t t = 0; t < STEPS; t++) {
        struct kf_estimator estimator = next_estimator(&walker);
        step_by_hand(&walker, &estimator, x, m, table);
        kf_plain_path.step(task, walker.course.step, &estimator);
    }
    kf_drift_read(task, own);
    double far = fmax(largest_difference(size, x, kf_read(task)), largest_difference(size, m, own));
    far = fmax(far, largest_difference(numbers, table, walker.table));
    tap_check(tap, far <= 1e-11, "the reference is the formula: %s, %s (%.1e)", options, called[kind], far);
    walker_free(&walker);
    free(table);
    free(cloud);
}

int main(void)
{
    struct tap tap = {0};
    static const char *const losses[] = {"logistic", "softmax", "network:3"};
    for (int kind = 0; kind < ESTIMATORS; kind++)
        for (size_t l = 0; l < sizeof losses / sizeof losses[0]; l++)
            for (size_t s = 0; s < SETTINGS; s++)
                if (is_allowed(losses[l], settings[s], &kf_plain_path))
                    test_reference(&tap, losses[l], settings[s], kind);
    test_paths(&tap);
    test_choice(&tap);
    return tap_end(&tap);
}
