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

/* What a unit does. */
struct ridge_run {
    const struct ridge_set *set;
    struct data_file file;
    enum ridge_contestant contestant;
    size_t limit; /* rows */
    bool
        printed_smoothness; /* L as printed: of the real data and all its points; else the curvature that the method sees */
};

/* The steps as printed need a bounded domain. */
static bool has_ball(const struct ridge_run *parameters)
{
    return parameters->contestant >= SGD_PRINTED;
}

size_t ridge_seeds(const struct setting *setting)
{
    return setting->quick ? 3 : 10;
}

/* All points of a unit's stream, as the fit gets them. */
static int read_points(const struct unit *unit, keepfit_stream **stream, keepfit_stream_info *info)
{
    const struct ridge_run *parameters = unit->parameters;
    const char *path = parameters->file.path;
    keepfit_options *options = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    char text[80];
    snprintf(text, sizeof text, "shuffle=true scale=columns limit=%zu", parameters->limit);
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
    keepfit_report report = {.struct_size = sizeof report};
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

/* The contestant's options, with the paper's parameters, but for the ball. */
static void write_options(char *text, size_t room, const struct ridge_run *parameters)
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
    enum ridge_contestant contestant = parameters->contestant;
    int used = snprintf(text, room, "loss=squared lambda=%g method=%s", RIDGE_LAMBDA, own[contestant]);
    char *end = text + used;
    room -= (size_t)used;
    if ((contestant == SVRG || contestant == KATYUSHA) && parameters->printed_smoothness)
        snprintf(end, room, " step=%.17g", 1 / (3 * parameters->set->smoothness));
    else if (contestant == SVRG || contestant == KATYUSHA)
        snprintf(end, room, " step=0.33333333333333331/L");
    else if (contestant == SGD_SPARSE || contestant == SGD_SPARSE_PRINTED)
        snprintf(end, room, " inner=%u", parameters->set->sparse_steps);
}

static int run(struct unit *unit)
{
    const struct ridge_run *parameters = unit->parameters;
    keepfit_stream *stream = NULL;
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_fit *fit = NULL;
    size_t features;
    double largest;
    int code = read_points(unit, &stream, &info);
    if (code == EXIT_DONE)
        code = look_ahead(stream, &features, &largest);
    if (code == EXIT_DONE) {
        char options[512];
        write_options(options, sizeof options, parameters);
        if (has_ball(parameters)) {
            size_t used = strlen(options);
            snprintf(options + used, sizeof options - used, " domain=ball:%.17g", 2 * largest);
        }
        code = fit_start(options, unit->seed, &fit);
    }
    if (code == EXIT_DONE)
        code = follow(unit, stream, fit, features, info.total);
    keepfit_fit_free(fit);
    keepfit_stream_close(stream);
    return code;
}

static void plan_run(struct plan *plan, const struct ridge_run *parameters, uint64_t seed)
{
    struct unit *unit = plan_unit(plan, seed, parameters, sizeof *parameters);
    enum ridge_contestant contestant = parameters->contestant;
    char options[256];
    write_options(options, sizeof options, parameters);
    snprintf(unit->name, sizeof unit->name, "ridge-%s-%s-%llu", parameters->set->name, ridge_names[contestant],
             (unsigned long long)unit->seed);
    snprintf(unit->key, sizeof unit->key, "%s sha256=%s limit=%zu seed=%llu %s%s", parameters->set->name,
             parameters->file.checksum, parameters->limit, (unsigned long long)unit->seed, options,
             has_ball(parameters) ? " in a ball twice as large as the optima" : "");
    unit->columns = RIDGE_COLUMNS;
    unit->run = run;
    unit->cost = contestant == SVRG || contestant == KATYUSHA ? 0.6 : 0.1;
}

int ridge_plan(struct plan *plan)
{
    const struct setting *setting = plan->setting;
    for (size_t set = 0; set < RIDGE_SETS; set++) {
        struct ridge_run parameters = {.set = &ridge_sets[set], .limit = setting->quick ? 300 : 1000};
        int code = data_find(setting->data, parameters.set->name, &parameters.file);
        if (code != EXIT_DONE)
            return code;
        parameters.printed_smoothness = parameters.file.expected && !setting->quick;
        for (size_t contestant = 0; contestant < RIDGE_CONTESTANTS; contestant++)
            for (size_t seed = 0; seed < ridge_seeds(setting); seed++) {
                parameters.contestant = contestant;
                plan_run(plan, &parameters, seed);
            }
    }
    return EXIT_DONE;
}
