#include "stream/typed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "stream/token.h"

/* What the options say of one column. */
struct said {
    bool typed, ignored, taken;
    struct kf_type type;
};

void kf_table_free(struct kf_table *table)
{
    free(table->cell);
    free(table->names);
    *table = (struct kf_table){.input = NULL};
}

bool kf_table_is_asked_for(const keepfit_options *options)
{
    return options->ignore || options->columns || options->type || options->cross || options->hash || options->key ||
           options->time || keepfit_options_given(options, "missing");
}

/* ---- the options ---- */

/* The next piece of a list, up to a comma, as a text of its own in `room`. False: there is none, or no memory. */
static bool next_piece(const char **list, char *room, const char **piece)
{
    size_t length = strcspn(*list, ",");
    if (!**list)
        return false;
    memcpy(room, *list, length);
    room[length] = '\0';
    *piece = room;
    *list += length + ((*list)[length] == ',');
    return true;
}

static keepfit_status read_list(const struct kf_columns *columns, const struct kf_input *input, const char *option,
                                const char *list, struct said *said, bool take, keepfit_error *error)
{
    char *room = list ? kf_allocate_raw(strlen(list) + 1) : NULL;
    const char *piece;
    keepfit_status status = list && !room ? kf_fail_memory(error) : KEEPFIT_OK;
    while (status == KEEPFIT_OK && list && next_piece(&list, room, &piece)) {
        size_t k;
        status = kf_columns_look_up(columns, option, piece, &k, input->name, error);
        if (status == KEEPFIT_OK)
            *(take ? &said[k].taken : &said[k].ignored) = true;
    }
    free(room);
    return status;
}

static keepfit_status refuse_type(const char *piece, const char *text, keepfit_error *error)
{
    keepfit_guess guess = {.word = text};
    keepfit_guess_offer(&guess, "number|boolean|category|time|text|ignore");
    return kf_fail(error, KEEPFIT_USAGE, "{type}: '%.80s' is not NAME=TYPE, with one of the types %s%s", piece,
                   KF_KINDS_FOR_MESSAGES, keepfit_guess_hint(&guess, ""));
}

static keepfit_status read_type(const struct kf_columns *columns, const struct kf_input *input, char *piece,
                                struct said *said, keepfit_error *error)
{
    char *sign = strrchr(piece, '='), *text = sign ? sign + 1 : piece;
    struct kf_type type;
    size_t k;
    if (!sign || !kf_type_read(text, text + strlen(text), &type) || type.kind == KF_CROSS)
        return refuse_type(piece, text, error);
    *sign = '\0';
    keepfit_status status = kf_columns_look_up(columns, "type", piece, &k, input->name, error);
    if (status != KEEPFIT_OK)
        return status;
    if (said[k].typed)
        return kf_fail(error, KEEPFIT_USAGE, "{type}: column '%.80s' has two types there", piece);
    said[k].typed = true;
    said[k].type = type;
    return KEEPFIT_OK;
}

static keepfit_status read_types(const struct kf_columns *columns, const struct kf_input *input, struct said *said,
                                 keepfit_error *error)
{
    const char *list = input->options->type, *piece;
    char *room = list ? kf_allocate_raw(strlen(list) + 1) : NULL;
    keepfit_status status = list && !room ? kf_fail_memory(error) : KEEPFIT_OK;
    while (status == KEEPFIT_OK && list && next_piece(&list, room, &piece))
        status = read_type(columns, input, room, said, error);
    free(room);
    return status;
}

/* What the options say of the types of all columns in general. */
static void complete(struct kf_type *type, const keepfit_options *options)
{
    if (kf_type_has_keys(type->kind) && !type->bits)
        type->bits = (unsigned)options->hash;
    if (type->kind != KF_IGNORE && type->kind != KF_CROSS && type->missing == KF_MISSING_INDICATOR)
        type->missing = (enum kf_missing)options->missing;
}

