/* Points that leave: a window, and removal by index and by arrival. What remains is all that counts: the model is as good for
 * it as if the others had never come, what methods track equals what they would compute anew, and memory is given back. */
#include <string.h>

#include "method/csvrg.h"
#include "support.h"

/* The bounds at the current stage hold: not below the gap, and not above the target. */
static bool is_kept(keepfit_fit *fit)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_measurement measured = {.struct_size = sizeof measured};
    keepfit_fit_report(fit, &report);
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK);
    return report.bound >= measured.gap - 1e-12 && report.bound <= report.target;
}

static void test_window(struct tap *tap, const char *method, const char *loss, const char *extra)
{
    struct cloud *cloud = cloud_make(loss, 300, 12, true, true, 11);
    char text[300];
    snprintf(text, sizeof text, "loss=%s method=%s epsilon=1e-3 window=60 %s", loss, method, extra);
    keepfit_fit *fit = fit_from(text);
    bool kept = true;
    for (size_t j = 0; j < cloud->count; j++) {
        push_range(fit, cloud, j, j + 1);
        kept &= is_kept(fit);
    }
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    tap_check(tap, kept && report.points == 60 && report.stage == 300 && report.missed == 0,
              "%s %s %s: a window of 60 points holds epsilon, proved, at all 300 stages", method, loss, extra);

    /* The same points alone have the same optimum. */
    keepfit_measurement windowed = {.struct_size = sizeof windowed}, alone = {.struct_size = sizeof alone};
    keepfit_options *options = options_from(text);
    keepfit_options_set(options, "method", "refit", NULL);
    keepfit_fit *other = NULL;
    TAP_NEED(keepfit_fit_create(options, &other, NULL) == KEEPFIT_OK);
    push_range(other, cloud, 240, 300);
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &windowed) == KEEPFIT_OK);
    TAP_NEED(keepfit_fit_measure(other, KEEPFIT_MEASURE_OPTIMUM, &alone) == KEEPFIT_OK);
    tap_check(tap, near(windowed.optimum, alone.optimum, 1e-10),
              "%s %s %s: what remains has the optimum of its points alone (%.1e apart)", method, loss, extra,
              fabs(windowed.optimum - alone.optimum));
    keepfit_options_free(options);
    keepfit_fit_free(other);
    keepfit_fit_free(fit);
    free(cloud);
}

/* So many coordinates that a Hessian is kept while points leave that it was made of, and steps are taken without a pass. */
static void test_wide_window(struct tap *tap, const char *task, uint64_t seeds)
{
    bool intercept = strstr(task, "intercept") != NULL;
    size_t below = 0, stages = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        size_t features = 33 + seed % 10, window = (intercept ? 2 : 6) * features + 5 + seed % 5 * 12;
        char text[300];
        snprintf(text, sizeof text, "%s method=quadratic lambda=%g epsilon=%g window=%zu", task,
                 0.002 * (double)(1 + seed % 7 * 5), seed % 2 ? 1e-3 : 1e-5, window);
        struct cloud *cloud = cloud_make(strstr(task, "squared") ? "squared" : "logistic", window + 3 * features,
                                         features, false, false, seed);
        keepfit_fit *fit = fit_from(text);
        for (size_t j = 0; j < cloud->count; j++) {
            keepfit_report report = {.struct_size = sizeof report};
            keepfit_measurement measured = {.struct_size = sizeof measured};
            push_range(fit, cloud, j, j + 1);
            keepfit_fit_report(fit, &report);
            if (j < window - 10 || j % 2)
                continue;
            TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_OPTIMUM, &measured) ==
                     KEEPFIT_OK);
            below += !(report.bound >= measured.gap - 1e-12 * fmax(1, measured.objective));
            stages++;
        }
        keepfit_fit_free(fit);
        free(cloud);
    }
    tap_check(tap, below == 0, "%s, a window and 33 to 42 features: the bound is not below the gap at %zu stages (%zu)",
              task, stages, below);
}

/* Points leave in any order, between pushes. */
static void test_removal(struct tap *tap, const char *method, const char *loss)
{
    struct cloud *cloud = cloud_make(loss, 200, 8, false, true, 23);
    char text[200];
    snprintf(text, sizeof text, "loss=%s method=%s lambda=0.02 epsilon=1e-4", loss, method);
    keepfit_fit *fit = fit_from(text);
    struct kf_random random;
    kf_random_seed(&random, 4);
    bool kept = true;
    for (size_t j = 0; j < cloud->count; j++) {
        push_range(fit, cloud, j, j + 1);
        while (fit->task.problem.points.count > 3 && kf_random_below(&random, 2)) {
            TAP_NEED(keepfit_fit_remove(fit, kf_random_below(&random, fit->task.problem.points.count)) == KEEPFIT_OK);
            kept &= is_kept(fit);
        }
        kept &= is_kept(fit);
    }
    tap_check(tap, kept, "%s %s: points leave in any order, epsilon is held and proved for those that remain", method,
              loss);
    keepfit_fit_free(fit);
    free(cloud);
}

