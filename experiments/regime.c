/* regime.c - the accuracy that the paper was written for: epsilon = c/n, as large as the error of the statistics.
 *
 * Three streams. The moving instance, where optima move as fast as the theory fears, and the same with targets drawn at random, 1
 * in three of four points, so that the optimum settles: epsilon = 0.01 G^2/(mu n), a hundredth, so that there is work to do at all n.
 * And cod-rna, rows in an order drawn from the seed, columns of mean square 1, lambda 0.1: epsilon = 0.1/n, the loss at 0 being 1. A method that promises
 * nothing gets the smallest budget that meets epsilon (least.h); the theorem's parameters are there, too, with L/mu = 1.1 and epsilon = G^2/(mu n), as well as the
 * methods that hold epsilon by themselves. The paper's constants need a ball; it holds every optimum, so that it changes none, and `auto` runs without it, too: in a
 * ball it has the gradient's bound alone, and a pass whenever that exceeds epsilon, every sqrt(c n) points or so. */
#include "regime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "instance.h"
#include "least.h"
#include "must.h"
#include "ridge_optimum.h"
#include "runs.h"
#include "toolkit/draw.h"
#include "toolkit/exit_code.h"
#include "toolkit/output.h"

#define REAL_LAMBDA 0.1
#define SEEDS 2

static const struct regime_sweep sweeps[] = {
    {MOVING, "csvrg", "method=csvrg setting=paper step=0.33333333333333331/L count=paper", SPARSE, 4.0 / 3, 100000},
    {MOVING, "sgd", "method=sgd setting=theory", STEPS, 2, 2000},
    {MOVING, "svrg", "method=svrg inner=10", EPOCHS, 2, 10000},
    {MOVING, "katyusha", "method=katyusha inner=10", EPOCHS, 2, 10000},
    {MOVING, "table", "method=table", BY_ITSELF, 1, 1000000},
    {MOVING, "auto", "method=auto", BY_ITSELF, 1, 1000000},
    {MOVING, "auto, no ball", "method=auto domain=none", BY_ITSELF, 1, 1000000},
    {NEAR_ONE, "csvrg, theorem's T and alpha", "method=csvrg setting=theory count=paper", BY_ITSELF, 4.0 / 3, 100000},
    {NEAR_ONE, "sgd, theorem's T", "method=sgd setting=theory", BY_ITSELF, 2, 3162},
    {NEAR_ONE, "auto", "method=auto", BY_ITSELF, 1, 1000000},
    {NEAR_ONE, "auto, no ball", "method=auto domain=none", BY_ITSELF, 1, 1000000},
    {SETTLING, "csvrg", "method=csvrg setting=paper step=0.33333333333333331/L count=paper", SPARSE, 4.0 / 3, 100000},
    {SETTLING, "table", "method=table", BY_ITSELF, 1, 1000000},
    {SETTLING, "auto", "method=auto", BY_ITSELF, 1, 1000000},
    {SETTLING, "auto, no ball", "method=auto domain=none", BY_ITSELF, 1, 1000000},
    {REAL, "csvrg", "method=csvrg setting=paper step=0.33333333333333331/L count=paper", SPARSE, 4.0 / 3, 10000},
    {REAL, "sgd", "method=sgd step=capped", STEPS, 2, 1000},
    {REAL, "svrg", "method=svrg inner=50", EPOCHS, 2, 10000},
    {REAL, "katyusha", "method=katyusha inner=50", EPOCHS, 2, 10000},
    {REAL, "table", "method=table", BY_ITSELF, 1, 59535},
    {REAL, "auto", "method=auto", BY_ITSELF, 1, 59535},
};

const struct regime_sweep *regime_entry(size_t k)
{
    return k < sizeof sweeps / sizeof sweeps[0] ? &sweeps[k] : NULL;
}

/* What a unit does. */
struct regime_run {
    const struct regime_sweep *sweep;
    struct data_file file;
    uint64_t n;
};

/* A stream in memory, and what is asked of it. */
struct problem {
    struct unit *unit;
    size_t dimension;
    uint64_t n, settled, seeds;
    double *values, *targets, lambda, epsilon;
    char options[512];
    bool sparse, in_epochs;
};

uint64_t regime_points(const struct regime_sweep *sweep, size_t v, bool quick)
{
    double most = sweep->exponent < 2 || sweep->budget == EPOCHS ? 1000 : 200; /* sgd's steps alone take long */
    double last = quick ? fmin((double)sweep->last, most) : (double)sweep->last;
    return (uint64_t)llround(100 * pow(last / 100, (double)v / (REGIME_VALUES - 1)));
}

static keepfit_point point_of(const struct problem *problem, uint64_t j)
{
    return (keepfit_point){.row = {problem->dimension, NULL, problem->values + j * problem->dimension},
                           .target = problem->targets[j],
                           .weight = 1};
}

