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

    uint64_t features; /* highest feature so far */
    double worst_bound;
    uint64_t missed; /* stages whose bound exceeded their target */
    double seconds;
    uint64_t validated, wrong;
    double validation_loss_sum, validation_square_sum;

    /* measurements, made when first asked for */
    double *optimum_x, *optimum_sum;
    struct kf_optimum optimum;
};

#endif
