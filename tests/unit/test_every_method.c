/* What every method does: a block is its points; features and classes may come late, in either order; rows may be empty and weights 0. */
#include <string.h>

#include "support.h"

/* Whether it looks at each point once: a few dozen points are too few for it. */
static bool is_single_pass(const char *method)
{
    return strcmp(method, "ssvrg") == 0;
}

static void test_block(struct tap *tap, const char *method)
{
    char text[128];
    snprintf(text, sizeof text, "loss=squared method=%s lambda=0.05 inner=20 bias=1", method);
    struct cloud *cloud = cloud_make("squared", 60, 6, true, true, 31);
    keepfit_fit *single = fit_from(text), *block = fit_from(text);
    push_range(single, cloud, 0, cloud->count);
    size_t pushed = 0;
    keepfit_fit_push_block(block, cloud->point, 25, &pushed);
    keepfit_fit_push_block(block, cloud->point + 25, cloud->count - 25, NULL);
    keepfit_report a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    keepfit_fit_report(single, &a);
    keepfit_fit_report(block, &b);
    tap_check(tap, pushed == 25 && same_iterate(single, block) && a.fo == b.fo && a.steps == b.steps,
              "%s: a block equals its points, bit for bit", method);
    keepfit_fit_free(single);
    keepfit_fit_free(block);
    free(cloud);
}

/* Rows that bring new features and classes, for every method; the last optimum is the one of a fit that knew from the start. */
static void test_growth(struct tap *tap, const char *method, const char *loss, const char *domain)
{
    char text[160];
    snprintf(text, sizeof text, "loss=%s method=%s lambda=0.1 domain=%s inner=400", loss, method, domain);
    struct cloud *cloud = cloud_make(loss, 60, 12, true, false, 23);
    keepfit_fit *fit = fit_from(text);
    for (size_t j = 0; j < cloud->count; j++) { /* cut the row: only the first j/5+1 features are known yet */
        keepfit_point point = cloud->point[j];
        while (point.row.count && point.row.index[point.row.count - 1] > j / 5)
            point.row.count--;
        if (strcmp(loss, "softmax") == 0)
            point.target = (double)(j < 20 ? 7 : j < 40 ? j % 2 : j % 3); /* labels 7, then 0/1, then 0/1/2 */
        TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
    }
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_measurement measured = {.struct_size = sizeof measured};
    keepfit_fit_report(fit, &report);
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM | KEEPFIT_MEASURE_BOUND, &measured) == KEEPFIT_OK);
    size_t classes = strcmp(loss, "softmax") == 0 ? 4 : strcmp(loss, "logistic") == 0 ? 2 : 0;
    double most = is_single_pass(method) ? 0.3 : strncmp(method, "sgd", 3) == 0 ? 0.2 : 0.05;
    bool good = measured.gap >= -1e-12 && measured.gap < most && measured.bound >= measured.gap - 1e-12;
    tap_check(tap, good && report.classes == classes && report.features == 12,
              "%s, %s in %s: features and classes may come later (gap %.1e)", method, loss, domain, measured.gap);
    keepfit_fit_free(fit);
    free(cloud);
}

/* The points with labels 1 and 2, all those of one class first. */
static keepfit_fit *fit_by_class(const char *text, const struct cloud *cloud, int first)
{
    keepfit_fit *fit = fit_from(text);
    for (int turn = 0; turn < 2; turn++)
        for (size_t j = 0; j < cloud->count; j++) {
            keepfit_point point = cloud->point[j];
            point.target = point.target > 0 ? 2 : 1;
            if ((point.target == first) == (turn == 0))
                TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
        }
    return fit;
}

