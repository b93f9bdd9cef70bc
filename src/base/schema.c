#include "base/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static void free_names(char **names, size_t count)
{
    for (size_t k = 0; names && k < count; k++)
        free(names[k]);
    free(names);
}

static void free_columns(struct kf_schema *schema)
{
    free_names(schema->feature, schema->features);
    free_names(schema->column, schema->columns);
    free_names(schema->type, schema->columns);
    free(schema->origin);
    free(schema->target);
    free(schema->weight);
}

void kf_schema_free(struct kf_schema *schema)
{
    free_columns(schema);
    free_names(schema->class_name, schema->classes);
    free(schema->label);
    *schema = (struct kf_schema){0};
}

static bool has_columns(const struct kf_schema *schema)
{
    return schema->features || schema->target_at || schema->target || schema->weight || schema->columns;
}

bool kf_schema_is_empty(const struct kf_schema *schema)
{
    return !has_columns(schema) && !schema->classes;
}

keepfit_schema kf_schema_show(const struct kf_schema *schema)
{
    return (keepfit_schema){
        .features = schema->features,
        .feature = (const char *const *)schema->feature,
        .target_at = schema->target_at,
        .target = schema->target,
        .weight = schema->weight,
        .classes = schema->classes,
        .label = schema->label,
        .class_name = (const char *const *)schema->class_name,
        .columns = schema->columns,
        .column = (const char *const *)schema->column,
        .type = (const char *const *)schema->type,
        .origin = schema->origin,
    };
}

const char *keepfit_schema_class(const keepfit_schema *schema, double label)
{
    for (size_t k = 0; k < schema->classes; k++)
        if (schema->label[k] == label)
            return schema->class_name[k];
    return NULL;
}

bool keepfit_schema_label(const keepfit_schema *schema, const char *name, double *label)
{
    for (size_t k = 0; k < schema->classes; k++)
        if (strcmp(schema->class_name[k], name) == 0) {
            *label = schema->label[k];
            return true;
        }
    return false;
}

bool kf_schema_add_class(struct kf_schema *schema, double label, const char *name)
{
    size_t needed = schema->classes + 1;
    char *copy = NULL;
    if (!KF_RESERVE(schema->label, schema->label_capacity, needed) ||
        !KF_RESERVE(schema->class_name, schema->name_capacity, needed) || !(copy = kf_copy_text(name)))
        return false;
    schema->label[schema->classes] = label;
    schema->class_name[schema->classes++] = copy;
    return true;
}

static bool copy_text(char **to, const char *from)
{
    *to = from ? kf_copy_text(from) : NULL;
    return !from || *to;
}

static bool copy_texts(char ***to, const char *const *from, size_t count)
{
    if (!from || !count)
        return true;
    bool good = (*to = kf_allocate(count, sizeof **to)) != NULL;
    for (size_t k = 0; good && k < count; k++)
        good = copy_text(&(*to)[k], from[k]);
    return good;
}

static bool copy_origin(struct kf_schema *made, const keepfit_schema *columns)
{
    if (!columns->origin || !columns->features)
        return true;
    if (!KF_RESERVE(made->origin, made->origin_capacity, columns->features))
        return false;
    memcpy(made->origin, columns->origin, columns->features * sizeof *made->origin);
    return true;
}

bool kf_schema_set_columns(struct kf_schema *schema, const keepfit_schema *columns)
{
    struct kf_schema made = {
        .features = columns->features, .target_at = columns->target_at, .columns = columns->columns};
    bool good = copy_text(&made.target, columns->target) && copy_text(&made.weight, columns->weight) &&
                copy_texts(&made.feature, columns->feature, columns->features) &&
                copy_texts(&made.column, columns->column, columns->columns) &&
                copy_texts(&made.type, columns->type, columns->columns) && copy_origin(&made, columns);
    if (!good) {
        free_columns(&made);
        return false;
    }
    free_columns(schema);
    made.feature_capacity = made.feature ? made.features : 0;
    made.classes = schema->classes;
    made.label_capacity = schema->label_capacity;
    made.name_capacity = schema->name_capacity;
    made.label = schema->label;
    made.class_name = schema->class_name;
    *schema = made;
    return true;
}

