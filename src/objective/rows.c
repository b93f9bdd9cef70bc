#include "objective/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* So many slots of a matrix at least, KF_TILE columns of them, are at hand at a time: 32 kB. */
#define BAND 64       /* safety: room in the first cache */
#define BANDS_MOST 16 /* safety: room on the stack */
#define AT_ONCE 256   /* safety: room on the stack */
/* Slots whose columns are asked for before they are needed. */
#define AHEAD 4 /* speed: bench/tuning.md */

static keepfit_row row_of(const struct kf_rows *rows, size_t k)
{
    return kf_points_row(rows->points, rows->which ? rows->which[k] : rows->first + k);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The cache lines of `count` numbers are asked for. */
static void prefetch(const double *from, size_t count)
{
    for (size_t k = 0; k < count; k += 8)
        __builtin_prefetch(from + k);
}

/* At most AT_ONCE rows, and where each goes over from one band of slots to the next. */
struct banded {
    size_t from, count, slots, band, bands;
    keepfit_row row[AT_ONCE];
    uint32_t start[AT_ONCE][BANDS_MOST + 1];
};

static void find_bands(struct banded *banded, const struct kf_rows *rows, size_t from, size_t to)
{
    banded->from = from;
    banded->count = to - from;
    banded->slots = 0;
    for (size_t k = 0; k < banded->count; k++) {
        banded->row[k] = row_of(rows, from + k);
        size_t ends = kf_row_width(&banded->row[k]);
        banded->slots = ends > banded->slots ? ends : banded->slots;
    }
    size_t even = (banded->slots + BANDS_MOST - 1) / BANDS_MOST;
    banded->band = even > BAND ? even : BAND;
    banded->bands = (banded->slots + banded->band - 1) / banded->band;
    for (size_t k = 0; k < banded->count; k++) {
        const keepfit_row *row = &banded->row[k];
        size_t entry = banded->start[k][0] = 0;
        for (size_t b = 0; b < banded->bands; b++) {
            size_t end = (b + 1) * banded->band;
            if (!row->index)
                entry = least(row->count, end);
            while (row->index && entry < row->count && row->index[entry] < end)
                entry++;
            banded->start[k][b + 1] = (uint32_t)entry;
        }
    }
}

/* A tile of the rows' products, band after band, the next of which is asked for meanwhile. */
static void multiply_tile(const struct banded *banded, const struct kf_kernels *kernels, const double *matrix,
                          size_t width, size_t tile, double *out, size_t stride)
{
    size_t part = least(KF_TILE, width - tile);
    for (size_t k = 0; k < banded->count; k++)
        memset(out + (banded->from + k) * stride + tile, 0, part * sizeof *out);
    for (size_t b = 0; b < banded->bands; b++)
        for (size_t k = 0; k < banded->count; k++) {
            const keepfit_row *row = &banded->row[k];
            size_t begin = banded->start[k][b], count = banded->start[k][b + 1] - begin,
                   soon = (b + 1) * banded->band + k;
            if (k < banded->band && soon < banded->slots)
                prefetch(matrix + soon * width + tile, part);
            if (count)
                kernels->combine(count, row->index ? row->index + begin : NULL, row->value + begin,
                                 matrix + tile + (row->index ? 0 : begin * width), width, part,
                                 out + (banded->from + k) * stride + tile);
        }
}

void kf_rows_multiply(const struct kf_rows *rows, size_t from, size_t to, const struct kf_kernels *kernels,
                      const double *matrix, size_t width, double *out, size_t stride)
{
    struct banded banded;
    for (; from < to; from += AT_ONCE) {
        find_bands(&banded, rows, from, least(to, from + AT_ONCE));
        for (size_t tile = 0; tile < width; tile += KF_TILE)
            multiply_tile(&banded, kernels, matrix, width, tile, out, stride);
    }
}

/* A counting sort by group and slot. While rows are put in, start[place + 1] is where the place's next entry goes. */
bool kf_turned_build(struct kf_turned *turned, const struct kf_rows *rows, size_t slots)
{
    size_t entries = 0, groups = (rows->count + BAND - 1) / BAND, places = groups * slots;
    for (size_t k = 0; k < rows->count; k++)
        entries += row_of(rows, k).count;
    if (!KF_RESERVE(turned->start, turned->start_capacity, places + 2) ||
        !KF_RESERVE(turned->row, turned->row_capacity, entries) ||
        !KF_RESERVE(turned->value, turned->value_capacity, entries))
        return false;
    size_t *start = turned->start;
    memset(start, 0, (places + 2) * sizeof *start);
    for (size_t k = 0; k < rows->count; k++) {
        keepfit_row row = row_of(rows, k);
        for (size_t e = 0; e < row.count; e++)
            start[k / BAND * slots + (row.index ? row.index[e] : e) + 2]++;
    }
    for (size_t place = 0; place <= places; place++)
        start[place + 1] += start[place];
    for (size_t k = 0; k < rows->count; k++) {
        keepfit_row row = row_of(rows, k);
        for (size_t e = 0; e < row.count; e++) {
            size_t at = start[k / BAND * slots + (row.index ? row.index[e] : e) + 1]++;
            turned->row[at] = (uint32_t)k;
            turned->value[at] = row.value[e];
        }
    }
    turned->groups = groups;
    turned->slots = slots;
    return true;
}

void kf_turned_free(struct kf_turned *turned)
{
    free(turned->start);
    free(turned->row);
    free(turned->value);
}

void kf_turned_add(const struct kf_turned *turned, const struct kf_kernels *kernels, size_t from, size_t to,
                   const double *vectors, size_t stride, size_t width, double *y)
{
    for (size_t tile = 0; tile < width; tile += KF_TILE)
        for (size_t group = 0; group < turned->groups; group++)
            for (size_t slot = from; slot < to; slot++) {
                const size_t *start = turned->start + group * turned->slots + slot;
                size_t count = start[1] - start[0];
                if (slot + AHEAD < to)
                    prefetch(y + (slot + AHEAD) * width + tile, least(KF_TILE, width - tile));
                if (count)
                    kernels->combine(count, turned->row + start[0], turned->value + start[0], vectors + tile, stride,
                                     least(KF_TILE, width - tile), y + slot * width + tile);
            }
}
