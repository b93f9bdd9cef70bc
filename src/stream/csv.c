/* CSV: cells between delimiters, the same number in every line, each a number.
 *
 *   - the delimiter is given, or taken from the first line: tab, else semicolon, else comma, else blanks
 *     (any number of them then delimit once);
 *   - blanks around a cell do not count; a cell may stand in double quotes, where "" is one quote; it
 *     ends in its line, but in a table with types it may go over several;
 *   - blank lines are skipped, and so are lines that begin with #, but for rows of a table with types;
 *   - the target and the weight are columns; what is left is the row, dense, in the order of the columns, or in that which their
 *     names ask for (column.h);
 *   - a target that is a class may be a text;
 *   - a table whose columns have types (typed.h) makes its rows of them. Where nobody says so, the first row decides: if all its cells
 *     are numbers, the table has none. Otherwise the first rows do: if their columns hold numbers, it has none, either. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "stream/csv.h"
#include "stream/stream.h"
#include "stream/token.h"

/* A quoted cell may go so far. */
#define JOINED_MOST ((size_t)1 << 20)

static bool is_blank(const struct kf_csv *reader, char c)
{
    return c == ' ' || (c == '\t' && reader->delimiter != '\t');
}

static const char *skip_blanks(const struct kf_csv *reader, const char *at)
{
    while (is_blank(reader, *at))
        at++;
    return at;
}

/* Leaves *at behind the closing quote. */
static keepfit_status take_quoted(struct kf_csv *reader, const struct kf_line *line, const char **at,
                                  struct kf_csv_cell *cell, keepfit_error *error)
{
    const char *from = *at + 1, *quote;
    *cell = (struct kf_csv_cell){.start = *at, .text = from, .quoted = true};
    while ((quote = kf_find(from, line->end, '"')) < line->end && quote[1] == '"') {
        from = quote + 2;
        cell->doubled = true;
    }
    reader->open_quote = quote == line->end;
    if (reader->open_quote)
        return KF_FAIL_ROW(reader->input, line, *at, error, "the quote is not closed in this line%s",
                           reader->typed ? ", nor in a mebibyte behind it" : "");
    cell->end = quote;
    *at = quote + 1;
    return KEEPFIT_OK;
}

static void take_plain(const struct kf_csv *reader, const struct kf_line *line, const char **at,
                       struct kf_csv_cell *cell)
{
    const char *p = *at;
    if (reader->delimiter != ' ')
        p = kf_find(p, line->end, reader->delimiter);
    else
        p += strcspn(p, " \t");
    *cell = (struct kf_csv_cell){.start = *at, .text = *at, .end = p};
    while (cell->end > cell->text && is_blank(reader, cell->end[-1]))
        cell->end--;
    *at = cell->end;
}

