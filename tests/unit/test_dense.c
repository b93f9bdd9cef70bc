/* The dense routines against sums in long double, within the error bounds of the textbook; and the same bits from all implementations that
 * this processor runs. */
#include <float.h>
#include <string.h>

#include "kernels/dense.h"
#include "kernels/kernels.h"
#include "support.h"

#define SIZE_MOST 300
#define COLUMNS_MOST 70
#define OUTPUT_MOST (SIZE_MOST * (SIZE_MOST + 9))

/* A positive definite matrix, with NaN where nothing may be read, its factor, and columns. */
struct sample {
    size_t size, stride, count;
    double *matrix, *factor, *columns;
};

struct routine {
    const char *name;
    /* Fills `out` with the result, and returns how many numbers these are. */
    size_t (*run)(const struct sample *sample, double *out);
    /* The largest share of the allowed error that a number of the result has. */
    double (*error)(const struct sample *sample, const double *out);
};

static double drawn(void)
{
    static uint64_t state = 88172645463325252U;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-52 - 1;
}

static double *room(size_t count)
{
    double *made = calloc(count + 1, sizeof *made);
    TAP_NEED(made);
    return made;
}

static struct sample sample_make(size_t size, size_t stride, size_t count)
{
    struct sample sample = {size, stride, count, room(size * stride), room(size * stride), room(size * count)};
    for (size_t k = 0; k < size * count; k++)
        sample.columns[k] = drawn();
    for (size_t k = 0; k < size * stride; k++)
        sample.matrix[k] = NAN;
    for (size_t c = 0; c < size; c++)
        for (size_t r = c; r < size; r++)
            sample.matrix[r + c * stride] = r == c ? 1 + 2 * sqrt((double)size) : drawn();
    memcpy(sample.factor, sample.matrix, size * stride * sizeof(double));
    TAP_NEED(kf_cholesky(size, sample.factor, stride));
    return sample;
}

static void sample_free(struct sample *sample)
{
    free(sample->matrix);
    free(sample->factor);
    free(sample->columns);
}

static double entry(const struct sample *sample, const double *matrix, size_t r, size_t c)
{
    return matrix[r > c ? r + c * sample->stride : c + r * sample->stride];
}

static double gamma_of(size_t operations)
{
    double u = (double)operations * DBL_EPSILON / 2;
    return u / (1 - u);
}

/* |found - sum| as a share of gamma |terms|. */
static double share(double found, long double sum, long double terms, size_t operations)
{
    double allowed = gamma_of(operations) * (double)terms, off = fabs((double)(found - sum));
    return off == 0 ? 0 : isnan(off) ? INFINITY : off / allowed;
}

static size_t run_cholesky(const struct sample *sample, double *out)
{
    memcpy(out, sample->matrix, sample->size * sample->stride * sizeof *out);
    TAP_NEED(kf_cholesky(sample->size, out, sample->stride));
    return sample->size * sample->stride;
}

/* |L L' - A| <= gamma_(n+1) |L||L'| */
static double error_cholesky(const struct sample *sample, const double *out)
{
    double most = 0;
    for (size_t c = 0; c < sample->size; c++)
        for (size_t r = c; r < sample->size; r++) {
            long double sum = 0, terms = 0;
            for (size_t k = 0; k <= c; k++) {
                long double product = (long double)out[r + k * sample->stride] * out[c + k * sample->stride];
                sum += product;
                terms += fabsl(product);
            }
            most = fmax(most, share(entry(sample, sample->matrix, r, c), sum, terms, sample->size + 1));
        }
    return most;
}

static size_t run_solve(const struct sample *sample, double *out)
{
    memcpy(out, sample->columns, sample->size * sizeof *out);
    kf_cholesky_solve(sample->size, sample->factor, sample->stride, out);
    return sample->size;
}

/* |L (L' x) - b| <= gamma_(2n+4) |L||L'||x| */
static double error_solve(const struct sample *sample, const double *out)
{
    size_t size = sample->size;
    long double *bent = calloc(2 * size, sizeof *bent), *terms = bent + size;
    TAP_NEED(bent);
    double most = 0;
    for (size_t c = 0; c < size; c++)
        for (size_t r = c; r < size; r++) {
            bent[c] += (long double)sample->factor[r + c * sample->stride] * out[r];
            terms[c] += fabsl((long double)sample->factor[r + c * sample->stride] * out[r]);
        }
    for (size_t r = 0; r < size; r++) {
        long double sum = 0, all = 0;
        for (size_t c = 0; c <= r; c++) {
            sum += sample->factor[r + c * sample->stride] * bent[c];
            all += fabs(sample->factor[r + c * sample->stride]) * terms[c];
        }
        most = fmax(most, share(sample->columns[r], sum, all, 2 * size + 4));
    }
    free(bent);
    return most;
}

