/* What a stream takes, as one line of JSON: gradients, products and believed work (src/problem/costs.h), which are the same in every run,
 * and seconds.
 *
 *   bench_work FILE KEY=VALUE ...     within=S ends it after S seconds of processor time
 *
 * law=S also measures, for about S seconds besides, what the work is made of (docs/holding.md): c, by how much a point moves the optimum
 * (a model that is exact at n has a relative gap of c k / n^2 after k more points), and b, how many times the gap the bound is. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fit/fit.h"

/* The stages at which is measured: the first, how many times as many the next has, and the arrivals after which the drift is, as a share. */
enum { FIRST = 500, TIMES = 4, DRIFT_SHARE = 50 };

struct law {
    double seconds, most; /* spent, and to be spent */
    uint64_t next, then;  /* the next measurement, and that of the drift */
    double *exact;        /* the optimum when `next` came last */
    size_t size, outputs;
    uint64_t from;
    double bounds, drifts; /* logarithms */
    int bound_count, drift_count;
};

/* What improvements are made of. */
struct work {
    double nominal, seconds;
    double passes, product_passes; /* of improvements */
    uint64_t early;                /* the last stage up to which half of all improved */
    keepfit_report report;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static keepfit_options *read_options(int count, char **words, double *within, struct law *law)
{
    keepfit_options *options = keepfit_options_create();
    for (int k = 0; k < count; k++) {
        char *value = strchr(words[k], '=');
        if (!value)
            return NULL;
        *value++ = '\0';
        if (strcmp(words[k], "within") == 0)
            *within = atof(value);
        else if (strcmp(words[k], "law") == 0)
            law->most = atof(value);
        else if (keepfit_options_set(options, words[k], value, NULL) != KEEPFIT_OK)
            return NULL;
    }
    return options;
}

/* The optimum that has been measured becomes the one whose drift is next. */
static void keep_exact(keepfit_fit *fit, struct law *law)
{
    free(law->exact);
    law->size = kf_size(&fit->task.problem);
    law->outputs = fit->task.problem.objective.outputs;
    law->exact = malloc((law->size + 1) * sizeof *law->exact);
    if (!law->exact)
        exit(2);
    memcpy(law->exact, fit->measured.x, law->size * sizeof *law->exact);
    law->from = fit->arrivals.arrived;
    law->then = law->from + law->from / DRIFT_SHARE;
}

static void measure_drift(keepfit_fit *fit, struct law *law, double optimum)
{
    if (law->size != kf_size(&fit->task.problem) || law->outputs != fit->task.problem.objective.outputs)
        return;
    double value = kf_objective_value(&fit->task.problem.objective, law->exact);
    double n = (double)law->from, k = (double)(fit->arrivals.arrived - law->from);
    if (!(value > optimum) || !(optimum > 0))
        return;
    law->drifts += log((value - optimum) / optimum * n * (n + k) / k);
    law->drift_count++;
}

static void measure(keepfit_fit *fit, struct law *law, const keepfit_report *report)
{
    bool first = report->stage == law->next, drift = law->exact && report->stage == law->then;
    if (!(law->seconds < law->most) || !(first || drift))
        return;
    keepfit_measurement measured = {.struct_size = sizeof measured};
    double start = now();
    if (keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK) {
        if (drift)
            measure_drift(fit, law, measured.optimum);
        if (first)
            keep_exact(fit, law);
        if (first && report->bound > 0 && measured.gap > 1e-10 * measured.optimum) {
            law->bounds += log(report->bound / measured.gap);
            law->bound_count++;
        }
    }
    if (first)
        law->next *= TIMES;
    law->seconds += now() - start;
}

static void keep_account(struct work *work, const keepfit_report *after)
{
    const keepfit_report *before = &work->report;
    double stage = (double)after->stage, gradients = (double)(after->fo - before->fo);
    if (after->improvements > before->improvements) {
        work->passes += fmax(gradients - 1, 0) / stage;
        work->product_passes += (double)(after->products - before->products) / stage;
    }
    if (2 * after->improvements >= after->stage)
        work->early = after->stage;
    work->report = *after;
}

static void print_number(const char *name, double number)
{
    if (isfinite(number))
        printf(", \"%s\": %.9g", name, number);
    else
        printf(", \"%s\": null", name);
}

static void print_work(const struct work *work, const struct law *law, bool cut)
{
    const keepfit_report *report = &work->report;
    double improvements = (double)report->improvements;
    printf("{\"stages\": %" PRIu64 ", \"fo\": %" PRIu64 ", \"products\": %" PRIu64 ", \"improvements\": %" PRIu64
           ", \"work\": %.17g, \"seconds\": %.4g, \"cut\": %s, \"missed\": %" PRIu64 ", \"unproved\": %" PRIu64
           ", \"waiting\": %" PRIu64 ", \"method\": \"%s\", \"reason\": \"%s\"",
           report->stage, report->fo, report->products, report->improvements, work->nominal, work->seconds,
           cut ? "true" : "false", report->missed, report->unproved, report->waiting, report->method, report->reason);
    print_number("passes", work->passes / improvements);
    print_number("product_passes", work->product_passes / improvements);
    print_number("early", (double)work->early);
    print_number("drift", exp(law->drifts / law->drift_count));
    print_number("bound_over_gap", exp(law->bounds / law->bound_count));
    printf("}\n");
}

/* A clock takes as long as some points do: it is asked once for so many, which are read before. */
enum { AHEAD = 32 };
struct ahead {
    keepfit_point point;
    double *value;
    uint32_t *index;
    size_t capacity;
};

static int read_ahead(keepfit_stream *stream, struct ahead *ahead)
{
    int count = 0;
    for (; count < AHEAD && keepfit_stream_next(stream, &ahead[count].point) == KEEPFIT_OK; count++) {
        struct ahead *own = &ahead[count];
        keepfit_row *row = &own->point.row;
        if (row->count > own->capacity) {
            own->capacity = 2 * row->count;
            own->value = realloc(own->value, own->capacity * sizeof *own->value);
            own->index = realloc(own->index, own->capacity * sizeof *own->index);
        }
        if (row->count && (!own->value || !own->index))
            exit(2);
        memcpy(own->value, row->value, row->count * sizeof *own->value);
        if (row->index)
            memcpy(own->index, row->index, row->count * sizeof *own->index);
        row->value = own->value;
        row->index = row->index ? own->index : NULL;
    }
    return count;
}

static bool push_all(keepfit_fit *fit, const struct ahead *ahead, int count, struct work *work, struct law *law)
{
    double start = now(), measuring = law->seconds;
    for (int k = 0; k < count; k++) {
        keepfit_report report = {.struct_size = sizeof report};
        if (keepfit_fit_push(fit, &ahead[k].point) != KEEPFIT_OK)
            return false;
        work->nominal += fit->outcome.work;
        keepfit_fit_report(fit, &report);
        keep_account(work, &report);
        measure(fit, law, &report);
    }
    work->seconds += now() - start - (law->seconds - measuring);
    return true;
}

int main(int count, char **words)
{
    double within = 1e9;
    struct law law = {.next = FIRST};
    struct work work = {.report = {.struct_size = sizeof work.report}};
    keepfit_options *options = count > 1 ? read_options(count - 2, words + 2, &within, &law) : NULL;
    keepfit_stream *stream = NULL;
    keepfit_fit *fit = NULL;
    static struct ahead ahead[AHEAD];
    if (!options || keepfit_stream_open(words[1], options, &stream, NULL) != KEEPFIT_OK ||
        keepfit_fit_create(options, &fit, NULL) != KEEPFIT_OK)
        return 2;
    while (work.seconds < within && (count = read_ahead(stream, ahead)) > 0)
        if (!push_all(fit, ahead, count, &work, &law))
            return 1;
    print_work(&work, &law, !(work.seconds < within));
    free(law.exact);
    keepfit_fit_free(fit);
    keepfit_stream_close(stream);
    keepfit_options_free(options);
    return 0;
}
