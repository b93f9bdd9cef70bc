/* (L L')^-1 = U U', U = L^-T, in place.
 *
 * U grows in the upper triangle, from left to right in pieces of KF_DEPTH columns: of L' U = I, those of piece I are
 * U_JI = (I - sum_(J <= K < I) U_JK L_IK') L_II^-T, so that the rows I of L are read only here, and U_II takes the place of L_II.
 * Then the squares of U's pieces are added up in the lower triangle, also from left to right: only the triangle U_KK lies where
 * something is to be added, and nothing else reads it. */
#include <string.h>

#include "kernels/dense.h"
#include "kernels/dense_loops.h"

/* The groups of a factor's triangle, with reciprocals on its diagonal. */
static void read_corner(const struct kf_kernels *kernels, size_t size, const double *factor, size_t stride,
                        double *corner)
{
    for (size_t g = 0; g < kf_groups(size); g++) {
        size_t before = g * KF_GROUP, rows = kf_at_most(size - before, KF_GROUP);
        double *across = corner + KF_TRIANGLE(g), *own = across + before * KF_GROUP;
        kernels->across_read(rows, before + rows, factor + before, stride, across);
        memset(own + rows * KF_GROUP, 0, (KF_GROUP - rows) * KF_GROUP * sizeof *own);
        for (size_t c = 0; c < KF_GROUP; c++)
            own[c * KF_GROUP + c] = c < rows ? 1 / own[c * KF_GROUP + c] : 1;
    }
}

/* U_II, with zeros below its diagonal. */
static void invert_corner(const struct kf_kernels *kernels, size_t size, const double *corner, double *matrix,
                          size_t stride)
{
    KF_STRIP(strip);
    size_t height = kernels->strip_rows;
    for (size_t r = 0; r < size; r += height) {
        size_t rows = kf_at_most(size - r, height);
        memset(strip, 0, sizeof strip);
        for (size_t k = 0; k < rows; k++)
            strip[(r + k) * height + k] = 1;
        kernels->strip_solve(rows, r / KF_GROUP, kf_groups(size), corner, strip);
        kernels->strip_write(rows, size, strip, matrix + r, stride);
    }
}

/* The columns `from` .. from + width - 1 of U. */
static void invert_piece(const struct kf_kernels *kernels, size_t from, size_t width, double *matrix, size_t stride)
{
    KF_STRIP(strip);
    KF_ACROSS(across);
    KF_CORNER(corner);
    double *out = matrix + from * stride;
    size_t height = kernels->strip_rows;
    struct kf_strip part = {.rows = height, .columns = width, .depth = KF_DEPTH, .below = KF_DEPTH}; /* all of it */
    read_corner(kernels, width, out + from, stride, corner);
    for (size_t c = 0; c < width; c++)
        memset(out + c * stride, 0, from * sizeof *out);
    for (size_t k = 0; k < from; k += KF_DEPTH) {
        kernels->across_read(width, KF_DEPTH, matrix + from + k * stride, stride, across);
        for (size_t r = 0; r < k + KF_DEPTH; r += height) {
            kernels->strip_read(height, KF_DEPTH, matrix + r + k * stride, stride, strip);
            kernels->strip_add(&part, strip, across, -1, out + r, stride);
        }
    }
    for (size_t r = 0; r < from; r += height) {
        kf_strip_fill(kernels, height, width, out + r, stride, strip);
        kernels->strip_solve(height, 0, kf_groups(width), corner, strip);
        kernels->strip_write(height, width, strip, out + r, stride);
    }
    invert_corner(kernels, width, corner, out + from, stride);
}

/* The lower triangle += the square of the same columns of U. */
static void add_piece(const struct kf_kernels *kernels, size_t from, size_t width, double *matrix, size_t stride)
{
    KF_ACROSS(square);
    double *corner = matrix + from + from * stride;
    for (size_t c = 0; c < from; c++)
        memset(matrix + from + c * stride, 0, width * sizeof *matrix);
    kf_add_piece(kernels, from + width, from, width, matrix + from * stride, stride, 1, matrix, stride);
    for (size_t c = 0; c < width; c++) {
        memcpy(square + c * KF_DEPTH, corner + c * stride, width * sizeof *square);
        memset(corner + c * stride, 0, width * sizeof *square);
    }
    kf_add_piece(kernels, width, width, width, square, KF_DEPTH, 1, corner, stride);
}

/* The upper triangle from the lower one, in squares that stay in the cache. */
static void mirror(size_t size, double *matrix, size_t stride)
{
    for (size_t from = 0; from < size; from += KF_GROUP)
        for (size_t r = from; r < size; r++)
            for (size_t c = from; c < from + KF_GROUP && c < r; c++)
                matrix[c + r * stride] = matrix[r + c * stride];
}

void kf_cholesky_invert(size_t size, double *matrix, size_t stride)
{
    const struct kf_kernels *kernels = kf_kernels_best();
    for (size_t c = 0; c < size; c += KF_DEPTH)
        invert_piece(kernels, c, kf_at_most(size - c, KF_DEPTH), matrix, stride);
    for (size_t c = 0; c < size; c += KF_DEPTH)
        add_piece(kernels, c, kf_at_most(size - c, KF_DEPTH), matrix, stride);
    mirror(size, matrix, stride);
}
