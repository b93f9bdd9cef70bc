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
    return schema->features || schema->target_at || schema->target || schema->weight;
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

bool kf_schema_set_columns(struct kf_schema *schema, const keepfit_schema *columns)
{
    struct kf_schema made = {.features = columns->features, .target_at = columns->target_at};
    bool good = copy_text(&made.target, columns->target) && copy_text(&made.weight, columns->weight);
    if (good && columns->feature && columns->features)
        good = (made.feature = kf_allocate(columns->features, sizeof *made.feature)) != NULL;
    for (size_t k = 0; good && made.feature && k < columns->features; k++)
        good = copy_text(&made.feature[k], columns->feature[k]);
    if (!good) {
        free_columns(&made);
        return false;
    }
    free_columns(schema);
    schema->features = made.features;
    schema->target_at = made.target_at;
    schema->feature = made.feature;
    schema->target = made.target;
    schema->weight = made.weight;
    return true;
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

/* Names come in place of mere counts, and a greater count in place of a smaller one. */
static keepfit_status columns_news(const struct kf_schema *known, const keepfit_schema *said, struct kf_schema *news,
                                   keepfit_error *error)
{
    bool something = said->features || said->target_at || said->target || said->weight;
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

keepfit_status kf_schema_news(const struct kf_schema *known, const keepfit_schema *said, struct kf_schema *news,
                              keepfit_error *error)
{
    keepfit_status status = columns_news(known, said, news, error);
    for (size_t k = 0; k < said->classes && status == KEEPFIT_OK; k++)
        status = class_news(known, said->label[k], said->class_name[k], news, error);
    if (status != KEEPFIT_OK)
        kf_schema_free(news);
    return status;
}

bool kf_schema_learn(struct kf_schema *known, struct kf_schema *news)
{
    keepfit_schema shown = kf_schema_show(news);
    bool good = !has_columns(news) || kf_schema_set_columns(known, &shown);
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

void kf_schema_archive(struct kf_schema *schema, struct kf_archive *archive)
{
    archive_features(schema, archive);
    kf_archive_count(archive, &schema->target_at, UINT32_MAX);
    archive_optional(archive, &schema->target);
    archive_optional(archive, &schema->weight);
    archive_classes(schema, archive);
}
