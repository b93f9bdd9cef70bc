/* The fit as a whole: weights, refused points, bounds, measuring, user-written objectives, handles on threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <string.h>

#include "kernels/kernels.h"
#include "support.h"

/* A row of weight 2 counts as two equal rows, in the objective and in what the methods find. */
static void test_weights(struct tap *tap, const char *loss)
{
    char text[128];
    snprintf(text, sizeof text, "loss=%s method=refit lambda=0.05 epsilon=1e-10", loss);
    struct cloud *cloud = cloud_make(loss, 40, 4, false, false, 17);
    keepfit_fit *twice = fit_from(text), *weighted = fit_from(text);
    for (size_t j = 0; j < cloud->count; j++) {
        push_range(twice, cloud, j, j + 1);
        if (j % 3 == 0)
            push_range(twice, cloud, j, j + 1);
        cloud->point[j].weight = j % 3 == 0 ? 2 : 1;
        push_range(weighted, cloud, j, j + 1);
    }
    keepfit_measurement a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    TAP_NEED(keepfit_fit_measure(twice, KEEPFIT_MEASURE_OPTIMUM, &a) == KEEPFIT_OK);
    TAP_NEED(keepfit_fit_measure(weighted, KEEPFIT_MEASURE_OPTIMUM, &b) == KEEPFIT_OK);
    tap_check(tap, near(a.optimum, b.optimum, 1e-13) && near(a.objective, b.objective, 1e-9),
              "%s: weight 2 equals the row twice", loss);
    keepfit_fit_free(twice);
    keepfit_fit_free(weighted);
    free(cloud);
}

static void test_refusals(struct tap *tap)
{
    struct cloud *cloud = cloud_make("logistic", 30, 3, false, false, 37);
    keepfit_fit *fit = fit_from("loss=logistic method=csvrg lambda=0.1 max-features=10"),
                *clean = fit_from("loss=logistic method=csvrg lambda=0.1 max-features=10");
    double good[] = {1, 2, 3}, nan_value[] = {1, NAN, 3}, huge[] = {1e200, 1, 1}, large[] = {1e154, 1, 1};
    uint32_t descending[] = {2, 1, 3}, wide[] = {1, 2, 10}, repeated[] = {1, 1, 2};
    const struct {
        const char *what;
        keepfit_point point;
    } bad[] = {
        {"NaN value", {{3, NULL, nan_value}, 1, 1, false}},
        {"NaN target", {{3, NULL, good}, NAN, 1, false}},
        {"infinite target", {{3, NULL, good}, INFINITY, 1, false}},
        {"negative weight", {{3, NULL, good}, 1, -1, false}},
        {"NaN weight", {{3, NULL, good}, 1, NAN, false}},
        {"descending index", {{3, descending, good}, 1, 1, false}},
        {"repeated index", {{3, repeated, good}, 1, 1, false}},
        {"index beyond max-features", {{3, wide, good}, 1, 1, false}},
        {"third class", {{3, NULL, good}, 5, 1, false}},
        {"squares overflow", {{3, NULL, huge}, 1, 1, false}},
        {"squares that are finite, but not twice them", {{3, NULL, large}, 1, 1, false}},
        {"entries without values", {{3, NULL, NULL}, 1, 1, false}},
        {"weight left out of an initialiser", {.row = {3, NULL, good}, .target = 1}},
        {"weightless, with a weight", {{3, NULL, good}, 1, 2, true}},
    };
    for (size_t j = 0; j < cloud->count; j++) {
        push_range(fit, cloud, j, j + 1);
        push_range(clean, cloud, j, j + 1);
        for (size_t k = 0; k < sizeof bad / sizeof bad[0] && j > 15; k++) {
            keepfit_status status = keepfit_fit_push(fit, &bad[k].point);
            if (j == 20)
                tap_check(tap, status == KEEPFIT_DATA && *keepfit_fit_error(fit)->message, "%s is refused: %s",
                          bad[k].what, keepfit_fit_error(fit)->message);
        }
    }
    tap_check(tap, same_iterate(fit, clean), "refused points leave no trace");
    keepfit_fit_free(fit);
    keepfit_fit_free(clean);

    fit = fit_from("loss=squared method=sgd step=1e6 lambda=0.1 inner=200");
    keepfit_status status = KEEPFIT_OK;
    for (size_t j = 0; j < cloud->count && status == KEEPFIT_OK; j++)
        status = keepfit_fit_push(fit, &cloud->point[j]);
    tap_check(tap, status == KEEPFIT_DIVERGED && keepfit_fit_push(fit, &cloud->point[0]) == KEEPFIT_DIVERGED,
              "an overflowing step is told, and the fit stays closed: %s", keepfit_fit_error(fit)->message);
    keepfit_fit_free(fit);
    free(cloud);
}

