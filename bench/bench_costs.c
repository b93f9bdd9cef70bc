/* What the pieces of a stage take, beside what src/problem/costs.h believes of them, as a table in Markdown: bench/costs.md.
 *
 *   bench_costs [all]     without `all` the larger problems are left out
 *
 * Processor time, the least of some repeats: what disturbs only adds. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "fit/fit.h"
#include "iterate/step.h"
#include "kernels/dense.h"
#include "optimum/standing.h"
#include "problem/costs.h"

#define SECONDS 0.05 /* a measurement repeats until then, and at least five times */
#define LEAST 4e-5   /* of one that is to count */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A problem, and what its pieces need. */
struct bench {
    keepfit_fit *fit;
    struct kf_curves curves;
    double *matrix, *factor, *work, *vector, *other, *table;
    size_t size;
};

struct shape {
    const char *loss, *domain;
    size_t features, nnz, outputs, rows;
};

static keepfit_point make_point(const struct shape *shape, struct kf_random *random, double *value, uint32_t *index)
{
    size_t strip = shape->features / shape->nnz;
    for (size_t k = 0; k < shape->nnz; k++) {
        value[k] = kf_random_normal(random) / sqrt((double)shape->nnz);
        index[k] = (uint32_t)(k * strip + kf_random_below(random, strip));
    }
    double label =
        shape->outputs > 1 ? (double)kf_random_below(random, shape->outputs) : (kf_random_below(random, 2) ? 1 : -1);
    return (keepfit_point){{shape->nnz, shape->nnz == shape->features ? NULL : index, value}, label, 1, false};
}

/* The history is filled by a method that does nothing much. */
static keepfit_fit *make_fit(const struct shape *shape)
{
    keepfit_options *options = keepfit_options_create();
    keepfit_fit *fit = NULL;
    struct kf_random random;
    double *value = calloc(shape->nnz, sizeof *value);
    uint32_t *index = calloc(shape->nnz, sizeof *index);
    kf_random_seed(&random, 1);
    const char *settings[][2] = {
        {"loss", shape->loss}, {"domain", shape->domain}, {"lambda", "1e-4"}, {"method", "csvrg"},
        {"inner", "1"},        {"alpha", "0.9"},          {"threads", "1"}};
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++)
        keepfit_options_set(options, settings[k][0], settings[k][1], NULL);
    if (!value || !index || keepfit_fit_create(options, &fit, NULL) != KEEPFIT_OK)
        exit(1);
    for (size_t j = 0; j < shape->rows; j++) {
        keepfit_point point = make_point(shape, &random, value, index);
        if (keepfit_fit_push(fit, &point) != KEEPFIT_OK)
            exit(1);
    }
    free(value);
    free(index);
    keepfit_options_free(options);
    return fit;
}

static size_t points_of(const struct bench *bench)
{
    return bench->fit->task.problem.points.count;
}

/* ---- the pieces: each does its work once ---- */

static void run_pass(struct bench *bench)
{
    struct kf_task *task = &bench->fit->task;
    kf_gradient_sum(&task->problem.objective, kf_read(task), points_of(bench), bench->vector, NULL,
                    task->vectors.factors[0]);
}

static void run_values(struct bench *bench)
{
    struct kf_task *task = &bench->fit->task;
    bench->vector[0] = kf_objective_value(&task->problem.objective, kf_read(task));
}

static void run_steps(struct bench *bench)
{
    struct kf_task *task = &bench->fit->task;
    size_t count = points_of(bench);
    struct kf_estimator estimator = kf_estimate_by_table(count, kf_inverse_weight(&task->problem.objective));
    kf_steps(task, &(struct kf_course){
                       .step = 1e-9, .estimator = estimator, .bound = count, .count = count, .table = bench->table});
}

static void run_hessian(struct bench *bench)
{
    struct kf_task *task = &bench->fit->task;
    memset(bench->matrix, 0, bench->size * bench->size * sizeof(double));
    if (!kf_hessian_add(&bench->curves, task, kf_read(task), NULL, 0, points_of(bench), bench->matrix, bench->size))
        exit(1);
}

static void run_products(struct bench *bench)
{
    struct kf_objective *objective = &bench->fit->task.problem.objective;
    size_t each = objective->outputs * objective->outputs;
    double *scratch = bench->work;
    memset(bench->other, 0, bench->size * sizeof(double));
    for (size_t j = 0; j < points_of(bench); j++)
        objective->type->hessian_product(objective, 1, j, bench->curves.of + j * each, bench->vector, bench->other,
                                         scratch);
}

static void run_copy(struct bench *bench)
{
    memcpy(bench->work, bench->factor, bench->size * bench->size * sizeof(double));
}

static void run_factor(struct bench *bench)
{
    memcpy(bench->work, bench->matrix, bench->size * bench->size * sizeof(double));
    if (!kf_cholesky(bench->size, bench->work, bench->size))
        exit(1);
}

static void run_inverse(struct bench *bench)
{
    run_copy(bench);
    kf_cholesky_invert(bench->size, bench->work, bench->size);
}

static void run_solve(struct bench *bench)
{
    kf_cholesky_solve(bench->size, bench->factor, bench->size, bench->other);
}

static void run_times(struct bench *bench)
{
    kf_symmetric_times(bench->size, bench->matrix, bench->size, bench->vector, bench->other);
}

static void run_columns(struct bench *bench)
{
    kf_matrix_times_columns(bench->size, bench->matrix, bench->size, KF_COLUMNS, bench->curves.columns, bench->work);
}

