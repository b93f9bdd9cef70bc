#include "kernels/kernels.h"

#include <math.h>

double kf_dot(size_t count, const double *a, const double *b)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    size_t k = 0;
    for (; k + 4 <= count; k += 4) {
        s0 += a[k] * b[k];
        s1 += a[k + 1] * b[k + 1];
        s2 += a[k + 2] * b[k + 2];
        s3 += a[k + 3] * b[k + 3];
    }
    for (; k < count; k++)
        s0 += a[k] * b[k];
    return (s0 + s1) + (s2 + s3);
}

double kf_square(size_t count, const double *a)
{
    return kf_dot(count, a, a);
}

void kf_add(size_t count, double scale, const double *restrict a, double *restrict y)
{
    for (size_t k = 0; k < count; k++)
        y[k] += scale * a[k];
}

void kf_blend(size_t count, double keep, double *restrict y, double scale, const double *restrict a)
{
    for (size_t k = 0; k < count; k++)
        y[k] = keep * y[k] + scale * a[k];
}

void kf_scale(size_t count, double scale, double *y)
{
    for (size_t k = 0; k < count; k++)
        y[k] *= scale;
}

bool kf_all_finite(size_t count, const double *a)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += a[k] * 0; /* 0, or NaN once a value is not finite */
    return sum == 0;
}

static double sparse_dot(const keepfit_row *row, const double *x, size_t slots)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    size_t count = row->count, k = 0;
    while (count > 0 && row->index[count - 1] >= slots)
        count--;
    for (; k + 4 <= count; k += 4) {
        s0 += row->value[k] * x[row->index[k]];
        s1 += row->value[k + 1] * x[row->index[k + 1]];
        s2 += row->value[k + 2] * x[row->index[k + 2]];
        s3 += row->value[k + 3] * x[row->index[k + 3]];
    }
    for (; k < count; k++)
        s0 += row->value[k] * x[row->index[k]];
    return (s0 + s1) + (s2 + s3);
}

void kf_row_scores(const keepfit_row *row, const double *x, size_t slots, size_t outputs, double *score)
{
    if (outputs == 1) {
        score[0] =
            row->index ? sparse_dot(row, x, slots) : kf_dot(row->count < slots ? row->count : slots, row->value, x);
        return;
    }
    for (size_t k = 0; k < outputs; k++)
        score[k] = 0;
    for (size_t e = 0; e < row->count; e++) {
        size_t feature = row->index ? row->index[e] : e;
        if (feature >= slots)
            break;
        kf_add(outputs, row->value[e], x + feature * outputs, score);
    }
}

void kf_row_add(const keepfit_row *row, double scale, const double *factor, size_t outputs, double *y)
{
    if (outputs == 1 && !row->index) {
        kf_add(row->count, scale * factor[0], row->value, y);
    } else if (outputs == 1) {
        double s = scale * factor[0];
        for (size_t e = 0; e < row->count; e++)
            y[row->index[e]] += s * row->value[e];
    } else {
        for (size_t e = 0; e < row->count; e++) {
            size_t feature = row->index ? row->index[e] : e;
            kf_add(outputs, scale * row->value[e], factor, y + feature * outputs);
        }
    }
}

double kf_norm(size_t count, const double *a)
{
    double square = kf_square(count, a);
    if (square > 1e-280 && square < 1e280)
        return sqrt(square);
    double most = 0;
    for (size_t k = 0; k < count; k++)
        most = fmax(most, fabs(a[k]));
    if (!(most > 0) || !isfinite(most))
        return most;
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += a[k] / most * (a[k] / most);
    return most * sqrt(sum);
}