bool kf_schema_add_feature(struct kf_schema *schema, const char *name, uint32_t origin)
{
    size_t needed = schema->features + 1;
    if (!KF_RESERVE(schema->feature, schema->feature_capacity, needed) ||
        !KF_RESERVE(schema->origin, schema->origin_capacity, needed) ||
        !(schema->feature[schema->features] = kf_copy_text(name)))
        return false;
    schema->origin[schema->features++] = origin;
    return true;
}

void kf_schema_cut(struct kf_schema *schema, size_t features)
{
    while (schema->features > features)
        free(schema->feature[--schema->features]);
}

/* ---- what is new ---- */

static keepfit_status compare_names(const struct kf_schema *known, const keepfit_schema *said, keepfit_error *error)
{
    if (known->features != said->features)
        return kf_fail(error, KEEPFIT_DATA, "there are %zu named features, and before there were %zu", said->features,
                       known->features);
    for (size_t k = 0; k < known->features; k++)
        if (strcmp(known->feature[k], said->feature[k]) != 0)
            return kf_fail(error, KEEPFIT_DATA, "feature %zu is called '%.60s', and before it was '%.60s'", k + 1,
                           said->feature[k], known->feature[k]);
    return KEEPFIT_OK;
}

static keepfit_status compare_types(const struct kf_schema *known, const keepfit_schema *said, keepfit_error *error)
{
    if (known->columns != said->columns)
        return kf_fail(error, KEEPFIT_DATA, "there are %zu columns with types, and before there were %zu",
                       said->columns, known->columns);
    for (size_t k = 0; k < known->columns; k++)
        if (strcmp(known->column[k], said->column[k]) != 0 || strcmp(known->type[k], said->type[k]) != 0)
            return kf_fail(error, KEEPFIT_DATA, "column '%.60s' is %.40s, and before it was '%.60s', %.40s",
                           said->column[k], said->type[k], known->column[k], known->type[k]);
    return KEEPFIT_OK;
}

/* Features that are new follow those that are known, which only the last one of is looked at: they come as categories do, one by
 * one, and there may be a million. */
static keepfit_status typed_news(const struct kf_schema *known, const keepfit_schema *said, size_t earlier,
                                 struct kf_schema *news, keepfit_error *error)
{
    size_t count = known->features, all = earlier + said->features;
    keepfit_status status = said->columns ? compare_types(known, said, error) : KEEPFIT_OK;
    if (status != KEEPFIT_OK)
        return status;
    if (earlier > count || (said->features && (!said->feature || !said->origin)))
        return kf_fail(error, KEEPFIT_DATA, "the features do not follow the %zu that are known", count);
    size_t last = (count < all ? count : all) - 1;
    if (count && all > earlier && last >= earlier && strcmp(known->feature[last], said->feature[last - earlier]) != 0)
        return kf_fail(error, KEEPFIT_DATA, "feature %zu is called '%.60s', and before it was '%.60s'", last + 1,
                       said->feature[last - earlier], known->feature[last]);
    news->earlier = count;
    news->more = all > count;
    for (size_t k = count; k < all; k++) {
        uint32_t origin = said->origin[k - earlier];
        if (origin >= known->columns)
            return kf_fail(error, KEEPFIT_DATA, "feature %zu is of no column", k + 1);
        if (!kf_schema_add_feature(news, said->feature[k - earlier], origin))
            return kf_fail_memory(error);
    }
    return KEEPFIT_OK;
}

/* Names come in place of mere counts, and a greater count in place of a smaller one. */
static keepfit_status columns_news(const struct kf_schema *known, const keepfit_schema *said, struct kf_schema *news,
                                   keepfit_error *error)
{
    bool something = said->features || said->target_at || said->target || said->weight || said->columns;
    if (known->feature && said->feature)
        return compare_names(known, said, error);
    bool better = !has_columns(known) || (!known->feature && said->feature && said->features >= known->features) ||
                  (!known->feature && said->features > known->features);
    if (!something || !better)
        return KEEPFIT_OK;
    return kf_schema_set_columns(news, said) ? KEEPFIT_OK : kf_fail_memory(error);
}

