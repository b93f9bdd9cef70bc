/* complexity.c - the runs.
 *
 * The theorems' parameters are affordable only where L/mu is near 1: csvrg's T has the terms 720 (L/mu)^2/(i sqrt(e)), 9
 * (L/mu)^(2/3)/e^(1/3) and 1152 (L/mu)^2 with e = epsilon mu/G^2, so the second shows only for e below 1e-6 and n large enough
 * that the first has faded. The smallest budgets are sought where L/mu = 4: there the noise of the samples matters. */
#include "complexity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "toolkit/exit_code.h"
#include "instance.h"
#include "least.h"
#include "toolkit/output.h"

#define NEAR_ONE 1.1
#define FOUR 4.0

static const struct sweep sweeps[] = {
    {THEORY_ACCURACY, "sgd", 1, NEAR_ONE, 400, 1e-2, 0.31622776601683794, 0},
    {THEORY_ACCURACY, "sgd-sparse", 2, NEAR_ONE, 300000, 1e-1, 0.31622776601683794, 0},
    {THEORY_ACCURACY, "csvrg", 1.0 / 3, NEAR_ONE, 10000, 1e-6, 0.31622776601683794, 0},
    {THEORY_ACCURACY, "svrg", 0, NEAR_ONE, 1000, 1e-2, 1e-2, 50},
    {THEORY_ACCURACY, "katyusha", 0, NEAR_ONE, 200, 1e-2, 1e-2, 0},
    {THEORY_ACCURACY, "saga", 0, NEAR_ONE, 200, 1e-2, 1e-2, 0},
    {THEORY_ACCURACY, "sarah", 0, NEAR_ONE, 1000, 1e-2, 1e-2, 50},
    {THEORY_ACCURACY, "gd", 0, NEAR_ONE, 1000, 1e-2, 1e-2, 0},
    {THEORY_POINTS, "sgd", 1, NEAR_ONE, 100, 1e-3, 1, 0},
    {THEORY_POINTS, "sgd-sparse", 0, NEAR_ONE, 16000, 3e-2, 1, 0},
    {THEORY_POINTS, "csvrg", 1, NEAR_ONE, 2000, 1e-4, 1, 0},
    {THEORY_POINTS, "svrg", 2, NEAR_ONE, 500, 1e-6, 1, 50},
    {THEORY_POINTS, "katyusha", 2, NEAR_ONE, 50, 1e-6, 1, 0},
    {THEORY_POINTS, "saga", 2, NEAR_ONE, 50, 1e-6, 1, 0},
    {THEORY_POINTS, "sarah", 2, NEAR_ONE, 500, 1e-6, 1, 50},
    {THEORY_POINTS, "gd", 2, NEAR_ONE, 500, 1e-6, 1, 0},
    {LEAST_ACCURACY, "sgd", 1, FOUR, 400, 1e-2, 0.31622776601683794, 0},
    {LEAST_ACCURACY, "sgd-sparse", 2, FOUR, 4000, 1e-2, 0.56234132519034907, 0},
    {LEAST_ACCURACY, "csvrg", 1.0 / 3, FOUR, 8000, 1e-4, 0.31622776601683794, 0},
};

static const char columns[] = "epsilon,n,fo,worst,inner,alpha";

const struct sweep *sweep_entry(size_t k)
{
    return k < sizeof sweeps / sizeof sweeps[0] ? &sweeps[k] : NULL;
}

double sweep_share(const struct sweep *sweep, size_t v, bool quick)
{
    return (quick ? 4 : 1) * sweep->largest * pow(sweep->ratio, (double)v);
}

uint64_t sweep_points(const struct sweep *sweep, size_t v, bool quick)
{
    uint64_t n = sweep->growth == THEORY_POINTS ? sweep->n << v : sweep->n;
    return quick && n > 100 ? n / 4 : n;
}

/* The theorem's parameters, for a first gap of at most |D| G. With the step 1/(10L) an epoch of 50 L/mu steps at least halves what svrg
 * and sarah are about; katyusha's own epochs divide it by 1.5; saga's steps multiply it by 1 - min(1/(4n), mu/(3L)), and gd's by
 * 1 - mu/L. saga's T is that of the last stage; gd looks whether its epsilon is proved, and stops. */
static void write_theory(char *text, size_t room, const struct sweep *sweep, const struct instance *instance,
                         uint64_t n, double epsilon)
{
    double ratio = INSTANCE_DIAMETER * instance->lipschitz / epsilon,
           condition = instance->smoothness / instance->convexity;
    if (sweep->steps > 0)
        snprintf(text, room, "method=%s step=0.1/L inner=%.0f outer=%.0f", sweep->method,
                 ceil(sweep->steps * condition), ceil(log2(ratio)));
    else if (strcmp(sweep->method, "katyusha") == 0)
        snprintf(text, room, "method=katyusha setting=theory outer=%.0f", ceil(log(ratio) / log(1.5)));
    else if (strcmp(sweep->method, "saga") == 0)
        snprintf(text, room, "method=saga inner=%.0f", ceil(fmax(4 * (double)n, 3 * condition) * log(ratio)));
    else if (strcmp(sweep->method, "gd") == 0)
        snprintf(text, room, "method=gd epsilon=%.17g inner=%.0f", epsilon, 1 + ceil(condition * log(ratio)));
    else
        snprintf(text, room, "method=%s setting=theory epsilon=%.17g count=paper", sweep->method, epsilon);
}

