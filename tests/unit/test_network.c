/* The network as an objective: its gradient against difference quotients and against one that is computed here, from the
 * formulas and from nothing else; blocks against points, threads against one; the lazy iterate against the dense one for every
 * method; features and classes that come later; models. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include "objective/network.h"
#include "support.h"

#define UNITS 7
#define SIZE_MOST 4096

static void draw(struct kf_random *random, size_t size, double *x)
{
    for (size_t k = 0; k < size; k++)
        x[k] = 0.7 * kf_random_normal(random);
}

/* The loss of a point and its gradient, which is added times the point's weight, written down as the formulas say: every sum by
 * itself, over all features, all units, all classes. */
static double plain_loss(const keepfit_point *point, size_t target, size_t features, size_t units, size_t classes,
                         const double *x, double *gradient)
{
    double a[64] = {1}, z[64], h[65], score[16], p[16], total = 0;
    for (size_t e = 0; e < point->row.count; e++)
        a[1 + (point->row.index ? point->row.index[e] : e)] = point->row.value[e];
    const double *second = x + (features + 1) * units;
    for (size_t k = 0; k < units; k++) {
        z[k] = 0;
        for (size_t f = 0; f <= features; f++)
            z[k] += a[f] * x[f * units + k];
        h[k] = z[k] > 0 ? z[k] : 0;
    }
    h[units] = 1;
    for (size_t c = 0; c < classes; c++) {
        score[c] = 0;
        for (size_t k = 0; k <= units; k++)
            score[c] += h[k] * second[k * classes + c];
        total += exp(score[c]);
    }
    for (size_t c = 0; c < classes; c++)
        p[c] = exp(score[c]) / total - (c == target);
    for (size_t k = 0; gradient && k <= units; k++) {
        double back = 0;
        for (size_t c = 0; c < classes; c++) {
            gradient[(features + 1) * units + k * classes + c] += point->weight * h[k] * p[c];
            back += second[k * classes + c] * p[c];
        }
        for (size_t f = 0; k < units && z[k] > 0 && f <= features; f++)
            gradient[f * units + k] += point->weight * a[f] * back;
    }
    return log(total) - score[target];
}

static keepfit_fit *fit_on(const struct cloud *cloud, const char *options)
{
    char text[300];
    snprintf(text, sizeof text, "loss=network:%d %s", UNITS, options);
    keepfit_fit *fit = fit_from(text);
    push_range(fit, cloud, 0, cloud->count);
    return fit;
}

static size_t class_of(const keepfit_fit *fit, double label)
{
    double target = 0;
    TAP_NEED(kf_labels_find(&fit->meaning.labels, label, &target));
    return (size_t)target;
}

static void test_gradient(struct tap *tap, bool sparse, bool weighted)
{
    struct cloud *cloud = cloud_make("softmax", 60, 9, sparse, weighted, 3);
    keepfit_fit *fit = fit_on(cloud, "lambda=0.02 method=sgd inner=1");
    struct kf_objective *objective = &fit->task.problem.objective;
    size_t size = kf_size(&fit->task.problem), classes = objective->outputs;
    double x[SIZE_MOST], sum[SIZE_MOST], gradient[SIZE_MOST], plain[SIZE_MOST] = {0}, quotient = 0, apart = 0,
                                                              value = 0;
    TAP_NEED(classes == 3 && size == 10 * UNITS + (UNITS + 1) * 3);
    struct kf_random random;
    kf_random_seed(&random, 8);
    draw(&random, size, x);
    kf_gradient_sum(objective, x, cloud->count, sum, NULL, fit->task.vectors.factors[0]);
    kf_complete_gradient(objective, sum, x, gradient);
    for (size_t j = 0; j < cloud->count; j++)
        value += cloud->point[j].weight *
                 plain_loss(&cloud->point[j], class_of(fit, cloud->point[j].target), 9, UNITS, classes, x, plain);
    for (size_t k = 0; k < size; k++) {
        double kept = x[k], h = 1e-6;
        apart = fmax(apart, fabs(plain[k] - sum[k]));
        x[k] = kept + h;
        double up = kf_objective_value(objective, x);
        x[k] = kept - h;
        double down = kf_objective_value(objective, x);
        x[k] = kept;
        quotient = fmax(quotient, fabs((up - down) / (2 * h) - gradient[k]));
    }
    value = value / objective->weight_total + 0.02 * kf_square(size, x);
    const char *kind = sparse ? weighted ? "sparse, weighted" : "sparse" : weighted ? "full, weighted" : "full";
    tap_check(tap, quotient < 1e-7, "%s rows: the gradient matches difference quotients (%.1e)", kind, quotient);
    tap_check(tap, apart < 1e-12, "%s rows: and one computed by the formulas alone (%.1e)", kind, apart);
    tap_check(tap, near(kf_objective_value(objective, x), value, 1e-12), "%s rows: so does the value", kind);
    keepfit_fit_free(fit);
    free(cloud);
}

