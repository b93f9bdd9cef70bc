/* Dense symmetric matrices: the factor, the solution, the inverse and the products that proofs and solvers ask for.
 *
 * Matrices are stored by columns: entry (row, column) at row + column * stride. Of a symmetric one the lower triangle counts, and
 * the upper one is neither read nor written unless it says so.
 *
 * The bits are the same on every processor. Nothing is fused, each number of a result is one lane of a vector, and the order in
 * which its products are added depends on the sizes alone:
 *
 *   matrices go in pieces of KF_DEPTH = 64 rows or columns; over the columns of a piece the products are added one by one, from 0,
 *   and the sum is then added to what was there. A triangle of 64 is solved in groups of 8 columns, each of which takes off the sum
 *   over the groups before it, and then its own columns one by one;
 *
 *   a product with one vector goes in groups of 8 columns. What a column adds to rows is added at once, column after column; what the
 *   rows add to a column has eight partial sums: first the group's own rows, a lane each, then the rows below, eight at a time, then the
 *   rest, in the last lanes. What is not there, or not below the diagonal, adds 0.
 *
 * Rounding is that of the textbook, since that holds for any order: L L' = A + E with |E| <= gamma_(n+1) |L||L'|, where a quotient
 * may have been taken as the product with a reciprocal (Higham, Accuracy and Stability of Numerical Algorithms, theorems 8.5 and
 * 10.3; below the diagonal the proof has an operation to spare). */
#ifndef KF_DENSE_H
#define KF_DENSE_H

#include <stdbool.h>
#include <stddef.h>

/* matrix = L L': L takes the place of the lower triangle. False: it is not positive definite, or not finite, and lost. */
bool kf_cholesky(size_t size, double *matrix, size_t stride);
/* v = (L L')^-1 v */
void kf_cholesky_solve(size_t size, const double *factor, size_t stride, double *v);
/* (L L')^-1, both triangles, takes the place of L. */
void kf_cholesky_invert(size_t size, double *matrix, size_t stride);

/* sum += C C', C the `count` columns of `size` numbers that lie `columns_stride` apart. */
void kf_add_squares(size_t size, size_t count, const double *columns, size_t columns_stride, double *sum,
                    size_t stride);

/* out = matrix * v; they may not overlap */
void kf_symmetric_times(size_t size, const double *matrix, size_t stride, const double *v, double *out);
/* out = matrix * C, C and `out` of `count` columns, one behind the other; of the matrix both triangles count */
void kf_matrix_times_columns(size_t size, const double *matrix, size_t stride, size_t count, const double *columns,
                             double *out);

#endif
