#include "stream/array_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"

#define MAGIC_BYTES 8 /* as many as any binary format needs to be recognised */

keepfit_status kf_table_open(struct kf_table *table, struct kf_input *input, const struct kf_reader *format,
                             keepfit_error *error)
{
    const keepfit_options *options = input->options;
    table->input = input;
    if (options->weights)
        return kf_fail(error, KEEPFIT_USAGE, "{weight-column} is for CSV files only");
    if (options->targets && options->target)
        return kf_fail(error, KEEPFIT_USAGE, "{target} and {targets} exclude each other");
    const unsigned char *bytes;
    size_t count;
    keepfit_status status = kf_refuse_marks(options, error);
    if (status != KEEPFIT_OK)
        return status;
    status = kf_source_peek(input->source, MAGIC_BYTES, &bytes, &count, error);
    if (status != KEEPFIT_OK)
        return status;
    if (!format->recognises(bytes, count))
        return kf_fail_at(error, KEEPFIT_DATA, input->name, 0, 0, "not an %s file, by its first bytes", format->name);
    status = kf_array_open(&table->array, input->source, error);
    table->columns.count = table->array.columns;
    input->total = table->array.rows;
    return status;
}

void kf_table_close(struct kf_table *table)
{
    kf_array_close(&table->array);
    kf_array_close(&table->targets);
    if (table->target_path)
        kf_source_close(&table->target_source);
    free(table->value);
    kf_columns_free(&table->columns);
}

static keepfit_status check_targets(const struct kf_table *table, keepfit_error *error)
{
    if (table->targets.columns != 1)
        return kf_fail_at(error, KEEPFIT_DATA, table->target_path, 0, 0, "%zu columns, but targets take one",
                          table->targets.columns);
    if (table->targets.rows != table->array.rows)
        return kf_fail_at(error, KEEPFIT_DATA, table->target_path, 0, 0, "%zu targets, but %s has %zu rows",
                          table->targets.rows, table->input->name, table->array.rows);
    return KEEPFIT_OK;
}

keepfit_status kf_table_use_file(struct kf_table *table, const char *path, keepfit_error *error)
{
    if (strcmp(path, "-") == 0 && strcmp(table->input->path, "-") == 0)
        return kf_fail(error, KEEPFIT_USAGE, "standard input cannot give both the rows and the {targets}");
    keepfit_status status = kf_columns_choose(&table->columns, "none", NULL, table->input, error);
    table->input->labelled = true;
    if (status != KEEPFIT_OK)
        return status;
    if (!(table->input->targets = kf_copy_text(path)))
        return kf_fail_memory(error);
    status = kf_source_open(&table->target_source, path, table->input->targets, error);
    if (status != KEEPFIT_OK)
        return status;
    table->target_path = table->input->targets;
    status = kf_array_open(&table->targets, &table->target_source, error);
    return status == KEEPFIT_OK ? check_targets(table, error) : status;
}

keepfit_status kf_table_use_column(struct kf_table *table, const char *column, keepfit_error *error)
{
    return kf_columns_choose(&table->columns, column, NULL, table->input, error);
}

static keepfit_status refuse(struct kf_table *table, const char *name, size_t column, double value,
                             keepfit_error *error)
{
    const char *word = isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    table->input->bad_row = true;
    return kf_fail_at(error, KEEPFIT_DATA, name, table->array.row, column,
                      "value '%s' is not finite ({on-error=skip} drops such rows)", word);
}

/* The file of targets moves on with every row, even a bad one. */
static keepfit_status next_target(struct kf_table *table, const double **target, keepfit_error *error)
{
    keepfit_status status = kf_array_next(&table->targets, target, error);
    if (status == KEEPFIT_OK && table->targets.row == table->targets.rows) {
        /* also its end is checked before the last point goes out */
        const double *none;
        status = kf_array_next(&table->targets, &none, error);
        status = status == KEEPFIT_END ? KEEPFIT_OK : status;
    }
    return status;
}

/* Everything that is a feature; in place of a copy, the array's own row where it can be. */
static keepfit_status take_row(struct kf_table *table, const double *value, keepfit_row *row, keepfit_error *error)
{
    size_t target = table->columns.target, count = table->columns.count;
    *row = (keepfit_row){.count = table->columns.features, .value = value};
    if (target == KF_NO_COLUMN || target == count - 1)
        return KEEPFIT_OK;
    if (!table->value && !(table->value = kf_allocate(count, sizeof *table->value)))
        return kf_fail_memory(error);
    memcpy(table->value, value, target * sizeof *value);
    memcpy(table->value + target, value + target + 1, (count - 1 - target) * sizeof *value);
    row->value = table->value;
    return KEEPFIT_OK;
}

keepfit_status kf_table_next(struct kf_table *table, keepfit_point *point, keepfit_error *error)
{
    const double *value, *target = NULL;
    keepfit_status status = kf_array_next(&table->array, &value, error);
    table->input->line = table->array.row;
    if (status == KEEPFIT_OK && table->target_path)
        status = next_target(table, &target, error);
    if (status != KEEPFIT_OK)
        return status;
    for (size_t k = 0; k < table->columns.count; k++)
        if (!isfinite(value[k]) && (k != table->columns.target || table->input->wanted.targets))
            return refuse(table, table->input->name, k + 1, value[k], error);
    if (target && !isfinite(*target))
        return refuse(table, table->target_path, 0, *target, error);
    *point = (keepfit_point){.weight = 1};
    if (target)
        point->target = *target;
    else if (table->columns.target != KF_NO_COLUMN)
        point->target = table->input->wanted.targets ? value[table->columns.target] : 0;
    return take_row(table, value, &point->row, error);
}
