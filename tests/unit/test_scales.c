/* --standardise: at every stage the objective is the mean loss and lambda sum (s x)^2, s the power of two nearest to the spread that a column
 * had when the number of points last doubled, here computed without the library; bounds cover the gap; a column in another unit
 * changes no prediction; journals, snapshots, windows, keys and half-lives go on with the same bits. */
#include <string.h>

#include "journals.h"
#include "support.h"

#define COUNT 150
#define FEATURES 5
#define LAMBDA 0.02

static const char *const problems[][3] = {
    /* loss, options, what the plain problem has of them */
    {"logistic", "", ""},
    {"squared", "method=exact", "method=exact"},
    {"softmax", "method=refit", "method=refit"},
    {"huber", "method=quadratic", "method=quadratic"},
    {"hinge", "method=table", "method=table"},
    {"logcosh", "method=gd", "method=gd"},
};

#define PROBLEMS (sizeof problems / sizeof problems[0])

/* Columns of very different spreads, some far from 0, one that is constant at first. */
static struct cloud *spread_cloud(const char *loss, bool sparse)
{
    static const double factor[FEATURES] = {1e6, 1e-5, 1, 300, 0.02}, middle[FEATURES] = {5e6, 0, 0.7, -1e4, 0};
    struct cloud *cloud = cloud_make(loss, COUNT, FEATURES, sparse, true, 61);
    for (size_t j = 0; j < COUNT; j++)
        for (size_t e = 0; e < cloud->point[j].row.count; e++) {
            size_t f = cloud->point[j].row.index ? cloud->point[j].row.index[e] : e;
            double *value = &cloud->value[j][e];
            *value = *value * factor[f] + (sparse ? 0 : middle[f]);
            if (f == 4 && j < 20)
                *value = 0.5;
        }
    return cloud;
}

static void value_of(const keepfit_point *point, double row[FEATURES])
{
    memset(row, 0, FEATURES * sizeof *row);
    for (size_t e = 0; e < point->row.count; e++)
        row[point->row.index ? point->row.index[e] : e] = point->row.value[e];
}

/* Of the first `count` points. */
static void find_spreads(const struct cloud *cloud, size_t count, double spread[FEATURES])
{
    for (size_t f = 0; f < FEATURES; f++) {
        long double weight = 0, sum = 0, squares = 0;
        double row[FEATURES];
        for (size_t j = 0; j < count; j++) {
            value_of(&cloud->point[j], row);
            weight += cloud->point[j].weight;
            sum += cloud->point[j].weight * (long double)row[f];
        }
        for (size_t j = 0; j < count; j++) {
            value_of(&cloud->point[j], row);
            long double apart = row[f] - sum / weight;
            squares += cloud->point[j].weight * apart * apart;
        }
        double variance = (double)(squares / weight);
        spread[f] = variance > 1e-20 ? exp2(rint(log2(sqrt(variance)))) : 1;
    }
}

/* The plain fit whose rows are divided by the spreads. */
static keepfit_fit *plain_fit(size_t k, const struct cloud *cloud, size_t count, const double *spread)
{
    char text[160];
    snprintf(text, sizeof text, "loss=%s lambda=%g intercept=true %s", problems[k][0], LAMBDA, problems[k][2]);
    keepfit_fit *fit = fit_from(text);
    for (size_t j = 0; j < count; j++) {
        double row[FEATURES];
        keepfit_point point = cloud->point[j];
        value_of(&point, row);
        for (size_t f = 0; f < FEATURES; f++)
            row[f] /= spread[f];
        point.row = (keepfit_row){.count = FEATURES, .value = row};
        TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
    }
    return fit;
}

/* sum of (s x)^2 against sum of z^2, through the difference of what two fits measure of themselves: objectives and optima agree. */
static bool is_problem(keepfit_fit *fit, size_t k, const struct cloud *cloud, size_t count, const double *spread)
{
    keepfit_fit *plain = plain_fit(k, cloud, count, spread);
    keepfit_measurement here = {.struct_size = sizeof here}, there = {.struct_size = sizeof there};
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_status one = keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &here);
    keepfit_status other = keepfit_fit_measure(plain, KEEPFIT_MEASURE_OPTIMUM, &there);
    keepfit_fit_report(fit, &report);
    bool promises = !strstr(problems[k][1], "table"); /* it misses a stage now and then, and says so */
    bool solved = one == KEEPFIT_OK && other == KEEPFIT_OK;
    bool same = !solved || near(here.optimum, there.optimum, 1e-9);
    bool covered = !solved || isnan(report.bound) || here.objective - there.optimum <= report.bound + 1e-10;
    bool met = !promises || !(report.bound > report.target);
    if (!(same && covered && met))
        printf("# stage %zu: optimum %.12g, %.12g; objective %.12g, bound %g, target %g\n", count, here.optimum,
               there.optimum, here.objective, report.bound, report.target);
    keepfit_fit_free(plain);
    return same && covered && met;
}

