#include "stream/column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "stream/token.h"

void kf_columns_free(struct kf_columns *columns)
{
    kf_columns_forget_names(columns);
    free(columns->feature);
    free(columns->left_out);
    *columns = (struct kf_columns){0};
}

bool kf_columns_add(struct kf_columns *columns, char *name)
{
    if (!name || !KF_RESERVE(columns->name, columns->capacity, columns->count + 1)) {
        free(name);
        return false;
    }
    columns->name[columns->count++] = name;
    return true;
}

void kf_columns_forget_names(struct kf_columns *columns)
{
    for (size_t k = 0; columns->name && k < columns->count; k++)
        free(columns->name[k]);
    free(columns->name);
    columns->name = NULL;
    columns->capacity = 0;
}

bool kf_columns_number(struct kf_columns *columns, size_t without)
{
    size_t count = columns->count, last = count + (without >= 1 && without <= count + 1);
    columns->count = 0;
    for (size_t k = 1; k <= last; k++) {
        if (k == without)
            continue;
        char number[24];
        snprintf(number, sizeof number, "%zu", k);
        if (!kf_columns_add(columns, kf_copy_text(number))) {
            kf_columns_forget_names(columns);
            columns->count = count;
            return false;
        }
    }
    return true;
}

size_t kf_columns_find(const struct kf_columns *columns, const char *name, size_t from)
{
    for (size_t k = from; columns->name && k < columns->count; k++)
        if (strcmp(columns->name[k], name) == 0)
            return k;
    return KF_NO_COLUMN;
}

static keepfit_status refuse_name(const struct kf_columns *columns, const char *option, const char *text,
                                  const char *source, keepfit_error *error)
{
    char quote[KF_QUOTE_SIZE];
    keepfit_guess guess = {.word = text};
    for (size_t k = 0; columns->name && k < columns->count; k++)
        keepfit_guess_offer(&guess, columns->name[k]);
    return kf_fail_at(error, KEEPFIT_USAGE, source, 0, 0, "no column is called '%s' ({%s})%s",
                      kf_quote(quote, text, text + strlen(text)), option,
                      columns->name ? keepfit_guess_hint(&guess, "") : "; there are no names");
}

keepfit_status kf_columns_look_up(const struct kf_columns *columns, const char *option, const char *text,
                                  size_t *column, const char *source, keepfit_error *error)
{
    char quote[KF_QUOTE_SIZE];
    const char *end = text + strlen(text), *stop;
    uint64_t number;
    kf_quote(quote, text, end);
    *column = kf_columns_find(columns, text, 0);
    if (*column != KF_NO_COLUMN) {
        if (kf_columns_find(columns, text, *column + 1) == KF_NO_COLUMN)
            return KEEPFIT_OK;
        return kf_fail_at(error, KEEPFIT_USAGE, source, 0, 0, "two columns are called '%s'; give {%s} its number",
                          quote, option);
    }
    bool is_number = kf_read_count(text, end, &number, &stop) != KF_NUMBER_NONE && stop == end;
    if (!is_number)
        return refuse_name(columns, option, text, source, error);
    if (number < 1 || number > columns->count)
        return kf_fail_at(error, KEEPFIT_USAGE, source, 0, 0, "there is no column %s ({%s}), only 1 to %zu", quote,
                          option, columns->count);
    *column = (size_t)number - 1;
    return KEEPFIT_OK;
}

static const char *const usual[] = {"target", "label", "class", "y"};
#define USUAL (sizeof usual / sizeof usual[0])

bool kf_is_usual_target(const char *name)
{
    for (size_t u = 0; u < USUAL; u++)
        if (strcasecmp(name, usual[u]) == 0)
            return true;
    return false;
}

/* The one with a usual name that is no feature's. */
static size_t usual_target(const struct kf_columns *columns, const keepfit_schema *schema)
{
    for (size_t u = 0; columns->name && u < USUAL; u++)
        for (size_t k = 0; k < columns->count; k++) {
            bool feature = schema && schema->feature && kf_is_feature(schema, columns->name[k]);
            if (k != columns->weight && !feature && strcasecmp(columns->name[k], usual[u]) == 0)
                return k;
        }
    return KF_NO_COLUMN;
}

/* Column `place` of those that are not the weight, from 0. */
static size_t column_at(const struct kf_columns *columns, size_t place)
{
    size_t column = place + (columns->weight <= place);
    return column < columns->count ? column : KF_NO_COLUMN;
}

static size_t last_column(const struct kf_columns *columns)
{
    size_t others = columns->count - (columns->weight != KF_NO_COLUMN);
    return others ? column_at(columns, others - 1) : KF_NO_COLUMN;
}