static keepfit_status take_cell(struct kf_csv *reader, const struct kf_line *line, const char **at,
                                struct kf_csv_cell *cell, bool *more, keepfit_error *error)
{
    *at = skip_blanks(reader, *at);
    if (**at == '"') {
        keepfit_status status = take_quoted(reader, line, at, cell, error);
        if (status != KEEPFIT_OK)
            return status;
    } else {
        take_plain(reader, line, at, cell);
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

/* A function of its own, so that the one above can be part of the loop over a row's cells. */
keepfit_status kf_csv_cell_next(struct kf_csv *reader, const struct kf_line *line, const char **at,
                                struct kf_csv_cell *cell, bool *more, keepfit_error *error)
{
    return take_cell(reader, line, at, cell, more, error);
}

bool kf_csv_is_name(const struct kf_csv_cell *cell)
{
    const char *stop;
    double value;
    if (cell->text == cell->end || kf_is_not_finite(cell->text, cell->end))
        return false;
    enum kf_number kind = kf_read_real(cell->text, cell->end, &value, &stop);
    return kind == KF_NUMBER_NONE || (stop < cell->end && *stop != ',');
}

/* There is nothing in the cell, or a word for it. */
static keepfit_status refuse_missing(struct kf_csv *reader, const struct kf_line *line, const struct kf_csv_cell *cell,
                                     size_t column, keepfit_error *error)
{
    char quote[KF_QUOTE_SIZE], name[KF_QUOTE_SIZE] = "", which[KF_QUOTE_SIZE + 24] = "";
    bool target = column == reader->columns.target;
    if (reader->columns.name)
        kf_quote(name, reader->columns.name[column], strchr(reader->columns.name[column], '\0'));
    if (target || column == reader->columns.weight)
        snprintf(which, sizeof which, " (the %s%s%s%s)", target ? "target" : "weight", *name ? " '" : "", name,
                 *name ? "'" : "");
    if (cell->text == cell->end)
        return KF_FAIL_ROW(reader->input, line, cell->start, error,
                           "cell %zu%s is empty ({on-error=skip} drops such rows)", column + 1, which);
    return KF_FAIL_ROW(reader->input, line, cell->start, error,
                       "cell %zu%s is missing, as '%s' says ({on-error=skip} drops such rows)", column + 1, which,
                       kf_quote(quote, cell->text, cell->end));
}

static keepfit_status refuse_cell(struct kf_csv *reader, const struct kf_line *line, const struct kf_csv_cell *cell,
                                  size_t column, keepfit_error *error)
{
    char quote[KF_QUOTE_SIZE];
    const char *what = column == reader->columns.target   ? "target"
                       : column == reader->columns.weight ? "weight"
                                                          : "value";
    if (cell->text == cell->end)
        return refuse_missing(reader, line, cell, column, error);
    const char *name = column == reader->columns.target || column == reader->columns.weight || !kf_csv_is_name(cell) ||
                               !reader->columns.name || reader->input->wanted.fixed
                           ? NULL
                           : reader->columns.name[column];
    return KF_FAIL_ROW(reader->input, line, cell->start, error, "%s '%s' %s%s%.40s%s", what,
                       kf_quote(quote, cell->text, cell->end), kf_blame_real(cell->text, cell->end),
                       name ? " (" KF_OPTION_BEGINS "type=" : "", name ? name : "",
                       name ? "=category" KF_OPTION_ENDS " takes the column as categories)" : "");
}

static keepfit_status read_cell(struct kf_csv *reader, const struct kf_line *line, const struct kf_csv_cell *cell,
                                size_t column, double *value, keepfit_error *error)
{
    if (kf_quick_real(cell->text, value) != cell->end && !kf_read_whole_real(cell->text, cell->end, value))
        return refuse_cell(reader, line, cell, column, error);
    char quote[KF_QUOTE_SIZE];
    if (column == reader->columns.weight && *value < 0)
        return KF_FAIL_ROW(reader->input, line, cell->start, error, "weight '%s' is negative",
                           kf_quote(quote, cell->text, cell->end));
    return KEEPFIT_OK;
}

void kf_csv_unquote(const struct kf_csv_cell *cell, char *to)
{
    for (const char *at = cell->text; at < cell->end; at++) {
        *to++ = *at;
        at += cell->quoted && *at == '"';
    }
    *to = '\0';
}

static keepfit_status read_class(struct kf_csv *reader, const struct kf_csv_cell *cell, double *value,
                                 keepfit_error *error)
{
    if (!KF_RESERVE(reader->text, reader->text_capacity, (size_t)(cell->end - cell->text) + 1))
        return kf_fail_memory(error);
    kf_csv_unquote(cell, reader->text);
    return kf_classes_find(reader->input->classes, reader->text, value) ? KEEPFIT_OK : kf_fail_memory(error);
}

/* Which is missing as a feature, but as a class it is one as often as not: none, mild, severe. */
static bool is_none(const struct kf_csv_cell *cell)
{
    return cell->end - cell->text == 4 && strncasecmp(cell->text, "none", 4) == 0;
}

/* Classes are all numbers or all texts: a stray one of the other kind is a mistake. For a model whose classes have names every
 * label is a text. */
static keepfit_status read_target(struct kf_csv *reader, const struct kf_line *line, const struct kf_csv_cell *cell,
                                  size_t column, double *value, keepfit_error *error)
{
    bool strict = reader->input->wanted.texts == KF_TEXTS_EITHER;
    if (reader->texts == KF_TEXTS_ALWAYS && !cell->doubled &&
        kf_classes_know(reader->input->classes, cell->text, (size_t)(cell->end - cell->text), value))
        return KEEPFIT_OK;
    bool number = kf_quick_real(cell->text, value) == cell->end || kf_read_whole_real(cell->text, cell->end, value);
    if (number && reader->texts == KF_TEXTS_NEVER)
        return KEEPFIT_OK;
    bool name = !number && kf_csv_is_name(cell);
    if (name && kf_is_missing(cell->text, cell->end) && !is_none(cell))
        return refuse_missing(reader, line, cell, column, error);
    char quote[KF_QUOTE_SIZE];
    if (reader->texts == KF_TEXTS_EITHER && (name || number))
        reader->texts = name ? KF_TEXTS_ALWAYS : KF_TEXTS_NEVER;
    bool text = reader->texts == KF_TEXTS_ALWAYS;
    if (strict && (text ? number : name))
        return KF_FAIL_ROW(reader->input, line, cell->start, error, "label '%s' is a %s, but those before are %ss",
                           kf_quote(quote, cell->text, cell->end), text ? "number" : "text", text ? "text" : "number");
    if (name && !text && !reader->input->wanted.fixed)
        return KF_FAIL_ROW(reader->input, line, cell->start, error, "target '%s' is not a number%s",
                           kf_quote(quote, cell->text, cell->end),
                           kf_texts_for(reader->input->options) == KF_TEXTS_NEVER
                               ? " (classes may be texts, with " KF_OPTION("loss=logistic") ", hinge or softmax)"
                               : ", but the labels before are");
    if (text && cell->text < cell->end && (name || !strict))
        return read_class(reader, cell, value, error);
    return read_cell(reader, line, cell, column, value, error);
}

/* Notes the cell for the recipe. A doubled quote is one. */
static keepfit_status note_cell(struct kf_csv *reader, const struct kf_line *line, const struct kf_csv_cell *cell,
                                struct kf_content *noted, keepfit_error *error)
{
    *noted = (struct kf_content){cell->start, cell->text, cell->end, NULL};
    if (!cell->doubled)
        return KEEPFIT_OK;
    /* all cells of the line have room, so that it never moves while some are there */
    if (!reader->plain_used &&
        !KF_RESERVE(reader->plain, reader->plain_capacity, 2 * (size_t)(line->end - line->text) + 2))
        return kf_fail_memory(error);
    char *to = reader->plain + reader->plain_used;
    kf_csv_unquote(cell, to);
    size_t plain = strlen(to);
    reader->plain_used += plain + 1;
    noted->text = to;
    noted->end = to + plain;
    return KEEPFIT_OK;
}

/* A cell that is no feature: the target, the weight, the key, the time, or nothing. */
static keepfit_status take_other(struct kf_csv *reader, const struct kf_line *line, const struct kf_csv_cell *cell,
                                 size_t column, keepfit_point *point, keepfit_error *error)
{
    if (column == reader->columns.weight)
        return read_cell(reader, line, cell, column, &point->weight, error);
    if (column == reader->columns.target && reader->input->wanted.targets)
        return read_target(reader, line, cell, column, &point->target, error);
    if (column == reader->columns.key)
        return note_cell(reader, line, cell, &reader->table.key, error);
    if (column == reader->columns.time)
        return note_cell(reader, line, cell, &reader->table.time, error);
    return KEEPFIT_OK;
}

keepfit_status kf_csv_take_value(struct kf_csv *reader, const struct kf_line *line, const struct kf_csv_cell *cell,
                                 size_t column, keepfit_point *point, keepfit_error *error)
{
    size_t feature = reader->columns.feature[column];
    if (feature == KF_NO_COLUMN)
        return take_other(reader, line, cell, column, point, error);
    if (reader->typed)
        return note_cell(reader, line, cell, &reader->table.cell[feature], error);
    return read_cell(reader, line, cell, column, &reader->value[feature], error);
}

/* Notes the usual cells of a table with types, which have no quotes and no blanks around them; leaves *at at the first other cell, whose
 * column it gives. */
static size_t note_usual(struct kf_csv *reader, const struct kf_line *line, const char **at, size_t column, bool *more)
{
    const char delimiter = reader->delimiter;
    const size_t *feature = reader->columns.feature;
    for (const char *from = *at; column < reader->columns.count && feature[column] != KF_NO_COLUMN; column++) {
        if (*from == '"' || is_blank(reader, *from))
            break;
        const char *to = kf_find(from, line->end, delimiter);
        if (to > from && is_blank(reader, to[-1]))
            break;
        reader->table.cell[feature[column]] = (struct kf_content){from, from, to, NULL};
        *more = to < line->end;
        from = *at = to + *more;
        if (!*more)
            return column + 1;
    }
    return column;
}

static keepfit_status read_row(struct kf_csv *reader, const struct kf_line *line, keepfit_point *point,
                               keepfit_error *error)
{
    *point = (keepfit_point){.row = {.count = reader->columns.features, .value = reader->value}, .weight = 1};
    const size_t columns = reader->columns.count;
    const char *at = line->text;
    size_t column = 0;
    reader->plain_used = 0;
    const bool quick = reader->typed && reader->delimiter != ' ';
    for (bool more = true; more; column++) {
        struct kf_csv_cell cell;
        if (quick)
            column = note_usual(reader, line, &at, column, &more);
        if (!more)
            break;
        keepfit_status status = take_cell(reader, line, &at, &cell, &more, error);
        if (status != KEEPFIT_OK)
            return status;
        if (column == columns)
            return KF_FAIL_ROW(reader->input, line, cell.start, error, "more than %zu cells, the first line's number",
                               columns);
        status = kf_csv_take_value(reader, line, &cell, column, point, error);
        if (status != KEEPFIT_OK)
            return status;
    }
    if (column < columns)
        return KF_FAIL_ROW(reader->input, line, line->end, error, "%zu cells, but the first line has %zu", column,
                           columns);
    point->weightless = point->weight == 0;
    return reader->typed ? kf_table_row(&reader->table, line, point, error) : KEEPFIT_OK;
}

bool kf_csv_says_something(const struct kf_csv *reader, const struct kf_line *line)
{
    const char *first = line->text;
    while (*first == ' ' || *first == '\t')
        first++;
    return *first && (*line->text != '#' || reader->hash_rows);
}

/* The next line that is neither blank nor a comment. */
keepfit_status kf_csv_next_line(struct kf_csv *reader, struct kf_line *line, keepfit_error *error)
{
    for (;;) {
        keepfit_status status = kf_held_next(&reader->held, &reader->lines, line, &reader->input->bad_row, error);
        reader->input->line = status == KEEPFIT_OK ? line->number : reader->lines.number;
        reader->input->cut = reader->lines.cut;
        if (status != KEEPFIT_OK)
            return status;
        if (kf_csv_says_something(reader, line))
            return KEEPFIT_OK;
    }
}

/* ---- rows over several lines ---- */

static bool append(struct kf_csv *reader, size_t *used, const struct kf_line *line)
{
    size_t length = (size_t)(line->end - line->text);
    if (!KF_RESERVE(reader->joined, reader->joined_capacity, *used + length + 2))
        return false;
    if (*used)
        reader->joined[(*used)++] = '\n';
    memcpy(reader->joined + *used, line->text, length);
    *used += length;
    reader->joined[*used] = '\0';
    return true;
}

/* The line and those behind it, up to one in which the quote may be closed. They are held, so that of a quote which never closes only
 * its own line is lost. `lines`: how many have been joined so far. False: there is no such line. */
bool kf_csv_join(struct kf_csv *reader, struct kf_line *line, size_t *lines)
{
    struct kf_held *held = &reader->held;
    size_t first = held->next - 1, used = 0;
    bool closed = false;
    for (size_t k = 0; k < *lines || !closed; k++) {
        bool there = first + k < held->count || kf_held_fetch(held, &reader->lines);
        reader->no_memory |= held->status == KEEPFIT_NO_MEMORY;
        if (!there)
            return false;
        struct kf_line more = kf_held_show(held, first + k);
        closed = k >= *lines && strchr(more.text, '"');
        if (used + (size_t)(more.end - more.text) > JOINED_MOST)
            return false;
        reader->no_memory |= !append(reader, &used, &more);
        if (reader->no_memory)
            return false;
        if (closed)
            *lines = k + 1;
    }
    *line = (struct kf_line){reader->joined, reader->joined + used, kf_held_show(held, first).number};
    return true;
}

/* A line that was read just now is held, behind comments in front of it. */
bool kf_csv_hold(struct kf_csv *reader, const struct kf_line *line)
{
    struct kf_held *held = &reader->held;
    if (held->next > 0)
        return true;
    if (!kf_held_add(held, line))
        return false;
    held->next = held->count;
    return true;
}

/* The row that begins in the line, which has an open quote. */
static keepfit_status read_joined(struct kf_csv *reader, struct kf_line line, keepfit_point *point,
                                  keepfit_error *error)
{
    size_t lines = 1, first;
    keepfit_status status = KEEPFIT_DATA;
    if (!kf_csv_hold(reader, &line))
        return kf_fail_memory(error);
    first = reader->held.next - 1;
    while (reader->open_quote) {
        if (!kf_csv_join(reader, &line, &lines)) {
            if (reader->no_memory)
                return kf_fail_memory(error);
            line = kf_held_show(&reader->held, first);
            return read_row(reader, &line, point, error);
        }
        reader->open_quote = false;
        reader->input->bad_row = false;
        status = read_row(reader, &line, point, error);
    }
    reader->held.next = first + lines;
    reader->input->line = line.number;
    return status;
}

static keepfit_status next(void *state, keepfit_point *point, keepfit_error *error)
{
    struct kf_csv *reader = state;
    struct kf_line line;
    keepfit_status status = kf_csv_next_line(reader, &line, error);
    if (status != KEEPFIT_OK)
        return status;
    reader->open_quote = false;
    status = read_row(reader, &line, point, error);
    return reader->typed && reader->open_quote ? read_joined(reader, line, point, error) : status;
}

void kf_csv_close(void *state)
{
    struct kf_csv *reader = state;
    kf_lines_close(&reader->lines);
    kf_columns_free(&reader->columns);
    kf_table_free(&reader->table);
    kf_held_free(&reader->held);
    free(reader->value);
    free(reader->text);
    free(reader->plain);
    free(reader->joined);
}

static bool recognises(const unsigned char *bytes, size_t count)
{
    for (size_t k = 0; k < count && bytes[k] != '\n' && *bytes != '{'; k++)
        if (bytes[k] && strchr(",;\t", bytes[k]))
            return true;
    return false;
}

const struct kf_reader kf_reader_csv = {
    .name = "csv",
    .summary = "cells between commas, semicolons, tabs or blanks, with or without a header",
    .extensions = ".csv .tsv",
    .name_parts = "",
    .state_size = sizeof(struct kf_csv),
    .recognises = recognises,
    .open = kf_csv_open,
    .next = next,
    .close = kf_csv_close,
};
