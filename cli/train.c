#define _POSIX_C_SOURCE 200809L
#include "train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/output.h"
#include "toolkit/stop.h"
#include "team.h"
#include "train_check.h"

#define EARLY_STAGE 100 /* of a live stream, whose end may be far: what looks wrong by then is said */

static unsigned measures(const struct training *training)
{
    return KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_BOUND | (training->arguments->gap ? KEEPFIT_MEASURE_OPTIMUM : 0);
}

static int measure_stage(struct training *training)
{
    struct trace_row *row = &training->last;
    *row = (struct trace_row){.method = keepfit_options_get(training->arguments->options, "method"), .run = 1};
    keepfit_status status = trace_measure(training->fit, measures(training), row);
    if (status == KEEPFIT_UNSOLVED && !training->arguments->quiet)
        warn("%s", message_of(keepfit_fit_error(training->fit)).text);
    else if (status != KEEPFIT_OK && status != KEEPFIT_UNSOLVED)
        return fail_status(status, message_of(keepfit_fit_error(training->fit)).text);
    training->max_gap = fmax(training->max_gap, row->gap);
    training->traced = true;
    if (training->trace.file)
        trace_write_row(training->trace.file, row);
    return EXIT_DONE;
}

/* By the rows, where their number is known, or by what has been read of the file; with --limit it may be done before. */
static double share_done(const struct arguments *arguments, const keepfit_stream_info *info)
{
    double share = info->bytes ? (double)info->bytes_read / (double)info->bytes : -1;
    uint64_t limit = keepfit_options_get_integer(arguments->options, "limit");
    if (info->total)
        share = (double)info->points / (double)info->total;
    return limit ? fmax(share, fmin((double)info->points / (double)limit, 1)) : share;
}

static void show_progress(struct training *training, uint64_t stage)
{
    if (!progress_due(&training->progress, stage))
        return;
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_fit_report(training->fit, &report);
    keepfit_stream_describe(training->stream, &info);
    progress_show(&training->progress, &report, share_done(training->arguments, &info));
}

/* The stream's next point. One without any is no failure where the journal has some. */
static keepfit_status next_point(struct training *training, keepfit_point *point)
{
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_durability durability = {.struct_size = sizeof durability};
    keepfit_status status = keepfit_stream_next(training->stream, point);
    if (status != KEEPFIT_DATA)
        return status;
    keepfit_fit_durability(training->fit, &durability);
    keepfit_stream_describe(training->stream, &info);
    return info.empty && durability.resumed ? KEEPFIT_END : status;
}

/* Once: that some stages are not what was asked for, since they would have been too much work. */
static void warn_of_work(struct training *training, uint64_t stage)
{
    keepfit_report report = {.struct_size = sizeof report};
    if (training->gave_up || training->arguments->quiet)
        return;
    keepfit_fit_report(training->fit, &report);
    if (!report.given_up)
        return;
    training->gave_up = true;
    warn("stage %llu was given up with a bound of %.3g, above its target of %.3g: that is as much work as a stage may "
         "take; "
         "--scale columns, a larger --lambda or a larger --epsilon would help",
         (unsigned long long)stage, report.bound, report.target);
}

/* That nothing will be proved. Of a method that promises nothing, chosen by name, that is no surprise but beside an epsilon; where gaps are
 * measured, that one is held against them. */
static void warn_of_no_proof(const struct training *training)
{
    const char *reason;
    keepfit_no_proof why = keepfit_fit_no_proof(training->fit, &reason);
    bool asked = keepfit_options_given(training->arguments->options, "epsilon") && !training->arguments->gap;
    if (why != KEEPFIT_PROVES && (why != KEEPFIT_NO_PROMISE || asked) && !training->arguments->quiet)
        warn("nothing is proved: %s", reason);
}

static void warn_taken(struct training *training)
{
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_stream_describe(training->stream, &info);
    taken_warn(&training->taken, training->arguments->options, info.name);
}