static keepfit_status refuse_both(const char *option, const char *name, keepfit_error *error)
{
    char quote[KF_QUOTE_SIZE];
    return kf_fail(error, KEEPFIT_USAGE, "{%s} leaves out column '%s', to which {type} gives a type", option,
                   kf_quote(quote, name, name + strlen(name)));
}

static keepfit_status read_said(const struct kf_columns *columns, const struct kf_input *input, struct said **out,
                                keepfit_error *error)
{
    const keepfit_options *options = input->options;
    struct said *said = kf_allocate(columns->count, sizeof *said);
    if (!said)
        return kf_fail_memory(error);
    keepfit_status status = read_types(columns, input, said, error);
    if (status == KEEPFIT_OK)
        status = read_list(columns, input, "ignore", options->ignore, said, false, error);
    if (status == KEEPFIT_OK)
        status = read_list(columns, input, "columns", options->columns, said, true, error);
    for (size_t k = 0; k < columns->count && status == KEEPFIT_OK; k++) {
        bool other = k == columns->target || k == columns->weight;
        const char *by = k == columns->key ? "key" : said[k].ignored ? "ignore" : "columns";
        said[k].ignored |= k == columns->key;
        if (options->columns && !said[k].taken)
            said[k].ignored = true;
        if (said[k].ignored && said[k].typed && said[k].type.kind != KF_IGNORE && !other) {
            status = refuse_both(by, columns->name[k], error);
            break;
        }
        if (said[k].ignored && !said[k].typed)
            said[k].type = (struct kf_type){.kind = KF_IGNORE};
        else if (k == columns->time && !said[k].typed && !input->recipe->columns)
            said[k] = (struct said){.typed = true, .type = {.kind = KF_TIME}};
        said[k].typed |= said[k].ignored || other;
        complete(&said[k].type, options);
    }
    if (status == KEEPFIT_OK)
        *out = said;
    else
        free(said);
    return status;
}

keepfit_status kf_table_is_said(const struct kf_columns *columns, const struct kf_input *input, bool *all,
                                keepfit_error *error)
{
    struct said *said = NULL;
    keepfit_status status = read_said(columns, input, &said, error);
    *all = true;
    for (size_t k = 0; k < columns->count && status == KEEPFIT_OK; k++)
        *all &= said[k].typed;
    free(said);
    return status;
}

/* ---- a new recipe ---- */

static bool is_other(const struct kf_columns *columns, size_t k)
{
    return k == columns->target || k == columns->weight;
}

/* Columns that are read come before those that are not. */
static keepfit_status add_columns(struct kf_recipe *recipe, struct kf_columns *columns, const struct said *said,
                                  bool ignored, keepfit_error *error)
{
    keepfit_status status = KEEPFIT_OK;
    for (size_t k = 0; k < columns->count && status == KEEPFIT_OK; k++) {
        if (is_other(columns, k) || (said[k].type.kind == KF_IGNORE) != ignored)
            continue;
        if (!ignored)
            columns->feature[k] = recipe->columns;
        /* of ignored columns with one name, one is enough to know */
        if (!ignored || kf_recipe_find(recipe, columns->name[k], strlen(columns->name[k])) == KF_NO_COLUMN)
            status = kf_recipe_add(recipe, columns->name[k], said[k].type, error);
    }
    return status;
}

static keepfit_status add_crosses(struct kf_recipe *recipe, const keepfit_options *options, keepfit_error *error)
{
    const char *list = options->cross, *piece;
    char *room = list ? kf_allocate_raw(strlen(list) + 1) : NULL;
    keepfit_status status = list && !room ? kf_fail_memory(error) : KEEPFIT_OK;
    while (status == KEEPFIT_OK && list && next_piece(&list, room, &piece)) {
        struct kf_type type = {.kind = KF_CROSS};
        complete(&type, options);
        status = kf_recipe_add(recipe, piece, type, error);
    }
    free(room);
    return status;
}

