#include "service/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/service.h"

#define ERRORS_GROWTH                                                                                                  \
    1.5 /* points, until standard errors are computed again: all of them together cost three times the last */
#define ERRORS_WORK 1e9 /* multiplications that the learner may be held up for */

static void pair(struct text *text, const char *name, double number)
{
    text_printf(text, ",\"%s\":", name);
    text_number(text, number);
}

static bool errors_are_due(const struct trained *trained, const struct current *made)
{
    double dimension = (double)(made->about.features + 1) * (double)made->about.outputs;
    double growth = trained->measured ? ERRORS_GROWTH * (double)trained->measured->report.stage : 2;
    return !made->about.hidden && (double)made->report.stage >= growth &&
           (double)made->report.points * dimension * dimension + dimension * dimension * dimension < ERRORS_WORK;
}

/* They go into a model of their own: the one that is given out is as the fit has it. */
static void measure(struct trained *trained, const struct current *made)
{
    struct current *measured = calloc(1, sizeof *measured);
    if (!measured)
        return;
    atomic_init(&measured->users, 1);
    measured->report = made->report;
    if (keepfit_fit_model(trained->fit, &measured->model) != KEEPFIT_OK ||
        keepfit_fit_standard_errors(trained->fit, measured->model) != KEEPFIT_OK) {
        current_leave(measured);
        return;
    }
    current_leave(trained->measured);
    trained->measured = measured;
}

/* The newest errors live as long as models that show them. */
static void publish_errors(struct trained *trained, struct current *made)
{
    if (made->model && errors_are_due(trained, made))
        measure(trained, made);
    made->measured = trained->measured;
    if (made->measured)
        atomic_fetch_add(&made->measured->users, 1);
}

static void publish_example(struct trained *trained, struct shown_row *shown, uint64_t points)
{
    keepfit_point point;
    if (!points || keepfit_fit_point(trained->fit, points - 1, &point) != KEEPFIT_OK || point.row.count > SHOWN_EXAMPLE)
        return;
    shown->count = point.row.count;
    for (size_t k = 0; k < point.row.count; k++) {
        shown->index[k] = point.row.index ? point.row.index[k] : (uint32_t)k;
        shown->value[k] = point.row.value[k];
    }
}

void shown_publish(struct trained *trained, struct current *made)
{
    publish_example(trained, &made->shown, made->report.points);
    publish_errors(trained, made);
}

void shown_errors(struct text *text, const struct current *current, size_t feature, size_t output)
{
    const struct current *from = current->measured;
    double error = NAN, robust = NAN;
    if (from) {
        keepfit_model_standard_errors(from->model, false, feature, output, &error);
        keepfit_model_standard_errors(from->model, true, feature, output, &robust);
    }
    pair(text, "error", error);
    pair(text, "robust", robust);
}

void shown_errors_stage(struct text *text, const struct current *current)
{
    pair(text, "errors_stage", current->measured ? (double)current->measured->report.stage : NAN);
}

/* Of a table with types, its columns, to be filled in; of features without names a list; otherwise the newest row. */
void shown_example(struct text *text, const struct current *current)
{
    const struct shown_row *shown = &current->shown;
    const keepfit_schema *schema = &current->schema;
    size_t written = 0;
    bool named = schema->feature && schema->features >= current->about.features;
    text_put(text, ",\"example\":");
    if (!current->model || (!schema->columns && !shown->count)) {
        text_put(text, "null");
        return;
    }
    text_put(text, schema->columns || named ? "{" : "[");
    for (size_t k = 0; k < schema->columns; k++)
        if (strcmp(schema->type[k], "ignore") != 0 && strcmp(schema->type[k], "cross") != 0) {
            text_put(text, written++ ? "," : "");
            text_string(text, schema->column[k]);
            text_put(text, strcmp(schema->type[k], "number") == 0 ? ":0" : ":\"\"");
        }
    for (size_t k = 0, at = 0; !schema->columns && k < shown->count; k++) {
        size_t index = shown->index[k];
        for (; !named && at < index; at++)
            text_put(text, at ? ",0" : "0");
        text_put(text, k || (!named && at) ? "," : "");
        if (named) {
            text_string(text, schema->feature[index]);
            text_put(text, ":");
        }
        text_number(text, shown->value[k]);
        at = index + 1;
    }
    text_put(text, schema->columns || named ? "}" : "]");
}
