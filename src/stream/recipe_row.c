/* From cells to a row. First each column says what parts its cell has; then each part becomes a coordinate, and crosses take the
 * products of the parts of their columns; then the coordinates are put in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "stream/recipe_row.h"
#include "stream/token.h"

#define FEW 48 /* as many are put in order one by one */

/* ---- parts ---- */

static keepfit_status add_part(struct kf_recipe *recipe, const struct kf_part *part, keepfit_error *error)
{
    if (!KF_RESERVE(recipe->part, recipe->part_capacity, recipe->part_count + 1))
        return kf_fail_memory(error);
    recipe->part[recipe->part_count++] = *part;
    return KEEPFIT_OK;
}

keepfit_status kf_recipe_refuse_cell(const struct kf_recipe *recipe, size_t k, const struct kf_content *cell,
                                     struct kf_complaint *complaint)
{
    static const char *const wanted[] = {
        [KF_NUMBER] = "a number", [KF_BOOLEAN] = "true or false", [KF_TIME] = "a time (ISO 8601 or Unix seconds)"};
    const struct kf_recipe_column *column = &recipe->column[k];
    char quote[KF_QUOTE_SIZE];
    bool huge = column->type.kind == KF_NUMBER && strstr(kf_blame_real(cell->text, cell->end), "a number") == NULL;
    return KF_COMPLAIN(complaint, k,
                       "column '%.40s': '%s' is not %s (" KF_OPTION_BEGINS "type=%.40s=category" KF_OPTION_ENDS "%s)",
                       column->name, kf_quote(quote, cell->text, cell->end),
                       huge ? "a finite number that a double can hold" : wanted[column->type.kind], column->name,
                       recipe->fixed ? " where the model is trained would take it" : " takes it as a category");
}

keepfit_status kf_recipe_refuse_missing(const struct kf_recipe *recipe, size_t k, struct kf_complaint *complaint)
{
    complaint->skip = true;
    return KF_COMPLAIN(complaint, k, "column '%.40s': the value is missing", recipe->column[k].name);
}

static keepfit_status take_missing(struct kf_recipe *recipe, size_t k, struct kf_complaint *complaint,
                                   keepfit_error *error)
{
    struct kf_recipe_column *column = &recipe->column[k];
    if (column->type.missing == KF_MISSING_SKIP)
        return kf_recipe_refuse_missing(recipe, k, complaint);
    if (column->type.missing == KF_MISSING_ZERO)
        return KEEPFIT_OK;
    return add_part(recipe, &(struct kf_part){KF_MISSING_KEY, strlen(KF_MISSING_KEY), 1, column->missing}, error);
}

static keepfit_status take_time(struct kf_recipe *recipe, size_t k, const struct kf_content *cell,
                                struct kf_complaint *complaint, keepfit_error *error)
{
    struct kf_recipe_column *column = &recipe->column[k];
    double seconds, part[KF_MOMENT_PARTS];
    char age[KF_AGE_ROOM];
    if (!kf_read_moment(cell->text, cell->end, &seconds))
        return kf_recipe_refuse_cell(recipe, k, cell, complaint);
    kf_moment_take_apart(&column->day, seconds, part);
    keepfit_status status = KEEPFIT_OK;
    for (size_t p = 0; p < KF_MOMENT_PARTS && status == KEEPFIT_OK; p++)
        status = add_part(recipe,
                          &(struct kf_part){kf_moment_names[p], strlen(kf_moment_names[p]), part[p], column->moment[p]},
                          error);
    if (status != KEEPFIT_OK || (column->age == KF_NO_COORDINATE && recipe->fixed))
        return status;
    if (column->age == KF_NO_COORDINATE)
        column->since = (double)(long long)seconds;
    struct kf_part made = {"", 0, (seconds - column->since) / KF_AGE_UNIT, column->age};
    if (column->age == KF_NO_COORDINATE || column->crossed) { /* otherwise nobody looks at its key */
        kf_age_write(column->since, age);
        char *key = recipe->room + recipe->room_used;
        made.key = key;
        made.length = strlen(age);
        memcpy(key, age, made.length);
        recipe->room_used += made.length;
    }
    return add_part(recipe, &made, error);
}