static keepfit_status make_recipe(struct kf_recipe *recipe, struct kf_columns *columns, const struct kf_input *input,
                                  struct said *said, const struct kf_sight *sights, keepfit_error *error)
{
    for (size_t k = 0; k < columns->count; k++) {
        columns->feature[k] = KF_NO_COLUMN;
        if (said[k].typed || is_other(columns, k))
            continue;
        said[k].type = (struct kf_type){.kind = kf_sight_guess(&sights[k], columns->name[k])};
        said[k].type.words = said[k].type.kind == KF_TEXT;
        complete(&said[k].type, input->options);
    }
    keepfit_status status = add_columns(recipe, columns, said, false, error);
    if (status == KEEPFIT_OK)
        status = add_crosses(recipe, input->options, error);
    if (status == KEEPFIT_OK)
        status = add_columns(recipe, columns, said, true, error);
    if (status == KEEPFIT_OK && recipe->readable == 0)
        status = kf_fail_at(error, KEEPFIT_DATA, input->name, 0, 0,
                            "no column is left beside the target ({type}, {ignore} and {columns} say which are read)");
    return status == KEEPFIT_OK ? kf_recipe_settle(recipe, error) : status;
}

/* ---- a recipe that is known ---- */

keepfit_status kf_table_know(struct kf_table *table, struct kf_input *input, keepfit_error *error)
{
    struct kf_recipe *recipe = input->recipe;
    const keepfit_schema *schema = input->wanted.schema;
    keepfit_status status = kf_recipe_take(recipe, schema, error);
    if (status != KEEPFIT_OK)
        return status;
    recipe->fixed = input->wanted.fixed;
    table->names = kf_allocate(recipe->readable + 1, sizeof *table->names);
    if (!table->names)
        return kf_fail_memory(error);
    for (size_t k = 0; k < recipe->readable; k++)
        table->names[k] = recipe->column[k].name;
    table->view = *schema;
    table->view.features = recipe->readable;
    table->view.feature = table->names;
    input->wanted.schema = &table->view;
    return KEEPFIT_OK;
}

static keepfit_status refuse_type_of(const char *option, const char *name, struct kf_type known, keepfit_error *error)
{
    char room[KF_TYPE_ROOM], quote[KF_QUOTE_SIZE];
    return kf_fail(error, KEEPFIT_USAGE, "{%s}: column '%s' has the type %s since the first rows", option,
                   kf_quote(quote, name, name + strlen(name)), kf_type_write(known, room));
}

static bool is_called(const char *name, const char *number)
{
    return name && strcmp(name, number) == 0;
}

/* How many columns are known, if they are called 1, 2, and so on up to their number; otherwise 0. */
static size_t count_numbered(const struct kf_input *input)
{
    const struct kf_recipe *recipe = input->recipe;
    const keepfit_schema *schema = input->wanted.schema;
    size_t count = 0;
    for (size_t k = 0; k < recipe->columns; k++)
        count += recipe->column[k].type.kind != KF_CROSS;
    count += (schema->target != NULL) + (schema->weight != NULL);
    for (size_t k = 1; k <= count; k++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", k);
        if (kf_recipe_find(recipe, number, strlen(number)) == KF_NO_COLUMN && !is_called(schema->target, number) &&
            !is_called(schema->weight, number))
            return 0;
    }
    return count;
}

bool kf_table_is_numbered(const struct kf_input *input)
{
    return count_numbered(input) > 0;
}

bool kf_table_number(struct kf_columns *columns, const struct kf_input *input)
{
    const char *target = input->wanted.schema->target;
    size_t known = count_numbered(input);
    bool bare = target && input->wanted.fixed && columns->count + 1 == known;
    return !known || kf_columns_number(columns, bare ? strtoul(target, NULL, 10) : 0);
}