/* The rows between the columns are not its own. */
static size_t run_invert(const struct sample *sample, double *out)
{
    memcpy(out, sample->factor, sample->size * sample->stride * sizeof *out);
    kf_cholesky_invert(sample->size, out, sample->stride);
    return sample->size * sample->stride;
}

/* A X - I, for matrices that are well conditioned; and X is symmetric, bit by bit. */
static double error_invert(const struct sample *sample, const double *out)
{
    double most = 0;
    for (size_t c = 0; c < sample->size; c++)
        for (size_t r = 0; r < sample->size; r++) {
            long double sum = 0, terms = 1;
            for (size_t k = 0; k < sample->size; k++) {
                long double product = (long double)entry(sample, sample->matrix, r, k) * out[k + c * sample->stride];
                sum += product;
                terms += fabsl(product);
            }
            most = fmax(most, share(r == c, sum, 10 * terms, sample->size + 10));
            if (out[r + c * sample->stride] != out[c + r * sample->stride])
                return INFINITY;
        }
    return most;
}

static size_t run_squares(const struct sample *sample, double *out)
{
    memcpy(out, sample->matrix, sample->size * sample->stride * sizeof *out);
    kf_add_squares(sample->size, sample->count, sample->columns, sample->size, out, sample->stride);
    return sample->size * sample->stride;
}

static double error_squares(const struct sample *sample, const double *out)
{
    double most = 0;
    for (size_t c = 0; c < sample->size; c++)
        for (size_t r = c; r < sample->size; r++) {
            long double sum = entry(sample, sample->matrix, r, c), terms = fabsl(sum);
            for (size_t k = 0; k < sample->count; k++) {
                long double product =
                    (long double)sample->columns[r + k * sample->size] * sample->columns[c + k * sample->size];
                sum += product;
                terms += fabsl(product);
            }
            most = fmax(most, share(out[r + c * sample->stride], sum, terms, sample->count + 1));
        }
    return most;
}

static double error_product(const struct sample *sample, const double *v, const double *out)
{
    double most = 0;
    for (size_t r = 0; r < sample->size; r++) {
        long double sum = 0, terms = 0;
        for (size_t c = 0; c < sample->size; c++) {
            long double product = (long double)entry(sample, sample->matrix, r, c) * v[c];
            sum += product;
            terms += fabsl(product);
        }
        most = fmax(most, share(out[r], sum, terms, sample->size));
    }
    return most;
}

static size_t run_times(const struct sample *sample, double *out)
{
    kf_symmetric_times(sample->size, sample->matrix, sample->stride, sample->columns, out);
    return sample->size;
}

static double error_times(const struct sample *sample, const double *out)
{
    return error_product(sample, sample->columns, out);
}

static size_t run_columns(const struct sample *sample, double *out)
{
    size_t size = sample->size;
    double *both = room(size * sample->stride);
    for (size_t c = 0; c < size; c++)
        for (size_t r = 0; r < size; r++)
            both[r + c * sample->stride] = entry(sample, sample->matrix, r, c);
    kf_matrix_times_columns(size, both, sample->stride, sample->count, sample->columns, out);
    free(both);
    return size * sample->count;
}

static double error_columns(const struct sample *sample, const double *out)
{
    double most = 0;
    for (size_t k = 0; k < sample->count; k++)
        most = fmax(most, error_product(sample, sample->columns + k * sample->size, out + k * sample->size));
    return most;
}

static const struct routine routines[] = {
    {"cholesky", run_cholesky, error_cholesky},    {"cholesky_solve", run_solve, error_solve},
    {"cholesky_invert", run_invert, error_invert}, {"add_squares", run_squares, error_squares},
    {"symmetric_times", run_times, error_times},   {"matrix_times_columns", run_columns, error_columns},
};

/* What a routine that works in place may not write: the upper triangle, and the rows between the columns. */
static bool is_left_alone(const struct sample *sample, const double *out, bool triangle)
{
    for (size_t c = 0; c < sample->size; c++)
        for (size_t r = 0; r < sample->stride; r++)
            if (((triangle && r < c) || r >= sample->size) && !isnan(out[r + c * sample->stride]))
                return false;
    return true;
}

/* Sizes, strides and columns where pieces, groups and strips are full, or not. */
static const size_t shapes[][3] = {{127, 131, 65}, {128, 128, 64}, {130, 137, 7}, {191, 192, 1},
                                   {200, 209, 33}, {257, 259, 70}, {300, 301, 64}};

