/* Table, trace, plots and report of a comparison. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "toolkit/output.h"
#include "report.h"

/* A method's curve over the planned stages: means over the runs that got there, and the band they span. */
struct curve {
    double *stage, *fo, *mean, *low, *high;
    size_t count;
};

static void free_curve(struct curve *curve)
{
    free(curve->stage);
}

/* What is drawn of a measured stage. */
static double height_of(const struct comparison *comparison, const struct trace_row *row)
{
    return comparison->has_optimum ? row->gap : row->objective;
}

static bool make_curve(const struct comparison *comparison, size_t contestant, struct curve *curve)
{
    size_t count = comparison->stage_count;
    double *space = calloc(5 * count, sizeof *space);
    *curve = (struct curve){.stage = space};
    if (!space)
        return false;
    curve->fo = space + count;
    curve->mean = space + 2 * count;
    curve->low = space + 3 * count;
    curve->high = space + 4 * count;
    for (size_t k = 0; k < count; k++) {
        double runs = 0, low = INFINITY, high = -INFINITY;
        for (size_t run = 0; run < comparison->runs; run++) {
            const struct race *race = race_of(comparison, run, contestant);
            double height = race->done > k ? height_of(comparison, &race->rows[k]) : NAN;
            if (isnan(height))
                continue;
            runs++;
            curve->mean[k] += height;
            curve->stage[k] += (double)race->rows[k].stage;
            curve->fo[k] += (double)race->rows[k].fo;
            low = fmin(low, height);
            high = fmax(high, height);
        }
        if (runs == 0)
            break;
        curve->stage[k] /= runs;
        curve->fo[k] /= runs;
        curve->mean[k] /= runs;
        curve->low[k] = low;
        curve->high[k] = high;
        curve->count = k + 1;
    }
    return true;
}

/* One row of the table: means over the runs. */
static struct report_method summarise(const struct comparison *comparison, size_t contestant)
{
    struct report_method row = {.name = comparison->contestants[contestant].name,
                                .setting = "",
                                .max_gap = NAN,
                                .worst_bound = NAN,
                                .runs = comparison->runs};
    double runs = (double)comparison->runs;
    for (size_t run = 0; run < comparison->runs; run++) {
        const struct race *race = race_of(comparison, run, contestant);
        if (race->failed) {
            row.failed = true;
            row.failure = race->failure;
        }
        if (race->done == 0)
            continue;
        const struct trace_row *last = &race->rows[race->done - 1];
        double stages = (double)race->report.stage;
        row.fo_per_stage += (double)race->report.fo / stages / runs;
        row.steps_per_stage += (double)race->report.steps / stages / runs;
        row.seconds += race->report.seconds / runs;
        row.final_gap += last->gap / runs;
        row.final_objective += last->objective / runs;
        row.final_bound += last->bound / runs;
        row.worst_bound = fmax(row.worst_bound, race->report.worst_bound);
        for (size_t k = 0; k < race->done; k++)
            row.max_gap = fmax(row.max_gap, race->rows[k].gap);
    }
    return row;
}

static void print_cell(double number)
{
    if (isnan(number))
        printf("  %11s", "-");
    else
        printf("  %11.3e", number);
}

static void print_table(const struct report_method *rows, size_t count, bool gaps)
{
    int width = 6;
    for (size_t k = 0; k < count; k++)
        if ((int)strlen(rows[k].name) > width)
            width = (int)strlen(rows[k].name);
    printf("%-*s  %11s  %11s  %11s  %11s  %11s  %9s\n", width, "method", "FO a stage", "steps a st.",
           gaps ? "final gap" : "objective", "max gap", "bound", "seconds");
    for (size_t k = 0; k < count; k++) {
        const struct report_method *row = &rows[k];
        if (row->failed)
            printf("%-*s  failed: %s\n", width, row->name, row->failure);
        else {
            printf("%-*s  %11.5g  %11.5g", width, row->name, row->fo_per_stage, row->steps_per_stage);
            print_cell(gaps ? row->final_gap : row->final_objective);
            print_cell(row->max_gap);
            print_cell(row->final_bound);
            printf("  %9.3g\n", row->seconds);
        }
    }
}