/* The settings that hold for all columns, but for those whose own type says otherwise. */
static keepfit_status agree_in_general(const struct kf_recipe_column *column, const struct said *said,
                                       const keepfit_options *options, keepfit_error *error)
{
    struct kf_type now = {.missing = (enum kf_missing)options->missing, .bits = (unsigned)options->hash};
    if (said && said->typed)
        now = said->type;
    static const char *const missing[] = {"indicator", "zero", "skip"};
    const struct kf_type known = column->type;
    char quote[KF_QUOTE_SIZE], bits[48] = "without " KF_OPTION("hash");
    kf_quote(quote, column->name, column->name + strlen(column->name));
    if (known.kind != KF_IGNORE && known.kind != KF_CROSS && known.missing != now.missing &&
        (now.missing != KF_MISSING_INDICATOR || keepfit_options_given(options, "missing")))
        return kf_fail(error, KEEPFIT_USAGE,
                       "{missing=%s} differs: column '%s' has been read with {missing=%s} since the first rows",
                       missing[now.missing], quote, missing[known.missing]);
    if (known.bits)
        snprintf(bits, sizeof bits, "with " KF_OPTION_BEGINS "hash=%u" KF_OPTION_ENDS, known.bits);
    if (now.bits && kf_type_has_keys(known.kind) && known.bits != now.bits)
        return kf_fail(error, KEEPFIT_USAGE, "{hash=%u} differs: column '%s' has been read %s since the first rows",
                       now.bits, quote, bits);
    return KEEPFIT_OK;
}

/* All products that are known must be asked for, and no others, if any are. */
static keepfit_status agree_in_crosses(const struct kf_recipe *recipe, const keepfit_options *options,
                                       keepfit_error *error)
{
    const char *list = options->cross, *piece;
    char *room = list ? kf_allocate_raw(strlen(list) + 1) : NULL;
    size_t known = 0, said = 0;
    keepfit_status status = list && !room ? kf_fail_memory(error) : KEEPFIT_OK;
    for (size_t k = 0; k < recipe->columns; k++)
        known += recipe->column[k].type.kind == KF_CROSS;
    while (status == KEEPFIT_OK && list && next_piece(&list, room, &piece)) {
        size_t at = kf_recipe_find(recipe, piece, strlen(piece));
        said++;
        if (at == KF_NO_COLUMN || recipe->column[at].type.kind != KF_CROSS)
            status = kf_fail(error, KEEPFIT_USAGE,
                             "{cross} differs: '%.100s' has not been a product since the first rows", piece);
    }
    if (status == KEEPFIT_OK && options->cross && said != known)
        status =
            kf_fail(error, KEEPFIT_USAGE, "{cross} differs: there have been %zu products since the first rows", known);
    free(room);
    return status;
}

/* What the options say must be what is known; what they do not say is not compared. */
static keepfit_status agree(const struct kf_recipe *recipe, const struct kf_columns *columns, const struct said *said,
                            const keepfit_options *options, keepfit_error *error)
{
    for (size_t k = 0; k < columns->count; k++) {
        const char *name = columns->name[k];
        size_t at = kf_recipe_find(recipe, name, strlen(name));
        if (is_other(columns, k) || at == KF_NO_COLUMN)
            continue;
        struct kf_type known = recipe->column[at].type, now = said[k].type;
        bool options_ignore = said[k].typed && now.kind == KF_IGNORE;
        if (said[k].typed && (now.kind != known.kind || now.words != known.words))
            return refuse_type_of(k == columns->key ? "key"
                                  : !options_ignore ? "type"
                                  : options->ignore ? "ignore"
                                                    : "columns",
                                  name, known, error);
    }
    for (size_t k = 0; k < recipe->columns; k++) {
        size_t at = kf_columns_find(columns, recipe->column[k].name, 0);
        keepfit_status status =
            agree_in_general(&recipe->column[k], at == KF_NO_COLUMN ? NULL : &said[at], options, error);
        if (status != KEEPFIT_OK)
            return status;
    }
    return agree_in_crosses(recipe, options, error);
}

