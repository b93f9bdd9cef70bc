/* Blocks of points as one stage: as good a model as point by point, nothing half done, and what comes out is what went in. */
#include <string.h>

#include "support.h"

#define FEATURES 12

/* A cloud's points from .. to-1 as a block that owns its arrays. */
struct pack {
    keepfit_block block;
    uint64_t start[POINTS_MOST + 1];
    uint32_t index[POINTS_MOST * FEATURES];
    double value[POINTS_MOST * FEATURES], target[POINTS_MOST], weight[POINTS_MOST];
};

static struct pack *pack_make(const struct cloud *cloud, size_t from, size_t to, bool full)
{
    struct pack *pack = calloc(1, sizeof *pack);
    TAP_NEED(pack);
    size_t entries = 0;
    for (size_t j = from; j < to; j++) {
        const keepfit_row *row = &cloud->point[j].row;
        pack->start[j - from] = entries;
        for (size_t k = 0; k < row->count; k++) {
            size_t feature = row->index ? row->index[k] : k, at = full ? (j - from) * FEATURES + feature : entries++;
            pack->index[at] = (uint32_t)feature;
            pack->value[at] = row->value[k];
        }
        pack->target[j - from] = cloud->point[j].target;
        pack->weight[j - from] = cloud->point[j].weight;
    }
    pack->start[to - from] = entries;
    pack->block = (keepfit_block){.count = to - from,
                                  .features = FEATURES,
                                  .stride = FEATURES,
                                  .start = full ? NULL : pack->start,
                                  .index = pack->index,
                                  .value = pack->value,
                                  .target = pack->target,
                                  .weight = pack->weight};
    return pack;
}

static void extend(keepfit_fit *fit, const struct cloud *cloud, size_t from, size_t to, bool full)
{
    struct pack *pack = pack_make(cloud, from, to, full);
    size_t pushed = 0;
    TAP_NEED(keepfit_fit_extend(fit, &pack->block, &pushed) == KEEPFIT_OK && pushed == to - from);
    free(pack);
}

static double gap_of(keepfit_fit *fit)
{
    keepfit_measurement measured = {.struct_size = sizeof measured};
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK);
    return measured.gap;
}

/* The report's bound lies between the gap and the target. */
static bool is_kept(keepfit_fit *fit)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    return report.bound >= gap_of(fit) - 1e-12 && report.bound <= report.target;
}

static void test_guarantee(struct tap *tap, const char *method, const char *loss, const char *extra)
{
    struct cloud *cloud = cloud_make(loss, 400, FEATURES, true, true, 7);
    char text[300];
    snprintf(text, sizeof text, "loss=%s method=%s epsilon=1e-4 %s", loss, method, extra);
    keepfit_fit *fit = fit_from(text);
    static const size_t ends[] = {1, 3, 120, 121, 150, 390, 400};
    bool kept = true;
    size_t from = 0;
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
        extend(fit, cloud, from, ends[k], k % 2);
        kept &= is_kept(fit);
        from = ends[k];
    }
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    tap_check(tap, kept && report.stage == 400 && report.missed == 0, "%s %s %s: blocks end within epsilon, proved",
              method, loss, extra);
    keepfit_fit_free(fit);
    free(cloud);
}

/* A block of one, and a block given to a method without promises, are pushes. */
static void test_pushes(struct tap *tap, const char *method, size_t size)
{
    struct cloud *cloud = cloud_make("squared", 120, FEATURES, true, true, 3);
    char text[200];
    snprintf(text, sizeof text, "loss=squared method=%s lambda=0.01 epsilon=1e-3", method);
    keepfit_fit *blocks = fit_from(text), *points = fit_from(text);
    for (size_t j = 0; j < cloud->count; j += size)
        extend(blocks, cloud, j, j + size, false);
    push_range(points, cloud, 0, cloud->count);
    tap_check(tap, same_iterate(blocks, points), "%s: blocks of %zu are pushes, bit for bit", method, size);
    keepfit_fit_free(blocks);
    keepfit_fit_free(points);
    free(cloud);
}

/* Something bad in row `row` of a block. */
static void spoil(struct pack *pack, const char *how, size_t row)
{
    if (strcmp(how, "value") == 0)
        pack->value[pack->start[row]] = NAN;
    else if (strcmp(how, "target") == 0)
        pack->target[row] = INFINITY;
    else if (strcmp(how, "class") == 0)
        pack->target[row] = 17;
    else if (strcmp(how, "weight") == 0)
        pack->weight[row] = -1;
    else
        pack->index[pack->start[row] + 1] = pack->index[pack->start[row]];
}

