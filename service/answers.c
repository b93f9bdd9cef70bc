/* Predictions, from a model that nobody changes any more. They wait for nothing: not for the learner, not for the disk. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/service.h"

struct answering {
    struct exchange *exchange;
    const struct current *current;
    double *scores, *probabilities;
    enum answer_kind kind;
    bool with_scores;
    size_t explain; /* how many contributions; 0: none */
    keepfit_contribution *contributions;
};

static void write_label(struct text *text, const struct current *current, double label)
{
    const char *name = keepfit_schema_class(&current->schema, label);
    if (name)
        text_string(text, name);
    else
        text_number(text, label);
}

/* The names of members are texts, also where classes are numbers. */
static void write_label_as_name(struct text *text, const struct current *current, double label)
{
    const char *name = keepfit_schema_class(&current->schema, label);
    if (name) {
        text_string(text, name);
        return;
    }
    text_put(text, "\"");
    text_number(text, label);
    text_put(text, "\"");
}

static void write_probabilities(const struct answering *answering)
{
    struct text *text = &answering->exchange->answer.text;
    const keepfit_description *about = &answering->current->about;
    if (keepfit_model_probabilities(answering->current->model, answering->scores, answering->probabilities) !=
        KEEPFIT_OK)
        return;
    text_put(text, ",\"probabilities\":{");
    for (size_t k = 0; k < about->classes; k++) {
        if (k)
            text_put(text, ",");
        write_label_as_name(text, answering->current, about->labels[k]);
        text_put(text, ":");
        text_number(text, answering->probabilities[k]);
    }
    text_put(text, "}");
}

/* The label that the score of an output speaks for; of two classes the second. NaN: it is a number. */
static double label_of(const keepfit_description *about, size_t output)
{
    if (!about->classification || about->classes == 0)
        return NAN;
    return about->outputs > 1 ? about->labels[output] : about->labels[about->classes - 1];
}

static void write_scores(const struct answering *answering)
{
    struct text *text = &answering->exchange->answer.text;
    const keepfit_description *about = &answering->current->about;
    text_put(text, ",\"scores\":{");
    for (size_t k = 0; k < about->outputs; k++) {
        double label = label_of(about, k);
        text_put(text, k ? "," : "");
        if (isnan(label))
            text_put(text, "\"value\"");
        else
            write_label_as_name(text, answering->current, label);
        text_put(text, ":");
        text_number(text, answering->scores[k]);
    }
    text_put(text, "}");
}

static void write_contribution(struct text *text, const struct current *current, const keepfit_contribution *one)
{
    text_put(text, "{\"name\":");
    if (current->schema.feature && one->feature < current->schema.features)
        text_string(text, current->schema.feature[one->feature]);
    else
        text_printf(text, "\"%u\"", one->feature + 1);
    text_put(text, ",\"value\":");
    text_number(text, one->value);
    text_put(text, ",\"weight\":");
    text_number(text, one->weight);
    text_put(text, ",\"contribution\":");
    text_number(text, one->contribution);
    text_put(text, "}");
}

/* What the score of the predicted class is made of. */
static void write_explanation(const struct answering *answering, const keepfit_row *row, double predicted)
{
    struct text *text = &answering->exchange->answer.text;
    const struct current *current = answering->current;
    const keepfit_description *about = &current->about;
    size_t output = 0, count = 0;
    double intercept = 0, rest = 0;
    while (about->outputs > 1 && output + 1 < about->outputs && about->labels[output] != predicted)
        output++;
    if (keepfit_model_explain(current->model, row, output, answering->explain, answering->contributions, &count,
                              &intercept, &rest) != KEEPFIT_OK)
        return;
    text_put(text, ",\"explanation\":{\"class\":");
    double label = label_of(about, output);
    if (isnan(label))
        text_put(text, "null");
    else
        write_label_as_name(text, current, label);
    text_put(text, ",\"intercept\":");
    text_number(text, intercept);
    text_put(text, ",\"contributions\":[");
    for (size_t k = 0; k < count; k++) {
        text_put(text, k ? "," : "");
        write_contribution(text, current, &answering->contributions[k]);
    }
    text_put(text, "],\"rest\":");
    text_number(text, rest);
    text_put(text, "}");
}

static void write_place(struct text *text, const struct current *current)
{
    text_put(text, ",\"stage\":");
    text_count(text, current->report.stage);
    text_put(text, ",\"bound\":");
    text_number(text, current->report.bound);
}

static bool predict_one(const struct answering *answering, const keepfit_row *row, const char *id)
{
    struct text *text = &answering->exchange->answer.text;
    keepfit_prediction prediction = {.struct_size = sizeof prediction};
    keepfit_status status = keepfit_model_predict(answering->current->model, row, &prediction, answering->scores);
    if (status != KEEPFIT_OK)
        return trouble_set(&answering->exchange->trouble, 500, "model", "%s", keepfit_status_sentence(status));
    text_put(text, "{\"prediction\":");
    write_label(text, answering->current, prediction.value);
    if (answering->current->about.classification)
        write_probabilities(answering);
    if (answering->with_scores)
        write_scores(answering);
    if (answering->explain)
        write_explanation(answering, row, prediction.value);
    write_place(text, answering->current);
    if (id) {
        text_put(text, ",\"id\":");
        text_string(text, id);
    }
    text_put(text, "}");
    return true;
}

