/* The trace: which stages are measured, and their lines of CSV. */
#ifndef KEEPFIT_CLI_TRACE_H
#define KEEPFIT_CLI_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "keepfit.h"

/* N distinct stages of 1 .. total, spaced geometrically from the first to the last; or all of them. */
struct trace_plan {
    bool all;
    double total, count;
    uint64_t next, planned; /* the next stage, and how many have been planned */
};

#define TRACE_UNKNOWN_TOTAL 1000000

/* text: "all" or a number. Returns an exit code. */
int trace_plan_read(struct trace_plan *plan, const char *text, uint64_t total);
/* Whether this stage is to be measured; asked for stages 1, 2, 3, ... in order. */
bool trace_due(struct trace_plan *plan, uint64_t stage);

struct trace_row {
    const char *method;
    uint64_t run, stage, fo, steps;
    double seconds, objective, optimum, gap, bound; /* NaN: empty */
};

void trace_write_head(FILE *file);
void trace_write_row(FILE *file, const struct trace_row *row);

/* Measures the fit as it is. A failure to find the optimum leaves optimum and gap NaN. Returns the library's status. */
keepfit_status trace_measure(keepfit_fit *fit, unsigned what, struct trace_row *row);

#endif
