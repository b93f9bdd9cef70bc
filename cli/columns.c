#include "columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/output.h"

#define ROWS_SEEN 1000
#define FEATURES_MOST 100000
#define ENTRIES_LEAST 10 /* a column must have been met this often to have a say */
#define RATIO_MOST 1000
#define NAME_ROOM 128
#define FAR 1e9 /* from 0: that many times the variance, for the square (docs/data.md) */

static bool make_room(struct columns *columns, size_t needed)
{
    if (needed <= columns->count)
        return true;
    size_t count = needed + needed / 2;
    struct column_sizes *sizes = realloc(columns->sizes, count * sizeof *sizes);
    if (!sizes)
        return false;
    memset(sizes + columns->count, 0, (count - columns->count) * sizeof *sizes);
    columns->sizes = sizes;
    columns->count = count;
    return true;
}

static void take(struct column_sizes *sizes, double value)
{
    if (value == 0)
        return;
    if (sizes->entries++ == 0)
        sizes->first = value;
    sizes->square += value * value;
    sizes->varied += (value - sizes->first) * (value - sizes->first);
}

void columns_see(struct columns *columns, const keepfit_row *row)
{
    if (columns->done || columns->rows >= ROWS_SEEN || row->count == 0)
        return;
    columns->rows++;
    size_t width = row->index ? (size_t)row->index[row->count - 1] + 1 : row->count;
    if (width > FEATURES_MOST || !make_room(columns, width)) {
        columns->done = true; /* a warning is not worth failing for, nor much memory */
        return;
    }
    for (size_t k = 0; k < row->count; k++)
        take(&columns->sizes[row->index ? row->index[k] : k], row->value[k]);
}

/* What a step has to do with; 0: nothing. */
static double size_of(const struct columns *columns, const struct column_sizes *sizes)
{
    double entries = (double)sizes->entries;
    bool far = sizes->entries == columns->rows && sizes->square > FAR * sizes->varied;
    return sqrt((columns->centred && far ? sizes->varied : sizes->square) / entries);
}

/* "feature 3", or "feature 3 (amount)". Messages write what stands in names as nothing but themselves. */
static const char *name_of(const keepfit_schema *schema, size_t k, char room[NAME_ROOM])
{
    bool named = schema->feature && k < schema->features;
    if (named)
        snprintf(room, NAME_ROOM, "feature %zu (%.60s)", k + 1, schema->feature[k]);
    else
        snprintf(room, NAME_ROOM, "feature %zu", k + 1);
    return room;
}

void columns_warn(struct columns *columns, const char *name, const keepfit_schema *schema)
{
    size_t small = 0, large = 0;
    double least = INFINITY, most = 0;
    char rooms[2][NAME_ROOM];
    for (size_t k = 0; k < columns->count && !columns->done; k++) {
        if (columns->sizes[k].entries < ENTRIES_LEAST)
            continue;
        double size = size_of(columns, &columns->sizes[k]);
        if (size == 0)
            continue;
        if (size < least) {
            least = size;
            small = k;
        }
        if (size > most) {
            most = size;
            large = k;
        }
    }
    if (most > RATIO_MOST * least)
        warn("%s: %s is about %.0e times larger than %s; --scale columns makes such data far easier", name,
             name_of(schema, large, rooms[0]), most / least, name_of(schema, small, rooms[1]));
    columns->done = true;
}

void columns_free(struct columns *columns)
{
    free(columns->sizes);
}
