#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arguments.h"
#include "columns.h"
#include "output.h"
#include "progress.h"
#include "stop.h"
#include "trace.h"

struct training {
    struct arguments *arguments;
    keepfit_stream *stream;
    keepfit_fit *fit;
    bool traced, tracing; /* the last stage has been traced; there is a plan */
    struct trace_plan plan;
    struct output trace;
    struct trace_row last;
    struct progress progress;
    struct columns columns;
    double max_gap, epsilon;
    uint64_t refused; /* points that the fit would not take, with --on-error skip */
    bool skip;
    uint64_t safe; /* points that were last acknowledged */
    size_t named;  /* classes whose names the fit knows */
    int failed;    /* the journal's disk has failed: what there is, is shown all the same */
};

/* Standard input or output, whichever the name is for. */
static bool is_standard(const char *name)
{
    return strcmp(name, "-") == 0;
}

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
        warn("%s", keepfit_fit_error(training->fit)->message);
    else if (status != KEEPFIT_OK && status != KEEPFIT_UNSOLVED)
        return fail_status(status, keepfit_fit_error(training->fit)->message);
    training->max_gap = fmax(training->max_gap, row->gap);
    training->traced = true;
    if (training->trace.file)
        trace_write_row(training->trace.file, row);
    return EXIT_DONE;
}

static int save_model(struct training *training)
{
    keepfit_model *model = NULL;
    keepfit_error error = {.message = ""};
    keepfit_status status = keepfit_fit_model(training->fit, &model);
    if (status == KEEPFIT_OK)
        status = keepfit_model_unscale(model, training->stream, &error);
    if (status == KEEPFIT_OK)
        status = keepfit_model_save(model, training->arguments->model, &error);
    keepfit_model_free(model);
    return status == KEEPFIT_OK ? EXIT_DONE : fail_status(status, error.message);
}

static double share_done(const keepfit_stream_info *info)
{
    if (info->total)
        return (double)info->points / (double)info->total;
    return info->bytes ? (double)info->bytes_read / (double)info->bytes : -1;
}

static void show_progress(struct training *training, uint64_t stage)
{
    if (!progress_due(&training->progress, stage))
        return;
    keepfit_report report;
    keepfit_stream_info info;
    keepfit_fit_report(training->fit, &report);
    keepfit_stream_describe(training->stream, &info);
    progress_show(&training->progress, &report, share_done(&info));
}

/* Tells whoever feeds the stream what need not be kept any longer. */
static void acknowledge(struct training *training)
{
    keepfit_durability durability;
    keepfit_fit_durability(training->fit, &durability);
    if (durability.safe == training->safe)
        return;
    training->safe = durability.safe;
    printf("%llu\n", (unsigned long long)durability.safe);
    fflush(stdout);
}

/* What follows a stage: trace, save, progress. */
static int after_stage(struct training *training, uint64_t stage)
{
    const struct arguments *arguments = training->arguments;
    int code = EXIT_DONE;
    if (arguments->acknowledge)
        acknowledge(training);
    training->traced = false;
    if (training->tracing && trace_due(&training->plan, stage))
        code = measure_stage(training);
    if (code == EXIT_DONE && arguments->model && arguments->save_every && stage % arguments->save_every == 0)
        code = save_model(training);
    show_progress(training, stage);
    return code;
}

/* The fit would not take the point, or failed on it. */
static int refused_point(struct training *training, keepfit_status status)
{
    keepfit_stream_info info;
    const char *message = keepfit_fit_error(training->fit)->message;
    if (status == KEEPFIT_IO) {
        training->failed = fail_status(status, message);
        return EXIT_DONE;
    }
    if (status != KEEPFIT_DATA)
        return fail_status(status, message);
    if (training->skip) {
        training->refused++;
        return EXIT_DONE;
    }
    keepfit_stream_describe(training->stream, &info);
    return fail(EXIT_DATA, "%s:%llu:1: %s", info.name, (unsigned long long)info.line, message);
}