/* On every stage of many random problems the proved bound is not below the gap, and holders of epsilon hold it. */
static void test_bounds(struct tap *tap, int problems)
{
    static const char *const domains[] = {"none", "ball:0.4", "box:-0.1:0.3", "simplex"};
    int losses = 0, violations = 0, unheld = 0, stages = 0, unsolved = 0;
    while (linear_loss((size_t)losses))
        losses++;
    for (int p = 0; p < problems; p++) {
        const char *loss = linear_loss((size_t)(p % losses)), *domain = domains[p / losses % 4];
        bool holds = p / (4 * losses) % 2;
        char text[200];
        snprintf(text, sizeof text, "loss=%s domain=%s lambda=%g method=%s epsilon=%g seed=%d inner=30", loss, domain,
                 p % 3 ? 0.01 : 0.3, holds ? "auto" : "csvrg", p % 2 ? 1e-2 : 1e-4, p);
        struct cloud *cloud = cloud_make(loss, 40, 5, p % 2, p % 7 == 0, (uint64_t)p + 1000);
        keepfit_fit *fit = fit_from(text);
        for (size_t i = 0; i < cloud->count; i++) {
            keepfit_measurement measured = {.struct_size = sizeof measured};
            keepfit_report report = {.struct_size = sizeof report};
            push_range(fit, cloud, i, i + 1);
            if (i % 3 && i > 6)
                continue;
            unsolved +=
                keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM | KEEPFIT_MEASURE_BOUND, &measured) != KEEPFIT_OK;
            keepfit_fit_report(fit, &report);
            double noise = 1e-14 * fmax(1, fabs(measured.objective));
            violations += measured.bound < measured.gap - noise || report.bound < measured.gap - noise;
            unheld += holds && !(report.bound <= (p % 2 ? 1e-2 : 1e-4));
            stages++;
        }
        keepfit_fit_free(fit);
        free(cloud);
    }
    tap_check(tap, unsolved == 0, "the optimum was found at all %d measured stages", stages);
    tap_check(tap, violations == 0, "the bound was never below the gap (%d stages)", stages);
    tap_check(tap, unheld == 0, "auto held epsilon, proved, at every one of them");
}

/* Heavy points that come after a Hessian was made, and before its bounds are made ready. */
static void test_late_bounds(struct tap *tap, uint64_t seeds)
{
    size_t below = 0, stages = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        size_t features = 33 + seed % 11, ready = 6 * features, heavy = ready - 2 - seed % 6;
        char text[200];
        snprintf(text, sizeof text, "loss=logistic method=quadratic lambda=%g epsilon=%g",
                 0.01 * (double)(1 + seed % 30), pow(10, -1 - (double)(seed % 6) / 2));
        struct cloud *cloud = cloud_make("logistic", ready + 10, features, false, false, seed);
        for (size_t j = heavy; j <= ready; j++) {
            cloud->point[j].weight = 2 + (double)(seed * 7 % 13);
            for (size_t k = 0; k < features; k++)
                cloud->value[j][k] *= (double)(1 + seed % 3 * 2);
        }
        keepfit_fit *fit = fit_from(text);
        for (size_t j = 0; j < cloud->count; j++) {
            keepfit_measurement measured = {.struct_size = sizeof measured};
            keepfit_report report = {.struct_size = sizeof report};
            push_range(fit, cloud, j, j + 1);
            if (j < heavy || j > ready + 6)
                continue;
            TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK);
            keepfit_fit_report(fit, &report);
            below += !(report.bound >= measured.gap - 1e-12);
            stages++;
        }
        keepfit_fit_free(fit);
        free(cloud);
    }
    tap_check(tap, below == 0, "heavy points before the bounds are ready: not below the gap at %zu stages (%zu)",
              stages, below);
}

