/* What compare measured: contestants x runs x stages, and what is written from it. */
#ifndef KEEPFIT_CLI_COMPARE_H
#define KEEPFIT_CLI_COMPARE_H

#include "arguments.h"
#include "trace.h"

/* One method with its options, as named on the command line. */
struct contestant {
    char *name; /* "csvrg:setting=paper" */
    keepfit_options *options;
};

/* One method over one seed's stream. rows has one entry a planned stage; `done` says how many were reached. */
struct race {
    struct trace_row *rows;
    size_t done;
    keepfit_report report;
    uint64_t refused; /* points that the fit would not take, with --on-error skip */
    bool failed;
    char failure[640];
};

struct comparison {
    struct arguments *arguments;
    struct contestant *contestants;
    size_t contestant_count;
    size_t runs;
    keepfit_stream *stream; /* all of it in memory */
    keepfit_stream_info info;
    uint64_t *stages; /* the planned ones */
    size_t stage_count;
    struct race *races; /* [run][contestant] */
    double epsilon;     /* NaN where there is no gap to compare it with */
    bool has_optimum;   /* otherwise, for a network, objectives are compared and not gaps */
    bool skip;          /* points that a fit refuses are left out */
};

static inline struct race *race_of(const struct comparison *comparison, size_t run, size_t contestant)
{
    return &comparison->races[run * comparison->contestant_count + contestant];
}

/* compare_run.c: fills the races, on as many threads as the options say. Returns an exit code. */
int compare_run(struct comparison *comparison);

/* compare_write.c: table on standard output, files in the folder. Returns an exit code. */
int compare_write(const struct comparison *comparison);

#endif
