/* Rows of a table whose cells come from a program are those of a file with the same cells. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"

enum { ROWS = 60, COLUMNS = 6 };
static const char *const names[COLUMNS] = {"id", "amount", "town", "when", "new", "note"};

/* Texts and numbers by turns, with gaps; the same each time. */
struct made {
    char room[COLUMNS][ROWS][48];
    const char *text[COLUMNS][ROWS];
    double number[ROWS];
    keepfit_cells cells[COLUMNS];
};

static void make_cells(struct made *made)
{
    static const char *const town[] = {"Ulm", "Kiel, Holtenau", NULL, "the \"Hague\""}, *const new[] = {"true", "no",
                                                                                                        NULL};
    for (int row = 0; row < ROWS; row++) {
        snprintf(made->room[0][row], sizeof made->room[0][row], "e%03d", row);
        made->number[row] = row % 7 == 3 ? NAN : row * 0.1 - 1e-9 * row * row;
        snprintf(made->room[3][row], sizeof made->room[3][row], "2024-02-%02dT%02d:30:00", 1 + row % 29, row % 24);
        snprintf(made->room[5][row], sizeof made->room[5][row], "word%d and word%d", row % 5, row % 11);
        made->text[0][row] = made->room[0][row];
        made->text[2][row] = town[(row * row) % 4 == 0 ? row % 3 : row % 4];
        made->text[3][row] = row % 10 ? made->room[3][row] : NULL;
        made->text[4][row] = new[row % 3];
        made->text[5][row] = made->room[5][row];
    }
    for (int k = 0; k < COLUMNS; k++)
        made->cells[k] = (keepfit_cells){.text = k == 1 ? NULL : made->text[k], .number = k == 1 ? made->number : NULL};
}

static void write_cell(FILE *file, const char *text)
{
    for (fputc('"', file); text && *text; text++)
        fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
    fputs("\",", file);
}

static const char *write_rows(const struct made *made, int from, int to)
{
    const char *path = path_of("cells.csv");
    FILE *file = fopen(path, "w");
    for (int k = 0; file && k < COLUMNS; k++)
        fprintf(file, "%s,", names[k]);
    for (int row = from; file && row < to; row++) {
        fprintf(file, row == from ? "y\n" : "");
        for (int k = 0; k < COLUMNS; k++) {
            if (k != 1)
                write_cell(file, made->text[k][row]);
            else if (isnan(made->number[row]))
                fputc(',', file);
            else
                fprintf(file, "%.17g,", made->number[row]);
        }
        fprintf(file, "%d\n", row % 2);
    }
    if (file)
        fclose(file);
    return path;
}

static bool same_row(const keepfit_block *block, size_t k, const keepfit_row *row)
{
    size_t from = (size_t)block->start[k], count = (size_t)block->start[k + 1] - from;
    return count == row->count && memcmp(block->index + from, row->index, count * sizeof *row->index) == 0 &&
           memcmp(block->value + from, row->value, count * sizeof *row->value) == 0;
}

static bool same_schema(const keepfit_table *table, const keepfit_stream *stream)
{
    keepfit_schema ours = {.struct_size = sizeof ours}, theirs = {.struct_size = sizeof theirs};
    keepfit_table_schema(table, &ours);
    keepfit_stream_schema(stream, &theirs);
    bool same = ours.columns == theirs.columns && ours.features == theirs.features;
    for (size_t k = 0; same && k < ours.columns; k++)
        same = strcmp(ours.column[k], theirs.column[k]) == 0 && strcmp(ours.type[k], theirs.type[k]) == 0;
    for (size_t k = 0; same && k < ours.features; k++)
        same = strcmp(ours.feature[k], theirs.feature[k]) == 0 && ours.origin[k] == theirs.origin[k];
    return same;
}

static void compare_rows(const struct made *made, const char *settings)
{
    keepfit_options *options = make_options(settings);
    keepfit_table *table = NULL;
    keepfit_stream *stream = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_block block = {.struct_size = sizeof block};
    keepfit_point point;
    bool good =
        keepfit_table_open(names, made->cells, COLUMNS, ROWS, NULL, false, options, &table, &error) == KEEPFIT_OK &&
        keepfit_table_rows(table, made->cells, ROWS, true, &block) == KEEPFIT_OK &&
        keepfit_stream_open(write_rows(made, 0, ROWS), options, &stream, &error) == KEEPFIT_OK;
    CHECK(good, "a table of cells opens (%s): %s", settings, error.message);
    size_t same = 0;
    for (size_t k = 0; good && keepfit_stream_next(stream, &point) == KEEPFIT_OK; k++)
        same += k < ROWS && same_row(&block, k, &point.row);
    CHECK(same == ROWS, "%zu of %d rows of cells are those of the file (%s)", same, ROWS, settings);
    CHECK(good && same_schema(table, stream), "columns, types and features are the file's (%s)", settings);
    keepfit_stream_close(stream);
    keepfit_table_close(table);
    keepfit_options_free(options);
}