static int another_point(const struct training *training, uint64_t number)
{
    keepfit_stream_info info;
    keepfit_stream_describe(training->stream, &info);
    return fail(EXIT_DATA,
                "%s:%llu:1: point %llu is not the one that the journal has (--resume append adds all points of the "
                "stream; --shuffle and --scale depend on the whole file)",
                info.name, (unsigned long long)info.line, (unsigned long long)number);
}

/* Passes over the points that the journal already has, each compared; what the fit would not take at that time is not
 * among them. Returns the library's status of the stream. */
static keepfit_status pass_over(struct training *training, uint64_t resumed, int *code)
{
    keepfit_point point;
    keepfit_status status = KEEPFIT_OK;
    uint64_t number = 1;
    while (number <= resumed && !stop_signal) {
        status = keepfit_stream_next(training->stream, &point);
        if (status != KEEPFIT_OK)
            break;
        columns_see(&training->columns, &point.row);
        bool same = keepfit_fit_compare(training->fit, number, &point) != KEEPFIT_DATA;
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
    keepfit_schema schema;
    keepfit_stream_schema(training->stream, &schema);
    training->named = schema.classes;
    return keepfit_fit_name(training->fit, &schema);
}

static keepfit_status push(struct training *training, const keepfit_point *point)
{
    keepfit_schema schema;
    keepfit_stream_schema(training->stream, &schema);
    keepfit_status status = schema.classes == training->named ? KEEPFIT_OK : pass_names(training);
    return status == KEEPFIT_OK ? keepfit_fit_push(training->fit, point) : status;
}

static int push_all(struct training *training)
{
    keepfit_point point;
    keepfit_status status = KEEPFIT_OK;
    keepfit_durability durability;
    int code = EXIT_DONE;
    keepfit_fit_durability(training->fit, &durability);
    uint64_t stage = training->safe = durability.resumed;
    if (strcmp(training->arguments->resume, "check") == 0)
        status = pass_over(training, stage, &code);
    while (code == EXIT_DONE && !stop_signal && !training->failed) {
        if (status == KEEPFIT_OK)
            status = keepfit_stream_next(training->stream, &point);
        if (status == KEEPFIT_END || status == KEEPFIT_STOPPED)
            break;
        if (status != KEEPFIT_OK)
            return fail_status(status, keepfit_stream_error(training->stream)->message);
        columns_see(&training->columns, &point.row);
        status = push(training, &point);
        code = status == KEEPFIT_OK ? after_stage(training, ++stage) : refused_point(training, status);
        status = KEEPFIT_OK;
    }
    if (code == EXIT_DONE && stage == 0 && training->failed)
        return training->failed;
    if (code == EXIT_DONE && stage == 0)
        return stop_signal ? stop_code()
                           : fail(EXIT_DATA, "%s: no points could be used", training->arguments->positional[0]);
    return code;
}

static void json_field(const char *name, double number)
{
    printf(",\n  \"%s\": ", name);
    json_number(stdout, number);
}

static void json_text_field(const char *name, const char *text)
{
    printf(",\n  \"%s\": ", name);
    json_text(stdout, text);
}

static void print_json(const struct training *training, const keepfit_report *report, uint64_t skipped)
{
    keepfit_options *options = training->arguments->options;
    keepfit_durability durability;
    keepfit_fit_durability(training->fit, &durability);
    printf("{\n  \"method\": ");
    json_text(stdout, keepfit_options_get(options, "method"));
    json_text_field("chosen", report->method);
    json_text_field("reason", report->reason);
    json_text_field("loss", keepfit_options_get(options, "loss"));
    json_text_field("domain", keepfit_options_get(options, "domain"));
    json_text_field("epsilon_kind", keepfit_options_get(options, "epsilon-kind"));
    json_text_field("guarantee", keepfit_options_get(options, "guarantee"));
    const struct {
        const char *name;
        double number;
    } fields[] = {
        {"lambda", report->lambda},
        {"epsilon", training->epsilon},
        {"stages", (double)report->stage},
        {"points", (double)report->points},
        {"features", (double)report->features},
        {"classes", (double)report->classes},
        {"fo", (double)report->fo},
        {"steps", (double)report->steps},
        {"seconds", report->seconds},
        {"objective", training->last.objective},
        {"optimum", training->last.optimum},
        {"gap", training->last.gap},
        {"max_gap", training->max_gap},
        {"bound", training->last.bound},
        {"worst_bound", report->worst_bound},
        {"target", report->target},
        {"missed", (double)report->missed},
        {"unproved", (double)report->unproved},
        {"smoothness", report->smoothness},
        {"validation_loss", report->validation_loss},
        {"validation_error", report->validation_error},
        {"skipped", (double)skipped},
        {"resumed", (double)durability.resumed},
        {"replayed", (double)durability.replayed},
        {"cut", (double)durability.cut},
    };
    for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++)
        json_field(fields[k].name, fields[k].number);
    printf("\n}\n");
}

