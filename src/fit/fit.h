/* The object that owns objective, domain, history and method: push a point, read the model, its bound, its cost. */
#ifndef KF_FIT_H
#define KF_FIT_H

#include "iterate/problem.h"
#include "method/method.h"
#include "objective/labels.h"
#include "optimum/optimum.h"

/* auto may change its mind, and the vectors of a method it has left stay registered, so their states are kept. */
#define KF_METHODS_IN_TURN 3

struct kf_running {
    const struct kf_method *method;
    void *state;
};

struct keepfit_fit {
    keepfit_options *options;
    keepfit_objective callbacks; /* a copy; used by user-written objectives */
    struct kf_problem problem;
    struct kf_labels labels;

    const struct kf_method *asked; /* the method named by the options */
    const char *reason;
    struct kf_running running[KF_METHODS_IN_TURN];
    size_t running_count; /* the last one is at work */

    keepfit_error death; /* why a stage failed; since then points are refused */
    keepfit_error error;

    uint64_t arrived;   /* points pushed so far */
    uint64_t *arrivals; /* when each present point came; NULL while only the oldest have left */
    size_t arrivals_capacity;
    size_t left;       /* points that have left since constants were computed from all */
    uint64_t features; /* highest feature so far */
    double worst_bound;
    uint64_t missed;   /* stages whose bound exceeded their target */
    uint64_t unproved; /* stages that should have had a bound and have none */
    double seconds;
    uint64_t validated, wrong;
    double validation_loss_sum, validation_square_sum;

    /* measurements, made when first asked for */
    double *optimum_x, *optimum_sum;
    struct kf_optimum optimum;
};

typedef keepfit_status kf_work(struct kf_problem *problem, void *state, keepfit_error *error);

/* A stage begins: what it may spend, from --stage-budget and, through the mean so far, --max-stage-work. */
void kf_fit_allow(keepfit_fit *fit);
/* Has the method at work do this much, its stage or what remains of it when points have left, and keeps account of it. */
keepfit_status kf_fit_run(keepfit_fit *fit, kf_work *work);
/* Point j leaves the history, and what the method remembers. False: out of memory, and nothing has changed. */
bool kf_fit_drop(keepfit_fit *fit, size_t j);
/* A point has come. False: out of memory. */
bool kf_fit_arrive(keepfit_fit *fit);

#endif
