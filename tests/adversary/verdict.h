/* One run: a problem, the fit that it is given to, and what every stage is judged by.
 *
 * A stage is *judged* if the reference decides about it: the gap is at most the bound, or above it for certain. */
#ifndef KEEPFIT_ADVERSARY_VERDICT_H
#define KEEPFIT_ADVERSARY_VERDICT_H

#include "trial.h"

/* What can be found: X(name, what it says). */
#define FINDINGS(X)                                                                                                    \
    X(BOUND, "the gap is above the bound")                                                                             \
    X(MEASURED_BOUND, "the gap is above the measured bound")                                                           \
    X(PROMISE, "a stage called proved is not within epsilon of the optimum")                                           \
    X(TARGET, "the target is not what epsilon says")                                                                   \
    X(COUNTERS, "missed and unproved are counted wrongly")                                                             \
    X(WORST, "the worst bound is not that")                                                                            \
    X(NAN, "the model has a number that is none")                                                                      \
    X(OUTSIDE, "the model is outside the domain")                                                                      \
    X(OBJECTIVE, "the measured objective is wrong")                                                                    \
    X(OPTIMUM, "the measured optimum is wrong")                                                                        \
    X(RESTORED, "a fit that was restored reports something else")                                                      \
    X(SHAPE, "the report's sizes are wrong")                                                                           \
    X(FAILED, "a call failed")                                                                                         \
    X(SLOW, "a stage took too long")                                                                                   \
    X(CRASHED, "the run crashed")                                                                                      \
    X(HUNG, "the run did not end")

enum finding {
#define FINDING_ENUM(name, sentence) FINDING_##name,
    FINDINGS(FINDING_ENUM)
#undef FINDING_ENUM
        FINDING_COUNT
};

extern const char *const finding_names[FINDING_COUNT], *const finding_sentences[FINDING_COUNT];

/* Lives in memory that a run's process shares with the one that started it. */
struct tally {
    uint64_t runs, stages, judged, undecided, unreachable, proved, missed, unproved, violations;
    uint64_t found[FINDING_COUNT];      /* stages */
    uint64_t runs_found[FINDING_COUNT]; /* runs */
    double ratio;                       /* the largest gap / bound that was found wrong */
    double slowest;
    uint64_t slowest_seed, slowest_stage;
    double reference_seconds, fit_seconds;
    uint64_t seed, stage; /* at work */
};

struct settings {
    double bend;  /* bounds are multiplied by this before they are judged: to see that the judge sees */
    double limit; /* seconds a stage may take */
    bool show;    /* tell every stage */
    bool quiet;   /* tell no finding */
};

struct run {
    const struct settings *settings;
    struct tally *tally;
    struct trial *trial;
    keepfit_options *options;
    keepfit_fit *fit;
    size_t present[POINTS_MOST], count; /* of the trial's points, in the fit's order */
    size_t arrived, features, label_count;
    double labels[OUTPUTS_MOST];
    keepfit_report report, before;
    double worst;   /* the largest bound seen */
    bool all_seen;  /* all stages' bounds were */
    size_t calls;   /* stages that the last call made at most */
    double seconds; /* that it took */
    const char *action;
    bool told[FINDING_COUNT];
    struct optimum optimum; /* the last one: where the next search begins */
    size_t optimum_slots, optimum_outputs;
    bool has_optimum;
};

/* Judges the fit as it is after a call. */
void judge_stage(struct run *run);
void judge_report(struct run *run);
__attribute__((format(printf, 3, 4))) void run_found(struct run *run, enum finding finding, const char *format, ...);

/* The trial from its first point to its last. */
void run_trial(uint64_t seed, const struct settings *settings, struct tally *tally);
/* The thread's processor time. */
double run_clock(void);

#endif
