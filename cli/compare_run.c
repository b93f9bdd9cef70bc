/* The races of a comparison. All methods of a run see the same order of the points, so the optimum of a stage is solved for
 * once a run and shared. Runs are independent of each other: they may go on threads, and the results are the same. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "toolkit/output.h"
#include "toolkit/progress.h"

struct work {
    struct comparison *comparison;
    pthread_mutex_t lock;
    size_t next_run;
    uint64_t stages_done, stages_all; /* over all races */
    struct progress progress;
    bool failed; /* and the reason was printed */
    int code;
};

static void count_stages(struct work *work, uint64_t stages)
{
    pthread_mutex_lock(&work->lock);
    work->stages_done += stages;
    progress_share(&work->progress, "comparing", (double)work->stages_done / (double)work->stages_all);
    pthread_mutex_unlock(&work->lock);
}

static void record_failure(struct race *race, const char *message)
{
    race->failed = true;
    snprintf(race->failure, sizeof race->failure, "%s", message);
}

/* Measures one planned stage; optimum[k] is NaN until some method of the run has solved for it. */
static bool measure_stage(const struct comparison *comparison, struct race *race, keepfit_fit *fit, const char *name,
                          size_t run, double *optimum)
{
    struct trace_row *row = &race->rows[race->done];
    *row = (struct trace_row){.method = name, .run = run + 1};
    unsigned what = KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_BOUND;
    bool known = !isnan(*optimum) || !comparison->has_optimum;
    keepfit_status status = trace_measure(fit, what | (known ? 0 : KEEPFIT_MEASURE_OPTIMUM), row);
    if (status != KEEPFIT_OK && status != KEEPFIT_UNSOLVED) {
        record_failure(race, message_of(keepfit_fit_error(fit)).text);
        return false;
    }
    if (known && comparison->has_optimum) {
        row->optimum = *optimum;
        row->gap = row->objective - *optimum;
    }
    *optimum = row->optimum;
    race->done++;
    return true;
}

static uint64_t last_measured(const struct race *race)
{
    return race->done ? race->rows[race->done - 1].stage : 0;
}

/* Runs fail for the same reason, most likely: the first one prints it. */
static bool is_first_failure(struct work *work)
{
    pthread_mutex_lock(&work->lock);
    bool first = !work->failed;
    work->failed = true;
    pthread_mutex_unlock(&work->lock);
    return first;
}

/* Bad data is nobody's failure but the data's: it ends the comparison. */
static int refused_point(struct work *work, const keepfit_stream *stream, const keepfit_fit *fit)
{
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_stream_describe(stream, &info);
    if (!is_first_failure(work))
        return EXIT_DATA;
    return fail(EXIT_DATA, "%s:%llu:1: %s", info.name, (unsigned long long)info.line,
                message_of(keepfit_fit_error(fit)).text);
}

static int nothing_usable(struct work *work)
{
    if (!is_first_failure(work))
        return EXIT_DATA;
    return fail(EXIT_DATA, "%s: no points could be used", work->comparison->info.name);
}

static int run_race(struct work *work, struct race *race, keepfit_fit *fit, const char *name, size_t run,
                    keepfit_stream *stream, double *optima)
{
    struct comparison *comparison = work->comparison;
    keepfit_point point;
    uint64_t stage = 0, counted = 0;
    while (race->done < comparison->stage_count && keepfit_stream_next(stream, &point) == KEEPFIT_OK) {
        keepfit_mark mark = {.struct_size = sizeof mark};
        keepfit_stream_mark(stream, &mark);
        keepfit_status status = keepfit_fit_push_marked(fit, &point, &mark);
        if (status == KEEPFIT_DATA && comparison->skip) {
            race->refused++;
            continue;
        }
        if (status == KEEPFIT_DATA)
            return refused_point(work, stream, fit);
        if (status != KEEPFIT_OK) {
            record_failure(race, message_of(keepfit_fit_error(fit)).text);
            break;
        }
        stage++;
        if (stage == comparison->stages[race->done] &&
            !measure_stage(comparison, race, fit, name, run, &optima[race->done]))
            break;
        if (stage - counted >= 64) {
            count_stages(work, stage - counted);
            counted = stage;
        }
    }
    if (!race->failed && stage == 0)
        return nothing_usable(work);
    if (!race->failed && race->done < comparison->stage_count && stage > last_measured(race))
        measure_stage(comparison, race, fit, name, run, &optima[race->done]); /* the last, sooner than planned */
    keepfit_fit_report(fit, &race->report);
    count_stages(work, comparison->info.total - counted);
    return EXIT_DONE;
}

