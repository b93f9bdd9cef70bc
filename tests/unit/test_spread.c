/* Work that is spread over stages (--max-stage-work, --stage-budget): no stage computes more gradients than it may, what has
 * been gathered so far is what a computation from scratch gives, whatever has come and left meanwhile, and every stage's
 * bound is above its gap. */
#include <string.h>

#include "kernels/kernels.h"
#include "hold/hold.h"
#include "support.h"

struct seen {
    double sum, tried, gathered; /* largest relative errors */
    int tries, gathers, measures, stages;
    bool cheap, bounded;
};

/* |a - b| relative to the size of what was summed */
static double apart(size_t size, const double *a, const double *b)
{
    double most = 0, scale = 1;
    for (size_t k = 0; k < size; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
        scale = fmax(scale, fabs(b[k]));
    }
    return most / scale;
}

static double check_sum(struct kf_task *task, const double *x, size_t count, const double *tracked)
{
    double sum[FEATURES_MOST + 1], *factors = task->vectors.factors[1];
    struct kf_view view = kf_dense_view(x);
    memset(sum, 0, sizeof sum);
    for (size_t j = 0; j < count; j++) {
        kf_factors(&task->problem.objective, &view, j, factors);
        task->problem.objective.type->add(&task->problem.objective, 1, j, factors, sum);
    }
    return apart(kf_size(&task->problem), tracked, sum);
}

/* The lower triangle of sum w phi''(a.p) a a' over the points gathered so far, against its definition. */
static double check_gathered(const struct kf_problem *problem, const struct kf_curvature *curvature)
{
    const struct kf_objective *objective = &problem->objective;
    size_t size = curvature->hessian.size;
    static double matrix[FEATURES_MOST][FEATURES_MOST];
    double worst = 0;
    memset(matrix, 0, sizeof matrix);
    for (size_t j = 0; j < curvature->points; j++) {
        keepfit_row row = kf_points_row(&problem->points, j);
        double full[FEATURES_MOST] = {0}, score = 0, curve;
        for (size_t e = 0; e < row.count; e++)
            full[row.index ? row.index[e] : e] = row.value[e];
        for (size_t k = 0; k < size; k++)
            score += full[k] * curvature->anchor[k];
        objective->loss->curve(&score, 1, problem->points.place[j].target, objective->delta, &curve);
        for (size_t k = 0; k < size; k++)
            for (size_t l = k; l < size; l++)
                matrix[k][l] += problem->points.place[j].weight * curve * full[k] * full[l];
    }
    for (size_t k = 0; k < size; k++)
        worst = fmax(worst,
                     apart(size - k, curvature->hessian.matrix + k * curvature->hessian.capacity + k, &matrix[k][k]));
    return worst;
}

static void look_inside(keepfit_fit *fit, struct seen *seen)
{
    struct kf_task *task = &fit->task;
    struct kf_hold *hold = fit->running[fit->running_count - 1].state;
    const struct kf_spread *spread = &hold->spread;
    uint64_t counted = task->problem.objective.fo;
    size_t count = task->problem.points.count;
    seen->sum = fmax(seen->sum, check_sum(task, task->iterate.x, count, hold->certificate.sum));
    if (spread->job == KF_TRYING) {
        seen->tried = fmax(seen->tried, check_sum(task, spread->x, spread->done, spread->sum));
        seen->tries += spread->done > 0 && spread->done < count;
    }
    if (spread->job == KF_GATHERING) {
        seen->gathered = fmax(seen->gathered, check_gathered(&task->problem, &spread->curvature));
        seen->gathers += spread->curvature.points > 0 && spread->curvature.points < count;
    }
    seen->measures += spread->job == KF_MEASURING;
    task->problem.objective.fo = counted;
}

/* One push or removal has been made, after which `fo` gradients had been counted at `arrivals` points. */
static void judge(keepfit_fit *fit, double allowed, uint64_t fo, struct seen *seen)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_measurement measured = {.struct_size = sizeof measured};
    keepfit_fit_report(fit, &report);
    seen->stages++;
    seen->cheap &= (double)(report.fo - fo) <= allowed;
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK);
    seen->bounded &= report.bound >= measured.gap - 1e-12;
    look_inside(fit, seen);
}