/* Rows and a lambda whose squares are no numbers: for squared loss the gap at 0 is 2.02e-3, as mpmath has it, and about that for the others. */
static void test_underflow(struct tap *tap)
{
    static const char *const losses[] = {"squared", "huber", "logcosh"}, *const methods[] = {"quadratic", "table",
                                                                                             "refit"};
    double value = 1e-163, least = INFINITY;
    keepfit_point point = {.row = {.count = 1, .value = &value}, .target = 1, .weight = 1};
    for (size_t l = 0; l < 3; l++)
        for (size_t m = 0; m < 3; m++) {
            char options[200];
            keepfit_report report = {.struct_size = sizeof report};
            snprintf(options, sizeof options, "loss=%s method=%s lambda=5e-324 epsilon=1e-3", losses[l], methods[m]);
            keepfit_fit *fit = fit_from(options);
            for (int k = 0; k < 2; k++)
                TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
            keepfit_fit_report(fit, &report);
            least = fmin(least, report.bound);
            keepfit_fit_free(fit);
        }
    tap_check(tap, least > 1e-3, "squares that underflow prove nothing: the least bound is %g", least);
}

/* What auto chooses by is the work of the stages, not that of who looks at them. */
static void test_measuring_auto(struct tap *tap)
{
    struct cloud *cloud = cloud_make("logistic", 300, 8, true, false, 42);
    const char *options = "loss=logistic lambda=0.01 epsilon=1e-4";
    keepfit_fit *watched = fit_from(options), *alone = fit_from(options);
    bool same = true;
    for (size_t j = 0; j < cloud->count; j++) {
        keepfit_measurement measured = {.struct_size = sizeof measured};
        push_range(watched, cloud, j, j + 1);
        push_range(alone, cloud, j, j + 1);
        TAP_NEED(keepfit_fit_measure(watched, 7, &measured) == KEEPFIT_OK);
        same &= watched->task.stage.work == alone->task.stage.work;
    }
    keepfit_report a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    keepfit_fit_report(watched, &a);
    keepfit_fit_report(alone, &b);
    tap_check(tap, same && same_iterate(watched, alone) && a.fo == b.fo, "nor what auto goes by");
    keepfit_fit_free(watched);
    keepfit_fit_free(alone);
    free(cloud);
}

static void test_measuring(struct tap *tap)
{
    struct cloud *cloud = cloud_make("logistic", 50, 4, true, false, 41);
    keepfit_fit *watched = fit_from("loss=logistic method=csvrg lambda=0.05"),
                *alone = fit_from("loss=logistic method=csvrg lambda=0.05");
    for (size_t j = 0; j < cloud->count; j++) {
        keepfit_measurement measured = {.struct_size = sizeof measured};
        push_range(watched, cloud, j, j + 1);
        push_range(alone, cloud, j, j + 1);
        TAP_NEED(keepfit_fit_measure(watched, 7, &measured) == KEEPFIT_OK);
    }
    keepfit_report a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    keepfit_fit_report(watched, &a);
    keepfit_fit_report(alone, &b);
    tap_check(tap, same_iterate(watched, alone) && a.fo == b.fo, "measuring changes nothing and counts no FO");
    tap_check(tap, a.validated == 49 && a.validation_error > 0 && a.validation_error < 0.6 && a.validation_loss > 0,
              "progressive validation: every point but the first, predicted before it was learnt");
    keepfit_fit_free(watched);
    keepfit_fit_free(alone);
    free(cloud);
}

static void test_lambda_total(struct tap *tap)
{
    struct cloud *cloud = cloud_make("squared", 50, 4, false, false, 43);
    keepfit_fit *total = fit_from("loss=squared method=exact lambda-total=2"),
                *mean = fit_from("loss=squared method=exact lambda=0.04");
    push_range(total, cloud, 0, cloud->count);
    push_range(mean, cloud, 0, cloud->count);
    size_t n;
    const double *x = keepfit_fit_iterate(total, &n), *y = keepfit_fit_iterate(mean, &n);
    bool equal = true;
    for (size_t k = 0; k < n; k++)
        equal &= near(x[k], y[k], 1e-12);
    tap_check(tap, equal, "lambda-total 2 over 50 points is lambda 0.04");
    keepfit_fit_free(total);
    keepfit_fit_free(mean);
    free(cloud);
}