/* What becomes of a byte: small letters; 0: it is of no word. */
static unsigned char letter_of(unsigned char c)
{
    bool large = c >= 'A' && c <= 'Z';
    bool good = large || (c >= 'a' && c <= 'z') || (unsigned char)(c - '0') < 10 || c == '_' || c >= 0x80;
    return (unsigned char)(good ? c | (large ? 'a' - 'A' : 0) : 0);
}

size_t kf_recipe_write_words(const struct kf_content *cell, char *to)
{
    char *first = to;
    bool inside = false;
    for (const char *at = cell->text; at < cell->end; at++) {
        unsigned char letter = letter_of((unsigned char)*at);
        if (letter) {
            *to = ' ';
            to += !inside && to > first;
            *to++ = (char)letter;
        }
        inside = letter;
    }
    return (size_t)(to - first);
}

static keepfit_status take_text(struct kf_recipe *recipe, size_t k, const struct kf_content *cell, keepfit_error *error)
{
    char *words = recipe->room + recipe->room_used;
    const char *end = words + kf_recipe_write_words(cell, words);
    keepfit_status status = KEEPFIT_OK;
    recipe->room_used += (size_t)(end - words);
    for (const char *word = words; word < end; word++) {
        const char *stop = word;
        for (unsigned n = 0; n < recipe->column[k].type.words && stop <= end && status == KEEPFIT_OK; n++) {
            const char *blank = stop < end ? memchr(stop, ' ', (size_t)(end - stop)) : NULL;
            stop = blank ? blank : end;
            status = add_part(recipe, &(struct kf_part){word, (size_t)(stop - word), 1, KF_NO_COORDINATE}, error);
            stop++;
        }
        const char *blank = memchr(word, ' ', (size_t)(end - word));
        word = blank ? blank : end;
    }
    return status;
}

static keepfit_status take_cell(struct kf_recipe *recipe, size_t k, const struct kf_content *cell,
                                struct kf_complaint *complaint, keepfit_error *error)
{
    const struct kf_recipe_column *column = &recipe->column[k];
    double value;
    if (cell->number)
        return add_part(recipe, &(struct kf_part){"", 0, *cell->number, column->own}, error);
    bool quick = column->type.kind == KF_NUMBER && cell->text && kf_quick_real(cell->text, &value) == cell->end;
    if (!quick && (!cell->text || kf_is_missing(cell->text, cell->end)))
        return take_missing(recipe, k, complaint, error);
    switch (column->type.kind) {
    case KF_NUMBER:
        if (!quick && !kf_read_whole_real(cell->text, cell->end, &value))
            return kf_recipe_refuse_cell(recipe, k, cell, complaint);
        return add_part(recipe, &(struct kf_part){"", 0, value, column->own}, error);
    case KF_BOOLEAN:
        if (!kf_read_boolean(cell->text, cell->end, &value))
            return kf_recipe_refuse_cell(recipe, k, cell, complaint);
        return add_part(recipe, &(struct kf_part){"", 0, value, column->own}, error);
    case KF_TIME:
        return take_time(recipe, k, cell, complaint, error);
    case KF_TEXT:
        return take_text(recipe, k, cell, error);
    default:
        return add_part(recipe, &(struct kf_part){cell->text, (size_t)(cell->end - cell->text), 1, KF_NO_COORDINATE},
                        error);
    }
}

/* ---- coordinates ---- */

keepfit_status kf_recipe_refuse_feature(const struct kf_recipe *recipe, size_t k, struct kf_complaint *complaint)
{
    return KF_COMPLAIN(complaint, k,
                       "column '%.40s' has more features than the %llu that are allowed (" KF_OPTION(
                           "max-features") "; " KF_OPTION("hash=BITS") " bounds them)",
                       recipe->column[k].name, (unsigned long long)recipe->most_features);
}

/* The text that a number stands for has come up: another one than before is a collision, which is counted once a number. Texts that
 * came up before the recipe was read again are not known. */
static keepfit_status note_text(struct kf_recipe *recipe, uint32_t coordinate, uint64_t hash, keepfit_error *error)
{
    if (recipe->met_count <= coordinate) {
        if (!KF_RESERVE(recipe->met, recipe->met_capacity, (size_t)coordinate + 1))
            return kf_fail_memory(error);
        memset(recipe->met + recipe->met_count, 0, (coordinate + 1 - recipe->met_count) * sizeof *recipe->met);
        recipe->met_count = (size_t)coordinate + 1;
    }
    uint64_t *met = &recipe->met[coordinate], text = (hash | 2) & ~UINT64_C(1);
    if (*met == 0) {
        *met = text;
    } else if (!(*met & 1) && *met != text) {
        *met |= 1;
        recipe->collisions++;
    }
    return KEEPFIT_OK;
}