/* Whether the class is known just so; KEEPFIT_DATA: its number or its name stands for another one. */
static keepfit_status look_up(const struct kf_schema *schema, double label, const char *name, bool *known,
                              keepfit_error *error)
{
    keepfit_schema shown = kf_schema_show(schema);
    const char *before = keepfit_schema_class(&shown, label);
    double other;
    if (before && strcmp(before, name) != 0)
        return kf_fail(error, KEEPFIT_DATA, "class %.17g is called '%.60s', and before it was '%.60s'", label, name,
                       before);
    if (!before && keepfit_schema_label(&shown, name, &other))
        return kf_fail(error, KEEPFIT_DATA, "class '%.60s' is the number %.17g, and before it was %.17g", name, label,
                       other);
    *known = before != NULL;
    return KEEPFIT_OK;
}

static keepfit_status class_news(const struct kf_schema *known, double label, const char *name, struct kf_schema *news,
                                 keepfit_error *error)
{
    bool before = false, now = false;
    if (!isfinite(label))
        return kf_fail(error, KEEPFIT_DATA, "the label of class '%.60s' is not finite", name);
    keepfit_status status = look_up(known, label, name, &before, error);
    if (status == KEEPFIT_OK)
        status = look_up(news, label, name, &now, error);
    if (status != KEEPFIT_OK || before || now)
        return status;
    return kf_schema_add_class(news, label, name) ? KEEPFIT_OK : kf_fail_memory(error);
}

keepfit_status kf_schema_news(const struct kf_schema *known, const keepfit_schema *said, size_t earlier,
                              struct kf_schema *news, keepfit_error *error)
{
    keepfit_status status = KEEPFIT_OK;
    bool more = said->origin && !said->columns;
    if (known->columns && (said->columns || more))
        status = typed_news(known, said, earlier, news, error);
    else if (more || (said->columns && known->features))
        status = kf_fail(error, KEEPFIT_DATA, "the columns have types, and before they had none");
    else
        status = columns_news(known, said, news, error);
    for (size_t k = 0; k < said->classes && status == KEEPFIT_OK; k++)
        status = class_news(known, said->label[k], said->class_name[k], news, error);
    if (status != KEEPFIT_OK)
        kf_schema_free(news);
    return status;
}

bool kf_schema_learn(struct kf_schema *known, struct kf_schema *news)
{
    keepfit_schema shown = kf_schema_show(news);
    bool good = news->more || !has_columns(news) || kf_schema_set_columns(known, &shown);
    for (size_t k = 0; news->more && k < news->features && good; k++)
        good = kf_schema_add_feature(known, news->feature[k], news->origin[k]);
    for (size_t k = 0; k < news->classes && good; k++)
        good = kf_schema_add_class(known, news->label[k], news->class_name[k]);
    kf_schema_free(news);
    return good;
}

/* ---- to bytes and back ---- */

static void archive_text(struct kf_archive *archive, char **text)
{
    size_t length = archive->reading ? 0 : strlen(*text);
    kf_archive_count(archive, &length, SIZE_MAX / 2);
    kf_archive_require(archive, length <= archive->count - archive->at);
    if (archive->status == KEEPFIT_OK && archive->reading && !(*text = kf_allocate_raw(length + 1)))
        archive->status = KEEPFIT_NO_MEMORY;
    if (archive->status != KEEPFIT_OK)
        return;
    kf_archive_bytes(archive, *text, length);
    if (archive->reading)
        (*text)[length] = '\0';
    kf_archive_require(archive, strlen(*text) == length);
}

static void archive_optional(struct kf_archive *archive, char **text)
{
    bool there = *text != NULL;
    kf_archive_flag(archive, &there);
    if (there && archive->status == KEEPFIT_OK)
        archive_text(archive, text);
}

