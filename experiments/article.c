#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "article.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/exit_code.h"
#include "must.h"
#include "toolkit/page.h"
#include "toolkit/plot_text.h"

enum { text_limit = 4096 };

static const struct {
    const char *word, *class;
} verdicts[] = {[AGREES] = {"agrees", "yes"},
                [AGREES_IN_PART] = {"agrees in part", "part"},
                [DISAGREES] = {"does not agree", "no"},
                [NOT_JUDGED] = {"not judged at this size", "open"}};

static const char own_style[] =
    "<style>\n:root{--yes:#0b7a3c;--part:#8a6d00;--no:#b3261e}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--yes:#74e070;--part:#e0c341;--no:#ff8a80}}\n"
    "section{margin-top:3.5rem;border-top:1px solid var(--rule)}\nsection h2{margin-top:1.25rem}\n"
    "section h3{margin-top:2rem}\n"
    ".finding{margin:0 0 1.5rem;padding:.7rem 1rem;background:var(--wash);border-left:4px solid var(--rule);"
    "max-width:44rem}\n"
    ".finding dl{grid-template-columns:5.5rem 1fr;gap:.3rem .75rem;font-size:.9375em}\n"
    ".finding dd{overflow-wrap:anywhere}\n"
    ".remark{margin:-1.5rem 0 2.25rem;padding-left:.75rem;border-left:4px solid;font-size:.9375em}\n"
    ".yes{border-left-color:var(--yes)}.part{border-left-color:var(--part)}.no{border-left-color:var(--no)}\n"
    ".yes b{color:var(--yes)}.part b{color:var(--part)}.no b{color:var(--no)}\n"
    "table.findings td,table.findings th{text-align:left;white-space:normal;vertical-align:top}\n"
    "table.findings td.verdict,table.findings th{white-space:nowrap}\n"
    "@media (max-width:560px){.finding dl{display:block}.finding dd{margin:0 0 .5rem}"
    "table.findings td,table.findings th{padding:.4rem .4rem}table.findings{font-size:.8125rem}"
    "table.findings td.verdict{white-space:normal}}\n"
    "@media print{.finding{border:1px solid var(--rule);break-inside:avoid}section{break-before:auto}}\n</style>\n";

enum verdict verdict_of(size_t good, size_t all)
{
    return all == 0 ? NOT_JUDGED : good == all ? AGREES : good == 0 ? DISAGREES : AGREES_IN_PART;
}

static void note(struct article *article, int code)
{
    if (article->code == EXIT_DONE)
        article->code = code;
}

void article_start(struct article *article, const char *folder, bool quick)
{
    *article = (struct article){.folder = folder, .quick = quick};
    article->body = must_have(open_memstream(&article->text, &article->length));
    char *figures = must_have(path_in(folder, "figures"));
    note(article, make_folder(figures));
    free(figures);
}

void article_experiment(struct article *article, const char *name, const char *title)
{
    if (article->experiment)
        fputs("</section>\n", article->body);
    article->experiment = name;
    fprintf(article->body, "<section id=\"%s\">\n<h2>", name);
    plot_text_write(article->body, title);
    fputs("</h2>\n", article->body);
}

void article_heading(struct article *article, const char *text)
{
    fputs("<h3>", article->body);
    plot_text_write(article->body, text);
    fputs("</h3>\n", article->body);
}

void article_text(struct article *article, const char *format, ...)
{
    char text[text_limit];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fputs("<p>", article->body);
    plot_text_write(article->body, text);
    fputs("</p>\n", article->body);
}

static void write_cells(FILE *out, char *row, bool head)
{
    bool first = true, bold = row[0] == '*';
    fputs("<tr>", out);
    for (char *cell = row + bold, *next; cell; cell = next, first = false) {
        next = strchr(cell, '|');
        if (next)
            *next++ = '\0';
        const char *tag = head || first ? "th" : "td";
        fprintf(out, "<%s%s>%s", tag, head ? " scope=\"col\"" : first ? " scope=\"row\"" : "", bold ? "<b>" : "");
        plot_text_write(out, cell);
        fprintf(out, "%s</%s>", bold ? "</b>" : "", tag);
    }
    fputs("</tr>\n", out);
}

void article_table(struct article *article, const char *columns)
{
    char row[text_limit];
    snprintf(row, sizeof row, "%s", columns);
    fputs("<div class=\"scroll\" role=\"region\" aria-label=\"Table\" tabindex=\"0\">\n<table>\n<thead>",
          article->body);
    write_cells(article->body, row, true);
    fputs("</thead>\n<tbody>\n", article->body);
}

void article_row(struct article *article, const char *format, ...)
{
    char row[text_limit];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row, sizeof row, format, arguments);
    va_end(arguments);
    write_cells(article->body, row, false);
}

void article_table_end(struct article *article)
{
    fputs("</tbody>\n</table>\n</div>\n", article->body);
}

void article_figure(struct article *article, const char *name, const struct plot *plot)
{
    char file[160];
    fputs("<figure>\n<h3>", article->body);
    plot_text_write(article->body, plot->title);
    fputs("</h3>\n", article->body);
    plot_write(article->body, plot, false);
    fputs("<figcaption>", article->body);
    plot_text_write(article->body, plot->caption);
    fputs("</figcaption>\n</figure>\n", article->body);
    snprintf(file, sizeof file, "figures/%s-%s.svg", article->experiment, name);
    char *path = must_have(path_in(article->folder, file));
    note(article, plot_save(plot, path));
    free(path);
}