static keepfit_status enter(struct kf_recipe *recipe, size_t k, const struct kf_part *part,
                            struct kf_complaint *complaint, keepfit_error *error)
{
    const struct kf_recipe_column *column = &recipe->column[k];
    uint32_t coordinate = part->coordinate;
    char number[16];
    const char *key = part->key;
    size_t length = part->length;
    uint64_t hash = 0;
    bool hashed = column->type.bits && !(length == strlen(KF_MISSING_KEY) && memcmp(key, KF_MISSING_KEY, length) == 0);
    if (coordinate == KF_NO_COORDINATE) {
        if (hashed) {
            hash = kf_dictionary_hash(0, key, length);
            length = (size_t)snprintf(number, sizeof number, "#%u",
                                      (unsigned)((hash >> 20) & ((UINT64_C(1) << column->type.bits) - 1)));
            key = number;
        }
        keepfit_status status = kf_recipe_coordinate(recipe, (uint32_t)k, key, length, &coordinate, error);
        if (status == KEEPFIT_OK && hashed && coordinate != KF_NO_COORDINATE)
            status = note_text(recipe, coordinate, hash, error);
        if (status != KEEPFIT_OK)
            return status == KEEPFIT_DATA ? kf_recipe_refuse_feature(recipe, k, complaint) : status;
    }
    recipe->parts_unseen += coordinate == KF_NO_COORDINATE;
    return coordinate == KF_NO_COORDINATE ? KEEPFIT_OK : kf_recipe_enter(recipe, coordinate, part->value, error);
}

/* What a column has for good is found once. */
static void remember(struct kf_recipe *recipe, size_t k)
{
    struct kf_recipe_column *column = &recipe->column[k];
    if (column->type.kind == KF_TEXT || !column->parts || recipe->fixed)
        return;
    const struct kf_part *part = &recipe->part[column->first];
    if (part->length == strlen(KF_MISSING_KEY) && memcmp(part->key, KF_MISSING_KEY, part->length) == 0)
        column->missing = recipe->index[recipe->count - 1];
    else if (column->type.kind == KF_TIME && column->age == KF_NO_COORDINATE) {
        const uint32_t *index = &recipe->index[recipe->count - column->parts];
        memcpy(column->moment, index, sizeof column->moment);
        column->age = index[KF_MOMENT_PARTS];
    }
}

void kf_recipe_note_unseen(struct kf_recipe *recipe, size_t k, const struct kf_content *cell)
{
    if (recipe->unseen++ > 0)
        return;
    size_t length = cell->text ? (size_t)(cell->end - cell->text) : 0;
    if (length >= sizeof recipe->unseen_text) {
        length = sizeof recipe->unseen_text - 1;
        while (length && ((unsigned char)cell->text[length] & 0xc0) == 0x80)
            length--; /* not within a character */
    }
    recipe->unseen_column = k;
    if (length)
        memcpy(recipe->unseen_text, cell->text, length);
    recipe->unseen_text[length] = '\0';
}

static keepfit_status enter_column(struct kf_recipe *recipe, size_t k, const struct kf_content *cell,
                                   struct kf_complaint *complaint, keepfit_error *error)
{
    const struct kf_recipe_column *column = &recipe->column[k];
    keepfit_status status = KEEPFIT_OK;
    uint64_t unseen = recipe->parts_unseen;
    for (size_t p = 0; p < column->parts && status == KEEPFIT_OK; p++)
        status = enter(recipe, k, &recipe->part[column->first + p], complaint, error);
    if (status == KEEPFIT_OK)
        remember(recipe, k);
    if (recipe->parts_unseen > unseen)
        kf_recipe_note_unseen(recipe, k, cell);
    return status;
}

/* ---- crosses ---- */

