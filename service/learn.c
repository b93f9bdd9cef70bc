/* What the learner does with a request. A request is taken whole or not at all: all of it is read and foreseen before the first point goes
 * in. Where a crash comes between its points, its key lets the retry go on with those that are missing. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/late.h"
#include "service/service.h"

bool learn_refuse(struct exchange *exchange, keepfit_status status)
{
    const keepfit_error *error = keepfit_fit_error(exchange->trained->fit);
    trouble_library(&exchange->trouble, status, error);
    if (status == KEEPFIT_DATA && error->line)
        trouble_at(&exchange->trouble, "point %llu", (unsigned long long)error->line);
    return false;
}

static uint64_t digest_of(const char *bytes, size_t count, uint64_t digest)
{
    for (size_t k = 0; k < count; k++)
        digest = (digest ^ (unsigned char)bytes[k]) * 1099511628211u;
    return digest;
}

/* ---- classes that are texts, in lists of numbers ---- */

struct classes {
    const char **name;
    double *label;
    size_t count, known;
};

static bool find_class(struct classes *classes, const char *name, double *label)
{
    double next = 0;
    for (size_t k = 0; k < classes->count; k++)
        if (strcmp(classes->name[k], name) == 0) {
            *label = classes->label[k];
            return true;
        }
    for (size_t k = 0; k < classes->count; k++) /* the next whole number that no class has, as for files */
        if (classes->label[k] == next) {
            next++;
            k = (size_t)-1;
        }
    classes->name[classes->count] = name;
    classes->label[classes->count++] = *label = next;
    return true;
}

static bool resolve_classes(struct exchange *exchange, struct rows *rows, struct classes *classes)
{
    const char *loss = keepfit_options_get(exchange->trained->options, "loss");
    bool numbers = keepfit_loss_traits(loss) & KEEPFIT_LOSS_NUMBERS;
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(exchange->trained->fit, &report);
    for (size_t k = 0; k < rows->count; k++) {
        struct row *row = &rows->row[k];
        const char *name = rows_text(rows, row->target_text);
        const char *wrong = name && numbers                              ? "the loss is for numbers, the target a text"
                            : name && report.classes && !classes->count  ? "classes are numbers so far, this one a text"
                            : !name && classes->count && row->has_target ? "classes are texts, this one a number"
                                                                         : NULL;
        if (wrong) {
            trouble_set(&exchange->trouble, 422, "bad_data", "%s", wrong);
            return trouble_at(&exchange->trouble, "point %zu", k + 1);
        }
        if (name)
            find_class(classes, name, &row->target);
    }
    return true;
}

static bool begin_classes(struct exchange *exchange, const struct rows *rows, struct classes *classes)
{
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_fit_schema(exchange->trained->fit, &schema);
    *classes = (struct classes){.count = schema.classes, .known = schema.classes};
    classes->name = calloc(schema.classes + rows->count + 1, sizeof *classes->name);
    classes->label = calloc(schema.classes + rows->count + 1, sizeof *classes->label);
    if (!classes->name || !classes->label)
        return trouble_memory(&exchange->trouble);
    for (size_t k = 0; k < schema.classes; k++) {
        classes->name[k] = schema.class_name[k];
        classes->label[k] = schema.label[k];
    }
    return true;
}

/* ---- points ---- */

/* What a request's rows have become for this fit. */
struct batch {
    struct rows read; /* of a text; otherwise they are the exchange's own */
    struct rows *rows;
    keepfit_stream *stream;
    struct classes classes;
    keepfit_point *point;
    const char **key; /* of each point; NULL: it has none */
    bool keyed;
    double *time; /* of each; NULL: nobody asks */
};

static void batch_free(struct batch *batch)
{
    keepfit_stream_close(batch->stream);
    rows_free(&batch->read);
    free(batch->classes.name);
    free(batch->classes.label);
    free(batch->point);
    free(batch->key);
    free(batch->time);
}

/* Ids are the keys that points are kept under. */
static bool find_keys(struct exchange *exchange, struct batch *batch)
{
    const struct rows *given = &exchange->rows;
    batch->key = calloc(batch->rows->count + 1, sizeof *batch->key);
    if (!batch->key)
        return trouble_memory(&exchange->trouble);
    for (size_t k = 0; k < given->count && k < batch->rows->count; k++) {
        batch->key[k] = rows_text(given, given->row[k].id);
        batch->keyed = batch->keyed || batch->key[k];
    }
    return true;
}