/* ---- */

/* The clock itself takes some 400 ns: so many runs at once that this does not count. */
static double time_of(struct bench *bench, void (*run)(struct bench *))
{
    double best = INFINITY, begun = now();
    size_t times = 1;
    for (int repeat = 0; repeat < 5 || now() - begun < SECONDS; repeat++) {
        double start = now();
        for (size_t k = 0; k < times; k++)
            run(bench);
        double taken = now() - start;
        best = fmin(best, taken / (double)times);
        times *= taken < LEAST ? 4 : 1;
    }
    return 1e9 * best;
}

static void row(const struct shape *shape, const char *piece, double measured, double believed)
{
    const char *kind = shape->nnz == shape->features ? "full" : "sparse";
    printf("| %s | %s, %s, %s | %zu | %zu | %zu | %.3g | %.3g | %.2f |\n", piece, shape->loss, shape->domain, kind,
           shape->features, shape->nnz, shape->outputs, measured, believed, believed / measured);
    fflush(stdout);
}

static void bench_matrices(struct bench *bench, const struct shape *shape)
{
    double size = (double)bench->size;
    for (size_t k = 0; k < bench->size; k++)
        bench->matrix[k * bench->size + k] += 1;
    memcpy(bench->factor, bench->matrix, bench->size * bench->size * sizeof(double));
    if (!kf_cholesky(bench->size, bench->factor, bench->size))
        exit(1);
    row(shape, "factor", time_of(bench, run_factor), kf_cost_factor(size));
    row(shape, "inverse", time_of(bench, run_inverse) - time_of(bench, run_copy), kf_cost_inverse(size));
    row(shape, "solution", time_of(bench, run_solve), kf_cost_solve(size));
    row(shape, "product", time_of(bench, run_times), kf_cost_product(size));
    row(shape, "product, of many", time_of(bench, run_columns) / KF_COLUMNS, kf_cost_column(size));
}

static void bench_shape(const struct shape *shape)
{
    struct bench bench = {.fit = make_fit(shape)};
    struct kf_task *task = &bench.fit->task;
    const struct kf_problem *problem = &task->problem;
    double points = (double)points_of(&bench);
    size_t size = bench.size = kf_size(problem), columns = KF_COLUMNS * (size + 1);
    bool dense = size <= KF_DENSE_MOST;
    size_t numbers = dense ? size * size : 1;
    bench.matrix = kf_allocate(numbers, sizeof(double));
    bench.factor = kf_allocate(numbers, sizeof(double));
    bench.work = kf_allocate(numbers + columns, sizeof(double));
    bench.vector = kf_allocate(size + 1, sizeof(double));
    bench.other = kf_allocate(size + 1, sizeof(double));
    bench.table = kf_allocate(points_of(&bench) * shape->outputs, sizeof(double));
    row(shape, "gradient", time_of(&bench, run_pass) / points, kf_cost_gradient(problem));
    row(shape, "value", time_of(&bench, run_values) / points, kf_cost_value(problem));
    if (!kf_iterate_prepare(task, KF_NEEDS_DRIFT))
        exit(1);
    row(shape, "step with its gradient", time_of(&bench, run_steps) / points,
        kf_cost_gradient(problem) +
            kf_cost_step(problem, !task->iterate.scaled && !kf_domain_is_whole(&problem->domain)));
    if (dense && kf_domain_is_whole(&problem->domain)) {
        row(shape, "Hessian, a point", time_of(&bench, run_hessian) / points,
            kf_cost_squares(problem, 1) + kf_cost_gradient(problem));
        row(shape, "Hessian times a vector, a point", time_of(&bench, run_products) / points, kf_cost_bend(problem));
        bench_matrices(&bench, shape);
    }
    kf_curves_free(&bench.curves);
    double *all[] = {bench.matrix, bench.factor, bench.work, bench.vector, bench.other, bench.table};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
    keepfit_fit_free(bench.fit);
}

int main(int count, char **words)
{
    static const struct shape shapes[] = {
        {"logistic", "none", 10, 10, 1, 4000},      {"logistic", "none", 50, 50, 1, 4000},
        {"squared", "none", 50, 50, 1, 4000},       {"huber", "none", 50, 50, 1, 4000},
        {"hinge", "none", 50, 50, 1, 4000},         {"logistic", "box:-1:1", 50, 50, 1, 4000},
        {"logistic", "simplex", 50, 50, 1, 4000},   {"logistic", "box:-1:1", 1000, 10, 1, 4000},
        {"logistic", "simplex", 1000, 10, 1, 4000}, {"logistic", "none", 123, 14, 1, 4000},
        {"softmax", "none", 8, 8, 3, 4000},         {"softmax", "none", 64, 64, 10, 1500},
        {"logistic", "none", 50000, 75, 1, 4000},   {"logistic", "none", 384, 384, 1, 2000},
        {"logistic", "none", 768, 768, 1, 2000},    {"softmax", "none", 784, 784, 10, 500},
        {"softmax", "none", 50000, 75, 20, 2000},
    };
    size_t shapes_count = count > 1 && strcmp(words[1], "all") == 0 ? sizeof shapes / sizeof shapes[0] : 13;
    printf("| piece | problem | features | entries | outputs | measured, ns | believed, ns | believed/measured |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < shapes_count; k++)
        bench_shape(&shapes[k]);
    return 0;
}