/* The key of one product: the parts' keys with stars between, theirs escaped; nothing where all are empty. */
static keepfit_status write_product(struct kf_recipe *recipe, const struct kf_part *const *factor, size_t factors,
                                    struct kf_part *product, keepfit_error *error)
{
    size_t from = recipe->room_used, needed = factors;
    bool empty = true;
    for (size_t f = 0; f < factors; f++)
        needed += 2 * factor[f]->length;
    /* keys of parts lie in the room, too: it was made large enough for all of them, and only moves for good reason */
    if (recipe->room_capacity - from < needed)
        return kf_fail_memory(error);
    char *to = recipe->room + from;
    *product = (struct kf_part){to, 0, 1, KF_NO_COORDINATE};
    for (size_t f = 0; f < factors; f++) {
        product->value *= factor[f]->value;
        empty &= factor[f]->length == 0;
        if (f)
            *to++ = '*';
        for (size_t c = 0; c < factor[f]->length; c++) {
            if (factor[f]->key[c] == '*' || factor[f]->key[c] == '\\')
                *to++ = '\\';
            *to++ = factor[f]->key[c];
        }
    }
    product->length = empty ? 0 : (size_t)(to - product->key);
    return KEEPFIT_OK;
}

/* All products, the last factor's parts the fastest. */
static keepfit_status enter_cross(struct kf_recipe *recipe, size_t k, struct kf_complaint *complaint,
                                  keepfit_error *error)
{
    const struct kf_recipe_column *cross = &recipe->column[k];
    const struct kf_part *factor[KF_FACTORS_MOST];
    size_t at[KF_FACTORS_MOST] = {0}, f;
    for (f = 0; f < cross->factors; f++)
        if (recipe->column[cross->factor[f]].parts == 0)
            return KEEPFIT_OK;
    do {
        struct kf_part product;
        for (f = 0; f < cross->factors; f++)
            factor[f] = &recipe->part[recipe->column[cross->factor[f]].first + at[f]];
        keepfit_status status = write_product(recipe, factor, cross->factors, &product, error);
        if (status == KEEPFIT_OK)
            status = enter(recipe, k, &product, complaint, error);
        if (status != KEEPFIT_OK)
            return status;
        for (f = cross->factors; f > 0 && ++at[f - 1] == recipe->column[cross->factor[f - 1]].parts; f--)
            at[f - 1] = 0;
    } while (f > 0);
    return KEEPFIT_OK;
}

/* ---- the row ---- */

struct pair {
    uint32_t index;
    double value;
};

static int compare(const void *one, const void *other)
{
    const struct pair *a = one, *b = other;
    return (a->index > b->index) - (a->index < b->index);
}

static keepfit_status sort_many(struct kf_recipe *recipe, keepfit_error *error)
{
    struct pair *pairs = kf_allocate(recipe->count, sizeof *pairs);
    if (!pairs)
        return kf_fail_memory(error);
    for (size_t k = 0; k < recipe->count; k++)
        pairs[k] = (struct pair){recipe->index[k], recipe->value[k]};
    qsort(pairs, recipe->count, sizeof *pairs, compare);
    for (size_t k = 0; k < recipe->count; k++) {
        recipe->index[k] = pairs[k].index;
        recipe->value[k] = pairs[k].value;
    }
    free(pairs);
    return KEEPFIT_OK;
}

/* Whether there are equal ones. */
static bool sort_few(uint32_t *index, double *value, size_t count)
{
    bool equal = false;
    for (size_t k = 1; k < count; k++) {
        uint32_t held = index[k];
        size_t at = k;
        equal |= index[k - 1] == held;
        if (index[k - 1] <= held)
            continue;
        double with = value[k];
        for (; at > 0 && index[at - 1] > held; at--) {
            index[at] = index[at - 1];
            value[at] = value[at - 1];
        }
        equal |= at > 0 && index[at - 1] == held;
        index[at] = held;
        value[at] = with;
    }
    return equal;
}

/* Entries of one coordinate are added. */
static void join_equal(struct kf_recipe *recipe)
{
    size_t kept = 0;
    for (size_t k = 0; k < recipe->count; k++) {
        if (kept && recipe->index[kept - 1] == recipe->index[k]) {
            recipe->value[kept - 1] += recipe->value[k];
            continue;
        }
        recipe->index[kept] = recipe->index[k];
        recipe->value[kept++] = recipe->value[k];
    }
    recipe->count = kept;
}

