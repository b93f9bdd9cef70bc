/* theorems.c - CSVRG once more, written from the paper's algorithms 1 and 2 without the library, so that one can look inside a
 * stage: the estimator's mean and variance by enumeration of u, distances to the exact optima. The library runs beside it on the
 * same points with the same parameters. */
#include "theorems.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/exit_code.h"
#include "instance.h"
#include "must.h"
#include "ridge_optimum.h"
#include "toolkit/draw.h"
#include "runs.h"

static const char columns[] =
    "stage,gap,start,bias,variance,path,distance,anchor,full,fo,library_fo,library_gap,next,later,one_step,sharp";

const struct theorems_case theorems_cases[THEOREMS_CASES] = {{"near", 1.1, 0.05, 300}, {"four", 4, 0.05, 2000}};

uint64_t theorems_points(const struct setting *setting)
{
    return setting->quick ? 200 : 1000;
}

size_t theorems_seeds(const struct setting *setting)
{
    return setting->quick ? 5 : 20;
}

struct plane {
    double at[2];
};

/* Everything a stage reads and leaves behind. */
struct plain {
    const struct theorems_case *parameters;
    struct instance instance;
    keepfit_point *points;
    double (*rows)[2];
    struct plane *optima, *outputs;  /* x*_i and x_i, [i-1] */
    const struct optimum *optimum;   /* of this stage */
    struct plane x, anchor, tracked; /* x_{i-1}, x_prev, D */
    uint64_t previous, fo;
    struct source source;
};

static struct plane gradient(const struct plain *plain, uint64_t j, struct plane x)
{
    const double *a = plain->rows[j - 1];
    double slope = 2 * (a[0] * x.at[0] + a[1] * x.at[1] - plain->points[j - 1].target);
    return (struct plane){{slope * a[0] + 2 * INSTANCE_LAMBDA * x.at[0], slope * a[1] + 2 * INSTANCE_LAMBDA * x.at[1]}};
}

/* left + share * right */
static struct plane add(struct plane left, double share, struct plane right)
{
    return (struct plane){{left.at[0] + share * right.at[0], left.at[1] + share * right.at[1]}};
}

static double square_distance(struct plane left, struct plane right)
{
    struct plane off = add(left, -1, right);
    return off.at[0] * off.at[0] + off.at[1] * off.at[1];
}

static struct plane project(struct plane x)
{
    double norm = sqrt(square_distance(x, (struct plane){{0, 0}})), radius = INSTANCE_DIAMETER / 2;
    return norm > radius ? add((struct plane){{0, 0}}, radius / norm, x) : x;
}

static struct plane mean_gradient(const struct plain *plain, uint64_t count, struct plane x)
{
    struct plane sum = {{0, 0}};
    for (uint64_t j = 1; j <= count; j++)
        sum = add(sum, 1 / (double)count, gradient(plain, j, x));
    return sum;
}

static struct plane estimate(const struct plain *plain, uint64_t i, uint64_t u, struct plane x)
{
    double share = 1 / (double)i;
    struct plane inner = add(add(gradient(plain, u, x), -1, gradient(plain, u, plain->anchor)), 1, plain->tracked);
    return add(add((struct plane){{0, 0}}, 1 - share, inner), share, gradient(plain, i, x));
}

/* Mean and variance of the estimator at x, by enumeration, into the row. */
static void look_at_estimator(const struct plain *plain, uint64_t i, struct plane x, double *row)
{
    struct plane exact = mean_gradient(plain, i, x), mean = {{0, 0}};
    double variance = 0, smoothness = plain->instance.smoothness;
    for (uint64_t u = 1; u < i; u++) {
        struct plane e = estimate(plain, i, u, x);
        mean = add(mean, 1 / (double)(i - 1), e);
        variance += square_distance(e, exact) / (double)(i - 1);
    }
    row[THEOREMS_BIAS] = sqrt(square_distance(mean, exact));
    row[THEOREMS_VARIANCE] = variance;
    row[THEOREMS_DISTANCE] = square_distance(x, plain->optima[i - 1]);
    row[THEOREMS_PATH] =
        8 * smoothness * smoothness * (row[THEOREMS_DISTANCE] + square_distance(plain->optima[i - 1], plain->anchor));
    row[THEOREMS_ANCHOR] = square_distance(plain->anchor, plain->optima[plain->previous - 1]);
}