static void archive_features(struct kf_schema *schema, struct kf_archive *archive)
{
    bool named = schema->feature != NULL;
    size_t features = schema->features;
    kf_archive_count(archive, &features, UINT32_MAX);
    kf_archive_flag(archive, &named);
    kf_archive_require(archive, !named || (features && kf_archive_holds(archive, features)));
    if (archive->status != KEEPFIT_OK)
        return;
    if (archive->reading && named && !(schema->feature = kf_allocate(features, sizeof *schema->feature))) {
        archive->status = KEEPFIT_NO_MEMORY;
        return;
    }
    schema->features = features;
    for (size_t k = 0; named && k < features && archive->status == KEEPFIT_OK; k++)
        archive_text(archive, &schema->feature[k]);
}

static void archive_classes(struct kf_schema *schema, struct kf_archive *archive)
{
    size_t classes = schema->classes;
    kf_archive_count(archive, &classes, UINT32_MAX);
    kf_archive_require(archive, classes <= SIZE_MAX / 2 && kf_archive_holds(archive, 2 * classes));
    for (size_t k = 0; k < classes && archive->status == KEEPFIT_OK; k++) {
        double label = archive->reading ? 0 : schema->label[k], other;
        char *name = archive->reading ? NULL : schema->class_name[k];
        kf_archive_real(archive, &label);
        archive_text(archive, &name);
        if (!archive->reading)
            continue;
        keepfit_schema known = kf_schema_show(schema);
        kf_archive_require(archive, isfinite(label) && name && !keepfit_schema_class(&known, label) &&
                                        !keepfit_schema_label(&known, name, &other));
        if (archive->status == KEEPFIT_OK && !kf_schema_add_class(schema, label, name))
            archive->status = KEEPFIT_NO_MEMORY;
        free(name);
    }
}

static void archive_origin(struct kf_schema *schema, struct kf_archive *archive)
{
    kf_archive_require(archive, schema->feature || !schema->features);
    if (archive->status == KEEPFIT_OK && archive->reading &&
        !KF_RESERVE(schema->origin, schema->origin_capacity, schema->features + 1))
        archive->status = KEEPFIT_NO_MEMORY;
    for (size_t k = 0; k < schema->features && archive->status == KEEPFIT_OK; k++) {
        size_t origin = archive->reading ? 0 : schema->origin[k];
        kf_archive_count(archive, &origin, UINT32_MAX);
        kf_archive_require(archive, schema->more || origin < schema->columns);
        schema->origin[k] = (uint32_t)origin;
    }
}

static void archive_types(struct kf_schema *schema, struct kf_archive *archive)
{
    size_t columns = schema->columns;
    kf_archive_count(archive, &schema->earlier, UINT32_MAX);
    kf_archive_count(archive, &columns, UINT32_MAX);
    kf_archive_require(archive, (columns > 0 ? schema->earlier == 0 : schema->features > 0) &&
                                    columns <= SIZE_MAX / 2 && kf_archive_holds(archive, 2 * columns));
    schema->more = columns == 0;
    if (archive->status != KEEPFIT_OK)
        return;
    if (archive->reading && columns) {
        schema->column = kf_allocate(columns, sizeof *schema->column);
        schema->type = kf_allocate(columns, sizeof *schema->type);
        if (schema->column && schema->type)
            schema->columns = columns;
        else
            archive->status = KEEPFIT_NO_MEMORY;
    }
    for (size_t k = 0; k < columns && archive->status == KEEPFIT_OK; k++) {
        archive_text(archive, &schema->column[k]);
        if (archive->status == KEEPFIT_OK)
            archive_text(archive, &schema->type[k]);
    }
    archive_origin(schema, archive);
}

/* Types stand behind what schemas had before there were any, so a schema without them is written as it always was. */
void kf_schema_archive(struct kf_schema *schema, struct kf_archive *archive)
{
    archive_features(schema, archive);
    kf_archive_count(archive, &schema->target_at, UINT32_MAX);
    archive_optional(archive, &schema->target);
    archive_optional(archive, &schema->weight);
    archive_classes(schema, archive);
    if (archive->status == KEEPFIT_OK &&
        (archive->reading ? archive->at < archive->count : schema->columns || schema->more))
        archive_types(schema, archive);
}