/* Where weights fade or leave with time, points have that of their arrival here. */
static bool find_times(struct exchange *exchange, struct batch *batch)
{
    struct trained *trained = exchange->trained;
    if (!trained->timed)
        return true;
    batch->time = calloc(batch->rows->count + 1, sizeof *batch->time);
    if (!batch->time)
        return trouble_memory(&exchange->trouble);
    double now = (double)clock_seconds();
    trained->latest = now > trained->latest ? now : trained->latest;
    for (size_t k = 0; k < batch->rows->count; k++)
        batch->time[k] = trained->latest;
    return true;
}

/* The points from..to-1; *pushed says how many went in. */
static keepfit_status push_points(keepfit_fit *fit, const struct batch *batch, size_t from, size_t to, size_t *pushed)
{
    keepfit_status status = KEEPFIT_OK;
    if (!batch->keyed && !batch->time)
        return keepfit_fit_push_block(fit, batch->point + from, to - from, pushed);
    for (size_t k = from; k < to && status == KEEPFIT_OK; k++) {
        const keepfit_mark mark = {
            .struct_size = sizeof mark, .key = batch->key[k], .time = batch->time ? batch->time[k] : NAN};
        status = keepfit_fit_push_marked(fit, &batch->point[k], &mark);
        *pushed += status == KEEPFIT_OK;
    }
    return status;
}

/* A row is as wide as the names say, or, where it says which features it has, no wider. */
static bool is_wide(const keepfit_row *row, size_t features)
{
    return row->index ? row->count == 0 || row->index[row->count - 1] < features : row->count == features;
}

/* All rows as points that the fit will take; nothing has changed yet. */
static bool batch_make(struct exchange *exchange, struct batch *batch)
{
    keepfit_fit *fit = exchange->trained->fit;
    batch->rows = exchange->streamed ? &batch->read : &exchange->rows;
    if (exchange->streamed && !body_stream(exchange, fit, NULL, &batch->read, &batch->stream))
        return false;
    if (!exchange->streamed && (!begin_classes(exchange, batch->rows, &batch->classes) ||
                                !resolve_classes(exchange, batch->rows, &batch->classes)))
        return false;
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_fit_schema(fit, &schema);
    if (!exchange->streamed && schema.columns)
        return trouble_set(&exchange->trouble, 422, "bad_data",
                           "the columns have names and types: features are an object with names, not a list");
    batch->point = calloc(batch->rows->count + 1, sizeof *batch->point);
    if (!batch->point)
        return trouble_memory(&exchange->trouble);
    for (size_t k = 0; k < batch->rows->count; k++) {
        batch->point[k] = rows_point(batch->rows, k);
        if (!exchange->streamed && schema.features && !is_wide(&batch->point[k].row, schema.features)) {
            trouble_set(&exchange->trouble, 422, "bad_data", "the row has %zu features, those before it %zu",
                        batch->point[k].row.count, schema.features);
            return trouble_at(&exchange->trouble, "point %zu", k + 1);
        }
    }
    if (!find_keys(exchange, batch) || !find_times(exchange, batch))
        return false;
    keepfit_status status = keepfit_fit_foresee(fit, batch->point, batch->key, batch->time, batch->rows->count);
    return status == KEEPFIT_OK || learn_refuse(exchange, status);
}

/* The fit learns what the batch calls features and classes. */
static keepfit_status batch_name(struct exchange *exchange, const struct batch *batch)
{
    keepfit_schema schema = {.struct_size = sizeof schema};
    if (batch->stream) {
        keepfit_stream_schema(batch->stream, &schema);
    } else {
        if (batch->classes.count == batch->classes.known)
            return KEEPFIT_OK;
        schema.classes = batch->classes.count;
        schema.label = batch->classes.label;
        schema.class_name = batch->classes.name;
    }
    return keepfit_fit_name(exchange->trained->fit, &schema);
}

uint64_t learn_stage(const keepfit_fit *fit)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    return report.stage;
}

void learn_done(struct exchange *exchange, uint64_t first, uint64_t last)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(exchange->trained->fit, &report);
    exchange->first = exchange->first ? exchange->first : first;
    exchange->last = last;
    exchange->stage = report.stage;
    exchange->bound = report.bound;
    exchange->learnt = true;
}

/* The points from..to-1, which are all of a request with this key (NULL: none) but those that are in already; `then` (or NULL): the
 * validation once they are in. */
static bool push(struct exchange *exchange, const struct batch *batch, size_t from, size_t to, const char *key,
                 uint64_t digest, const struct validation *then)
{
    struct service *service = exchange->service;
    keepfit_fit *fit = exchange->trained->fit;
    keepfit_status status = KEEPFIT_OK;
    struct remembered *entry = NULL;
    if (key && !(entry = memory_announce(service->memory, fit, key, digest, to - from, then, &status)))
        return learn_refuse(exchange, status);
    size_t skip = entry ? (size_t)entry->done : 0, pushed = 0;
    uint64_t before = learn_stage(fit);
    status = push_points(fit, batch, from + skip, to, &pushed);
    atomic_fetch_add(&service->counters.points, pushed);
    if (entry) {
        entry->first = entry->done ? entry->first : before + 1;
        entry->done += pushed;
        entry->last = before + pushed;
    }
    learn_done(exchange, entry ? entry->first : before + 1, before + pushed);
    return status == KEEPFIT_OK || learn_refuse(exchange, status);
}

