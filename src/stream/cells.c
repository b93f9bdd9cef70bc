/* Tables with types whose cells come from a program: the columns and the recipe are those of files (typed.h), and so are the guesses.
 *
 * Numbers stay numbers where their column holds numbers, and are written as texts where it holds something else. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/sized.h"
#include "stream/stream.h"
#include "stream/token.h"
#include "stream/typed.h"

#define NUMBER_ROOM 32 /* of a number as text */

struct keepfit_table {
    keepfit_options *options;
    struct kf_recipe recipe;
    struct kf_columns columns;
    struct kf_input input;
    struct kf_table typed;
    struct kf_schema schema; /* what the caller is shown */
    keepfit_error error;
    char *room; /* [columns][NUMBER_ROOM] */
    uint64_t *start;
    uint32_t *index;
    double *value;
    size_t start_capacity, index_capacity, value_capacity;
};

void keepfit_table_close(keepfit_table *table)
{
    if (!table)
        return;
    kf_recipe_close(&table->recipe);
    kf_columns_free(&table->columns);
    kf_table_free(&table->typed);
    kf_schema_free(&table->input.columns);
    kf_schema_free(&table->schema);
    keepfit_options_free(table->options);
    free(table->room);
    free(table->start);
    free(table->index);
    free(table->value);
    free(table);
}

/* So that it reads back exactly, and as short as that allows. */
static void write_number(double number, char room[NUMBER_ROOM])
{
    double back;
    snprintf(room, NUMBER_ROOM, "%.15g", number);
    if (!kf_read_whole_real(room, room + strlen(room), &back) || back != number)
        snprintf(room, NUMBER_ROOM, "%.17g", number);
}

/* The cell of a row as a text; NULL: there is none. */
static const char *text_of(const keepfit_cells *cells, size_t row, char room[NUMBER_ROOM])
{
    if (cells->text)
        return cells->text[row];
    if (isnan(cells->number[row]))
        return NULL;
    write_number(cells->number[row], room);
    return room;
}

/* ---- opening ---- */

static bool read_kind(const char *text, enum kf_kind *kind)
{
    struct kf_type type;
    if (!kf_type_read(text, text + strlen(text), &type) || type.kind == KF_CROSS)
        return false;
    *kind = type.kind;
    return true;
}

static keepfit_status see(const keepfit_cells *cells, size_t rows, struct kf_sight *sight, keepfit_error *error)
{
    char room[NUMBER_ROOM];
    if (cells->type && !read_kind(cells->type, &sight->kind))
        return kf_fail(error, KEEPFIT_USAGE, "'%.40s' is no type of cells (those are %s)", cells->type,
                       KF_KINDS_FOR_MESSAGES);
    sight->known = cells->type != NULL;
    for (size_t row = 0; row < rows && row < KF_SURVEY_LINES; row++) {
        const char *text = text_of(cells, row, room);
        if (text)
            kf_sight_see(sight, text, text + strlen(text));
    }
    return KEEPFIT_OK;
}

/* A table of numbers has no types, as a file with these cells: its first row is all numbers, or all columns seem to be. */
static bool is_all_numbers(const keepfit_cells *cells, size_t columns, size_t rows, const struct kf_sight *sights)
{
    bool first = rows > 0, all = true;
    for (size_t k = 0; k < columns; k++) {
        char room[NUMBER_ROOM];
        double value;
        const char *text = rows ? text_of(&cells[k], 0, room) : NULL;
        first &= text && kf_read_whole_real(text, text + strlen(text), &value) && !cells[k].type;
        all &= kf_sight_is_numeric(&sights[k]);
    }
    return first || all;
}

static keepfit_status begin_new(keepfit_table *table, const keepfit_cells *cells, size_t rows, keepfit_error *error)
{
    size_t columns = table->columns.count;
    struct kf_sight *sights = kf_allocate(columns, sizeof *sights);
    if (!sights)
        return kf_fail_memory(error);
    keepfit_status status = KEEPFIT_OK;
    for (size_t k = 0; k < columns && status == KEEPFIT_OK; k++)
        status = see(&cells[k], rows, &sights[k], error);
    bool typed = kf_table_is_asked_for(table->options) || !is_all_numbers(cells, columns, rows, sights);
    if (status == KEEPFIT_OK && typed)
        status = kf_table_begin(&table->typed, &table->columns, &table->input, sights, error);
    free(sights);
    return status;
}

static keepfit_status begin(keepfit_table *table, const keepfit_cells *cells, size_t rows, const keepfit_schema *known,
                            bool fixed, keepfit_error *error)
{
    struct kf_input *input = &table->input;
    keepfit_schema schema = {.columns = 0};
    if (known)
        KF_TAKE(&schema, known);
    if (known && !schema.columns)
        return kf_fail(error, KEEPFIT_USAGE, "the columns that are known have no types");
    *input = (struct kf_input){.name = "table", .options = table->options, .recipe = &table->recipe};
    input->wanted = (struct kf_wanted){.schema = known ? &schema : NULL, .fixed = fixed};
    keepfit_status status = known ? kf_table_know(&table->typed, input, error) : KEEPFIT_OK;
    if (status == KEEPFIT_OK)
        status = kf_columns_others(&table->columns, fixed ? NULL : "none", NULL, input, error);
    if (status == KEEPFIT_OK && !fixed && known)
        table->typed.view.target = NULL; /* it comes beside the cells */
    if (status == KEEPFIT_OK)
        status = known ? kf_table_begin(&table->typed, &table->columns, input, NULL, error)
                       : begin_new(table, cells, rows, error);
    input->wanted.schema = NULL;
    const keepfit_schema shown = kf_schema_show(&input->columns);
    if (status == KEEPFIT_OK && !kf_schema_set_columns(&table->schema, &shown))
        status = kf_fail_memory(error);
    return status;
}