/* What a table has learnt makes the same rows in another one that is given it, in another order of columns, and no new features. */
static void go_on(const struct made *made)
{
    keepfit_table *first = NULL, *second = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_schema known = {.struct_size = sizeof known}, after = {.struct_size = sizeof after};
    keepfit_block block = {.struct_size = sizeof block}, again = {.struct_size = sizeof again};
    const char *turned[COLUMNS];
    keepfit_cells cells[COLUMNS];
    for (int k = 0; k < COLUMNS; k++) {
        turned[k] = names[COLUMNS - 1 - k];
        cells[k] = made->cells[COLUMNS - 1 - k];
    }
    bool good = keepfit_table_open(names, made->cells, COLUMNS, 30, NULL, false, NULL, &first, &error) == KEEPFIT_OK &&
                keepfit_table_rows(first, made->cells, 30, true, &block) == KEEPFIT_OK;
    keepfit_table_schema(first, &known);
    good = good && keepfit_table_open(turned, cells, COLUMNS, 0, &known, true, NULL, &second, &error) == KEEPFIT_OK &&
           keepfit_table_rows(second, cells, ROWS, false, &again) == KEEPFIT_OK;
    CHECK(good, "a table goes on from what another has learnt: %s", error.message);
    size_t same = 0;
    for (size_t k = 0; good && k < 30; k++) {
        size_t from = (size_t)again.start[k];
        const keepfit_row row = {(size_t)again.start[k + 1] - from, again.index + from, again.value + from};
        same += same_row(&block, k, &row);
    }
    CHECK(same == 30, "and makes %zu of 30 rows the same", same);
    keepfit_table_schema(second, &after);
    CHECK(after.features == known.features && again.features == known.features, "and no new features");
    keepfit_table_close(second);
    keepfit_table_close(first);
}

/* A bad row among good ones with new categories leaves nothing. */
static void refuse(const struct made *made)
{
    keepfit_table *table = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_schema before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    keepfit_block block = {.struct_size = sizeof block};
    static const char *const towns[] = {"new", "newer"}, *const amounts[] = {"1.5", "much"};
    keepfit_cells cells[COLUMNS];
    memcpy(cells, made->cells, sizeof cells);
    keepfit_status opened = keepfit_table_open(names, made->cells, COLUMNS, ROWS, NULL, false, NULL, &table, &error);
    CHECK(opened == KEEPFIT_OK && keepfit_table_rows(table, made->cells, ROWS, true, &block) == KEEPFIT_OK, "a table");
    keepfit_table_schema(table, &before);
    size_t features = before.features;
    cells[2].text = towns;
    cells[1] = (keepfit_cells){.text = amounts};
    CHECK(keepfit_table_rows(table, cells, 2, true, &block) == KEEPFIT_DATA && keepfit_table_error(table)->line == 2 &&
              strstr(keepfit_table_error(table)->message, "'amount': 'much' is not a number"),
          "a bad cell is named: %s", keepfit_table_error(table)->message);
    keepfit_table_schema(table, &after);
    CHECK(after.features == features, "a block that is refused leaves no features");
    cells[1] = made->cells[1];
    CHECK(keepfit_table_rows(table, cells, 2, true, &block) == KEEPFIT_OK && block.features == features + 2,
          "a good one does");
    keepfit_table_close(table);
    static const char *const twice[] = {"a", "a"};
    cells[0].type = "colour";
    CHECK(keepfit_table_open(names, cells, 1, ROWS, NULL, false, NULL, &table, &error) == KEEPFIT_USAGE,
          "an unknown type");
    CHECK(keepfit_table_open(twice, made->cells + 2, 2, ROWS, NULL, false, NULL, &table, &error) == KEEPFIT_DATA,
          "one name twice");
    CHECK(keepfit_table_open(names, made->cells, 0, ROWS, NULL, false, NULL, &table, &error) == KEEPFIT_USAGE,
          "no columns");
}

void test_tables(void)
{
    struct made *made = calloc(1, sizeof *made);
    if (!made)
        return;
    make_cells(made);
    compare_rows(made, "target=y");
    compare_rows(made, "target=y missing=zero hash=3 cross=town*new");
    compare_rows(made, "target=y type=note=text:2,new=category ignore=when");
    compare_rows(made, "target=y columns=town,amount");
    go_on(made);
    refuse(made);
    free(made);
}
