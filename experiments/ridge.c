/* ridge.c - the runs.
 *
 * The paper does not say how the data was prepared. Unit columns give back the printed L on german.numer and cod-rna, and about
 * 1000 points give back the printed share of FOs; several files are sorted by class. So: raw files, rows in an order drawn from
 * the seed, at most 1000 of them, each column scaled to unit Euclidean norm over these.
 *
 * The printed step of sgd, 1/(lambda t), begins at 1000, with which it overflows in the whole space. Both ways out are run: the step
 * capped at 1/L, L the largest curvature of one point so far; and the step as printed inside a ball twice as large as the
 * optimum of any stage, so that the ball changes no optimum. */
#include "ridge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/exit_code.h"
#include "data.h"
#include "must.h"
#include "ridge_optimum.h"
#include "toolkit/output.h"
#include "runs.h"

const struct ridge_set ridge_sets[RIDGE_SETS] = {{"breast-cancer", 0.0522, 414},
                                                 {"cod-rna", 0.015, 480},
                                                 {"diabetes", 0.01262, 480},
                                                 {"german.numer", 0.0317, 414},
                                                 {"skin_nonskin", 0.068, 480}};

const char *const ridge_names[RIDGE_CONTESTANTS] = {
    [CSVRG] = "csvrg",
    [SGD] = "sgd",
    [SGD_SPARSE] = "sgd-sparse",
    [SVRG] = "svrg",
    [KATYUSHA] = "katyusha",
    [AUTO] = "auto",
    [SGD_PRINTED] = "sgd-printed",
    [SGD_SPARSE_PRINTED] = "sgd-sparse-printed",
    [CSVRG_PRINTED] = "csvrg-printed",
};

static struct data_file files[RIDGE_SETS];

size_t ridge_seeds(const struct setting *setting)
{
    return setting->quick ? 3 : 10;
}

/* All points of a unit's stream, as the fit gets them. */
static int read_points(const struct unit *unit, const char *path, keepfit_stream **stream, keepfit_stream_info *info)
{
    keepfit_options *options = NULL;
    keepfit_error error;
    char text[80];
    snprintf(text, sizeof text, "shuffle=true scale=columns limit=%zu", unit->index);
    int code = options_start(text, unit->seed, &options);
    if (code == EXIT_DONE && keepfit_stream_open(path, options, stream, &error) != KEEPFIT_OK)
        code = fail_status(error.status, message_of(&error).text);
    keepfit_options_free(options);
    if (code == EXIT_DONE && keepfit_stream_read_all(*stream) != KEEPFIT_OK)
        code = fail_status(keepfit_stream_error(*stream)->status, message_of(keepfit_stream_error(*stream)).text);
    if (code == EXIT_DONE)
        keepfit_stream_describe(*stream, info);
    if (code == EXIT_DONE && info->total < 2 * RIDGE_SETTLED)
        code = fail(EXIT_DATA, "%s: %llu points are too few, %d are needed", path, (unsigned long long)info->total,
                    2 * RIDGE_SETTLED);
    return code;
}

/* The largest norm of an optimum over all stages, and the number of features. */
static int look_ahead(keepfit_stream *stream, size_t *features, double *largest)
{
    keepfit_point point;
    struct optimum optimum;
    *features = 0;
    *largest = 0;
    while (keepfit_stream_next(stream, &point) == KEEPFIT_OK)
        for (size_t k = 0; k < point.row.count; k++) {
            size_t feature = point.row.index ? point.row.index[k] : k;
            *features = feature >= *features ? feature + 1 : *features;
        }
    optimum_start(&optimum, *features, RIDGE_LAMBDA);
    for (keepfit_stream_rewind(stream); keepfit_stream_next(stream, &point) == KEEPFIT_OK;) {
        double square = 0;
        optimum_add(&optimum, &point);
        for (size_t k = 0; k < *features; k++)
            square += optimum.x[k] * optimum.x[k];
        *largest = fmax(*largest, sqrt(square));
    }
    optimum_free(&optimum);
    return keepfit_stream_rewind(stream) == KEEPFIT_OK ? EXIT_DONE : EXIT_FAILED;
}

