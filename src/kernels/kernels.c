#include "kernels/kernels.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/implementations.h"

const struct kf_kernels *kf_kernels_entry(size_t k)
{
#if defined(__x86_64__)
    const struct kf_kernels *found[3] = {&kf_kernels_plain};
    size_t count = 1;
    if (__builtin_cpu_supports("avx2"))
        found[count++] = &kf_kernels_avx2;
    if (__builtin_cpu_supports("avx512f"))
        found[count++] = &kf_kernels_avx512;
    return k < count ? found[k] : NULL;
#else
    /* Vectors of two doubles are what NEON has: the plain source compiles to it. */
    return k == 0 ? &kf_kernels_plain : NULL;
#endif
}

/* Chosen at the first use. Threads that choose at the same time choose the same. */
static _Atomic(const struct kf_kernels *) chosen;

/* The last that this processor runs, or the one that the environment names. */
static const struct kf_kernels *choose(void)
{
    const char *name = getenv("KEEPFIT_VECTORS");
    const struct kf_kernels *best = &kf_kernels_plain;
    for (size_t k = 0; kf_kernels_entry(k); k++) {
        best = kf_kernels_entry(k);
        if (name && strcmp(name, best->name) == 0)
            break;
    }
    return best;
}

const struct kf_kernels *kf_kernels_best(void)
{
    const struct kf_kernels *best = atomic_load_explicit(&chosen, memory_order_acquire);
    if (!best) {
        best = choose();
        atomic_store_explicit(&chosen, best, memory_order_release);
    }
    return best;
}

void kf_kernels_use(const struct kf_kernels *kernels)
{
    atomic_store_explicit(&chosen, kernels, memory_order_release);
}

double kf_dot(size_t count, const double *a, const double *b)
{
    return kf_kernels_plain.dot(count, a, b);
}

double kf_square(size_t count, const double *a)
{
    return kf_dot(count, a, a);
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
    /* 0, or NaN once a value is not finite; several, since each waits for the addition before it */
    double sum[4] = {0};
    size_t k = 0;
    for (; k + 4 <= count; k += 4)
        for (size_t j = 0; j < 4; j++)
            sum[j] += a[k + j] * 0;
    for (; k < count; k++)
        sum[0] += a[k] * 0;
    return sum[0] + sum[1] + sum[2] + sum[3] == 0;
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

void kf_pair_scores(const struct kf_kernels *kernels, const keepfit_row *row, const double *pairs, size_t outputs,
                    double *sums)
{
    if (outputs == 1) {
        struct kf_pair pair = kernels->pair_dot(row, pairs);
        sums[0] = pair.first;
        sums[1] = pair.second;
        return;
    }
    for (size_t k = 0; k < 2 * outputs; k++)
        sums[k] = 0;
    for (size_t e = 0; e < row->count; e++) {
        size_t feature = row->index ? row->index[e] : e;
        kernels->add(2 * outputs, row->value[e], pairs + 2 * outputs * feature, sums);
    }
}

void kf_pair_update(const struct kf_kernels *kernels, const keepfit_row *row, double first, double second,
                    const double *factor, size_t outputs, double *scratch, double *pairs)
{
    if (outputs == 1) {
        kernels->pair_add(row, first * factor[0], second * factor[0], pairs);
        return;
    }
    for (size_t k = 0; k < outputs; k++) {
        scratch[2 * k] = first * factor[k];
        scratch[2 * k + 1] = second * factor[k];
    }
    for (size_t e = 0; e < row->count; e++) {
        size_t feature = row->index ? row->index[e] : e;
        kernels->add(2 * outputs, row->value[e], scratch, pairs + 2 * outputs * feature);
    }
}
