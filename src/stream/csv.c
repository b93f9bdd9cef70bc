/* CSV: cells between delimiters, the same number in every line, each a number.
 *
 *   - the delimiter is given, or taken from the first line: tab, else semicolon, else comma, else blanks
 *     (any number of them then delimit once);
 *   - blanks around a cell do not count; a cell may stand in double quotes, where "" is one quote; it
 *     ends in its line;
 *   - lines that begin with # and blank lines are skipped;
 *   - the target and the weight are columns; what is left is the row, dense, in the order of the columns, or in that which their
 *     names ask for (column.h);
 *   - a target that is a class may be a text. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "stream/column.h"
#include "stream/stream.h"
#include "stream/token.h"

struct csv {
    struct kf_input *input;
    struct kf_lines lines;
    char delimiter;
    struct kf_columns columns;
    double *value;
    enum kf_texts texts; /* what targets have turned out to be */
    char *text;          /* room for one, without its quotes */
    size_t text_capacity;
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

/* Takes the cell at *at and leaves *at at the next one; *more says whether there is one. */
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
                           "cell %zu is empty ({on-error=skip} drops such rows)", column + 1);
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

/* The cell's text without quotes and doubled quotes; `to` has room for it and a NUL. */
static void unquote(const struct cell *cell, char *to)
{
    for (const char *at = cell->text; at < cell->end; at++) {
        *to++ = *at;
        at += cell->quoted && *at == '"';
    }
    *to = '\0';
}

/* A cell that neither is a number, nor stands for a missing one, nor is one gone wrong (1e999; 1,5). */
static bool is_name(const struct cell *cell)
{
    const char *stop;
    double value;
    if (cell->text == cell->end || kf_is_not_finite(cell->text, cell->end))
        return false;
    enum kf_number kind = kf_read_real(cell->text, cell->end, &value, &stop);
    return kind == KF_NUMBER_NONE || (stop < cell->end && *stop != ',');
}

static keepfit_status read_class(struct csv *reader, const struct cell *cell, double *value, keepfit_error *error)
{
    if (!KF_RESERVE(reader->text, reader->text_capacity, (size_t)(cell->end - cell->text) + 1))
        return kf_fail_memory(error);
    unquote(cell, reader->text);
    return kf_classes_find(reader->input->classes, reader->text, value) ? KEEPFIT_OK : kf_fail_memory(error);
}

/* Classes are all numbers or all texts: a stray one of the other kind is a mistake. For a model whose classes have names every
 * label is a text. */
