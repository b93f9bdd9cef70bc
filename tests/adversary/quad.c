#include "quad.h"

bool quad_factorise(size_t size, size_t stride, quad *matrix)
{
    for (size_t i = 0; i < size; i++) {
        quad *row = matrix + i * stride;
        for (size_t j = 0; j < i; j++)
            row[j] = (row[j] - quad_dot(j, row, matrix + j * stride)) / matrix[j * stride + j];
        quad pivot = row[i] - quad_dot(i, row, row);
        if (!(pivot > row[i] * QUAD_ROUNDING)) /* also when it is no number */
            return false;
        row[i] = sqrtq(pivot);
    }
    return true;
}

void quad_solve(size_t size, size_t stride, const quad *factor, quad *b)
{
    for (size_t i = 0; i < size; i++)
        b[i] = (b[i] - quad_dot(i, factor + i * stride, b)) / factor[i * stride + i];
    for (size_t i = size; i-- > 0;) {
        for (size_t k = i + 1; k < size; k++)
            b[i] -= factor[k * stride + i] * b[k];
        b[i] /= factor[i * stride + i];
    }
}

quad quad_dot(size_t size, const quad *a, const quad *b)
{
    quad sum = 0;
    for (size_t k = 0; k < size; k++)
        sum += a[k] * b[k];
    return sum;
}