/* Columns that the recipe ignores, or the options, are left out, and may be missing. */
static keepfit_status leave_out(struct kf_columns *columns, const struct kf_recipe *recipe, const struct said *said,
                                keepfit_error *error)
{
    columns->left_out = kf_allocate(columns->count, sizeof *columns->left_out);
    if (!columns->left_out)
        return kf_fail_memory(error);
    for (size_t k = 0; k < columns->count; k++) {
        size_t at = kf_recipe_find(recipe, columns->name[k], strlen(columns->name[k]));
        bool known = at != KF_NO_COLUMN;
        columns->left_out[k] = known ? recipe->column[at].type.kind == KF_IGNORE : said[k].ignored;
    }
    return KEEPFIT_OK;
}

/* ---- both ---- */

/* What the stream says of its columns. */
static keepfit_status describe(const struct kf_table *table, keepfit_error *error)
{
    const struct kf_columns *columns = table->columns;
    struct kf_input *input = table->input;
    size_t target = columns->target;
    bool has_target = target != KF_NO_COLUMN;
    keepfit_schema schema = {.target = has_target ? columns->name[target] : NULL};
    if (has_target)
        schema.target_at = target + 1 - (columns->weight < target);
    if (columns->weight != KF_NO_COLUMN)
        schema.weight = columns->name[columns->weight];
    input->labelled = has_target;
    input->target_column = has_target ? target + 1 : 0;
    return kf_schema_set_columns(&input->columns, &schema) && kf_recipe_describe(input->recipe, &input->columns)
               ? KEEPFIT_OK
               : kf_fail_memory(error);
}

static keepfit_status fail_nameless(const struct kf_input *input, keepfit_error *error)
{
    return kf_fail_at(error, KEEPFIT_DATA, input->name, 0, 0,
                      "the first line has no names of columns, by which the %s knows them",
                      input->wanted.fixed ? "model" : "journal");
}

keepfit_status kf_table_begin(struct kf_table *table, struct kf_columns *columns, struct kf_input *input,
                              const struct kf_sight *sights, keepfit_error *error)
{
    struct kf_recipe *recipe = input->recipe;
    bool known = table->names != NULL;
    struct said *said = NULL;
    table->input = input;
    table->columns = columns;
    if (!columns->name)
        return fail_nameless(input, error);
    keepfit_status status = read_said(columns, input, &said, error);
    if (status == KEEPFIT_OK && known)
        status = agree(recipe, columns, said, input->options, error);
    if (status == KEEPFIT_OK && known)
        status = leave_out(columns, recipe, said, error);
    if (status == KEEPFIT_OK)
        status =
            known ? kf_columns_match(columns, input, error) : make_recipe(recipe, columns, input, said, sights, error);
    free(said);
    if (status == KEEPFIT_OK && !(table->cell = kf_allocate(recipe->readable + 1, sizeof *table->cell)))
        status = kf_fail_memory(error);
    return status == KEEPFIT_OK ? describe(table, error) : status;
}

keepfit_status kf_table_row(struct kf_table *table, const struct kf_line *line, keepfit_point *point,
                            keepfit_error *error)
{
    struct kf_input *input = table->input;
    struct kf_complaint complaint;
    keepfit_status status = input->marked ? kf_table_mark(table, line, error) : KEEPFIT_OK;
    if (status != KEEPFIT_OK)
        return status;
    status = kf_recipe_row(input->recipe, table->cell, &point->row, &complaint, error);
    if (status != KEEPFIT_DATA)
        return status;
    const struct kf_content *cell = &table->cell[complaint.column < input->recipe->readable ? complaint.column : 0];
    input->passed = complaint.skip;
    return KF_FAIL_ROW(input, line, cell->start ? cell->start : line->text, error, "%s", complaint.text);
}