/* Where nothing is said of the target and only the number of features is known: one column more is the target. */
static size_t target_by_number(const struct kf_columns *columns, const struct kf_wanted *wanted)
{
    size_t others = columns->count - (columns->weight != KF_NO_COLUMN);
    size_t at = wanted->schema ? wanted->schema->target_at : 0;
    if (others != wanted->features + 1)
        return KF_NO_COLUMN;
    return at && at <= others ? column_at(columns, at - 1) : last_column(columns);
}

/* The target by its name. Where a feature has that name too, only the place that the target had can be it, and only if the
 * features of that name have columns of their own. */
static size_t named_target(const struct kf_columns *columns, const keepfit_schema *schema)
{
    size_t column = kf_columns_find(columns, schema->target, 0), more = 0;
    if (column == KF_NO_COLUMN || !schema->feature || !kf_is_feature(schema, schema->target))
        return column;
    for (size_t k = 0; k < columns->count; k++)
        more += strcmp(columns->name[k], schema->target) == 0;
    for (size_t f = 0; f < schema->features; f++)
        more -= strcmp(schema->feature[f], schema->target) == 0;
    column = more == 1 && schema->target_at ? column_at(columns, schema->target_at - 1) : KF_NO_COLUMN;
    return column != KF_NO_COLUMN && strcmp(columns->name[column], schema->target) == 0 ? column : KF_NO_COLUMN;
}

static size_t default_target(const struct kf_columns *columns, const struct kf_wanted *wanted)
{
    const keepfit_schema *schema = wanted->schema;
    bool named = schema && schema->feature && columns->name;
    size_t column = schema && schema->target ? named_target(columns, schema) : KF_NO_COLUMN;
    if (column == KF_NO_COLUMN && !(named && schema->target))
        column = usual_target(columns, schema);
    if (column != KF_NO_COLUMN || named)
        return column;
    return wanted->fixed ? target_by_number(columns, wanted) : last_column(columns);
}

static keepfit_status check_width(const struct kf_columns *columns, uint64_t max_features, const char *source,
                                  keepfit_error *error)
{
    if (columns->features == 0)
        return kf_fail_at(error, KEEPFIT_DATA, source, 0, 0,
                          "%zu column%s leave%s no feature beside the target ({target=none}: there is no target)",
                          columns->count, columns->count == 1 ? "" : "s", columns->count == 1 ? "s" : "");
    if (columns->features > max_features)
        return kf_fail_at(error, KEEPFIT_DATA, source, 0, 0,
                          "%zu features, but at most %llu are allowed ({max-features})", columns->features,
                          (unsigned long long)max_features);
    return KEEPFIT_OK;
}

static void number_features(struct kf_columns *columns)
{
    for (size_t k = 0; k < columns->count; k++) {
        bool taken = k == columns->target || k == columns->weight;
        columns->feature[k] = taken ? KF_NO_COLUMN : columns->features++;
    }
}

/* A table without names has as many features as the model, or says which column is none. */
static keepfit_status check_number(struct kf_columns *columns, bool said, const struct kf_input *input,
                                   keepfit_error *error)
{
    const struct kf_wanted *wanted = &input->wanted;
    bool spare = wanted->spare && said;
    if (columns->features == wanted->features)
        return KEEPFIT_OK;
    if (input->sparse && !wanted->exact && columns->features > wanted->features)
        return KEEPFIT_OK; /* columns that were 0 in all rows so far may be among them */
    if (spare && columns->features > wanted->features) {
        for (size_t k = 0; k < columns->count; k++)
            if (columns->feature[k] != KF_NO_COLUMN && columns->feature[k] >= wanted->features)
                columns->feature[k] = KF_NO_COLUMN;
        columns->features = (size_t)wanted->features;
        return KEEPFIT_OK;
    }
    return kf_fail_at(error, KEEPFIT_DATA, input->name, 0, 0,
                      "%zu column%s leave%s %zu feature%s%s, but the model has %llu", columns->count,
                      columns->count == 1 ? "" : "s", columns->count == 1 ? "s" : "", columns->features,
                      columns->features == 1 ? "" : "s", columns->target == KF_NO_COLUMN ? "" : " beside the target",
                      (unsigned long long)wanted->features);
}

