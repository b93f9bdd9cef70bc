/* What stages promise and what comes of it: each is proved, missed or unproved; none takes more work than is sane; none ends the
 * fit because of rounding. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Columns of these sizes, targets that fit the loss. */
static void push_scaled(keepfit_fit *fit, const char *loss, const double *scales, size_t features, size_t count,
                        uint64_t seed)
{
    struct cloud *cloud = cloud_make(loss, count, features, false, false, seed);
    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k < features; k++)
            cloud->value[j][k] *= scales[k];
    push_range(fit, cloud, 0, count);
    free(cloud);
}

static void push(keepfit_fit *fit, const double *values, size_t count, double target, double weight)
{
    keepfit_point point = {
        .row = {.count = count, .value = values}, .target = target, .weight = weight, .weightless = weight == 0};
    TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
}

/* ---- one of three ---- */

static bool is_one_of_three(const keepfit_report *before, const keepfit_report *now)
{
    bool promised = !isnan(now->target), proved = now->bound <= now->target, bounded = isfinite(now->bound);
    return now->proved - before->proved == (promised && proved) &&
           now->missed - before->missed == (promised && bounded && !proved) &&
           now->unproved - before->unproved == (promised && !bounded) && !isinf(now->bound) &&
           now->waiting - before->waiting <= now->unproved - before->unproved;
}

static void test_one_of_three(struct tap *tap, const char *loss, const char *options)
{
    char text[200];
    static const double scales[] = {1, 1e4, 1e-4, 1e8};
    snprintf(text, sizeof text, "loss=%s %s", loss, options);
    keepfit_fit *fit = fit_from(text);
    struct cloud *cloud = cloud_make(loss, 40, 4, false, true, 5);
    keepfit_report before = {0}, now = {0};
    int others = 0;
    for (size_t j = 0; j < 40; j++, before = now) {
        for (size_t k = 0; k < 4; k++)
            cloud->value[j][k] *= j < 20 ? 1 : scales[k];
        push_range(fit, cloud, j, j + 1);
        keepfit_fit_report(fit, &now);
        others += !is_one_of_three(&before, &now);
    }
    tap_check(tap, others == 0 && now.proved + now.missed + now.unproved == 40,
              "%s: a stage is proved (%d), missed (%d) or unproved (%d), never two of them", text, (int)now.proved,
              (int)now.missed, (int)now.unproved);
    keepfit_fit_free(fit);
    free(cloud);
}

/* Both classes are there and a budget allows no proof: this was neither missed nor unproved, or both. */
static void test_no_bound_with_both_classes(struct tap *tap)
{
    keepfit_fit *fit = fit_from("loss=logistic intercept=true epsilon=1e-9 stage-budget=3");
    struct cloud *cloud = cloud_make("logistic", 60, 5, false, false, 2);
    keepfit_report report = {.struct_size = sizeof report};
    push_range(fit, cloud, 0, 60);
    keepfit_fit_report(fit, &report);
    tap_check(tap, isnan(report.bound) && report.missed == 0 && report.unproved > report.waiting + 30,
              "a stage without a bound, with both classes, is unproved and does not wait (%d, %d)",
              (int)report.unproved, (int)report.waiting);
    keepfit_fit_free(fit);
    free(cloud);
}

static void test_estimates_prove_nothing(struct tap *tap)
{
    keepfit_fit *fit = fit_from("loss=logistic guarantee=estimate lambda=0.01");
    const char *reason;
    keepfit_report report = {.struct_size = sizeof report};
    push_scaled(fit, "logistic", (const double[]){1, 1, 1}, 3, 50, 3);
    keepfit_fit_report(fit, &report);
    keepfit_no_proof why = keepfit_fit_no_proof(fit, &reason);
    tap_check(tap, why == KEEPFIT_ESTIMATES && report.proved == 0 && report.missed + report.unproved == 50,
              "with estimates no stage is proved: %s", reason);
    keepfit_fit_free(fit);
}

