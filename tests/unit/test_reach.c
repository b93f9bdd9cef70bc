/* What the curvature's bound is made of: the reach in the mean K, the share c of the Hessian that is left where x has gone, and the bound
 * itself, beside true gaps. Streams of correlated numbers and of rare features have more than 32 coordinates, where the random problems of
 * test_guarantee do not reach; those of one to three features have Hessians whose points' shares add up, so that c has no room. Points
 * leave now and then.
 *
 *   test_reach [quick]
 */
#include <string.h>

#include "certificate/internal.h"
#include "kernels/kernels.h"
#include "hold/hold.h"
#include "support.h"

#define DIRECTIONS 20

struct findings {
    size_t stages, certified, shorter; /* K clearly below R */
    size_t finite;                     /* bounds */
    size_t reach, share, below, missed;
    size_t carried, beyond; /* stages with leverages of an older Hessian; points whose leverage is more than they say */
};

static void leave_out_zeros(struct cloud *cloud, size_t j)
{
    keepfit_row *row = &cloud->point[j].row;
    size_t count = 0;
    for (size_t k = 0; k < cloud->features; k++)
        if (cloud->value[j][k] != 0) {
            cloud->index[j][count] = (uint32_t)k;
            cloud->value[j][count++] = cloud->value[j][k];
        }
    row->index = cloud->index[j];
    row->count = count;
}

/* Rows whose neighbours are alike; or some of many features, each rarer than the one before; or few features, some of them far out. */
enum kind { ALIKE, RARE, FEW };
static const char *const kinds[] = {"neighbours alike", "rare features", "few features"};

static double draw_value(struct kf_random *random, enum kind kind, size_t k, double before)
{
    double normal = kf_random_normal(random), unit = kf_random_unit(random);
    if (kind == RARE)
        return unit * (double)(k + 2) < 1.5;
    if (kind == FEW)
        return normal * (unit < 0.1 ? 8 : 1);
    return k == 0 ? normal : 0.9 * before + 0.436 * normal;
}

static struct cloud *make_stream(enum kind kind, size_t count, size_t features, uint64_t seed)
{
    struct cloud *cloud = cloud_make("logistic", count, features, false, false, seed);
    struct kf_random random;
    kf_random_seed(&random, seed + 1000);
    for (size_t j = 0; j < count; j++) {
        double *value = cloud->value[j], score = 0;
        for (size_t k = 0; k < features; k++) {
            value[k] = draw_value(&random, kind, k, k ? value[k - 1] : 0);
            score += (k % 3 == 0 ? 1.5 : -0.7) * value[k];
        }
        if (kind == RARE)
            leave_out_zeros(cloud, j);
        cloud->point[j].target = score + 2 * kf_random_normal(&random) > 0 ? 1 : -1;
    }
    return cloud;
}

/* v'H v with these curvatures of the points over a weight, and the regulariser. */
static double along(const struct kf_problem *problem, size_t count, const double *curve, double weight, const double *v)
{
    size_t free = problem->objective.free, size = kf_size(problem);
    double sum = 2 * problem->objective.lambda * kf_square(size - free, v + free);
    for (size_t j = 0; j < count; j++) {
        double score = kf_score(problem, j, v);
        sum += curve[j] / weight * score * score;
    }
    return sum;
}

/* Any direction, a coordinate's, or the one in which a present point's score moves most, first of all that of point `first`. All points that
 * the Hessian was made of may have left. */
static void draw_direction(struct kf_random *random, const struct kf_hold *hold, const struct kf_problem *problem,
                           int kind, size_t first, double *v)
{
    size_t size = kf_size(problem);
    double *bent;
    if (kind % 3 == 0) {
        size_t j = kind == 0 ? first : kf_random_below(random, problem->points.count);
        keepfit_row row = kf_points_row(&problem->points, j);
        kf_dense_hessian.bend(&hold->certificate.curvature.hessian, problem->objective.kernels, &row, &bent);
        memcpy(v, bent, size * sizeof *v);
        return;
    }
    size_t only = kf_random_below(random, size);
    for (size_t k = 0; k < size; k++)
        v[k] = kind % 3 == 1 ? k == only : kf_random_normal(random);
}

