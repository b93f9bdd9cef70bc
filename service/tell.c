/* What a service tells of itself: its model, report, metrics, health. All from what was published, so nothing waits for the learner. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/front.h"
#include "service/past.h"
#include "service/service.h"
#include "toolkit/model_text.h"

static bool tell(struct exchange *exchange, unsigned status, const char *type)
{
    exchange->answer.status = status;
    exchange->answer.type = type;
    return !exchange->answer.text.failed || trouble_memory(&exchange->trouble);
}

/* ---- the model ---- */

static void write_names(struct text *text, const char *name, const char *const *names, size_t count)
{
    text_printf(text, ",\n\"%s\":[", name);
    for (size_t k = 0; names && k < count; k++) {
        text_put(text, k ? "," : "");
        text_string(text, names[k]);
    }
    text_put(text, "]");
}

static void write_member(struct text *text, const char *name, const char *words)
{
    text_printf(text, ",\n\"%s\":", name);
    text_string(text, words);
}

static bool model_file(struct exchange *exchange, const struct current *current)
{
    unsigned char *bytes = NULL;
    size_t count;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_status status = keepfit_model_write(current->model, &bytes, &count, &error);
    if (status != KEEPFIT_OK)
        return trouble_library(&exchange->trouble, status, &error);
    text_add(&exchange->answer.text, bytes, count);
    free(bytes);
    exchange->answer.shown = "model.kf";
    return tell(exchange, 200, "application/octet-stream");
}

/* The same text as that of keepfit export. */
static bool model_text(struct exchange *exchange, const keepfit_model *model, bool json)
{
    char *bytes = NULL, reason[MODEL_REASON];
    size_t count = 0;
    if (!json && !model_fits_liblinear(model, reason))
        return trouble_set(&exchange->trouble, 406, "format", "%s (format=json and format=keepfit hold any model)",
                           reason);
    FILE *file = open_memstream(&bytes, &count);
    if (!file)
        return trouble_memory(&exchange->trouble);
    if (json)
        model_json(file, model, true);
    else
        model_liblinear(file, model);
    bool good = !ferror(file);
    good = fclose(file) == 0 && good;
    if (good)
        text_add(&exchange->answer.text, bytes, count);
    free(bytes);
    exchange->answer.shown = json ? NULL : "model.liblinear";
    return good ? tell(exchange, 200, json ? "application/json" : "text/plain") : trouble_memory(&exchange->trouble);
}

bool tell_model(struct exchange *exchange)
{
    const char *format = exchange->argument(exchange, "format");
    struct current *current = current_take(exchange->trained);
    bool good = false;
    if (!current || !current->model) {
        trouble_set(&exchange->trouble, 409, "no_model", "there are no points yet, so no model");
    } else if (!format || strcmp(format, "keepfit") == 0) {
        good = model_file(exchange, current);
    } else if (strcmp(format, "json") == 0 || strcmp(format, "liblinear") == 0) {
        good = model_text(exchange, current->model, format[0] == 'j');
    } else {
        trouble_set(&exchange->trouble, 400, "format", "the format '%.40s' is none of keepfit, json, liblinear",
                    format);
    }
    current_leave(current);
    return good;
}

/* ---- the report ---- */

static const char *state_name(const struct service *service)
{
    static const char *const names[] = {"starting", "ready", "stopping", "failed"};
    return names[atomic_load(&((struct service *)(uintptr_t)service)->state)];
}

static void pair(struct text *text, const char *name, double number)
{
    text_printf(text, ",\"%s\":", name);
    text_number(text, number);
}

static uint64_t counted(const atomic_uint_least64_t *counter)
{
    return atomic_load((atomic_uint_least64_t *)(uintptr_t)counter);
}

struct heavy {
    double value;
    size_t feature, output;
};

static int by_size(const void *one, const void *other)
{
    double a = fabs(((const struct heavy *)one)->value), b = fabs(((const struct heavy *)other)->value);
    return a < b ? 1 : a > b ? -1 : 0;
}

#define WEIGHTS_TOLD 20

