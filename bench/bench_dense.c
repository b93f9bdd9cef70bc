/* Dense routines of src/kernels/dense.h against OpenBLAS with one thread, where that is installed: times, and their ratio.
 *
 *   bench_dense [VECTORS [SIZE ...]]     default: the best of this processor, 50 to 1500 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/dense.h"
#include "kernels/kernels.h"

#define COLUMNS 64
#define SECONDS 0.04 /* a measurement repeats until then, and at least three times */

typedef void potrf(const char *, const int *, double *, const int *, int *);
typedef void potrs(const char *, const int *, const int *, const double *, const int *, double *, const int *, int *);
typedef void syrk(const char *, const char *, const int *, const int *, const double *, const double *, const int *,
                  const double *, double *, const int *);
typedef void symm(const char *, const char *, const int *, const int *, const double *, const double *, const int *,
                  const double *, const int *, const double *, double *, const int *);
typedef void trsv(const char *, const char *, const char *, const int *, const double *, const int *, double *,
                  const int *);
typedef void symv(const char *, const int *, const double *, const double *, const int *, const double *, const int *,
                  const double *, double *, const int *);

/* What routines are tried on: a positive definite matrix, its factor, columns; and room for what comes out. */
struct bench {
    int size;
    double *matrix, *factor, *columns, *out, *work;
    potrf *factorise, *invert;
    potrs *solve;
    syrk *add_squares;
    symm *times_columns;
    trsv *solve_one;
    symv *times;
};

static const int one = 1, columns_count = COLUMNS;
static const double unit = 1, zero = 0;

static size_t square(const struct bench *bench)
{
    return (size_t)bench->size * (size_t)bench->size * sizeof(double);
}

static void copy_matrix(struct bench *bench)
{
    memcpy(bench->work, bench->matrix, square(bench));
}

static void copy_factor(struct bench *bench)
{
    memcpy(bench->work, bench->factor, square(bench));
}

static void copy_column(struct bench *bench)
{
    memcpy(bench->out, bench->columns, (size_t)bench->size * sizeof(double));
}

static void own_factorise(struct bench *bench)
{
    if (!kf_cholesky((size_t)bench->size, bench->work, (size_t)bench->size))
        abort();
}

static void their_factorise(struct bench *bench)
{
    int info;
    bench->factorise("L", &bench->size, bench->work, &bench->size, &info);
}

static void own_invert(struct bench *bench)
{
    kf_cholesky_invert((size_t)bench->size, bench->work, (size_t)bench->size);
}

static void their_invert(struct bench *bench)
{
    int info;
    bench->invert("L", &bench->size, bench->work, &bench->size, &info);
}

static void own_add_squares(struct bench *bench)
{
    size_t size = (size_t)bench->size;
    kf_add_squares(size, COLUMNS, bench->columns, size, bench->work, size);
}

static void their_add_squares(struct bench *bench)
{
    bench->add_squares("L", "N", &bench->size, &columns_count, &unit, bench->columns, &bench->size, &unit, bench->work,
                       &bench->size);
}

static void own_times_columns(struct bench *bench)
{
    size_t size = (size_t)bench->size;
    kf_matrix_times_columns(size, bench->matrix, size, COLUMNS, bench->columns, bench->out);
}

static void their_times_columns(struct bench *bench)
{
    bench->times_columns("L", "L", &bench->size, &columns_count, &unit, bench->matrix, &bench->size, bench->columns,
                         &bench->size, &zero, bench->out, &bench->size);
}

static void own_solve(struct bench *bench)
{
    kf_cholesky_solve((size_t)bench->size, bench->factor, (size_t)bench->size, bench->out);
}

static void their_solve(struct bench *bench)
{
    int info;
    bench->solve("L", &bench->size, &one, bench->factor, &bench->size, bench->out, &bench->size, &info);
}

static void their_solve_one(struct bench *bench)
{
    bench->solve_one("L", "N", "N", &bench->size, bench->factor, &bench->size, bench->out, &one);
    bench->solve_one("L", "T", "N", &bench->size, bench->factor, &bench->size, bench->out, &one);
}

static void own_times(struct bench *bench)
{
    size_t size = (size_t)bench->size;
    kf_symmetric_times(size, bench->matrix, size, bench->columns, bench->out);
}

static void their_times(struct bench *bench)
{
    bench->times("L", &bench->size, &unit, bench->matrix, &bench->size, bench->columns, &one, &zero, bench->out, &one);
}

