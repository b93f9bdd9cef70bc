/* Speed, as ratios measured in one run: machines are noisy, ratios less so.
 *
 *   step      time of an inner step against the bare arithmetic it cannot do without: the dots and updates over the same
 *             randomly drawn rows
 *   dimension the same step at ten times the dimension, same non-zeros
 *   parse     reading LIBSVM text against copying the same bytes */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "fit/fit.h"
#include "kernels/kernels.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A fit holding `rows` random rows, made with as little fitting as possible. */
static keepfit_fit *make_fit(const char *method, size_t rows, size_t features, size_t nnz)
{
    keepfit_options *options = keepfit_options_create();
    keepfit_fit *fit = NULL;
    struct kf_random random;
    double *value = calloc(nnz, sizeof *value);
    uint32_t *index = calloc(nnz, sizeof *index);
    keepfit_options_set(options, "loss", "logistic", NULL);
    keepfit_options_set(options, "method", method, NULL);
    keepfit_options_set(options, "inner", "1", NULL);
    keepfit_options_set(options, "alpha", "0.5", NULL);
    if (!value || !index || keepfit_fit_create(options, &fit, NULL) != KEEPFIT_OK)
        exit(1);
    kf_random_seed(&random, 1);
    for (size_t j = 0; j < rows; j++) {
        for (size_t k = 0; k < nnz; k++) {
            value[k] = kf_random_normal(&random);
            index[k] = (uint32_t)(k * features / nnz + kf_random_below(&random, features / nnz));
        }
        keepfit_point point = {{nnz, nnz == features ? NULL : index, value}, j % 2 ? 1 : -1, 1};
        keepfit_fit_push(fit, &point);
    }
    keepfit_options_free(options);
    free(value);
    free(index);
    return fit;
}

/* Nanoseconds of an inner step: stages of many steps, less stages of few. */
static double step_time(keepfit_fit *fit, size_t steps)
{
    double value[2] = {1, 1};
    keepfit_point point = {{2, NULL, value}, 1, 1};
    double best = 1e30;
    for (int repeat = 0; repeat < 3; repeat++) {
        double time[2];
        for (int many = 0; many < 2; many++) {
            fit->options->inner = many ? steps : 1;
            double start = now();
            keepfit_fit_push(fit, &point);
            time[many] = now() - start;
        }
        best = (time[1] - time[0]) / (double)steps < best ? (time[1] - time[0]) / (double)steps : best;
    }
    return 1e9 * best;
}

/* Nanoseconds of `dots` dots and as many updates over randomly drawn rows. */
static double bare_time(const keepfit_fit *fit, size_t rounds, int dots)
{
    const struct kf_points *points = &fit->problem.points;
    size_t size = kf_size(&fit->problem);
    double *x = calloc(size, sizeof *x), sink = 0;
    struct kf_random random;
    kf_random_seed(&random, 2);
    double start = now();
    for (size_t round = 0; round < rounds && x; round++) {
        keepfit_row row = kf_points_row(points, kf_random_below(&random, points->count));
        for (int k = 0; k < dots; k++) {
            double z, factor = 1e-9;
            kf_row_scores(&row, x, size, 1, &z);
            kf_row_add(&row, z + 1e-9, &factor, 1, x);
            sink += z;
        }
    }
    double time = now() - start;
    free(x);
    return sink == 12345 ? 0 : 1e9 * time / (double)rounds;
}

static void bench_step(const char *name, size_t rows, size_t features, size_t nnz, size_t steps)
{
    keepfit_fit *fit = make_fit("csvrg", rows, features, nnz);
    double bare = bare_time(fit, steps, 3), step = step_time(fit, steps);
    printf("%-36s %10.0f ns   bare %8.0f ns   ratio %.2f\n", name, step, bare, step / bare);
    keepfit_fit_free(fit);
}

static void bench_parse(void)
{
    char path[] = "/tmp/keepfit-bench-XXXXXX", line[4096];
    int descriptor = mkstemp(path);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    struct kf_random random;
    kf_random_seed(&random, 5);
    size_t bytes = 0;
    while (file && bytes < 40000000) {
        size_t used = (size_t)snprintf(line, sizeof line, "%d", kf_random_below(&random, 2) ? 1 : -1);
        for (int k = 1; k <= 50; k++)
            used += (size_t)snprintf(line + used, sizeof line - used, " %d:%.6g", k, kf_random_normal(&random));
        line[used++] = '\n';
        bytes += fwrite(line, 1, used, file);
    }
    if (!file || fclose(file) != 0)
        return;
    keepfit_options *options = keepfit_options_create();
    keepfit_stream *stream = NULL;
    keepfit_point point;
    double start = now();
    size_t rows = 0;
    if (keepfit_stream_open(path, options, &stream, NULL) == KEEPFIT_OK)
        while (keepfit_stream_next(stream, &point) == KEEPFIT_OK)
            rows++;
    double parse = now() - start;
    keepfit_stream_close(stream);
    keepfit_options_free(options);
    char *copy = malloc(bytes);
    start = now();
    file = fopen(path, "r");
    size_t got = copy && file ? fread(copy, 1, bytes, file) : 0;
    double plain = now() - start;
    if (file)
        fclose(file);
    free(copy);
    unlink(path);
    printf("%-36s %10.0f MB/s copied %8.0f MB/s   ratio %.2f (%zu rows)\n", "LIBSVM text", (double)bytes / parse / 1e6,
           (double)got / plain / 1e6, parse / plain, rows);
}

int main(void)
{
    printf("a csvrg step (three gradients) against the bare dots and updates over the same rows\n");
    bench_step("dense, 50 features", 20000, 50, 50, 200000);
    bench_step("sparse, 75 of 5,000 features", 20000, 5000, 75, 20000);
    bench_step("sparse, 75 of 50,000 features", 20000, 50000, 75, 4000);
    bench_parse();
    return 0;
}
