#include "history/centres.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define KEPT_MOST 1e120 /* squares have room for their sums, and for weights */

void kf_centres_free(struct kf_centres *centres)
{
    free(centres->at);
    free(centres->scale);
    free(centres->value);
    free(centres->index);
    memset(centres, 0, sizeof *centres);
}

bool kf_centres_add(struct kf_centres *centres, uint32_t column, double value)
{
    if (!KF_RESERVE(centres->at, centres->capacity, centres->count + 1))
        return false;
    centres->at[centres->count++] = (struct kf_centre){column, value};
    return true;
}

/* Whether a - c is a number of this format, and gives a's bits back. The second part is what the subtraction loses (Knuth's TwoSum);
 * a zero would come back without its sign. */
static bool subtract(double a, double c, double *difference)
{
    double near = a - c, back = near - a;
    *difference = near;
    return (a - (near - back)) + (-c - back) == 0 && !(a == 0 && signbit(a));
}

bool kf_centres_add_scale(struct kf_centres *centres, uint32_t column, double scale)
{
    if (!KF_RESERVE(centres->scale, centres->scale_capacity, (size_t)column + 1))
        return false;
    while (centres->scales < column)
        centres->scale[centres->scales++] = 1;
    centres->scale[centres->scales++] = scale;
    return true;
}

/* In the column's unit, if it comes back from there. */
static bool divide(double value, double scale, double *kept)
{
    *kept = value / scale;
    return *kept * scale == value && fabs(*kept) <= KEPT_MOST;
}

static bool make_room(struct kf_centres *centres, size_t entries)
{
    return KF_RESERVE(centres->value, centres->value_capacity, entries + 1) &&
           KF_RESERVE(centres->index, centres->index_capacity, entries + 1);
}

static void put(struct kf_centres *centres, size_t *count, uint32_t column, double value)
{
    centres->value[*count] = value;
    centres->index[(*count)++] = column;
}

enum kf_centred kf_centres_apply(struct kf_centres *centres, const keepfit_row *row, struct kf_centred_row *centred,
                                 uint32_t *column)
{
    const struct kf_centre *next = centres->at, *end = next + centres->count;
    size_t count = 0;
    bool filled = false, zero = false;
    if (!make_room(centres, row->count + centres->count))
        return KF_CENTRED_MEMORY;
    for (size_t k = 0; k < row->count; k++) {
        uint32_t own = row->index ? row->index[k] : (uint32_t)k;
        double value = row->value[k];
        for (; next < end && next->column < own; next++, filled = true)
            put(centres, &count, next->column, -next->value / kf_centres_scale(centres, next->column));
        if (next < end && next->column == own) {
            if (!subtract(row->value[k], next++->value, &value)) {
                *column = own;
                return KF_CENTRED_INEXACT;
            }
            if (row->value[k] == 0) {
                zero = true;
                *column = own;
            }
        }
        if (own < centres->scales && !divide(value, centres->scale[own], &value)) {
            *column = own;
            return KF_CENTRED_INEXACT;
        }
        put(centres, &count, own, value);
    }
    for (; next < end; next++, filled = true)
        put(centres, &count, next->column, -next->value / kf_centres_scale(centres, next->column));
    if (filled && zero) /* it would be taken for one that did not come */
        return KF_CENTRED_INEXACT;
    centred->row = (keepfit_row){count, row->index || filled ? centres->index : NULL, centres->value};
    centred->filled = filled;
    return KF_CENTRED;
}

bool kf_centres_undo(struct kf_centres *centres, const struct kf_points *points, size_t j, keepfit_row *row)
{
    keepfit_row kept = kf_points_row(points, j);
    const struct kf_centre *next = centres->at, *end = next + centres->count;
    bool filled = points->place[j].filled;
    size_t count = 0;
    if (!make_room(centres, kept.count))
        return false;
    for (size_t k = 1; k < kept.count; k++) {
        uint32_t column = (kept.index ? kept.index[k] : (uint32_t)k) - 1;
        double centre = next < end && next->column == column ? next++->value : 0;
        double value = kept.value[k] * kf_centres_scale(centres, column);
        if (centre == 0)
            put(centres, &count, column, value); /* 0 added would take the sign from a zero */
        else if (!filled || value != -centre)
            put(centres, &count, column, value + centre);
    }
    bool dense = count == 0 || centres->index[count - 1] == count - 1;
    *row = (keepfit_row){count, dense ? NULL : centres->index, centres->value};
    return true;
}

/* The entry of a column, counted with the constant in front; NULL: there is none. */
static const double *find_entry(const keepfit_row *row, uint32_t column)
{
    if (!row->index)
        return column < row->count ? row->value + column : NULL;
    size_t low = 0, high = row->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (row->index[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < row->count && row->index[low] == column ? row->value + low : NULL;
}

struct kf_cell kf_centres_cell(const struct kf_points *points, size_t j, struct kf_centre centre, double scale)
{
    keepfit_row row = kf_points_row(points, j);
    const double *entry = find_entry(&row, (uint32_t)kf_slot_behind_lead(centre.column));
    if (!entry)
        return (struct kf_cell){0, false};
    double value = *entry * scale;
    return (struct kf_cell){value, centre.value == 0 || !points->place[j].filled || value != -centre.value};
}
