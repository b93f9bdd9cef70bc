#include "service/past.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOMENTS_MOST 600
#define REFUSED_MOST 20
#define WINDOW 3.0 /* seconds over which rates are taken */

/* What the page draws of an earlier stage. */
struct moment {
    double time, stage, bound, epsilon, loss, error, windowed_loss, windowed_error, auc, gradients, microseconds,
        points, predictions, queue, drift;
};

struct refused {
    double time;
    char what[100], code[24], message[200];
    unsigned status;
};

/* Sums at some time, between two of which rates lie. */
struct sums {
    double clock, stage, fo, seconds, predictions;
};

struct past {
    pthread_mutex_t lock;
    struct moment moment[MOMENTS_MOST];
    size_t moments, every, skipped; /* of so many events one is kept */
    struct refused refused[REFUSED_MOST];
    size_t refused_count; /* ever */
    struct sums before, newest;
    double gradients, microseconds, points, predictions; /* rates */
};

struct past *past_create(void)
{
    struct past *past = calloc(1, sizeof *past);
    if (!past)
        return NULL;
    pthread_mutex_init(&past->lock, NULL);
    past->every = 1;
    past->gradients = past->microseconds = NAN;
    return past;
}

void past_free(struct past *past)
{
    if (!past)
        return;
    pthread_mutex_destroy(&past->lock);
    free(past);
}

static void take_rates(struct past *past, const struct sums *now)
{
    double seconds = now->clock - past->before.clock, points = now->stage - past->before.stage;
    if (past->before.clock == 0)
        past->before = *now;
    if (points > 0) {
        past->gradients = (now->fo - past->before.fo) / points;
        past->microseconds = 1e6 * (now->seconds - past->before.seconds) / points;
    }
    if (seconds > 0) {
        past->points = points / seconds;
        past->predictions = (now->predictions - past->before.predictions) / seconds;
    }
    if (seconds > WINDOW) {
        past->before = past->newest;
        past->newest = *now;
    }
    if (past->newest.clock == 0)
        past->newest = *now;
}

/* Half of what is kept goes when there is no room, so that the whole past stays, ever coarser. */
static void keep_moment(struct past *past, const struct moment *moment)
{
    if (++past->skipped < past->every)
        return;
    past->skipped = 0;
    if (past->moments == MOMENTS_MOST) {
        for (size_t k = 0; k < MOMENTS_MOST / 2; k++)
            past->moment[k] = past->moment[2 * k + 1];
        past->moments = MOMENTS_MOST / 2;
        past->every *= 2;
    }
    past->moment[past->moments++] = *moment;
}

void past_take(struct past *past, const struct service *service, const struct current *current)
{
    const keepfit_report *report = &current->report;
    const keepfit_validation *found = &current->validation;
    const struct sums now = {
        .clock = 1e-9 * (double)clock_nanoseconds(),
        .stage = (double)report->stage,
        .fo = (double)report->fo,
        .seconds = report->seconds,
        .predictions = (double)atomic_load((atomic_uint_least64_t *)(uintptr_t)&service->counters.predictions),
    };
    pthread_mutex_lock(&past->lock);
    take_rates(past, &now);
    const struct moment moment = {(double)clock_seconds(),
                                  (double)report->stage,
                                  report->bound,
                                  report->target,
                                  found->loss,
                                  found->error,
                                  found->windowed_loss,
                                  found->windowed_error,
                                  found->auc,
                                  past->gradients,
                                  past->microseconds,
                                  past->points,
                                  past->predictions,
                                  (double)service->queued,
                                  found->drift_level};
    bool same = past->moments && past->moment[past->moments - 1].stage == moment.stage;
    if (!same)
        keep_moment(past, &moment);
    pthread_mutex_unlock(&past->lock);
}

void past_refused(struct past *past, const char *what, const struct trouble *trouble)
{
    pthread_mutex_lock(&past->lock);
    struct refused *made = &past->refused[past->refused_count++ % REFUSED_MOST];
    *made = (struct refused){.time = (double)clock_seconds(), .status = trouble->status};
    snprintf(made->what, sizeof made->what, "%s", what);
    snprintf(made->code, sizeof made->code, "%s", trouble->code);
    snprintf(made->message, sizeof made->message, "%.199s", trouble->message);
    pthread_mutex_unlock(&past->lock);
}

static void member(struct text *text, const char *name, double number)
{
    text_printf(text, ",\"%s\":", name);
    text_number(text, number);
}

void past_write_rates(struct past *past, struct text *text)
{
    pthread_mutex_lock(&past->lock);
    member(text, "gradients_per_point", past->gradients);
    member(text, "microseconds_per_point", past->microseconds);
    member(text, "points_per_second", past->points);
    member(text, "predictions_per_second", past->predictions);
    pthread_mutex_unlock(&past->lock);
}

void past_write_refused(struct past *past, struct text *text)
{
    text_put(text, ",\"bad_requests\":[");
    pthread_mutex_lock(&past->lock);
    size_t count = past->refused_count < REFUSED_MOST ? past->refused_count : REFUSED_MOST;
    for (size_t k = 0; k < count; k++) {
        const struct refused *one = &past->refused[(past->refused_count - 1 - k) % REFUSED_MOST];
        text_put(text, k ? ",{\"time\":" : "{\"time\":");
        text_number(text, one->time);
        text_put(text, ",\"request\":");
        text_string(text, one->what);
        text_printf(text, ",\"status\":%u,\"code\":", one->status);
        text_string(text, one->code);
        text_put(text, ",\"message\":");
        text_string(text, one->message);
        text_put(text, "}");
    }
    pthread_mutex_unlock(&past->lock);
    text_put(text, "]");
}

void past_write_history(struct past *past, struct text *text)
{
    static const char *const names[] = {"stage",
                                        "bound",
                                        "epsilon",
                                        "loss",
                                        "error",
                                        "windowed_loss",
                                        "windowed_error",
                                        "auc",
                                        "gradients_per_point",
                                        "microseconds_per_point",
                                        "points_per_second",
                                        "predictions_per_second",
                                        "queue",
                                        "drift"};
    text_put(text, ",\"history\":[");
    pthread_mutex_lock(&past->lock);
    for (size_t k = 0; k < past->moments; k++) {
        const double *numbers = &past->moment[k].time;
        text_put(text, k ? ",\n{\"time\":" : "\n{\"time\":");
        text_number(text, numbers[0]);
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
            member(text, names[n], numbers[n + 1]);
        text_put(text, "}");
    }
    pthread_mutex_unlock(&past->lock);
    text_put(text, "]");
}
