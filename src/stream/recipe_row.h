/* Between recipe_row.c, which makes rows of any cells, and recipe_quick.c, which does so for columns that are in no cross and not
 * hashed, where a cell becomes its entries at once. */
#ifndef KF_RECIPE_ROW_H
#define KF_RECIPE_ROW_H

#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "stream/recipe.h"

#define KF_MISSING_KEY "NA" /* which no cell is: it would be missing; words are in small letters */

#define KF_COMPLAIN(complaint, which, ...)                                                                             \
    ((complaint)->column = (which), snprintf((complaint)->text, sizeof(complaint)->text, __VA_ARGS__), KEEPFIT_DATA)

/* What to do where a cell does not suit its column's type. */
keepfit_status kf_recipe_refuse_cell(const struct kf_recipe *recipe, size_t k, const struct kf_content *cell,
                                     struct kf_complaint *complaint);
keepfit_status kf_recipe_refuse_missing(const struct kf_recipe *recipe, size_t k, struct kf_complaint *complaint);
keepfit_status kf_recipe_refuse_feature(const struct kf_recipe *recipe, size_t k, struct kf_complaint *complaint);
/* The cell of a model's table holds what the model does not know. */
void kf_recipe_note_unseen(struct kf_recipe *recipe, size_t k, const struct kf_content *cell);

/* The words in small letters with a blank between, so that each sequence of words is a piece of it. How many bytes. */
size_t kf_recipe_write_words(const struct kf_content *cell, char *to);

/* Whether kf_recipe_quick makes the entries of the column: then it has no parts. */
bool kf_recipe_is_quick(const struct kf_recipe_column *column);
/* Numbers and booleans that are there: their coordinates ascend, so they come first, and there is little left to put in order. */
keepfit_status kf_recipe_quick_numbers(struct kf_recipe *recipe, const struct kf_content *cells,
                                       struct kf_complaint *complaint, keepfit_error *error);
/* What else the column's cell comes to. */
keepfit_status kf_recipe_quick(struct kf_recipe *recipe, size_t k, const struct kf_content *cell,
                               struct kf_complaint *complaint, keepfit_error *error);

/* One more entry of the row. */
static inline keepfit_status kf_recipe_enter(struct kf_recipe *recipe, uint32_t coordinate, double value,
                                             keepfit_error *error)
{
    size_t at = recipe->count;
    if ((at == recipe->index_capacity || at == recipe->value_capacity) &&
        (!KF_RESERVE(recipe->index, recipe->index_capacity, at + 1) ||
         !KF_RESERVE(recipe->value, recipe->value_capacity, at + 1)))
        return kf_fail_memory(error);
    recipe->index[at] = coordinate;
    recipe->value[at] = value;
    recipe->count = at + 1;
    return KEEPFIT_OK;
}

#endif
