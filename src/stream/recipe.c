#include "stream/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

void kf_recipe_open(struct kf_recipe *recipe, uint64_t most_features)
{
    *recipe = (struct kf_recipe){.most_features = most_features};
    pthread_mutex_init(&recipe->lock, NULL);
}

void kf_recipe_close(struct kf_recipe *recipe)
{
    for (size_t k = 0; k < recipe->columns; k++)
        free(recipe->column[k].name);
    free(recipe->column);
    kf_dictionary_free(&recipe->dictionary);
    free(recipe->met);
    free(recipe->part);
    free(recipe->room);
    free(recipe->index);
    free(recipe->value);
    pthread_mutex_destroy(&recipe->lock);
}

size_t kf_recipe_find(const struct kf_recipe *recipe, const char *name, size_t length)
{
    for (size_t k = 0; k < recipe->columns; k++)
        if (strlen(recipe->column[k].name) == length && memcmp(recipe->column[k].name, name, length) == 0)
            return k;
    return KF_NO_COLUMN;
}

static bool is_factor(const struct kf_recipe_column *cross, size_t k)
{
    for (size_t f = 0; f < cross->factors; f++)
        if (cross->factor[f] == k)
            return true;
    return false;
}

/* The columns that stand between the stars of a cross: names may have stars themselves, so each beginning is tried. */
static bool find_factors(const struct kf_recipe *recipe, const char *name, struct kf_recipe_column *cross)
{
    for (const char *star = name;; star++) {
        star += strcspn(star, "*");
        size_t k = kf_recipe_find(recipe, name, (size_t)(star - name));
        if (k < recipe->readable && cross->factors < KF_FACTORS_MOST && !is_factor(cross, k)) {
            cross->factor[cross->factors++] = k;
            if (!*star || find_factors(recipe, star + 1, cross))
                return cross->factors > 1;
            cross->factors--;
        }
        if (!*star)
            return false;
    }
}

static keepfit_status add_cross(struct kf_recipe *recipe, struct kf_recipe_column *cross, keepfit_error *error)
{
    if (!find_factors(recipe, cross->name, cross))
        return kf_fail(error, KEEPFIT_USAGE,
                       "{cross}: '%.100s' is not the product of two to %d different columns that are read, as A*B",
                       cross->name, KF_FACTORS_MOST);
    for (size_t k = 0; k < cross->factors; k++)
        recipe->column[cross->factor[k]].crossed = true;
    return KEEPFIT_OK;
}

keepfit_status kf_recipe_add(struct kf_recipe *recipe, const char *name, struct kf_type type, keepfit_error *error)
{
    struct kf_recipe_column made = {
        .type = type, .own = KF_NO_COORDINATE, .missing = KF_NO_COORDINATE, .age = KF_NO_COORDINATE};
    for (size_t k = 0; k < KF_MOMENT_PARTS; k++)
        made.moment[k] = KF_NO_COORDINATE;
    bool cross = type.kind == KF_CROSS, there = kf_recipe_find(recipe, name, strlen(name)) != KF_NO_COLUMN;
    if (there && cross && strchr(name, '*'))
        return kf_fail(error, KEEPFIT_USAGE, "{cross}: '%.100s' is there already", name);
    if (there && !cross)
        return kf_fail(error, KEEPFIT_DATA, "two columns are called '%.100s'; a table with types needs different names",
                       name);
    if (!KF_RESERVE(recipe->column, recipe->capacity, recipe->columns + 1) || !(made.name = kf_copy_text(name)))
        return kf_fail_memory(error);
    keepfit_status status = cross ? add_cross(recipe, &made, error) : KEEPFIT_OK;
    if (status != KEEPFIT_OK) {
        free(made.name);
        return status;
    }
    recipe->readable += type.kind != KF_CROSS && type.kind != KF_IGNORE;
    recipe->column[recipe->columns++] = made;
    return KEEPFIT_OK;
}

/* ---- coordinates ---- */

static bool make(struct kf_recipe *recipe, uint64_t hash, uint32_t column, const char *key, size_t length)
{
    pthread_mutex_lock(&recipe->lock);
    bool good = kf_dictionary_add(&recipe->dictionary, hash, column, recipe->column[column].name, key, length);
    pthread_mutex_unlock(&recipe->lock);
    return good;
}

keepfit_status kf_recipe_coordinate(struct kf_recipe *recipe, uint32_t column, const char *key, size_t length,
                                    uint32_t *coordinate, keepfit_error *error)
{
    uint64_t hash = kf_dictionary_hash(column, key, length);
    *coordinate = kf_dictionary_find(&recipe->dictionary, hash, column, key, length);
    if (*coordinate != KF_NO_COORDINATE || recipe->fixed)
        return KEEPFIT_OK;
    if (recipe->dictionary.count >= recipe->most_features)
        return KEEPFIT_DATA;
    if (!make(recipe, hash, column, key, length))
        return kf_fail_memory(error);
    *coordinate = (uint32_t)recipe->dictionary.count - 1;
    return KEEPFIT_OK;
}

