/* Opening a CSV file: the delimiter, the columns with their names, and whether they have types. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "stream/csv.h"
#include "stream/token.h"

static keepfit_status given_delimiter(struct kf_csv *reader, const char *text, keepfit_error *error)
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

static char *copy_name(const struct kf_csv_cell *cell)
{
    char *name = kf_allocate_raw((size_t)(cell->end - cell->text) + 1);
    if (name)
        kf_csv_unquote(cell, name);
    return name;
}

/* What the first line looks like. */
struct first {
    size_t names, name; /* cells that are no numbers, and which is the last of them */
    size_t blank;       /* cells without anything */
    bool counted[2];    /* the others count the columns, from 0 or from 1, as tables without names are headed */
};

static void look_at(struct first *first, const struct kf_csv_cell *cell, size_t column)
{
    double value;
    if (kf_csv_is_name(cell)) {
        first->names++;
        first->name = column;
        return;
    }
    first->blank += cell->text == cell->end;
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
static bool is_header(const struct kf_csv *reader, const struct first *first)
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

/* The columns are known by their numbers, and a line like this one would be their names elsewhere. A line of numbers and texts is
 * no such one. */
static keepfit_status refuse_names(const struct kf_csv *reader, const struct first *first, keepfit_error *error)
{
    const struct kf_columns *columns = &reader->columns;
    bool names = first->names && first->names + first->blank == columns->count;
    if (!names && !has_all_names(columns, reader->input->wanted.schema))
        return KEEPFIT_OK;
    return kf_fail_at(error, KEEPFIT_DATA, reader->input->name, 0, 0,
                      "the columns are known by their numbers; say whether the first line has names ({header=yes}) or "
                      "is a row ({header=no})");
}

/* The number of columns, their names, and whether they are names. */
static keepfit_status read_first(struct kf_csv *reader, const struct kf_line *line, bool *named, keepfit_error *error)
{
    const char *at = line->text;
    struct first first = {.counted = {true, true}};
    for (bool more = true; more;) {
        struct kf_csv_cell cell;
        keepfit_status status = kf_csv_cell_next(reader, line, &at, &cell, &more, error);
        if (status != KEEPFIT_OK)
            return status;
        if (!kf_columns_add(&reader->columns, copy_name(&cell)))
            return kf_fail_memory(error);
        look_at(&first, &cell, reader->columns.count - 1);
    }
    bool numbered = reader->typed && kf_table_is_numbered(reader->input);
    *named = !numbered && is_header(reader, &first);
    if (numbered && reader->input->options->header == KF_HEADER_AUTO)
        return refuse_names(reader, &first, error);
    reader->mixed = *named && first.names < reader->columns.count - first.blank;
    return KEEPFIT_OK;
}

/* ---- types ---- */

/* Shows the cells of a row to the sights of their columns, if there are any. False: it is no row, which it will say when it is handed
 * out; or a comment, rather than a row that begins with #. */
static bool see_row(struct kf_csv *reader, struct kf_line line, struct kf_sight *sights)
{
    const char *at = line.text;
    size_t column = 0;
    for (bool more = true; more; column++) {
        struct kf_csv_cell cell;
        keepfit_error unused = {.struct_size = sizeof unused};
        if (kf_csv_cell_next(reader, &line, &at, &cell, &more, &unused) != KEEPFIT_OK ||
            column == reader->columns.count)
            return false;
        if (sights && column != reader->columns.target && column != reader->columns.weight)
            kf_sight_see(&sights[column], cell.text, cell.end);
    }
    return *line.text != '#' || column == reader->columns.count;
}

/* The same for a row that may go over several lines. */
static void see(struct kf_csv *reader, struct kf_line line, struct kf_sight *sights)
{
    size_t lines = 1, first = reader->held.next - 1;
    reader->open_quote = false;
    bool whole;
    while (!(whole = see_row(reader, line, NULL)) && reader->open_quote && kf_csv_join(reader, &line, &lines))
        reader->open_quote = false;
    if (reader->open_quote || (!whole && *line.text == '#'))
        return;
    see_row(reader, line, sights);
    reader->held.next = first + lines;
}

/* Whether all cells of the line but the target's are numbers. */
static bool is_all_numbers(struct kf_csv *reader, const struct kf_line *line)
{
    const char *at = line->text;
    size_t column = 0;
    for (bool more = true; more; column++) {
        struct kf_csv_cell cell;
        keepfit_error unused = {.struct_size = sizeof unused};
        double value;
        if (kf_csv_cell_next(reader, line, &at, &cell, &more, &unused) != KEEPFIT_OK)
            return false;
        bool other = column == reader->columns.target || column == reader->columns.weight;
        if (!other && !kf_read_whole_real(cell.text, cell.end, &value))
            return false;
    }
    return true;
}

/* Holds lines until there is one with a row. One that begins with # is a row only if there is no other, and it has as many cells as
 * there are columns. False: there is none. */
static bool hold_row(struct kf_csv *reader, struct kf_line *line)
{
    const size_t first = reader->held.next;
    size_t k = first;
    for (; k < reader->held.count || kf_held_fetch(&reader->held, &reader->lines); k++) {
        *line = kf_held_show(&reader->held, k);
        if (kf_csv_says_something(reader, line))
            return true;
    }
    for (k = first; k < reader->held.count; k++) {
        *line = kf_held_show(&reader->held, k);
        if (*line->text == '#' && see_row(reader, *line, NULL))
            return true;
    }
    return false;
}

/* Looks at the first rows, either those that begin with # or all others: where these are numbers, the first are comments. */
static void see_rows(struct kf_csv *reader, struct kf_sight *sights, bool hashes)
{
    struct kf_held *held = &reader->held;
    size_t first = held->next;
    while (held->count < KF_SURVEY_LINES && held->used < KF_SURVEY_BYTES && kf_held_fetch(held, &reader->lines))
        ;
    size_t count = held->count;
    while (held->next < count) {
        struct kf_line line = kf_held_show(held, held->next++);
        if (hashes ? *line.text == '#' : kf_csv_says_something(reader, &line))
            see(reader, line, sights);
    }
    held->next = first;
}

static bool are_all_numeric(const struct kf_csv *reader, const struct kf_sight *sights)
{
    for (size_t k = 0; k < reader->columns.count; k++)
        if (!kf_sight_is_numeric(&sights[k]))
            return false;
    return true;
}

static keepfit_status fail_mixed(struct kf_csv *reader, keepfit_error *error)
{
    return kf_fail_at(error, KEEPFIT_DATA, reader->input->name, 0, 0,
                      "the first line holds numbers and texts; say whether it has the columns' names ({header=yes}) "
                      "or is a row ({header=no})");
}

/* Nothing is known of the columns: the options ask for types, or the first rows, or the table has none. */
static keepfit_status choose_types(struct kf_csv *reader, bool asked, keepfit_error *error)
{
    struct kf_columns *columns = &reader->columns;
    struct kf_line line = {.text = ""};
    bool said = false;
    if (!asked && (!hold_row(reader, &line) || is_all_numbers(reader, &line)))
        return kf_columns_features(columns, reader->input->options->target, reader->input, error);
    bool hash = *line.text == '#'; /* the line's room moves when others are held beside it */
    if (!columns->name && !kf_columns_number(columns, 0))
        return kf_fail_memory(error);
    keepfit_status status = asked ? kf_table_is_said(columns, reader->input, &said, error) : KEEPFIT_OK;
    struct kf_sight *sights = kf_allocate(columns->count, sizeof *sights);
    if (!sights || status != KEEPFIT_OK) {
        free(sights);
        return status == KEEPFIT_OK ? kf_fail_memory(error) : status;
    }
    if (!said)
        see_rows(reader, sights, false);
    reader->typed = asked || hash || !are_all_numeric(reader, sights);
    if (!said && reader->typed)
        see_rows(reader, sights, true);
    if (reader->no_memory) {
        free(sights);
        return kf_fail_memory(error);
    }
    if (!reader->typed && reader->numbered)
        kf_columns_forget_names(columns);
    if (!reader->typed)
        status = kf_columns_features(columns, reader->input->options->target, reader->input, error);
    else if (reader->mixed && reader->input->options->header == KF_HEADER_AUTO)
        status = fail_mixed(reader, error);
    else
        status = kf_table_begin(&reader->table, columns, reader->input, sights, error);
    free(sights);
    return status;
}

/* What each column is. */
static keepfit_status begin_columns(struct kf_csv *reader, keepfit_error *error)
{
    struct kf_input *input = reader->input;
    const keepfit_schema *schema = input->wanted.schema;
    bool known = input->wanted.fixed || input->wanted.plain || (schema && schema->features),
         said = input->options->target, asked = kf_table_is_asked_for(input->options);
    if (reader->typed && !reader->columns.name && !kf_table_number(&reader->columns, input))
        return kf_fail_memory(error);
    keepfit_status status =
        kf_columns_others(&reader->columns, input->options->target, input->options->weights, input, error);
    if (status != KEEPFIT_OK)
        return status;
    if ((reader->typed || !known) && (status = kf_columns_marks(&reader->columns, input, error)) != KEEPFIT_OK)
        return status;
    if (reader->typed)
        return kf_table_begin(&reader->table, &reader->columns, input, NULL, error);
    if (known && asked)
        return kf_fail_at(
            error, KEEPFIT_USAGE, input->name, 0, 0,
            "the columns are numbers without types, as the rows before were ({type}, {ignore}, {columns}, "
            "{missing}, {hash}, {cross}, {key} and {time} are said when the first row is read)");
    return known ? kf_columns_features(&reader->columns, said, input, error) : choose_types(reader, asked, error);
}

/* Where no line has names, all are handed out again, and comments in front turn out to be rows in a table with types. */
static void go_to_rows(struct kf_csv *reader, bool header, size_t comments, size_t lines)
{
    reader->numbered = !header;
    if (!header) {
        kf_columns_forget_names(&reader->columns);
        reader->held.next = 0;
    } else if (reader->held.count > comments) {
        reader->held.next = comments + lines;
    } else {
        kf_held_free(&reader->held);
    }
}

static keepfit_status begin_rows(struct kf_csv *reader, struct kf_line line, keepfit_error *error)
{
    const keepfit_options *options = reader->input->options;
    bool named = false;
    size_t lines = 1, comments = reader->held.count;
    if (!options->delimiter)
        reader->delimiter = find_delimiter(line.text);
    reader->open_quote = false;
    keepfit_status status = read_first(reader, &line, &named, error);
    while (reader->open_quote && kf_csv_hold(reader, &line) && kf_csv_join(reader, &line, &lines)) {
        reader->open_quote = false;
        kf_columns_free(&reader->columns);
        status = read_first(reader, &line, &named, error);
    }
    if (reader->no_memory)
        return kf_fail_memory(error);
    if (status != KEEPFIT_OK)
        return status;
    bool header = options->header == KF_HEADER_YES || (options->header == KF_HEADER_AUTO && named);
    if (!header && !kf_csv_hold(reader, &line))
        return kf_fail_memory(error);
    go_to_rows(reader, header, comments, lines);
    status = begin_columns(reader, error);
    reader->hash_rows = reader->typed;
    if (status == KEEPFIT_OK && !reader->typed &&
        !(reader->value = kf_allocate(reader->columns.features, sizeof *reader->value)))
        status = kf_fail_memory(error);
    return status;
}

/* Lines that cannot be the first, because they cannot be read at all, are skipped if bad rows are. Lines that begin with # are held:
 * nobody knows yet what they are. */
static keepfit_status first_line(struct kf_csv *reader, struct kf_line *line, keepfit_error *error)
{
    struct kf_input *input = reader->input;
    for (;;) {
        keepfit_status status = kf_lines_next(&reader->lines, line, &input->bad_row, error);
        input->line = status == KEEPFIT_OK ? line->number : reader->lines.number;
        input->cut = reader->lines.cut;
        bool skip = status == KEEPFIT_DATA && input->bad_row && input->options->on_error == KF_ON_ERROR_SKIP;
        input->skipped += skip;
        if (status == KEEPFIT_OK ? kf_csv_says_something(reader, line) : !skip)
            return status;
        if (status == KEEPFIT_OK && *line->text == '#' && !kf_held_add(&reader->held, line))
            return kf_fail_memory(error);
    }
}

keepfit_status kf_csv_open(void *state, struct kf_input *input, keepfit_error *error)
{
    struct kf_csv *reader = state;
    const keepfit_options *options = input->options;
    struct kf_line line;
    keepfit_status status = KEEPFIT_OK;
    if (options->targets)
        return kf_fail(error, KEEPFIT_USAGE, "{targets} is for npy and idx files; a CSV file takes {target=COLUMN}");
    if (options->delimiter && (status = given_delimiter(reader, options->delimiter, error)) != KEEPFIT_OK)
        return status;
    reader->input = input;
    reader->texts = input->wanted.texts;
    if (reader->texts == KF_TEXTS_EITHER && kf_classes_count(input->classes))
        reader->texts = KF_TEXTS_ALWAYS;
    reader->typed = input->wanted.schema && input->wanted.schema->columns;
    if (reader->typed && (status = kf_table_know(&reader->table, input, error)) != KEEPFIT_OK)
        return status;
    kf_lines_open(&reader->lines, input->source, options);
    status = first_line(reader, &line, error);
    if (status == KEEPFIT_END)
        return KEEPFIT_OK; /* which next will find out again */
    return status == KEEPFIT_OK ? begin_rows(reader, line, error) : status;
}
