#include "columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

#define ROWS_SEEN 1000
#define FEATURES_MOST 100000
#define ENTRIES_LEAST 10 /* a column must have been met this often to have a say */
#define RATIO_MOST 1000

static bool make_room(struct columns *columns, size_t needed)
{
    if (needed <= columns->count)
        return true;
    size_t count = needed + needed / 2;
    double *square = realloc(columns->square, count * sizeof *square);
    if (square)
        columns->square = square;
    uint64_t *entries = realloc(columns->entries, count * sizeof *entries);
    if (entries)
        columns->entries = entries;
    if (!square || !entries)
        return false;
    memset(square + columns->count, 0, (count - columns->count) * sizeof *square);
    memset(entries + columns->count, 0, (count - columns->count) * sizeof *entries);
    columns->count = count;
    return true;
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
    for (size_t k = 0; k < row->count; k++) {
        size_t feature = row->index ? row->index[k] : k;
        if (row->value[k] != 0) {
            columns->square[feature] += row->value[k] * row->value[k];
            columns->entries[feature]++;
        }
    }
}

void columns_warn(struct columns *columns, const char *name)
{
    size_t small = 0, large = 0;
    double least = INFINITY, most = 0;
    for (size_t k = 0; k < columns->count && !columns->done; k++) {
        if (columns->entries[k] < ENTRIES_LEAST)
            continue;
        double size = sqrt(columns->square[k] / (double)columns->entries[k]);
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
        warn("%s: feature %zu is about %.0e times larger than feature %zu; --scale columns makes such data far easier",
             name, large + 1, most / least, small + 1);
    columns->done = true;
}

void columns_free(struct columns *columns)
{
    free(columns->square);
    free(columns->entries);
}
