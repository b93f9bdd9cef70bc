/* What a pass takes with N ranks:  mpirun -n N bench_team [POINTS [FEATURES [PASSES]]]   prints milliseconds, the least of PASSES, of a pass
 * that remembers no slopes, of one that does, and of all losses; and the memory that the largest rank takes. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/random.h"
#include "fit/fit.h"
#include "mpi/keepfit-mpi.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static keepfit_fit *make_fit(const keepfit_team *team, size_t points, size_t features)
{
    keepfit_options *options = keepfit_options_create();
    keepfit_fit *fit = NULL;
    double *row = calloc(features, sizeof *row);
    struct kf_random random;
    kf_random_seed(&random, 1);
    if (!options || !row || keepfit_options_set(options, "loss", "logistic", NULL) ||
        keepfit_options_set(options, "method", "gd", NULL) || keepfit_options_set(options, "threads", "1", NULL) ||
        keepfit_options_team(options, team->size > 1 ? team : NULL, NULL) || keepfit_fit_create(options, &fit, NULL) ||
        !kf_fit_make_room(fit, features, 1))
        team->fail(team->context, "there is no fit");
    for (size_t j = 0; j < points; j++) {
        for (size_t k = 0; k < features; k++)
            row[k] = kf_random_unit(&random) - 0.5;
        const keepfit_point point = {.row = {.count = features, .value = row}, .target = j % 2 ? 1 : -1, .weight = 1};
        if (!kf_points_append(&fit->task.problem.points, &point, NULL))
            team->fail(team->context, "out of memory");
    }
    keepfit_options_free(options);
    free(row);
    return fit;
}

int main(int count, char **words)
{
    const keepfit_team *team = keepfit_mpi_join(&count, &words);
    size_t points = count > 1 ? (size_t)atol(words[1]) : 1000000, features = count > 2 ? (size_t)atol(words[2]) : 50;
    int passes = count > 3 ? atoi(words[3]) : 15;
    keepfit_fit *fit = make_fit(team, points, features);
    struct kf_objective *objective = &fit->task.problem.objective;
    double *x = calloc(2 * features + points, sizeof *x), least[3] = {1e9, 1e9, 1e9};
    if (!x)
        team->fail(team->context, "out of memory");
    for (int k = 0; k < passes; k++) {
        double begin = now();
        kf_gradient_sum(objective, x, points, x + features, NULL, x + 2 * features);
        double second = now();
        kf_gradient_sum(objective, x, points, x + features, x + 2 * features, x + 2 * features);
        double third = now(), value = kf_objective_value(objective, x), end = now();
        double took[3] = {second - begin, third - second, value < 0 ? 0 : end - third};
        for (int l = 0; l < 3; l++)
            least[l] = took[l] < least[l] ? took[l] : least[l];
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (team->rank == 0)
        printf("%zu ranks, %zu points of %zu features: pass %.2f ms, with slopes %.2f ms, losses %.2f ms; %ld MB\n",
               team->size, points, features, 1e3 * least[0], 1e3 * least[1], 1e3 * least[2], usage.ru_maxrss / 1024);
    free(x);
    keepfit_fit_free(fit);
    return keepfit_mpi_leave(0, NULL);
}
