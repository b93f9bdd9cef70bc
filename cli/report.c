/* report.c - the page: what was compared, what came out, the table, the pictures, the words, the command.
 */
#include "report.h"

#include "toolkit/page.h"
#include "toolkit/plot_text.h"
#include "report_table.h"

#include <inttypes.h>
#include <math.h>

static const char *text_or(const char *text, const char *otherwise)
{
    return text != NULL && text[0] != '\0' ? text : otherwise;
}

/* "1 stage", "5000 stages" */
static void write_count(FILE *out, uint64_t count, const char *word)
{
    fprintf(out, "%" PRIu64 " %s%s", count, word, count == 1 ? "" : "s");
}

/* One sentence: what was compared, on what data, with what settings. */
static void write_subject(FILE *out, const struct report *report)
{
    fputs("<p>", out);
    write_count(out, report->method_count, "method");
    fputs(" kept a model fitted to <strong>", out);
    plot_text_write(out, text_or(report->data_name, "the data"));
    fputs("</strong> while its points arrived one by one: ", out);
    write_count(out, report->stages, "stage");
    fputs(", ", out);
    write_count(out, report->features, "feature");
    if (report->loss != NULL && report->loss[0] != '\0') {
        fputs(", ", out);
        plot_text_write(out, report->loss);
        fputs(" loss", out);
    }
    if (isfinite(report->lambda))
        fprintf(out, ", \xCE\xBB&nbsp;=&nbsp;%g", report->lambda);
    if (isfinite(report->epsilon) && report->epsilon > 0)
        fprintf(out, ", target gap \xCE\xB5&nbsp;=&nbsp;%g", report->epsilon);
    if (report->runs > 0) {
        fputs(", ", out);
        write_count(out, report->runs, "seed");
    }
    fputs(".</p>\n", out);
}

/* The method of those that held the target that needs the fewest gradients; NULL: nobody held it. */
static const struct report_method *find_cheapest(const struct report *report, size_t *holders)
{
    const struct report_method *cheapest = NULL;
    *holders = 0;
    for (size_t i = 0; i < report->method_count; i++) {
        const struct report_method *method = &report->methods[i];
        if (!report_held_target(report, method))
            continue;
        ++*holders;
        if (cheapest == NULL || isnan(cheapest->fo_per_stage) || method->fo_per_stage < cheapest->fo_per_stage)
            cheapest = method;
    }
    return cheapest;
}

/* One sentence: the answer to the question that the comparison asks. */
static void write_outcome(FILE *out, const struct report *report)
{
    if (!report_has_target(report))
        return;
    size_t holders;
    const struct report_method *cheapest = find_cheapest(report, &holders);
    if (cheapest == NULL) {
        fputs("<p>No method kept its gap within \xCE\xB5 at every measured stage.</p>\n", out);
        return;
    }
    fprintf(out, "<p>%zu of %zu methods kept the gap within \xCE\xB5 at every measured stage", holders,
            report->method_count);
    if (isfinite(cheapest->fo_per_stage)) {
        fputs(holders == 1 ? ": <strong>" : "; the cheapest of them was <strong>", out);
        plot_text_write(out, cheapest->name);
        if (cheapest->setting != NULL && cheapest->setting[0] != '\0') {
            fputs(" ", out);
            plot_text_write(out, cheapest->setting);
        }
        fputs("</strong>, with ", out);
        fprintf(out, cheapest->fo_per_stage < 1000 ? "%.3g FO per stage" : "%.0f FO per stage", cheapest->fo_per_stage);
    }
    fputs(".</p>\n", out);
}

static void write_table(FILE *out, const struct report *report)
{
    /* The box can be focused, so that it scrolls by keyboard too. */
    fputs("<section>\n<h2>Methods</h2>\n"
          "<div class=\"scroll\" role=\"region\" aria-label=\"Table of methods\" tabindex=\"0\">\n",
          out);
    report_table_write(out, report);
    fputs("</div>\n<p class=\"note\">Smaller is better in every column; the best is bold.", out);
    if (report->runs > 1 && report->summary != NULL) {
        fputs(" Numbers are ", out);
        plot_text_write(out, report->summary);
        fprintf(out, " over %zu seeds.", report->runs);
    }
    fputs("</p>\n</section>\n", out);
}

static bool has_band(const struct plot *plot)
{
    for (size_t i = 0; i < plot->count; i++) {
        if (plot->series[i].count > 0 && plot->series[i].low != NULL && plot->series[i].high != NULL)
            return true;
    }
    return false;
}

/* The plot's own caption, or one sentence that fits every plot in which lower is better. */
static void write_caption(FILE *out, const struct plot *plot)
{
    if (plot->caption != NULL) {
        plot_text_write(out, plot->caption);
        return;
    }
    fputs("Each line shows one method's ", out);
    plot_text_write(out, text_or(plot->y_label, "value"));
    fputs(" against ", out);
    plot_text_write(out, text_or(plot->x_label, "its cost"));
    fputs(has_band(plot) ? ", with its spread over the seeds as a band; lower is better" : "; lower is better", out);
    if (isfinite(plot->reference) && plot->reference > 0 && plot->reference_label != NULL) {
        fputs(", and what lies below the dashed grey line meets ", out);
        plot_text_write(out, plot->reference_label);
    }
    fputs(".", out);
}

static void write_plots(FILE *out, const struct report *report)
{
    if (report->plot_count == 0)
        return;
    fputs("<section>\n<h2>Plots</h2>\n", out);
    for (size_t i = 0; i < report->plot_count; i++) {
        const struct plot *plot = &report->plots[i];
        fputs("<figure>\n<h3>", out);
        plot_text_write(out, plot->title);
        fputs("</h3>\n", out);
        plot_write(out, plot, false);
        fputs("<figcaption>", out);
        write_caption(out, plot);
        fputs("</figcaption>\n</figure>\n", out);
    }
    fputs("</section>\n", out);
}

static void write_words(FILE *out)
{
    fputs("<section>\n<h2>How to read this</h2>\n<dl>\n"
          "<dt>stage</dt><dd>The arrival of one point, and the work that makes the model good for all "
          "points so far.</dd>\n"
          "<dt>gap</dt><dd>The distance to the true optimum of that stage: the objective at the model minus "
          "the smallest value it can have.</dd>\n"
          "<dt>FO</dt><dd>One gradient of one single point, the unit in which the work is counted whatever "
          "the machine.</dd>\n"
          "<dt>bound</dt><dd>An upper limit of the gap that the method proves while it runs, without knowing "
          "the optimum.</dd>\n"
          "</dl>\n</section>\n",
          out);
}

static void write_end(FILE *out, const struct report *report)
{
    if (report->command != NULL && report->command[0] != '\0') {
        fputs("<section>\n<h2>Command</h2>\n<pre tabindex=\"0\"><code>", out);
        plot_text_write(out, report->command);
        fputs("</code></pre>\n</section>\n", out);
    }
    page_end(out, report->version);
}

bool report_write(FILE *out, const struct report *report)
{
    page_begin(out, text_or(report->title, "Comparison"));
    fputs("<header>\n<h1>", out);
    plot_text_write(out, text_or(report->title, "Comparison"));
    fputs("</h1>\n", out);
    write_subject(out, report);
    write_outcome(out, report);
    fputs("</header>\n<main>\n", out);
    write_table(out, report);
    write_plots(out, report);
    write_words(out);
    fputs("</main>\n", out);
    write_end(out, report);
    return fflush(out) == 0 && !ferror(out);
}
