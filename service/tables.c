#include "service/tables.h"

#include <string.h>

/* ---- matrices ---- */

static bool add_numbers(struct json *json, struct rows *rows)
{
    double number;
    while (json_element(json)) {
        if (json_next(json) != '0')
            return json_wrong(json, json->at, "expected a number");
        if (!json_real(json, &number))
            return false;
        if (!rows_add_value(rows, number))
            return json_wrong(json, json->at, "out of memory");
    }
    return !json->wrong[0];
}

static bool begin_row(struct json *json, struct rows *rows, size_t most)
{
    if (rows->count >= most)
        return json_wrong(json, json->at, "a request has at most %zu rows", most);
    return rows_begin(rows) || json_wrong(json, json->at, "out of memory");
}

/* [[1, 2], [3, 4]] */
static bool read_matrix(struct json *json, struct rows *rows, size_t most)
{
    json_open(json, '[');
    while (json_element(json))
        if (!begin_row(json, rows, most) || !json_open(json, '[') || !add_numbers(json, rows))
            return false;
    return !json->wrong[0];
}

/* ---- Open Inference ---- */

struct tensor {
    double shape[2];
    size_t dimensions;
    bool numbers;
    struct json data; /* from where it stands on */
    bool has_data;
};

static bool read_shape(struct json *json, struct tensor *tensor)
{
    json_open(json, '[');
    while (json_element(json)) {
        if (tensor->dimensions == 2)
            return json_wrong(json, json->at, "a matrix has two dimensions");
        if (!json_real(json, &tensor->shape[tensor->dimensions++]))
            return false;
    }
    return !json->wrong[0];
}

static bool read_tensor(struct json *json, struct tensor *tensor)
{
    json_open(json, '{');
    while (json_member(json)) {
        if (json_name_is(json, "shape")) {
            if (!read_shape(json, tensor))
                return false;
        } else if (json_name_is(json, "datatype")) {
            if (!json_string(json))
                return false;
            tensor->numbers = json->string.count > 2 && strncmp(json->string.at, "BYTES", 5) != 0 &&
                              strncmp(json->string.at, "BOOL", 4) != 0;
        } else if (json_name_is(json, "data")) {
            json_next(json);
            tensor->data = (struct json){.begin = json->begin, .at = json->at, .end = json->end};
            tensor->has_data = true;
            if (!json_skip(json))
                return false;
        } else if (!json_skip(json)) {
            return false;
        }
    }
    return !json->wrong[0];
}

/* The data, as one list or as a list of rows. */
static bool take_tensor(struct json *json, struct tensor *tensor, struct rows *rows, size_t most)
{
    bool good = tensor->has_data && tensor->numbers && tensor->dimensions == 2;
    if (!good ||
        !(tensor->shape[0] >= 1 && tensor->shape[0] <= 1e9 && tensor->shape[1] >= 1 && tensor->shape[1] <= 1e9))
        return json_wrong(json, json->at, "an input is a matrix of numbers, with shape, datatype and data");
    struct json data = tensor->data;
    size_t width = (size_t)tensor->shape[1], height = (size_t)tensor->shape[0];
    if ((double)width != tensor->shape[1] || (double)height != tensor->shape[0])
        return json_wrong(json, json->at, "a shape is of whole numbers");
    double number;
    json_open(&data, '[');
    if (json_next(&data) == '[') {
        data = tensor->data;
        good = read_matrix(&data, rows, most);
    } else {
        for (size_t k = 0; json_element(&data) && json_real(&data, &number); k++)
            if ((k % width == 0 && !begin_row(&data, rows, most)) || !rows_add_value(rows, number))
                break;
        good = !data.wrong[0];
    }
    for (size_t k = 0; good && k < rows->count; k++)
        good = rows->row[k].count == width;
    good = good && rows->count == height;
    if (!good)
        json_wrong(json, data.wrong_at ? data.wrong_at : json->at, "%s",
                   data.wrong[0] ? data.wrong : "the data is not of its shape");
    json_free(&data);
    return good;
}

static bool read_inference(struct json *json, struct rows *rows, size_t most)
{
    size_t inputs = 0;
    json_open(json, '{');
    while (json_member(json)) {
        if (!json_name_is(json, "inputs")) {
            if (!json_skip(json))
                return false;
            continue;
        }
        json_open(json, '[');
        while (json_element(json)) {
            struct tensor tensor = {.dimensions = 0};
            if (inputs++ > 0)
                return json_wrong(json, json->at, "one input is taken, a matrix of all features");
            if (!read_tensor(json, &tensor) || !take_tensor(json, &tensor, rows, most))
                return false;
        }
    }
    return !json->wrong[0] && (inputs || json_wrong(json, json->at, "there are no inputs"));
}