keepfit_status kf_recipe_settle(struct kf_recipe *recipe, keepfit_error *error)
{
    keepfit_status status = KEEPFIT_OK;
    for (size_t k = 0; k < recipe->readable && status == KEEPFIT_OK; k++) {
        struct kf_recipe_column *column = &recipe->column[k];
        if (column->type.kind == KF_NUMBER || column->type.kind == KF_BOOLEAN)
            status = kf_recipe_coordinate(recipe, (uint32_t)k, "", 0, &column->own, error);
    }
    return status == KEEPFIT_DATA
               ? kf_fail(error, KEEPFIT_DATA, "%zu columns are more features than are allowed ({max-features})",
                         recipe->readable)
               : status;
}

/* ---- to schemas and back ---- */

static keepfit_status fail_recipe(keepfit_error *error)
{
    return kf_fail(error, KEEPFIT_DATA, "the types of the columns and the names of the features do not fit together");
}

static keepfit_status take_columns(struct kf_recipe *recipe, const keepfit_schema *schema, keepfit_error *error)
{
    keepfit_status status = KEEPFIT_OK;
    for (size_t k = 0; k < schema->columns && status == KEEPFIT_OK; k++) {
        struct kf_type type;
        if (!kf_type_read(schema->type[k], schema->type[k] + strlen(schema->type[k]), &type))
            return fail_recipe(error);
        bool late = recipe->readable < recipe->columns && type.kind != KF_CROSS && type.kind != KF_IGNORE;
        status = late ? fail_recipe(error) : kf_recipe_add(recipe, schema->column[k], type, error);
    }
    return status == KEEPFIT_USAGE ? fail_recipe(error) : status;
}

/* The name of a coordinate begins with its column's, and its key is behind. */
static keepfit_status take_feature(struct kf_recipe *recipe, const char *name, uint32_t origin, keepfit_error *error)
{
    const char *before = origin < recipe->columns ? recipe->column[origin].name : NULL;
    size_t length = before ? strlen(before) : 0;
    if (!before || strncmp(name, before, length) != 0 || (name[length] && name[length] != '='))
        return fail_recipe(error);
    const char *key = name + length + (name[length] == '=');
    uint64_t hash = kf_dictionary_hash(origin, key, strlen(key));
    if ((name[length] && !*key) ||
        kf_dictionary_find(&recipe->dictionary, hash, origin, key, strlen(key)) != KF_NO_COORDINATE)
        return fail_recipe(error);
    return make(recipe, hash, origin, key, strlen(key)) ? KEEPFIT_OK : kf_fail_memory(error);
}

/* What columns have for good. */
static void take_own(struct kf_recipe *recipe)
{
    for (size_t k = 0; k < recipe->dictionary.count; k++) {
        const struct kf_entry *entry = &recipe->dictionary.entry[k];
        struct kf_recipe_column *column = &recipe->column[entry->column];
        if (column->type.kind == KF_CROSS)
            continue;
        if (entry->length == 0)
            column->own = (uint32_t)k;
        else if (strcmp(entry->key, "NA") == 0)
            column->missing = (uint32_t)k;
        if (column->type.kind != KF_TIME)
            continue;
        for (size_t part = 0; part < KF_MOMENT_PARTS; part++)
            if (strcmp(entry->key, kf_moment_names[part]) == 0)
                column->moment[part] = (uint32_t)k;
        if (kf_age_read(entry->key, &column->since))
            column->age = (uint32_t)k;
    }
}

keepfit_status kf_recipe_take(struct kf_recipe *recipe, const keepfit_schema *schema, keepfit_error *error)
{
    keepfit_status status = take_columns(recipe, schema, error);
    for (size_t k = 0; k < schema->features && status == KEEPFIT_OK; k++)
        status = take_feature(recipe, schema->feature[k], schema->origin[k], error);
    if (status == KEEPFIT_OK)
        take_own(recipe);
    return status;
}

bool kf_recipe_copy(struct kf_recipe *recipe, struct kf_schema *schema, size_t count)
{
    bool good = true;
    pthread_mutex_lock(&recipe->lock);
    for (size_t k = schema->features; k < count && good; k++)
        good = kf_schema_add_feature(schema, recipe->dictionary.entry[k].name, recipe->dictionary.entry[k].column);
    pthread_mutex_unlock(&recipe->lock);
    return good;
}

bool kf_recipe_describe(struct kf_recipe *recipe, struct kf_schema *schema)
{
    size_t columns = recipe->columns;
    schema->column = kf_allocate(columns, sizeof *schema->column);
    schema->type = kf_allocate(columns, sizeof *schema->type);
    bool good = schema->column && schema->type;
    schema->columns = good ? columns : 0;
    for (size_t k = 0; k < columns && good; k++) {
        char room[KF_TYPE_ROOM];
        good = (schema->column[k] = kf_copy_text(recipe->column[k].name)) &&
               (schema->type[k] = kf_copy_text(kf_type_write(recipe->column[k].type, room)));
    }
    return good && kf_recipe_copy(recipe, schema, recipe->dictionary.count);
}