static bool predict_all(struct answering *answering, const struct rows *rows)
{
    struct exchange *exchange = answering->exchange;
    struct text *text = &exchange->answer.text;
    const struct rows *given = &exchange->rows;
    bool single = given->count && given->single;
    text_put(text, single ? "" : "[");
    for (size_t k = 0; k < rows->count; k++) {
        const keepfit_point point = rows_point(rows, k);
        const char *id = k < given->count ? rows_text(given, given->row[k].id) : NULL;
        if (k)
            text_put(text, ",\n");
        if (!predict_one(answering, &point.row, id))
            return false;
    }
    text_put(text, single ? "\n" : "]\n");
    atomic_fetch_add(&exchange->service->counters.predictions, rows->count);
    return !text->failed || trouble_memory(&exchange->trouble);
}

#define EXPLAIN_MOST 1000

static bool read_explain(struct exchange *exchange, size_t *most)
{
    const char *text = exchange->argument ? exchange->argument(exchange, "explain") : NULL;
    char *end = NULL;
    *most = 0;
    if (!text)
        return true;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || number > EXPLAIN_MOST)
        return trouble_set(&exchange->trouble, 400, "bad_number", "explain is a number up to %d, not '%.20s'",
                           EXPLAIN_MOST, text);
    *most = number;
    return true;
}

/* A list of the predictions, whose numbers or texts have no names. */
static bool list_predictions(const struct answering *answering, const struct rows *rows, bool *texts)
{
    struct text *text = &answering->exchange->answer.text;
    for (size_t k = 0; k < rows->count; k++) {
        const keepfit_point point = rows_point(rows, k);
        keepfit_prediction prediction = {.struct_size = sizeof prediction};
        keepfit_status status =
            keepfit_model_predict(answering->current->model, &point.row, &prediction, answering->scores);
        if (status != KEEPFIT_OK)
            return trouble_set(&answering->exchange->trouble, 500, "model", "%s", keepfit_status_sentence(status));
        text_put(text, k ? "," : "");
        write_label(text, answering->current, prediction.value);
        *texts = *texts || keepfit_schema_class(&answering->current->schema, prediction.value);
    }
    atomic_fetch_add(&answering->exchange->service->counters.predictions, rows->count);
    return true;
}

/* As a neighbour's protocol has it. */
static bool predict_for_neighbour(const struct answering *answering, const struct rows *rows)
{
    struct text *text = &answering->exchange->answer.text;
    bool texts = false, good;
    if (answering->kind == ANSWER_INVOCATION) {
        text_put(text, "{\"predictions\":[");
        good = list_predictions(answering, rows, &texts);
        text_put(text, "]}\n");
    } else {
        text_printf(text,
                    "{\"model_name\":\"%s\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"prediction\",\"data\":[",
                    answering->exchange->trained->name);
        good = list_predictions(answering, rows, &texts);
        text_printf(text, "],\"shape\":[%zu],\"datatype\":\"%s\"}]}\n", rows->count, texts ? "BYTES" : "FP64");
    }
    return good && (!text->failed || trouble_memory(&answering->exchange->trouble));
}

static bool predict_with(struct exchange *exchange, const struct current *current, enum answer_kind kind)
{
    const keepfit_description *about = &current->about;
    struct answering answering = {.exchange = exchange, .current = current, .kind = kind};
    struct rows read = {0};
    keepfit_stream *stream = NULL;
    const char *scores = exchange->argument ? exchange->argument(exchange, "scores") : NULL;
    if (!read_explain(exchange, &answering.explain))
        return false;
    answering.with_scores = answering.explain || (scores && strcmp(scores, "0") != 0);
    answering.contributions = calloc(answering.explain + 1, sizeof *answering.contributions);
    answering.scores = calloc(about->outputs + 1, sizeof(double));
    answering.probabilities = calloc(about->classes + 1, sizeof(double));
    bool good =
        (answering.scores && answering.probabilities && answering.contributions) || trouble_memory(&exchange->trouble);
    if (good)
        good = exchange->streamed ? body_stream(exchange, NULL, current->model, &read, &stream)
                                  : body_check_width(exchange, current);
    const struct rows *rows = exchange->streamed ? &read : &exchange->rows;
    if (good)
        good = kind == ANSWER_OWN ? predict_all(&answering, rows) : predict_for_neighbour(&answering, rows);
    keepfit_stream_close(stream);
    rows_free(&read);
    free(answering.scores);
    free(answering.contributions);
    free(answering.probabilities);
    return good;
}

bool predict_rows(struct exchange *exchange)
{
    return body_read(exchange, false) && predict_as(exchange, ANSWER_OWN);
}

bool predict_as(struct exchange *exchange, enum answer_kind kind)
{
    uint64_t begin = clock_nanoseconds();
    struct current *current = current_take(exchange->trained);
    if (!current || !current->model) {
        bool starting = atomic_load(&exchange->service->state) == STATE_STARTING;
        current_leave(current);
        exchange->answer.retry_after = 1;
        return starting ? trouble_set(&exchange->trouble, 503, "starting", "the journal is being taken over")
                        : trouble_set(&exchange->trouble, 409, "no_model", "there are no points yet, so no model");
    }
    exchange->answer.status = 200;
    exchange->answer.type = "application/json";
    bool good = predict_with(exchange, current, kind);
    for (size_t k = 0; k < exchange->rows.count; k++)
        exchange->goes_on = exchange->goes_on || exchange->rows.row[k].id != ROWS_NONE;
    current_leave(current);
    atomic_fetch_add(&exchange->service->counters.predict_nanoseconds, clock_nanoseconds() - begin);
    return good;
}