static struct sample shape(size_t k)
{
    const size_t small = 70;
    if (k < small)
        return sample_make(k + 1, k + 1 + k % 4, 1 + k * 7 % COLUMNS_MOST);
    return sample_make(shapes[k - small][0], shapes[k - small][1], shapes[k - small][2]);
}

#define SHAPES (70 + sizeof shapes / sizeof shapes[0])

static void test_routine(struct tap *tap, const struct routine *routine)
{
    double *out = room(OUTPUT_MOST), *other = room(OUTPUT_MOST), most = 0;
    bool same = true, alone = true, whole = routine->run == run_invert;
    bool in_place = whole || routine->run == run_cholesky || routine->run == run_squares;
    size_t implementations = 0;
    for (size_t k = 0; k < SHAPES; k++) {
        struct sample sample = shape(k);
        kf_kernels_use(kf_kernels_entry(0));
        size_t count = routine->run(&sample, out);
        most = fmax(most, routine->error(&sample, out));
        alone &= !in_place || is_left_alone(&sample, out, !whole);
        for (size_t j = 1; kf_kernels_entry(j); j++) {
            implementations = j;
            kf_kernels_use(kf_kernels_entry(j));
            same &= routine->run(&sample, other) == count;
            for (size_t at = 0; at < count; at++) /* of what is not a number, all bits are alike */
                same &= memcmp(out + at, other + at, sizeof *out) == 0 || (isnan(out[at]) && isnan(other[at]));
        }
        sample_free(&sample);
    }
    kf_kernels_use(NULL);
    tap_check(tap, most <= coarseness(), "%s: at most %.2g of the error that the textbook allows", routine->name, most);
    tap_check(tap, same, "%s: %zu other implementations give the bits of the plain one", routine->name,
              implementations);
    if (in_place)
        tap_check(tap, alone, "%s: nothing is written that is not the result", routine->name);
    free(out);
    free(other);
}

/* Where the matrix is not positive definite from column `at` on, or not finite, there is no factor. */
static bool is_refused(size_t size, size_t at, double pivot)
{
    struct sample sample = sample_make(size, size + 1, 1);
    sample.matrix[at + at * sample.stride] = pivot;
    bool refused = !kf_cholesky(size, sample.matrix, sample.stride);
    sample_free(&sample);
    return refused;
}

static void test_refusal(struct tap *tap)
{
    static const double pivots[] = {0, -1, -0.0, NAN, INFINITY, -INFINITY};
    for (size_t j = 0; kf_kernels_entry(j); j++) {
        bool refused = true;
        kf_kernels_use(kf_kernels_entry(j));
        for (size_t k = 0; k < sizeof pivots / sizeof pivots[0]; k++)
            for (size_t at = 0; at < 100; at += 9)
                refused &= is_refused(100, at, pivots[k]);
        tap_check(tap, refused, "%s: what is not positive definite, or not finite, has no factor",
                  kf_kernels_entry(j)->name);
    }
    kf_kernels_use(NULL);
}

/* Zeros of either sign: whichever way a number goes through, it keeps its sign. */
static void test_zeros(struct tap *tap)
{
    bool same = true;
    for (size_t size = 1; size <= 70; size++) {
        double *first = room(size * size), *next = room(size * size), *columns = room(size * 3);
        for (size_t j = 0; kf_kernels_entry(j); j++) {
            double *sum = j ? next : first;
            for (size_t k = 0; k < size * size; k++)
                sum[k] = k % 3 ? -0.0 : 0.0;
            for (size_t k = 0; k < size * 3; k++)
                columns[k] = k % 2 ? -0.0 : 0.0;
            kf_kernels_use(kf_kernels_entry(j));
            kf_add_squares(size, 3, columns, size, sum, size);
            for (size_t k = 0; k < size; k++)
                sum[k * size + k] = k % 5 + 1;
            same &= kf_cholesky(size, sum, size) && (j == 0 || memcmp(first, next, size * size * sizeof *sum) == 0);
        }
        free(first);
        free(next);
        free(columns);
    }
    kf_kernels_use(NULL);
    tap_check(tap, same, "zeros have the same signs from all implementations");
}

int main(void)
{
    struct tap tap = {0};
    for (size_t k = 0; k < sizeof routines / sizeof routines[0]; k++)
        test_routine(&tap, &routines[k]);
    test_refusal(&tap);
    test_zeros(&tap);
    return tap_end(&tap);
}
