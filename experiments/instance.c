#include "instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "toolkit/exit_code.h"
#include "must.h"
#include "ridge_optimum.h"
#include "toolkit/output.h"
#include "toolkit/draw.h"
#include "runs.h"

struct instance instance_make(double condition)
{
    double length = sqrt((condition - 1) / 2);
    return (struct instance){.convexity = 2 * INSTANCE_LAMBDA,
                             .smoothness = condition,
                             .lipschitz = 2 * length * (length + 1) + 1,
                             .length = length};
}

double instance_epsilon(const struct instance *instance, double share)
{
    return share * instance->lipschitz * instance->lipschitz / instance->convexity;
}

keepfit_point instance_point(const struct instance *instance, uint64_t j, uint64_t seed, double row[2])
{
    const double most = 1.0471975511965976; /* 60 degrees */
    struct source source = {seed * 0x9e3779b97f4a7c15u + j};
    draw(&source); /* neighbouring states are near, what follows them is not */
    double angle = most * (2 * uniform(&source) - 1);
    row[0] = instance->length * cos(angle);
    row[1] = instance->length * sin(angle);
    double target = ilogb((double)j) % 2 ? -1 : 1;
    return (keepfit_point){.row = {2, NULL, row}, .target = target, .weight = 1};
}

void instance_options(const struct instance_run *run, char *text, size_t room)
{
    const struct instance *instance = run->instance;
    snprintf(text, room, "loss=squared lambda=%g domain=ball:%g smoothness=%.17g lipschitz=%.17g convexity=%.17g %s",
             INSTANCE_LAMBDA, INSTANCE_DIAMETER / 2, instance->smoothness, instance->lipschitz, instance->convexity,
             run->options);
}

/* One seed's gaps, added to the sums by stage. False: a sum shows that the mean will exceed `enough`, or the user stopped. */
static bool follow(struct unit *unit, const struct instance_run *run, keepfit_fit *fit, uint64_t seed, double *sums,
                   int *code)
{
    double before = (double)(seed - run->seed);
    struct optimum optimum;
    bool within = true;
    optimum_start(&optimum, 2, INSTANCE_LAMBDA);
    for (uint64_t j = 1; j <= run->n && within; j++) {
        double row[2];
        size_t size = 0;
        keepfit_point point = instance_point(run->instance, j, seed, row);
        optimum_add(&optimum, &point);
        if (keepfit_fit_push(fit, &point) != KEEPFIT_OK) {
            *code = fit_failed(unit, fit);
            break;
        }
        const double *x = keepfit_fit_iterate(fit, &size);
        sums[j - 1] += optimum_gap(&optimum, x, size);
        within = j < run->settled || sums[j - 1] <= run->enough * (double)run->seeds;
        double done = (before + (double)j / (double)run->n) / (double)run->seeds;
        if (j % 64 == 0 && !unit_tick(unit, run->from + (run->to - run->from) * done))
            within = false;
    }
    optimum_free(&optimum);
    return within && *code == EXIT_DONE;
}

int instance_measure(struct unit *unit, const struct instance_run *run, struct instance_result *result)
{
    char options[512];
    double *sums = must_allocate(run->n * sizeof *sums);
    int code = EXIT_DONE;
    bool whole = true;
    instance_options(run, options, sizeof options);
    *result = (struct instance_result){.worst = INFINITY};
    for (uint64_t s = 0; s < run->seeds && whole && code == EXIT_DONE; s++) {
        keepfit_fit *fit = NULL;
        keepfit_report report = {.struct_size = sizeof report};
        code = fit_start(options, run->seed + s, &fit);
        if (code == EXIT_DONE) {
            whole = follow(unit, run, fit, run->seed + s, sums, &code);
            keepfit_fit_report(fit, &report);
            result->fo += (double)report.fo / (double)run->seeds;
        }
        keepfit_fit_free(fit);
    }
    if (whole)
        result->worst = 0;
    for (uint64_t j = run->settled; j <= run->n && whole; j++)
        result->worst = fmax(result->worst, sums[j - 1] / (double)run->seeds);
    free(sums);
    return code;
}