static void test_refusal(struct tap *tap, const char *how)
{
    struct cloud *cloud = cloud_make("logistic", 200, FEATURES, false, true, 5);
    const char *text = "loss=logistic lambda=0.01 epsilon=1e-5";
    keepfit_fit *fit = fit_from(text), *other = fit_from(text);
    struct pack *pack = pack_make(cloud, 50, 100, false);
    size_t pushed = 99;
    spoil(pack, how, 30);
    extend(fit, cloud, 0, 50, true);
    extend(other, cloud, 0, 50, true);
    keepfit_status status = keepfit_fit_extend(fit, &pack->block, &pushed);
    bool told = status == KEEPFIT_DATA && pushed == 0 && keepfit_fit_error(fit)->line == 31;
    extend(fit, cloud, 100, 200, false);
    extend(other, cloud, 100, 200, false);
    tap_check(tap, told && same_iterate(fit, other), "a bad %s refuses the whole block, names the row, changes nothing",
              how);
    keepfit_fit_free(fit);
    keepfit_fit_free(other);
    free(pack);
    free(cloud);
}

static void test_removal(struct tap *tap, const char *method, const char *loss)
{
    struct cloud *cloud = cloud_make(loss, 300, FEATURES, true, true, 9);
    char text[200];
    snprintf(text, sizeof text, "loss=%s method=%s lambda=0.02 epsilon=1e-5", loss, method);
    keepfit_fit *fit = fit_from(text), *other = fit_from(text);
    uint64_t indices[100];
    extend(fit, cloud, 0, 300, false);
    for (size_t k = 0; k < 100; k++)
        indices[k] = 3 * k + 1;
    for (size_t j = 0; j < 300; j++)
        if (j % 3 != 1)
            push_range(other, cloud, j, j + 1);
    TAP_NEED(keepfit_fit_remove_block(fit, indices, 100) == KEEPFIT_OK);
    keepfit_measurement left = {.struct_size = sizeof left}, alone = {.struct_size = sizeof alone};
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &left) == KEEPFIT_OK);
    TAP_NEED(keepfit_fit_measure(other, KEEPFIT_MEASURE_OPTIMUM, &alone) == KEEPFIT_OK);
    uint64_t index = 0;
    bool found = keepfit_fit_find(fit, 3, &index) && index == 1 && !keepfit_fit_find(fit, 2, &index);
    tap_check(tap, is_kept(fit) && found && near(left.optimum, alone.optimum, 1e-10),
              "%s %s: a hundred points leave at once, and the others are as if alone", method, loss);
    static const uint64_t descending[] = {5, 4}, beyond[] = {1, 200};
    keepfit_report report = {.struct_size = sizeof report};
    bool refused = keepfit_fit_remove_block(fit, descending, 2) == KEEPFIT_USAGE &&
                   keepfit_fit_remove_block(fit, beyond, 2) == KEEPFIT_USAGE;
    keepfit_fit_report(fit, &report);
    tap_check(tap, refused && report.points == 200, "indices that descend or are not there remove nothing");
    keepfit_fit_free(fit);
    keepfit_fit_free(other);
    free(cloud);
}

/* What a fit hands back is what it was given. */
static void test_reading(struct tap *tap, const char *text, const char *loss)
{
    struct cloud *cloud = cloud_make(loss, 100, FEATURES, true, true, 13);
    keepfit_fit *fit = fit_from(text);
    extend(fit, cloud, 0, 60, false);
    push_range(fit, cloud, 60, 100);
    bool same = true;
    for (size_t j = 0; j < cloud->count; j++) {
        const keepfit_point *given = &cloud->point[j];
        keepfit_point point;
        TAP_NEED(keepfit_fit_point(fit, j, &point) == KEEPFIT_OK);
        same &= point.target == given->target && point.weight == given->weight && point.row.count == given->row.count;
        for (size_t k = 0; same && k < point.row.count; k++)
            same &= point.row.value[k] == given->row.value[k] &&
                    (point.row.index ? point.row.index[k] : k) == (given->row.index ? given->row.index[k] : k);
    }
    keepfit_point point;
    tap_check(tap, same && keepfit_fit_point(fit, 100, &point) == KEEPFIT_USAGE,
              "%s: points are read as they were pushed", text);
    keepfit_fit_free(fit);
    free(cloud);
}