/* One projected step from x (lemmas 9 and 10): both sides of the bounds are means over u. */
static void look_at_step(const struct plain *plain, uint64_t i, struct plane x, double step, double *row)
{
    struct plane exact = mean_gradient(plain, i, x), best = plain->optima[i - 1];
    double gap = 0, variance = 0, after = 0, share = 1 / (double)(i - 1);
    for (uint64_t u = 1; u < i; u++) {
        struct plane e = estimate(plain, i, u, x), next = project(add(x, -step, e));
        gap += share * optimum_gap(plain->optimum, next.at, 2);
        variance += share * square_distance(e, exact);
        after += share * square_distance(best, next);
    }
    double distances = ((1 - plain->instance.convexity * step) * square_distance(best, x) - after) / (2 * step);
    row[THEOREMS_STEP] = gap / (9.0 / 16 * step * variance + distances);
    row[THEOREMS_SHARP] = gap / (step / (2 * (1 - step * plain->instance.smoothness)) * variance + distances);
}

/* Algorithm 2, from plain->x; the row gets a look at one of its steps. */
static void frequent_update(struct plain *plain, uint64_t i, double *row)
{
    uint64_t steps = plain->parameters->inner, looked = i * 7919 % steps;
    double condition = plain->instance.smoothness / plain->instance.convexity, beta = 72 * condition * condition;
    double weights = 0;
    struct plane x = plain->x, output = {{0, 0}};
    for (uint64_t t = 0; t < steps; t++) {
        double step = 4 / (plain->instance.convexity * ((double)t + beta)), weight = (double)t + beta - 1;
        if (t == looked) {
            look_at_estimator(plain, i, x, row);
            look_at_step(plain, i, x, step, row);
        }
        uint64_t u = 1 + draw(&plain->source) % (i - 1);
        x = project(add(x, -step, estimate(plain, i, u, x)));
        weights += weight;
        output = add(output, weight / weights, add(x, -1, output)); /* the weighted mean so far */
    }
    plain->x = output;
    plain->fo += 3 * steps;
}

static void move_anchor(struct plain *plain, uint64_t count)
{
    plain->tracked = mean_gradient(plain, count, plain->x);
    plain->anchor = plain->x;
    plain->previous = count;
    plain->fo += count;
}

/* Algorithm 1, stage i >= 2. */
static void do_stage(struct plain *plain, uint64_t i, double *row)
{
    bool update = (double)(i - plain->previous) >= plain->parameters->alpha * (double)i;
    row[THEOREMS_START] = square_distance(plain->x, plain->optima[i - 1]);
    row[THEOREMS_FULL] = update;
    if (update)
        move_anchor(plain, i - 1);
    frequent_update(plain, i, row);
    if (update) {
        move_anchor(plain, i);
    } else {
        struct plane newest = gradient(plain, i, plain->anchor);
        plain->tracked = add(plain->tracked, 1 / (double)i, add(newest, -1, plain->tracked));
        plain->fo++;
    }
}

static void first_stage(struct plain *plain)
{
    for (int t = 0; t < 1000; t++)
        plain->x = project(add(plain->x, -1 / plain->instance.smoothness, gradient(plain, 1, plain->x)));
    plain->tracked = gradient(plain, 1, plain->x);
    plain->anchor = plain->x;
}

/* Lemma on consecutive optima, over j = 1, 2, 4, ... as far as the stream goes. */
static double next_ratio(const struct plain *plain, uint64_t i, uint64_t n)
{
    double most = 0;
    for (uint64_t j = 1; i + j <= n; j *= 2) {
        double bound = 2 * (double)j * plain->instance.lipschitz / (plain->instance.convexity * (double)(2 * i + j));
        most = fmax(most, sqrt(square_distance(plain->optima[i + j - 1], plain->optima[i - 1])) / bound);
    }
    return most;
}

/* Lemma on the distance of an output to later optima. */
static double later_ratio(const struct plain *plain, uint64_t i)
{
    double most = 0, mu = plain->instance.convexity;
    for (uint64_t back = 1; back < i; back *= 2) {
        uint64_t j = i - back;
        double drift = plain->instance.lipschitz * (double)back / (double)(i + j);
        double bound = 8 / (mu * mu) * drift * drift + 2 * square_distance(plain->outputs[j - 1], plain->optima[j - 1]);
        most = fmax(most, square_distance(plain->outputs[j - 1], plain->optima[i - 1]) / bound);
    }
    return most;
}

