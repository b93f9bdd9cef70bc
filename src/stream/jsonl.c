/* JSON lines: one object a line, whose values are the cells of a table with types. Names of objects within are joined by dots, so
 * {"user": {"age": 30}} has the column user.age.
 *
 *   - the columns are the names that the first lines have (survey.h says how many), in the order in which they come up; for a
 *     model or a journal, those that it knows. A name that is not there in a line is a missing value, and so is null; a name that
 *     is no column is an error, since nobody would look at it;
 *   - strings, numbers, true and false are what a cell of CSV would hold. An array is no cell, and is only passed over where its
 *     name is ignored;
 *   - a name that stands twice in an object, and all that is no JSON, is an error. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "stream/csv.h"
#include "stream/token.h"

#define DEPTH_MOST 32

struct jsonl {
    struct kf_csv rows; /* what becomes of cells is the same */
    char *path;         /* the names so far, with dots */
    size_t path_capacity;
    char *text; /* strings without their escapes */
    size_t text_capacity, text_used;
    uint64_t *seen; /* [columns] the number of the row that had it last */
    uint64_t row;
    bool looking; /* the columns are being found */
    struct kf_sight *sights;
    size_t sight_capacity;
    bool *passed; /* [columns] ignored */
};

/* A line at work. */
struct place {
    struct jsonl *reader;
    const struct kf_line *line;
    const char *at;
    keepfit_point *point; /* NULL: looking */
    size_t hint;          /* where the next name may stand */
    keepfit_error *error;
};

#define FAIL(place, where, ...)                                                                                        \
    KF_FAIL_ROW((place)->reader->rows.input, (place)->line, (where), (place)->error, __VA_ARGS__)

static void skip_blanks(struct place *place)
{
    while (*place->at == ' ' || *place->at == '\t' || *place->at == '\r')
        place->at++;
}

static keepfit_status expect(struct place *place, char sign, const char *what)
{
    skip_blanks(place);
    if (*place->at != sign)
        return FAIL(place, place->at, "expected %s", what);
    place->at++;
    return KEEPFIT_OK;
}

/* ---- strings ---- */

