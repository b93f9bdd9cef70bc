/* Linear equations in long double, for tests that find optima of their own. */
#ifndef KEEPFIT_TESTS_ELIMINATION_H
#define KEEPFIT_TESTS_ELIMINATION_H

#include <stddef.h>

/* Gauss without exchange: the matrix, of rows `stride` apart, is positive definite. The solution takes the place of `right`. */
static inline void eliminate(size_t size, size_t stride, long double *matrix, long double *right)
{
    for (size_t k = 0; k < size; k++)
        for (size_t r = k + 1; r < size; r++) {
            long double factor = matrix[r * stride + k] / matrix[k * stride + k];
            for (size_t c = k; c < size; c++)
                matrix[r * stride + c] -= factor * matrix[k * stride + c];
            right[r] -= factor * right[k];
        }
    for (size_t k = size; k-- > 0;) {
        for (size_t c = k + 1; c < size; c++)
            right[k] -= matrix[k * stride + c] * right[c];
        right[k] /= matrix[k * stride + k];
    }
}

#endif
