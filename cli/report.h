/* report.h - a comparison of methods as one HTML page that needs nothing else: no scripts, no other files. */
#ifndef KEEPFIT_CLI_REPORT_H
#define KEEPFIT_CLI_REPORT_H

#include "toolkit/plot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One row of the table. A number that was not computed is NaN. */
struct report_method {
    const char *name;
    const char *setting; /* "" or, for example, "paper" */
    double fo_per_stage;
    double steps_per_stage;
    double seconds;
    double final_gap;
    double max_gap; /* over the stages at which the gap was measured */
    double final_objective;
    double final_bound;
    double worst_bound;
    bool failed;
    const char *failure; /* the message when failed */
    size_t runs;
};

struct report {
    const char *title;
    const char *data_name;
    const char *loss;
    const char *command;
    double lambda;  /* NaN: not mentioned */
    double epsilon; /* NaN or 0: no target, not mentioned */
    uint64_t stages;
    uint64_t features;
    size_t runs;
    const struct report_method *methods;
    size_t method_count;
    const struct plot *plots;
    size_t plot_count;
    const char *version;
    const char *summary; /* how numbers of several runs were made one: "means", "medians"; may be NULL */
};

/* Returns false when writing failed. */
bool report_write(FILE *out, const struct report *report);

#endif