static int user_value(void *context, const double *x, const keepfit_point *point, double *value)
{
    (void)context;
    double miss = kf_dot(point->row.count, point->row.value, x) - point->target;
    *value = miss * miss;
    return 0;
}

static int user_gradient(void *context, const double *x, const keepfit_point *point, double *gradient)
{
    int *calls = context;
    if (calls && --*calls < 0)
        return 1;
    double miss = kf_dot(point->row.count, point->row.value, x) - point->target;
    for (size_t k = 0; k < point->row.count; k++)
        gradient[k] = 2 * miss * point->row.value[k];
    return 0;
}

static int user_curvature(void *context, const keepfit_point *point, double *curvature)
{
    (void)context;
    *curvature = 2 * kf_square(point->row.count, point->row.value);
    return 0;
}

/* A user-written squared loss follows the built-in one bit for bit where only gradients count. */
static void test_custom(struct tap *tap, const char *method)
{
    char text[128];
    snprintf(text, sizeof text, "loss=squared method=%s lambda=0.05 inner=30 epsilon=1e-6", method);
    struct cloud *cloud = cloud_make("squared", 40, 5, false, true, 47);
    keepfit_options *options = options_from(text);
    keepfit_objective objective = {
        .name = "own", .dimension = 5, .value = user_value, .gradient = user_gradient, .curvature = user_curvature};
    keepfit_fit *own = NULL, *built_in = fit_from(text);
    TAP_NEED(keepfit_fit_create_custom(options, &objective, &own, NULL) == KEEPFIT_OK);
    push_range(own, cloud, 0, cloud->count);
    push_range(built_in, cloud, 0, cloud->count);
    keepfit_measurement a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    TAP_NEED(keepfit_fit_measure(own, 7, &a) == KEEPFIT_OK && keepfit_fit_measure(built_in, 7, &b) == KEEPFIT_OK);
    tap_check(tap,
              near(a.optimum, b.optimum, 1e-12) &&
                  near(a.objective, b.objective, strcmp(method, "refit") ? 1e-12 : 1e-5),
              "%s: a user-written squared loss does what the built-in one does", method);
    keepfit_fit_free(own);
    keepfit_fit_free(built_in);

    int calls = 200;
    objective.context = &calls;
    TAP_NEED(keepfit_fit_create_custom(options, &objective, &own, NULL) == KEEPFIT_OK);
    keepfit_status status = KEEPFIT_OK;
    for (size_t j = 0; j < cloud->count && status == KEEPFIT_OK; j++)
        status = keepfit_fit_push(own, &cloud->point[j]);
    tap_check(tap, status == KEEPFIT_CALLBACK, "%s: a failing callback stops the fit with CALLBACK", method);
    keepfit_fit_free(own);
    keepfit_options_free(options);
    free(cloud);
}

static void *fit_on_thread(void *argument)
{
    const struct cloud *cloud = argument;
    keepfit_fit *fit = fit_from("loss=logistic method=csvrg lambda=0.05 inner=50");
    push_range(fit, cloud, 0, cloud->count);
    return fit;
}

static void test_threads(struct tap *tap)
{
    struct cloud *cloud = cloud_make("logistic", 100, 6, true, false, 53);
    pthread_t thread[4];
    keepfit_fit *fit[4];
    for (int k = 0; k < 4; k++)
        TAP_NEED(pthread_create(&thread[k], NULL, fit_on_thread, cloud) == 0);
    bool same = true;
    for (int k = 0; k < 4; k++) {
        void *result;
        pthread_join(thread[k], &result);
        fit[k] = result;
        same &= same_iterate(fit[0], fit[k]);
    }
    tap_check(tap, same, "four handles on four threads give the same bits");
    for (int k = 0; k < 4; k++)
        keepfit_fit_free(fit[k]);
    free(cloud);
}