/* The largest weights, with names. */
static void write_weights(struct text *text, const struct current *current)
{
    const keepfit_description *about = &current->about;
    struct heavy top[WEIGHTS_TOLD + 1];
    size_t count = 0, most = about->hidden ? 0 : (size_t)about->features * about->outputs;
    for (size_t k = 0; k < most; k++) {
        if (count == WEIGHTS_TOLD && fabs(about->weights[k]) <= fabs(top[count - 1].value))
            continue;
        top[count++] = (struct heavy){about->weights[k], k / about->outputs, k % about->outputs};
        qsort(top, count, sizeof *top, by_size);
        count = count < WEIGHTS_TOLD ? count : WEIGHTS_TOLD;
    }
    text_put(text, ",\"weights\":[");
    for (size_t k = 0; k < count; k++) {
        text_put(text, k ? ",{\"name\":" : "{\"name\":");
        if (current->schema.feature && top[k].feature < current->schema.features)
            text_string(text, current->schema.feature[top[k].feature]);
        else
            text_printf(text, "\"%zu\"", top[k].feature + 1);
        text_put(text, ",\"class\":");
        const char *name = about->outputs > 1 && top[k].output < about->classes
                               ? keepfit_schema_class(&current->schema, about->labels[top[k].output])
                               : NULL;
        if (name)
            text_string(text, name);
        else if (about->outputs > 1 && top[k].output < about->classes)
            text_printf(text, "\"%g\"", about->labels[top[k].output]);
        else
            text_put(text, "null");
        pair(text, "value", top[k].value);
        shown_errors(text, current, top[k].feature, top[k].output);
        text_put(text, "}");
    }
    text_put(text, "]");
}

/* Share of wrong classes, or root mean squared error, of predictions whose labels came later; NaN: there are none. */
static double late_error(const struct service *service, const struct validation *late)
{
    const char *loss = keepfit_options_get(service->models[0].options, "loss");
    double count = (double)late->count;
    return keepfit_loss_traits(loss) & KEEPFIT_LOSS_NUMBERS ? sqrt(late->square_sum / count)
                                                            : (double)late->wrong / count;
}

static void write_settings(struct text *text, const struct service *service, const struct current *current)
{
    const struct trained *trained = &service->models[0];
    write_member(text, "version", keepfit_version());
    write_member(text, "state", state_name(service));
    text_put(text, ",\"models\":[");
    for (size_t k = 0; k < service->model_count; k++) {
        text_put(text, k ? "," : "");
        text_string(text, service->models[k].name);
    }
    text_put(text, "]");
    write_member(text, "loss", keepfit_options_get(trained->options, "loss"));
    write_member(text, "method", current->report.method ? current->report.method : "");
    pair(text, "lambda", current->report.lambda);
    text_put(text, ",\"features\":");
    text_count(text, current->report.features);
    write_names(text, "classes", current->schema.class_name, current->schema.classes);
    pair(text, "started", service->began);
    pair(text, "waiting_labels", (double)counted(&service->counters.waiting));
    text_printf(text, ",\"late\":{\"count\":%" PRIu64, current->late.count);
    pair(text, "error", late_error(service, &current->late));
    text_put(text, "}");
    shown_example(text, current);
    past_write_history(service->past, text);
}

/* Calibration and drift. */
static void write_validation(struct text *text, const keepfit_validation *found)
{
    static const char *const directions[] = {"null", "\"worse\"", "\"better\""};
    text_put(text, ",\"calibration\":[");
    for (size_t k = 0; k < found->calibration; k++) {
        text_printf(text, "%s{\"count\":%" PRIu64, k ? "," : "", found->calibration_count[k]);
        pair(text, "predicted", found->predicted[k]);
        pair(text, "happened", found->happened[k]);
        text_put(text, "}");
    }
    text_put(text, "],\"drift\":{\"level\":");
    text_number(text, found->drift_level);
    text_printf(text, ",\"alarms\":%" PRIu64 ",\"last\":", found->drift_alarms);
    if (found->drift_last)
        text_count(text, found->drift_last);
    else
        text_put(text, "null");
    text_printf(text, ",\"direction\":%s", directions[found->drift <= KEEPFIT_DRIFT_BETTER ? found->drift : 0]);
    pair(text, "before", found->drift_before);
    pair(text, "after", found->drift_after);
    text_printf(text, ",\"blocks\":%" PRIu64 "}", found->drift_blocks);
}