static int follow(struct unit *unit, struct plain *plain, keepfit_fit *fit, uint64_t n)
{
    struct optimum optimum;
    keepfit_report report = {.struct_size = sizeof report};
    uint64_t first_fo = 0;
    int code = EXIT_DONE;
    optimum_start(&optimum, 2, INSTANCE_LAMBDA);
    plain->optimum = &optimum;
    for (uint64_t i = 1; i <= n && code == EXIT_DONE; i++) {
        double row[THEOREMS_WIDTH] = {[THEOREMS_STAGE] = (double)i};
        size_t size = 0;
        optimum_add(&optimum, &plain->points[i - 1]);
        if (i == 1)
            first_stage(plain);
        else
            do_stage(plain, i, row);
        if (keepfit_fit_push(fit, &plain->points[i - 1]) != KEEPFIT_OK)
            code = fit_failed(unit, fit);
        keepfit_fit_report(fit, &report);
        first_fo = i == 1 ? report.fo : first_fo;
        const double *x = keepfit_fit_iterate(fit, &size);
        row[THEOREMS_GAP] = optimum_gap(&optimum, plain->x.at, 2);
        row[THEOREMS_FO] = (double)plain->fo;
        row[THEOREMS_LIBRARY_FO] = (double)(report.fo - first_fo);
        row[THEOREMS_LIBRARY_GAP] = optimum_gap(&optimum, x, size);
        row[THEOREMS_NEXT] = next_ratio(plain, i, n);
        row[THEOREMS_LATER] = later_ratio(plain, i);
        plain->outputs[i - 1] = plain->x;
        frame_add(&unit->frame, row);
        if (!unit_tick(unit, (double)i / (double)n))
            break;
    }
    optimum_free(&optimum);
    return code;
}

/* The stream and the exact optima of all its stages. */
static void prepare(struct plain *plain, uint64_t n, uint64_t seed)
{
    struct optimum optimum;
    optimum_start(&optimum, 2, INSTANCE_LAMBDA);
    plain->points = must_allocate(n * sizeof *plain->points);
    plain->rows = must_allocate(n * sizeof *plain->rows);
    plain->optima = must_allocate(n * sizeof *plain->optima);
    plain->outputs = must_allocate(n * sizeof *plain->outputs);
    for (uint64_t j = 1; j <= n; j++) {
        plain->points[j - 1] = instance_point(&plain->instance, j, seed, plain->rows[j - 1]);
        optimum_add(&optimum, &plain->points[j - 1]);
        memcpy(plain->optima[j - 1].at, optimum.x, sizeof plain->optima[j - 1].at);
    }
    optimum_free(&optimum);
}

/* What a unit does. */
struct theorems_run {
    const struct theorems_case *parameters;
    uint64_t n;
};

static int run(struct unit *unit)
{
    const struct theorems_run *work = unit->parameters;
    const struct theorems_case *parameters = work->parameters;
    struct plain plain = {
        .parameters = parameters, .instance = instance_make(parameters->condition), .source = {unit->seed + 1000000}};
    char method[160], options[512];
    keepfit_fit *fit = NULL;
    snprintf(method, sizeof method, "method=csvrg setting=theory epsilon=1e-9 count=paper alpha=%.17g inner=%llu",
             parameters->alpha, (unsigned long long)parameters->inner);
    struct instance_run library = {.instance = &plain.instance, .options = method};
    instance_options(&library, options, sizeof options);
    /* The points are the first seed's in every unit: expectations are over the method's choices alone. */
    prepare(&plain, work->n, 1);
    int code = fit_start(options, unit->seed, &fit);
    if (code == EXIT_DONE)
        code = follow(unit, &plain, fit, work->n);
    keepfit_fit_free(fit);
    free(plain.points);
    free(plain.rows);
    free(plain.optima);
    free(plain.outputs);
    return code;
}

int theorems_plan(struct plan *plan)
{
    uint64_t n = theorems_points(plan->setting);
    for (size_t c = 0; c < THEOREMS_CASES; c++)
        for (size_t s = 0; s < theorems_seeds(plan->setting); s++) {
            const struct theorems_case *parameters = &theorems_cases[c];
            struct theorems_run work = {parameters, n};
            struct unit *unit = plan_unit(plan, s, &work, sizeof work);
            snprintf(unit->name, sizeof unit->name, "theorems-%s-%llu", parameters->name,
                     (unsigned long long)unit->seed);
            snprintf(unit->key, sizeof unit->key, "theorems condition=%g alpha=%g inner=%llu n=%llu seed=%llu",
                     parameters->condition, parameters->alpha, (unsigned long long)parameters->inner,
                     (unsigned long long)n, (unsigned long long)unit->seed);
            unit->columns = columns;
            unit->run = run;
            unit->cost = 2e-7 * (double)(n * parameters->inner);
        }
    return EXIT_DONE;
}
