/* report.c - the page: what was compared, what came out, the table, the pictures, the words, the command.
 *
 * Everything is in the one file: styles inline, plots as inline SVG, system fonts, no scripts. Colours are
 * CSS variables with a second set of values for readers who prefer the dark. The policy in the head makes the
 * browser refuse anything that would come from elsewhere, so a hostile data name can do no harm either.
 */
#include "report.h"

#include "plot_text.h"
#include "report_table.h"

#include <inttypes.h>
#include <math.h>

static const char page_style[] =
    ":root{color-scheme:light dark;--page:#ffffff;--ink:#1b1f24;--quiet:#565e68;--rule:#d9dde2;"
    "--wash:#f5f6f8;--bad:#b3261e}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--page:#14171c;--ink:#e8eaed;--quiet:#a5adb8;"
    "--rule:#343a43;--wash:#1c2027;--bad:#ff8a80}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:64rem;padding:2.5rem 1.25rem 2rem;background:var(--page);color:var(--ink);"
    "font:1rem/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif;"
    "-webkit-text-size-adjust:100%;text-size-adjust:100%}\n"
    "h1{margin:0 0 .75rem;font-size:1.75rem;line-height:1.2;overflow-wrap:anywhere}\n"
    "h2{margin:2.75rem 0 .75rem;font-size:1.2rem}\n"
    "h3{margin:0 0 .5rem;font-size:1rem}\n"
    "p{margin:0 0 .75rem;max-width:44rem;overflow-wrap:anywhere}\n"
    ".note,figcaption{color:var(--quiet);font-size:.875em}\n"
    ".scroll{overflow-x:auto;margin:0 0 .75rem;border-top:1px solid var(--rule);"
    "border-bottom:1px solid var(--rule)}\n"
    "table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.45rem .6rem;text-align:right;white-space:nowrap}\n"
    "th:first-child,td.failure{text-align:left}\n"
    "th:first-child{padding-left:.2rem}\n"
    ".word{text-align:center}\n"
    "thead th{color:var(--quiet);font-weight:500;vertical-align:bottom;white-space:normal;line-height:1.3}\n"
    "thead th[title]{text-decoration:underline dotted var(--rule);text-underline-offset:.25em;cursor:help}\n"
    "tbody th{font-weight:500}\n"
    "tbody tr{border-top:1px solid var(--rule)}\n"
    "small{color:var(--quiet);font-size:.93em;font-weight:400}\n"
    ".pad{visibility:hidden;-webkit-user-select:none;user-select:none}\n"
    "td.failure{color:var(--bad);white-space:normal;overflow-wrap:anywhere}\n"
    ".failure div{width:max-content;max-width:min(36rem,52vw)}\n"
    ".missed{color:var(--bad)}\n"
    "figure{margin:0 0 2.25rem}\n"
    "figcaption{margin-top:.5rem;max-width:44rem}\n"
    "dl{margin:0;display:grid;grid-template-columns:max-content 1fr;gap:.5rem 1.25rem;max-width:44rem}\n"
    "dt{font-weight:600}\n"
    "dd{margin:0}\n"
    "pre{margin:0;padding:.8rem 1rem;overflow-x:auto;background:var(--wash);border-radius:6px;"
    "font-size:.875rem;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\n"
    "footer{margin-top:2.75rem;padding-top:.75rem;border-top:1px solid var(--rule);color:var(--quiet);"
    "font-size:.875rem}\n"
    "@media (max-width:560px){body{padding:1.5rem 1rem}h1{font-size:1.4rem}}\n"
    "@media print{body{max-width:none;padding:0;font-size:10pt}.scroll{overflow:visible}figure,tr,dl,pre"
    "{break-inside:avoid}h2,h3{break-after:avoid}table{font-size:8.5pt}th,td{padding:.3rem .35rem}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--rule)}"
    "figure svg{max-width:16cm}}\n";

static const char *text_or(const char *text, const char *otherwise)
{
    return text != NULL && text[0] != '\0' ? text : otherwise;
}

static void write_head(FILE *out, const struct report *report)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" "
          "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          out);
    plot_text_write(out, text_or(report->title, "Comparison"));
    fputs("</title>\n<style>\n", out);
    fputs(page_style, out);
    plot_write_style(out);
    fputs("</style>\n</head>\n<body>\n", out);
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
    fputs("<footer>keepfit ", out);
    plot_text_write(out, report->version);
    fputs("</footer>\n</body>\n</html>\n", out);
}

bool report_write(FILE *out, const struct report *report)
{
    write_head(out, report);
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
