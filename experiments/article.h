/* article.h - the report as it grows: headings, figures, tables and findings.
 *
 * A finding sets what the paper claims beside what was measured, with a verdict that the code has computed from the numbers. The
 * page begins with a table of all findings, so the body is kept in memory until the end. */
#ifndef KEEPFIT_ARTICLE_H
#define KEEPFIT_ARTICLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "toolkit/output.h"
#include "toolkit/plot.h"

/* Not judged: the run is too small for the claim to show. */
enum verdict { AGREES, AGREES_IN_PART, DISAGREES, NOT_JUDGED, VERDICTS };

struct finding {
    const char *experiment;
    char claim[320], measured[640];
    enum verdict verdict;
};

struct article {
    bool quick;         /* the findings are of a reduced size, and say so */
    const char *folder; /* figures are also saved there as files of their own */
    const char *experiment;
    FILE *body;
    char *text;
    size_t length;
    struct finding *findings;
    size_t count;
    int code; /* the first failure to write */
};

void article_start(struct article *article, const char *folder, bool quick);
/* Writes report.html, findings.csv, and the findings on standard output; frees the article. Returns an exit code. */
int article_finish(struct article *article, const char *title, const char *subject);

/* Everything that follows belongs to this experiment. */
void article_experiment(struct article *article, const char *name, const char *title);
void article_heading(struct article *article, const char *text);
void article_text(struct article *article, const char *format, ...) PRINTF_LIKE(2, 3);
/* Cells are separated by '|'. A row that begins with '*' is set in bold. */
void article_table(struct article *article, const char *columns);
void article_row(struct article *article, const char *format, ...) PRINTF_LIKE(2, 3);
void article_table_end(struct article *article);
/* Also saved as folder/figures/EXPERIMENT-name.svg. */
void article_figure(struct article *article, const char *name, const struct plot *plot);
void article_finding(struct article *article, enum verdict verdict, const char *claim, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* A verdict on one figure, which is part of a finding reported elsewhere and not counted again. */
void article_remark(struct article *article, enum verdict verdict, const char *format, ...) PRINTF_LIKE(3, 4);

/* All of them, some, or none; of none at all nothing is judged. */
enum verdict verdict_of(size_t good, size_t all);

#endif