/* What is remembered of a point stands for its gradient. */
static void test_factors(struct tap *tap)
{
    struct cloud *cloud = cloud_make("softmax", 40, 9, true, true, 4);
    keepfit_fit *fit = fit_on(cloud, "method=sgd inner=1");
    struct kf_objective *objective = &fit->task.problem.objective;
    size_t size = kf_size(&fit->task.problem), each = objective->type->factor_count(objective);
    double x[SIZE_MOST], sum[SIZE_MOST], again[SIZE_MOST] = {0}, single[SIZE_MOST] = {0}, apart = 0;
    double *remembered = calloc(cloud->count * each, sizeof *remembered), *own = calloc(each, sizeof *own);
    TAP_NEED(remembered && own);
    struct kf_random random;
    kf_random_seed(&random, 9);
    draw(&random, size, x);
    uint64_t before = objective->fo;
    kf_gradient_sum(objective, x, cloud->count, sum, remembered, fit->task.vectors.factors[0]);
    tap_check(tap, objective->fo == before + cloud->count, "a pass counts one gradient a point");
    bool same = true;
    for (size_t j = 0; j < cloud->count; j++) {
        struct kf_view view = kf_dense_view(x);
        kf_factors(objective, &view, j, own);
        same &= memcmp(own, remembered + j * each, each * sizeof *own) == 0;
        objective->type->add(objective, 1, j, remembered + j * each, again);
        objective->type->add(objective, 2, j, own, single);
    }
    for (size_t k = 0; k < size; k++)
        apart = fmax(apart, fabs(again[k] - sum[k]) + fabs(single[k] - 2 * sum[k]));
    tap_check(tap, same, "a pass remembers the bits that a single gradient has");
    tap_check(tap, apart < 1e-12, "and what is remembered adds up to the sum (%.1e)", apart);
    free(remembered);
    free(own);
    keepfit_fit_free(fit);
    free(cloud);
}

/* Enough points for several blocks, and threads that share them. */
static void test_threads(struct tap *tap)
{
    struct cloud *cloud = cloud_make("softmax", 200, 60, false, false, 6);
    static const char *const threads[] = {"threads=1", "threads=2", "threads=3", "threads=5"};
    static double first[61 * 300 + 301 * 3], sum[61 * 300 + 301 * 3];
    double value = 0;
    bool same = true;
    for (size_t k = 0; k < 4; k++) {
        char text[128];
        snprintf(text, sizeof text, "loss=network:300 method=sgd inner=3 %s", threads[k]);
        keepfit_fit *fit = fit_from(text);
        push_range(fit, cloud, 0, cloud->count);
        push_range(fit, cloud, 0, cloud->count);
        push_range(fit, cloud, 0, cloud->count);
        struct kf_task *task = &fit->task;
        kf_gradient_sum(&task->problem.objective, kf_read(task), task->problem.points.count, sum, NULL,
                        task->vectors.factors[0]);
        double own = kf_objective_value(&task->problem.objective, task->iterate.x);
        if (k == 0) {
            memcpy(first, sum, sizeof first);
            value = own;
        }
        same &= memcmp(first, sum, kf_size(&task->problem) * sizeof *sum) == 0 && own == value;
        keepfit_fit_free(fit);
    }
    tap_check(tap, same, "600 points in blocks: the bits of a pass do not depend on the threads");
    free(cloud);
}

static keepfit_point growing(const struct cloud *cloud, size_t j)
{
    keepfit_point point = cloud->point[j];
    while (point.row.index && point.row.count && point.row.index[point.row.count - 1] > 2 + j / 4)
        point.row.count--;
    point.target = fmin(point.target, (double)(j / 12));
    return point;
}

/* The lazy iterate, whose changes wait, against the plain one, while features and classes keep coming. (A larger lambda drives x to
 * the saddle at 0 before the second class comes, and leaving it multiplies rounding, in either representation.) */
