/* CSV: cells between delimiters, the same number in every line, each a number.
 *
 *   - the delimiter is given, or taken from the first line: tab, else semicolon, else comma, else blanks
 *     (any number of them then delimit once);
 *   - blanks around a cell do not count; a cell may stand in double quotes, where "" is one quote; it
 *     ends in its line;
 *   - lines that begin with # and blank lines are skipped;
 *   - the target and the weight are columns; what is left is the row, dense, in the order of the columns. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "stream/column.h"
#include "stream/reader.h"
#include "stream/token.h"

struct csv {
    struct kf_input *input;
    struct kf_lines lines;
    char delimiter;
    struct kf_columns columns;
    double *value;
    struct kf_line first; /* read when opening; if `kept`, still to be handed out as a row */
    bool kept;
};

struct cell {
    const char *start;      /* with the quote, if there is one */
    const char *text, *end; /* without */
    bool quoted;
};

static bool is_blank(const struct csv *reader, char c)
{
    return c == ' ' || (c == '\t' && reader->delimiter != '\t');
}

static const char *skip_blanks(const struct csv *reader, const char *at)
{
    while (is_blank(reader, *at))
        at++;
    return at;
}

/* Leaves *at behind the closing quote. */
static keepfit_status take_quoted(struct csv *reader, const struct kf_line *line, const char **at, struct cell *cell,
                                  keepfit_error *error)
{
    const char *p = *at + 1;
    *cell = (struct cell){.start = *at, .text = p, .quoted = true};
    for (; *p && !(*p == '"' && p[1] != '"'); p++)
        p += *p == '"';
    if (!*p)
        return KF_FAIL_ROW(reader->input, line, *at, error, "the quote is not closed in this line");
    cell->end = p;
    *at = p + 1;
    return KEEPFIT_OK;
}

static void take_plain(const struct csv *reader, const char **at, struct cell *cell)
{
    const char *p = *at;
    while (*p && *p != reader->delimiter && !(reader->delimiter == ' ' && *p == '\t'))
        p++;
    *cell = (struct cell){.start = *at, .text = *at, .end = p};
    while (cell->end > cell->text && is_blank(reader, cell->end[-1]))
        cell->end--;
    *at = cell->end;
}

/* Takes the cell at *at and leaves *at at the next one; *more tells whether there is one. */
static keepfit_status take_cell(struct csv *reader, const struct kf_line *line, const char **at, struct cell *cell,
                                bool *more, keepfit_error *error)
{
    *at = skip_blanks(reader, *at);
    if (**at == '"') {
        keepfit_status status = take_quoted(reader, line, at, cell, error);
        if (status != KEEPFIT_OK)
            return status;
    } else {
        take_plain(reader, at, cell);
    }
    const char *behind = skip_blanks(reader, *at);
    if (reader->delimiter == ' ') {
        *more = *behind && behind > *at;
    } else {
        *more = *behind == reader->delimiter && *behind;
        behind += *more;
    }
    if (!*more && *behind)
        return KF_FAIL_ROW(reader->input, line, behind, error, "expected a delimiter behind the closing quote");
    *at = behind;
    return KEEPFIT_OK;
}

static keepfit_status refuse_cell(struct csv *reader, const struct kf_line *line, const struct cell *cell,
                                  size_t column, keepfit_error *error)
{
    char quote[KF_QUOTE_SIZE];
    const char *what = column == reader->columns.target   ? "target"
                       : column == reader->columns.weight ? "weight"
                                                          : "value";
    if (cell->text == cell->end)
        return KF_FAIL_ROW(reader->input, line, cell->start, error,
                           "cell %zu is empty (--on-error skip drops such rows)", column + 1);
    return KF_FAIL_ROW(reader->input, line, cell->start, error, "%s '%s' %s", what,
                       kf_quote(quote, cell->text, cell->end), kf_blame_real(cell->text, cell->end));
}