/* What follows a stage: trace, save, progress. */
static int after_stage(struct training *training, uint64_t stage)
{
    const struct arguments *arguments = training->arguments;
    int code = EXIT_DONE;
    if (arguments->acknowledge)
        train_acknowledge(training);
    if (training->live && stage == EARLY_STAGE && !arguments->quiet)
        warn_taken(training);
    training->traced = false;
    warn_of_work(training, stage);
    if (training->tracing && trace_due(&training->plan, stage))
        code = measure_stage(training);
    if (code == EXIT_DONE && arguments->model && arguments->save_every && stage % arguments->save_every == 0)
        code = train_save(training);
    show_progress(training, stage);
    return code;
}

/* The stream cannot be read on. Of a file nothing is written: it will be mended and read again. A live stream's rows before
 * the bad one (whose line is named) are sound; of damaged gzip data nobody knows. */
static int end_badly(struct training *training, keepfit_status status, uint64_t line, const char *message)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(training->fit, &report);
    if (!training->live || !report.points || (status == KEEPFIT_DATA && !line))
        return fail_status(status, message);
    training->broken.status = status;
    snprintf(training->broken.message, sizeof training->broken.message,
             training->arguments->model ? "%.400s; the model of the %llu points before it is saved"
                                        : "%.400s; %llu points came before it",
             message, (unsigned long long)report.points);
    return EXIT_DONE;
}

/* The fit would not take the point, or failed on it. */
static int refused_point(struct training *training, keepfit_status status)
{
    keepfit_stream_info info = {.struct_size = sizeof info};
    struct message message = message_of(keepfit_fit_error(training->fit));
    if (status == KEEPFIT_IO) {
        training->failed = fail_status(status, message.text);
        return EXIT_DONE;
    }
    if (status != KEEPFIT_DATA)
        return fail_status(status, message.text);
    if (training->skip) {
        training->refused++;
        return EXIT_DONE;
    }
    char placed[sizeof training->broken.message];
    keepfit_stream_describe(training->stream, &info);
    snprintf(placed, sizeof placed, "%.200s:%llu:1: %.250s", info.name, (unsigned long long)info.line, message.text);
    return end_badly(training, KEEPFIT_DATA, info.line, placed);
}

static int another_point(const struct training *training, uint64_t number)
{
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_stream_describe(training->stream, &info);
    return fail(EXIT_DATA,
                "%s:%llu:1: point %llu is not the one that the journal has (--resume append adds all points of the "
                "stream; --shuffle and --scale depend on the whole file)",
                info.name, (unsigned long long)info.line, (unsigned long long)number);
}

/* Whether the stream's point has the key and the time of that one; what has left is not compared. */
static bool has_same_mark(const struct training *training, uint64_t number)
{
    keepfit_mark here = {.struct_size = sizeof here}, there = {.struct_size = sizeof there};
    uint64_t index;
    keepfit_stream_mark(training->stream, &here);
    if (!keepfit_fit_find(training->fit, number, &index) ||
        keepfit_fit_mark(training->fit, index, &there) != KEEPFIT_OK)
        return true;
    bool key = here.key && there.key ? strcmp(here.key, there.key) == 0 : here.key == there.key;
    return key && (isnan(there.time) || there.time == here.time);
}

/* Passes over the points that the journal already has, each compared; what the fit would not take at that time is not
 * among them. Returns the library's status of the stream. */
static keepfit_status pass_over(struct training *training, uint64_t resumed, int *code)
{
    keepfit_point point;
    keepfit_status status = KEEPFIT_OK;
    uint64_t number = 1;
    while (number <= resumed && !stop_signal) {
        status = next_point(training, &point);
        if (status != KEEPFIT_OK)
            break;
        columns_see(&training->columns, &point.row);
        bool same =
            keepfit_fit_compare(training->fit, number, &point) != KEEPFIT_DIFFERENT && has_same_mark(training, number);
        if (same) {
            trace_due(&training->plan, number++);
        } else if (training->skip) {
            training->refused++;
        } else {
            *code = another_point(training, number);
            break;
        }
    }
    if (status == KEEPFIT_END && number <= resumed && training->refused)
        *code = another_point(training, number);
    return status;
}

/* The fit learns what the stream calls its columns and, as they come, its classes. */
static keepfit_status pass_names(struct training *training)
{
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_stream_schema(training->stream, &schema);
    training->named = schema.classes + schema.features;
    return keepfit_fit_name(training->fit, &schema);
}

