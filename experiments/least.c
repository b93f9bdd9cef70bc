/* least.c - the smallest budget with which a method meets epsilon on the instance.
 *
 * A budget is T, the inner steps a stage, and for csvrg and sgd-sparse alpha, which says how rarely the rest of the work is done.
 * For each alpha of 1/2, 1/4, ... the smallest T is sought, by doubling and then bisection to a tenth, such that the mean gap over
 * the seeds is at most epsilon at every stage from the first quarter of the stream on; of these the cheapest counts. The search
 * over alpha ends when two in a row were dearer.
 *
 * csvrg has the step 1/(3L) and its weighted mean as output, sgd 1/(mu t) and the mean. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "toolkit/exit_code.h"
#include "complexity.h"
#include "instance.h"

#define STEPS_MOST 65536

struct search {
    struct unit *unit;
    struct instance_run run;
    const char *method;
    double epsilon;
    int code;
};

struct budget {
    double inner, alpha, fo, worst;
};

/* Whether the budget meets epsilon; fills its fo and worst. */
static bool meets(struct search *search, struct budget *budget)
{
    char options[200];
    struct instance_result result;
    int used = snprintf(options, sizeof options, "method=%s setting=theory epsilon=%.17g count=paper inner=%.0f",
                        search->method, search->epsilon, budget->inner);
    if (!isnan(budget->alpha))
        used += snprintf(options + used, sizeof options - (size_t)used, " alpha=%.17g", budget->alpha);
    if (strcmp(search->method, "csvrg") == 0)
        snprintf(options + used, sizeof options - (size_t)used, " step=0.33333333333333331/L");
    search->run.options = options;
    search->run.from = search->run.to = search->unit->share;
    search->code = instance_measure(search->unit, &search->run, &result);
    budget->fo = result.fo;
    budget->worst = result.worst;
    return search->code == EXIT_DONE && result.worst <= search->epsilon;
}

/* The smallest T for this alpha; its fo is infinite when there is none. */
static struct budget least_steps(struct search *search, double alpha)
{
    struct budget low = {.inner = 0}, high = {.inner = 1, .alpha = alpha};
    while (!meets(search, &high)) {
        if (search->code != EXIT_DONE || high.inner >= STEPS_MOST || !unit_tick(search->unit, search->unit->share))
            return (struct budget){.fo = INFINITY};
        low = high;
        high.inner *= 2;
    }
    while (high.inner - low.inner > fmax(1, 0.1 * low.inner) && search->code == EXIT_DONE) {
        struct budget middle = {.inner = floor((low.inner + high.inner) / 2), .alpha = alpha};
        if (meets(search, &middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static struct budget least_budget(struct search *search)
{
    struct budget best = {.fo = INFINITY};
    if (strcmp(search->method, "sgd") == 0)
        return least_steps(search, NAN);
    size_t dearer = 0;
    for (double alpha = 0.5; dearer < 2 && alpha > 1e-5 && search->code == EXIT_DONE; alpha /= 2) {
        struct budget budget = least_steps(search, alpha);
        if (!unit_tick(search->unit, fmin(search->unit->share + 0.1, 0.95)))
            break;
        dearer = isfinite(best.fo) && budget.fo >= best.fo ? dearer + 1 : 0;
        if (budget.fo < best.fo)
            best = budget;
    }
    return best;
}

int least_run(struct unit *unit, const struct sweep *sweep, uint64_t n, double epsilon, bool quick)
{
    struct instance instance = instance_make(sweep->condition);
    struct search search = {.unit = unit, .method = sweep->method, .epsilon = epsilon};
    search.run = (struct instance_run){
        .instance = &instance, .n = n, .seed = unit->seed, .seeds = quick ? 3 : 8, .settled = n / 4, .enough = epsilon};
    struct budget best = least_budget(&search);
    if (search.code == EXIT_DONE)
        frame_add(&unit->frame, (double[]){epsilon, (double)n, best.fo, best.worst, best.inner, best.alpha});
    return search.code;
}
