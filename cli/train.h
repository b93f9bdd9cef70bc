/* A training under way, as the parts of the command share it: train.c gives the stream's points to the fit, train_save.c keeps what comes
 * of it, train_summary.c says it. */
#ifndef KEEPFIT_CLI_TRAIN_H
#define KEEPFIT_CLI_TRAIN_H

#include "arguments.h"
#include "columns.h"
#include "toolkit/output.h"
#include "toolkit/progress.h"
#include "taken.h"
#include "trace.h"

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
    size_t named;         /* classes and features whose names the fit knows */
    bool loss_chosen;     /* by the first rows' targets */
    int failed;           /* the journal's disk has failed: what there is, is shown all the same */
    bool live;            /* the stream is no file: what it gave cannot be had again, and is kept whatever comes */
    keepfit_error broken; /* how a live stream ended */
    bool gave_up;         /* a stage has ended since it was too much work, and that was said */
};

/* ---- train_save.c ---- */

/* Writes the model's file; an exit code. */
int train_save(struct training *training);
/* Names whoever feeds the stream the points that need not be kept any longer. */
void train_acknowledge(struct training *training);
/* A checkpoint, so that nothing has to be run again; warns of what a crash has left behind. An exit code. */
int train_finish_journal(struct training *training);

/* ---- train_summary.c ---- */

/* In the form that was asked for, if any. */
void train_print_summary(const struct training *training, const keepfit_report *report, const keepfit_stream_info *info,
                         uint64_t skipped);
/* 5 where a proof fails or is wanting, or a measurement shows that an epsilon the user named was not reached. */
int train_verdict(const struct training *training, const keepfit_report *report);

#endif
