/* Numbers of 113 bits, and the few things that are done with matrices of them. */
#ifndef KEEPFIT_ADVERSARY_QUAD_H
#define KEEPFIT_ADVERSARY_QUAD_H

#include <quadmath.h>
#include <stdbool.h>
#include <stddef.h>

__extension__ typedef __float128 quad;

/* Half of the distance from 1 to the next number: what one operation is off by at most, relatively. */
#define QUAD_ROUNDING 0x1p-113
#define DOUBLE_ROUNDING 0x1p-53

static inline quad quad_least(quad a, quad b)
{
    return a < b ? a : b;
}

static inline quad quad_most(quad a, quad b)
{
    return a > b ? a : b;
}

static inline quad quad_size(quad a)
{
    return a < 0 ? -a : a;
}

/* The lower triangle of the matrix, its rows `stride` apart, becomes its factor. False: it is not positive definite. */
bool quad_factorise(size_t size, size_t stride, quad *matrix);
/* b becomes the solution of (factor factor') y = b. */
void quad_solve(size_t size, size_t stride, const quad *factor, quad *b);
quad quad_dot(size_t size, const quad *a, const quad *b);

#endif
