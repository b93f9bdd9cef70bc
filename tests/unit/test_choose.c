/* auto's choice by measured work: it goes to the method that needs less, whichever it began with, holds epsilon at every stage
 * of its trials, and does the same again on the same data. */
#include <string.h>

#include "support.h"

#define WIDEST 150

/* Point j of a stream of two classes: features that have little to do with each other, which sampled steps find easy, or correlated
 * ones of very different size, which they find hard. */
static void draw_point(struct kf_random *random, bool easy, size_t features, double *values, keepfit_point *point)
{
    double last = kf_random_normal(random), score = 0;
    for (size_t e = 0; e < features; e++) {
        double fresh = kf_random_normal(random);
        last = easy ? fresh : 0.99 * last + 0.14 * fresh;
        values[e] = last * (easy ? 1 / sqrt((double)features) : pow(3, (double)(e % 5)));
        score += values[e] * (e % 3 ? 1 : -1);
    }
    *point = (keepfit_point){
        .row = {features, NULL, values}, .target = score + 0.3 * kf_random_normal(random) > 0 ? 1 : -1, .weight = 1};
}

struct run {
    keepfit_report report;
    char method[32], reason[200]; /* the report's belong to the fit */
    bool held, tried, measured;
    double objective;
};

static struct run run(const char *text, bool easy, size_t features, size_t points)
{
    struct run run = {.held = true};
    struct kf_random random;
    keepfit_measurement measured = {.struct_size = sizeof measured};
    keepfit_fit *fit = fit_from(text);
    kf_random_seed(&random, 6);
    for (size_t j = 0; j < points; j++) {
        double values[WIDEST];
        keepfit_point point;
        draw_point(&random, easy, features, values, &point);
        TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
        keepfit_fit_report(fit, &run.report);
        run.held &= run.report.bound <= run.report.target;
        run.tried |= fit->choice.trying;
        run.measured |= strstr(run.report.reason, "measured at stage") && strstr(run.report.reason, "quadratic") &&
                        strstr(run.report.reason, "table");
    }
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE, &measured) == KEEPFIT_OK);
    run.objective = measured.objective;
    snprintf(run.method, sizeof run.method, "%s", run.report.method);
    snprintf(run.reason, sizeof run.reason, "%s", run.report.reason);
    keepfit_fit_free(fit);
    return run;
}

static void test_choice(struct tap *tap, bool easy, size_t features, const char *options, const char *expected)
{
    struct run first = run(options, easy, features, 1500), second = run(options, easy, features, 1500);
    char data[60];
    snprintf(data, sizeof data, "%zu %s features", features, easy ? "easy" : "correlated");
    tap_check(tap, strcmp(first.method, expected) == 0, "%s: auto ends with %s (%s)", data, first.method, first.reason);
    tap_check(tap, first.tried && first.measured, "%s: both were measured", data);
    tap_check(tap, first.held && first.report.missed == 0, "%s: every stage is held, trials included", data);
    tap_check(tap,
              first.report.fo == second.report.fo && first.objective == second.objective &&
                  strcmp(first.reason, second.reason) == 0,
              "%s: a second run is the same to the bit", data);
}

/* Many coordinates, so the table is first; but a large block and a small epsilon would take it a thousand passes. */
static void test_hard_block(struct tap *tap)
{
    enum { ROWS = 600, FEATURES = 40, CLASSES = 8 };
    static double value[ROWS * FEATURES], target[ROWS];
    struct kf_random random;
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit *fit = fit_from("loss=softmax domain=ball:1e4 lambda=1e-6 epsilon=1e-12 threads=1");
    kf_random_seed(&random, 8);
    for (size_t k = 0; k < ROWS; k++) {
        for (size_t f = 0; f < FEATURES; f++)
            value[k * FEATURES + f] = (f ? 0.9 * value[k * FEATURES + f - 1] : 0) + 0.4 * kf_random_normal(&random);
        target[k] = (double)kf_random_below(&random, CLASSES);
    }
    keepfit_block block = {.count = ROWS, .features = FEATURES, .stride = FEATURES, .value = value, .target = target};
    TAP_NEED(keepfit_fit_extend(fit, &block, NULL) == KEEPFIT_OK);
    keepfit_fit_report(fit, &report);
    tap_check(tap, strcmp(report.method, "refit") == 0 && strstr(report.reason, "table had not met"),
              "a hard block: %s finishes what another began (%s)", report.method, report.reason);
    tap_check(tap, report.bound <= 1e-12 && report.missed == 0 && report.fo < 300 * ROWS,
              "a hard block: bound %g after %g passes", report.bound, (double)report.fo / ROWS);
    keepfit_fit_free(fit);
}

/* Few points whose rows have little: sampled steps cost what they have, the products of all rows far more, so the table stays alone. */
static void test_sparse_rows(struct tap *tap)
{
    enum { POINTS = 400, FEATURES = 3000, ENTRIES = 12 };
    struct kf_random random;
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit *fit = fit_from("loss=logistic lambda=1e-3 epsilon-kind=relative epsilon=1e-3 threads=1");
    bool tried = false;
    kf_random_seed(&random, 9);
    for (size_t j = 0; j < POINTS; j++) {
        uint32_t index[ENTRIES];
        double value[ENTRIES], score = 0;
        for (size_t e = 0; e < ENTRIES; e++) {
            size_t from = FEATURES / ENTRIES * e;
            index[e] = (uint32_t)(from + kf_random_below(&random, e ? FEATURES / ENTRIES : 4));
            value[e] = 0.3;
            score += index[e] % 3 ? 1 : -2;
        }
        keepfit_point point = {.row = {ENTRIES, index, value}, .target = score > 0 ? 1 : -1, .weight = 1};
        TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
        tried |= fit->choice.trying;
    }
    keepfit_fit_report(fit, &report);
    tap_check(tap, !tried && strcmp(report.method, "table") == 0 && report.missed == 0,
              "few points, sparse rows: %s alone (%s)", report.method, report.reason);
    keepfit_fit_free(fit);
}

int main(void)
{
    struct tap tap = {0};
    test_sparse_rows(&tap);
    test_choice(&tap, true, 20, "loss=hinge lambda=1e-2 epsilon=1e-5 threads=1", "table");
    test_choice(&tap, false, 20, "loss=logistic lambda=1e-3 epsilon=1e-4 threads=1", "quadratic");
    test_choice(&tap, false, 150, "loss=logistic lambda=1e-5 epsilon=1e-3 threads=1", "quadratic");
    test_hard_block(&tap);
    struct run ahead = run("loss=logistic lambda=1e-8 epsilon=1e-4 threads=1", false, 20, 1500);
    tap_check(&tap,
              strcmp(ahead.method, "quadratic") == 0 && !ahead.tried && strstr(ahead.reason, "table is not tried"),
              "a method whose proofs are far behind is not tried (%s)", ahead.reason);
    struct run asked = run("loss=logistic method=quadratic lambda=1e-2 epsilon=1e-3 threads=1", true, 20, 200);
    tap_check(&tap, strcmp(asked.method, "quadratic") == 0 && !asked.tried && !*asked.reason,
              "a method that was asked for stays");
    return tap_end(&tap);
}