/* Every method survives a window, and csvrg's tracked gradient stays the recomputed one. */
static void test_tracking(struct tap *tap)
{
    struct cloud *cloud = cloud_make("logistic", 200, 10, true, false, 31);
    keepfit_fit *fit = fit_from("loss=logistic method=csvrg lambda=0.01 window=40 alpha=0.5");
    double worst = 0, sum[64], tracked[64];
    for (size_t j = 0; j < cloud->count; j++) {
        push_range(fit, cloud, j, j + 1);
        struct kf_task *task = &fit->task;
        const struct kf_csvrg *csvrg = fit->running[0].state;
        if (task->problem.points.count < 2)
            continue;
        kf_drift_read(task, tracked);
        kf_gradient_sum(&task->problem.objective, csvrg->anchor, task->problem.points.count, sum, NULL,
                        task->vectors.factors[0]);
        for (size_t k = 0; k < kf_size(&task->problem); k++)
            worst = fmax(worst, fabs(sum[k] - tracked[k]));
    }
    tap_check(tap, worst < 1e-11, "csvrg: the tracked gradient equals the recomputed one in a window (%.1e)", worst);
    keepfit_fit_free(fit);
    for (size_t k = 1; kf_method_entry(k); k++) {
        char text[200];
        const char *method = kf_method_entry(k)->name,
                   *loss = kf_method_entry(k)->squared_only ? "squared" : "logistic";
        snprintf(text, sizeof text, "loss=%s method=%s lambda=0.01 window=40", loss, method);
        fit = fit_from(text);
        push_range(fit, cloud, 0, cloud->count);
        keepfit_measurement measured = {.struct_size = sizeof measured};
        TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_OPTIMUM, &measured) ==
                 KEEPFIT_OK);
        tap_check(tap, measured.gap < 0.7, "%s runs in a window (gap %.1e)", method, measured.gap);
        keepfit_fit_free(fit);
    }
    free(cloud);
}

static void test_names(struct tap *tap)
{
    struct cloud *cloud = cloud_make("squared", 50, 3, false, false, 2);
    keepfit_fit *fit = fit_from("loss=squared window=20");
    uint64_t index = 0;
    push_range(fit, cloud, 0, 30);
    bool right = !keepfit_fit_find(fit, 10, &index) && !keepfit_fit_find(fit, 31, &index) &&
                 keepfit_fit_find(fit, 11, &index) && index == 0 && keepfit_fit_find(fit, 30, &index) && index == 19;
    TAP_NEED(keepfit_fit_remove(fit, 5) == KEEPFIT_OK); /* arrival 16 */
    right &= !keepfit_fit_find(fit, 16, &index) && keepfit_fit_find(fit, 17, &index) && index == 5;
    push_range(fit, cloud, 30, 33);
    right &= keepfit_fit_find(fit, 33, &index) && index == 19 && keepfit_fit_find(fit, 15, &index) && index == 2;
    tap_check(tap, right, "points are found by their arrival, whatever has left");
    tap_check(tap, keepfit_fit_remove(fit, 20) == KEEPFIT_USAGE, "a point that is not there cannot be removed");
    while (fit->task.problem.points.count)
        TAP_NEED(keepfit_fit_remove(fit, 0) == KEEPFIT_OK);
    push_range(fit, cloud, 33, 50);
    tap_check(tap, is_kept(fit), "all points may leave, and others come");
    keepfit_fit_free(fit);
    free(cloud);
}

/* A window over a long stream needs the memory of its points only. */
static void test_memory(struct tap *tap, size_t rows)
{
    struct kf_points points = {0};
    double value[1000] = {1};
    bool right = true;
    for (size_t j = 0; j < rows; j++) {
        value[0] = (double)j;
        keepfit_point point = {{1000, NULL, value}, (double)j, 1, false};
        TAP_NEED(kf_points_append(&points, &point, NULL));
        if (points.count > 100)
            kf_points_remove(&points, j % 3 ? 0 : 50);
        right &= points.place[points.count - 1].value[0] == (double)j;
        for (size_t k = 1; k < points.count; k++)
            right &= points.place[k].value[0] == points.place[k].target &&
                     points.place[k - 1].target < points.place[k].target;
    }
    size_t capacity = points.place_capacity;
    tap_check(tap, right && points.entries == 100 * 1000 && capacity < 1000,
              "%zu rows through a window of 100: the right ones remain, in %zu places", rows, capacity);
    kf_points_free(&points);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    bool quick = count > 1 && strcmp(words[1], "quick") == 0;
    const char *loss;
    static const char *const extras[] = {"lambda=0.01", "lambda=0.01 domain=ball:0.5",
                                         "lambda=0.01 epsilon-kind=relative epsilon=0.05", "lambda-total=0.6"};
    for (size_t l = 0; (loss = linear_loss(l)); l++)
        for (size_t e = quick ? l % 4 : 0; e < (quick ? l % 4 + 1 : 4); e++) {
            test_window(&tap, "auto", loss, extras[e]);
            test_window(&tap, "table", loss, extras[e]);
        }
    for (size_t l = 0; (loss = linear_loss(l)); l++) {
        test_removal(&tap, "auto", loss);
        test_removal(&tap, "refit", loss);
        test_removal(&tap, "table", loss);
    }
    test_wide_window(&tap, "loss=logistic", quick ? 3 : 20);
    test_wide_window(&tap, "loss=logistic intercept=true", quick ? 2 : 10);
    test_wide_window(&tap, "loss=squared intercept=true", quick ? 2 : 10);
    test_tracking(&tap);
    test_names(&tap);
    test_memory(&tap, quick ? 1000 : 20000);
    return tap_end(&tap);
}