static void test_why_nothing_is_proved(struct tap *tap)
{
    static const struct {
        const char *options;
        keepfit_no_proof why;
    } cases[] = {{"loss=logistic", KEEPFIT_PROVES},
                 {"loss=logistic lambda=0", KEEPFIT_NO_LAMBDA},
                 {"loss=logistic lambda=0 method=csvrg", KEEPFIT_NO_LAMBDA},
                 {"loss=network:3", KEEPFIT_NOT_CONVEX},
                 {"loss=logistic method=sgd", KEEPFIT_NO_PROMISE}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        keepfit_fit *fit = fit_from(cases[k].options);
        const char *reason;
        keepfit_no_proof why = keepfit_fit_no_proof(fit, &reason);
        tap_check(tap, why == cases[k].why && (*reason == 0) == (why == KEEPFIT_PROVES), "%s: '%s'", cases[k].options,
                  reason);
        keepfit_fit_free(fit);
    }
}

/* ---- waiting for a class ---- */

static void test_waiting(struct tap *tap, const char *loss)
{
    char text[100];
    snprintf(text, sizeof text, "loss=%s intercept=true window=4", loss);
    keepfit_fit *fit = fit_from(text);
    keepfit_report alone = {.struct_size = sizeof alone}, both = {.struct_size = sizeof both},
                   gone = {.struct_size = sizeof gone};
    double x = 0.5, y = -0.25;
    push(fit, &x, 1, 1, 1);
    push(fit, &y, 1, 1, 1);
    push(fit, &y, 1, 2, 0); /* weighs nothing */
    keepfit_fit_report(fit, &alone);
    push(fit, &y, 1, 2, 1);
    push(fit, &y, 1, 1, 1);
    keepfit_fit_report(fit, &both);
    for (int k = 0; k < 5; k++)
        push(fit, &x, 1, 1, 1);
    keepfit_fit_report(fit, &gone);
    tap_check(tap,
              alone.unproved == alone.waiting && both.waiting == alone.waiting && both.proved == alone.proved + 2 &&
                  both.missed == 0 && gone.waiting == both.waiting + 3 && gone.unproved == gone.waiting,
              "%s: stages wait while a class has no points of weight, or has lost them (%d, %d, %d)", loss,
              (int)alone.waiting, (int)both.waiting, (int)gone.waiting);
    keepfit_fit_free(fit);
}

/* ---- no death ---- */

static void test_weightless_point_leaves(struct tap *tap, const char *method, size_t window)
{
    char text[100];
    snprintf(text, sizeof text, "loss=squared method=%s window=%zu", method, window);
    keepfit_fit *fit = fit_from(text);
    double wide[40];
    keepfit_report report = {.struct_size = sizeof report};
    for (size_t k = 0; k < 40; k++)
        wide[k] = (double)k + 1;
    push(fit, wide, 1, 2, 0);
    push(fit, wide + 1, 1, 3, 1);
    push(fit, wide, 40, 1, 0); /* wider than anything that was summed */
    push(fit, wide, 40, 1, 0);
    push(fit, wide + 2, 1, 4, 1);
    push(fit, wide + 3, 1, 5, 1);
    push(fit, wide + 4, 1, 6, 1);
    keepfit_fit_report(fit, &report);
    tap_check(tap, report.bound <= report.target, "%s, window %zu: points of weight 0 leave", method, window);
    keepfit_fit_free(fit);
}

static void test_singular_factor(struct tap *tap)
{
    keepfit_fit *fit = fit_from("loss=squared method=exact");
    struct cloud *cloud = cloud_make("squared", 20, 2, false, false, 4);
    keepfit_measurement measured = {.struct_size = sizeof measured};
    push(fit, (const double[]){1e8, 3e8}, 2, 1, 1);
    keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE, &measured);
    push_range(fit, cloud, 0, 20);
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    tap_check(tap, measured.objective < 1e-6 && report.stage == 21,
              "a row 1e8,3e8, whose normal equations are singular in floating point, does not end the fit");
    keepfit_fit_free(fit);
    free(cloud);
}

/* ---- no more work than is sane ---- */

static void test_sane_work(struct tap *tap, const char *loss, const char *options, double fo_most)
{
    static const double scales[] = {1e-8, 1e-4, 1e3, 1e8};
    char text[200];
    snprintf(text, sizeof text, "loss=%s %s", loss, options);
    keepfit_fit *fit = fit_from(text);
    struct cloud *cloud = cloud_make(loss, 100, 4, false, false, 6);
    double most = 0, all = 0;
    for (size_t j = 0; j < 100; j++) {
        for (size_t k = 0; k < 4; k++)
            cloud->value[j][k] *= scales[k];
        push_range(fit, cloud, j, j + 1);
        most = fmax(most, kf_toil_done(&fit->task));
        all += kf_toil_done(&fit->task);
    }
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    bool honest = report.given_up > 0 && report.given_up <= report.missed + report.unproved;
    tap_check(tap, honest && most <= 1.5e8 && all <= 2e9 && (double)report.fo <= fo_most,
              "%s on unscaled columns: at most %.2g of work in a stage, %.2g in all, %llu FOs, %llu stages given up",
              text, most, all, (unsigned long long)report.fo, (unsigned long long)report.given_up);
    keepfit_fit_free(fit);
    free(cloud);
}

