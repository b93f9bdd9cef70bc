/* Columns find their features by name. Where a name stands more than once, the first column of that name is the first feature of that
 * name, and so on. What was the target, or the weight, when the model was made is never a feature. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "stream/column.h"
#include "stream/token.h"

#define LIST_ROOM 160 /* a message has room for two */

/* A list of names for a message; as many as there is room for. */
struct list {
    char text[LIST_ROOM];
    size_t used, count;
};

static void list_add(struct list *list, const char *name)
{
    static const char more[] = ", ...";
    char quote[KF_QUOTE_SIZE];
    kf_quote(quote, name, name + strlen(name));
    size_t room = strlen(quote) + 4 + sizeof more;
    if (list->used + room < sizeof list->text) {
        snprintf(list->text + list->used, sizeof list->text - list->used, "%s'%s'", list->count ? ", " : "", quote);
        list->used = strlen(list->text);
    } else if (list->used < sizeof list->text) {
        memcpy(list->text + list->used, more, sizeof more);
        list->used = sizeof list->text; /* full */
    }
    list->count++;
}

/* The first feature of that name that has no column yet. */
static size_t free_feature(const keepfit_schema *schema, const char *name, const bool *found)
{
    for (size_t f = 0; f < schema->features; f++)
        if (!found[f] && strcmp(schema->feature[f], name) == 0)
            return f;
    return KF_NO_COLUMN;
}

static bool same_text(const char *one, const char *other)
{
    return one && strcmp(one, other) == 0;
}

bool kf_is_feature(const keepfit_schema *schema, const char *name)
{
    for (size_t f = 0; f < schema->features; f++)
        if (strcmp(schema->feature[f], name) == 0)
            return true;
    return false;
}

/* `often` gets the names that stand more often than among the features: nobody knows which of the columns is meant. */
static void match(struct kf_columns *columns, const keepfit_schema *schema, bool *found, struct list *extra,
                  struct list *often)
{
    for (size_t k = 0; k < columns->count; k++) {
        const char *name = columns->name[k];
        columns->feature[k] = KF_NO_COLUMN;
        if (k == columns->target || k == columns->weight || (columns->left_out && columns->left_out[k]))
            continue;
        size_t feature = free_feature(schema, name, found);
        columns->feature[k] = feature;
        if (feature != KF_NO_COLUMN)
            found[feature] = true;
        else if (kf_is_feature(schema, name))
            list_add(often, name);
        else if (!same_text(schema->target, name) && !same_text(schema->weight, name))
            list_add(extra, name);
    }
}

static keepfit_status refuse(const struct kf_input *input, const struct list *missing, const struct list *extra,
                             const struct list *often, keepfit_error *error)
{
    const struct kf_wanted *wanted = &input->wanted;
    if (often->count)
        return kf_fail_at(
            error, KEEPFIT_DATA, input->name, 0, 0,
            "the columns are not those of the %s: more often than there %s; rename all but the one that is meant",
            wanted->fixed ? "model" : "points before", often->text);
    return kf_fail_at(error, KEEPFIT_DATA, input->name, 0, 0, "the columns are not those of the %s: %s%s%s%s%s%s",
                      wanted->fixed ? "model" : "points before", missing->count ? "missing " : "", missing->text,
                      missing->count && extra->count ? "; " : "", extra->count ? "not known " : "", extra->text,
                      wanted->fixed && extra->count && !missing->count
                          ? " (" KF_OPTION("extra-features=ignore") " leaves such columns out)"
                          : "");
}

/* A target that is said must not be a column that has been a feature. Rows that go on must not have the old target beside it; where it
 * is not there, it may have got another name. (JSON lines have all columns that are known.) */
static keepfit_status check_target(const struct kf_columns *columns, const struct kf_input *input, keepfit_error *error)
{
    const keepfit_schema *schema = input->wanted.schema;
    const char *known = schema->target, *name = columns->target != KF_NO_COLUMN ? columns->name[columns->target] : "";
    char quote[KF_QUOTE_SIZE], old[KF_QUOTE_SIZE] = "none";
    if (!input->options->target || columns->target == KF_NO_COLUMN || same_text(known, name))
        return KEEPFIT_OK;
    bool only = kf_columns_find(columns, name, 0) == columns->target &&
                kf_columns_find(columns, name, columns->target + 1) == KF_NO_COLUMN;
    bool feature = only && kf_is_feature(schema, name);
    bool beside = !input->wanted.fixed && known && kf_columns_find(columns, known, 0) != KF_NO_COLUMN &&
                  !kf_is_feature(schema, known);
    if (!feature && !beside)
        return KEEPFIT_OK;
    kf_quote(quote, name, name + strlen(name));
    if (known)
        kf_quote(old, known, known + strlen(known));
    return kf_fail_at(error, KEEPFIT_USAGE, input->name, 0, 0,
                      "{target} differs: it is '%s'%s, but that of the %s is %s%s%s", quote,
                      feature ? ", a feature so far" : "", input->wanted.fixed ? "model" : "points before",
                      known ? "'" : "", old, known ? "'" : "");
}

keepfit_status kf_columns_match(struct kf_columns *columns, const struct kf_input *input, keepfit_error *error)
{
    const struct kf_wanted *wanted = &input->wanted;
    const keepfit_schema *schema = wanted->schema;
    struct list missing = {.used = 0}, extra = {.used = 0}, often = {.used = 0};
    keepfit_status status = check_target(columns, input, error);
    if (status != KEEPFIT_OK)
        return status;
    bool *found = kf_allocate(schema->features, sizeof *found);
    if (!found)
        return kf_fail_memory(error);
    match(columns, schema, found, &extra, &often);
    for (size_t f = 0; f < schema->features; f++)
        if (!found[f])
            list_add(&missing, schema->feature[f]);
    free(found);
    columns->features = schema->features;
    if (missing.count || often.count || (extra.count && !wanted->spare))
        return refuse(input, &missing, &extra, &often, error);
    if (!wanted->fixed && columns->target == KF_NO_COLUMN && schema->target && !input->options->target)
        return kf_fail_at(error, KEEPFIT_DATA, input->name, 0, 0, "there is no column '%.60s', the target",
                          schema->target);
    return KEEPFIT_OK;
}
