/* Bodies to rows, by their Content-Type. JSON with lists of numbers is read here (request.c); all else goes through the library's own
 * readers, so that a request means what a file of the same bytes does. */
#include <string.h>
#include <strings.h>

#include "service/service.h"

static const struct {
    const char *type;
    enum format format;
} types[] = {
    {"application/json", FORMAT_JSON},
    {"application/x-ndjson", FORMAT_LINES},
    {"application/jsonl", FORMAT_LINES},
    {"application/json-lines", FORMAT_LINES},
    {"text/csv", FORMAT_CSV},
    {"text/tab-separated-values", FORMAT_CSV},
    {"application/x-libsvm", FORMAT_LIBSVM},
    {"text/libsvm", FORMAT_LIBSVM},
    {"text/x-libsvm", FORMAT_LIBSVM},
};

static bool find_type(struct exchange *exchange)
{
    size_t length = strcspn(exchange->type, "; \t");
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
        if (strlen(types[k].type) == length && strncasecmp(types[k].type, exchange->type, length) == 0) {
            exchange->format = types[k].format;
            return true;
        }
    return trouble_set(&exchange->trouble, 415, "content_type",
                       "the Content-Type '%.60s' is none of application/json, application/x-ndjson, text/csv, "
                       "application/x-libsvm",
                       exchange->type);
}

static const char *target_name(const struct exchange *exchange)
{
    const char *name = keepfit_options_get(exchange->trained->options, "target");
    return name && *name ? name : "target";
}

bool body_read(struct exchange *exchange, bool targets)
{
    const struct text *body = &exchange->body;
    struct rows *rows = &exchange->rows;
    const struct rows_wanted wanted = {targets, target_name(exchange), exchange->service->limits.points};
    const char *bytes = body->at ? body->at : "";
    bool plain = false, good = find_type(exchange);
    if (!good)
        return false;
    if (exchange->format == FORMAT_JSON)
        good = rows_read(rows, bytes, body->count, &wanted, &exchange->trouble);
    else if (exchange->format == FORMAT_LINES)
        good = rows_read_lines(rows, bytes, body->count, &wanted, &plain, &exchange->trouble);
    else
        plain = true;
    if (!good)
        return false;
    if (plain && exchange->format == FORMAT_LINES)
        exchange->format = FORMAT_JSONL;
    if (rows->named)
        exchange->format = FORMAT_JSONL;
    exchange->streamed = plain || rows->named;
    exchange->stream = rows->named ? &rows->lines : &exchange->body;
    if (!exchange->streamed && rows->count == 0)
        return trouble_set(&exchange->trouble, 422, "empty", "the request has no points");
    return true;
}

/* A failure's line counts the rows, where the text is of our making. */
static bool refuse_row(struct exchange *exchange, keepfit_status status, const keepfit_error *error)
{
    trouble_library(&exchange->trouble, status, error);
    if (error->line)
        trouble_at(&exchange->trouble, "%s %llu", exchange->rows.named ? "point" : "line",
                   (unsigned long long)error->line);
    return false;
}

bool body_stream(struct exchange *exchange, const keepfit_fit *fit, const keepfit_model *model, struct rows *rows,
                 keepfit_stream **stream)
{
    keepfit_error error = {.struct_size = sizeof error};
    const struct text *text = exchange->stream;
    const keepfit_options *options = exchange->trained->reading[exchange->format];
    keepfit_point point;
    keepfit_status status = keepfit_stream_open_bytes(text->at ? text->at : "", text->count, "request", options, fit,
                                                      model, false, stream, &error);
    if (status != KEEPFIT_OK)
        return refuse_row(exchange, status, &error);
    while ((status = keepfit_stream_next(*stream, &point)) == KEEPFIT_OK) {
        if (rows->count == exchange->service->limits.points)
            return trouble_set(&exchange->trouble, 413, "too_many_points", "a request has at most %llu points",
                               (unsigned long long)exchange->service->limits.points);
        if (!rows_add(rows, &point))
            return trouble_memory(&exchange->trouble);
    }
    if (status != KEEPFIT_END)
        return refuse_row(exchange, status, keepfit_stream_error(*stream));
    const struct rows *given = &exchange->rows;
    for (size_t k = 0; given->named && k < rows->count && k < given->count; k++)
        rows->row[k].weight = given->row[k].weight;
    return true;
}

bool body_check_width(struct exchange *exchange, const struct current *current)
{
    const struct rows *rows = &exchange->rows;
    size_t known = current->schema.features, most = known ? known : (size_t)current->about.features;
    if (current->schema.columns)
        return trouble_set(&exchange->trouble, 422, "bad_data",
                           "the model's columns have names and types: features are an object with names, not a list");
    for (size_t k = 0; k < rows->count; k++) {
        size_t count = rows->row[k].count;
        if (count > most || (known && count != known)) {
            trouble_set(&exchange->trouble, 422, "bad_data", "the row has %zu features, the model %zu", count, most);
            return trouble_at(&exchange->trouble, "point %zu", k + 1);
        }
    }
    return true;
}
