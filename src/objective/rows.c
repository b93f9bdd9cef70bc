#include "objective/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* KF_TILE columns of so many rows of a matrix, 32 kB, are at hand at a time. */
#define BAND 64
#define AT_ONCE 256

static keepfit_row row_of(const struct kf_rows *rows, size_t k)
{
    return kf_points_row(rows->points, rows->which ? rows->which[k] : rows->first + k);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The row's entries from number `from` on whose slots are below `end`: where they end. */
static size_t entries_below(const keepfit_row *row, size_t from, size_t end)
{
    if (!row->index)
        return least(row->count, end);
    while (from < row->count && row->index[from] < end)
        from++;
    return from;
}

/* A tile of at most AT_ONCE rows' products, band of slots after band. */
static void multiply_tile(const struct kf_rows *rows, size_t from, size_t to, const struct kf_kernels *kernels,
                          const double *matrix, size_t width, size_t tile, double *out, size_t stride)
{
    size_t done[AT_ONCE] = {0}, part = least(KF_TILE, width - tile), widest = 0;
    for (size_t k = from; k < to; k++) {
        keepfit_row row = row_of(rows, k);
        size_t ends = kf_row_width(&row);
        widest = ends > widest ? ends : widest;
        memset(out + k * stride + tile, 0, part * sizeof *out);
    }
    for (size_t end = BAND; end < widest + BAND; end += BAND)
        for (size_t k = from; k < to; k++) {
            keepfit_row row = row_of(rows, k);
            size_t begin = done[k - from], stop = entries_below(&row, begin, end);
            const double *block = matrix + tile + (row.index ? 0 : begin * width);
            if (stop > begin)
                kernels->combine(stop - begin, row.index ? row.index + begin : NULL, row.value + begin, block, width,
                                 part, out + k * stride + tile);
            done[k - from] = stop;
        }
}

void kf_rows_multiply(const struct kf_rows *rows, size_t from, size_t to, const struct kf_kernels *kernels,
                      const double *matrix, size_t width, double *out, size_t stride)
{
    for (; from < to; from += AT_ONCE)
        for (size_t tile = 0; tile < width; tile += KF_TILE)
            multiply_tile(rows, from, least(to, from + AT_ONCE), kernels, matrix, width, tile, out, stride);
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
                if (count)
                    kernels->combine(count, turned->row + start[0], turned->value + start[0], vectors + tile, stride,
                                     least(KF_TILE, width - tile), y + slot * width + tile);
            }
}