/* No leverage is more than what is known of it says (Lemma 12), of whatever Hessian that is. */
static void look_at_leverages(const struct kf_problem *problem, const struct kf_curvature *curvature,
                              struct findings *found)
{
    const struct kf_leverages *leverages = &curvature->leverages;
    found->carried += leverages->inflation > 1 + 1e-6;
    for (size_t j = 0; j < leverages->known; j++)
        found->beyond += leverages->of[j] >= 0 &&
                         kf_leverage(curvature, problem, j) > leverages->of[j] * leverages->inflation * (1 + 1e-9);
}

/* sum k_j R_j (a_j.v)^2/W0 <= K v'H v, and the Hessian at x is at least c H. */
static void look_at_hessian(struct kf_random *random, keepfit_fit *fit, struct findings *found)
{
    struct kf_task *task = &fit->task;
    const struct kf_hold *hold = fit->running[fit->running_count - 1].state;
    const struct kf_curvature *curvature = &hold->certificate.curvature;
    double inside[POINTS_MOST], stretched[POINTS_MOST], now[POINTS_MOST], v[FEATURES_MOST];
    struct kf_view view = kf_dense_view(task->iterate.x);
    if (!kf_is_certified(curvature) || curvature->points == 0) /* all that were in it have left */
        return;
    found->certified++;
    look_at_leverages(&task->problem, curvature, found);
    found->shorter += curvature->leverages.reach < 0.9 * sqrt(curvature->leverages.largest);
    for (size_t j = 0; j < curvature->points; j++) {
        inside[j] = curvature->leverages.of[j] >= 0 ? hold->certificate.curvature.curves.of[j] : 0;
        stretched[j] = inside[j] * sqrt(kf_leverage(curvature, &task->problem, j));
    }
    for (size_t j = 0; j < task->problem.points.count; j++)
        task->problem.objective.type->curve(&task->problem.objective, &view, j, &now[j]);
    size_t fallen = 0; /* the point whose curvature has become smallest */
    for (size_t j = 0; j < curvature->points; j++)
        if (inside[j] * now[fallen] > inside[fallen] * now[j])
            fallen = j;
    double c = kf_curvature_shrinkage(curvature, &task->problem, curvature->since.stretch);
    for (int kind = 0; kind < DIRECTIONS; kind++) {
        draw_direction(random, hold, &task->problem, kind, fallen, v);
        double whole = curvature->since.lost > 0 ? kf_curvature_length(curvature, v) : 0;
        double of = curvature->since.lost > 0 ? whole * whole
                                              : along(&task->problem, curvature->points, inside, curvature->weight, v);
        double ridge = along(&task->problem, 0, NULL, 1, v);
        double far = along(&task->problem, curvature->points, stretched, curvature->weight, v) - ridge;
        found->reach += !(far <= curvature->leverages.reach * of * (1 + 1e-9));
        found->share += !(along(&task->problem, task->problem.points.count, now, task->problem.objective.weight_total,
                                v) >= c * of * (1 - 1e-9));
    }
}

static void look_at_stage(struct kf_random *random, keepfit_fit *fit, struct findings *found)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_measurement measured = {.struct_size = sizeof measured};
    keepfit_fit_report(fit, &report);
    look_at_hessian(random, fit, found);
    found->stages++;
    found->finite += isfinite(report.bound);
    found->missed += !(report.bound <= report.target);
    if (found->stages % 3)
        return;
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK);
    found->below += !(report.bound >= measured.gap - 1e-12 * fmax(1, measured.objective));
}

