/* LIBSVM text: one point a line, `label index:value index:value ...`.
 *
 *   - indices ascend strictly, from 1 (from 0 with zero-based), up to max-features;
 *   - `qid:N` behind the label is accepted and ignored; `#` begins a comment; blank lines are skipped;
 *   - a label alone is a row of zeros.
 *
 * Each pair is first read the quick way, which takes all that is usual; what it does not take goes to the
 * strict way, which either accepts it or says what is wrong with it. So the quick way needs no words. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "stream/reader.h"
#include "stream/token.h"

struct libsvm {
    struct kf_input *input;
    struct kf_lines lines;
    uint64_t first, last; /* the smallest and the largest index, as written */
    uint32_t *index;
    double *value;
    size_t index_capacity, value_capacity;
    size_t count;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* What may stand behind a token: a blank, a comment, the end. */
static bool ends_token(char c)
{
    return c == ' ' || c == '\t' || c == '\0' || c == '#';
}

static const char *skip_blanks(const char *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

static const char *token_end(const char *at)
{
    while (!ends_token(*at))
        at++;
    return at;
}

static keepfit_status refuse_label(const struct libsvm *reader, const struct kf_line *line, const char *at,
                                   keepfit_error *error)
{
    const char *end = token_end(at);
    char quote[KF_QUOTE_SIZE];
    if (memchr(at, ':', (size_t)(end - at)))
        return KF_FAIL_ROW(reader->input, line, at, error, "expected a label before '%s'", kf_quote(quote, at, end));
    bool is_csv = memchr(at, ',', (size_t)(end - at)) || memchr(at, ';', (size_t)(end - at));
    return KF_FAIL_ROW(reader->input, line, at, error, "label '%s' %s%s", kf_quote(quote, at, end),
                       kf_blame_real(at, end), is_csv ? "; if this is CSV, say " KF_OPTION("format=csv") : "");
}

static keepfit_status read_label(struct libsvm *reader, const struct kf_line *line, const char **at, double *label,
                                 keepfit_error *error)
{
    const char *stop = kf_quick_real(*at, label);
    if (!stop || !ends_token(*stop)) {
        stop = token_end(*at);
        if (!kf_read_whole_real(*at, stop, label))
            return refuse_label(reader, line, *at, error);
    }
    *at = stop;
    return KEEPFIT_OK;
}

/* A query number, as ranking sets have it: checked and passed over. */
static keepfit_status skip_query(struct libsvm *reader, const struct kf_line *line, const char **at,
                                 keepfit_error *error)
{
    if (strncmp(*at, "qid:", 4) != 0)
        return KEEPFIT_OK;
    const char *end = token_end(*at), *stop;
    uint64_t number;
    char quote[KF_QUOTE_SIZE];
    if (kf_read_count(*at + 4, end, &number, &stop) != KF_NUMBER_OK || stop != end)
        return KF_FAIL_ROW(reader->input, line, *at, error, "'%s' is not qid: and a whole number",
                           kf_quote(quote, *at, end));
    *at = end;
    return KEEPFIT_OK;
}

/* The index of the pair before, as written; only asked for when there is one. */
static uint64_t index_before(const struct libsvm *reader)
{
    assert(reader->count > 0);
    return reader->index[reader->count - 1] + reader->first;
}

/* Where the next index must not be below, as handed out. */
static uint64_t least_index(const struct libsvm *reader)
{
    return reader->count ? (uint64_t)reader->index[reader->count - 1] + 1 : 0;
}

static keepfit_status check_index(struct libsvm *reader, const struct kf_line *line, const char *at, const char *colon,
                                  uint64_t *index, keepfit_error *error)
{
    char quote[KF_QUOTE_SIZE];
    const char *stop;
    struct kf_input *input = reader->input;
    enum kf_number kind = kf_read_count(at, colon, index, &stop);
    kf_quote(quote, at, colon);
    if (kind == KF_NUMBER_NONE || stop != colon)
        return KF_FAIL_ROW(input, line, at, error, "index '%s' is not a whole number from %llu", quote,
                           (unsigned long long)reader->first);
    if (kind == KF_NUMBER_HUGE || *index > reader->last)
        return KF_FAIL_ROW(input, line, at, error, "index %s is above %llu, the largest allowed ({max-features})",
                           quote, (unsigned long long)reader->last);
    if (*index < reader->first)
        return KF_FAIL_ROW(input, line, at, error,
                           "index 0, but indices begin at 1 ({zero-based} lets them begin at 0)");
    if (*index - reader->first < least_index(reader)) {
        unsigned long long before = index_before(reader);
        return *index == before
                   ? KF_FAIL_ROW(input, line, at, error, "index %s stands twice", quote)
                   : KF_FAIL_ROW(input, line, at, error, "index %s after %llu, but indices must ascend", quote, before);
    }
    return KEEPFIT_OK;
}

/* The strict way: the pair at *at, or what is wrong with it. */
static keepfit_status read_pair(struct libsvm *reader, const struct kf_line *line, const char **at, uint64_t *index,
                                double *value, keepfit_error *error)
{
    const char *end = token_end(*at), *colon = memchr(*at, ':', (size_t)(end - *at));
    char quote[KF_QUOTE_SIZE];
    if (!colon)
        return KF_FAIL_ROW(reader->input, line, *at, error, "expected index:value, found '%s'",
                           kf_quote(quote, *at, end));
    keepfit_status status = check_index(reader, line, *at, colon, index, error);
    if (status != KEEPFIT_OK)
        return status;
    const char *text = colon + 1;
    if (text == end)
        return KF_FAIL_ROW(reader->input, line, text, error, "there is no value behind '%s'",
                           kf_quote(quote, *at, end));
    if (!kf_read_whole_real(text, end, value))
        return KF_FAIL_ROW(reader->input, line, text, error, "value '%s' %s", kf_quote(quote, text, end),
                           kf_blame_real(text, end));
    *at = end;
    return KEEPFIT_OK;
}

/* The quick way; false leaves it to the strict one. Up to 10 digits cannot overflow. */
static inline bool read_pair_quickly(const struct libsvm *reader, const char **at, uint64_t *index, double *value)
{
    const char *digit = *at;
    uint64_t number = 0;
    while (kf_is_digit(*digit))
        number = number * 10 + (uint64_t)(*digit++ - '0');
    if (*digit != ':' || digit == *at || digit - *at > 10)
        return false;
    if (number < reader->first || number > reader->last || number - reader->first < least_index(reader))
        return false;
    const char *text = digit + 1, *stop;
    if (kf_is_digit(*text) && ends_token(text[1])) { /* 0 and 1 are what most values are */
        *value = *text - '0';
        stop = text + 1;
    } else {
        stop = kf_quick_real(text, value);
        if (!stop || !ends_token(*stop))
            return false;
    }
    *index = number;
    *at = stop;
    return true;
}

static bool make_room(struct libsvm *reader)
{
    return KF_RESERVE(reader->index, reader->index_capacity, reader->count + 1) &&
           KF_RESERVE(reader->value, reader->value_capacity, reader->count + 1);
}

static keepfit_status read_pairs(struct libsvm *reader, const struct kf_line *line, const char *at,
                                 keepfit_error *error)
{
    for (;;) {
        at = skip_blanks(at);
        if (*at == '\0' || *at == '#')
            return KEEPFIT_OK;
        if (reader->count == reader->value_capacity && !make_room(reader))
            return kf_fail_memory(error);
        uint64_t index;
        double value;
        if (!read_pair_quickly(reader, &at, &index, &value)) {
            keepfit_status status = read_pair(reader, line, &at, &index, &value, error);
            if (status != KEEPFIT_OK)
                return status;
        }
        reader->index[reader->count] = (uint32_t)(index - reader->first);
        reader->value[reader->count] = value;
        reader->count++;
    }
}

static keepfit_status read_row(struct libsvm *reader, const struct kf_line *line, const char *at, double *label,
                               keepfit_error *error)
{
    reader->count = 0;
    keepfit_status status = read_label(reader, line, &at, label, error);
    if (status == KEEPFIT_OK) {
        at = skip_blanks(at);
        status = skip_query(reader, line, &at, error);
    }
    return status == KEEPFIT_OK ? read_pairs(reader, line, at, error) : status;
}

static keepfit_status next(void *state, keepfit_point *point, keepfit_error *error)
{
    struct libsvm *reader = state;
    struct kf_line line;
    const char *at;
    do {
        keepfit_status status = kf_lines_next(&reader->lines, &line, &reader->input->bad_row, error);
        reader->input->line = reader->lines.number;
        reader->input->cut = reader->lines.cut;
        if (status != KEEPFIT_OK)
            return status;
        at = skip_blanks(line.text);
    } while (*at == '\0' || *at == '#');
    double label;
    keepfit_status status = read_row(reader, &line, at, &label, error);
    if (status != KEEPFIT_OK)
        return status;
    *point = (keepfit_point){
        .row = {.count = reader->count, .index = reader->index, .value = reader->value},
        .target = label,
        .weight = 1,
    };
    return KEEPFIT_OK;
}

static keepfit_status begin(void *state, struct kf_input *input, keepfit_error *error)
{
    struct libsvm *reader = state;
    const keepfit_options *options = input->options;
    if (options->targets || options->weights)
        return kf_fail(error, KEEPFIT_USAGE, "{%s} is not for LIBSVM files, whose labels stand first in each line",
                       options->targets ? "targets" : "weight-column");
    if (options->target && strcmp(options->target, "none") != 0)
        return kf_fail(error, KEEPFIT_USAGE, "{target} is not for LIBSVM files, whose labels stand first in each line");
    keepfit_status status = kf_refuse_marks(options, error);
    if (status != KEEPFIT_OK)
        return status;
    reader->input = input;
    reader->first = options->zero_based ? 0 : 1;
    reader->last = options->max_features - 1 + reader->first;
    kf_lines_open(&reader->lines, input->source, options);
    return make_room(reader) ? KEEPFIT_OK : kf_fail_memory(error);
}

static void finish(void *state)
{
    struct libsvm *reader = state;
    kf_lines_close(&reader->lines);
    free(reader->index);
    free(reader->value);
}

/* Behind the first token, something with a colon in it. */
static bool recognises(const unsigned char *bytes, size_t count)
{
    size_t at = 0;
    if (count && *bytes == '{')
        return false; /* JSON, which has colons, too */
    while (at < count && !is_blank((char)bytes[at]) && bytes[at] != '\n')
        at++;
    while (at < count && is_blank((char)bytes[at]))
        at++;
    for (; at < count && !is_blank((char)bytes[at]) && bytes[at] != '\n'; at++)
        if (bytes[at] == ':')
            return true;
    return false;
}

const struct kf_reader kf_reader_libsvm = {
    .name = "libsvm",
    .summary = "LIBSVM text: label index:value ..., one point a line",
    .extensions = ".svm .libsvm .svmlight",
    .name_parts = "",
    .state_size = sizeof(struct libsvm),
    .recognises = recognises,
    .open = begin,
    .next = next,
    .close = finish,
};