/* In order, those of one coordinate added. (Words: whole numbers, in any order; hashed products: in an order of sorting that may
 * differ from library to library only where they are equal.) */
static keepfit_status put_in_order(struct kf_recipe *recipe, keepfit_error *error)
{
    bool equal = true;
    keepfit_status status = KEEPFIT_OK;
    if (recipe->count <= FEW)
        equal = sort_few(recipe->index, recipe->value, recipe->count);
    else
        status = sort_many(recipe, error);
    if (status == KEEPFIT_OK && equal)
        join_equal(recipe);
    return status;
}

/* Keys are at most as long as their cells, but for ages. Products are written one by one, behind all of them. */
static keepfit_status make_room(struct kf_recipe *recipe, const struct kf_content *cells, keepfit_error *error)
{
    size_t needed = 0;
    for (size_t k = 0; k < recipe->readable; k++)
        needed += cells[k].text ? (size_t)(cells[k].end - cells[k].text) + KF_AGE_ROOM : KF_AGE_ROOM;
    recipe->room_used = 0;
    return KF_RESERVE(recipe->room, recipe->room_capacity, 3 * needed + KF_FACTORS_MOST * KF_AGE_ROOM)
               ? KEEPFIT_OK
               : kf_fail_memory(error);
}

static keepfit_status make_row(struct kf_recipe *recipe, const struct kf_content *cells, struct kf_complaint *complaint,
                               keepfit_error *error)
{
    keepfit_status status = make_room(recipe, cells, error);
    for (size_t k = 0; k < recipe->readable && status == KEEPFIT_OK; k++) {
        recipe->column[k].first = recipe->part_count;
        recipe->column[k].quick = kf_recipe_is_quick(&recipe->column[k]);
        if (!recipe->column[k].quick)
            status = take_cell(recipe, k, &cells[k], complaint, error);
        recipe->column[k].parts = recipe->part_count - recipe->column[k].first;
    }
    if (status == KEEPFIT_OK)
        status = kf_recipe_quick_numbers(recipe, cells, complaint, error);
    for (size_t k = 0; k < recipe->columns && status == KEEPFIT_OK; k++)
        if (recipe->column[k].type.kind == KF_CROSS)
            status = enter_cross(recipe, k, complaint, error);
        else if (k < recipe->readable && recipe->column[k].quick)
            status = kf_recipe_quick(recipe, k, &cells[k], complaint, error);
        else if (k < recipe->readable)
            status = enter_column(recipe, k, &cells[k], complaint, error);
    return status == KEEPFIT_OK ? put_in_order(recipe, error) : status;
}

void kf_recipe_take_back(struct kf_recipe *recipe, size_t count)
{
    if (recipe->dictionary.count == count)
        return;
    pthread_mutex_lock(&recipe->lock);
    kf_dictionary_cut(&recipe->dictionary, count);
    pthread_mutex_unlock(&recipe->lock);
    for (size_t k = 0; k < recipe->readable; k++) {
        struct kf_recipe_column *column = &recipe->column[k];
        if (column->missing != KF_NO_COORDINATE && column->missing >= count)
            column->missing = KF_NO_COORDINATE;
        if (column->age != KF_NO_COORDINATE && column->age >= count) {
            column->age = KF_NO_COORDINATE;
            for (size_t p = 0; p < KF_MOMENT_PARTS; p++)
                column->moment[p] = KF_NO_COORDINATE;
        }
    }
    recipe->met_count = recipe->met_count < count ? recipe->met_count : count;
}

keepfit_status kf_recipe_row(struct kf_recipe *recipe, const struct kf_content *cells, keepfit_row *row,
                             struct kf_complaint *complaint, keepfit_error *error)
{
    size_t before = recipe->dictionary.count;
    uint64_t unseen = recipe->unseen, parts_unseen = recipe->parts_unseen;
    recipe->part_count = recipe->count = 0;
    complaint->skip = false;
    keepfit_status status = make_row(recipe, cells, complaint, error);
    if (status == KEEPFIT_OK) {
        *row = (keepfit_row){.count = recipe->count, .index = recipe->index, .value = recipe->value};
        return KEEPFIT_OK;
    }
    recipe->unseen = unseen;
    recipe->parts_unseen = parts_unseen;
    kf_recipe_take_back(recipe, before);
    return status;
}
