/* Fits: created, pushed to until features and classes have come anew, points removed, measured, read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "operations.h"
#include "tap.h"

#define POINTS 9

/* New features come at points 2 and 5, the second class at point 1, with softmax a third at point 6. */
static keepfit_point point_at(size_t k, bool three)
{
    static const uint32_t index[][3] = {{0, 1, 2}, {0, 2, 5}, {1, 40, 90}};
    static const double value[][3] = {{1, -0.5, 0.25}, {-1, 0.75, 2}, {0.5, 1, -1}, {2, 0.125, 1}};
    const uint32_t *at = index[k < 2 ? 0 : k < 5 ? 1 : 2];
    keepfit_row row = {.count = 3, .index = at, .value = value[k % 4]};
    return (keepfit_point){.row = row, .target = three && k >= 6 ? (double)(k % 3) : (double)(k % 2), .weight = 1};
}

static bool has_three(const struct operation *operation)
{
    return strstr(operation->settings, "softmax") || strstr(operation->settings, "network");
}

static void note(struct outcome *outcome, const char *breach)
{
    if (!outcome->breach)
        outcome->breach = breach;
}

/* After a failure the fit can be read, and either goes on as if nothing had been or refuses for the same reason. `known` points
 * have been acknowledged. */
static void check_left(const struct operation *operation, keepfit_fit *fit, uint64_t known, bool may_go_on,
                       struct outcome *outcome)
{
    operations_calm();
    outcome->error = *keepfit_fit_error(fit);
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    if (report.points < known || report.points > known + 1)
        note(outcome, "a point was lost");
    size_t dimension;
    const double *x = keepfit_fit_iterate(fit, &dimension);
    for (size_t k = 0; k < dimension; k++)
        if (!isfinite(x[k]))
            note(outcome, "the iterate cannot be read");
    keepfit_model *model = NULL;
    keepfit_status status = keepfit_fit_model(fit, &model);
    if (status != KEEPFIT_OK && status != KEEPFIT_NO_MEMORY && status != KEEPFIT_USAGE)
        note(outcome, "the model cannot be read");
    keepfit_model_free(model);
    keepfit_point next = point_at(POINTS, has_three(operation));
    status = keepfit_fit_push(fit, &next);
    if (status != outcome->status && !(may_go_on && status == KEEPFIT_OK))
        note(outcome, may_go_on ? "the fit does not go on" : "a point is taken by a fit that has failed");
}

static bool push_some(const struct operation *operation, keepfit_fit *fit, size_t from, size_t to, uint64_t *known,
                      struct outcome *outcome)
{
    uint64_t window = strstr(operation->settings, "window=") ? 4 : UINT64_MAX;
    for (size_t k = from; k < to; k++) {
        keepfit_point point = point_at(k, has_three(operation));
        outcome->status = keepfit_fit_push(fit, &point);
        if (outcome->status != KEEPFIT_OK) {
            /* the oldest may have left already */
            check_left(operation, fit, *known < window ? *known : window - 1, false, outcome);
            return false;
        }
        *known += *known < window;
    }
    return true;
}

static bool remove_one(const struct operation *operation, keepfit_fit *fit, uint64_t index, uint64_t *known,
                       struct outcome *outcome)
{
    outcome->status = keepfit_fit_remove(fit, index);
    *known -= outcome->status == KEEPFIT_OK;
    if (outcome->status == KEEPFIT_OK)
        return true;
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    bool untouched = report.points == *known;
    check_left(operation, fit, untouched ? *known : *known - 1, untouched, outcome);
    return false;
}

static bool measure_all(const struct operation *operation, keepfit_fit *fit, uint64_t known, struct outcome *outcome)
{
    keepfit_measurement measured = {.struct_size = sizeof measured};
    unsigned what = KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_BOUND;
    if (!strstr(operation->settings, "network")) /* which has no optimum that could be computed */
        what |= KEEPFIT_MEASURE_OPTIMUM;
    outcome->status = keepfit_fit_measure(fit, what, &measured);
    if (outcome->status != KEEPFIT_OK) {
        check_left(operation, fit, known, true, outcome);
        return false;
    }
    add_to_digest(outcome, &measured, sizeof measured);
    return true;
}

/* Standard errors, and what the oldest point does; where there is none of this, that is no failure. */
static void say_more(const struct operation *operation, keepfit_fit *fit, uint64_t known, keepfit_model *model,
                     struct outcome *outcome)
{
    keepfit_influence influence = {.struct_size = sizeof influence};
    keepfit_validation validation = {.struct_size = sizeof validation};
    double error = 0;
    outcome->status = keepfit_fit_standard_errors(fit, model);
    if (outcome->status == KEEPFIT_OK) {
        TAP_NEED(keepfit_model_standard_errors(model, true, 0, 0, &error));
        outcome->status = keepfit_fit_influence(fit, 0, &influence);
    }
    if (outcome->status == KEEPFIT_USAGE) {
        outcome->status = KEEPFIT_OK;
    } else if (outcome->status != KEEPFIT_OK) {
        check_left(operation, fit, known, true, outcome);
        return;
    }
    keepfit_fit_validation(fit, &validation);
    add_to_digest(outcome, &error, sizeof error);
    add_to_digest(outcome, &influence.distance, sizeof influence.distance);
    add_to_digest(outcome, &validation.windowed_loss, sizeof validation.windowed_loss);
}