static void test_sane_data_is_not_given_up(struct tap *tap, const char *method)
{
    char text[200];
    snprintf(text, sizeof text, "loss=logistic method=%s lambda=1e-4 epsilon=1e-4", method);
    keepfit_fit *fit = fit_from(text);
    keepfit_report report = {.struct_size = sizeof report};
    push_scaled(fit, "logistic", (const double[]){1, 1, 1, 1, 1}, 5, 200, 7);
    keepfit_fit_report(fit, &report);
    tap_check(tap, report.given_up == 0 && report.proved == 200, "%s proves all of 200 stages of sane data", method);
    keepfit_fit_free(fit);
}

/* Patience is a part of the state: what goes on from a snapshot gives up the same stages. */
static void test_patience_is_kept(struct tap *tap)
{
    static const char options[] = "loss=logistic method=table lambda=1e-6 epsilon=1e-6";
    static const double scales[] = {1e-8, 1e-4, 1e3, 1e8};
    enum { FIRST = 20, ALL = 60 };
    keepfit_fit *one = fit_from(options), *other = fit_from(options);
    struct cloud *cloud = cloud_make("logistic", ALL, 4, false, false, 8);
    double rows[ALL][4], targets[ALL];
    const unsigned char *bytes;
    size_t count;
    for (size_t j = 0; j < ALL; j++) {
        targets[j] = cloud->point[j].target;
        for (size_t k = 0; k < 4; k++)
            rows[j][k] = cloud->value[j][k] *= scales[k];
    }
    push_range(one, cloud, 0, FIRST);
    TAP_NEED(keepfit_fit_snapshot(one, &bytes, &count) == KEEPFIT_OK);
    keepfit_block block = {.count = FIRST, .features = 4, .stride = 4, .value = rows[0], .target = targets};
    TAP_NEED(keepfit_fit_restore(other, &block, bytes, count) == KEEPFIT_OK);
    push_range(one, cloud, FIRST, ALL);
    push_range(other, cloud, FIRST, ALL);
    keepfit_report a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    keepfit_fit_report(one, &a);
    keepfit_fit_report(other, &b);
    tap_check(tap,
              a.given_up > 0 && a.fo == b.fo && a.given_up == b.given_up && a.bound == b.bound && a.proved == b.proved,
              "a fit that goes on from a snapshot gives up the same %d stages", (int)a.given_up);
    keepfit_fit_free(one);
    keepfit_fit_free(other);
    free(cloud);
}

/* ---- improvements and products ---- */

/* An improvement is a stage after which x is another. */
static void test_improvements(struct tap *tap, const char *options)
{
    enum { COUNT = 150, FEATURES = 12 };
    keepfit_fit *fit = fit_from(options);
    struct cloud *cloud =
        cloud_make(strstr(options, "softmax") ? "softmax" : "logistic", COUNT, FEATURES, false, false, 9);
    double before[FEATURES * 8] = {0};
    uint64_t moved = 0;
    keepfit_report report = {.struct_size = sizeof report};
    for (size_t j = 0; j < COUNT; j++) {
        push_range(fit, cloud, j, j + 1);
        size_t size;
        const double *x = keepfit_fit_iterate(fit, &size);
        TAP_NEED(size <= FEATURES * 8);
        moved += memcmp(before, x, size * sizeof *x) != 0;
        memcpy(before, x, size * sizeof *x);
    }
    keepfit_fit_report(fit, &report);
    tap_check(tap, report.improvements == moved && moved > 0 && moved < COUNT,
              "%s: improvements are the stages at which the model moved, %d and %d of %d", options,
              (int)report.improvements, (int)moved, COUNT);
    keepfit_fit_free(fit);
    free(cloud);
}