/* What overflows outside the newest row is noticed all the same. */
static void test_hidden_overflow(struct tap *tap, const char *method)
{
    char text[128];
    snprintf(text, sizeof text, "loss=squared method=%s step=1.25 inner=300", method);
    keepfit_fit *fit = fit_from(text);
    double value[] = {1, 0.01};
    uint32_t index[] = {0, 1};
    keepfit_status status = KEEPFIT_OK;
    for (int j = 0; j < 33 && status == KEEPFIT_OK; j++) {
        keepfit_point point = {{1, &index[j > 2], &value[j > 2]}, 1, 1, false};
        status = keepfit_fit_push(fit, &point);
    }
    keepfit_model *model = NULL;
    tap_check(tap, status == KEEPFIT_DIVERGED && keepfit_fit_model(fit, &model) != KEEPFIT_OK,
              "%s: an overflow that the newest row does not show is told, and no such model is given out", method);
    keepfit_fit_free(fit);
}

static int failing_value(void *context, const double *x, const keepfit_point *point, double *value)
{
    return *(bool *)context ? 1 : user_value(NULL, x, point, value);
}

static int sound_gradient(void *context, const double *x, const keepfit_point *point, double *gradient)
{
    (void)context;
    return user_gradient(NULL, x, point, gradient);
}

/* From {1, 2, 3, 4}. */
static bool is_untouched(const keepfit_measurement *measured)
{
    return measured->objective == 1 && measured->bound == 2 && measured->optimum == 3 && measured->gap == 4;
}

static void test_handles(struct tap *tap)
{
    struct cloud *cloud = cloud_make("squared", 20, 3, false, false, 83);
    keepfit_options *options = options_from("method=csvrg alpha=2 inner=5");
    bool fails = true;
    keepfit_objective objective = {.name = "own",
                                   .dimension = 3,
                                   .context = &fails,
                                   .value = failing_value,
                                   .gradient = sound_gradient,
                                   .curvature = user_curvature};
    keepfit_fit *fit = NULL;
    keepfit_measurement measured = {sizeof measured, 1, 2, 3, 4};
    keepfit_model *model = NULL;
    TAP_NEED(keepfit_fit_create_custom(options, &objective, &fit, NULL) == KEEPFIT_OK);
    tap_check(tap, keepfit_fit_measure(fit, 7, &measured) == KEEPFIT_USAGE && is_untouched(&measured),
              "measuring before the first point fails, and leaves the result as it was");
    push_range(fit, cloud, 0, 10);
    keepfit_status status = keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE, &measured);
    tap_check(tap, status == KEEPFIT_CALLBACK && is_untouched(&measured),
              "a measurement that fails leaves the result as it was");
    fails = false;
    tap_check(tap, status == KEEPFIT_CALLBACK && keepfit_fit_push(fit, &cloud->point[10]) == KEEPFIT_OK,
              "a callback that fails while measuring is told, and does not end the fit");
    tap_check(tap, keepfit_fit_model(fit, &model) == KEEPFIT_USAGE && *keepfit_fit_error(fit)->message,
              "a user-written objective has no model, and the handle says so");
    keepfit_fit_free(fit);
    keepfit_options_free(options);

    fit = fit_from("loss=squared lambda-total=1");
    cloud->point[0].weight = 1e-320;
    cloud->point[1].weight = 1e308;
    tap_check(tap,
              keepfit_fit_push(fit, &cloud->point[0]) == KEEPFIT_DATA &&
                  keepfit_fit_push(fit, &cloud->point[1]) == KEEPFIT_DATA,
              "weights whose sum overflows or vanishes are refused");
    keepfit_fit_free(fit);
    free(cloud);
}

/* With an intercept inside a domain refit still holds its model: the estimate knows the domain. */
static void test_refit_intercept(struct tap *tap)
{
    struct cloud *cloud = cloud_make("logistic", 300, 4, false, false, 89);
    keepfit_fit *fit = fit_from("loss=logistic method=refit intercept=true domain=ball:0.3 lambda=0.01 epsilon=1e-2");
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_measurement measured = {.struct_size = sizeof measured};
    push_range(fit, cloud, 0, cloud->count);
    keepfit_fit_report(fit, &report);
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK);
    tap_check(tap, report.fo < 100 * report.stage && measured.gap < 1e-2,
              "refit, intercept, ball: %.0f FOs a stage, gap %.1e", (double)report.fo / (double)report.stage,
              measured.gap);
    keepfit_fit_free(fit);
    free(cloud);
}