static void read_model(const struct operation *operation, keepfit_fit *fit, uint64_t known, struct outcome *outcome)
{
    keepfit_model *model = NULL;
    outcome->status = keepfit_fit_model(fit, &model);
    if (outcome->status != KEEPFIT_OK) {
        check_left(operation, fit, known, true, outcome);
        return;
    }
    keepfit_description about = {.struct_size = sizeof about};
    keepfit_model_describe(model, &about);
    add_to_digest(outcome, about.weights,
                  (about.hidden ? about.hidden : about.features) * about.outputs * sizeof *about.weights);
    add_to_digest(outcome, about.labels, about.classes * sizeof *about.labels);
    say_more(operation, fit, known, model, outcome);
    keepfit_model_free(model);
}

static void work_with(const struct operation *operation, keepfit_fit *fit, struct outcome *outcome)
{
    uint64_t known = 0;
    if (push_some(operation, fit, 0, 7, &known, outcome) && remove_one(operation, fit, 2, &known, outcome) &&
        remove_one(operation, fit, 0, &known, outcome) && push_some(operation, fit, 7, POINTS, &known, outcome) &&
        measure_all(operation, fit, known, outcome))
        read_model(operation, fit, known, outcome);
}

static void run_fit(const struct operation *operation, struct outcome *outcome)
{
    keepfit_options *options = NULL;
    keepfit_fit *fit = NULL;
    outcome->status = make_options(operation->settings, &options, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        outcome->status = keepfit_fit_create(options, &fit, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        work_with(operation, fit, outcome);
    keepfit_fit_free(fit);
    keepfit_options_free(options);
}

/* ---- blocks, expected classes, snapshots ---- */

/* POINTS rows of two features, each in full. */
static keepfit_block block_of(size_t from, size_t to)
{
    static const double value[POINTS][2] = {{1, -0.5}, {-1, 2}, {0.5, 1}, {2, 0.25}, {-2, 1},
                                            {1, 1},    {0, 1},  {3, 0},   {1, 2}};
    static const double target[POINTS] = {0, 1, 0, 1, 1, 0, 0, 1, 0};
    return (keepfit_block){
        .count = to - from, .features = 2, .stride = 2, .value = value[from], .target = target + from};
}

static void restore_into(keepfit_fit *fit, const unsigned char *bytes, size_t count, struct outcome *outcome)
{
    keepfit_block all = block_of(0, 6);
    outcome->status = keepfit_fit_restore(fit, &all, bytes, count);
    if (outcome->status != KEEPFIT_OK) { /* only good to be freed */
        operations_calm();
        outcome->error = *keepfit_fit_error(fit);
        return;
    }
    keepfit_block rest = block_of(6, POINTS);
    outcome->status = keepfit_fit_extend(fit, &rest, NULL);
    outcome->error = *keepfit_fit_error(fit);
    size_t dimension;
    const double *x = keepfit_fit_iterate(fit, &dimension);
    add_to_digest(outcome, x, dimension * sizeof *x);
}

static void use_blocks(keepfit_fit *fit, keepfit_fit *other, struct outcome *outcome)
{
    keepfit_block block = block_of(0, 6);
    const unsigned char *bytes = NULL;
    size_t count = 0, pushed = 0;
    const uint64_t leaving[] = {1, 3};
    outcome->status = keepfit_fit_expect(fit, 1);
    if (outcome->status == KEEPFIT_OK)
        outcome->status = keepfit_fit_expect(other, 1);
    if (outcome->status == KEEPFIT_OK)
        outcome->status = keepfit_fit_extend(fit, &block, &pushed);
    if (outcome->status == KEEPFIT_OK)
        outcome->status = keepfit_fit_snapshot(fit, &bytes, &count);
    outcome->error =
        *keepfit_fit_error(outcome->status != KEEPFIT_OK && keepfit_fit_error(other)->status ? other : fit);
    if (outcome->status == KEEPFIT_OK)
        restore_into(other, bytes, count, outcome);
    if (outcome->status != KEEPFIT_OK)
        return;
    outcome->status = keepfit_fit_remove_block(fit, leaving, 2);
    outcome->error = *keepfit_fit_error(fit);
    keepfit_point point;
    if (outcome->status == KEEPFIT_OK) {
        outcome->status = keepfit_fit_point(fit, 2, &point);
        outcome->error = *keepfit_fit_error(fit);
    }
    if (outcome->status == KEEPFIT_OK)
        add_to_digest(outcome, &point.target, sizeof point.target);
}

static void run_blocks(const struct operation *operation, struct outcome *outcome)
{
    keepfit_options *options = NULL;
    keepfit_fit *fit = NULL, *other = NULL;
    outcome->status = make_options(operation->settings, &options, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        outcome->status = keepfit_fit_create(options, &fit, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        outcome->status = keepfit_fit_create(options, &other, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        use_blocks(fit, other, outcome);
    keepfit_fit_free(other);
    keepfit_fit_free(fit);
    keepfit_options_free(options);
}

/* ---- a user-written objective: (x[0] - target)^2 ---- */

static int value_of(void *context, const double *x, const keepfit_point *point, double *value)
{
    (void)context;
    *value = (x[0] - point->target) * (x[0] - point->target);
    return 0;
}

static int gradient_of(void *context, const double *x, const keepfit_point *point, double *gradient)
{
    (void)context;
    gradient[0] = 2 * (x[0] - point->target);
    gradient[1] = 0;
    return 0;
}

static void run_custom(const struct operation *operation, struct outcome *outcome)
{
    const keepfit_objective objective = {
        .name = "distance", .dimension = 2, .value = value_of, .gradient = gradient_of};
    keepfit_options *options = NULL;
    keepfit_fit *fit = NULL;
    uint64_t known = 0;
    outcome->status = make_options(operation->settings, &options, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        outcome->status = keepfit_fit_create_custom(options, &objective, &fit, &outcome->error);
    if (outcome->status == KEEPFIT_OK && push_some(operation, fit, 0, POINTS, &known, outcome) &&
        measure_all(operation, fit, known, outcome)) {
        size_t dimension;
        const double *x = keepfit_fit_iterate(fit, &dimension);
        add_to_digest(outcome, x, dimension * sizeof *x);
    }
    keepfit_fit_free(fit);
    keepfit_options_free(options);
}

/* ---- the list ---- */

static bool suits(const char *settings)
{
    keepfit_options *options = NULL;
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    TAP_NEED(make_options(settings, &options, &error) == KEEPFIT_OK);
    keepfit_status status = keepfit_fit_create(options, &fit, &error);
    keepfit_fit_free(fit);
    keepfit_options_free(options);
    return status == KEEPFIT_OK;
}

static size_t add(struct operation *list, size_t most, size_t count, const char *settings,
                  void (*run)(const struct operation *, struct outcome *))
{
    TAP_NEED(count < most);
    list[count] = (struct operation){.run = run};
    snprintf(list[count].settings, sizeof list[count].settings, "threads=1 %s", settings);
    snprintf(list[count].name, sizeof list[count].name, "%s%s",
             run == run_custom   ? "own objective: "
             : run == run_blocks ? "blocks and snapshots: "
                                 : "",
             settings);
    return count + 1;
}

size_t fit_operations(struct operation *list, size_t most, size_t share)
{
    static const char *const others[] = {
        "loss=squared window=4 lambda=0.1 intercept=true",
        "loss=softmax lambda=0.1 intercept=true",
        "loss=huber window=4 lambda=1e-12 intercept=true method=csvrg", /* columns are centred */
        "loss=logistic lambda=0.1 intercept=true domain=ball:1",
        "loss=logistic window=4 lambda=0.1 method=table",
        "loss=logistic lambda=0.1 domain=ball:1",
        "loss=squared lambda=0.1 domain=simplex",
        "loss=squared lambda=0.1 domain=box:-0.1:0.2 method=csvrg",
        "loss=logistic lambda=0.1 iterate=scaled method=csvrg inner=5 outer=2 domain=ball:1",
    };
    size_t count = 0, pair = 0;
    keepfit_entry method = {.struct_size = sizeof method}, loss = {.struct_size = sizeof loss};
    for (size_t m = 0; keepfit_family_entry(KEEPFIT_METHODS, m, &method); m++)
        for (size_t l = 0; keepfit_family_entry(KEEPFIT_LOSSES, l, &loss); l++) {
            char settings[128];
            if (pair++ % share != 0)
                continue;
            const char *named = strchr(loss.name, ':') ? "network:3" : loss.name;
            snprintf(settings, sizeof settings, "method=%s loss=%s lambda=0.1 bias=1%s", method.name, named,
                     named == loss.name ? "" : " inner=5"); /* gd has no bound to stop at */
            if (suits(settings))
                count = add(list, most, count, settings, run_fit);
        }
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
        count = add(list, most, count, others[k], run_fit);
    count = add(list, most, count, "loss=logistic lambda=0.1 bias=1", run_blocks);
    count = add(list, most, count, "loss=hinge lambda=0.1 window=7", run_blocks);
    count = add(list, most, count, "loss=softmax lambda=0.1 method=csvrg inner=5", run_blocks);
    return add(list, most, count, "lambda=0.1 smoothness=2 method=csvrg inner=5", run_custom);
}
