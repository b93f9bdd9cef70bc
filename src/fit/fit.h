/* The object that owns objective, domain, history and method: push a point, read the model, its bound, its cost. */
#ifndef KF_FIT_H
#define KF_FIT_H

#include "base/archive.h"
#include "base/schema.h"
#include "history/along.h"
#include "history/centres.h"
#include "history/far.h"
#include "history/keys.h"
#include "iterate/task.h"
#include "method/method.h"
#include "objective/labels.h"
#include "optimum/optimum.h"

/* auto may change its mind, and the vectors of a method it has left stay registered, so their states are kept. */
#define KF_METHODS_IN_TURN 3 /* safety: room; more is an error */

struct kf_running {
    const struct kf_method *method;
    void *state;
    unsigned needs; /* of the iterate */
};

/* For auto: which methods would do, and what is known of their cost (choose.c). */
struct kf_choice {
    const struct kf_method *first, *rival; /* rival: NULL where there is none */
    bool trying;                           /* the other one than before is at work, for a while */
    bool watched;                          /* it has won, and stays while it does not cost much more */
    uint64_t next;                         /* the stage of the next trial */
    uint64_t since, length;                /* the stages that are measured: where it began, and a trial's length */
    double work, work_then;                /* so far, and when it began */
    uint64_t fo;                           /* that are in `work` */
    double rate;                           /* work a stage of the one before the trial */
    double change;                         /* what going to it costs, which is not counted as its own */
    char reason[200];
};

/* Stages by what came of them. One that promised something is proved, missed or unproved. */
struct kf_tally {
    uint64_t proved;   /* with a bound of at most the target */
    uint64_t missed;   /* with a finite bound above it */
    uint64_t unproved; /* without a finite bound */
    uint64_t waiting;  /* of these: without an optimum, since a class had no points */
    uint64_t
        given_up; /* of the missed and the unproved: with as much work as a stage may take, or because of earlier ones */
    uint64_t improvements; /* stages at which x was moved */
    double worst_bound;
};

/* How much a stage may do, after some that did much in vain (promise.c). */
struct kf_patience {
    uint64_t failures, wait; /* stages until the next attempt */
    uint64_t points;         /* when the last one failed, */
    double bound;            /* and what it left */
    bool worse;              /* than that is the bound by now */
};

/* Whether all classes have points, looked for in the points 0 .. looked-1. */
struct kf_presence_of_classes {
    bool *seen;
    size_t capacity, count, looked;
};

/* A user-written objective. */
struct kf_own_objective {
    keepfit_objective callbacks; /* a copy, without the name */
    char *name;                  /* never empty; NULL for the built-in ones */
};

/* What rows and targets mean: where features and classes go, and what people call them. */
struct kf_meaning {
    struct kf_lead lead; /* of the rows that are kept */
    struct kf_labels labels;
    struct kf_schema schema;
    uint64_t features; /* highest feature so far */
};

/* Columns that are kept less of something (centre.c). */
struct kf_centring {
    struct kf_centres centres; /* what of */
    bool look_due;             /* before the stage that is to come */
    double *given_x;           /* the iterate for rows as they came, where some are centred */
};

/* Weights and times that points came with, where they matter (fade.c). */
struct kf_fading {
    double base;           /* half-lives that have been taken off all weights */
    bool begun;            /* a point has come, */
    double origin, latest; /* the times of the first one, and of the newest */
    struct kf_along given, times;
};

/* Who is there, of those who came (remove.c, mark.c). */
struct kf_arrivals {
    uint64_t arrived; /* points pushed so far */
    uint64_t *of;     /* when each present point came; NULL while only the oldest have left */
    size_t capacity;
    size_t left; /* points that have left since constants were computed from all */
    struct kf_keys keys;
    struct kf_fading fading;
};

