#include "ridge_optimum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"

void optimum_start(struct optimum *optimum, size_t dimension, double lambda)
{
    *optimum = (struct optimum){.dimension = dimension, .lambda = lambda};
    optimum->gram = must_allocate(dimension * dimension * sizeof(double));
    optimum->factor = must_allocate(dimension * dimension * sizeof(double));
    optimum->moment = must_allocate(dimension * sizeof(double));
    optimum->x = must_allocate(dimension * sizeof(double));
}

void optimum_free(struct optimum *optimum)
{
    free(optimum->gram);
    free(optimum->factor);
    free(optimum->moment);
    free(optimum->x);
}

static size_t feature_of(const keepfit_row *row, size_t k)
{
    return row->index ? row->index[k] : k;
}

/* H = factor factor' */
static void factorise(struct optimum *optimum)
{
    size_t d = optimum->dimension;
    for (size_t r = 0; r < d; r++)
        for (size_t c = 0; c <= r; c++) {
            double *low = optimum->factor + r * d, *high = optimum->factor + c * d;
            double sum = optimum->gram[r * d + c] / optimum->count + (r == c ? optimum->lambda : 0);
            for (size_t k = 0; k < c; k++)
                sum -= low[k] * high[k];
            low[c] = r == c ? sqrt(sum) : sum / high[c];
        }
}

static void solve(struct optimum *optimum)
{
    size_t d = optimum->dimension;
    double *x = optimum->x;
    for (size_t r = 0; r < d; r++) {
        x[r] = optimum->moment[r] / optimum->count;
        for (size_t k = 0; k < r; k++)
            x[r] -= optimum->factor[r * d + k] * x[k];
        x[r] /= optimum->factor[r * d + r];
    }
    for (size_t r = d; r-- > 0;) {
        for (size_t k = r + 1; k < d; k++)
            x[r] -= optimum->factor[k * d + r] * x[k];
        x[r] /= optimum->factor[r * d + r];
    }
}

void optimum_add(struct optimum *optimum, const keepfit_point *point)
{
    const keepfit_row *row = &point->row;
    for (size_t k = 0; k < row->count; k++) {
        size_t r = feature_of(row, k);
        optimum->moment[r] += point->target * row->value[k];
        for (size_t j = 0; j < row->count; j++)
            optimum->gram[r * optimum->dimension + feature_of(row, j)] += row->value[k] * row->value[j];
    }
    optimum->count++;
    factorise(optimum);
    solve(optimum);
}

double optimum_gap(const struct optimum *optimum, const double *x, size_t size)
{
    size_t d = optimum->dimension;
    double gap = 0;
    for (size_t c = 0; c < d; c++) { /* |factor' (x - x*)|^2 */
        double sum = 0;
        for (size_t r = c; r < d; r++)
            sum += optimum->factor[r * d + c] * ((r < size ? x[r] : 0) - optimum->x[r]);
        gap += sum * sum;
    }
    return gap;
}