static keepfit_status read_cell(struct csv *reader, const struct kf_line *line, const struct cell *cell, size_t column,
                                double *value, keepfit_error *error)
{
    if (kf_quick_real(cell->text, value) != cell->end && !kf_read_whole_real(cell->text, cell->end, value))
        return refuse_cell(reader, line, cell, column, error);
    char quote[KF_QUOTE_SIZE];
    if (column == reader->columns.weight && *value < 0)
        return KF_FAIL_ROW(reader->input, line, cell->start, error, "weight '%s' is negative",
                           kf_quote(quote, cell->text, cell->end));
    return KEEPFIT_OK;
}

/* Where column k goes: the target, the weight, or the next feature. */
static double *room_for(const struct csv *reader, size_t column, keepfit_point *point)
{
    if (column == reader->columns.target)
        return &point->target;
    if (column == reader->columns.weight)
        return &point->weight;
    return &reader->value[point->row.count++];
}

static keepfit_status read_row(struct csv *reader, const struct kf_line *line, keepfit_point *point,
                               keepfit_error *error)
{
    *point = (keepfit_point){.row = {.value = reader->value}, .weight = 1};
    const size_t columns = reader->columns.count;
    const char *at = line->text;
    size_t column = 0;
    for (bool more = true; more; column++) {
        struct cell cell;
        keepfit_status status = take_cell(reader, line, &at, &cell, &more, error);
        if (status != KEEPFIT_OK)
            return status;
        if (column == columns)
            return KF_FAIL_ROW(reader->input, line, cell.start, error, "more than %zu cells, the first line's number",
                               columns);
        status = read_cell(reader, line, &cell, column, room_for(reader, column, point), error);
        if (status != KEEPFIT_OK)
            return status;
    }
    if (column < columns)
        return KF_FAIL_ROW(reader->input, line, line->end, error, "%zu cells, but the first line has %zu", column,
                           columns);
    point->weightless = point->weight == 0;
    return KEEPFIT_OK;
}

/* The next line that is neither blank nor a comment. */
static keepfit_status next_line(struct csv *reader, struct kf_line *line, keepfit_error *error)
{
    for (;;) {
        keepfit_status status = kf_lines_next(&reader->lines, line, &reader->input->bad_row, error);
        reader->input->line = reader->lines.number;
        reader->input->cut = reader->lines.cut;
        if (status != KEEPFIT_OK)
            return status;
        const char *at = line->text + strspn(line->text, " \t");
        if (*at && *line->text != '#')
            return KEEPFIT_OK;
    }
}

static keepfit_status next(void *state, keepfit_point *point, keepfit_error *error)
{
    struct csv *reader = state;
    struct kf_line line;
    if (reader->kept) {
        reader->kept = false;
        return read_row(reader, &reader->first, point, error);
    }
    keepfit_status status = next_line(reader, &line, error);
    return status == KEEPFIT_OK ? read_row(reader, &line, point, error) : status;
}

static keepfit_status given_delimiter(struct csv *reader, const char *text, keepfit_error *error)
{
    if (strcmp(text, "tab") == 0)
        text = "\t";
    if (strlen(text) != 1 || strchr("+-.\"#\r\n", *text) || kf_is_digit(*text) || (*text | 0x20) == 'e')
        return kf_fail(error, KEEPFIT_USAGE, "--delimiter: '%s' is neither 'tab' nor one character that can delimit",
                       text);
    reader->delimiter = *text;
    return KEEPFIT_OK;
}

/* The first of the candidates that stands in the line outside of quotes. */
static char find_delimiter(const char *text)
{
    for (const char *candidate = "\t;,"; *candidate; candidate++) {
        bool quoted = false;
        for (const char *at = text; *at; at++) {
            quoted ^= *at == '"';
            if (!quoted && *at == *candidate)
                return *at;
        }
    }
    return ' ';
}

static char *copy_name(const struct cell *cell)
{
    char *name = kf_allocate_raw((size_t)(cell->end - cell->text) + 1), *to = name;
    for (const char *at = cell->text; name && at < cell->end; at++) {
        *to++ = *at;
        at += cell->quoted && *at == '"';
    }
    if (name)
        *to = '\0';
    return name;
}