/* The model's scores are those of x, and its objective that of the formula (squared loss). */
static bool is_model(keepfit_fit *fit, const struct cloud *cloud, size_t count, const double *spread)
{
    keepfit_model *model = NULL;
    size_t dimension;
    const double *x = keepfit_fit_iterate(fit, &dimension);
    double sum = 0, weight = 0, penalty = 0;
    TAP_NEED(keepfit_fit_model(fit, &model) == KEEPFIT_OK && dimension == FEATURES + 1);
    for (size_t f = 0; f < FEATURES; f++)
        penalty += LAMBDA * (spread[f] * x[f + 1]) * (spread[f] * x[f + 1]);
    for (size_t j = 0; j < count; j++) {
        keepfit_prediction prediction = {.struct_size = sizeof prediction};
        TAP_NEED(keepfit_model_predict(model, &cloud->point[j].row, &prediction, NULL) == KEEPFIT_OK);
        double apart = prediction.value - cloud->point[j].target;
        sum += cloud->point[j].weight * apart * apart;
        weight += cloud->point[j].weight;
    }
    keepfit_model_free(model);
    keepfit_measurement here = {.struct_size = sizeof here};
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE, &here) == KEEPFIT_OK);
    return near(here.objective, sum / weight + penalty, 1e-9);
}

static void test_problem(struct tap *tap, size_t k, bool sparse)
{
    char text[200];
    snprintf(text, sizeof text, "loss=%s lambda=%g epsilon=1e-3 intercept=true standardise=true %s", problems[k][0],
             LAMBDA, problems[k][1]);
    struct cloud *cloud = spread_cloud(problems[k][0], sparse);
    keepfit_fit *fit = fit_from(text);
    double spread[FEATURES];
    bool same = true, model = true;
    for (size_t j = 0; j < COUNT; j++) {
        push_range(fit, cloud, j, j + 1);
        if (((j + 1) & j) == 0) /* 1, 2, 4, ... points */
            find_spreads(cloud, j + 1, spread);
        if (j > 8 && j % 20 == 19)
            same &= is_problem(fit, k, cloud, j + 1, spread);
        if (strcmp(problems[k][0], "squared") == 0 && j % 6 == 5)
            model &= is_model(fit, cloud, j + 1, spread);
        keepfit_point point;
        TAP_NEED(keepfit_fit_point(fit, j / 2, &point) == KEEPFIT_OK);
        same &= journal_same_point(&point, &cloud->point[j / 2]);
    }
    tap_check(tap, same, "%s%s: the problem is that of rows in units of their spreads, and bounds hold", problems[k][0],
              sparse ? ", sparse" : "");
    tap_check(tap, model, "%s%s: the model is for rows as they came", problems[k][0], sparse ? ", sparse" : "");
    keepfit_fit_free(fit);
    free(cloud);
}

/* One column in another unit: the same model of rows in that unit. */
static void test_units(struct tap *tap)
{
    static const char text[] = "method=exact lambda=0.01 intercept=true standardise=true";
    struct cloud *cloud = spread_cloud("squared", false), *other = spread_cloud("squared", false);
    keepfit_fit *fit = fit_from(text), *of_other = fit_from(text);
    bool same = true;
    for (size_t j = 0; j < COUNT; j++) {
        other->value[j][2] = ldexp(other->value[j][2], 37);
        push_range(fit, cloud, j, j + 1);
        push_range(of_other, other, j, j + 1);
        size_t dimension;
        double x = keepfit_fit_iterate(fit, &dimension)[3], y = keepfit_fit_iterate(of_other, &dimension)[3];
        same &= j < 8 || near(x, ldexp(y, 37), 1e-6);
    }
    tap_check(tap, same, "a column in another unit: the same model");
    keepfit_fit_free(fit);
    keepfit_fit_free(of_other);
    free(cloud);
    free(other);
}

/* ---- going on ---- */

static const char *const goings[] = {"",
                                     "window=40",
                                     "half-life=6 method=refit",
                                     "method=quadratic lambda-total=0.5",
                                     "method=csvrg inner=5",
                                     "method=saga inner=5 iterate=scaled"};

static void push_drawn(keepfit_fit *fit, const struct cloud *cloud, size_t j)
{
    char key[16];
    snprintf(key, sizeof key, "%zu", j % 37);
    const keepfit_mark mark = {.struct_size = sizeof mark, .key = j % 3 ? NULL : key};
    keepfit_report report = {.struct_size = sizeof report};
    TAP_NEED(keepfit_fit_push_marked(fit, &cloud->point[j], &mark) == KEEPFIT_OK);
    keepfit_fit_report(fit, &report);
    if (j % 13 == 12)
        TAP_NEED(keepfit_fit_remove(fit, report.points / 3) == KEEPFIT_OK);
}