/* A block is solved by products, each with all of its points. */
static void test_products(struct tap *tap)
{
    enum { COUNT = 100, FEATURES = 50 };
    static const char options[] = "loss=softmax method=refit lambda=1e-3 epsilon=1e-6";
    keepfit_fit *fit = fit_from(options), *other = fit_from(options), *plain = fit_from("loss=logistic method=refit");
    struct cloud *cloud = cloud_make("softmax", COUNT, FEATURES, false, false, 10);
    struct cloud *two = cloud_make("logistic", COUNT, FEATURES, false, false, 10);
    double rows[COUNT][FEATURES], targets[COUNT];
    const unsigned char *bytes;
    size_t count;
    for (size_t j = 0; j < COUNT; j++) {
        targets[j] = cloud->point[j].target;
        memcpy(rows[j], cloud->value[j], sizeof rows[j]);
    }
    keepfit_block block = {
        .count = COUNT, .features = FEATURES, .stride = FEATURES, .value = rows[0], .target = targets};
    keepfit_report a = {.struct_size = sizeof a}, b = a, c = a;
    TAP_NEED(keepfit_fit_extend(fit, &block, NULL) == KEEPFIT_OK);
    TAP_NEED(keepfit_fit_snapshot(fit, &bytes, &count) == KEEPFIT_OK);
    TAP_NEED(keepfit_fit_restore(other, &block, bytes, count) == KEEPFIT_OK);
    push_range(plain, two, 0, COUNT);
    keepfit_fit_report(fit, &a);
    keepfit_fit_report(other, &b);
    keepfit_fit_report(plain, &c);
    tap_check(tap, a.products > 0 && a.products % COUNT == 0 && a.improvements == 1,
              "a block of %d points takes %d products, and one improvement", COUNT, (int)a.products);
    tap_check(tap, b.products == a.products && b.improvements == a.improvements, "both are in snapshots");
    tap_check(tap, c.products == 0 && c.improvements > 0, "two classes with a dense Hessian take no products");
    keepfit_fit_free(fit);
    keepfit_fit_free(other);
    keepfit_fit_free(plain);
    free(cloud);
    free(two);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    bool few = count > 1 && strcmp(words[1], "few") == 0, quick = few || (count > 1 && strcmp(words[1], "quick") == 0);
    size_t losses = few ? 1 : quick ? 2 : SIZE_MAX;
    const char *loss;
    static const char *const options[] = {"",
                                          "intercept=true",
                                          "intercept=true method=table",
                                          "method=refit domain=simplex",
                                          "domain=ball:1 stage-budget=9",
                                          "intercept=true stage-budget=4 epsilon=1e-9",
                                          "window=7 epsilon=1e-16"};
    for (size_t l = 0; l < losses && (loss = linear_loss(l)); l++)
        for (size_t k = 0; k < sizeof options / sizeof options[0]; k++)
            test_one_of_three(&tap, loss, options[k]);
    test_no_bound_with_both_classes(&tap);
    test_estimates_prove_nothing(&tap);
    test_why_nothing_is_proved(&tap);
    test_waiting(&tap, "logistic");
    test_waiting(&tap, "softmax");
    for (size_t window = 1; window <= 3; window++) {
        test_weightless_point_leaves(&tap, "exact", window);
        test_weightless_point_leaves(&tap, "refit", window);
        test_weightless_point_leaves(&tap, "table", window);
    }
    test_singular_factor(&tap);
    if (!few)
        test_sane_work(&tap, "softmax", "method=auto domain=simplex lambda=1e-4", 2e5);
    if (!quick) {
        test_sane_work(&tap, "logistic", "method=table lambda=1e-4", 1e8);
        test_sane_work(&tap, "hinge", "method=table lambda=1e-4", 1e8);
        test_patience_is_kept(&tap);
    }
    test_sane_data_is_not_given_up(&tap, "auto");
    test_improvements(&tap, "loss=logistic method=quadratic lambda=1e-3 epsilon=1e-3");
    if (!few) {
        test_sane_data_is_not_given_up(&tap, "table");
        test_sane_data_is_not_given_up(&tap, "refit");
        test_improvements(&tap, "loss=logistic method=refit lambda=1e-3 epsilon=1e-3 intercept=true");
        test_improvements(&tap, "loss=logistic method=table lambda=1e-2 epsilon=1e-2 iterate=dense");
        test_improvements(&tap, "loss=softmax method=refit lambda=1e-3 epsilon=1e-2");
    }
    test_products(&tap);
    return tap_end(&tap);
}
