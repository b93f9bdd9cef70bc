/* Times of a network's steps and passes on rows like those of MNIST: 784 features, some 150 of them not 0, mostly the same ones.
 *
 *   bench_network UNITS ROWS          lines of CSV: what,units,rows,nanoseconds  (a step of each method; a gradient and a value
 *                                     of a pass, the best of several; processor time of one thread)
 *   bench_network UNITS ROWS METHOD   a step of this method only
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "fit/fit.h"

#define SIDE 28
#define FEATURES (SIDE * SIDE)
#define CLASSES 10
#define ROUNDS 9

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct row {
    size_t count;
    uint32_t index[FEATURES];
    double value[FEATURES];
};

/* Pixels near the middle are set often, those of the rim never. */
static void draw_row(struct kf_random *random, struct row *row)
{
    row->count = 0;
    for (uint32_t f = 0; f < FEATURES; f++) {
        double across = (double)(f % SIDE) - (SIDE - 1) / 2.0, down = (double)f / SIDE - (SIDE - 1) / 2.0;
        double often = 0.8 * exp(-(across * across + down * down) / 68) - 0.01;
        if (kf_random_unit(random) < often) {
            row->index[row->count] = f;
            row->value[row->count++] = 1 - kf_random_unit(random);
        }
    }
}

static void push(keepfit_fit *fit, struct kf_random *random, double weight)
{
    struct row row;
    draw_row(random, &row);
    keepfit_point point = {
        {row.count, row.index, row.value}, (double)kf_random_below(random, CLASSES), weight, weight == 0};
    if (keepfit_fit_push(fit, &point) != KEEPFIT_OK) {
        fprintf(stderr, "%s\n", keepfit_fit_error(fit)->message);
        exit(1);
    }
}

static keepfit_fit *make_fit(const char *units, const char *method, const char *inner)
{
    const char *const settings[][2] = {{"loss", units},  {"method", method}, {"inner", inner},  {"outer", "1"},
                                       {"alpha", "0.9"}, {"lambda", "0"},    {"step", "0.001"}, {"threads", "1"}};
    keepfit_options *options = keepfit_options_create();
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++)
        if (keepfit_options_set(options, settings[k][0], settings[k][1], &error) != KEEPFIT_OK)
            exit(1);
    if (keepfit_fit_create(options, &fit, &error) != KEEPFIT_OK)
        exit(1);
    keepfit_options_free(options);
    return fit;
}

/* Points of weight 0 have no stage; then they are given one. */
static void fill(keepfit_fit *fit, struct kf_random *random, size_t rows)
{
    struct kf_task *task = &fit->task;
    for (size_t j = 0; j < rows; j++)
        push(fit, random, 0);
    for (size_t j = 0; j < rows; j++)
        task->problem.points.place[j].weight = 1;
    task->problem.objective.weight_total = (double)rows;
}

static void print(const char *what, const char *units, size_t rows, double seconds, double times)
{
    printf("%s,%s,%zu,%.0f\n", what, units, rows, 1e9 * seconds / times);
    fflush(stdout);
}

/* The second of two stages, for csvrg's first computes full gradients. The stage's pass, for those that have one, is told apart
 * by a stage of few steps. */
static double stage_seconds(const char *loss, const char *method, const char *inner, size_t rows)
{
    struct kf_random random;
    kf_random_seed(&random, 3);
    keepfit_fit *fit = make_fit(loss, method, inner);
    fill(fit, &random, rows);
    push(fit, &random, 1);
    double start = now();
    push(fit, &random, 1);
    double seconds = now() - start;
    keepfit_fit_free(fit);
    return seconds;
}

int main(int count, char **words)
{
    static const char *const methods[] = {"sgd", "csvrg", "svrg", "saga", "strsaga"};
    const char *units = count > 1 ? words[1] : "1000";
    size_t rows = count > 2 ? strtoul(words[2], NULL, 10) : 3000;
    char loss[32];
    snprintf(loss, sizeof loss, "network:%s", units);
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
        if (count > 3 && strcmp(words[3], methods[k]) != 0)
            continue;
        double few = stage_seconds(loss, methods[k], "1", rows), many = stage_seconds(loss, methods[k], "601", rows);
        print(methods[k], units, rows, many - few, 600);
    }
    if (count > 3)
        return 0;
    struct kf_random random;
    kf_random_seed(&random, 3);
    keepfit_fit *fit = make_fit(loss, "svrg", "1");
    fill(fit, &random, rows);
    push(fit, &random, 1);
    struct kf_task *task = &fit->task;
    double *sum = kf_borrow(task), least[2] = {INFINITY, INFINITY};
    kf_read(task);
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        kf_gradient_sum(&task->problem.objective, task->iterate.x, rows, sum, NULL, task->vectors.factors[0]);
        least[0] = fmin(least[0], now() - start);
        start = now();
        kf_objective_value(&task->problem.objective, task->iterate.x);
        least[1] = fmin(least[1], now() - start);
    }
    print("gradient of a pass", units, rows, least[0], (double)rows);
    print("value of a pass", units, rows, least[1], (double)rows);
    keepfit_fit_free(fit);
    return 0;
}