static void test_going_on(struct tap *tap, const char *options, bool checkpoints)
{
    char text[200], kept[320];
    snprintf(text, sizeof text, "loss=logistic %s epsilon=1e-2 intercept=true standardise=true %s",
             strstr(options, "lambda") ? "" : "lambda=0.02", options);
    snprintf(kept, sizeof kept, "%s journal=" FOLDER " segment-bytes=4096 sync=none%s", text,
             checkpoints ? " checkpoint-gradients=300" : "");
    struct cloud *cloud = spread_cloud("logistic", true);
    struct world *world = world_create();
    keepfit_fit *whole = fit_from(text);
    bool same = true;
    for (size_t from = 0; from < COUNT; from += 15) {
        keepfit_fit *part = journal_fit_sound(world, kept);
        for (size_t j = from; j < from + 15; j++) {
            push_drawn(whole, cloud, j);
            push_drawn(part, cloud, j);
        }
        if (from == 60)
            same &= keepfit_fit_compact(part) == KEEPFIT_OK;
        same &= same_iterate(part, whole);
        keepfit_fit_free(part);
    }
    tap_check(tap, same, "%s: a journal%s, broken off and compacted: the same bits", text,
              checkpoints ? " with checkpoints" : "");
    keepfit_fit_free(whole);
    world_free(world);
    free(cloud);
}

static void test_snapshot(struct tap *tap)
{
    static const char text[] = "loss=squared lambda=0.02 epsilon=1e-2 intercept=true standardise=true";
    struct cloud *cloud = spread_cloud("squared", false);
    keepfit_fit *fit = fit_from(text), *other = fit_from(text);
    static double value[COUNT * FEATURES], target[COUNT], weight[COUNT];
    const unsigned char *bytes;
    size_t size, half = COUNT / 2;
    push_range(fit, cloud, 0, half);
    for (size_t j = 0; j < half; j++) {
        memcpy(value + j * FEATURES, cloud->value[j], FEATURES * sizeof *value);
        target[j] = cloud->point[j].target;
        weight[j] = cloud->point[j].weight;
    }
    keepfit_block block = {.struct_size = sizeof block,
                           .count = half,
                           .features = FEATURES,
                           .stride = FEATURES,
                           .value = value,
                           .target = target,
                           .weight = weight};
    TAP_NEED(keepfit_fit_snapshot(fit, &bytes, &size) == KEEPFIT_OK);
    bool same = keepfit_fit_restore(other, &block, bytes, size) == KEEPFIT_OK && same_iterate(fit, other);
    push_range(fit, cloud, half, COUNT);
    push_range(other, cloud, half, COUNT);
    tap_check(tap, same && same_iterate(fit, other), "a snapshot goes on bit for bit");
    keepfit_fit_free(fit);
    keepfit_fit_free(other);
    free(cloud);
}

/* Values that no unit suits: they come back with their bits. */
static void test_extremes(struct tap *tap)
{
    static const double values[][2] = {{1, 2},         {3, -1},  {1e-300, 5e-324}, {1e120, 0},
                                       {-0.0, 1e-310}, {7, 2.5}, {1, 1e100}};
    keepfit_fit *fit = fit_from("loss=squared lambda=1 intercept=true standardise=true");
    bool same = true;
    for (size_t j = 0; j < 21; j++) {
        const double *value = values[j % 7];
        keepfit_point point = {.row = {.count = 2, .value = value}, .target = (double)j, .weight = 1}, back;
        keepfit_status status = keepfit_fit_push(fit, &point);
        same &= status == KEEPFIT_OK && keepfit_fit_point(fit, j / 3, &back) == KEEPFIT_OK &&
                memcmp(back.row.value, values[j / 3 % 7], sizeof values[0]) == 0;
    }
    tap_check(tap, same, "extreme values come back with their bits");
    keepfit_fit_free(fit);
}

static void test_refused(struct tap *tap)
{
    static const char *const bad[] = {"standardise=true", "standardise=true bias=1",
                                      "standardise=true intercept=true domain=ball:1",
                                      "standardise=true loss=network:4 method=sgd"};
    bool refused = true;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        keepfit_options *options = options_from(bad[k]);
        keepfit_fit *fit = NULL;
        refused &= keepfit_fit_create(options, &fit, NULL) == KEEPFIT_USAGE;
        keepfit_options_free(options);
        keepfit_fit_free(fit);
    }
    tap_check(tap, refused, "without an intercept, with a domain, and for a network it is refused");
}

/* "quick": few of them. */
int main(int count, char **words)
{
    struct tap tap = {0};
    size_t each = count > 1 && strcmp(words[1], "quick") == 0 ? 3 : 1;
    for (size_t k = 0; k < PROBLEMS; k += each) {
        if (each == 1)
            test_problem(&tap, k, false);
        test_problem(&tap, k, true);
    }
    test_units(&tap);
    for (size_t k = 0; k < sizeof goings / sizeof goings[0]; k += each)
        test_going_on(&tap, goings[k], k % 2 == 0);
    test_snapshot(&tap);
    test_extremes(&tap);
    test_refused(&tap);
    return tap_end(&tap);
}