static int hex(char c)
{
    return kf_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Four digits behind \u. */
static bool take_code(const char **at, uint32_t *code)
{
    *code = 0;
    for (int k = 0; k < 4; k++, (*at)++) {
        int digit = hex(**at);
        if (digit < 0)
            return false;
        *code = *code << 4 | (uint32_t)digit;
    }
    return true;
}

static char *put_code(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = code < 0x10000 ? (char)(0xe0 | code >> 12) : (char)(0xf0 | code >> 18);
        if (code >= 0x10000)
            *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* Behind the backslash. NULL: it is no escape, or one for what no text holds. */
static char *take_escape(const char **at, char *to)
{
    static const char from[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
    const char *known = **at ? strchr(from, **at) : NULL;
    uint32_t code, low;
    if (known) {
        (*at)++;
        *to = plain[known - from];
        return to + 1;
    }
    if (**at != 'u')
        return NULL;
    (*at)++;
    if (!take_code(at, &code) || code == 0 || (code >= 0xdc00 && code < 0xe000))
        return NULL;
    if (code >= 0xd800 && code < 0xdc00) {
        if ((*at)[0] != '\\' || (*at)[1] != 'u')
            return NULL;
        *at += 2;
        if (!take_code(at, &low) || low < 0xdc00 || low >= 0xe000)
            return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return put_code(to, code);
}

/* The string at place->at, which begins with a quote. Without escapes it stays where it is. */
static keepfit_status take_string(struct place *place, struct kf_csv_cell *cell)
{
    struct jsonl *reader = place->reader;
    const char *start = place->at, *at = start + 1;
    while (*at != '"' && *at != '\\' && (unsigned char)*at >= ' ')
        at++;
    *cell = (struct kf_csv_cell){.start = start, .text = start + 1, .end = at};
    if (*at != '"') {
        size_t length = (size_t)(at - start - 1);
        char *first = reader->text + reader->text_used, *to = first + length;
        memcpy(first, start + 1, length);
        while (*at != '"') {
            if ((unsigned char)*at < ' ')
                return FAIL(place, *at ? at : start,
                            *at ? "a control character in a string" : "the string is not closed");
            const char *escape = at;
            if (*at++ != '\\')
                *to++ = at[-1];
            else if (!(to = take_escape(&at, to)))
                return FAIL(place, escape, "no text has this escape");
        }
        reader->text_used = (size_t)(to - reader->text);
        cell->text = first;
        cell->end = to;
    }
    place->at = at + 1;
    return KEEPFIT_OK;
}

/* ---- numbers and words ---- */

static const char *skip_digits(const char *at)
{
    while (kf_is_digit(*at))
        at++;
    return at;
}

/* As JSON writes them. NULL: it is none. */
static const char *end_of_number(const char *at)
{
    at += *at == '-';
    const char *digits = skip_digits(at);
    if (digits == at || (*at == '0' && digits > at + 1))
        return NULL;
    at = digits;
    if (*at == '.') {
        digits = skip_digits(at + 1);
        if (digits == at + 1)
            return NULL;
        at = digits;
    }
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '+' || at[1] == '-');
        digits = skip_digits(at);
        if (digits == at)
            return NULL;
        at = digits;
    }
    return at;
}

/* A number, true, false, or null, of which the cell is empty. */
static keepfit_status take_word(struct place *place, struct kf_csv_cell *cell)
{
    static const char *const words[] = {"true", "false", "null"};
    const char *start = place->at, *end = end_of_number(start);
    *cell = (struct kf_csv_cell){.start = start, .text = start};
    for (size_t k = 0; k < 3 && !end; k++)
        if (strncmp(start, words[k], strlen(words[k])) == 0)
            end = start + strlen(words[k]);
    if (!end || (*end && !strchr(" \t\r,}]", *end)))
        return FAIL(place, start, "expected a value: a string, a number, true, false, null or an object");
    cell->end = *start == 'n' ? start : end;
    place->at = end;
    return KEEPFIT_OK;
}

/* ---- columns ---- */

/* The column of the name at the path, beginning with the one that is likely. */
static size_t find(struct place *place)
{
    const struct kf_columns *columns = &place->reader->rows.columns;
    const char *path = place->reader->path;
    size_t k = place->hint < columns->count && strcmp(columns->name[place->hint], path) == 0
                   ? place->hint
                   : kf_columns_find(columns, path, 0);
    place->hint = k == KF_NO_COLUMN ? place->hint : k + 1;
    return k;
}

static keepfit_status add_column(struct place *place, size_t *column)
{
    struct jsonl *reader = place->reader;
    size_t before = reader->sight_capacity;
    *column = reader->rows.columns.count;
    if (!kf_columns_add(&reader->rows.columns, kf_copy_text(reader->path)) ||
        !KF_RESERVE(reader->sights, reader->sight_capacity, *column + 1))
        return kf_fail_memory(place->error);
    if (reader->sight_capacity > before)
        memset(reader->sights + before, 0, (reader->sight_capacity - before) * sizeof *reader->sights);
    return KEEPFIT_OK;
}

/* A value that has been read. */
static keepfit_status take_cell(struct place *place, const struct kf_csv_cell *cell, size_t column)
{
    struct jsonl *reader = place->reader;
    if (!place->point) {
        kf_sight_see(&reader->sights[column], cell->text, cell->end);
        return KEEPFIT_OK;
    }
    return kf_csv_take_value(&reader->rows, place->line, cell, column, place->point, place->error);
}

/* ---- values ---- */

static keepfit_status take_object(struct place *place, size_t path, size_t depth);

/* Passes over an array, of which only the brackets and strings are looked at. */
static keepfit_status pass_array(struct place *place)
{
    const char *start = place->at;
    size_t depth = 0;
    struct kf_csv_cell unused;
    do {
        if (!*place->at)
            return FAIL(place, start, "the array is not closed");
        if (*place->at == '"') {
            keepfit_status status = take_string(place, &unused);
            if (status != KEEPFIT_OK)
                return status;
            continue;
        }
        depth += *place->at == '[';
        depth -= *place->at == ']';
        place->at++;
    } while (depth > 0);
    return KEEPFIT_OK;
}

static bool is_passed(const struct place *place, size_t column)
{
    return place->reader->passed && place->reader->passed[column];
}

static keepfit_status refuse_name(struct place *place, const char *start)
{
    char quote[KF_QUOTE_SIZE];
    const char *path = place->reader->path;
    return FAIL(
        place, start, "'%s' is no column%s ({ignore=%.40s} leaves it out)", kf_quote(quote, path, path + strlen(path)),
        place->reader->rows.input->wanted.fixed ? " of the model" : ", since the first lines do not have it", path);
}

/* The value of the name at the path, which stands at `start`. */
static keepfit_status take_leaf(struct place *place, const char *start)
{
    struct jsonl *reader = place->reader;
    struct kf_csv_cell cell;
    size_t column = find(place);
    keepfit_status status = KEEPFIT_OK;
    if (column == KF_NO_COLUMN && place->point) {
        if (!reader->rows.input->wanted.spare)
            return refuse_name(place, start);
    } else if (column == KF_NO_COLUMN) {
        status = add_column(place, &column);
    } else if (place->point && reader->seen[column] == reader->row) {
        return FAIL(place, start, "the name stands twice");
    }
    if (status != KEEPFIT_OK)
        return status;
    if (place->point && column != KF_NO_COLUMN)
        reader->seen[column] = reader->row;
    if (*place->at == '[') {
        const char *array = place->at;
        status = pass_array(place);
        bool wrong = place->point && column != KF_NO_COLUMN && !is_passed(place, column);
        return status == KEEPFIT_OK && wrong
                   ? FAIL(place, array, "an array is no cell; {ignore=%.60s} leaves it out", reader->path)
                   : status;
    }
    status = *place->at == '"' ? take_string(place, &cell) : take_word(place, &cell);
    return status == KEEPFIT_OK && column != KF_NO_COLUMN ? take_cell(place, &cell, column) : status;
}

/* The name at place->at, put behind the path; *length is that of both. */
static keepfit_status take_name(struct place *place, size_t path, size_t *length)
{
    struct jsonl *reader = place->reader;
    struct kf_csv_cell name;
    if (*place->at != '"')
        return FAIL(place, place->at, "expected a name in quotes");
    keepfit_status status = take_string(place, &name);
    if (status != KEEPFIT_OK)
        return status;
    size_t own = (size_t)(name.end - name.text);
    if (!KF_RESERVE(reader->path, reader->path_capacity, path + own + 2))
        return kf_fail_memory(place->error);
    if (path)
        reader->path[path++] = '.';
    memcpy(reader->path + path, name.text, own);
    *length = path + own;
    reader->path[*length] = '\0';
    status = expect(place, ':', "a colon");
    skip_blanks(place);
    return status;
}

static keepfit_status take_member(struct place *place, size_t path, size_t depth)
{
    const char *start = place->at;
    size_t length = 0;
    keepfit_status status = take_name(place, path, &length);
    if (status != KEEPFIT_OK)
        return status;
    return *place->at == '{' ? take_object(place, length, depth + 1) : take_leaf(place, start);
}

static keepfit_status take_object(struct place *place, size_t path, size_t depth)
{
    if (depth > DEPTH_MOST)
        return FAIL(place, place->at, "more than %d objects within one another", DEPTH_MOST);
    keepfit_status status = expect(place, '{', "an object, as each line has one");
    skip_blanks(place);
    if (status == KEEPFIT_OK && *place->at == '}') {
        place->at++;
        return KEEPFIT_OK;
    }
    while (status == KEEPFIT_OK) {
        skip_blanks(place);
        status = take_member(place, path, depth);
        if (status != KEEPFIT_OK)
            break;
        skip_blanks(place);
        if (*place->at != ',')
            return expect(place, '}', "a comma or }");
        place->at++;
    }
    return status;
}

/* ---- rows ---- */

static keepfit_status read_line(struct jsonl *reader, const struct kf_line *line, keepfit_point *point,
                                keepfit_error *error)
{
    struct place place = {.reader = reader, .line = line, .at = line->text, .point = point, .error = error};
    size_t longest = 2 * (size_t)(line->end - line->text) + 1;
    reader->text_used = 0;
    if (!KF_RESERVE(reader->text, reader->text_capacity, longest))
        return kf_fail_memory(error);
    keepfit_status status = take_object(&place, 0, 1);
    if (status == KEEPFIT_OK)
        skip_blanks(&place);
    return status == KEEPFIT_OK && *place.at ? FAIL(&place, place.at, "something follows the object") : status;
}

/* The target and the weight must be there. */
static keepfit_status check_others(const struct jsonl *reader, const struct kf_line *line, keepfit_error *error)
{
    const struct kf_columns *columns = &reader->rows.columns;
    const struct kf_input *input = reader->rows.input;
    if (!columns->count)
        return KF_FAIL_ROW(reader->rows.input, line, line->text, error, "no line up to here has a value");
    bool target =
             columns->target != KF_NO_COLUMN && input->wanted.targets && reader->seen[columns->target] != reader->row,
         weight = columns->weight != KF_NO_COLUMN && reader->seen[columns->weight] != reader->row;
    if (!target && !weight)
        return KEEPFIT_OK;
    return KF_FAIL_ROW(reader->rows.input, line, line->text, error, "there is no '%.60s', the %s",
                       columns->name[target ? columns->target : columns->weight], target ? "target" : "weight");
}

static keepfit_status next(void *state, keepfit_point *point, keepfit_error *error)
{
    struct jsonl *reader = state;
    struct kf_table *table = &reader->rows.table;
    struct kf_line line;
    keepfit_status status = kf_csv_next_line(&reader->rows, &line, error);
    if (status != KEEPFIT_OK)
        return status;
    *point = (keepfit_point){.weight = 1};
    reader->row++;
    memset(table->cell, 0, (reader->rows.input->recipe->readable + 1) * sizeof *table->cell);
    table->key = table->time = (struct kf_content){NULL};
    status = read_line(reader, &line, point, error);
    if (status == KEEPFIT_OK)
        status = check_others(reader, &line, error);
    point->weightless = point->weight == 0;
    return status == KEEPFIT_OK ? kf_table_row(table, &line, point, error) : status;
}

/* ---- opening ---- */

/* The first lines tell the columns and what they look like; what cannot be read says so when it is handed out. */
static keepfit_status look(struct jsonl *reader, keepfit_error *error)
{
    struct kf_held *held = &reader->rows.held;
    while (held->count < KF_SURVEY_LINES && held->used < KF_SURVEY_BYTES && kf_held_fetch(held, &reader->rows.lines))
        ;
    for (size_t k = 0; k < held->count; k++) {
        struct kf_line line = kf_held_show(held, k);
        keepfit_error unused = {.struct_size = sizeof unused};
        if (kf_csv_says_something(&reader->rows, &line) && read_line(reader, &line, NULL, &unused) == KEEPFIT_NO_MEMORY)
            return kf_fail_memory(error);
    }
    return KEEPFIT_OK;
}

static bool add_known(struct kf_columns *columns, const char *name)
{
    return !name || kf_columns_find(columns, name, 0) != KF_NO_COLUMN || kf_columns_add(columns, kf_copy_text(name));
}

/* What is known: its columns, and the target and the weight that it had. */
static keepfit_status take_known(struct jsonl *reader, keepfit_error *error)
{
    const struct kf_input *input = reader->rows.input;
    const keepfit_schema *schema = input->wanted.schema;
    struct kf_columns *columns = &reader->rows.columns;
    const char *target = input->options->target;
    bool good = true;
    for (size_t k = 0; k < input->recipe->columns && good; k++)
        good = input->recipe->column[k].type.kind == KF_CROSS || add_known(columns, input->recipe->column[k].name);
    good =
        good && add_known(columns, schema->target) && add_known(columns, schema->weight) &&
        (!target || strcmp(target, "none") == 0 || add_known(columns, target)) &&
        add_known(columns, input->options->weights) &&
        (input->wanted.fixed || (add_known(columns, input->options->key) && add_known(columns, input->options->time)));
    return good ? KEEPFIT_OK : kf_fail_memory(error);
}

/* Names that are to be left out need not have come up yet. */
static keepfit_status add_ignored(struct jsonl *reader, keepfit_error *error)
{
    const char *list = reader->rows.input->options->ignore;
    char *name = list ? kf_copy_text(list) : NULL;
    bool good = !list || name;
    for (char *at = name; good && at && *at;) {
        size_t length = strcspn(at, ",");
        char *next = at + length + (at[length] == ',');
        at[length] = '\0';
        good = add_known(&reader->rows.columns, at);
        at = next;
    }
    free(name);
    return good ? KEEPFIT_OK : kf_fail_memory(error);
}

/* The order of names says nothing, so the last one is no target. */
static keepfit_status check_target(const struct jsonl *reader, keepfit_error *error)
{
    const struct kf_columns *columns = &reader->rows.columns;
    const struct kf_input *input = reader->rows.input;
    if (input->options->target || columns->target == KF_NO_COLUMN || kf_is_usual_target(columns->name[columns->target]))
        return KEEPFIT_OK;
    return kf_fail_at(error, KEEPFIT_USAGE, input->name, 0, 0, "which name is the target's? ({target=NAME})");
}

static keepfit_status begin_columns(struct jsonl *reader, bool known, keepfit_error *error)
{
    struct kf_csv *rows = &reader->rows;
    struct kf_columns *columns = &rows->columns;
    keepfit_status status = known ? take_known(reader, error) : look(reader, error);
    if (status == KEEPFIT_OK && columns->count == 0)
        return KEEPFIT_OK; /* which next will find out again */
    if (status == KEEPFIT_OK)
        status = add_ignored(reader, error);
    const keepfit_options *options = rows->input->options;
    if (status == KEEPFIT_OK)
        status = kf_columns_others(columns, options->target, options->weights, rows->input, error);
    if (status == KEEPFIT_OK && !known)
        status = check_target(reader, error);
    if (status == KEEPFIT_OK)
        status = kf_columns_marks(columns, rows->input, error);
    if (status == KEEPFIT_OK)
        status = kf_table_begin(&rows->table, columns, rows->input, known ? NULL : reader->sights, error);
    return status;
}

/* Which columns nobody looks at. */
static void mark_passed(struct jsonl *reader)
{
    const struct kf_columns *columns = &reader->rows.columns;
    for (size_t k = 0; k < columns->count; k++)
        reader->passed[k] = columns->feature[k] == KF_NO_COLUMN && k != columns->target && k != columns->weight &&
                            k != columns->key && k != columns->time;
}

static keepfit_status begin(void *state, struct kf_input *input, keepfit_error *error)
{
    struct jsonl *reader = state;
    struct kf_csv *rows = &reader->rows;
    const keepfit_schema *schema = input->wanted.schema;
    bool known = schema && schema->columns;
    if (input->options->targets)
        return kf_fail(error, KEEPFIT_USAGE, "{targets} is for npy and idx files; JSON lines take {target=NAME}");
    if (!known && (input->wanted.fixed || input->wanted.plain || (schema && schema->features)))
        return kf_fail_at(error, KEEPFIT_DATA, input->name, 0, 0,
                          "JSON lines are for tables with types, and the %s has none",
                          input->wanted.fixed ? "model" : "journal");
    rows->input = input;
    rows->typed = rows->hash_rows = true;
    rows->texts = input->wanted.texts;
    if (rows->texts == KF_TEXTS_EITHER && kf_classes_count(input->classes))
        rows->texts = KF_TEXTS_ALWAYS;
    keepfit_status status = known ? kf_table_know(&rows->table, input, error) : KEEPFIT_OK;
    kf_lines_open(&rows->lines, input->source, input->options);
    if (status == KEEPFIT_OK)
        status = begin_columns(reader, known, error);
    size_t count = rows->columns.count;
    if (status != KEEPFIT_OK)
        return status;
    reader->seen = kf_allocate(count + 1, sizeof *reader->seen);
    reader->passed = kf_allocate(count + 1, sizeof *reader->passed);
    if (!rows->table.cell)
        rows->table.cell = kf_allocate(1, sizeof *rows->table.cell);
    if (!reader->seen || !reader->passed || !rows->table.cell)
        return kf_fail_memory(error);
    mark_passed(reader);
    return KEEPFIT_OK;
}

static void finish(void *state)
{
    struct jsonl *reader = state;
    kf_csv_close(&reader->rows);
    free(reader->path);
    free(reader->text);
    free(reader->seen);
    free(reader->sights);
    free(reader->passed);
}

static bool recognises(const unsigned char *bytes, size_t count)
{
    return count > 0 && *bytes == '{';
}

const struct kf_reader kf_reader_jsonl = {
    .name = "jsonl",
    .summary = "an object a line, as tables with types are; names within objects are joined by dots",
    .extensions = ".jsonl .ndjson",
    .name_parts = "",
    .state_size = sizeof(struct jsonl),
    .recognises = recognises,
    .open = begin,
    .next = next,
    .close = finish,
};
