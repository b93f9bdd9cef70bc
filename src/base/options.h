/* The options: one struct of plain values, one table that says for each key its type, default, bounds and help. The
 * command line, the man page, the completion and the bindings all read the table. */
#ifndef KF_OPTIONS_H
#define KF_OPTIONS_H

#include "keepfit-team.h"

#define KF_OPTION_COUNT_MAX 64
#define KF_OPTION_TEXT 32
#define KF_RANKS_MOST 4096 /* lists of them are small */

enum kf_setting { KF_SETTING_THEORY, KF_SETTING_PAPER, KF_SETTING_TUNED };
enum kf_stage_output { KF_OUTPUT_AUTO, KF_OUTPUT_MEAN, KF_OUTPUT_LAST };
enum kf_on_error { KF_ON_ERROR_STOP, KF_ON_ERROR_SKIP };
enum kf_scale { KF_SCALE_NONE, KF_SCALE_COLUMNS, KF_SCALE_ROWS, KF_SCALE_MINMAX };
enum kf_storage { KF_STORAGE_AUTO, KF_STORAGE_DENSE, KF_STORAGE_SCALED };
enum kf_epsilon { KF_EPSILON_ABSOLUTE, KF_EPSILON_RELATIVE, KF_EPSILON_STAT };
enum kf_guarantee { KF_GUARANTEE_PROVED, KF_GUARANTEE_ESTIMATE };
enum kf_count { KF_COUNT_AUTO, KF_COUNT_ACTUAL, KF_COUNT_PAPER };
enum kf_extra { KF_EXTRA_ERROR, KF_EXTRA_IGNORE };
enum kf_header { KF_HEADER_AUTO, KF_HEADER_YES, KF_HEADER_NO };

/* Choices hold the index within the option's list of choices. A real that may be absent is NaN then, a count 0, a text
 * NULL. */
struct keepfit_options {
    /* problem */
    int loss;
    uint64_t hidden; /* H of network:H; 0 for linear models */
    double delta, lambda, lambda_total, bias;
    bool intercept, standardise;
    char *domain;
    /* method */
    char *method;
    double epsilon;
    int epsilon_kind, guarantee;
    uint64_t stage_budget, window, half_life;
    double max_stage_work, window_seconds, half_life_seconds; /* the spans: 0 where they are numbers of points */
    int setting, stage_output;
    double alpha;
    uint64_t inner, outer;
    char *step;
    double smoothness, lipschitz, convexity;
    int iterate, count;
    uint64_t seed, threads;
    /* data */
    char *format;
    bool shuffle;
    uint64_t limit;
    int scale, on_error;
    bool zero_based;
    uint64_t max_features;
    int header;
    char *target, *targets, *weights, *delimiter;
    char *key, *time;
    char *ignore, *columns, *type, *cross;
    int missing;
    uint64_t hash;
    bool strict_end, accept_cut;
    /* predict */
    int extra_features;
    /* journal */
    char *journal, *sync;
    uint64_t segment_bytes, checkpoint_gradients;
    double checkpoint_seconds;

    keepfit_stop *stop;       /* see keepfit_options_stop; kept; may be NULL */
    const keepfit_disk *disk; /* see keepfit_options_disk; may be NULL */
    const keepfit_team *team; /* see keepfit_options_team; may be NULL */
    bool looking;             /* the journal is only looked at: not locked, and nothing is written */
    bool given[KF_OPTION_COUNT_MAX];
    char text[KF_OPTION_COUNT_MAX]
             [KF_OPTION_TEXT]; /* the values as keepfit_options_get hands them out, but for texts */
};

/* keepfit_options_set, with a say in whether it counts as given. */
keepfit_status kf_options_put(keepfit_options *options, const char *key, const char *value, bool given,
                              keepfit_error *error);

/* How many threads to use: those asked for, or one a processor. */
size_t kf_threads(const keepfit_options *options);

#endif