/* One object a method, with the names of train's summary; numbers are means over the runs. */
static void print_json(const struct comparison *comparison, const struct report_method *rows)
{
    const char *loss = keepfit_options_get(comparison->arguments->options, "loss");
    putchar('[');
    for (size_t k = 0; k < comparison->contestant_count; k++) {
        const struct report_method *row = &rows[k];
        const keepfit_report *report = &race_of(comparison, 0, k)->report;
        double stages = (double)report->stage;
        const struct {
            const char *name;
            double number;
        } fields[] = {{"lambda", report->lambda},
                      {"epsilon", keepfit_options_get_number(comparison->contestants[k].options, "epsilon")},
                      {"stages", stages},
                      {"features", (double)report->features},
                      {"runs", (double)row->runs},
                      {"fo", row->fo_per_stage * stages},
                      {"steps", row->steps_per_stage * stages},
                      {"fo_per_stage", row->fo_per_stage},
                      {"steps_per_stage", row->steps_per_stage},
                      {"final_gap", row->final_gap},
                      {"max_gap", row->max_gap},
                      {"objective", row->final_objective},
                      {"bound", row->final_bound},
                      {"worst_bound", row->worst_bound},
                      {"seconds", row->seconds}};
        printf("%s\n  {\"method\": ", k ? "," : "");
        json_text(stdout, row->name);
        printf(", \"loss\": ");
        json_text(stdout, loss);
        for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
            printf(", \"%s\": ", fields[f].name);
            json_number(stdout, row->failed ? NAN : fields[f].number);
        }
        printf(", \"failure\": ");
        if (row->failed)
            json_text(stdout, row->failure);
        else
            printf("null");
        putchar('}');
    }
    printf("\n]\n");
}

static int write_trace(const struct comparison *comparison, const char *path)
{
    struct output output;
    int code = output_open(&output, path);
    if (code != EXIT_DONE)
        return code;
    trace_write_head(output.file);
    for (size_t run = 0; run < comparison->runs; run++)
        for (size_t c = 0; c < comparison->contestant_count; c++) {
            const struct race *race = race_of(comparison, run, c);
            for (size_t k = 0; k < race->done; k++)
                trace_write_row(output.file, &race->rows[k]);
        }
    return output_commit(&output);
}

static int write_report(const struct report *report, const char *path)
{
    struct output output;
    int code = output_open(&output, path);
    if (code != EXIT_DONE)
        return code;
    report_write(output.file, report);
    return output_commit(&output);
}

/* The command line as a person would type it. */
static char *command_text(const struct arguments *arguments)
{
    size_t room = 1;
    for (int k = 0; k < arguments->word_count; k++)
        room += strlen(arguments->words[k]) + 3;
    char *text = calloc(room, 1);
    for (int k = 0; text && k < arguments->word_count; k++) {
        const char *word = k == 0 ? "keepfit" : arguments->words[k];
        bool plain = *word && !strpbrk(word, " \t\n'\"\\$&|;<>()*?[]#~");
        sprintf(text + strlen(text), plain ? "%s%s" : "%s'%s'", k ? " " : "", word);
    }
    return text;
}

static int write_in(const struct comparison *comparison, const struct report *report, const char *name, size_t which)
{
    char *path = path_in(comparison->arguments->out, name);
    if (!path)
        return fail(EXIT_FAILED, "out of memory");
    int code = which == 0   ? write_trace(comparison, path)
               : which == 3 ? write_report(report, path)
                            : plot_save(&report->plots[which - 1], path);
    free(path);
    return code;
}

static int write_files(const struct comparison *comparison, const struct report *report)
{
    static const char *const names[] = {"trace.csv", "gap-by-stage.svg", "gap-by-gradients.svg", "report.html"};
    const char *folder = comparison->arguments->out;
    int code = make_folder(folder);
    for (size_t k = 0; k < 4 && code == EXIT_DONE; k++)
        code = write_in(comparison, report, names[k], k);
    if (code == EXIT_DONE && comparison->arguments->trace)
        code = write_trace(comparison, comparison->arguments->trace);
    return code;
}