static int follow(struct unit *unit, keepfit_stream *stream, keepfit_fit *fit, size_t features, uint64_t total)
{
    struct optimum optimum;
    keepfit_point point;
    keepfit_report report;
    double sum = 0, most = 0;
    int code = EXIT_DONE;
    optimum_start(&optimum, features, RIDGE_LAMBDA);
    for (uint64_t stage = 1; code == EXIT_DONE && keepfit_stream_next(stream, &point) == KEEPFIT_OK; stage++) {
        keepfit_status status = keepfit_fit_push(fit, &point);
        if (status == KEEPFIT_DIVERGED)
            break; /* told by the frame's last stage */
        if (status != KEEPFIT_OK)
            code = fit_failed(unit, fit);
        optimum_add(&optimum, &point);
        size_t size = 0;
        const double *x = keepfit_fit_iterate(fit, &size);
        double gap = optimum_gap(&optimum, x, size);
        sum += gap;
        most = stage >= RIDGE_SETTLED ? fmax(most, gap) : 0;
        if (!stage_is_recorded(stage, total))
            continue;
        keepfit_fit_report(fit, &report);
        frame_add(&unit->frame, (double[]){(double)stage, (double)report.fo, gap, sum, most});
        if (!unit_tick(unit, (double)stage / (double)total))
            break;
    }
    optimum_free(&optimum);
    return code;
}

static int run(struct unit *unit)
{
    const char *options = strstr(unit->key, "loss=");
    keepfit_stream *stream = NULL;
    keepfit_stream_info info;
    keepfit_fit *fit = NULL;
    size_t features;
    double largest;
    int code = read_points(unit, unit->subject, &stream, &info);
    if (code == EXIT_DONE)
        code = look_ahead(stream, &features, &largest);
    if (code == EXIT_DONE) {
        char text[512];
        const char *ball = strstr(options, "ball:twice");
        if (ball)
            snprintf(text, sizeof text, "%.*sball:%.17g", (int)(ball - options), options, 2 * largest);
        code = fit_start(ball ? text : options, unit->seed, &fit);
    }
    if (code == EXIT_DONE)
        code = follow(unit, stream, fit, features, info.total);
    keepfit_fit_free(fit);
    keepfit_stream_close(stream);
    return code;
}

/* The contestant's options, with the paper's parameters. The printed L belongs to the real data and all its points; where either
 * is not given, svrg and katyusha take the curvature they see. */
static void write_options(char *text, size_t room, enum ridge_contestant contestant, const struct ridge_set *set,
                          bool printed_smoothness)
{
    static const char *const own[RIDGE_CONTESTANTS] = {
        [CSVRG] = "csvrg setting=paper alpha=0.3 inner=100 step=capped",
        [SGD] = "sgd inner=300 step=capped",
        [SGD_SPARSE] = "sgd-sparse alpha=0.002 step=capped",
        [SVRG] = "svrg outer=10 inner=100",
        [KATYUSHA] = "katyusha outer=10 inner=100",
        [AUTO] = "auto epsilon=1e-3",
        [SGD_PRINTED] = "sgd inner=300 step=paper",
        [SGD_SPARSE_PRINTED] = "sgd-sparse alpha=0.002 step=paper",
        [CSVRG_PRINTED] = "csvrg setting=paper alpha=0.3 inner=100 step=paper",
    };
    int used = snprintf(text, room, "loss=squared lambda=%g method=%s", RIDGE_LAMBDA, own[contestant]);
    if (contestant == SVRG || contestant == KATYUSHA)
        used += printed_smoothness
                    ? snprintf(text + used, room - (size_t)used, " step=%.17g", 1 / (3 * set->smoothness))
                    : snprintf(text + used, room - (size_t)used, " step=0.33333333333333331/L");
    if (contestant == SGD_SPARSE || contestant == SGD_SPARSE_PRINTED)
        used += snprintf(text + used, room - (size_t)used, " inner=%u", set->sparse_steps);
    if (contestant >= SGD_PRINTED)
        snprintf(text + used, room - (size_t)used, " domain=ball:twice");
}

int ridge_plan(struct plan *plan)
{
    const struct setting *setting = plan->setting;
    size_t limit = setting->quick ? 300 : 1000;
    for (size_t set = 0; set < RIDGE_SETS; set++) {
        const char *name = ridge_sets[set].name;
        int code = data_find(setting->data, name, &files[set]);
        if (code != EXIT_DONE)
            return code;
        for (size_t contestant = 0; contestant < RIDGE_CONTESTANTS; contestant++)
            for (size_t run_index = 0; run_index < ridge_seeds(setting); run_index++) {
                struct unit *unit = plan_unit(plan, run_index);
                char options[256];
                write_options(options, sizeof options, contestant, &ridge_sets[set],
                              files[set].expected && !setting->quick);
                snprintf(unit->name, sizeof unit->name, "ridge-%s-%s-%llu", name, ridge_names[contestant],
                         (unsigned long long)unit->seed);
                snprintf(unit->key, sizeof unit->key, "%s sha256=%s limit=%zu seed=%llu %s", name, files[set].checksum,
                         limit, (unsigned long long)unit->seed, options);
                unit->columns = RIDGE_COLUMNS;
                unit->subject = files[set].path;
                unit->index = limit;
                unit->run = run;
                unit->cost = contestant == SVRG || contestant == KATYUSHA ? 0.6 : 0.1;
            }
    }
    return EXIT_DONE;
}