static void write_progress(struct text *text, const struct current *current)
{
    const keepfit_report *report = &current->report;
    const keepfit_validation *found = &current->validation;
    text_printf(text, ",\"stage\":%" PRIu64 ",\"points\":%" PRIu64 ",\"safe\":%" PRIu64, report->stage, report->points,
                current->safe);
    text_printf(text, ",\"time\":%" PRIu64, clock_seconds());
    pair(text, "bound", report->bound);
    pair(text, "epsilon", report->target);
    pair(text, "worst_bound", report->worst_bound);
    text_printf(text, ",\"proved\":%" PRIu64 ",\"missed\":%" PRIu64 ",\"unproved\":%" PRIu64 ",\"fo\":%" PRIu64,
                report->proved, report->missed, report->unproved, report->fo);
    text_put(text, ",\"objective\":null");
    pair(text, "error", found->error);
    pair(text, "windowed_loss", found->windowed_loss);
    pair(text, "windowed_error", found->windowed_error);
    pair(text, "window", (double)found->window);
    pair(text, "auc", found->auc);
    pair(text, "auc_off", found->auc_off);
    write_validation(text, found);
}

/* The object that page and report share; what is not known is null. In an event `loss` is that of the predictions; a report
 * calls that progressive_loss, since its `loss` is which one it is. */
void tell_report_of(struct text *text, const struct service *service, const struct current *current, bool all)
{
    text_put(text, "{\"model\":");
    text_string(text, service->models[0].name);
    write_progress(text, current);
    pair(text, all ? "progressive_loss" : "loss", current->validation.loss);
    past_write_rates(service->past, text);
    text_printf(text, ",\"queue\":%zu,\"queue_limit\":%" PRIu64, service->queued, service->limits.queue);
    if (current->model)
        write_weights(text, current);
    else
        text_put(text, ",\"weights\":[]");
    shown_errors_stage(text, current);
    past_write_refused(service->past, text);
    text_printf(text, ",\"ready\":%s", strcmp(state_name(service), "ready") == 0 ? "true" : "false");
    if (all)
        write_settings(text, service, current);
    text_put(text, "}");
}

bool tell_report(struct exchange *exchange)
{
    struct current *current = current_take(exchange->trained);
    if (!current) {
        exchange->answer.retry_after = 1;
        return trouble_set(&exchange->trouble, 503, "starting", "the journal is being taken over");
    }
    tell_report_of(&exchange->answer.text, exchange->service, current, true);
    text_put(&exchange->answer.text, "\n");
    current_leave(current);
    return tell(exchange, 200, "application/json");
}

/* ---- metrics ---- */

static void metric(struct text *text, const char *name, const char *type, const char *help, double value)
{
    text_printf(text, "# HELP keepfit_%s %s\n# TYPE keepfit_%s %s\nkeepfit_%s ", name, help, name, type, name);
    if (isnan(value))
        text_put(text, "NaN");
    else
        text_printf(text, "%.17g", value);
    text_put(text, "\n");
}