static keepfit_status make_fit(const struct contestant *contestant, uint64_t seed, keepfit_fit **fit,
                               keepfit_error *error)
{
    char text[32];
    keepfit_options *options = keepfit_options_copy(contestant->options);
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    keepfit_status status = options ? keepfit_options_set(options, "seed", text, error) : KEEPFIT_NO_MEMORY;
    if (status == KEEPFIT_OK)
        status = keepfit_options_set(options, "threads", "1", error); /* the runs have them */
    if (status == KEEPFIT_OK)
        status = keepfit_fit_create(options, fit, error);
    keepfit_options_free(options);
    return status;
}

static int run_one(struct work *work, size_t run, double *optima)
{
    struct comparison *comparison = work->comparison;
    uint64_t seed = keepfit_options_get_integer(comparison->contestants[0].options, "seed") + run;
    keepfit_stream *stream = NULL;
    keepfit_error error = {.message = ""};
    keepfit_status status = keepfit_stream_reorder(comparison->stream, seed, &stream, &error);
    int code = EXIT_DONE;
    for (size_t k = 0; k < comparison->stage_count; k++)
        optima[k] = NAN;
    for (size_t c = 0; c < comparison->contestant_count && status == KEEPFIT_OK && code == EXIT_DONE; c++) {
        keepfit_fit *fit = NULL;
        status = make_fit(&comparison->contestants[c], seed, &fit, &error);
        if (status == KEEPFIT_OK && c > 0)
            status = keepfit_stream_rewind(stream);
        if (status == KEEPFIT_OK)
            code =
                run_race(work, race_of(comparison, run, c), fit, comparison->contestants[c].name, run, stream, optima);
        keepfit_fit_free(fit);
    }
    keepfit_stream_close(stream);
    if (status != KEEPFIT_OK)
        code = is_first_failure(work) ? fail_status(status, message_of(&error).text) : EXIT_FAILED;
    return code;
}

static void *worker(void *argument)
{
    struct work *work = argument;
    double *optima = calloc(work->comparison->stage_count, sizeof *optima);
    for (;;) {
        pthread_mutex_lock(&work->lock);
        size_t run = work->code == EXIT_DONE ? work->next_run++ : SIZE_MAX;
        pthread_mutex_unlock(&work->lock);
        if (run >= work->comparison->runs)
            break;
        int code = optima ? run_one(work, run, optima) : fail(EXIT_FAILED, "out of memory");
        pthread_mutex_lock(&work->lock);
        if (work->code == EXIT_DONE)
            work->code = code;
        pthread_mutex_unlock(&work->lock);
    }
    free(optima);
    return NULL;
}

int compare_run(struct comparison *comparison)
{
    struct work work = {.comparison = comparison};
    progress_start(&work.progress, comparison->arguments->quiet);
    work.stages_all = comparison->info.total * comparison->runs * comparison->contestant_count;
    pthread_mutex_init(&work.lock, NULL);
    size_t threads = keepfit_options_get_integer(comparison->arguments->options, "threads"), started = 0;
    if (threads == 0)
        threads = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (threads > comparison->runs)
        threads = comparison->runs;
    pthread_t *others = calloc(threads, sizeof *others);
    while (others && started + 1 < threads && pthread_create(&others[started], NULL, worker, &work) == 0)
        started++;
    worker(&work);
    for (size_t k = 0; k < started; k++)
        pthread_join(others[k], NULL);
    free(others);
    pthread_mutex_destroy(&work.lock);
    progress_end(&work.progress);
    return work.code;
}