/* Whichever class came first, the method comes near the optimum, and the model names the labels that came. */
static void test_label_order(struct tap *tap, const char *method)
{
    char text[128];
    snprintf(text, sizeof text, "loss=logistic method=%s lambda=0.1 inner=300", method);
    struct cloud *cloud = cloud_make("logistic", 60, 3, false, false, 29);
    for (int first = 1; first <= 2; first++) {
        keepfit_fit *fit = fit_by_class(text, cloud, first);
        keepfit_measurement measured = {.struct_size = sizeof measured};
        keepfit_model *model = NULL;
        TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK);
        TAP_NEED(keepfit_fit_model(fit, &model) == KEEPFIT_OK);
        size_t right = 0;
        for (size_t j = 0; j < cloud->count; j++) {
            keepfit_prediction prediction = {.struct_size = sizeof prediction};
            keepfit_model_predict(model, &cloud->point[j].row, &prediction, NULL);
            right += prediction.value == (cloud->point[j].target > 0 ? 2 : 1);
        }
        tap_check(tap, right > 45 && measured.gap < 0.02,
                  "%s: labels 1 and 2, class %d first: %zu of 60 right, gap %.1e", method, first, right, measured.gap);
        keepfit_model_free(model);
        keepfit_fit_free(fit);
    }
    free(cloud);
}

/* What is minimised does not depend on which class came first: no method's doing, so one fit of each order is enough. */
static void test_label_order_of_the_optimum(struct tap *tap)
{
    struct cloud *cloud = cloud_make("logistic", 60, 3, false, false, 29);
    keepfit_measurement measured[2] = {{0}, {0}};
    for (int first = 1; first <= 2; first++) {
        keepfit_fit *fit = fit_by_class("loss=logistic method=sgd lambda=0.1", cloud, first);
        TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured[first - 1]) == KEEPFIT_OK);
        keepfit_fit_free(fit);
    }
    tap_check(tap, near(measured[0].optimum, measured[1].optimum, 1e-12),
              "the optimum does not depend on which class came first");
    free(cloud);
}

static void test_odd_stream(struct tap *tap, const char *loss, const char *method)
{
    char text[128];
    snprintf(text, sizeof text, "loss=%s method=%s lambda=0.1 inner=10", loss, method);
    keepfit_fit *fit = fit_from(text);
    double one[] = {1, -1};
    keepfit_point empty = {{0, NULL, NULL}, 1, 1, false}, nothing = {{2, NULL, one}, 1, 0, true},
                  plain = {{2, NULL, one}, 2, 1, false};
    keepfit_status status = keepfit_fit_push(fit, &nothing); /* weight 0 first: no loss at all yet */
    for (int turn = 0; turn < 5 && status == KEEPFIT_OK; turn++) {
        status = keepfit_fit_push(fit, &empty);
        if (status == KEEPFIT_OK)
            status = keepfit_fit_push(fit, &plain);
    }
    keepfit_measurement measured = {sizeof measured, NAN, NAN, NAN, NAN};
    if (status == KEEPFIT_OK)
        status = keepfit_fit_measure(fit, 7, &measured);
    tap_check(tap, status == KEEPFIT_OK && measured.gap > -1e-12 && measured.gap < (is_single_pass(method) ? 3 : 0.3),
              "%s %s: empty rows and weight 0 (gap %.1e) %s", loss, method, measured.gap,
              keepfit_fit_error(fit)->message);
    keepfit_fit_free(fit);
}

static void test_method(struct tap *tap, const struct kf_method *method)
{
    const char *name = method->name, *loss;
    test_block(tap, name);
    for (size_t l = 0; (loss = linear_loss(l)) && (l == 0 || !method->squared_only); l++)
        test_odd_stream(tap, loss, name);
    test_growth(tap, name, "squared", "box:0.1:1");
    if (method->squared_only) {
        test_growth(tap, name, "squared", "none");
        return;
    }
    test_growth(tap, name, "logistic", "none");
    test_growth(tap, name, "softmax", "ball:2");
    test_growth(tap, name, "softmax", "simplex");
    if (!is_single_pass(name))
        test_label_order(tap, name);
}

int main(void)
{
    struct tap tap = {0};
    for (size_t k = 0; kf_method_entry(k); k++)
        test_method(&tap, kf_method_entry(k));
    test_label_order_of_the_optimum(&tap);
    return tap_end(&tap);
}