static int write_all(const struct comparison *comparison, const struct report_method *rows, const struct curve *curves,
                     struct plot_series *by_stage, struct plot_series *by_fo)
{
    size_t count = comparison->contestant_count;
    keepfit_options *options = comparison->arguments->options;
    char loss[16];
    snprintf(loss, sizeof loss, "%s", keepfit_options_get(options, "loss"));
    for (size_t c = 0; c < count; c++) {
        const struct curve *curve = &curves[c];
        by_stage[c] = (struct plot_series){
            comparison->contestants[c].name, curve->count, curve->stage, curve->mean, curve->low, curve->high};
        by_fo[c] = by_stage[c];
        by_fo[c].x = curve->fo;
    }
    bool gaps = comparison->has_optimum;
    const char *height = gaps ? "gap to the optimum" : "objective";
    const struct plot plots[] = {
        {gaps ? "Gap against stage" : "Objective against stage", "stage (points so far)", height, true, true, count,
         by_stage, comparison->epsilon, "epsilon",
         gaps ? "The lower the better: how far each method's model is from the best one for all points so "
                "far. The line is the mean over the seeds, the band spans them."
              : "The lower the better: mean loss and regulariser over all points so far. The line is the mean over the "
                "seeds, the band spans them. What the best model would have is not known: a network is not convex."},
        {gaps ? "Gap against gradients" : "Objective against gradients", "gradients computed so far (FO)", height, true,
         true, count, by_fo, comparison->epsilon, "epsilon",
         "The further left and down the better: the same against what it cost."},
    };
    char *command = command_text(comparison->arguments);
    struct report report = {
        .title = "keepfit comparison",
        .data_name = comparison->info.name,
        .loss = loss,
        .command = command ? command : "",
        .lambda = race_of(comparison, 0, 0)->report.lambda,
        .epsilon = comparison->epsilon,
        .stages = comparison->info.total,
        .features = race_of(comparison, 0, 0)->report.features,
        .runs = comparison->runs,
        .methods = rows,
        .method_count = count,
        .plots = plots,
        .plot_count = 2,
        .version = keepfit_version(),
        .summary = "means",
    };
    int code = write_files(comparison, &report);
    free(command);
    return code;
}

/* What is not a result. All methods refuse the same points. */
static void tell_more(const struct comparison *comparison)
{
    uint64_t skipped = comparison->info.skipped + race_of(comparison, 0, 0)->refused;
    if (comparison->arguments->quiet)
        return;
    if (skipped)
        warn("%s: %llu bad rows were skipped", comparison->info.name, (unsigned long long)skipped);
    fprintf(stderr, "keepfit: report in %s/report.html\n", comparison->arguments->out);
}

int compare_write(const struct comparison *comparison)
{
    size_t count = comparison->contestant_count;
    struct report_method *rows = calloc(count, sizeof *rows);
    struct curve *curves = calloc(count, sizeof *curves);
    struct plot_series *series = calloc(2 * count, sizeof *series);
    bool whole = rows && curves && series;
    for (size_t c = 0; c < count && whole; c++) {
        rows[c] = summarise(comparison, c);
        whole = make_curve(comparison, c, &curves[c]);
    }
    size_t failed = 0;
    for (size_t c = 0; c < count && whole; c++)
        failed += rows[c].failed;
    int code = whole ? write_all(comparison, rows, curves, series, series + count) : fail(EXIT_FAILED, "out of memory");
    if (code == EXIT_DONE) {
        if (comparison->arguments->json)
            print_json(comparison, rows);
        else
            print_table(rows, count, comparison->has_optimum);
        tell_more(comparison);
    }
    if (code == EXIT_DONE && failed == count)
        code = fail(EXIT_FAILED, "every method failed");
    for (size_t c = 0; c < count && curves; c++)
        free_curve(&curves[c]);
    free(series);
    free(curves);
    free(rows);
    return code;
}
