#include "stream/column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "stream/token.h"

void kf_columns_free(struct kf_columns *columns)
{
    kf_columns_forget_names(columns);
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

static size_t find_name(const struct kf_columns *columns, const char *name, size_t from)
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
    return kf_fail_at(error, KEEPFIT_USAGE, source, 0, 0, "no column is called '%s' (--%s)%s",
                      kf_quote(quote, text, text + strlen(text)), option,
                      columns->name ? keepfit_guess_hint(&guess, "") : "; there are no names");
}

/* By name if one is called so, otherwise by number. */
static keepfit_status find_column(const struct kf_columns *columns, const char *option, const char *text,
                                  size_t *column, const char *source, keepfit_error *error)
{
    char quote[KF_QUOTE_SIZE];
    const char *end = text + strlen(text), *stop;
    uint64_t number;
    kf_quote(quote, text, end);
    *column = find_name(columns, text, 0);
    if (*column != KF_NO_COLUMN) {
        if (find_name(columns, text, *column + 1) == KF_NO_COLUMN)
            return KEEPFIT_OK;
        return kf_fail_at(error, KEEPFIT_USAGE, source, 0, 0, "two columns are called '%s'; give --%s its number",
                          quote, option);
    }
    bool is_number = kf_read_count(text, end, &number, &stop) != KF_NUMBER_NONE && stop == end;
    if (!is_number)
        return refuse_name(columns, option, text, source, error);
    if (number < 1 || number > columns->count)
        return kf_fail_at(error, KEEPFIT_USAGE, source, 0, 0, "there is no column %s (--%s), only 1 to %zu", quote,
                          option, columns->count);
    *column = (size_t)number - 1;
    return KEEPFIT_OK;
}

/* Without being told: the one with a usual name, otherwise the last that is not the weight. */
static size_t usual_target(const struct kf_columns *columns)
{
    static const char *const usual[] = {"target", "label", "class", "y"};
    for (size_t u = 0; columns->name && u < sizeof usual / sizeof usual[0]; u++)
        for (size_t k = 0; k < columns->count; k++)
            if (k != columns->weight && strcasecmp(columns->name[k], usual[u]) == 0)
                return k;
    if (columns->count == 0)
        return KF_NO_COLUMN;
    size_t last = columns->count - 1;
    if (last != columns->weight)
        return last;
    return last > 0 ? last - 1 : KF_NO_COLUMN;
}

static keepfit_status check_width(const struct kf_columns *columns, uint64_t max_features, const char *source,
                                  keepfit_error *error)
{
    size_t taken = (columns->target != KF_NO_COLUMN) + (columns->weight != KF_NO_COLUMN);
    if (columns->count <= taken)
        return kf_fail_at(error, KEEPFIT_DATA, source, 0, 0,
                          "%zu column%s leave%s no feature beside the target (--target none: there is no target)",
                          columns->count, columns->count == 1 ? "" : "s", columns->count == 1 ? "s" : "");
    if (columns->count - taken > max_features)
        return kf_fail_at(error, KEEPFIT_DATA, source, 0, 0,
                          "%zu features, but at most %llu are allowed (--max-features)", columns->count - taken,
                          (unsigned long long)max_features);
    return KEEPFIT_OK;
}

keepfit_status kf_columns_choose(struct kf_columns *columns, const char *target, const char *weight,
                                 uint64_t max_features, const char *source, keepfit_error *error)
{
    columns->target = columns->weight = KF_NO_COLUMN;
    keepfit_status status = KEEPFIT_OK;
    if (weight)
        status = find_column(columns, "weight-column", weight, &columns->weight, source, error);
    if (status != KEEPFIT_OK)
        return status;
    if (!target)
        columns->target = usual_target(columns);
    else if (strcmp(target, "none") != 0)
        status = find_column(columns, "target", target, &columns->target, source, error);
    if (status != KEEPFIT_OK)
        return status;
    if (weight && columns->target == columns->weight)
        return kf_fail_at(error, KEEPFIT_USAGE, source, 0, 0, "column %zu cannot be both target and weight",
                          columns->target + 1);
    return check_width(columns, max_features, source, error);
}

void kf_columns_say(const struct kf_columns *columns, char *name, size_t size, uint64_t *number)
{
    size_t target = columns->target;
    *name = '\0';
    *number = target == KF_NO_COLUMN ? 0 : target + 1;
    if (target != KF_NO_COLUMN && columns->name)
        snprintf(name, size, "%s", columns->name[target]);
}