static void test_trajectories(struct tap *tap)
{
    static const char *const methods[] = {
        "method=sgd inner=90",
        "method=sgd inner=90 step=0.02",
        "method=sgd-sparse inner=40 alpha=0.1",
        "method=svrg outer=2 inner=80",
        "method=lsvrg inner=80",
        "method=lsvrg inner=20 window=25",
        "method=saga inner=60",
        "method=sarah outer=2 inner=30",
        "method=strsaga inner=20",
        "method=dynasaga inner=20",
        "method=ssvrg convexity=20 inner=7 step=0.3/L",
        "method=csvrg inner=90",
        "method=csvrg inner=90 setting=paper step=0.02",
        "method=csvrg inner=40 alpha=0.02",
        "method=csvrg inner=90 window=25",
        "method=strsaga inner=20 window=25",
        "method=katyusha outer=2 inner=10",
        "method=gd inner=5",
        "method=auto inner=40",
    };
    const struct kf_method *method;
    for (size_t k = 0; (method = kf_method_entry(k)); k++)
        tap_check(tap,
                  method->needs_convexity || names_method(sizeof methods / sizeof methods[0], methods, method->name),
                  "%s: if it takes networks it is among those whose forms are compared", method->name);
    static const char *const lambdas[] = {"lambda=0", "lambda=0.02", "lambda-total=0.05"};
    struct cloud *cloud = cloud_make("softmax", 60, 14, true, true, 11);
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++)
        for (size_t l = 0; l < 3; l++) {
            keepfit_fit *fit[2];
            double worst = 0;
            for (int lazy = 0; lazy < 2; lazy++) {
                char text[300];
                snprintf(text, sizeof text, "loss=network:%d %s %s iterate=%s", UNITS, methods[m], lambdas[l],
                         lazy ? "auto" : "dense");
                fit[lazy] = fit_from(text);
            }
            for (size_t j = 0; j < cloud->count; j++) {
                keepfit_point point = growing(cloud, j);
                const double *x[2];
                size_t size;
                double largest = 1e-300;
                for (int lazy = 0; lazy < 2; lazy++) {
                    TAP_NEED(keepfit_fit_push(fit[lazy], &point) == KEEPFIT_OK);
                    /* Read only now and then: what waits has to survive the stage. */
                    x[lazy] = j % 3 == 2 ? keepfit_fit_iterate(fit[lazy], &size) : NULL;
                }
                for (size_t k = 0; x[0] && k < size; k++) {
                    largest = fmax(largest, fabs(x[0][k]));
                    worst = fmax(worst, fabs(x[0][k] - x[1][k]) / largest);
                }
            }
            bool counted = fit[0]->task.problem.objective.fo == fit[1]->task.problem.objective.fo;
            tap_check(tap, worst <= 1e-9 && counted, "%s %s: the lazy iterate follows the dense one (%.1e)", methods[m],
                      lambdas[l], worst);
            for (int lazy = 0; lazy < 2; lazy++)
                keepfit_fit_free(fit[lazy]);
        }
    free(cloud);
}

/* The initial weights: of a known feature and class the same whatever else comes, within reach, and x begins with them. */
static void test_initial(struct tap *tap)
{
    struct kf_objective small = {.hidden = UNITS, .slots = 4, .outputs = 2},
                        large = {.hidden = UNITS, .slots = 9, .outputs = 5};
    double few[SIZE_MOST] = {0}, many[SIZE_MOST] = {0}, other[SIZE_MOST] = {0};
    kf_network_initialise(&small, 5, 0, 0, few);
    kf_network_initialise(&large, 5, 0, 0, many);
    kf_network_initialise(&large, 6, 0, 0, other);
    bool same = true, within = true, drawn = true;
    for (size_t k = 0; k < 4 * UNITS; k++)
        same &= near(few[k] * 2, many[k] * 3, 1e-15); /* 1/sqrt(4) and 1/sqrt(9) are their reach */
    for (size_t u = 0; u <= UNITS; u++)
        for (size_t c = 0; c < 2; c++)
            same &= few[4 * UNITS + u * 2 + c] == many[9 * UNITS + u * 5 + c];
    for (size_t k = 0; k < kf_dimension(&large); k++) {
        within &= fabs(many[k]) <= (k < 9 * UNITS ? 1 / 3.0 : 1 / sqrt(UNITS));
        drawn &= many[k] != 0 && many[k] != other[k];
    }
    tap_check(tap, same, "initial weights depend on seed, feature and class alone");
    tap_check(tap, within && drawn, "they are within 1/sqrt(inputs), and other ones for another seed");
    struct cloud *cloud = cloud_make("softmax", 30, 8, false, false, 3);
    keepfit_fit *fit = fit_from("loss=network:7 seed=5 method=sgd inner=1 step=1e-300 lambda=0");
    TAP_NEED(keepfit_fit_push(fit, &cloud->point[0]) == KEEPFIT_OK);
    size_t size;
    const double *x = keepfit_fit_iterate(fit, &size);
    double first[SIZE_MOST], apart = 0;
    memcpy(first, x, size * sizeof *x);
    /* The bias was there before the features, when it was the only input; they came together. */
    for (size_t k = UNITS; k < 9 * UNITS; k++)
        apart = fmax(apart, fabs(x[k] - many[k]));
    push_range(fit, cloud, 1, cloud->count);
    x = keepfit_fit_iterate(fit, &size);
    bool kept = memcmp(first, x, 9 * UNITS * sizeof *x) == 0;
    tap_check(tap, apart == 0 && kept, "x begins with them, and keeps them when classes come");
    keepfit_fit_free(fit);
    free(cloud);
}