/* Names of columns: a cell that neither is a number, nor stands for a missing one, nor is one gone wrong
 * (1e999; 1,5). */
static bool is_name(const struct cell *cell)
{
    const char *stop;
    double value;
    if (cell->text == cell->end || kf_is_not_finite(cell->text, cell->end))
        return false;
    enum kf_number kind = kf_read_real(cell->text, cell->end, &value, &stop);
    return kind == KF_NUMBER_NONE || (stop < cell->end && *stop != ',');
}

/* The number of columns, their names, and whether one is a name. */
static keepfit_status read_first(struct csv *reader, bool *named, keepfit_error *error)
{
    const char *at = reader->first.text;
    *named = false;
    for (bool more = true; more;) {
        struct cell cell;
        keepfit_status status = take_cell(reader, &reader->first, &at, &cell, &more, error);
        if (status != KEEPFIT_OK)
            return status;
        if (!kf_columns_add(&reader->columns, copy_name(&cell)))
            return kf_fail_memory(error);
        *named = *named || is_name(&cell);
    }
    return KEEPFIT_OK;
}

static keepfit_status begin_rows(struct csv *reader, keepfit_error *error)
{
    const keepfit_options *options = reader->input->options;
    bool named;
    if (!options->delimiter)
        reader->delimiter = find_delimiter(reader->first.text);
    keepfit_status status = read_first(reader, &named, error);
    if (status != KEEPFIT_OK)
        return status;
    bool header = options->header == KF_HEADER_YES || (options->header == KF_HEADER_AUTO && named);
    reader->kept = !header;
    if (!header)
        kf_columns_forget_names(&reader->columns);
    status = kf_columns_choose(&reader->columns, options->target, options->weights, options->max_features,
                               reader->input->name, error);
    kf_columns_say(&reader->columns, reader->input->target, sizeof reader->input->target,
                   &reader->input->target_column);
    if (status == KEEPFIT_OK && !(reader->value = kf_allocate(reader->columns.count, sizeof *reader->value)))
        status = kf_fail_memory(error);
    return status;
}

/* Lines that cannot be the first, because they cannot be read at all, are skipped if bad rows are. */
static keepfit_status first_line(struct csv *reader, keepfit_error *error)
{
    keepfit_status status;
    while ((status = next_line(reader, &reader->first, error)) == KEEPFIT_DATA && reader->input->bad_row &&
           reader->input->options->on_error == KF_ON_ERROR_SKIP)
        reader->input->skipped++;
    return status;
}

static keepfit_status begin(void *state, struct kf_input *input, keepfit_error *error)
{
    struct csv *reader = state;
    const keepfit_options *options = input->options;
    if (options->targets)
        return kf_fail(error, KEEPFIT_USAGE, "--targets is for npy and idx files; a CSV file takes --target COLUMN");
    if (options->delimiter) {
        keepfit_status status = given_delimiter(reader, options->delimiter, error);
        if (status != KEEPFIT_OK)
            return status;
    }
    reader->input = input;
    kf_lines_open(&reader->lines, input->source, options);
    keepfit_status status = first_line(reader, error);
    if (status == KEEPFIT_END)
        return KEEPFIT_OK; /* which next will find out again */
    return status == KEEPFIT_OK ? begin_rows(reader, error) : status;
}

static void finish(void *state)
{
    struct csv *reader = state;
    kf_lines_close(&reader->lines);
    kf_columns_free(&reader->columns);
    free(reader->value);
}

static bool recognises(const unsigned char *bytes, size_t count)
{
    for (size_t k = 0; k < count && bytes[k] != '\n'; k++)
        if (bytes[k] && strchr(",;\t", bytes[k]))
            return true;
    return false;
}

const struct kf_reader kf_reader_csv = {
    .name = "csv",
    .summary = "numbers between commas, semicolons, tabs or blanks, with or without a header",
    .extensions = ".csv .tsv",
    .name_parts = "",
    .state_size = sizeof(struct csv),
    .recognises = recognises,
    .open = begin,
    .next = next,
    .close = finish,
};