static void print_bound(const struct training *training, const keepfit_report *report)
{
    keepfit_options *options = training->arguments->options;
    bool estimated = strcmp(keepfit_options_get(options, "guarantee"), "estimate") == 0;
    const char *kind = keepfit_options_get(options, "epsilon-kind");
    const char *said = strcmp(kind, "absolute") == 0 ? "" : kind;
    double bound = training->last.bound;
    if (report->unproved)
        printf("  unproved     %llu stages rest on an estimate\n", (unsigned long long)report->unproved);
    if (isnan(bound))
        return;
    printf("  %-12s gap at most %.3g now", estimated ? "estimated" : "proved", bound);
    if (!isnan(report->worst_bound))
        printf(", %.3g at the worst stage", report->worst_bound);
    printf(" (epsilon %g%s%s", training->epsilon, *said ? " " : "", said);
    if (*said && !isnan(report->target))
        printf(", now %.3g", report->target);
    printf(")\n");
}

static void print_text(const struct training *training, const keepfit_report *report)
{
    const struct trace_row *last = &training->last;
    keepfit_durability durability;
    keepfit_fit_durability(training->fit, &durability);
    double stages = (double)report->stage;
    printf("%s: %llu stages, %llu features, %.3g s\n", report->method, (unsigned long long)report->stage,
           (unsigned long long)report->features, report->seconds);
    printf("  gradients    %llu in all, %.3g a stage\n", (unsigned long long)report->fo, (double)report->fo / stages);
    if (durability.resumed)
        printf("  resumed      %llu points from the journal, %llu of them run again\n",
               (unsigned long long)durability.resumed, (unsigned long long)durability.replayed);
    if (report->points != report->stage)
        printf("  window       the newest %llu points\n", (unsigned long long)report->points);
    printf("  objective    %.10g\n", last->objective);
    print_bound(training, report);
    if (!isnan(training->max_gap))
        printf("  measured     gap %.3g now, %.3g at the worst traced stage\n", last->gap, training->max_gap);
    if (report->validated)
        printf("  progressive  loss %.4g, %s %.4g (each point predicted before it was learnt)\n",
               report->validation_loss, report->classes ? "error" : "rmse", report->validation_error);
}