/* ---- MLflow ---- */

static bool read_columns(struct json *json, struct text *names, size_t *count)
{
    json_open(json, '[');
    while (json_element(json)) {
        if (!json_string(json))
            return false;
        text_string_of(names, json->string.at, json->string.count);
        text_add(names, "", 1);
        ++*count;
    }
    return !json->wrong[0];
}

/* A row of a table becomes a JSON line. */
static bool read_line(struct json *json, const struct text *names, size_t count, struct rows *rows)
{
    const char *name = names->at;
    size_t k = 0;
    text_put(&rows->lines, "{");
    json_open(json, '[');
    for (; json_element(json); k++) {
        json_next(json);
        const char *from = json->at;
        if (k == count)
            return json_wrong(json, from, "a row has more cells than there are columns");
        if (!json_skip(json))
            return false;
        text_put(&rows->lines, k ? "," : "");
        text_put(&rows->lines, name);
        text_put(&rows->lines, ":");
        rows_put_value(&rows->lines, from, json->at);
        name += strlen(name) + 1;
    }
    text_put(&rows->lines, "}\n");
    return !json->wrong[0] &&
           (k == count || json_wrong(json, json->at, "a row has fewer cells than there are columns"));
}

/* {"columns": [...], "data": [[...], ...]} */
static bool read_split(struct json *json, struct rows *rows, size_t most)
{
    struct text names = {0};
    size_t count = 0;
    bool good = true;
    json_open(json, '{');
    while (good && json_member(json)) {
        if (json_name_is(json, "columns")) {
            good = read_columns(json, &names, &count);
        } else if (json_name_is(json, "data") && count) {
            json_open(json, '[');
            while (good && json_element(json))
                good = begin_row(json, rows, most) && read_line(json, &names, count, rows);
        } else if (json_name_is(json, "data")) {
            good = json_wrong(json, json->at, "the columns come before the data");
        } else {
            good = json_skip(json);
        }
    }
    rows->named = true;
    text_free(&names);
    return good && !json->wrong[0];
}

/* [{"a": 1, "b": "x"}, ...]: each is a JSON line already, but that it may stand on several lines. */
static bool read_records(struct json *json, struct rows *rows, size_t most)
{
    rows->named = true;
    json_open(json, '[');
    while (json_element(json)) {
        if (!begin_row(json, rows, most))
            return false;
        char sign = json_next(json);
        const char *from = json->at;
        if (sign != '{')
            return json_wrong(json, from, "a record is an object");
        if (!json_skip(json))
            return false;
        rows_put_value(&rows->lines, from, json->at);
        text_put(&rows->lines, "\n");
    }
    return !json->wrong[0];
}

static bool read_invocation(struct json *json, struct rows *rows, size_t most)
{
    size_t found = 0;
    json_open(json, '{');
    while (json_member(json)) {
        bool matrix = json_name_is(json, "inputs") || json_name_is(json, "instances");
        bool split = json_name_is(json, "dataframe_split"), records = json_name_is(json, "dataframe_records");
        found += matrix || split || records;
        if (found > 1)
            return json_wrong(json, json->at,
                              "one of inputs, instances, dataframe_split and dataframe_records is taken");
        if (!(matrix    ? read_matrix(json, rows, most)
              : split   ? read_split(json, rows, most)
              : records ? read_records(json, rows, most)
                        : json_skip(json)))
            return false;
    }
    return !json->wrong[0] &&
           (found || json_wrong(json, json->at, "inputs, instances, dataframe_split or dataframe_records is needed"));
}

/* ---- bodies ---- */

static bool read_body(struct rows *rows, const char *bytes, size_t count, size_t most, struct trouble *trouble,
                      bool (*read)(struct json *json, struct rows *rows, size_t most))
{
    struct json json = {0};
    json_begin(&json, bytes, count);
    bool good = read(&json, rows, most) && json_end(&json);
    if (!good)
        trouble_json(trouble, &json);
    json_free(&json);
    if (good && rows->lines.failed)
        return trouble_memory(trouble);
    if (good && rows->count == 0)
        return trouble_set(trouble, 422, "empty", "the request has no rows");
    return good;
}

bool tables_read_inference(struct rows *rows, const char *bytes, size_t count, size_t most, struct trouble *trouble)
{
    return read_body(rows, bytes, count, most, trouble, read_inference);
}

bool tables_read_invocation(struct rows *rows, const char *bytes, size_t count, size_t most, struct trouble *trouble)
{
    return read_body(rows, bytes, count, most, trouble, read_invocation);
}