static void test_stream(struct tap *tap, enum kind kind, const char *options, int streams)
{
    struct findings found = {0};
    struct kf_random random;
    bool limited = strstr(options, "budget") != NULL; /* then R counts, and stages may be missed */
    kf_random_seed(&random, 9);
    for (uint64_t seed = 1; seed <= (uint64_t)streams; seed++) {
        size_t features = kind == FEW ? 1 + seed % 3 : 33 + seed % 8, count = kind == FEW ? 150 : 10 * features;
        size_t leaving = seed % 3 == 0 ? 12 : 0, first = kind == FEW ? 10 : 6 * features - 10;
        char text[200];
        snprintf(text, sizeof text, "loss=logistic method=quadratic epsilon-kind=relative lambda=%g epsilon=%g%s",
                 pow(10, -4 + (double)(seed % 4) / 2), pow(10, -1.5 - (double)(seed % 5) / 2), options);
        struct cloud *cloud = make_stream(kind, count, features, seed);
        keepfit_fit *fit = fit_from(text);
        for (size_t j = 0; j < count; j++) {
            push_range(fit, cloud, j, j + 1);
            if (leaving && j % leaving == leaving - 1)
                TAP_NEED(keepfit_fit_remove(fit, kf_random_below(&random, fit->task.problem.points.count)) ==
                         KEEPFIT_OK);
            if (j >= first)
                look_at_stage(&random, fit, &found);
        }
        keepfit_fit_free(fit);
        free(cloud);
    }
    tap_check(tap, found.certified > found.stages / 2 && found.finite > found.stages / 2,
              "%s%s: at most of %zu stages there is a Hessian to look at (%zu), and a bound (%zu)", kinds[kind],
              options, found.stages, found.certified, found.finite);
    tap_check(tap, found.reach == 0 && (limited || found.shorter > (kind == FEW ? 0 : found.certified / 4)),
              "%s%s: scores reach no farther in the mean than K says (%zu of %zu Hessians, K below R in %zu)",
              kinds[kind], options, found.reach, found.certified, found.shorter);
    tap_check(tap, found.share == 0, "%s%s: the Hessian where x has gone is at least the share that is said (%zu)",
              kinds[kind], options, found.share);
    tap_check(tap, found.beyond == 0 && (limited || kind == RARE || found.carried > 0),
              "%s%s: no leverage is more than what an older Hessian says of it (%zu; %zu stages have such)",
              kinds[kind], options, found.beyond, found.carried);
    tap_check(tap, found.below == 0 && (limited || found.missed == 0),
              "%s%s: the bound is not below the gap and within epsilon at %zu stages (%zu, %zu)", kinds[kind], options,
              found.stages, found.below, found.missed);
}

/* A time of day and a line through large targets: curvatures fall by many powers of ten from step to step, and where they are below
 * rounding they are taken to be 0. Points come and go. */
static void test_steep(struct tap *tap, int streams)
{
    struct findings found = {0};
    for (uint64_t seed = 1; seed <= (uint64_t)streams; seed++) {
        struct cloud *cloud = cloud_make("logcosh", 30, 1, false, false, seed);
        struct kf_random random;
        kf_random_seed(&random, seed);
        for (size_t j = 0; j < cloud->count; j++) {
            cloud->value[j][0] = 1.7e9 + 30 * (double)j + kf_random_unit(&random);
            cloud->point[j].target = 1e3 * ((double)j - 15) + 500 * kf_random_normal(&random);
        }
        keepfit_fit *fit = fit_from("loss=logcosh method=quadratic lambda=1e-3 epsilon=1e-3");
        for (size_t j = 0; j < cloud->count; j++) {
            push_range(fit, cloud, j, j + 1);
            if (kf_random_unit(&random) < 0.3)
                TAP_NEED(keepfit_fit_remove(fit, kf_random_below(&random, fit->task.problem.points.count)) ==
                         KEEPFIT_OK);
            const struct kf_hold *hold = fit->running[0].state;
            const struct kf_curvature *curvature = &hold->certificate.curvature;
            found.certified += kf_is_certified(curvature);
            if (kf_is_certified(curvature))
                look_at_leverages(&fit->task.problem, curvature, &found);
            keepfit_report report = {.struct_size = sizeof report};
            keepfit_measurement measured = {.struct_size = sizeof measured};
            keepfit_fit_report(fit, &report);
            unsigned what = KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_OPTIMUM;
            if (fit->task.problem.points.count && keepfit_fit_measure(fit, what, &measured) == KEEPFIT_OK)
                found.below += !(report.bound >= measured.gap * (1 - 1e-6) - 1e-12 * measured.objective);
        }
        keepfit_fit_free(fit);
        free(cloud);
    }
    tap_check(
        tap, found.beyond == 0 && found.below == 0 && found.certified > (size_t)streams,
        "steep: no leverage is more than what an older Hessian says of it (%zu), no bound below the gap (%zu; %zu "
        "Hessians)",
        found.beyond, found.below, found.certified);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    int streams = count > 1 && strcmp(words[1], "quick") == 0 ? 4 : 60;
    for (int kind = ALIKE; kind <= FEW; kind++) {
        test_stream(&tap, (enum kind)kind, "", streams);
        test_stream(&tap, (enum kind)kind, " intercept=true", streams / 2);
        test_stream(&tap, (enum kind)kind, " loss=logcosh", streams / 2);
    }
    test_stream(&tap, FEW, " window=41 stage-budget=8", streams);
    test_steep(&tap, 5 * streams);
    return tap_end(&tap);
}