/* 5 where a proof fails, or a measurement shows that an epsilon the user named was not reached. */
static int verdict(const struct training *training, const keepfit_report *report)
{
    keepfit_options *options = training->arguments->options;
    bool absolute = strcmp(keepfit_options_get(options, "epsilon-kind"), "absolute") == 0;
    bool named = keepfit_options_given(options, "epsilon") && absolute;
    bool proved = absolute ? report->worst_bound > training->epsilon : !isnan(report->worst_bound);
    if (report->missed && !proved) /* of the stages that were missed nothing is known for certain */
        return fail(EXIT_NOT_REACHED, "epsilon %g was not reached at %llu of %llu stages, going by an estimate",
                    training->epsilon, (unsigned long long)report->missed, (unsigned long long)report->stage);
    if (report->missed)
        return fail(EXIT_NOT_REACHED,
                    "epsilon %g was not reached at %llu of %llu stages; the bound was %.3g at the worst",
                    training->epsilon, (unsigned long long)report->missed, (unsigned long long)report->stage,
                    report->worst_bound);
    if (absolute && isnan(report->target) && report->worst_bound > training->epsilon)
        return fail(EXIT_NOT_REACHED, "epsilon %g was not reached at every stage: the bound was %.3g at the worst",
                    training->epsilon, report->worst_bound);
    if (named && training->max_gap > training->epsilon)
        return fail(EXIT_NOT_REACHED,
                    "epsilon %g was not reached at every stage: the gap was %.3g at the worst traced one",
                    training->epsilon, training->max_gap);
    return EXIT_DONE;
}

/* So that nothing has to be run again. What a crash has left behind is told, too. */
static int finish_journal(struct training *training)
{
    keepfit_durability durability;
    if (!*keepfit_options_get(training->arguments->options, "journal") || training->failed)
        return training->failed;
    keepfit_status status = keepfit_fit_checkpoint(training->fit);
    if (status != KEEPFIT_OK)
        return fail_status(status, keepfit_fit_error(training->fit)->message);
    keepfit_fit_durability(training->fit, &durability);
    if (training->arguments->acknowledge)
        acknowledge(training);
    if (durability.cut && !training->arguments->quiet)
        warn("the journal's last %llu bytes were cut off: the torn tail of a crash, never acknowledged",
             (unsigned long long)durability.cut);
    if (durability.spoilt && !training->arguments->quiet)
        warn("%llu checkpoints of the journal could not be used", (unsigned long long)durability.spoilt);
    return EXIT_DONE;
}

static int finish(struct training *training)
{
    struct arguments *arguments = training->arguments;
    keepfit_report report;
    keepfit_stream_info info;
    progress_end(&training->progress);
    keepfit_fit_report(training->fit, &report);
    keepfit_stream_describe(training->stream, &info);
    uint64_t skipped = info.skipped + training->refused;
    int journal = finish_journal(training);
    int code = training->traced ? EXIT_DONE : measure_stage(training);
    if (code == EXIT_DONE && arguments->model)
        code = save_model(training);
    if (code == EXIT_DONE && training->trace.file)
        code = output_commit(&training->trace);
    if (code != EXIT_DONE)
        return code;
    if (skipped && !arguments->quiet)
        warn("%s: %llu bad rows were skipped", info.name, (unsigned long long)skipped);
    if (!arguments->quiet)
        columns_warn(&training->columns, info.name);
    if (arguments->json)
        print_json(training, &report, skipped);
    else if (!arguments->quiet)
        print_text(training, &report);
    if (journal != EXIT_DONE)
        return journal;
    if (stop_signal)
        return stop_code();
    return verdict(training, &report);
}

/* Whether the data may still be coming, as a pipe's, so that nobody knows how long the stream will be. */
static bool is_growing(const char *data)
{
    struct stat status;
    return (is_standard(data) ? fstat(STDIN_FILENO, &status) : stat(data, &status)) == 0 && !S_ISREG(status.st_mode);
}

/* What is known of the stream's length: at most the limit, or 0. */
static uint64_t expected_points(const struct training *training)
{
    keepfit_stream_info info;
    keepfit_stream_describe(training->stream, &info);
    uint64_t limit = strtoull(keepfit_options_get(training->arguments->options, "limit"), NULL, 10);
    return info.total || limit > TRACE_UNKNOWN_TOTAL ? info.total : limit;
}

