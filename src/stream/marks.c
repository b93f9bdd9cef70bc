#include "stream/marks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "stream/token.h"
#include "stream/typed.h"

/* ---- of many rows ---- */

bool kf_marks_append(struct kf_marks *marks, const char *key, double time)
{
    size_t j = marks->count, length = key ? strlen(key) + 1 : 0;
    size_t used = marks->used ? marks->used : 1; /* the first byte is nobody's */
    if (!KF_RESERVE(marks->time, marks->time_capacity, j + 1) || !KF_RESERVE(marks->key, marks->key_capacity, j + 1) ||
        !KF_RESERVE(marks->text, marks->text_capacity, used + length))
        return false;
    if (key)
        memcpy(marks->text + used, key, length);
    marks->key[j] = key ? used : 0;
    marks->time[j] = time;
    marks->used = used + length;
    marks->count++;
    return true;
}

void kf_marks_show(const struct kf_marks *marks, size_t j, const char **key, double *time)
{
    bool there = j < marks->count;
    *key = there && marks->key[j] ? marks->text + marks->key[j] : NULL;
    *time = there ? marks->time[j] : NAN;
}

void kf_marks_clear(struct kf_marks *marks)
{
    marks->count = marks->used = 0;
}

void kf_marks_free(struct kf_marks *marks)
{
    free(marks->time);
    free(marks->key);
    free(marks->text);
    *marks = (struct kf_marks){0};
}

/* ---- the columns ---- */

static const char *use_of(const struct kf_columns *columns, size_t k)
{
    return k == columns->target ? "target" : k == columns->weight ? "weight" : k == columns->key ? "key" : NULL;
}

static keepfit_status look_up(const struct kf_columns *columns, const char *option, const char *name, size_t *column,
                              const struct kf_input *input, keepfit_error *error)
{
    size_t k;
    keepfit_status status = name ? kf_columns_look_up(columns, option, name, &k, input->name, error) : KEEPFIT_OK;
    if (!name || status != KEEPFIT_OK)
        return status;
    if (use_of(columns, k))
        return kf_fail_at(error, KEEPFIT_USAGE, input->name, 0, 0, "column %zu cannot be both %s and %s ({%s})", k + 1,
                          use_of(columns, k), option, option);
    *column = k;
    return KEEPFIT_OK;
}

keepfit_status kf_columns_marks(struct kf_columns *columns, struct kf_input *input, keepfit_error *error)
{
    const keepfit_options *options = input->options;
    if (input->wanted.fixed) /* what is predicted is no point */
        return KEEPFIT_OK;
    keepfit_status status = look_up(columns, "key", options->key, &columns->key, input, error);
    if (status == KEEPFIT_OK)
        status = look_up(columns, "time", options->time, &columns->time, input, error);
    input->marked = columns->key != KF_NO_COLUMN || columns->time != KF_NO_COLUMN;
    return status;
}

keepfit_status kf_refuse_marks(const keepfit_options *options, keepfit_error *error)
{
    if (!options->key && !options->time)
        return KEEPFIT_OK;
    return kf_fail(error, KEEPFIT_USAGE, "{%s} names a column of a table (CSV, JSON lines); this format has none",
                   options->key ? "key" : "time");
}

/* ---- of a row ---- */

static bool is_missing(const struct kf_content *cell)
{
    return !cell->text || cell->text == cell->end || kf_is_missing(cell->text, cell->end);
}

static keepfit_status refuse(const struct kf_table *table, const struct kf_line *line, const struct kf_content *cell,
                             size_t column, const char *why, keepfit_error *error)
{
    const char *name = table->columns->name[column], *what = column == table->columns->key ? "key" : "time";
    char quote[KF_QUOTE_SIZE], found[KF_QUOTE_SIZE] = "";
    kf_quote(quote, name, name + strlen(name));
    if (cell->text)
        kf_quote(found, cell->text, cell->end);
    return KF_FAIL_ROW(table->input, line, cell->start ? cell->start : line->text, error,
                       "%s '%s' in column '%s' %s ({on-error=skip} drops such rows)", what, found, quote, why);
}

keepfit_status kf_table_mark(struct kf_table *table, const struct kf_line *line, keepfit_error *error)
{
    const struct kf_columns *columns = table->columns;
    struct kf_input *input = table->input;
    const struct kf_content *cell = &table->key;
    input->key = NULL;
    input->time = NAN;
    if (columns->key != KF_NO_COLUMN) {
        if (is_missing(cell))
            return refuse(table, line, cell, columns->key, "is missing: each row needs one", error);
        size_t length = (size_t)(cell->end - cell->text);
        if (length > KEEPFIT_KEY_MOST)
            return refuse(table, line, cell, columns->key, "is longer than 255 bytes", error);
        memcpy(input->key_text, cell->text, length);
        input->key_text[length] = '\0';
        input->key = input->key_text;
    }
    if (columns->time == KF_NO_COLUMN)
        return KEEPFIT_OK;
    size_t feature = columns->feature[columns->time];
    cell = feature == KF_NO_COLUMN ? &table->time : &table->cell[feature];
    if (is_missing(cell))
        return refuse(table, line, cell, columns->time, "is missing: each row needs one", error);
    if (!kf_read_moment(cell->text, cell->end, &input->time))
        return refuse(table, line, cell, columns->time, "is neither ISO 8601 (2024-05-31T08:15:02Z) nor Unix seconds",
                      error);
    return KEEPFIT_OK;
}
