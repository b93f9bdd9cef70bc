/* Bodies of requests to a service. The first byte says which: points or rows, as a document or lines, with targets or without; or
 * labels, or those of others' protocols.
 *
 *   - what is refused is refused with a status, a code, a message, and the place within the text;
 *   - what is taken has finite numbers, weights of at least 0 and texts without bytes of 0; lists are all of the text, and what has
 *     names becomes as many lines as there are rows, each of which is an object again;
 *   - of others' bodies matrices are full, of finite numbers, and tables become as many lines as rows, each an object;
 *   - a label has an id of 1 to 200 bytes on one line, and a target that is one number or one text;
 *   - numbers are those that strtod reads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "service/late.h"
#include "service/request.h"
#include "service/tables.h"

#define ROWS_MOST 50

static void check_refusal(const struct trouble *trouble)
{
    FUZZ_LAW(trouble->status >= 400 && trouble->status < 600 && trouble->code && trouble->code[0]);
    FUZZ_LAW(trouble->message[0] && strlen(trouble->message) < sizeof trouble->message);
}

static void check_text(const struct rows *rows, size_t at)
{
    FUZZ_LAW(at == ROWS_NONE || (at < rows->texts.count && memchr(rows->texts.at + at, 0, rows->texts.count - at)));
}

static size_t count_lines(const struct text *lines)
{
    size_t count = 0;
    for (size_t k = 0; k < lines->count; k++)
        count += lines->at[k] == '\n';
    return count;
}

/* Each line is one object and nothing else. */
static void check_lines(const struct text *lines)
{
    struct json json = {0};
    for (size_t at = 0; at < lines->count;) {
        const char *stop = memchr(lines->at + at, '\n', lines->count - at);
        FUZZ_LAW(stop && lines->at[at] == '{' && stop[-1] == '}');
        json_begin(&json, lines->at + at, (size_t)(stop - lines->at) - at);
        FUZZ_LAW(json_skip(&json) && json_end(&json));
        at = (size_t)(stop - lines->at) + 1;
    }
    json_free(&json);
}

static void check_rows(const struct rows *rows, const struct rows_wanted *wanted)
{
    FUZZ_LAW(rows->count <= wanted->most && !(rows->named && rows->listed));
    for (size_t k = 0; k < rows->count; k++) {
        const struct row *row = &rows->row[k];
        const keepfit_point point = rows_point(rows, k);
        FUZZ_LAW(row->has_target == wanted->targets && isfinite(row->weight) && row->weight >= 0);
        FUZZ_LAW(row->target_text != ROWS_NONE || isfinite(row->target));
        FUZZ_LAW(row->from + row->count <= rows->value_count && (rows->listed || row->count == 0));
        for (size_t v = 0; v < point.row.count; v++)
            FUZZ_LAW(isfinite(point.row.value[v]));
        check_text(rows, row->target_text);
        check_text(rows, row->id);
        FUZZ_LAW(row->features && (*row->features == '[' || *row->features == '{'));
    }
    FUZZ_LAW(rows->named ? count_lines(&rows->lines) == rows->count : rows->lines.count == 0);
    if (rows->named)
        check_lines(&rows->lines);
}

/* The first number of the text, if it begins with one. */
static void check_number(const char *text, size_t size)
{
    struct json json = {0};
    double number;
    char copy[64], *end;
    json_begin(&json, text, size);
    if (size > 0 && size < sizeof copy && json_real(&json, &number) && json_end(&json)) {
        memcpy(copy, text, size);
        copy[size] = '\0';
        double expected = strtod(copy, &end);
        FUZZ_LAW(number == expected && signbit(number) == signbit(expected));
    }
    json_free(&json);
}

static void check_table(const struct rows *rows, bool matrix)
{
    FUZZ_LAW(rows->count > 0 && rows->count <= ROWS_MOST && !(matrix && rows->named));
    for (size_t k = 0; k < rows->count; k++) {
        const keepfit_row row = rows_point(rows, k).row;
        FUZZ_LAW(!row.index && rows->row[k].from + row.count <= rows->value_count);
        FUZZ_LAW(!matrix || (row.count > 0 && row.count == rows->row[0].count));
        for (size_t v = 0; v < row.count; v++)
            FUZZ_LAW(isfinite(row.value[v]));
    }
    FUZZ_LAW(rows->named ? count_lines(&rows->lines) == rows->count : rows->lines.count == 0);
    if (rows->named)
        check_lines(&rows->lines);
}

static void check_labels(const struct labels *labels)
{
    struct json json = {0};
    double number;
    FUZZ_LAW(labels->count > 0 && labels->count <= ROWS_MOST);
    for (size_t k = 0; k < labels->count; k++) {
        const struct label *label = &labels->label[k];
        size_t length = strlen(label->id);
        FUZZ_LAW(length > 2 && length <= 2 + ROWS_ID_MOST && memcmp(label->id, "l:", 2) == 0);
        FUZZ_LAW(!strpbrk(label->id, "\r\n") && text_is_utf8(label->id, length) && !label->waiting);
        json_begin(&json, label->target, strlen(label->target));
        FUZZ_LAW(json_next(&json) == '"' ? json_string(&json) : json_real(&json, &number));
        FUZZ_LAW(json_end(&json));
    }
    json_free(&json);
}

static void read_labels(const char *text, size_t size)
{
    struct labels labels = {0};
    struct trouble trouble = {0};
    bool good = labels_read(&labels, text, size, ROWS_MOST, &trouble);
    FUZZ_LAW(good == (trouble.status == 0));
    if (good)
        check_labels(&labels);
    else
        check_refusal(&trouble);
    labels_free(&labels);
}

static void read_table(const char *text, size_t size, bool matrix)
{
    struct rows rows = {0};
    struct trouble trouble = {0};
    bool good = matrix ? tables_read_inference(&rows, text, size, ROWS_MOST, &trouble)
                       : tables_read_invocation(&rows, text, size, ROWS_MOST, &trouble);
    FUZZ_LAW(good == (trouble.status == 0));
    if (good)
        check_table(&rows, matrix);
    else
        check_refusal(&trouble);
    rows_free(&rows);
}

static void read_points(const char *text, size_t size, unsigned choice)
{
    struct rows rows = {0};
    struct trouble trouble = {0};
    const struct rows_wanted wanted = {.targets = choice & 1, .target = "target", .most = ROWS_MOST};
    bool plain = false;
    bool good = choice & 2 ? rows_read_lines(&rows, text, size, &wanted, &plain, &trouble)
                           : rows_read(&rows, text, size, &wanted, &trouble);
    FUZZ_LAW(good == (trouble.status == 0));
    if (!good)
        check_refusal(&trouble);
    else if (!plain)
        check_rows(&rows, &wanted);
    rows_free(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = malloc(size); /* by itself, so that reading beyond it is noticed */
    FUZZ_LAW(text);
    memcpy(text, data + 1, size - 1);
    if (!(*data & 4))
        read_points(text, size - 1, *data);
    else if ((*data & 3) == 0)
        read_labels(text, size - 1);
    else
        read_table(text, size - 1, *data & 1);
    check_number(text, size - 1);
    free(text);
    return 0;
}