void article_finding(struct article *article, enum verdict verdict, const char *claim, const char *format, ...)
{
    article->findings = must_resize(article->findings, (article->count + 1) * sizeof *article->findings);
    struct finding *finding = &article->findings[article->count++];
    *finding = (struct finding){.experiment = article->experiment, .verdict = verdict};
    snprintf(finding->claim, sizeof finding->claim, "%s", claim);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->measured, sizeof finding->measured, format, arguments);
    va_end(arguments);
    fprintf(article->body, "<div class=\"finding %s\"><dl>\n<dt>The paper</dt><dd>", verdicts[verdict].class);
    plot_text_write(article->body, finding->claim);
    fputs("</dd>\n<dt>Measured</dt><dd>", article->body);
    plot_text_write(article->body, finding->measured);
    fprintf(article->body, "</dd>\n<dt>Verdict</dt><dd><b>%s</b></dd>\n</dl></div>\n", verdicts[verdict].word);
}

void article_remark(struct article *article, enum verdict verdict, const char *format, ...)
{
    char text[text_limit];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(article->body, "<p class=\"remark %s\"><b>%s</b>: ", verdicts[verdict].class, verdicts[verdict].word);
    plot_text_write(article->body, text);
    fputs("</p>\n", article->body);
}

static void write_summary(FILE *out, const struct article *article)
{
    size_t counts[VERDICTS] = {0};
    for (size_t k = 0; k < article->count; k++)
        counts[article->findings[k].verdict]++;
    fprintf(out, "<p>Of %zu claims, %zu agree with what was measured here, %zu in part, %zu do not.", article->count,
            counts[AGREES], counts[AGREES_IN_PART], counts[DISAGREES]);
    if (counts[NOT_JUDGED])
        fprintf(out, " %zu cannot be judged with so few points.", counts[NOT_JUDGED]);
    fputs("</p>\n", out);
    fputs("<table class=\"findings\">\n<thead><tr><th scope=\"col\">experiment</th><th scope=\"col\">what the paper "
          "claims</th>"
          "<th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t k = 0; k < article->count; k++) {
        const struct finding *finding = &article->findings[k];
        fprintf(out, "<tr><th scope=\"row\"><a href=\"#%s\">%s</a></th><td>", finding->experiment, finding->experiment);
        plot_text_write(out, finding->claim);
        fprintf(out, "</td><td class=\"verdict %s\"><b>%s</b></td></tr>\n", verdicts[finding->verdict].class,
                verdicts[finding->verdict].word);
    }
    fputs("</tbody>\n</table>\n", out);
}

static void write_page(FILE *out, const struct article *article, const char *title, const char *subject)
{
    page_begin(out, title);
    fputs(own_style, out);
    fputs("<header>\n<h1>", out);
    plot_text_write(out, title);
    fputs("</h1>\n<p>", out);
    plot_text_write(out, subject);
    fputs("</p>\n", out);
    write_summary(out, article);
    fputs("</header>\n<main>\n", out);
    fwrite(article->text, 1, article->length, out);
    fputs("</section>\n</main>\n", out);
    page_end(out, keepfit_version());
}

static void write_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', out);
}

static void write_findings(FILE *out, const struct article *article)
{
    fputs("experiment,size,verdict,claim,measured\n", out);
    for (size_t k = 0; k < article->count; k++) {
        const struct finding *finding = &article->findings[k];
        fprintf(out, "%s,%s,%s,", finding->experiment, article->quick ? "quick" : "full",
                verdicts[finding->verdict].word);
        write_quoted(out, finding->claim);
        fputc(',', out);
        write_quoted(out, finding->measured);
        fputc('\n', out);
    }
}

static void print_findings(const struct article *article)
{
    for (size_t k = 0; k < article->count; k++) {
        const struct finding *finding = &article->findings[k];
        printf("%s%s: %s\n  paper     %s\n  measured  %s\n", k ? "\n" : "", finding->experiment,
               verdicts[finding->verdict].word, finding->claim, finding->measured);
    }
}

static int save(const struct article *article, const char *name, const char *title, const char *subject)
{
    struct output output;
    char *path = must_have(path_in(article->folder, name));
    int code = output_open(&output, path);
    if (code == EXIT_DONE) {
        if (title)
            write_page(output.file, article, title, subject);
        else
            write_findings(output.file, article);
        code = output_commit(&output);
    }
    free(path);
    return code;
}

int article_finish(struct article *article, const char *title, const char *subject)
{
    if (fclose(article->body) != 0)
        note(article, fail(EXIT_FAILED, "out of memory"));
    if (article->code == EXIT_DONE)
        note(article, save(article, "report.html", title, subject));
    if (article->code == EXIT_DONE)
        note(article, save(article, "findings.csv", NULL, NULL));
    if (article->code == EXIT_DONE)
        print_findings(article);
    free(article->text);
    free(article->findings);
    return article->code;
}