/* An epsilon that rounding does not allow: stages end all the same, and their bounds do not claim it. */
static void test_out_of_reach(struct tap *tap, const char *method, const char *domain, size_t points)
{
    char text[128];
    struct cloud *cloud = cloud_make("logistic", points, 4, false, false, 31);
    snprintf(text, sizeof text, "loss=logistic lambda=0.01 epsilon=1e-60 method=%s domain=%s", method, domain);
    keepfit_fit *fit = fit_from(text);
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_measurement measured = {.struct_size = sizeof measured};
    bool honest = true;
    for (size_t k = 0; k < points; k++) {
        push_range(fit, cloud, k, k + 1);
        keepfit_fit_report(fit, &report);
        honest = honest && report.bound > report.target && report.bound < 1e-9;
    }
    TAP_NEED(keepfit_fit_measure(fit, 7, &measured) == KEEPFIT_OK);
    tap_check(tap, honest && report.fo < 250000 * points && measured.gap < 1e-9,
              "%s, domain %s: epsilon out of reach, %.0f FOs a stage, bound %.1e", method, domain,
              (double)report.fo / (double)points, report.bound);
    keepfit_fit_free(fit);
    free(cloud);
}

/* A weight of 0 is an initialiser without .weight as often as it is meant; a table's weights are always meant. */
static void test_weight_left_out(struct tap *tap)
{
    keepfit_fit *fit = fit_from("lambda=0.1");
    double one[] = {1, -1}, targets[] = {1, 2}, weights[] = {0, 1};
    keepfit_point forgotten = {.row = {2, NULL, one}, .target = 1}, taken;
    keepfit_status status = keepfit_fit_push(fit, &forgotten);
    tap_check(tap, status == KEEPFIT_DATA && strstr(keepfit_fit_error(fit)->message, "weight"),
              "a point without .weight is refused: %s", keepfit_fit_error(fit)->message);
    keepfit_point meant = {.row = {2, NULL, one}, .target = 1, .weightless = true};
    TAP_NEED(keepfit_fit_push(fit, &meant) == KEEPFIT_OK && keepfit_fit_point(fit, 0, &taken) == KEEPFIT_OK);
    tap_check(tap, taken.weight == 0 && taken.weightless && keepfit_fit_push(fit, &taken) == KEEPFIT_OK,
              "a weightless point is taken, and comes back as one that may be pushed again");
    double values[] = {1, 2};
    keepfit_block block = {
        .count = 2, .features = 1, .stride = 1, .value = values, .target = targets, .weight = weights};
    tap_check(tap, keepfit_fit_extend(fit, &block, NULL) == KEEPFIT_OK, "zeros in a block's weights are meant");
    keepfit_fit_free(fit);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    bool quick = count > 1 && strcmp(words[1], "quick") == 0;
    const char *loss;
    for (size_t l = 0; (loss = linear_loss(l)); l++)
        test_weights(&tap, loss);
    test_refusals(&tap);
    test_weight_left_out(&tap);
    test_bounds(&tap, quick ? 40 : 400);
    test_late_bounds(&tap, quick ? 20 : 300);
    test_measuring(&tap);
    test_measuring_auto(&tap);
    test_underflow(&tap);
    test_lambda_total(&tap);
    test_custom(&tap, "csvrg");
    test_custom(&tap, "svrg");
    test_custom(&tap, "lsvrg");
    test_custom(&tap, "saga");
    test_custom(&tap, "strsaga");
    test_custom(&tap, "dynasaga");
    test_custom(&tap, "refit");
    test_hidden_overflow(&tap, "sgd");
    test_hidden_overflow(&tap, "saga");
    test_hidden_overflow(&tap, "strsaga");
    test_handles(&tap);
    test_refit_intercept(&tap);
    test_threads(&tap);
    for (int k = 0; k < 8; k++)
        test_out_of_reach(&tap, (const char *[]){"auto", "quadratic", "table", "refit"}[k / 2],
                          k % 2 ? "ball:100" : "none", quick ? 2 : 12);
    return tap_end(&tap);
}