static void make_instance(struct problem *problem, const struct regime_sweep *sweep)
{
    struct instance instance = instance_make(sweep->stream == NEAR_ONE ? 1.1 : 4);
    struct source source = {problem->unit->seed};
    problem->dimension = 2;
    problem->lambda = INSTANCE_LAMBDA;
    problem->epsilon = instance_epsilon(&instance, (sweep->stream == NEAR_ONE ? 1 : 0.01) / (double)problem->n);
    problem->values = must_allocate(2 * problem->n * sizeof(double));
    problem->targets = must_allocate(problem->n * sizeof(double));
    for (uint64_t j = 0; j < problem->n; j++) {
        problem->targets[j] = instance_point(&instance, j + 1, 1, problem->values + 2 * j).target;
        if (sweep->stream == SETTLING)
            problem->targets[j] = uniform(&source) < 0.75 ? 1 : -1;
    }
    struct instance_run run = {.instance = &instance, .options = sweep->options};
    instance_options(&run, problem->options, sizeof problem->options);
}

/* The file's first n rows in the seed's order. */
static int read_points(struct problem *problem, const char *path)
{
    enum { features = 8 };
    keepfit_options *options = NULL;
    keepfit_stream *stream = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_point point;
    char text[96];
    uint64_t read = 0;
    snprintf(text, sizeof text, "shuffle=true scale=columns limit=%llu", (unsigned long long)problem->n);
    int code = options_start(text, problem->unit->seed, &options);
    if (code == EXIT_DONE && keepfit_stream_open(path, options, &stream, &error) != KEEPFIT_OK)
        code = fail_status(error.status, message_of(&error).text);
    keepfit_options_free(options);
    if (code != EXIT_DONE)
        return code;
    problem->dimension = features;
    problem->values = must_allocate(features * problem->n * sizeof(double));
    problem->targets = must_allocate(problem->n * sizeof(double));
    for (; read < problem->n && keepfit_stream_next(stream, &point) == KEEPFIT_OK; read++) {
        problem->targets[read] = point.target;
        for (size_t k = 0; k < point.row.count; k++) {
            size_t feature = point.row.index ? point.row.index[k] : k;
            if (feature < features) /* columns of norm 1 have a mean square of 1/n */
                problem->values[read * features + feature] = point.row.value[k] * sqrt((double)problem->n);
        }
    }
    keepfit_stream_close(stream);
    problem->n = read;
    return read >= 100 ? EXIT_DONE : fail(EXIT_DATA, "%s: fewer than 100 points", path);
}

static int make_real(struct problem *problem, const struct regime_run *work)
{
    int code = read_points(problem, work->file.path);
    problem->lambda = REAL_LAMBDA;
    problem->epsilon = 0.1 / (double)problem->n;
    snprintf(problem->options, sizeof problem->options, "loss=squared lambda=%g %s", REAL_LAMBDA, work->sweep->options);
    return code;
}

/* One seed's gaps, added to the sums by stage; false: a mean must exceed epsilon and nothing more needs to be known, or the user stopped. */
static bool follow(struct problem *problem, keepfit_fit *fit, double *sums, bool to_the_end, int *code)
{
    struct optimum optimum;
    bool within = true;
    optimum_start(&optimum, problem->dimension, problem->lambda);
    for (uint64_t j = 0; j < problem->n && within; j++) {
        size_t size = 0;
        keepfit_point point = point_of(problem, j);
        optimum_add(&optimum, &point);
        keepfit_status status = keepfit_fit_push(fit, &point);
        if (status == KEEPFIT_DIVERGED) {
            sums[j] = INFINITY;
            within = false;
        } else if (status != KEEPFIT_OK) {
            *code = fit_failed(problem->unit, fit);
            break;
        }
        const double *x = keepfit_fit_iterate(fit, &size);
        sums[j] += optimum_gap(&optimum, x, size);
        bool judged = j + 1 >= problem->settled;
        within = within && (to_the_end || !judged || sums[j] <= problem->epsilon * (double)problem->seeds);
        if (j % 256 == 255 && !unit_tick(problem->unit, problem->unit->share))
            within = false;
    }
    optimum_free(&optimum);
    return within && *code == EXIT_DONE;
}

/* Mean FOs over the seeds, and the largest mean gap of a judged stage; infinite where the run ended early. */
static int measure(struct problem *problem, const char *options, bool to_the_end, double *fo, double *worst)
{
    double *sums = must_allocate(problem->n * sizeof *sums);
    int code = EXIT_DONE;
    bool whole = true;
    *fo = *worst = 0;
    for (uint64_t s = 0; s < problem->seeds && whole && code == EXIT_DONE; s++) {
        keepfit_fit *fit = NULL;
        keepfit_report report = {.struct_size = sizeof report};
        code = fit_start(options, problem->unit->seed + s, &fit);
        if (code == EXIT_DONE) {
            whole = follow(problem, fit, sums, to_the_end, &code);
            keepfit_fit_report(fit, &report);
            *fo += (double)report.fo / (double)problem->seeds;
        }
        keepfit_fit_free(fit);
    }
    for (uint64_t j = problem->settled; j <= problem->n; j++)
        *worst = fmax(*worst, sums[j - 1] / (double)problem->seeds);
    if (!whole)
        *worst = INFINITY;
    free(sums);
    return code;
}