static double allowance(double factor, uint64_t fo, uint64_t arrived)
{
    return factor * (arrived ? fmax((double)fo / (double)arrived, 1) : 1);
}

/* Points come, and some of them, with chance `leaving`, leave again from anywhere. */
static void test_laws(struct tap *tap, const char *method, const char *extra, double factor, double leaving)
{
    struct cloud *cloud = cloud_make("logistic", 400, 20, true, true, 5);
    struct seen seen = {.cheap = true, .bounded = true};
    struct kf_random random;
    char text[300];
    snprintf(text, sizeof text, "loss=logistic method=%s lambda=1e-3 threads=1 max-stage-work=%g %s", method, factor,
             extra);
    keepfit_fit *fit = fit_from(text);
    kf_random_seed(&random, 8);
    for (size_t j = 0; j < cloud->count; j++) {
        uint64_t fo = fit->task.problem.objective.fo;
        push_range(fit, cloud, j, j + 1);
        judge(fit, allowance(factor, fo, j), fo, &seen);
        if (fit->task.problem.points.count < 10 || kf_random_unit(&random) >= leaving)
            continue;
        fo = fit->task.problem.objective.fo;
        TAP_NEED(keepfit_fit_remove(fit, kf_random_below(&random, fit->task.problem.points.count)) == KEEPFIT_OK);
        judge(fit, allowance(factor, fo, j + 1), fo, &seen);
    }
    tap_check(tap, seen.cheap, "%s %s: no stage of %d costs more than %g times the mean", method, extra, seen.stages,
              factor);
    tap_check(tap, seen.bounded, "%s %s, %g times: the bound is above the gap at every stage", method, extra, factor);
    tap_check(tap, seen.sum < 1e-11 && seen.tried < 1e-11 && seen.gathered < 1e-11,
              "%s %s, %g times: what is held (%.0e), tried (%.0e) and gathered (%.0e) equals what is computed anew",
              method, extra, factor, seen.sum, seen.tried, seen.gathered);
    tap_check(tap, seen.tries && seen.gathers && seen.measures,
              "%s %s, %g times: steps (%d stages), Hessians (%d) and leverages (%d) were under way between stages",
              method, extra, factor, seen.tries, seen.gathers, seen.measures);
    keepfit_fit_free(fit);
    free(cloud);
}

/* The promise is kept again once early stages are past: what is spread arrives. */
static void test_arrival(struct tap *tap)
{
    struct cloud *cloud = cloud_make("logistic", 3000, 10, false, false, 3);
    keepfit_fit *fit = fit_from("loss=logistic lambda=1e-3 epsilon=1e-3 max-stage-work=10 threads=1");
    keepfit_report early = {.struct_size = sizeof early}, late = {.struct_size = sizeof late};
    push_range(fit, cloud, 0, 1000);
    keepfit_fit_report(fit, &early);
    push_range(fit, cloud, 1000, 3000);
    keepfit_fit_report(fit, &late);
    tap_check(tap, late.missed - early.missed <= 100, "epsilon is held from stage 1000 on but for %llu of 2000 stages",
              (unsigned long long)(late.missed - early.missed));
    tap_check(tap, strcmp(late.method, "quadratic") == 0, "auto is quadratic");
    keepfit_fit_free(fit);
    free(cloud);
}

int main(void)
{
    struct tap tap = {0};
    test_laws(&tap, "quadratic", "epsilon=1e-3 stage-budget=20", 4, 0);
    test_laws(&tap, "quadratic", "epsilon=1e-3 epsilon-kind=relative stage-budget=20", 8, 0.4);
    test_laws(&tap, "quadratic", "epsilon=1e-4 window=100 stage-budget=15", 4, 0.05);
    test_laws(&tap, "refit", "epsilon=1e-4 stage-budget=20", 6, 0.4);
    test_arrival(&tap);
    return tap_end(&tap);
}
