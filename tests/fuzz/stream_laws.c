#include "stream_laws.h"

#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "stream/stream.h"

#define SETTINGS_MOST 16
#define POINT_TEXT 32 /* longest number, index and separators */

keepfit_options *fuzz_options(const char *settings)
{
    keepfit_options *options = keepfit_options_create();
    char copy[256], *rest = copy;
    FUZZ_LAW(options && strlen(settings) < sizeof copy);
    strcpy(copy, settings);
    FUZZ_LAW(keepfit_options_set(options, "threads", "1", NULL) == KEEPFIT_OK);
    for (char *word; *rest;) {
        word = rest;
        rest += strcspn(rest, " ");
        if (*rest)
            *rest++ = '\0';
        char *value = strchr(word, '=');
        FUZZ_LAW(value);
        *value++ = '\0';
        FUZZ_LAW(keepfit_options_set(options, word, value, NULL) == KEEPFIT_OK);
    }
    return options;
}

static void digest(struct reading *reading, const void *bits, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, bits, size);
    reading->digest = (reading->digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    reading->digest ^= reading->digest >> 29;
}

static void write_point(struct reading *reading, const keepfit_point *point)
{
    const keepfit_row *row = &point->row;
    size_t needed = reading->text_size + (row->count + 1) * 2 * POINT_TEXT;
    if (needed > reading->text_capacity) {
        reading->text_capacity = 2 * needed;
        reading->text = realloc(reading->text, reading->text_capacity);
        FUZZ_LAW(reading->text);
    }
    char *at = reading->text + reading->text_size;
    at += sprintf(at, "%.17g", point->target);
    for (size_t k = 0; k < row->count; k++)
        at += sprintf(at, " %zu:%.17g", row->index ? (size_t)row->index[k] + 1 : k + 1, row->value[k]);
    *at++ = '\n';
    reading->text_size = (size_t)(at - reading->text);
}

static void take_point(struct reading *reading, const keepfit_point *point, bool as_text)
{
    const keepfit_row *row = &point->row;
    FUZZ_LAW(isfinite(point->target) && isfinite(point->weight) && point->weight >= 0);
    digest(reading, &point->target, sizeof point->target);
    for (size_t k = 0; k < row->count; k++) {
        uint32_t index = row->index ? row->index[k] : (uint32_t)k;
        FUZZ_LAW(isfinite(row->value[k]));
        FUZZ_LAW(!row->index || k == 0 || index > row->index[k - 1]);
        digest(reading, &index, sizeof index);
        digest(reading, &row->value[k], sizeof row->value[k]);
    }
    reading->points++;
    if (as_text)
        write_point(reading, point);
}

static void check_failure(const struct reading *reading)
{
    FUZZ_LAW(reading->end != KEEPFIT_OK && reading->end == reading->error.status);
    FUZZ_LAW(reading->end == KEEPFIT_DATA || reading->end == KEEPFIT_USAGE);
    FUZZ_LAW(reading->error.message[0]);
    FUZZ_LAW(memchr(reading->error.message, '\0', sizeof reading->error.message));
}

static void read_points(keepfit_stream *stream, struct reading *reading, bool as_text)
{
    keepfit_point point;
    while ((reading->end = keepfit_stream_next(stream, &point)) == KEEPFIT_OK)
        take_point(reading, &point, as_text);
    if (reading->end != KEEPFIT_END) {
        reading->error = *keepfit_stream_error(stream);
        check_failure(reading);
    }
    FUZZ_LAW(keepfit_stream_next(stream, &point) == reading->end);
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_stream_describe(stream, &info);
    FUZZ_LAW(info.points == reading->points);
}

struct reading fuzz_read(const uint8_t *data, size_t size, size_t piece, bool sized, const keepfit_options *options,
                         bool as_text)
{
    struct kf_memory memory = {.bytes = data, .count = size, .piece = piece, .sized = sized};
    struct reading reading = {0};
    keepfit_stream *stream = NULL;
    reading.end = kf_stream_open_memory(&memory, "input", options, &stream, &reading.error);
    if (reading.end == KEEPFIT_OK)
        read_points(stream, &reading, as_text);
    else
        check_failure(&reading);
    keepfit_stream_close(stream);
    return reading;
}

void fuzz_expect_same(const struct reading *a, const struct reading *b)
{
    FUZZ_LAW(a->points == b->points);
    FUZZ_LAW(a->digest == b->digest);
    FUZZ_LAW(a->end == b->end);
    FUZZ_LAW(a->end == KEEPFIT_END || (a->error.line == b->error.line && a->error.column == b->error.column &&
                                       strcmp(a->error.message, b->error.message) == 0));
}

/* Weights are not part of LIBSVM, and not of the digest. */
static void read_again(const struct reading *reading)
{
    static keepfit_options *options;
    if (!options)
        options = fuzz_options("format=libsvm");
    struct reading again = fuzz_read((const uint8_t *)reading->text, reading->text_size, 0, true, options, false);
    FUZZ_LAW(again.end == KEEPFIT_END);
    FUZZ_LAW(again.points == reading->points && again.digest == reading->digest);
}

void fuzz_stream(const uint8_t *data, size_t size, const char *const *settings, size_t count)
{
    static keepfit_options *made[SETTINGS_MOST];
    if (size == 0)
        return;
    FUZZ_LAW(count <= SETTINGS_MOST);
    size_t choice = *data % count, rest = *data / count;
    bool sized = rest & 1, twice = (rest & 2 || (rest & 14) == 4) && fuzz_takes_time();
    bool pieces = (rest & 6) == 2 && twice, as_text = (rest & 14) == 4 && twice;
    if (!made[choice])
        made[choice] = fuzz_options(settings[choice]);
    struct reading whole = fuzz_read(data + 1, size - 1, 0, sized, made[choice], as_text);
    if (pieces) {
        struct reading cut = fuzz_read(data + 1, size - 1, 1 + size % 5, sized, made[choice], false);
        fuzz_expect_same(&whole, &cut);
    }
    if (whole.points && as_text)
        read_again(&whole);
    free(whole.text);
}
