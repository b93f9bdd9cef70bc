#include "service/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void rows_free(struct rows *rows)
{
    free(rows->row);
    free(rows->value);
    free(rows->index);
    text_free(&rows->texts);
    text_free(&rows->lines);
    *rows = (struct rows){0};
}

static bool reserve(void **array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    size_t wider = *capacity < 32 ? 64 : 2 * *capacity;
    wider = wider < needed ? needed : wider;
    void *grown = wider > SIZE_MAX / size ? NULL : realloc(*array, wider * size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wider;
    return true;
}

bool rows_begin(struct rows *rows)
{
    if (!reserve((void **)&rows->row, &rows->capacity, rows->count + 1, sizeof *rows->row))
        return false;
    rows->row[rows->count++] = (struct row){
        .from = rows->value_count, .index_from = ROWS_NONE, .weight = 1, .target_text = ROWS_NONE, .id = ROWS_NONE};
    return true;
}

bool rows_add_value(struct rows *rows, double value)
{
    if (!reserve((void **)&rows->value, &rows->value_capacity, rows->value_count + 1, sizeof *rows->value))
        return false;
    rows->value[rows->value_count++] = value;
    rows->row[rows->count - 1].count++;
    return true;
}

bool rows_add(struct rows *rows, const keepfit_point *point)
{
    const keepfit_row *row = &point->row;
    if (!rows_begin(rows))
        return false;
    struct row *made = &rows->row[rows->count - 1];
    for (size_t k = 0; k < row->count; k++)
        if (!rows_add_value(rows, row->value[k]))
            return false;
    if (row->index && row->count) {
        if (!reserve((void **)&rows->index, &rows->index_capacity, rows->index_count + row->count, sizeof *rows->index))
            return false;
        made->index_from = rows->index_count;
        memcpy(rows->index + rows->index_count, row->index, row->count * sizeof *row->index);
        rows->index_count += row->count;
    }
    made->target = point->target;
    made->weight = point->weight;
    made->has_target = true;
    return true;
}

keepfit_point rows_point(const struct rows *rows, size_t k)
{
    const struct row *row = &rows->row[k];
    return (keepfit_point){
        .row = {.count = row->count,
                .index = row->index_from == ROWS_NONE ? NULL : rows->index + row->index_from,
                .value = rows->value ? rows->value + row->from : NULL},
        .target = row->target,
        .weight = row->weight,
        .weightless = row->weight == 0,
    };
}

/* ---- JSON ---- */

enum { FEATURES = 1, TARGET = 2, WEIGHT = 4, ID = 8 };

struct reading {
    struct rows *rows;
    struct json json;
    const struct rows_wanted *wanted;
    bool failed; /* out of memory */
};

/* Keeps the string that was read last. */
static size_t keep_string(struct reading *reading)
{
    struct text *texts = &reading->rows->texts;
    size_t at = texts->count;
    text_add(texts, reading->json.string.at, reading->json.string.count + 1);
    return at;
}

static bool out_of_memory(struct reading *reading)
{
    reading->failed = true;
    return json_wrong(&reading->json, reading->json.at, "out of memory");
}

static bool read_list(struct reading *reading)
{
    struct json *json = &reading->json;
    double number;
    json_open(json, '[');
    while (json_element(json)) {
        if (json_next(json) != '0')
            return json_wrong(json, json->at, "a list of features holds numbers only (names and texts need an object)");
        if (!json_real(json, &number))
            return false;
        if (!rows_add_value(reading->rows, number))
            return out_of_memory(reading);
    }
    reading->rows->listed = true;
    return !json->wrong[0];
}

void rows_put_value(struct text *lines, const char *from, const char *to)
{
    size_t begin = lines->count;
    text_add(lines, from, (size_t)(to - from));
    for (size_t k = begin; k < lines->count; k++)
        if (lines->at[k] == '\n' || lines->at[k] == '\r')
            lines->at[k] = ' '; /* between values: a string has none */
}

static void add_member(struct reading *reading, const char *name, size_t length, const char *from, const char *to)
{
    struct text *lines = &reading->rows->lines;
    if (lines->count && lines->at[lines->count - 1] != '{')
        text_put(lines, ",");
    text_string_of(lines, name, length);
    text_put(lines, ":");
    rows_put_value(lines, from, to);
}

static bool read_names(struct reading *reading)
{
    struct json *json = &reading->json;
    struct text name = {0};
    json_open(json, '{');
    while (json_member(json)) {
        name.count = 0;
        text_add(&name, json->string.at, json->string.count);
        json_next(json);
        const char *from = json->at;
        if (!json_skip(json))
            break;
        add_member(reading, name.at ? name.at : "", name.count, from, json->at);
    }
    reading->rows->named = true;
    if (name.failed)
        out_of_memory(reading);
    text_free(&name);
    return !json->wrong[0];
}

static bool read_features(struct reading *reading)
{
    char sign = json_next(&reading->json);
    if (sign != '[' && sign != '{')
        return json_wrong(&reading->json, reading->json.at, "features are a list of numbers or an object with names");
    if ((sign == '[' ? reading->rows->named : reading->rows->listed))
        return json_wrong(&reading->json, reading->json.at,
                          "features are a list in some rows of this request and an object in others");
    const char *from = reading->json.at;
    if (!(sign == '[' ? read_list(reading) : read_names(reading)))
        return false;
    struct row *row = &reading->rows->row[reading->rows->count - 1];
    row->features = from;
    row->features_count = (size_t)(reading->json.at - from);
    return true;
}

static bool read_target(struct reading *reading, struct row *row, const char **from, const char **to)
{
    struct json *json = &reading->json;
    char sign = json_next(json);
    *from = json->at;
    row->has_target = true;
    if (sign == '"') {
        if (!json_string(json))
            return false;
        row->target_text = keep_string(reading);
    } else if (sign == '0') {
        if (!json_real(json, &row->target))
            return false;
    } else {
        return json_wrong(json, json->at, "a target is a number or a string");
    }
    *to = json->at;
    return true;
}

static bool read_weight(struct json *json, double *weight)
{
    const char *at = json->at;
    if (!json_real(json, weight))
        return false;
    return *weight >= 0 || json_wrong(json, at, "a weight is at least 0");
}

static bool read_id(struct reading *reading, struct row *row)
{
    struct json *json = &reading->json;
    const char *at = json->at;
    if (!json_string(json))
        return false;
    size_t length = json->string.count;
    if (length == 0 || length > ROWS_ID_MOST || strpbrk(json->string.at, "\r\n"))
        return json_wrong(json, at, "an id has 1 to %d bytes, on one line", ROWS_ID_MOST);
    row->id = keep_string(reading);
    return true;
}

static unsigned member_of(const struct json *json)
{
    static const char *const names[] = {"features", "target", "weight", "id"};
    for (unsigned k = 0; k < 4; k++)
        if (json_name_is(json, names[k]))
            return 1u << k;
    return 0;
}

static bool read_members(struct reading *reading, size_t k, const char **from, const char **to)
{
    struct json *json = &reading->json;
    unsigned seen = 0;
    while (json_member(json)) {
        const char *at = json->at;
        unsigned which = member_of(json);
        if (which == 0)
            return json_wrong(json, at, "a point has no '%.40s' (features, target, weight, id)", json->string.at);
        if (seen & which)
            return json_wrong(json, at, "'%s' stands twice", json->string.at);
        seen |= which;
        struct row *row = &reading->rows->row[k];
        bool good = which == FEATURES ? read_features(reading)
                    : which == TARGET ? read_target(reading, row, from, to)
                    : which == WEIGHT ? read_weight(json, &row->weight)
                                      : read_id(reading, row);
        if (!good)
            return false;
    }
    if (json->wrong[0])
        return false;
    return seen & FEATURES || json_wrong(json, json->at, "a point needs 'features'");
}

/* One object. */
static bool read_point(struct reading *reading)
{
    struct rows *rows = reading->rows;
    struct json *json = &reading->json;
    const struct rows_wanted *wanted = reading->wanted;
    const char *from = NULL, *to = NULL, *begin;
    if (rows->count == wanted->most)
        return json_wrong(json, json->at, "a request has at most %zu points", wanted->most);
    if (!rows_begin(rows))
        return out_of_memory(reading);
    size_t k = rows->count - 1, line = rows->lines.count;
    json_next(json);
    begin = json->at;
    text_put(&rows->lines, "{");
    json_open(json, '{');
    if (json->wrong[0] || !read_members(reading, k, &from, &to))
        return false;
    if (wanted->targets && !rows->row[k].has_target)
        return json_wrong(json, begin, "a point needs a 'target'");
    if (!wanted->targets && rows->row[k].has_target)
        return json_wrong(json, begin, "a row to predict has no 'target'");
    if (!rows->named) {
        rows->lines.count = line;
        return true;
    }
    if (from)
        add_member(reading, wanted->target, strlen(wanted->target), from, to);
    text_put(&rows->lines, "}\n");
    return true;
}

static bool finish(struct reading *reading, struct trouble *trouble)
{
    struct json *json = &reading->json;
    bool failed = reading->failed || reading->rows->texts.failed || reading->rows->lines.failed;
    if (failed)
        trouble_memory(trouble);
    else if (json->wrong[0])
        trouble_json(trouble, json);
    json_free(json);
    return trouble->status == 0;
}

bool rows_read(struct rows *rows, const char *bytes, size_t count, const struct rows_wanted *wanted,
               struct trouble *trouble)
{
    struct reading reading = {.rows = rows, .wanted = wanted};
    struct json *json = &reading.json;
    json_begin(json, bytes, count);
    rows->single = json_next(json) != '[';
    bool good = true;
    if (rows->single) {
        good = read_point(&reading);
    } else {
        json_open(json, '[');
        while (good && json_element(json))
            good = read_point(&reading);
    }
    if (!good && rows->count && !rows->single)
        trouble_at(trouble, "point %zu, byte %zu", rows->count, (size_t)(json->wrong_at - json->begin) + 1);
    if (good)
        json_end(json);
    return finish(&reading, trouble);
}

static const char *line_end(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return stop ? stop : end;
}

static bool is_blank(const char *at, const char *stop)
{
    while (at < stop && strchr(" \t\r", *at) && *at)
        at++;
    return at == stop;
}

/* Whether the object has the member "features". */
static bool has_features(const char *at, const char *stop)
{
    struct json json = {0};
    bool found = false;
    json_begin(&json, at, (size_t)(stop - at));
    json_open(&json, '{');
    while (!found && json_member(&json)) {
        found = json_name_is(&json, "features");
        if (!found && !json_skip(&json))
            break;
    }
    json_free(&json);
    return found;
}

bool rows_read_lines(struct rows *rows, const char *bytes, size_t count, const struct rows_wanted *wanted, bool *plain,
                     struct trouble *trouble)
{
    struct reading reading = {.rows = rows, .wanted = wanted};
    const char *at = bytes, *end = bytes + count;
    bool good = true, first = true;
    *plain = false;
    for (size_t line = 1; good && at < end; line++) {
        const char *stop = line_end(at, end);
        if (!is_blank(at, stop)) {
            if (first && !has_features(at, stop)) {
                *plain = true;
                return true;
            }
            first = false;
            json_begin(&reading.json, at, (size_t)(stop - at));
            good = read_point(&reading) && json_end(&reading.json);
            if (!good && reading.json.wrong_at)
                trouble_at(trouble, "line %zu, byte %zu", line, (size_t)(reading.json.wrong_at - at) + 1);
        }
        at = stop < end ? stop + 1 : end;
    }
    return finish(&reading, trouble);
}
