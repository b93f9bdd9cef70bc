/* Times of the inner parts, one line of CSV a case; results.py puts them together.
 *
 *   bench_step METHOD FEATURES NNZ ROWS STEPS         an inner step against the bare dots and updates over rows drawn the
 *                                                     same way: method,features,nnz,step_ns,bare_ns,single_ns (bare: all
 *                                                     vectors that the step changes; single: x alone)
 *   bench_step METHOD FEATURES NNZ ROWS STEPS quiet   fits only, for counting instructions from outside
 *   bench_step pass FEATURES NNZ ROWS THREADS         a pass of full gradients: pass,features,nnz,threads,seconds
 *   bench_step parse FILE                             reading points, nothing else: parse,rows,bytes,seconds
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/random.h"
#include "fit/fit.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct maker {
    struct kf_random random;
    size_t features, nnz, made;
    double *value;
    uint32_t *index;
};

static keepfit_point make_point(struct maker *maker)
{
    size_t strip = maker->features / maker->nnz;
    for (size_t k = 0; k < maker->nnz; k++) {
        maker->value[k] = kf_random_normal(&maker->random);
        maker->index[k] = (uint32_t)(k * strip + kf_random_below(&maker->random, strip));
    }
    bool dense = maker->nnz == maker->features;
    return (keepfit_point){
        {maker->nnz, dense ? NULL : maker->index, maker->value}, maker->made++ % 2 ? 1 : -1, 1, false};
}

static keepfit_fit *make_fit(const char *method, size_t rows, struct maker *maker)
{
    keepfit_options *options = keepfit_options_create();
    keepfit_fit *fit = NULL;
    static const char *const settings[][2] = {
        {"loss", "logistic"}, {"lambda", "1e-4"}, {"inner", "1"}, {"alpha", "0.9"}};
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++)
        keepfit_options_set(options, settings[k][0], settings[k][1], NULL);
    /* The history is filled by a method that does nothing much; saga would fill its table at every stage. */
    keepfit_options_set(options, "method", strcmp(method, "saga") == 0 ? "csvrg" : method, NULL);
    if (keepfit_fit_create(options, &fit, NULL) != KEEPFIT_OK)
        exit(1);
    for (size_t j = 0; j < rows; j++) {
        keepfit_point point = make_point(maker);
        if (keepfit_fit_push(fit, &point) != KEEPFIT_OK)
            exit(1);
    }
    if (strcmp(method, "saga") == 0) {
        struct kf_running *running = &fit->running[fit->running_count++];
        running->method = kf_method_find("saga");
        running->state = calloc(1, running->method->state_size);
        fit->asked = running->method;
        fit->task.problem.options = fit->options;
        if (!running->state || running->method->create(&fit->task, running->state, NULL) != KEEPFIT_OK)
            exit(1);
    }
    keepfit_options_free(options);
    return fit;
}

/* csvrg reads its number of steps anew at every stage, saga when it was made. */
static void set_inner(keepfit_fit *fit, uint64_t steps)
{
    struct kf_running *running = &fit->running[fit->running_count - 1];
    fit->options->inner = steps;
    if (strcmp(running->method->name, "saga") == 0) {
        running->method->destroy(running->state);
        memset(running->state, 0, running->method->state_size);
        if (running->method->create(&fit->task, running->state, NULL) != KEEPFIT_OK)
            exit(1);
    }
}

static double stage_time(keepfit_fit *fit, struct maker *maker, uint64_t steps)
{
    keepfit_point point = make_point(maker);
    set_inner(fit, steps);
    double start = now();
    keepfit_fit_push(fit, &point);
    return now() - start;
}

/* One dot and one update of x over a row drawn at random; for saga an update of the sum of its table as well, which x takes a part of, for
 * csvrg the newest row, as in its estimator. The rows are drawn and asked for ahead as the methods do it, and the loops are the
 * library's own, and, as in any step, the update is by a multiple that depends on the dot: nothing is left out but the method and
 * the loss. Sparse, x and the sum lie side by side, as in the scaled iterate. */
