#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "columns.h"
#include "output.h"
#include "progress.h"
#include "stop.h"
#include "taken.h"
#include "trace.h"
#include "train_check.h"

#define EARLY_STAGE 100 /* of a live stream, whose end may be far: what looks wrong by then is said */

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
    struct taken taken;
    double max_gap, epsilon;
    uint64_t refused; /* points that the fit would not take, with --on-error skip */
    bool skip;
    uint64_t safe;        /* points that were last acknowledged */
    int failed;           /* the journal's disk has failed: what there is, is shown all the same */
    bool live;            /* the stream is no file: what it gave cannot be had again, and is kept whatever comes */
    keepfit_error broken; /* how a live stream ended */
    bool gave_up;         /* a stage has ended since it was too much work, and that was said */
};

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

/* The stream's next point. One without any is no failure where the journal has some. */
static keepfit_status next_point(struct training *training, keepfit_point *point)
{
    keepfit_stream_info info;
    keepfit_durability durability;
    keepfit_status status = keepfit_stream_next(training->stream, point);
    if (status != KEEPFIT_DATA)
        return status;
    keepfit_fit_durability(training->fit, &durability);
    keepfit_stream_describe(training->stream, &info);
    return info.empty && durability.resumed ? KEEPFIT_END : status;
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

/* Once: that some stages are not what was asked for, since they would have been too much work. */
static void warn_of_work(struct training *training, uint64_t stage)
{
    keepfit_report report;
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
    keepfit_stream_info info;
    keepfit_stream_describe(training->stream, &info);
    taken_warn(&training->taken, training->arguments->options, info.name);
}

/* What follows a stage: trace, save, progress. */
static int after_stage(struct training *training, uint64_t stage)
{
    const struct arguments *arguments = training->arguments;
    int code = EXIT_DONE;
    if (arguments->acknowledge)
        acknowledge(training);
    if (training->live && stage == EARLY_STAGE && !arguments->quiet)
        warn_taken(training);
    training->traced = false;
    warn_of_work(training, stage);
    if (training->tracing && trace_due(&training->plan, stage))
        code = measure_stage(training);
    if (code == EXIT_DONE && arguments->model && arguments->save_every && stage % arguments->save_every == 0)
        code = save_model(training);
    show_progress(training, stage);
    return code;
}

/* The stream cannot be read on. Of a file nothing is written: it will be mended and read again. A live stream's rows before
 * the bad one (whose line is named) are sound; of damaged gzip data nobody knows. */
static int end_badly(struct training *training, keepfit_status status, uint64_t line, const char *message)
{
    keepfit_report report;
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
    char placed[sizeof training->broken.message];
    keepfit_stream_describe(training->stream, &info);
    snprintf(placed, sizeof placed, "%.200s:%llu:1: %.250s", info.name, (unsigned long long)info.line, message);
    return end_badly(training, KEEPFIT_DATA, info.line, placed);
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
        status = next_point(training, &point);
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
    while (code == EXIT_DONE && !stop_signal && !training->failed && !training->broken.status) {
        if (status == KEEPFIT_OK)
            status = next_point(training, &point);
        if (status == KEEPFIT_END || status == KEEPFIT_STOPPED)
            break;
        if (status != KEEPFIT_OK)
            return end_badly(training, status, keepfit_stream_error(training->stream)->line,
                             keepfit_stream_error(training->stream)->message);
        columns_see(&training->columns, &point.row);
        taken_see(&training->taken, point.target);
        status = keepfit_fit_push(training->fit, &point);
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

static void print_json(const struct training *training, const keepfit_report *report, uint64_t skipped,
                       const keepfit_stream_info *stream, const keepfit_description *model)
{
    keepfit_options *options = training->arguments->options;
    keepfit_durability durability;
    const char *reason;
    keepfit_fit_durability(training->fit, &durability);
    keepfit_fit_no_proof(training->fit, &reason);
    printf("{\n  \"method\": ");
    json_text(stdout, keepfit_options_get(options, "method"));
    json_text_field("chosen", report->method);
    json_text_field("reason", report->reason);
    json_text_field("loss", keepfit_options_get(options, "loss"));
    taken_print_json(options, stream, model);
    json_text_field("domain", keepfit_options_get(options, "domain"));
    json_text_field("epsilon_kind", keepfit_options_get(options, "epsilon-kind"));
    json_text_field("guarantee", keepfit_options_get(options, "guarantee"));
    json_text_field("no_proof", reason);
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
        {"proved", (double)report->proved},
        {"missed", (double)report->missed},
        {"unproved", (double)report->unproved},
        {"waiting", (double)report->waiting},
        {"given_up", (double)report->given_up},
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

/* The stages that are not proved, by what came of them. */
static void print_tally(const struct training *training, const keepfit_report *report)
{
    const char *reason;
    keepfit_no_proof why = keepfit_fit_no_proof(training->fit, &reason);
    unsigned long long missed = report->missed, unproved = report->unproved, waiting = report->waiting,
                       stages = report->proved + report->missed + report->unproved;
    if (why != KEEPFIT_PROVES)
        printf("  unproved     %s: %s\n", why == KEEPFIT_NO_PROMISE ? "all stages before the last" : "all stages",
               reason);
    else if (unproved && waiting)
        printf("  unproved     %llu of %llu stages, %llu of them before each class had points\n", unproved, stages,
               waiting);
    else if (unproved)
        printf("  unproved     %llu of %llu stages\n", unproved, stages);
    if (missed)
        printf("  missed       %llu of %llu stages\n", missed, stages);
}

static void print_bound(const struct training *training, const keepfit_report *report)
{
    keepfit_options *options = training->arguments->options;
    bool estimated = keepfit_fit_no_proof(training->fit, NULL) == KEEPFIT_ESTIMATES;
    const char *kind = keepfit_options_get(options, "epsilon-kind");
    const char *said = strcmp(kind, "absolute") == 0 ? "" : kind;
    double bound = training->last.bound, worst = report->worst_bound;
    if (isnan(bound) && isnan(worst)) {
        print_tally(training, report);
        return;
    }
    printf("  %-12s ", estimated ? "estimated" : "proved");
    if (isnan(bound))
        printf("nothing of the last stage");
    else
        printf("gap at most %.3g now", bound);
    if (!isnan(worst))
        printf(", %.3g at the worst stage%s", worst, report->unproved && !estimated ? " that has a bound" : "");
    printf(" (epsilon %g%s%s", training->epsilon, *said ? " " : "", said);
    if (*said && !isnan(report->target))
        printf(", now %.3g", report->target);
    printf(")\n");
    print_tally(training, report);
}

static void print_text(const struct training *training, const keepfit_report *report, const keepfit_stream_info *stream,
                       const keepfit_description *model)
{
    const struct trace_row *last = &training->last;
    keepfit_durability durability;
    keepfit_fit_durability(training->fit, &durability);
    double stages = (double)report->stage;
    printf("%s: %llu stages, %llu features, %.3g s\n", report->method, (unsigned long long)report->stage,
           (unsigned long long)report->features, report->seconds);
    taken_print_text(training->arguments->options, stream, model);
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

/* Stages without a bound that could have had one, where proofs were asked for. */
static uint64_t count_wanting(const struct training *training, const keepfit_report *report)
{
    bool proves = keepfit_fit_no_proof(training->fit, NULL) == KEEPFIT_PROVES;
    return proves ? report->unproved - report->waiting : 0;
}

/* In the form that was asked for, if any. The model has the classes; where it cannot be had, they are left out. */
static void print_summary(const struct training *training, const keepfit_report *report, uint64_t skipped,
                          const keepfit_stream_info *info)
{
    const struct arguments *arguments = training->arguments;
    const keepfit_stream_info *stream = arguments->positional_count ? info : NULL;
    keepfit_model *model = NULL;
    keepfit_description description;
    if (keepfit_fit_model(training->fit, &model) == KEEPFIT_OK)
        keepfit_model_describe(model, &description);
    if (arguments->json)
        print_json(training, report, skipped, stream, model ? &description : NULL);
    else if (!arguments->quiet)
        print_text(training, report, stream, model ? &description : NULL);
    keepfit_model_free(model);
}

/* 5 where a proof fails or is wanting, or a measurement shows that an epsilon the user named was not reached. */
static int verdict(const struct training *training, const keepfit_report *report)
{
    keepfit_options *options = training->arguments->options;
    bool absolute = strcmp(keepfit_options_get(options, "epsilon-kind"), "absolute") == 0;
    bool named = keepfit_options_given(options, "epsilon") && absolute;
    unsigned long long stages = report->proved + report->missed + report->unproved, missed = report->missed,
                       wanting = count_wanting(training, report);
    if (missed && wanting)
        return fail(
            EXIT_NOT_REACHED,
            "epsilon %g was not reached at %llu of %llu stages; the bound was %.3g at the worst; and nothing could "
            "be proved at %llu more",
            training->epsilon, missed, stages, report->worst_bound, wanting);
    if (missed)
        return fail(EXIT_NOT_REACHED, "epsilon %g was not reached at %llu of %llu stages; the %s was %.3g at the worst",
                    training->epsilon, missed, stages,
                    keepfit_fit_no_proof(training->fit, NULL) == KEEPFIT_ESTIMATES ? "estimate" : "bound",
                    report->worst_bound);
    if (wanting)
        return fail(EXIT_NOT_REACHED,
                    "epsilon %g is not proved at %llu of %llu stages, which have no bound; --method auto, a larger "
                    "--stage-budget or --bias instead of --intercept would help",
                    training->epsilon, wanting, stages);
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
        return training->broken.status ? fail_status(training->broken.status, training->broken.message) : code;
    if (skipped && !arguments->quiet)
        warn("%s: %llu bad rows were skipped", info.name, (unsigned long long)skipped);
    training->columns.centred = strcmp(keepfit_options_get(arguments->options, "intercept"), "true") == 0;
    if (!arguments->quiet)
        columns_warn(&training->columns, info.name);
    if (!arguments->quiet)
        warn_cut(&info);
    if (!arguments->quiet && !training->broken.status)
        warn_taken(training);
    print_summary(training, &report, skipped, &info);
    if (journal != EXIT_DONE)
        return journal;
    if (training->broken.status)
        return fail_status(training->broken.status, training->broken.message);
    if (stop_signal)
        return stop_code();
    return verdict(training, &report);
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
    bool whole = !train_is_live(arguments) && strcmp(arguments->trace_stages, "all") != 0;
    if (whole) {
        keepfit_status status = keepfit_stream_read_all(training->stream);
        if (status == KEEPFIT_STOPPED)
            return stop_code();
        keepfit_stream_info info;
        keepfit_stream_describe(training->stream, &info);
        if (status != KEEPFIT_OK && !info.empty) /* which the first point finds out again */
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
    if (status == KEEPFIT_OK && (code = train_check_scale(arguments)) != EXIT_DONE)
        return code;
    if (status == KEEPFIT_OK)
        status = keepfit_stream_open(train_data(arguments), arguments->options, &training->stream, &error);
    if (status == KEEPFIT_STOPPED)
        return stop_code();
    if (status != KEEPFIT_OK)
        return fail_status(status, error.message);
    warn_of_no_proof(training);
    return plan_trace(training);
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