static void test_learning(struct tap *tap)
{
    static const char *const of_method[][2] = {
        {"gd", "inner=30"}, {"katyusha", "outer=2"}, {"ssvrg", "convexity=2 inner=10 step=0.3"}};
    struct cloud *cloud = cloud_make("softmax", 120, 10, false, false, 21);
    const struct kf_method *method;
    for (size_t k = 0; (method = kf_method_entry(k)); k++) {
        const char *name = method->name, *more = "";
        if (method->needs_convexity)
            continue;
        for (size_t m = 0; m < sizeof of_method / sizeof of_method[0]; m++)
            more = strcmp(name, of_method[m][0]) == 0 ? of_method[m][1] : more;
        char text[200];
        snprintf(text, sizeof text, "loss=network:20 lambda=1e-5 method=%s %s", name, more);
        keepfit_fit *fit = fit_from(text);
        push_range(fit, cloud, 0, cloud->count);
        keepfit_measurement measured = {.struct_size = sizeof measured};
        keepfit_report report = {.struct_size = sizeof report};
        TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_BOUND, &measured) == KEEPFIT_OK);
        keepfit_fit_report(fit, &report);
        tap_check(tap, measured.objective < 0.8 * log(3) && isnan(measured.bound) && isnan(report.bound),
                  "%s %s learns (%.3f), and claims no bound", name, more, measured.objective);
        tap_check(tap, strcmp(name, "auto") != 0 || strcmp(report.method, "csvrg") == 0, "auto is csvrg: %s",
                  report.reason);
        keepfit_fit_free(fit);
    }
    free(cloud);
}

static void test_refusal(struct tap *tap, const char *key, const char *value)
{
    char text[128];
    snprintf(text, sizeof text, "loss=network:3 %s=%s", key, value);
    keepfit_options *options = options_from(text);
    keepfit_fit *fit = NULL;
    keepfit_error error = {.message = ""};
    tap_check(tap, keepfit_fit_create(options, &fit, &error) == KEEPFIT_USAGE && !fit, "%s %s is refused: %s", key,
              value, error.message);
    keepfit_options_free(options);
}

static void test_refusals(struct tap *tap)
{
    const struct kf_method *method;
    for (size_t k = 0; (method = kf_method_entry(k)); k++)
        if (method->needs_convexity)
            test_refusal(tap, "method", method->name);
    test_refusal(tap, "setting", "theory");
    test_refusal(tap, "intercept", "true");
    static const char *const losses[] = {"network",    "network:",   "network:0", "network:100001", "network:x",
                                         "network:3 ", "network:-1", "softmax:3", "network:3:3",    "network:1e3"};
    keepfit_options *options = keepfit_options_create();
    bool all = true;
    for (size_t k = 0; k < sizeof losses / sizeof losses[0]; k++) {
        keepfit_error error = {.struct_size = sizeof error};
        all &= keepfit_options_set(options, "loss", losses[k], &error) == KEEPFIT_USAGE &&
               strstr(error.message, "network:H") && strcmp(keepfit_options_get(options, "loss"), "squared") == 0;
    }
    tap_check(tap, all, "wrong losses are refused, and change nothing");
    bool good = keepfit_options_set(options, "loss", "network:100000", NULL) == KEEPFIT_OK &&
                strcmp(keepfit_options_get(options, "loss"), "network:100000") == 0 &&
                keepfit_options_set(options, "loss", "softmax", NULL) == KEEPFIT_OK &&
                strcmp(keepfit_options_get(options, "loss"), "softmax") == 0;
    tap_check(tap, good, "right ones read back");
    keepfit_options_free(options);
    struct cloud *cloud = cloud_make("softmax", 20, 4, true, false, 2);
    keepfit_fit *fit = fit_on(cloud, "method=sgd");
    keepfit_measurement measured = {.struct_size = sizeof measured};
    tap_check(tap, keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_USAGE,
              "its optimum is not to be had: %s", keepfit_fit_error(fit)->message);
    keepfit_fit_free(fit);
    free(cloud);
}