/* A request that has come before: the same answer. */
static bool answer_again(struct exchange *exchange, const struct remembered *entry, uint64_t digest)
{
    if (entry->digest != digest)
        return trouble_set(&exchange->trouble, 409, "key_used",
                           "this key has come with another request; a new request needs a new key");
    learn_done(exchange, entry->first, entry->last);
    return true;
}

/* LIBSVM has no names, so it is read here, while the learner learns. */
bool learn_prepare_points(struct exchange *exchange)
{
    keepfit_stream *stream = NULL;
    if (!body_read(exchange, true))
        return false;
    if (exchange->format != FORMAT_LIBSVM)
        return true;
    bool good = body_stream(exchange, NULL, NULL, &exchange->rows, &stream);
    keepfit_stream_close(stream);
    exchange->streamed = false;
    return good;
}

bool learn_points(struct exchange *exchange)
{
    struct batch batch = {0};
    const char *key = exchange->key[0] ? exchange->key : NULL;
    const struct text *body = &exchange->body;
    uint64_t digest = key ? digest_of(body->at, body->count, 14695981039346656037u) : 0;
    const struct remembered *entry = key ? memory_find(exchange->service->memory, key) : NULL;
    if (entry && (entry->digest != digest || entry->done == entry->count))
        return answer_again(exchange, entry, digest);
    bool good = batch_make(exchange, &batch);
    if (good && batch.rows->count == 0)
        good = trouble_set(&exchange->trouble, 422, "empty", "the request has no points");
    if (good && entry && batch.rows->count != entry->count)
        good = trouble_set(&exchange->trouble, 409, "key_used", "this key has come with another number of points");
    keepfit_status status = good ? batch_name(exchange, &batch) : KEEPFIT_OK;
    if (status != KEEPFIT_OK)
        good = learn_refuse(exchange, status);
    if (good)
        good = push(exchange, &batch, 0, batch.rows->count, key, digest, NULL);
    batch_free(&batch);
    return good;
}

/* ---- labels ---- */

static bool read_labels(struct exchange *exchange, struct labels *labels)
{
    const struct text *body = &exchange->body;
    return labels_read(labels, body->at ? body->at : "", body->count, (size_t)exchange->service->limits.points,
                       &exchange->trouble);
}

bool learn_prepare_labels(struct exchange *exchange)
{
    struct labels labels = {0};
    if (exchange->type[0] && strncmp(exchange->type, "application/json", 16) != 0)
        return trouble_set(&exchange->trouble, 415, "content_type", "labels come as application/json");
    bool good = read_labels(exchange, &labels);
    labels_free(&labels);
    return good;
}

/* The points that the labels make of the rows that waited, as a request. */
static bool make_points(struct exchange *exchange, const struct label *labels, size_t count)
{
    struct text text = {0};
    size_t points = 0;
    text_put(&text, "[");
    for (size_t k = 0; k < count; k++) {
        if (!labels[k].waiting)
            continue;
        text_put(&text, points++ ? ",{\"features\":" : "{\"features\":");
        text_put(&text, labels[k].waiting->row);
        text_put(&text, ",\"target\":");
        text_put(&text, labels[k].target);
        text_put(&text, ",\"id\":");
        text_string(&text, labels[k].waiting->id);
        text_put(&text, "}");
    }
    text_put(&text, "]");
    text_free(&exchange->body);
    exchange->body = text;
    strcpy(exchange->type, "application/json");
    if (text.failed)
        return trouble_memory(&exchange->trouble);
    return points == 0 || body_read(exchange, true);
}

/* Whether a class that was predicted is the one that came: the same number, or the same text, however it is spelled. */
static bool same_class(const char *predicted, const char *target)
{
    struct json one = {0}, other = {0};
    double number, came;
    bool same;
    json_begin(&one, predicted, strlen(predicted));
    json_begin(&other, target, strlen(target));
    if (json_next(&one) == '"')
        same = json_next(&other) == '"' && json_string(&one) && json_string(&other) &&
               strcmp(one.string.at, other.string.at) == 0;
    else
        same = json_next(&other) != '"' && json_real(&one, &number) && json_real(&other, &came) && number == came;
    json_free(&one);
    json_free(&other);
    return same;
}