/* An objective, |x - row|^2/2, that stops its fit at its n-th gradient. */
struct alarm {
    long gradients, at;
    keepfit_fit *fit;
};

static int alarm_value(void *context, const double *x, const keepfit_point *point, double *value)
{
    (void)context;
    *value = 0;
    for (size_t k = 0; k < point->row.count; k++)
        *value += (x[k] - point->row.value[k]) * (x[k] - point->row.value[k]) / 2;
    return 0;
}

static int alarm_gradient(void *context, const double *x, const keepfit_point *point, double *gradient)
{
    struct alarm *alarm = context;
    if (++alarm->gradients == alarm->at)
        keepfit_fit_stop(alarm->fit);
    for (size_t k = 0; k < point->row.count; k++)
        gradient[k] = x[k] - point->row.value[k];
    return 0;
}

static int alarm_curvature(void *context, const keepfit_point *point, double *curvature)
{
    (void)context;
    (void)point;
    *curvature = 1;
    return 0;
}

static void test_watch(struct tap *tap)
{
    struct cloud *cloud = cloud_make("squared", 200, FEATURES, false, false, 21);
    struct alarm alarm = {.at = 60};
    keepfit_objective objective = {
        .name = "alarm", .dimension = FEATURES, .context = &alarm, .value = alarm_value, .gradient = alarm_gradient};
    objective.curvature = alarm_curvature;
    keepfit_options *options = options_from("lambda=0.01 epsilon=1e-9");
    keepfit_fit *fit = NULL;
    TAP_NEED(keepfit_fit_create_custom(options, &objective, &fit, NULL) == KEEPFIT_OK);
    alarm.fit = fit;
    struct pack *pack = pack_make(cloud, 0, 50, true);
    size_t pushed = 0;
    keepfit_status status = keepfit_fit_extend(fit, &pack->block, &pushed);
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    tap_check(tap,
              status == KEEPFIT_OK && pushed == 50 && report.points == 50 && report.bound > report.target &&
                  report.outcome == KEEPFIT_STAGE_STOPPED,
              "a stop during a stage ends it, with all points in and an honest bound (%g)", report.bound);
    status = keepfit_fit_extend(fit, &pack->block, &pushed);
    bool nothing = status == KEEPFIT_STOPPED && pushed == 0;
    status = keepfit_fit_push_block(fit, cloud->point, 3, &pushed);
    keepfit_fit_report(fit, &report);
    tap_check(tap, nothing && status == KEEPFIT_STOPPED && pushed == 0 && report.points == 50,
              "while it lasts no point goes in");
    keepfit_fit_resume(fit);
    push_range(fit, cloud, 100, 101);
    tap_check(tap, is_kept(fit), "once it is over the next point brings the model within epsilon");
    static const uint64_t indices[] = {0, 7, 20};
    TAP_NEED(keepfit_fit_remove_block(fit, indices, 3) == KEEPFIT_OK);
    tap_check(tap, is_kept(fit) && fit->task.problem.points.count == 48, "points leave a user-written objective, too");
    keepfit_fit_free(fit);
    keepfit_options_free(options);
    free(pack);
    free(cloud);
}

/* Classes that are expected have their place before they come. */
static void test_expectation(struct tap *tap)
{
    struct cloud *cloud = cloud_make("softmax", 150, FEATURES, false, false, 2);
    keepfit_fit *fit = fit_from("loss=softmax lambda=0.01 epsilon=1e-5");
    bool kept = keepfit_fit_expect(fit, 5) == KEEPFIT_OK && keepfit_fit_expect(fit, 0) == KEEPFIT_OK;
    extend(fit, cloud, 0, 100, true);
    kept &= is_kept(fit) && keepfit_fit_expect(fit, -3) == KEEPFIT_OK && is_kept(fit);
    extend(fit, cloud, 100, 150, true);
    keepfit_model *model = NULL;
    keepfit_description description = {.struct_size = sizeof description};
    TAP_NEED(keepfit_fit_model(fit, &model) == KEEPFIT_OK);
    keepfit_model_describe(model, &description);
    kept &= description.classes == 5 && description.labels[0] == 5 && description.labels[4] == -3;
    tap_check(tap, kept && is_kept(fit), "softmax: classes that are expected belong to the model, within epsilon");
    keepfit_model_free(model);
    keepfit_fit_free(fit);
    fit = fit_from("loss=logistic lambda=0.01");
    bool two = keepfit_fit_expect(fit, 4) == KEEPFIT_OK && keepfit_fit_expect(fit, 2) == KEEPFIT_OK &&
               keepfit_fit_expect(fit, 4) == KEEPFIT_OK && keepfit_fit_expect(fit, 3) == KEEPFIT_DATA &&
               keepfit_fit_expect(fit, NAN) == KEEPFIT_DATA;
    tap_check(tap, two, "logistic: two classes may be expected, a third is refused");
    keepfit_fit_free(fit);
    fit = fit_from("loss=squared");
    tap_check(tap, keepfit_fit_expect(fit, 1) == KEEPFIT_USAGE, "a regression expects no classes");
    keepfit_fit_free(fit);
    free(cloud);
}