static const struct {
    const char *name, *fortran;
    void (*prepare)(struct bench *), (*own)(struct bench *), (*theirs)(struct bench *);
} routines[] = {
    {"cholesky", "potrf", copy_matrix, own_factorise, their_factorise},
    {"cholesky_invert", "potri", copy_factor, own_invert, their_invert},
    {"add_squares, 64 columns", "syrk", copy_matrix, own_add_squares, their_add_squares},
    {"matrix_times_columns, 64", "symm", copy_matrix, own_times_columns, their_times_columns},
    {"cholesky_solve", "potrs", copy_column, own_solve, their_solve},
    {"cholesky_solve", "trsv twice", copy_column, own_solve, their_solve_one},
    {"symmetric_times", "symv", copy_column, own_times, their_times},
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The shortest of many runs, in seconds. */
static double shortest(struct bench *bench, void (*prepare)(struct bench *), void (*run)(struct bench *))
{
    double least = INFINITY, begin = now();
    for (int k = 0; k < 3 || now() - begin < SECONDS; k++) {
        prepare(bench);
        double start = now();
        run(bench);
        least = fmin(least, now() - start);
    }
    return least;
}

static double *numbers(size_t count)
{
    static unsigned long state = 1;
    double *made = malloc(count * sizeof *made);
    if (!made)
        abort();
    for (size_t k = 0; k < count; k++) {
        state = state * 6364136223846793005UL + 1442695040888963407UL;
        made[k] = (double)(state >> 33) / 0x1p31 - 0.5;
    }
    return made;
}

static void fill(struct bench *bench, int size)
{
    size_t n = (size_t)size;
    bench->size = size;
    bench->matrix = numbers(n * n);
    bench->factor = numbers(n * n);
    bench->columns = numbers(n * COLUMNS);
    bench->out = numbers(n * COLUMNS);
    bench->work = numbers(n * n);
    for (size_t c = 0; c < n; c++) {
        bench->matrix[c + c * n] = (double)size;
        for (size_t r = c; r < n; r++)
            bench->matrix[c + r * n] = bench->matrix[r + c * n];
    }
    memcpy(bench->factor, bench->matrix, square(bench));
    if (!kf_cholesky(n, bench->factor, n))
        abort();
}

static void drop(struct bench *bench)
{
    double *all[] = {bench->matrix, bench->factor, bench->columns, bench->out, bench->work};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
}

static void compare(struct bench *bench, bool theirs)
{
    for (size_t k = 0; k < sizeof routines / sizeof routines[0]; k++) {
        double own = shortest(bench, routines[k].prepare, routines[k].own);
        printf("%-26s %-10s %5d %11.2f us", routines[k].name, routines[k].fortran, bench->size, 1e6 * own);
        if (theirs) {
            double other = shortest(bench, routines[k].prepare, routines[k].theirs);
            printf(" %11.2f us there  %.2f", 1e6 * other, own / other);
        }
        putchar('\n');
    }
}

static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    if (!found)
        abort();
}

static bool load(struct bench *bench)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    void (*set_threads)(int);
    find(library, "openblas_set_num_threads", &set_threads);
    set_threads(1);
    find(library, "dpotrf_", &bench->factorise);
    find(library, "dpotri_", &bench->invert);
    find(library, "dpotrs_", &bench->solve);
    find(library, "dsyrk_", &bench->add_squares);
    find(library, "dsymm_", &bench->times_columns);
    find(library, "dtrsv_", &bench->solve_one);
    find(library, "dsymv_", &bench->times);
    return true;
}

int main(int count, char **words)
{
    static const int sizes[] = {50, 100, 200, 500, 1000, 1500};
    struct bench bench = {0};
    bool theirs = load(&bench);
    for (size_t k = 0; count > 1 && kf_kernels_entry(k); k++)
        if (strcmp(kf_kernels_entry(k)->name, words[1]) == 0)
            kf_kernels_use(kf_kernels_entry(k));
    printf("%s; %s\n", kf_kernels_best()->name, theirs ? "OpenBLAS with one thread" : "OpenBLAS is not installed");
    for (int k = 2; k < count || (count <= 2 && k - 2 < (int)(sizeof sizes / sizeof sizes[0])); k++) {
        fill(&bench, count > 2 ? atoi(words[k]) : sizes[k - 2]);
        compare(&bench, theirs);
        drop(&bench);
    }
    return 0;
}