static keepfit_status push(struct training *training, const keepfit_point *point)
{
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_stream_schema(training->stream, &schema);
    keepfit_status status = schema.classes + schema.features == training->named ? KEEPFIT_OK : pass_names(training);
    keepfit_mark mark = {.struct_size = sizeof mark};
    keepfit_stream_mark(training->stream, &mark);
    return status == KEEPFIT_OK ? keepfit_fit_push_marked(training->fit, point, &mark) : status;
}

static int push_all(struct training *training)
{
    keepfit_point point;
    keepfit_status status = KEEPFIT_OK;
    keepfit_durability durability = {.struct_size = sizeof durability};
    int code = EXIT_DONE;
    keepfit_fit_durability(training->fit, &durability);
    uint64_t stage = training->safe = durability.resumed;
    if (strcmp(training->arguments->resume, "check") == 0)
        status = pass_over(training, stage, &code);
    while (code == EXIT_DONE && !stop_signal && !training->failed && !training->broken.status) {
        if (status == KEEPFIT_OK)
            status = next_point(training, &point);
        if (status == KEEPFIT_END || status == KEEPFIT_STOPPED)
            break;
        if (status != KEEPFIT_OK)
            return end_badly(training, status, keepfit_stream_error(training->stream)->line,
                             message_of(keepfit_stream_error(training->stream)).text);
        columns_see(&training->columns, &point.row);
        taken_see(&training->taken, point.target);
        status = push(training, &point);
        code = status == KEEPFIT_OK ? after_stage(training, ++stage) : refused_point(training, status);
        status = KEEPFIT_OK;
    }
    if (code == EXIT_DONE && stage == 0 && training->failed)
        return training->failed;
    if (code == EXIT_DONE && stage == 0)
        return stop_signal ? stop_code()
                           : fail(EXIT_DATA, "%s: no points could be used", train_data(training->arguments));
    return code;
}

static int finish(struct training *training)
{
    struct arguments *arguments = training->arguments;
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_stream_info info = {.struct_size = sizeof info};
    progress_end(&training->progress);
    keepfit_fit_report(training->fit, &report);
    keepfit_stream_describe(training->stream, &info);
    uint64_t skipped = info.skipped + training->refused;
    int journal = train_finish_journal(training);
    int code = training->traced ? EXIT_DONE : measure_stage(training);
    if (code == EXIT_DONE && arguments->model)
        code = train_save(training);
    if (code == EXIT_DONE && training->trace.file)
        code = output_commit(&training->trace);
    if (code != EXIT_DONE)
        return training->broken.status ? fail_status(training->broken.status, training->broken.message) : code;
    if (skipped && !arguments->quiet)
        warn("%s: %llu bad rows were skipped", info.name, (unsigned long long)skipped);
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_fit_schema(training->fit, &schema);
    training->columns.centred = keepfit_options_get_flag(arguments->options, "intercept");
    if (!arguments->quiet)
        columns_warn(&training->columns, info.name, &schema);
    if (!arguments->quiet)
        warn_cut(&info);
    if (!arguments->quiet)
        taken_warn_cells(&info);
    if (!arguments->quiet && !training->broken.status)
        warn_taken(training);
    train_print_summary(training, &report, &info, skipped);
    if (journal != EXIT_DONE)
        return journal;
    if (training->broken.status)
        return fail_status(training->broken.status, training->broken.message);
    if (stop_signal)
        return stop_code();
    return train_verdict(training, &report);
}

/* What is known of the stream's length: at most the limit, or 0. */
static uint64_t expected_points(const struct training *training)
{
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_stream_describe(training->stream, &info);
    uint64_t limit = keepfit_options_get_integer(training->arguments->options, "limit");
    return info.total || limit > TRACE_UNKNOWN_TOTAL ? info.total : limit;
}