/* A fit that was restored goes on as the one that the snapshot is of. */
static void test_restoring(struct tap *tap, const char *text, const char *loss)
{
    struct cloud *cloud = cloud_make(loss, 300, FEATURES, true, true, 17);
    keepfit_fit *fit = fit_from(text), *other = fit_from(text);
    struct pack *pack = pack_make(cloud, 10, 200, false);
    const unsigned char *bytes = NULL;
    size_t count = 0;
    extend(fit, cloud, 0, 200, false);
    for (size_t k = 0; k < 10; k++)
        TAP_NEED(keepfit_fit_remove(fit, 0) == KEEPFIT_OK);
    TAP_NEED(keepfit_fit_snapshot(fit, &bytes, &count) == KEEPFIT_OK);
    keepfit_status status = keepfit_fit_restore(other, &pack->block, bytes, count);
    extend(fit, cloud, 200, 300, true);
    if (status == KEEPFIT_OK)
        extend(other, cloud, 200, 300, true);
    tap_check(tap, status == KEEPFIT_OK && same_iterate(fit, other), "%s: restored, and on bit for bit", text);

    keepfit_fit *third = fit_from(text);
    TAP_NEED(keepfit_fit_snapshot(fit, &bytes, &count) == KEEPFIT_OK);
    bool refused = keepfit_fit_restore(other, &pack->block, bytes, count) == KEEPFIT_USAGE &&
                   keepfit_fit_restore(third, &pack->block, bytes, count) == KEEPFIT_CORRUPT &&
                   keepfit_fit_push(third, cloud->point) == KEEPFIT_CORRUPT;
    tap_check(tap, refused, "%s: with other points, or into a fit that has some, a snapshot is refused", text);
    keepfit_fit_free(fit);
    keepfit_fit_free(other);
    keepfit_fit_free(third);
    free(pack);
    free(cloud);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    bool quick = count > 1 && strcmp(words[1], "quick") == 0;
    const char *loss;
    static const char *const extras[] = {"lambda=0.01", "lambda=0.01 domain=ball:0.5", "lambda-total=2 bias=1",
                                         "lambda=0.01 epsilon-kind=relative epsilon=0.01", "lambda=0.02 window=100"};
    for (size_t l = 0; (loss = linear_loss(l)); l++)
        for (size_t e = quick ? l % 5 : 0; e < (quick ? l % 5 + 1 : 5); e++) {
            test_guarantee(&tap, "auto", loss, extras[e]);
            test_guarantee(&tap, "table", loss, extras[e]);
            test_guarantee(&tap, "refit", loss, extras[e]);
        }
    for (size_t k = 1; kf_method_entry(k); k++) {
        test_pushes(&tap, kf_method_entry(k)->name, 1);
        if (!kf_method_entry(k)->settle)
            test_pushes(&tap, kf_method_entry(k)->name, 40);
    }
    static const char *const faults[] = {"value", "target", "class", "weight", "order"};
    for (size_t k = 0; k < 5; k++)
        test_refusal(&tap, faults[k]);
    for (size_t l = 0; (loss = linear_loss(l)); l++)
        test_removal(&tap, l % 2 ? "table" : "auto", loss);
    test_reading(&tap, "loss=squared lambda=0.01", "squared");
    test_reading(&tap, "loss=logistic lambda=0.01 bias=2", "logistic");
    test_reading(&tap, "loss=softmax lambda=0.01 intercept=true", "softmax");
    test_restoring(&tap, "loss=squared lambda=0.01 method=auto", "squared");
    test_restoring(&tap, "loss=logistic lambda=0.01 method=auto bias=1", "logistic");
    test_restoring(&tap, "loss=softmax lambda=0.01 method=table", "softmax");
    test_restoring(&tap, "loss=logistic lambda=0.01 method=csvrg", "logistic");
    test_watch(&tap);
    test_expectation(&tap);
    return tap_end(&tap);
}