/* What the prediction that was given then has come to, with those before it. */
static struct validation validate(const struct exchange *exchange, const struct label *label)
{
    struct validation sums = *memory_validation(exchange->service->memory);
    const char *predicted = label->waiting->prediction;
    const char *loss = keepfit_options_get(exchange->trained->options, "loss");
    sums.count++;
    if (keepfit_loss_traits(loss) & KEEPFIT_LOSS_NUMBERS) {
        double off = strtod(predicted, NULL) - strtod(label->target, NULL);
        sums.square_sum += off * off;
    } else {
        sums.wrong += !same_class(predicted, label->target);
    }
    return sums;
}

/* Those that have come already, with the same target, count as done. */
static bool find_waiting(struct exchange *exchange, struct label *labels, size_t count)
{
    struct memory *memory = exchange->service->memory;
    for (size_t k = 0; k < count; k++) {
        const struct remembered *entry = memory_find(memory, labels[k].id);
        uint64_t digest = digest_of(labels[k].target, strlen(labels[k].target), 1);
        labels[k].waiting = memory_waiting(memory, labels[k].id + 2);
        for (size_t other = 0; other < k; other++)
            if (strcmp(labels[other].id, labels[k].id) == 0)
                trouble_set(&exchange->trouble, 422, "bad_data", "the id '%s' stands twice", labels[k].id + 2);
        if (!labels[k].waiting && !entry)
            trouble_set(&exchange->trouble, 404, "no_row", "no row waits under the id '%s'", labels[k].id + 2);
        if (!labels[k].waiting && entry && entry->digest != digest)
            trouble_set(&exchange->trouble, 409, "key_used", "the id '%s' has had another label", labels[k].id + 2);
        if (exchange->trouble.status)
            return trouble_at(&exchange->trouble, "label %zu", k + 1);
        if (!labels[k].waiting)
            learn_done(exchange, entry->first, entry->last);
    }
    return true;
}

static bool push_labels(struct exchange *exchange, struct label *labels, size_t count)
{
    struct memory *memory = exchange->service->memory;
    struct batch batch = {0};
    bool good = batch_make(exchange, &batch);
    keepfit_status status = good ? batch_name(exchange, &batch) : KEEPFIT_OK;
    if (status != KEEPFIT_OK)
        good = learn_refuse(exchange, status);
    for (size_t k = 0, point = 0; good && k < count; k++) {
        if (!labels[k].waiting)
            continue;
        uint64_t digest = digest_of(labels[k].target, strlen(labels[k].target), 1);
        const struct validation then = validate(exchange, &labels[k]);
        memory_again(memory, labels[k].id, digest);
        good = push(exchange, &batch, point, point + 1, labels[k].id, digest, &then);
        point++;
        if (!good)
            break;
        *memory_validation(memory) = then;
        memory_labelled(memory, labels[k].waiting);
        atomic_fetch_add(&exchange->service->counters.labels, 1);
    }
    batch_free(&batch);
    return good;
}

bool learn_labels(struct exchange *exchange)
{
    struct labels labels = {0};
    memory_expire(exchange->service->memory);
    bool good = read_labels(exchange, &labels) && find_waiting(exchange, labels.label, labels.count) &&
                make_points(exchange, labels.label, labels.count);
    bool any = false;
    for (size_t k = 0; good && k < labels.count; k++)
        any = any || labels.label[k].waiting;
    if (good && any)
        good = push_labels(exchange, labels.label, labels.count);
    labels_free(&labels);
    return good;
}

/* ---- rows that wait ---- */

/* The prediction in the answer, which is one object or a list of them, each with its id at the end. */
bool predict_wait(struct exchange *exchange)
{
    struct rows *rows = &exchange->rows;
    struct json json = {0};
    keepfit_status status = KEEPFIT_OK;
    json_begin(&json, exchange->answer.text.at, exchange->answer.text.count);
    if (!rows->single)
        json_open(&json, '[');
    for (size_t k = 0; k < rows->count && status == KEEPFIT_OK; k++) {
        if (!rows->single)
            json_element(&json);
        json_open(&json, '{');
        json_member(&json); /* "prediction" */
        json_next(&json);
        const char *from = json.at;
        json_skip(&json);
        const char *to = json.at;
        while (json_member(&json) && json_skip(&json))
            ;
        const char *id = rows_text(rows, rows->row[k].id);
        if (id && !json.wrong[0])
            status = memory_wait(exchange->service->memory, exchange->trained->fit, id, rows->row[k].features,
                                 rows->row[k].features_count, from, (size_t)(to - from));
    }
    json_free(&json);
    return status == KEEPFIT_OK || learn_refuse(exchange, status);
}
