/* The Cholesky factor, from left to right in pieces of KF_DEPTH columns: the triangle at the top of a piece is factorised, the strips below
 * are solved with it, and their products are taken off what is to the right. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/dense.h"
#include "kernels/dense_loops.h"

void kf_strip_fill(const struct kf_kernels *kernels, size_t rows, size_t depth, const double *matrix, size_t stride,
                   double *strip)
{
    size_t height = kernels->strip_rows, whole = kf_groups(depth) * KF_GROUP;
    kernels->strip_read(rows, depth, matrix, stride, strip);
    memset(strip + depth * height, 0, (whole - depth) * height * sizeof *strip);
}

/* The factor of the first `width` of a group's eight rows and columns, in place, entry (r, c) at [c * height + r]; and in `corner`, entry
 * (r, c) at [c * KF_GROUP + r], with reciprocals on the diagonal, 1 for what is missing. */
static bool factor_group(size_t width, size_t height, double *strip, double *corner)
{
    memset(corner, 0, KF_GROUP * KF_GROUP * sizeof *corner);
    for (size_t c = 0; c < KF_GROUP; c++)
        corner[c * KF_GROUP + c] = 1;
    for (size_t c = 0; c < width; c++) {
        double *column = strip + c * height, pivot = column[c];
        if (!(pivot > 0 && pivot <= DBL_MAX))
            return false;
        column[c] = sqrt(pivot);
        double inverse = corner[c * KF_GROUP + c] = 1 / column[c];
        for (size_t r = c + 1; r < width; r++)
            column[r] = corner[c * KF_GROUP + r] = column[r] * inverse;
        for (size_t right = c + 1; right < width; right++)
            for (size_t r = right; r < width; r++)
                strip[right * height + r] -= column[r] * column[right];
    }
    return true;
}

/* The factor of a triangle of `size` columns, in place, and in `corner` as strips are solved with it. */
static bool factor_corner(const struct kf_kernels *kernels, size_t size, double *matrix, size_t stride, double *corner)
{
    KF_STRIP(strip);
    size_t height = kernels->strip_rows;
    for (size_t g = 0; g < kf_groups(size); g++) {
        size_t before = g * KF_GROUP, rows = kf_at_most(size - before, KF_GROUP);
        double *across = corner + KF_TRIANGLE(g), *own = strip + before * height;
        kf_strip_fill(kernels, rows, before + rows, matrix + before, stride, strip);
        kernels->strip_solve(KF_GROUP, 0, g, corner, strip);
        for (size_t k = 0; k < before; k++)
            memcpy(across + k * KF_GROUP, strip + k * height, KF_GROUP * sizeof *across);
        kernels->strip_take_off(KF_GROUP, before, strip, across, own);
        if (!factor_group(rows, height, own, across + before * KF_GROUP))
            return false;
        kernels->strip_write(rows, before, strip, matrix + before, stride);
        for (size_t c = 0; c < rows; c++)
            for (size_t r = c; r < rows; r++)
                matrix[before + r + (before + c) * stride] = own[c * height + r];
    }
    return true;
}

bool kf_cholesky(size_t size, double *matrix, size_t stride)
{
    const struct kf_kernels *kernels = kf_kernels_best();
    KF_STRIP(strip);
    KF_CORNER(corner);
    for (size_t c = 0; c < size; c += KF_DEPTH) {
        size_t width = kf_at_most(size - c, KF_DEPTH), below = size - c - width;
        double *panel = matrix + c + width + c * stride;
        if (!factor_corner(kernels, width, matrix + c + c * stride, stride, corner))
            return false;
        for (size_t r = 0; r < below; r += kernels->strip_rows) {
            size_t rows = kf_at_most(below - r, kernels->strip_rows);
            kernels->strip_read(rows, width, panel + r, stride, strip);
            kernels->strip_solve(rows, 0, kf_groups(width), corner, strip);
            kernels->strip_write(rows, width, strip, panel + r, stride);
        }
        kf_add_piece(kernels, below, below, width, panel, stride, -1, panel + width * stride, stride);
    }
    return true;
}

void kf_cholesky_solve(size_t size, const double *factor, size_t stride, double *v)
{
    const struct kf_kernels *kernels = kf_kernels_best();
    if (size == 0)
        return;
    kernels->solve_lower(size, factor, stride, v);
    kernels->solve_upper(size, factor, stride, v);
}
