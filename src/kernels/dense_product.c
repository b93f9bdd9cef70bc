/* Products of matrices: pieces of KF_DEPTH columns, of which one side is laid out as an across, once, and the other strip by strip. */
#include <string.h>

#include "kernels/dense.h"
#include "kernels/dense_loops.h"

void kf_add_piece(const struct kf_kernels *kernels, size_t rows, size_t columns, size_t depth, const double *a,
                  size_t a_stride, double sign, double *out, size_t stride)
{
    KF_STRIP(strip);
    KF_ACROSS(across);
    for (size_t c = 0; c < columns; c += KF_DEPTH) {
        struct kf_strip part = {.columns = kf_at_most(columns - c, KF_DEPTH), .depth = depth};
        kernels->across_read(part.columns, depth, a + c, a_stride, across);
        for (size_t r = c; r < rows; r += kernels->strip_rows) {
            part.rows = kf_at_most(rows - r, kernels->strip_rows);
            part.below = r - c;
            kernels->strip_read(part.rows, depth, a + r, a_stride, strip);
            kernels->strip_add(&part, strip, across, sign, out + r + c * stride, stride);
        }
    }
}

void kf_add_squares(size_t size, size_t count, const double *columns, size_t columns_stride, double *sum, size_t stride)
{
    const struct kf_kernels *kernels = kf_kernels_best();
    for (size_t k = 0; k < count; k += KF_DEPTH)
        kf_add_piece(kernels, size, size, kf_at_most(count - k, KF_DEPTH), columns + k * columns_stride, columns_stride,
                     1, sum, stride);
}

/* An across of the turned matrix: its columns are the groups' rows. */
static void across_turn(size_t columns, size_t depth, const double *matrix, size_t stride, double *across)
{
    for (; columns; matrix += KF_GROUP * stride) {
        size_t width = kf_at_most(columns, KF_GROUP);
        for (size_t k = 0; k < depth; k++, across += KF_GROUP)
            for (size_t c = 0; c < KF_GROUP; c++)
                across[c] = c < width ? matrix[k + c * stride] : 0;
        columns -= width;
    }
}

void kf_matrix_times_columns(size_t size, const double *matrix, size_t stride, size_t count, const double *columns,
                             double *out)
{
    const struct kf_kernels *kernels = kf_kernels_best();
    KF_STRIP(strip);
    KF_ACROSS(across);
    if (size == 0 || count == 0)
        return;
    memset(out, 0, size * count * sizeof *out);
    for (size_t c = 0; c < count; c += KF_DEPTH)
        for (size_t k = 0; k < size; k += KF_DEPTH) {
            struct kf_strip part = {.columns = kf_at_most(count - c, KF_DEPTH),
                                    .depth = kf_at_most(size - k, KF_DEPTH),
                                    .below = KF_DEPTH}; /* all of it */
            across_turn(part.columns, part.depth, columns + k + c * size, size, across);
            for (size_t r = 0; r < size; r += kernels->strip_rows) {
                part.rows = kf_at_most(size - r, kernels->strip_rows);
                kernels->strip_read(part.rows, part.depth, matrix + r + k * stride, stride, strip);
                kernels->strip_add(&part, strip, across, 1, out + r + c * size, size);
            }
        }
}

void kf_symmetric_times(size_t size, const double *matrix, size_t stride, const double *v, double *out)
{
    if (size > 0)
        kf_kernels_best()->symmetric_times(size, matrix, stride, v, out);
}