/* What the file says of itself, for those who keep the points. */
static keepfit_status describe(const struct kf_columns *columns, struct kf_input *input, keepfit_error *error)
{
    size_t target = columns->target;
    bool has_target = target != KF_NO_COLUMN;
    keepfit_schema schema = {.features = columns->features};
    const char **feature = columns->name ? kf_allocate(columns->features, sizeof *feature) : NULL;
    if (columns->name && !feature)
        return kf_fail_memory(error);
    for (size_t k = 0; feature && k < columns->count; k++)
        if (columns->feature[k] != KF_NO_COLUMN)
            feature[columns->feature[k]] = columns->name[k];
    schema.feature = feature;
    if (has_target)
        schema.target_at = target + 1 - (columns->weight < target);
    schema.target = has_target && columns->name ? columns->name[target] : NULL;
    schema.weight = columns->weight != KF_NO_COLUMN && columns->name ? columns->name[columns->weight] : NULL;
    bool good = kf_schema_set_columns(&input->columns, &schema);
    free(feature);
    input->labelled = has_target;
    input->target_column = has_target ? target + 1 : 0;
    return good ? KEEPFIT_OK : kf_fail_memory(error);
}

/* A target that was found by its name must be the only column of that name, if it is read. */
static keepfit_status check_default(const struct kf_columns *columns, const struct kf_input *input,
                                    keepfit_error *error)
{
    const struct kf_wanted *wanted = &input->wanted;
    const char *name = columns->name && columns->target != KF_NO_COLUMN ? columns->name[columns->target] : NULL;
    char quote[KF_QUOTE_SIZE];
    bool known = name && wanted->schema && wanted->schema->feature && kf_is_feature(wanted->schema, name);
    size_t first = name && wanted->targets && !known ? kf_columns_find(columns, name, 0) : KF_NO_COLUMN;
    if (first == KF_NO_COLUMN || kf_columns_find(columns, name, first + 1) == KF_NO_COLUMN)
        return KEEPFIT_OK;
    kf_quote(quote, name, name + strlen(name));
    return kf_fail_at(error, KEEPFIT_DATA, input->name, 0, 0, "two columns are called '%s'; give {target} its number",
                      quote);
}

static keepfit_status choose_target(struct kf_columns *columns, const char *target, const struct kf_input *input,
                                    keepfit_error *error)
{
    const char *source = input->name;
    keepfit_status status = KEEPFIT_OK;
    if (!target) {
        columns->target = default_target(columns, &input->wanted);
        status = check_default(columns, input, error);
    } else if (strcmp(target, "none") != 0)
        status = kf_columns_look_up(columns, "target", target, &columns->target, source, error);
    if (status == KEEPFIT_OK && columns->weight != KF_NO_COLUMN && columns->target == columns->weight)
        status = kf_fail_at(error, KEEPFIT_USAGE, source, 0, 0, "column %zu cannot be both target and weight",
                            columns->target + 1);
    return status;
}

keepfit_status kf_columns_others(struct kf_columns *columns, const char *target, const char *weight,
                                 struct kf_input *input, keepfit_error *error)
{
    const keepfit_schema *schema = input->wanted.schema;
    keepfit_status status = KEEPFIT_OK;
    columns->target = columns->weight = columns->key = columns->time = KF_NO_COLUMN;
    columns->features = 0;
    if (!columns->feature && columns->count &&
        !(columns->feature = kf_allocate(columns->count, sizeof *columns->feature)))
        return kf_fail_memory(error);
    if (weight)
        status = kf_columns_look_up(columns, "weight-column", weight, &columns->weight, input->name, error);
    else if (schema && schema->weight)
        columns->weight = kf_columns_find(columns, schema->weight, 0);
    return status == KEEPFIT_OK ? choose_target(columns, target, input, error) : status;
}

keepfit_status kf_columns_features(struct kf_columns *columns, bool said, struct kf_input *input, keepfit_error *error)
{
    const struct kf_wanted *wanted = &input->wanted;
    const keepfit_schema *schema = wanted->schema;
    keepfit_status status;
    if (schema && schema->feature && columns->name) {
        status = kf_columns_match(columns, input, error);
    } else {
        number_features(columns);
        status = wanted->fixed ? check_number(columns, said, input, error) : KEEPFIT_OK;
    }
    if (status == KEEPFIT_OK)
        status = check_width(columns, input->options->max_features, input->name, error);
    return status == KEEPFIT_OK ? describe(columns, input, error) : status;
}

keepfit_status kf_columns_choose(struct kf_columns *columns, const char *target, const char *weight,
                                 struct kf_input *input, keepfit_error *error)
{
    keepfit_status status = kf_columns_others(columns, target, weight, input, error);
    return status == KEEPFIT_OK ? kf_columns_features(columns, target != NULL, input, error) : status;
}