/* Traced stages are spaced by the stream's length, so a file is read to its end first. */
static int plan_trace(struct training *training)
{
    const struct arguments *arguments = training->arguments;
    if (!arguments->trace && !arguments->gap)
        return trace_plan_read(&training->plan, arguments->trace_stages, 0); /* refuses nonsense all the same */
    bool whole = !train_is_live(arguments) && strcmp(arguments->trace_stages, "all") != 0;
    if (whole) {
        keepfit_status status = keepfit_stream_read_all(training->stream);
        if (status == KEEPFIT_STOPPED)
            return stop_code();
        keepfit_stream_info info = {.struct_size = sizeof info};
        keepfit_stream_describe(training->stream, &info);
        if (status != KEEPFIT_OK && !info.empty) /* which the first point finds out again */
            return fail_status(status, message_of(keepfit_stream_error(training->stream)).text);
    }
    training->tracing = true;
    int code = trace_plan_read(&training->plan, arguments->trace_stages, expected_points(training));
    if (code == EXIT_DONE && arguments->trace && team_writes())
        code = output_open(&training->trace, arguments->trace);
    if (code == EXIT_DONE && training->trace.file)
        trace_write_head(training->trace.file);
    return code;
}

/* The journal may remember what was not given. */
static bool take_options(struct training *training)
{
    keepfit_options *options = keepfit_options_copy(keepfit_fit_options(training->fit));
    if (!options)
        return false;
    keepfit_options_free(training->arguments->options);
    training->arguments->options = options;
    training->epsilon = keepfit_options_get_number(options, "epsilon");
    return true;
}

static int open_all(struct training *training)
{
    struct arguments *arguments = training->arguments;
    keepfit_error error = {.struct_size = sizeof error};
    int code = check_gap(arguments);
    if (code != EXIT_DONE)
        return code;
    bool chosen = train_chooses_loss(arguments);
    if (chosen)
        taken_choose_loss(arguments->options, train_data(arguments));
    training->loss_chosen = chosen && keepfit_options_given(arguments->options, "loss");
    keepfit_status status = keepfit_fit_create(arguments->options, &training->fit, &error);
    if (status == KEEPFIT_OK && !take_options(training))
        return fail(EXIT_FAILED, "out of memory");
    if (status == KEEPFIT_OK && (code = train_check_scale(arguments)) != EXIT_DONE)
        return code;
    if (status == KEEPFIT_OK)
        status = keepfit_stream_open_for_fit(train_data(arguments), arguments->options, training->fit,
                                             &training->stream, &error);
    if (status == KEEPFIT_OK && (status = pass_names(training)) != KEEPFIT_OK)
        error = *keepfit_fit_error(training->fit);
    if (status == KEEPFIT_STOPPED)
        return stop_code();
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    if (!arguments->quiet)
        taken_say_types(training->stream);
    warn_of_no_proof(training);
    return plan_trace(training);
}

/* A signal ends a team at once, as its ranks could not stop at the same stage. */
static int join_team(struct training *training)
{
    keepfit_error error = {.struct_size = sizeof error};
    if (training->live && training->arguments->positional_count)
        return fail(EXIT_USAGE, "a team reads a file that all its ranks see, not a pipe");
    keepfit_status status = keepfit_options_team(training->arguments->options, cli_team, &error);
    return status == KEEPFIT_OK ? EXIT_DONE : fail_status(status, message_of(&error).text);
}

int run_train(struct arguments *arguments)
{
    struct training training = {.arguments = arguments, .max_gap = NAN};
    training.skip = strcmp(keepfit_options_get(arguments->options, "on-error"), "skip") == 0;
    int code = train_check(arguments);
    if (code != EXIT_DONE)
        return code;
    training.live = train_is_live(arguments);
    progress_start(&training.progress, arguments->quiet);
    code = cli_team ? join_team(&training) : EXIT_DONE;
    if (!cli_team)
        keepfit_options_stop(arguments->options, stop_watch());
    if (code == EXIT_DONE)
        code = open_all(&training);
    if (code == EXIT_DONE)
        code = push_all(&training);
    if (code == EXIT_DONE)
        code = finish(&training);
    progress_end(&training.progress);
    output_discard(&training.trace);
    columns_free(&training.columns);
    keepfit_fit_free(training.fit);
    keepfit_stream_close(training.stream);
    return code;
}