/* What stages promised, what they and predictions have come to (promise.c, account.c). */
struct kf_account {
    struct kf_tally tally;
    struct kf_patience patience;
    struct kf_presence_of_classes classes;
    double seconds;
    uint64_t validated, wrong;        /* points whose prediction was judged before they were learnt from */
    double loss_sum, square_sum;      /* of these: their losses, and squares of what they were off by */
    struct kf_validation *validation; /* what else is known of them (validation.h) */
};

/* Measurements, made when first asked for (read.c). */
struct kf_measured {
    double *x, *sum;   /* the optimum, and the gradient sum there */
    double *influence; /* as it was last given out */
    size_t influence_capacity;
    struct kf_optimum optimum;
};

/* The indices of the row that was read last. */
struct kf_last_row {
    uint32_t *indices;
    size_t capacity;
};

struct keepfit_fit {
    keepfit_options *options;
    struct kf_own_objective own;
    struct kf_task task;
    struct kf_outcome outcome;  /* of the last stage */
    keepfit_outcome came_of_it; /* in a word */
    atomic_bool stop;           /* see keepfit_fit_stop */
    struct kf_meaning meaning;
    struct kf_arrivals arrivals;
    struct kf_centring centring;
    struct kf_account account;
    struct kf_measured measured;
    struct kf_last_row last_row;

    const struct kf_method *asked; /* the method named by the options */
    struct kf_choice choice;
    struct kf_running running[KF_METHODS_IN_TURN];
    size_t running_count; /* the last one is at work */

    struct kf_durable *durable; /* the journal; NULL: none */

    keepfit_error death; /* why a stage failed; since then points are refused */
    keepfit_error error;

    struct kf_archive snapshot; /* the last one that was handed out */
};

/* Keys (mark.c). */
extern const struct kf_mark kf_no_mark;
/* A key as it was given, NULL: none, and a time, which only counts where the fit goes by it. The mark lives as long as the key. */
keepfit_status kf_mark_read(const keepfit_fit *fit, const char *key, double time, struct kf_mark *mark,
                            keepfit_error *error);
struct kf_mark kf_fit_mark_of(const keepfit_fit *fit, size_t j);
/* The point that has this key leaves, if there is one. False: out of memory, and nothing has changed. */
bool kf_fit_replace(keepfit_fit *fit, const struct kf_mark *mark);
/* The point that has come has this key. False: out of memory. */
bool kf_fit_remember(keepfit_fit *fit, const struct kf_mark *mark);
/* Writing: inside, or left out, since they are known from elsewhere. */
void kf_keys_archive(keepfit_fit *fit, struct kf_archive *archive, bool inside);

/* Point k of a block, which goes on owning the row. */
keepfit_point kf_block_point(const keepfit_block *block, size_t k);

/* What stages promised and what came of it (promise.c): before a stage's work, what it may take; after it, the account. */
void kf_fit_limit_toil(keepfit_fit *fit);
void kf_fit_limit_measuring(keepfit_fit *fit); /* which may take more */
void kf_fit_keep_account(keepfit_fit *fit);
/* A point has left. */
void kf_fit_forget_classes(keepfit_fit *fit);
void kf_fit_archive_tally(keepfit_fit *fit, struct kf_archive *archive);

/* Asserts what must hold of a fit whose newest point is in. O(1). */
void kf_fit_verify(const keepfit_fit *fit);

/* A stage begins: what it may spend, from --stage-budget and, through the mean so far, --max-stage-work. */
void kf_fit_allow(keepfit_fit *fit);
/* A point's way in, in this order. */
keepfit_status kf_fit_ready(keepfit_fit *fit); /* no stage has failed; clears the error */
keepfit_status kf_fit_check(const keepfit_fit *fit, const keepfit_point *point, const struct kf_mark *mark,
                            keepfit_error *error);
keepfit_status kf_fit_check_point(const keepfit_fit *fit, const keepfit_point *point, keepfit_error *error); /* alone */
bool kf_fit_make_room(keepfit_fit *fit, size_t features, size_t classes);
/* Into the history; the oldest may leave. `lent` says where its row lies already; NULL: it is a new one. */
keepfit_status kf_fit_admit(keepfit_fit *fit, const keepfit_point *point, const struct kf_mark *mark,
                            const struct kf_place *lent);