/* An iterate that overflows is noticed, whichever way x is stored. */
static void test_overflow(struct tap *tap)
{
    static const char *const kinds[] = {"auto", "dense"};
    for (size_t k = 0; k < 2; k++) {
        char text[128];
        snprintf(text, sizeof text, "loss=network:5 lambda=0 method=sgd inner=50 step=1e200 iterate=%s", kinds[k]);
        struct cloud *cloud = cloud_make("softmax", 20, 4, true, false, 2);
        keepfit_fit *fit = fit_from(text);
        keepfit_status status = KEEPFIT_OK;
        for (size_t j = 0; j < cloud->count && status == KEEPFIT_OK; j++)
            status = keepfit_fit_push(fit, &cloud->point[j]);
        tap_check(tap, status == KEEPFIT_DIVERGED, "%s: an iterate that overflows is told", kinds[k]);
        keepfit_fit_free(fit);
        free(cloud);
    }
}

static void test_model(struct tap *tap)
{
    struct cloud *cloud = cloud_make("softmax", 80, 9, true, false, 13);
    keepfit_fit *fit = fit_on(cloud, "method=csvrg lambda=1e-4 bias=2");
    keepfit_model *model = NULL, *loaded = NULL;
    char path[] = "/tmp/keepfit-network-XXXXXX";
    TAP_NEED(keepfit_fit_model(fit, &model) == KEEPFIT_OK && close(mkstemp(path)) == 0);
    TAP_NEED(keepfit_model_save(model, path, NULL) == KEEPFIT_OK &&
             keepfit_model_load(path, &loaded, NULL) == KEEPFIT_OK);
    keepfit_description a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    keepfit_model_describe(model, &a);
    keepfit_model_describe(loaded, &b);
    bool same = a.hidden == UNITS && b.hidden == UNITS && a.features == b.features && a.outputs == 3 &&
                b.outputs == 3 && strcmp(b.loss, "network") == 0 &&
                memcmp(a.hidden_weights, b.hidden_weights, a.features * UNITS * sizeof(double)) == 0 &&
                memcmp(a.hidden_intercepts, b.hidden_intercepts, UNITS * sizeof(double)) == 0 &&
                memcmp(a.weights, b.weights, UNITS * 3 * sizeof(double)) == 0 &&
                memcmp(a.intercepts, b.intercepts, 3 * sizeof(double)) == 0;
    tap_check(tap, same, "a network comes back from its file as it was");
    double apart = 0;
    size_t size, wrong = 0;
    const double *x = keepfit_fit_iterate(fit, &size);
    double unbiased[SIZE_MOST];
    memcpy(unbiased, x, size * sizeof *x);
    kf_scale(UNITS, 2, unbiased); /* the formulas have a constant of 1 */
    for (size_t j = 0; j < cloud->count; j++) {
        keepfit_prediction prediction = {.struct_size = sizeof prediction};
        double scores[3];
        TAP_NEED(keepfit_model_predict(loaded, &cloud->point[j].row, &prediction, scores) == KEEPFIT_OK);
        size_t target = class_of(fit, prediction.value);
        double loss = plain_loss(&cloud->point[j], target, 9, UNITS, 3, unbiased, NULL);
        apart = fmax(apart, fabs(prediction.probability - exp(-loss)));
        wrong += scores[target] < fmax(scores[0], fmax(scores[1], scores[2]));
    }
    tap_check(tap, apart < 1e-12 && wrong == 0, "it predicts what the formulas say (%.1e)", apart);
    unlink(path);
    keepfit_model_free(model);
    keepfit_model_free(loaded);
    keepfit_fit_free(fit);
    free(cloud);
}

int main(void)
{
    struct tap tap = {0};
    for (int kind = 0; kind < 4; kind++)
        test_gradient(&tap, kind & 1, kind & 2);
    test_factors(&tap);
    test_threads(&tap);
    test_initial(&tap);
    test_trajectories(&tap);
    test_learning(&tap);
    test_refusals(&tap);
    test_overflow(&tap);
    test_model(&tap);
    return tap_end(&tap);
}