static keepfit_status take_names(keepfit_table *table, const char *const *names, size_t columns, keepfit_error *error)
{
    if (columns == 0)
        return kf_fail(error, KEEPFIT_USAGE, "a table without columns");
    for (size_t k = 0; k < columns; k++)
        if (!kf_columns_add(&table->columns, kf_copy_text(names[k])))
            return kf_fail_memory(error);
    table->room = kf_allocate(columns, NUMBER_ROOM);
    return table->room ? KEEPFIT_OK : kf_fail_memory(error);
}

keepfit_status keepfit_table_open(const char *const *names, const keepfit_cells *cells, size_t columns, size_t rows,
                                  const keepfit_schema *known, bool fixed, const keepfit_options *options,
                                  keepfit_table **table, keepfit_error *error)
{
    keepfit_table *made = kf_allocate(1, sizeof *made);
    if (!made)
        return kf_fail_memory(error);
    made->error.struct_size = sizeof made->error;
    made->options = options ? keepfit_options_copy(options) : keepfit_options_create();
    kf_recipe_open(&made->recipe, made->options ? made->options->max_features : 0);
    keepfit_status status = made->options ? take_names(made, names, columns, error) : kf_fail_memory(error);
    if (status == KEEPFIT_OK)
        status = begin(made, cells, rows, known, fixed, error);
    if (status == KEEPFIT_OK)
        *table = made;
    else
        keepfit_table_close(made);
    return status;
}

/* ---- rows ---- */

static void put_cells(keepfit_table *table, const keepfit_cells *cells, size_t row)
{
    for (size_t k = 0; k < table->columns.count; k++) {
        size_t place = table->columns.feature[k];
        if (place == KF_NO_COLUMN)
            continue;
        struct kf_content *cell = &table->typed.cell[place];
        bool number = !cells[k].text && table->recipe.column[place].type.kind == KF_NUMBER;
        *cell = (struct kf_content){.start = NULL};
        if (number && isfinite(cells[k].number[row])) {
            cell->number = &cells[k].number[row];
            continue;
        }
        cell->text = text_of(&cells[k], row, table->room + k * NUMBER_ROOM);
        cell->end = cell->text ? cell->text + strlen(cell->text) : NULL;
    }
}

static keepfit_status append(keepfit_table *table, size_t row, const keepfit_row *made)
{
    uint64_t from = table->start[row];
    if (!KF_RESERVE(table->index, table->index_capacity, from + made->count) ||
        !KF_RESERVE(table->value, table->value_capacity, from + made->count))
        return kf_fail_memory(&table->error);
    if (made->count) {
        memcpy(table->index + from, made->index, made->count * sizeof *table->index);
        memcpy(table->value + from, made->value, made->count * sizeof *table->value);
    }
    table->start[row + 1] = from + made->count;
    return KEEPFIT_OK;
}

static keepfit_status make_row(keepfit_table *table, const keepfit_cells *cells, size_t row)
{
    struct kf_complaint complaint;
    keepfit_row made;
    put_cells(table, cells, row);
    keepfit_status status = kf_recipe_row(&table->recipe, table->typed.cell, &made, &complaint, &table->error);
    if (status != KEEPFIT_DATA)
        return status == KEEPFIT_OK ? append(table, row, &made) : status;
    kf_fail(&table->error, KEEPFIT_DATA, "%s", complaint.text);
    table->error.line = row + 1;
    return KEEPFIT_DATA;
}

keepfit_status keepfit_table_rows(keepfit_table *table, const keepfit_cells *cells, size_t rows, bool grow,
                                  keepfit_block *block)
{
    struct kf_recipe *recipe = &table->recipe;
    const size_t before = recipe->dictionary.count;
    if (!table->schema.columns)
        return kf_fail(&table->error, KEEPFIT_USAGE, "the table is all numbers: each column is a feature");
    if (rows == SIZE_MAX || !KF_RESERVE(table->start, table->start_capacity, rows + 1) ||
        !KF_RESERVE(table->index, table->index_capacity, 1) || !KF_RESERVE(table->value, table->value_capacity, 1))
        return kf_fail_memory(&table->error);
    recipe->fixed = !grow;
    table->start[0] = 0;
    keepfit_status status = KEEPFIT_OK;
    for (size_t row = 0; row < rows && status == KEEPFIT_OK; row++)
        status = make_row(table, cells, row);
    if (status == KEEPFIT_OK && !kf_recipe_copy(recipe, &table->schema, recipe->dictionary.count))
        status = kf_fail_memory(&table->error);
    if (status != KEEPFIT_OK) {
        kf_recipe_take_back(recipe, before);
        kf_schema_cut(&table->schema, before);
        return status;
    }
    const keepfit_block made = {.count = rows,
                                .features = recipe->dictionary.count,
                                .start = table->start,
                                .index = table->index,
                                .value = table->value};
    KF_GIVE(block, &made);
    return KEEPFIT_OK;
}

void keepfit_table_schema(const keepfit_table *table, keepfit_schema *schema)
{
    const keepfit_schema shown = kf_schema_show(&table->schema);
    KF_GIVE(schema, &shown);
}

const keepfit_error *keepfit_table_error(const keepfit_table *table)
{
    return &table->error;
}