/* Traced stages are spaced by the stream's length, so a file is read to its end first. */
static int plan_trace(struct training *training)
{
    const struct arguments *arguments = training->arguments;
    if (!arguments->trace && !arguments->gap)
        return trace_plan_read(&training->plan, arguments->trace_stages, 0); /* refuses nonsense all the same */
    bool whole = !is_growing(arguments->positional[0]) && strcmp(arguments->trace_stages, "all") != 0;
    if (whole) {
        keepfit_status status = keepfit_stream_read_all(training->stream);
        if (status == KEEPFIT_STOPPED)
            return stop_code();
        if (status != KEEPFIT_OK)
            return fail_status(status, keepfit_stream_error(training->stream)->message);
    }
    training->tracing = true;
    int code = trace_plan_read(&training->plan, arguments->trace_stages, expected_points(training));
    if (code == EXIT_DONE && arguments->trace)
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
    training->epsilon = strtod(keepfit_options_get(options, "epsilon"), NULL);
    return true;
}

static int open_all(struct training *training)
{
    struct arguments *arguments = training->arguments;
    keepfit_error error;
    int code = check_gap(arguments);
    if (code != EXIT_DONE)
        return code;
    keepfit_status status = keepfit_fit_create(arguments->options, &training->fit, &error);
    if (status == KEEPFIT_OK && !take_options(training))
        return fail(EXIT_FAILED, "out of memory");
    if (status == KEEPFIT_OK)
        status = keepfit_stream_open_for_fit(arguments->positional[0], arguments->options, training->fit,
                                             &training->stream, &error);
    if (status == KEEPFIT_OK && (status = pass_names(training)) != KEEPFIT_OK)
        error = *keepfit_fit_error(training->fit);
    if (status == KEEPFIT_STOPPED)
        return stop_code();
    if (status != KEEPFIT_OK)
        return fail_status(status, error.message);
    return plan_trace(training);
}

static bool same_file(const char *one, const char *other)
{
    struct stat first, second;
    if (!one || !other)
        return false;
    if (stat(one, &first) == 0 && stat(other, &second) == 0)
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino && S_ISREG(first.st_mode);
    return strcmp(one, other) == 0;
}

/* What cannot be written is told before the work, not after it. */
static int check_outputs(const struct arguments *arguments)
{
    const char *data = arguments->positional[0];
    struct stat old;
    struct output probe;
    bool check = strcmp(arguments->resume, "check") == 0;
    if (!check && strcmp(arguments->resume, "append") != 0)
        return fail(EXIT_USAGE, "--resume: '%s' is none of check|append", arguments->resume);
    if (keepfit_options_given(arguments->options, "journal") && !*keepfit_options_get(arguments->options, "journal"))
        return fail(EXIT_USAGE, "--journal names no folder");
    if (arguments->acknowledge && !*keepfit_options_get(arguments->options, "journal"))
        return fail(EXIT_USAGE, "--acknowledge needs --journal");
    if (arguments->save_every && !arguments->model)
        return fail(EXIT_USAGE, "--save-every needs --model");
    if (arguments->model && is_standard(arguments->model))
        return fail(EXIT_USAGE, "--model: a model is saved in a file, not on standard output");
    if (!is_standard(data) && (same_file(arguments->model, data) || same_file(arguments->trace, data)))
        return fail(EXIT_USAGE, "%s: the data would be overwritten", data);
    if (same_file(arguments->model, arguments->trace))
        return fail(EXIT_USAGE, "%s: --model and --trace name the same file", arguments->trace);
    if (!arguments->model)
        return EXIT_DONE;
    if (stat(arguments->model, &old) == 0 && !S_ISREG(old.st_mode))
        return fail(EXIT_FAILED, "%s: is not a regular file, so no model is written there", arguments->model);
    int code = output_open(&probe, arguments->model);
    output_discard(&probe);
    return code;
}

int run_train(struct arguments *arguments)
{
    struct training training = {.arguments = arguments, .max_gap = NAN};
    training.skip = strcmp(keepfit_options_get(arguments->options, "on-error"), "skip") == 0;
    int code = check_outputs(arguments);
    if (code != EXIT_DONE)
        return code;
    progress_start(&training.progress, arguments->quiet);
    stop_watch();
    keepfit_options_watch(arguments->options, &stop_signal);
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
