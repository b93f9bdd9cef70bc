/* Bodies of requests to a service. The first byte says whether it is a document or lines, and whether rows need targets.
 *
 *   - what is refused is refused with a status, a code, a message, and the place within the text;
 *   - what is taken has finite numbers, weights of at least 0 and texts without bytes of 0; lists are all of the text, and what has
 *     names becomes as many lines as there are rows, each of which is an object again;
 *   - numbers are those that strtod reads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "service/request.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct rows rows = {0};
    struct trouble trouble = {0};
    const struct rows_wanted wanted = {.targets = *data & 1, .target = "target", .most = ROWS_MOST};
    bool plain = false;
    char *text = malloc(size); /* by itself, so that reading beyond it is noticed */
    FUZZ_LAW(text);
    memcpy(text, data + 1, size - 1);
    bool good = *data & 2 ? rows_read_lines(&rows, text, size - 1, &wanted, &plain, &trouble)
                          : rows_read(&rows, text, size - 1, &wanted, &trouble);
    FUZZ_LAW(good == (trouble.status == 0));
    if (!good)
        check_refusal(&trouble);
    else if (!plain)
        check_rows(&rows, &wanted);
    check_number(text, size - 1);
    rows_free(&rows);
    free(text);
    return 0;
}
