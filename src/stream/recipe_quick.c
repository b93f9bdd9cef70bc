/* Columns that are in no cross and not hashed: each cell becomes its entries at once, and nothing of it is kept. What comes out is what
 * recipe_row.c makes of the same cells, in the same order of new coordinates. */
#include <string.h>

#include "stream/recipe_row.h"
#include "stream/token.h"

/* Whether all that a time comes to has its coordinates. */
static bool has_moments(const struct kf_recipe_column *column)
{
    bool all = column->age != KF_NO_COORDINATE;
    for (size_t p = 0; p < KF_MOMENT_PARTS; p++)
        all &= column->moment[p] != KF_NO_COORDINATE;
    return all;
}

bool kf_recipe_is_quick(const struct kf_recipe_column *column)
{
    return !column->crossed && !column->type.bits && (column->type.kind != KF_TIME || has_moments(column));
}

/* ---- texts ---- */

static keepfit_status enter_key(struct kf_recipe *recipe, size_t k, const char *key, size_t length,
                                struct kf_complaint *complaint, keepfit_error *error)
{
    uint32_t coordinate;
    keepfit_status status = kf_recipe_coordinate(recipe, (uint32_t)k, key, length, &coordinate, error);
    if (status != KEEPFIT_OK)
        return status == KEEPFIT_DATA ? kf_recipe_refuse_feature(recipe, k, complaint) : status;
    if (coordinate != KF_NO_COORDINATE)
        return kf_recipe_enter(recipe, coordinate, 1, error);
    recipe->parts_unseen++;
    return KEEPFIT_OK;
}

static const char *end_of_word(const char *at, const char *end)
{
    while (at < end && *at != ' ')
        at++;
    return at;
}

static keepfit_status enter_words(struct kf_recipe *recipe, size_t k, const struct kf_content *cell,
                                  struct kf_complaint *complaint, keepfit_error *error)
{
    char *words = recipe->room + recipe->room_used;
    const char *end = words + kf_recipe_write_words(cell, words);
    unsigned most = recipe->column[k].type.words;
    keepfit_status status = KEEPFIT_OK;
    for (const char *word = words; word < end && status == KEEPFIT_OK;) {
        const char *first = end_of_word(word, end), *stop = first;
        for (unsigned n = 0; status == KEEPFIT_OK; stop = end_of_word(stop + 1, end)) {
            status = enter_key(recipe, k, word, (size_t)(stop - word), complaint, error);
            if (++n == most || stop == end)
                break;
        }
        word = first + 1;
    }
    return status;
}

/* ---- what is missing, and times ---- */

static keepfit_status enter_missing(struct kf_recipe *recipe, size_t k, struct kf_complaint *complaint,
                                    keepfit_error *error)
{
    struct kf_recipe_column *column = &recipe->column[k];
    if (column->type.missing == KF_MISSING_SKIP)
        return kf_recipe_refuse_missing(recipe, k, complaint);
    if (column->type.missing == KF_MISSING_ZERO)
        return KEEPFIT_OK;
    if (column->missing != KF_NO_COORDINATE)
        return kf_recipe_enter(recipe, column->missing, 1, error);
    keepfit_status status = enter_key(recipe, k, KF_MISSING_KEY, strlen(KF_MISSING_KEY), complaint, error);
    if (status == KEEPFIT_OK && !recipe->fixed)
        column->missing = recipe->index[recipe->count - 1]; /* found once */
    return status;
}

static keepfit_status enter_time(struct kf_recipe *recipe, size_t k, const struct kf_content *cell,
                                 struct kf_complaint *complaint, keepfit_error *error)
{
    struct kf_recipe_column *column = &recipe->column[k];
    double seconds, part[KF_MOMENT_PARTS];
    if (!kf_read_moment(cell->text, cell->end, &seconds))
        return kf_recipe_refuse_cell(recipe, k, cell, complaint);
    kf_moment_take_apart(&column->day, seconds, part);
    keepfit_status status = KEEPFIT_OK;
    for (size_t p = 0; p < KF_MOMENT_PARTS && status == KEEPFIT_OK; p++)
        status = kf_recipe_enter(recipe, column->moment[p], part[p], error);
    return status == KEEPFIT_OK ? kf_recipe_enter(recipe, column->age, (seconds - column->since) / KF_AGE_UNIT, error)
                                : status;
}

/* ---- cells ---- */

static bool is_missing(const struct kf_content *cell)
{
    return !cell->text || kf_is_missing(cell->text, cell->end);
}

/* Whether the column is one of those that kf_recipe_quick_numbers looks at. */
static bool is_number(const struct kf_recipe_column *column)
{
    return column->type.kind == KF_NUMBER || column->type.kind == KF_BOOLEAN;
}

static keepfit_status enter_number(struct kf_recipe *recipe, size_t k, const struct kf_content *cell,
                                   struct kf_complaint *complaint, keepfit_error *error)
{
    const struct kf_recipe_column *column = &recipe->column[k];
    double value = 0;
    if (cell->number)
        return kf_recipe_enter(recipe, column->own, *cell->number, error);
    bool number = column->type.kind == KF_NUMBER;
    if (number && cell->text && kf_quick_real(cell->text, &value) == cell->end)
        return kf_recipe_enter(recipe, column->own, value, error);
    if (is_missing(cell))
        return KEEPFIT_OK; /* in its turn */
    bool good =
        number ? kf_read_whole_real(cell->text, cell->end, &value) : kf_read_boolean(cell->text, cell->end, &value);
    return good ? kf_recipe_enter(recipe, column->own, value, error)
                : kf_recipe_refuse_cell(recipe, k, cell, complaint);
}

keepfit_status kf_recipe_quick_numbers(struct kf_recipe *recipe, const struct kf_content *cells,
                                       struct kf_complaint *complaint, keepfit_error *error)
{
    keepfit_status status = KEEPFIT_OK;
    for (size_t k = 0; k < recipe->readable && status == KEEPFIT_OK; k++)
        if (recipe->column[k].quick && is_number(&recipe->column[k]))
            status = enter_number(recipe, k, &cells[k], complaint, error);
    return status;
}

keepfit_status kf_recipe_quick(struct kf_recipe *recipe, size_t k, const struct kf_content *cell,
                               struct kf_complaint *complaint, keepfit_error *error)
{
    const enum kf_kind kind = recipe->column[k].type.kind;
    uint64_t unseen = recipe->parts_unseen;
    keepfit_status status = KEEPFIT_OK;
    if (cell->number)
        return KEEPFIT_OK;
    if (is_missing(cell))
        status = enter_missing(recipe, k, complaint, error);
    else if (kind == KF_TEXT)
        status = enter_words(recipe, k, cell, complaint, error);
    else if (kind == KF_TIME)
        status = enter_time(recipe, k, cell, complaint, error);
    else if (kind == KF_CATEGORY)
        status = enter_key(recipe, k, cell->text, (size_t)(cell->end - cell->text), complaint, error);
    if (recipe->parts_unseen > unseen)
        kf_recipe_note_unseen(recipe, k, cell);
    return status;
}