static double bare_time(keepfit_fit *fit, uint64_t steps, bool newest, bool sum)
{
    const struct kf_points *points = &fit->task.problem.points;
    const struct kf_kernels *kernels = fit->task.problem.objective.kernels;
    size_t size = kf_size(&fit->task.problem);
    double *x = kf_allocate_numbers(2 * size + 64), *m = x + (size + 7) / 8 * 8, sink = 0;
    double start = now();
    kf_sampler_start(&fit->task, points->count, steps, NULL);
    for (uint64_t t = 0; t < steps && x; t++) {
        size_t drawn = kf_sampler_next(&fit->task);
        for (int k = 0; k <= newest; k++) {
            keepfit_row row = kf_points_row(points, k ? points->count - 1 : drawn);
            double z;
            if (row.index && sum) {
                struct kf_pair sums = kernels->pair_dot(&row, x);
                z = sums.first + 1e-9 * sums.second;
                kernels->pair_add(&row, 1e-9 - 1e-9 * z, 1e-9 * z, x);
            } else if (row.index) {
                kf_row_scores(&row, x, size, 1, &z);
                double factor = 1e-9 - 1e-9 * z;
                kf_row_add(&row, 1, &factor, 1, x);
            } else {
                z = kernels->dot(row.count, row.value, x);
                if (sum)
                    kernels->advance(size, 0.999, 1e-9, row.value, 1e-9 - 1e-9 * z, 1e-9 * z, x, m);
                else
                    kernels->add(row.count, 1e-9 - 1e-9 * z, row.value, x);
            }
            sink += z;
        }
    }
    double time = now() - start;
    free(x);
    return sink == 12345 ? 0 : time;
}

static int bench_pass(keepfit_fit *fit, size_t features, size_t nnz, size_t threads)
{
    struct kf_task *task = &fit->task;
    double best = 1e30;
    task->problem.objective.threads = threads;
    for (int repeat = 0; repeat < 7; repeat++) {
        double start = now();
        kf_gradient_sum(&task->problem.objective, kf_read(task), task->problem.points.count, kf_borrow(task), NULL,
                        task->vectors.factors[0]);
        double time = now() - start;
        best = time < best ? time : best;
    }
    printf("pass,%zu,%zu,%zu,%.6g\n", features, nnz, threads, best);
    return 0;
}

static int bench_parse(const char *path)
{
    keepfit_options *options = keepfit_options_create();
    keepfit_stream *stream = NULL;
    keepfit_point point;
    keepfit_stream_info info = {.struct_size = sizeof info};
    unsigned long long rows = 0;
    keepfit_options_set(options, "threads", "1", NULL);
    double start = now();
    if (keepfit_stream_open(path, options, &stream, NULL) != KEEPFIT_OK)
        return 1;
    while (keepfit_stream_next(stream, &point) == KEEPFIT_OK)
        rows++;
    double time = now() - start;
    keepfit_stream_describe(stream, &info);
    printf("parse,%llu,%llu,%.6g\n", rows, (unsigned long long)info.bytes_read, time);
    keepfit_stream_close(stream);
    keepfit_options_free(options);
    return 0;
}

int main(int count, char **words)
{
    if (count == 3 && strcmp(words[1], "parse") == 0)
        return bench_parse(words[2]);
    if (count < 6)
        return 2;
    struct maker maker = {.features = strtoull(words[2], NULL, 10), .nnz = strtoull(words[3], NULL, 10)};
    size_t rows = strtoull(words[4], NULL, 10);
    uint64_t steps = strtoull(words[5], NULL, 10);
    maker.value = calloc(maker.nnz, sizeof *maker.value);
    maker.index = calloc(maker.nnz, sizeof *maker.index);
    if (!maker.value || !maker.index)
        return 1;
    kf_random_seed(&maker.random, 1);
    bool pass = strcmp(words[1], "pass") == 0;
    keepfit_fit *fit = make_fit(pass ? "csvrg" : words[1], rows, &maker);
    if (pass) {
        bench_pass(fit, maker.features, maker.nnz, (size_t)steps);
    } else if (count > 6) {
        stage_time(fit, &maker, steps);
    } else {
        double step = 1e30, bare = 1e30, single = 1e30;
        bool newest = strcmp(words[1], "csvrg") == 0;
        for (int repeat = 0; repeat < 5; repeat++) { /* the fastest of each: what disturbs only adds */
            double few = stage_time(fit, &maker, steps / 10), many = stage_time(fit, &maker, steps);
            double own = (many - few) / (0.9 * (double)steps);
            double all = bare_time(fit, steps, newest, !newest) / (double)steps;
            double alone = bare_time(fit, steps, newest, false) / (double)steps;
            single = alone < single ? alone : single;
            step = own < step ? own : step;
            bare = all < bare ? all : bare;
        }
        printf("%s,%zu,%zu,%.1f,%.1f,%.1f\n", words[1], maker.features, maker.nnz, 1e9 * step, 1e9 * bare,
               1e9 * single);
    }
    keepfit_fit_free(fit);
    free(maker.value);
    free(maker.index);
    return 0;
}