static int run_theory(struct unit *unit, const struct sweep *sweep, uint64_t n, double epsilon, bool quick)
{
    struct instance instance = instance_make(sweep->condition);
    struct instance_result result;
    char options[200];
    write_theory(options, sizeof options, sweep, &instance, n, epsilon);
    struct instance_run run = {.instance = &instance,
                               .n = n,
                               .options = options,
                               .seed = unit->seed,
                               .seeds = quick ? 1 : 3,
                               .settled = 1,
                               .to = 1,
                               .enough = INFINITY};
    int code = instance_measure(unit, &run, &result);
    if (code == EXIT_DONE)
        frame_add(&unit->frame, (double[]){epsilon, (double)n, result.fo, result.worst, NAN, NAN});
    return code;
}

/* csvrg has the step 1/(3L) and its weighted mean as output, sgd 1/(mu t) and the mean. */
static int measure_budget(struct search *search, struct budget *budget)
{
    const struct instance_run *wanted = search->context;
    char options[256];
    struct instance_result result;
    int used = snprintf(options, sizeof options, "%s inner=%.0f", wanted->options, budget->inner);
    if (!isnan(budget->alpha))
        snprintf(options + used, sizeof options - (size_t)used, " alpha=%.17g", budget->alpha);
    struct instance_run run = *wanted;
    run.options = options;
    run.from = run.to = search->unit->share;
    int code = instance_measure(search->unit, &run, &result);
    budget->fo = result.fo;
    budget->worst = result.worst;
    return code;
}

static int run_least(struct unit *unit, const struct sweep *sweep, uint64_t n, double epsilon, bool quick)
{
    struct instance instance = instance_make(sweep->condition);
    char options[200];
    bool sgd = strcmp(sweep->method, "sgd") == 0;
    snprintf(options, sizeof options, "method=%s setting=theory epsilon=%.17g count=paper%s", sweep->method, epsilon,
             strcmp(sweep->method, "csvrg") == 0 ? " step=0.33333333333333331/L" : "");
    struct instance_run run = {.instance = &instance,
                               .n = n,
                               .options = options,
                               .seed = unit->seed,
                               .seeds = quick ? 3 : 8,
                               .settled = n / 4,
                               .enough = epsilon};
    struct search search = {.unit = unit,
                            .context = &run,
                            .epsilon = epsilon,
                            .first_alpha = sgd ? NAN : 0.5,
                            .steps_most = 65536,
                            .measure = measure_budget};
    struct budget best = least_budget(&search);
    if (search.code == EXIT_DONE)
        frame_add(&unit->frame, (double[]){epsilon, (double)n, best.fo, best.worst, best.inner, best.alpha});
    return search.code;
}

/* What a unit does: one value of a sweep. */
struct sweep_run {
    const struct sweep *sweep;
    size_t value;
    bool quick;
};

static int run(struct unit *unit)
{
    const struct sweep_run *parameters = unit->parameters;
    const struct sweep *sweep = parameters->sweep;
    size_t v = parameters->value;
    bool quick = parameters->quick;
    uint64_t n = sweep_points(sweep, v, quick);
    struct instance instance = instance_make(sweep->condition);
    double epsilon = instance_epsilon(&instance, sweep_share(sweep, v, quick));
    return (sweep->growth == LEAST_ACCURACY ? run_least : run_theory)(unit, sweep, n, epsilon, quick);
}

/* Seconds, roughly: so that long ones go first and the time left is right in the end. */
static double cost_of(const struct sweep *sweep, size_t v, uint64_t n)
{
    double e = sweep_share(sweep, v, false), points = (double)n, root = cbrt(1 / e);
    if (sweep->growth == LEAST_ACCURACY)
        return strcmp(sweep->method, "sgd") == 0 ? 5e-6 * points / e : 2e-4 * points * root;
    if (strcmp(sweep->method, "sgd") == 0)
        return 1.2e-6 * points / e;
    if (strcmp(sweep->method, "csvrg") == 0)
        return 3e-7 * (900 * log(points) / sqrt(e) + points * (1400 + 10 * root));
    if (sweep->steps > 0 || strcmp(sweep->method, "gd") == 0)
        return 1e-8 * points * points * log2(1 / e);
    if (strcmp(sweep->method, "saga") == 0 || strcmp(sweep->method, "katyusha") == 0)
        return 3e-7 * points * points * log2(1 / e);
    return 6e-6 / (e * e) + 1e-6 * points;
}

int complexity_plan(struct plan *plan)
{
    static const char *const names[] = {"accuracy", "points", "least"};
    bool quick = plan->setting->quick;
    for (size_t k = 0; sweep_entry(k); k++)
        for (size_t v = 0; v < COMPLEXITY_VALUES; v++) {
            const struct sweep *sweep = sweep_entry(k);
            struct sweep_run parameters = {sweep, v, quick};
            struct unit *unit = plan_unit(plan, 0, &parameters, sizeof parameters);
            uint64_t n = sweep_points(sweep, v, quick);
            snprintf(unit->name, sizeof unit->name, "complexity-%s-%s-%zu", names[sweep->growth], sweep->method, v);
            snprintf(unit->key, sizeof unit->key, "complexity %s %s condition=%g n=%llu share=%.17g seed=%llu quick=%d",
                     names[sweep->growth], sweep->method, sweep->condition, (unsigned long long)n,
                     sweep_share(sweep, v, quick), (unsigned long long)unit->seed, quick);
            unit->columns = columns;
            unit->run = run;
            unit->cost = cost_of(sweep, v, n);
        }
    return EXIT_DONE;
}