/* Constants and progressive validation, with the newest point. Returns what it costs at x, NaN: not known. */
double kf_fit_account(keepfit_fit *fit);

/* The mapped target of a label, known or new. False: out of memory. */
bool kf_fit_learn_label(keepfit_fit *fit, double label, double *target);
/* What a label is called in messages: its name, or the number. `room` has space for that. */
#define KF_CLASS_ROOM 48 /* safety: room for a number of 17 digits */
const char *kf_fit_class(const keepfit_fit *fit, double label, char room[KF_CLASS_ROOM]);
/* Refuses a third class. */
keepfit_status kf_fit_third(const keepfit_fit *fit, double label, const struct kf_labels *labels, keepfit_error *error);
/* The label, as it was pushed, of a mapped target. */
double kf_fit_label(const keepfit_fit *fit, double target);
/* Brings problem.x up to date. Where memory was wanting for that, the bits are not those that they should be, and the fit is dead. */
keepfit_status kf_fit_read(keepfit_fit *fit);
/* A point has come. False: out of memory. */
bool kf_fit_arrive(keepfit_fit *fit);
/* The functions f_j are no longer those that gradients were remembered of. */
void kf_fit_forget(keepfit_fit *fit);
/* W, lambda and the maxima from all points. */
void kf_fit_compute_constants(keepfit_fit *fit);
/* Point j leaves the history, and what the method remembers. False: out of memory, and nothing has changed. */
bool kf_fit_drop(keepfit_fit *fit, size_t j);
/* The oldest leave, at the cost of a pass over those that remain. */
void kf_fit_drop_oldest(keepfit_fit *fit, size_t count);

/* One point of a block, up to the stage's end, which comes once for all. */
keepfit_status kf_fit_take(keepfit_fit *fit, const keepfit_point *point, const struct kf_mark *mark,
                           const struct kf_place *lent);
/* A point and its stage, as keepfit_fit_push. */
keepfit_status kf_fit_push(keepfit_fit *fit, const keepfit_point *point, const struct kf_mark *mark,
                           const struct kf_place *lent);
/* Room for what is about to come, and the method that suits it. */
keepfit_status kf_fit_prepare(keepfit_fit *fit, size_t features, size_t classes);
/* For auto: looks again, now that the problem may have grown. */
keepfit_status kf_fit_choose(keepfit_fit *fit, keepfit_error *error);

/* Puts a method to work. */
keepfit_status kf_fit_start(keepfit_fit *fit, const struct kf_method *method, keepfit_error *error);
/* For auto, before a stage: begins and ends trials of the other method. */
keepfit_status kf_fit_consider(keepfit_fit *fit);
/* For auto: what a stage may spend before the other method finishes it. */
void kf_fit_limit(keepfit_fit *fit);
/* If the stage's target was not met for that, or not on trial, the other method does. */
keepfit_status kf_fit_give_up(keepfit_fit *fit);
void kf_choice_archive(struct kf_choice *choice, struct kf_archive *archive);
/* What of it follows from the problem, when all else has been read. */
void kf_choice_recall(keepfit_fit *fit);
/* What a stage is about: a point that has come, or points that have been taken already, or have left. */
struct kf_occasion {
    bool has_come;
    double loss; /* what it costs at x, NaN: not known */
};
/* Has the method at work do its stage, and keeps account of it. */
keepfit_status kf_fit_run(keepfit_fit *fit, struct kf_occasion occasion);
/* Makes the model good for the points that are there now, as far as the method promises to. */
keepfit_status kf_fit_settle(keepfit_fit *fit);

keepfit_status kf_fit_overflown(keepfit_fit *fit); /* fails: the iterate is not finite */
bool kf_fit_stopped(const keepfit_fit *fit);       /* see keepfit_fit_stop */
double kf_fit_clock(void);                         /* seconds */

#endif