static int measure_budget(struct search *search, struct budget *budget)
{
    struct problem *problem = search->context;
    char options[640];
    int used = snprintf(options, sizeof options, "%s epsilon=%.17g %s=%.0f", problem->options, problem->epsilon,
                        problem->in_epochs ? "outer" : "inner", budget->inner);
    if (problem->sparse)
        snprintf(options + used, sizeof options - (size_t)used, " alpha=%.17g", budget->alpha);
    return measure(problem, options, false, &budget->fo, &budget->worst);
}

static int measure_by_itself(struct problem *problem, struct budget *budget)
{
    char options[640];
    snprintf(options, sizeof options, "%s epsilon=%.17g", problem->options, problem->epsilon);
    return measure(problem, options, true, &budget->fo, &budget->worst);
}

static int run(struct unit *unit)
{
    const struct regime_run *work = unit->parameters;
    bool by_itself = work->sweep->budget == BY_ITSELF;
    struct problem problem = {.unit = unit,
                              .n = work->n,
                              .seeds = by_itself ? 1 : SEEDS,
                              .sparse = work->sweep->budget == SPARSE,
                              .in_epochs = work->sweep->budget == EPOCHS};
    int code = EXIT_DONE;
    if (work->sweep->stream == REAL)
        code = make_real(&problem, work);
    else
        make_instance(&problem, work->sweep);
    problem.settled = by_itself ? 1 : problem.n / 4;
    struct budget best = {.inner = NAN, .alpha = NAN};
    if (code == EXIT_DONE && by_itself) {
        code = measure_by_itself(&problem, &best);
    } else if (code == EXIT_DONE) {
        /* the theory's alpha is a multiple of the cube root */
        double root = cbrt((double)problem.n), first = problem.sparse ? fmin(0.5, 4 / root) : NAN;
        struct search search = {.unit = unit,
                                .context = &problem,
                                .epsilon = problem.epsilon,
                                .first_alpha = first,
                                .steps_most = problem.sparse ? 64 * root : 65536,
                                .measure = measure_budget};
        best = least_budget(&search);
        code = search.code;
    }
    if (code == EXIT_DONE)
        frame_add(&unit->frame,
                  (double[]){(double)problem.n, problem.epsilon, best.fo, best.worst, best.inner, best.alpha});
    free(problem.values);
    free(problem.targets);
    return code;
}

/* Seconds, roughly. */
static double cost_of(const struct regime_sweep *sweep, double n)
{
    switch (sweep->budget) {
    case SPARSE:
        return 2e-5 * pow(n, 4.0 / 3);
    case STEPS:
        return 1e-6 * n * n;
    case EPOCHS:
        return 3e-7 * n * n;
    default:
        return sweep->exponent > 1 ? 1e-8 * pow(n, 2) : 1e-6 * n;
    }
}

int regime_plan(struct plan *plan)
{
    static const char *const streams[] = {"moving", "near-one", "settling", "real"};
    struct regime_run work = {0};
    int code = data_find(plan->setting->data, "cod-rna", &work.file);
    for (size_t k = 0; regime_entry(k) && code == EXIT_DONE; k++)
        for (size_t v = 0; v < REGIME_VALUES; v++) {
            work.sweep = regime_entry(k);
            work.n = regime_points(work.sweep, v, plan->setting->quick);
            bool real = work.sweep->stream == REAL;
            struct unit *unit = plan_unit(plan, 0, &work, sizeof work);
            snprintf(unit->name, sizeof unit->name, "regime-%s-%.8s-%zu", streams[work.sweep->stream], work.sweep->name,
                     v);
            snprintf(unit->key, sizeof unit->key, "regime %s 0.01 n=%llu seeds=%d seed=%llu %s%s%s",
                     streams[work.sweep->stream], (unsigned long long)work.n, SEEDS, (unsigned long long)unit->seed,
                     work.sweep->options, real ? " sha256=" : "", real ? work.file.checksum : "");
            for (char *mark = unit->name; *mark; mark++)
                *mark = *mark == ',' || *mark == ' ' ? '-' : *mark;
            unit->columns = "n,epsilon,fo,worst,inner,alpha";
            unit->run = run;
            unit->cost = cost_of(work.sweep, (double)work.n);
        }
    return code;
}