static keepfit_status read_target(struct csv *reader, const struct kf_line *line, const struct cell *cell,
                                  size_t column, double *value, keepfit_error *error)
{
    bool strict = reader->input->wanted.texts == KF_TEXTS_EITHER;
    bool number = kf_quick_real(cell->text, value) == cell->end || kf_read_whole_real(cell->text, cell->end, value);
    if (number && reader->texts == KF_TEXTS_NEVER)
        return KEEPFIT_OK;
    bool name = !number && is_name(cell);
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

/* A cell that is no feature: the target, the weight, or nothing. */
static keepfit_status take_other(struct csv *reader, const struct kf_line *line, const struct cell *cell, size_t column,
                                 keepfit_point *point, keepfit_error *error)
{
    if (column == reader->columns.weight)
        return read_cell(reader, line, cell, column, &point->weight, error);
    if (column == reader->columns.target && reader->input->wanted.targets)
        return read_target(reader, line, cell, column, &point->target, error);
    return KEEPFIT_OK;
}

static keepfit_status read_row(struct csv *reader, const struct kf_line *line, keepfit_point *point,
                               keepfit_error *error)
{
    *point = (keepfit_point){.row = {.count = reader->columns.features, .value = reader->value}, .weight = 1};
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
        size_t feature = reader->columns.feature[column];
        status = feature == KF_NO_COLUMN ? take_other(reader, line, &cell, column, point, error)
                                         : read_cell(reader, line, &cell, column, &reader->value[feature], error);
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
        return kf_fail(error, KEEPFIT_USAGE, "{delimiter}: '%s' is neither 'tab' nor one character that can delimit",
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
    char *name = kf_allocate_raw((size_t)(cell->end - cell->text) + 1);
    if (name)
        unquote(cell, name);
    return name;
}

/* What the first line looks like. */
struct first {
    size_t names, name; /* cells that are no numbers, and which is the last of them */
    bool counted[2];    /* the others count the columns, from 0 or from 1, as tables without names are headed */
};

static void look_at(struct first *first, const struct cell *cell, size_t column)
{
    double value;
    if (is_name(cell)) {
        first->names++;
        first->name = column;
        return;
    }
    size_t before = column - first->names;
    bool number = kf_read_whole_real(cell->text, cell->end, &value);
    for (size_t from = 0; from < 2; from++)
        first->counted[from] &= number && value == (double)(before + from);
}

/* Whether all features have their names in the line, which may be numbers, such as years. */
static bool has_all_names(const struct kf_columns *columns, const keepfit_schema *schema)
{
    if (!schema || !schema->feature || !schema->features)
        return false;
    for (size_t f = 0; f < schema->features; f++)
        if (kf_columns_find(columns, schema->feature[f], 0) == KF_NO_COLUMN)
            return false;
    return true;
}

/* Whether the line names the columns. A row whose class is a text has one cell that is no number, too. */
static bool is_header(const struct csv *reader, const struct first *first)
{
    const struct kf_input *input = reader->input;
    const keepfit_schema *schema = input->wanted.schema;
    if (has_all_names(&reader->columns, schema))
        return true;
    if (first->names != 1 || reader->columns.count == 1 || input->wanted.texts == KF_TEXTS_NEVER)
        return first->names > 0;
    const char *name = reader->columns.name[first->name], *target = input->options->target;
    double unused;
    if (schema && keepfit_schema_label(schema, name, &unused))
        return false;
    bool known = (target && strcmp(target, name) == 0) || kf_is_usual_target(name) ||
                 (schema && schema->target && strcmp(schema->target, name) == 0);
    for (size_t f = 0; schema && schema->feature && f < schema->features; f++)
        known |= strcmp(schema->feature[f], name) == 0;
    return known || first->counted[0] || first->counted[1];
}

/* The number of columns, their names, and whether they are names. */
static keepfit_status read_first(struct csv *reader, bool *named, keepfit_error *error)
{
    const char *at = reader->first.text;
    struct first first = {.counted = {true, true}};
    for (bool more = true; more;) {
        struct cell cell;
        keepfit_status status = take_cell(reader, &reader->first, &at, &cell, &more, error);
        if (status != KEEPFIT_OK)
            return status;
        if (!kf_columns_add(&reader->columns, copy_name(&cell)))
            return kf_fail_memory(error);
        look_at(&first, &cell, reader->columns.count - 1);
    }
    *named = is_header(reader, &first);
    return KEEPFIT_OK;
}

static keepfit_status begin_rows(struct csv *reader, keepfit_error *error)
{
    const keepfit_options *options = reader->input->options;
    bool named = false;
    if (!options->delimiter)
        reader->delimiter = find_delimiter(reader->first.text);
    keepfit_status status = read_first(reader, &named, error);
    if (status != KEEPFIT_OK)
        return status;
    bool header = options->header == KF_HEADER_YES || (options->header == KF_HEADER_AUTO && named);
    reader->kept = !header;
    if (!header)
        kf_columns_forget_names(&reader->columns);
    status = kf_columns_choose(&reader->columns, options->target, options->weights, reader->input, error);
    if (status == KEEPFIT_OK && !(reader->value = kf_allocate(reader->columns.features, sizeof *reader->value)))
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
        return kf_fail(error, KEEPFIT_USAGE, "{targets} is for npy and idx files; a CSV file takes {target=COLUMN}");
    if (options->delimiter) {
        keepfit_status status = given_delimiter(reader, options->delimiter, error);
        if (status != KEEPFIT_OK)
            return status;
    }
    reader->input = input;
    reader->texts = input->wanted.texts;
    if (reader->texts == KF_TEXTS_EITHER && kf_classes_count(input->classes))
        reader->texts = KF_TEXTS_ALWAYS;
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
    free(reader->text);
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
