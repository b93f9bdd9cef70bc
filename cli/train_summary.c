/* What is said of a training at its end: the summary, as text or JSON, and the verdict. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "progressive.h"
#include "train.h"

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

static void json_texts(const struct training *training, const keepfit_report *report, const struct taken_data *data)
{
    keepfit_options *options = training->arguments->options;
    const char *reason;
    keepfit_fit_no_proof(training->fit, &reason);
    printf("{\n  \"method\": ");
    json_text(stdout, keepfit_options_get(options, "method"));
    json_text_field("chosen", report->method);
    json_text_field("reason", report->reason);
    json_text_field("loss", keepfit_options_get(options, "loss"));
    taken_print_json(options, data);
    json_text_field("domain", keepfit_options_get(options, "domain"));
    json_text_field("epsilon_kind", keepfit_options_get(options, "epsilon-kind"));
    json_text_field("guarantee", keepfit_options_get(options, "guarantee"));
    json_text_field("no_proof", reason);
}

static void print_json(const struct training *training, const keepfit_report *report, const struct taken_data *data,
                       uint64_t skipped)
{
    keepfit_durability durability = {.struct_size = sizeof durability};
    keepfit_fit_durability(training->fit, &durability);
    json_texts(training, report, data);
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
        {"improvements", (double)report->improvements},
        {"products", (double)report->products},
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
    progressive_json(training->fit);
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

static void print_text(const struct training *training, const keepfit_report *report, const struct taken_data *data)
{
    const struct trace_row *last = &training->last;
    keepfit_durability durability = {.struct_size = sizeof durability};
    keepfit_fit_durability(training->fit, &durability);
    double stages = (double)report->stage;
    printf("%s: %llu stages, %llu features, %.3g s\n", report->method, (unsigned long long)report->stage,
           (unsigned long long)report->features, report->seconds);
    taken_print_text(training->arguments->options, data);
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
    progressive_print(training->fit, report->classes > 0);
}

void train_print_summary(const struct training *training, const keepfit_report *report, const keepfit_stream_info *info,
                         uint64_t skipped)
{
    const struct arguments *arguments = training->arguments;
    struct taken_data data = {.stream = arguments->positional_count ? info : NULL,
                              .loss_chosen = training->loss_chosen};
    keepfit_schema names = {.struct_size = sizeof names};
    keepfit_description model = {.struct_size = sizeof model};
    keepfit_model *copy = NULL;
    keepfit_stream_schema(training->stream, &names);
    data.names = &names;
    if (keepfit_fit_model(training->fit, &copy) == KEEPFIT_OK) {
        keepfit_model_describe(copy, &model);
        data.model = &model;
    }
    if (arguments->json)
        print_json(training, report, &data, skipped);
    else if (!arguments->quiet)
        print_text(training, report, &data);
    keepfit_model_free(copy);
}

/* ---- the verdict ---- */

/* Stages without a bound that could have had one, where proofs were asked for. */
static uint64_t count_wanting(const struct training *training, const keepfit_report *report)
{
    bool proves = keepfit_fit_no_proof(training->fit, NULL) == KEEPFIT_PROVES;
    return proves ? report->unproved - report->waiting : 0;
}

int train_verdict(const struct training *training, const keepfit_report *report)
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