static void write_counters(struct text *text, const struct counters *counters)
{
    const struct {
        const char *name, *type, *help;
        const atomic_uint_least64_t *counter;
        double scale;
    } all[] = {
        {"points_total", "counter", "Points learnt since the start.", &counters->points, 1},
        {"predictions_total", "counter", "Rows predicted since the start.", &counters->predictions, 1},
        {"labels_total", "counter", "Labels that came after their prediction.", &counters->labels, 1},
        {"removals_total", "counter", "Points taken out on request.", &counters->removals, 1},
        {"commits_total", "counter", "Groups of requests that were made durable together.", &counters->groups, 1},
        {"syncs_total", "counter", "Times the journal was synced for answers.", &counters->syncs, 1},
        {"refused_busy_total", "counter", "Requests refused because too many waited.", &counters->refused_full, 1},
        {"predict_seconds_total", "counter", "Time spent on predictions.", &counters->predict_nanoseconds, 1e-9},
        {"learn_seconds_total", "counter", "Time the learner worked.", &counters->learn_nanoseconds, 1e-9},
        {"connections", "gauge", "Open connections.", &counters->connections, 1},
        {"listeners", "gauge", "Listeners to events.", &counters->listeners, 1},
        {"waiting_labels", "gauge", "Rows that wait for their label.", &counters->waiting, 1},
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        metric(text, all[k].name, all[k].type, all[k].help, all[k].scale * (double)counted(all[k].counter));
    text_put(text, "# HELP keepfit_http_requests_total Answers by the class of their status.\n"
                   "# TYPE keepfit_http_requests_total counter\n");
    for (int k = 2; k < 6; k++)
        text_printf(text, "keepfit_http_requests_total{code=\"%dxx\"} %" PRIu64 "\n", k,
                    counted(&counters->requests[k]));
}

bool tell_metrics(struct exchange *exchange)
{
    struct text *text = &exchange->answer.text;
    const struct service *service = exchange->service;
    struct current *current = current_take(exchange->trained);
    write_counters(text, &service->counters);
    metric(text, "ready", "gauge", "1 while points are taken.", strcmp(state_name(service), "ready") == 0);
    metric(text, "queue_requests", "gauge", "Requests that wait for the learner.", (double)service->queued);
    metric(text, "start_time_seconds", "gauge", "When the service began, in Unix time.", service->began);
    if (current) {
        const keepfit_report *report = &current->report;
        metric(text, "stage", "gauge", "Points so far, those that have left included.", (double)report->stage);
        metric(text, "points", "gauge", "Points that are present.", (double)report->points);
        metric(text, "safe_points", "gauge", "Points that no power cut can take.", (double)current->safe);
        metric(text, "bound", "gauge", "Proved bound on the gap at this stage.", report->bound);
        metric(text, "bound_target", "gauge", "What epsilon demands of the bound.", report->target);
        metric(text, "stages_proved_total", "counter", "Stages with a bound of at most the target.",
               (double)report->proved);
        metric(text, "stages_missed_total", "counter", "Stages with a bound above the target.", (double)report->missed);
        metric(text, "stages_unproved_total", "counter", "Stages without a bound.", (double)report->unproved);
        metric(text, "gradients_total", "counter", "Gradients of single points computed.", (double)report->fo);
        metric(text, "validation_loss", "gauge", "Mean loss of predictions made before learning.",
               report->validation_loss);
        metric(text, "validation_error", "gauge", "Share of wrong labels, or root mean squared error.",
               report->validation_error);
        metric(text, "late_labels", "gauge", "Labels that came after their prediction, before the start, too.",
               (double)current->late.count);
        metric(text, "late_error", "gauge", "The same as validation_error, of the predictions given before them.",
               late_error(service, &current->late));
    }
    current_leave(current);
    return tell(exchange, 200, "text/plain; version=0.0.4; charset=utf-8");
}

bool tell_live(struct exchange *exchange)
{
    text_put(&exchange->answer.text, "{\"live\":true}\n");
    return tell(exchange, 200, "application/json");
}

bool tell_ready(struct exchange *exchange)
{
    bool ready = atomic_load(&exchange->service->state) == STATE_READY;
    text_printf(&exchange->answer.text, "{\"ready\":%s,\"state\":\"%s\"}\n", ready ? "true" : "false",
                state_name(exchange->service));
    return tell(exchange, ready ? 200 : 503, "application/json");
}

bool tell_page(struct exchange *exchange)
{
    const struct front front = front_page();
    text_add(&exchange->answer.text, front.bytes, front.count);
    exchange->answer.policy = front.policy;
    return tell(exchange, 200, "text/html; charset=utf-8");
}
