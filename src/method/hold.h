/* Hold and certify: x stands still while its exact gradient takes in each new point with 1 FO, so that the bound on the gap
 * stays proved. Only when it exceeds what epsilon asks for is x improved.
 *
 * How, is what methods differ in. Where curvature is known (certificate/curvature.h) by Newton's steps, each followed by a
 * pass that makes the gradient exact again: with the Hessian of the current x every time, or with an old one as long as it
 * serves. Where slopes are remembered the pass may wait: what curvatures make of them is off by little, and by how much at most is
 * known. Where an estimate is enough it may wait, too: Newton's step makes the gradient of the quadratic model 0, and what that is
 * off by is estimated from what passes found it to be off by before. Elsewhere (domains, other losses, many features) the stage's
 * problem is solved by optimum/optimum.h. */
#ifndef KF_HOLD_H
#define KF_HOLD_H

#include "certificate/curvature.h"
#include "certificate/goal.h"
#include "certificate/intercept.h"
#include "method/method.h"
#include "method/spread.h"

/* A step is good if the slope at its end is at most this share of the one at its start, uphill; of one that promises more than
 * KF_HOLD_FAR the value decides too. */
#define KF_HOLD_SLOPE_MOST 0.5
#define KF_HOLD_FAR 1.0
/* A step that takes the decrement down by less than this asks for a Hessian at the current x. */
#define KF_HOLD_CONTRACTION 0.6

struct kf_hold {
    bool reuse;        /* Newton's steps with the Hessian of an earlier x, while it serves */
    double *sum, *off; /* of the points' gradients at task->iterate.x, and by how much each number may be off */
    double *gradient, *direction, *start, *start_sum, *start_off;
    double *aside;  /* what `off` was, or room, within one function */
    double square;  /* |x|^2 over the regularised coordinates */
    bool tracked;   /* sum is valid for all points but the newest */
    double *origin; /* for estimates: x when its gradient was last computed, */
    double distance,
        doubt;       /* how far it has moved since, and the error of the modelled gradient that a unit of it brings */
    bool remembered; /* slopes holds those of all points that are tracked, each at task->iterate.x, or, */
    bool modelled;   /* at an earlier x, from which scores have moved by `moved`; sum is what H makes of that */
    bool matching;   /* the curvatures in H are those of the slopes, as far as it has points */
    double *slopes, *moved, *trial;
    double moved_most, moved_off; /* no number of `moved` is larger in size, nor off by more */
    size_t slopes_capacity, moved_capacity, trial_capacity;
    struct kf_goal goal;
    struct kf_outcome now; /* of this stage, so far */
    struct kf_curvature curvature;
    struct kf_intercept intercept; /* where an intercept is free */
    struct kf_optimum optimum;
    struct kf_spread spread; /* where stages are limited */
};

keepfit_status kf_hold_create(struct kf_task *task, struct kf_hold *hold, bool reuse);

/* What the methods' records consist of besides; their state is a struct kf_hold. */
keepfit_status kf_hold_take(struct kf_task *task, void *state, double loss, keepfit_error *error);
keepfit_status kf_hold_settle(struct kf_task *task, void *state, struct kf_outcome *outcome, keepfit_error *error);
void kf_hold_leave(struct kf_task *task, void *state, size_t j);
double kf_hold_advantage(struct kf_task *task, void *state);
void kf_hold_archive(struct kf_task *task, void *state, struct kf_archive *archive);
void kf_hold_forget(struct kf_task *task, void *state);
void kf_hold_destroy(void *state);

static inline struct kf_tracked kf_hold_tracked(const struct kf_hold *hold)
{
    return (struct kf_tracked){hold->sum, hold->off};
}

/* Newton's direction at x with the Hessian at hand. Returns the squared decrement, what it promises twice. */
double kf_hold_aim(struct kf_task *task, struct kf_hold *hold);
/* Up to so many coordinates a Hessian, of slopes that are remembered, takes not much longer than a pass. */
#define KF_HOLD_CHEAP_MOST 32
static inline bool kf_hold_is_cheap(const struct kf_problem *problem)
{
    return kf_size(problem) <= KF_HOLD_CHEAP_MOST;
}
/* x is another, or what was known of its points is void. */
void kf_hold_measure_anew(struct kf_task *task, struct kf_hold *hold);
/* What the losses at least change by from x along so much of the direction, backwards too, as far as the sum says. */
double kf_hold_foreseen_change(const struct kf_problem *problem, const struct kf_hold *hold, double length);
/* Newton's step along the direction without a pass. No FO. False: it cannot be known to be good enough, and x has not moved. */
bool kf_hold_step_unseen(struct kf_task *task, struct kf_hold *hold);
/* The stage's target and bound as they are now, and whether that is good enough: with free coordinates and no curvature the
 * gradient's norm proves nothing, and an estimate decides. */
void kf_hold_judge(struct kf_task *task, struct kf_hold *hold);
bool kf_hold_is_good(const struct kf_task *task, const struct kf_hold *hold);
/* x has moved; hold->sum is the gradient sum there, and the losses are summed too where epsilon is relative. */
void kf_hold_has_moved(struct kf_task *task, struct kf_hold *hold, double losses);
/* Whether the Hessian no longer serves; whether it is too early for its bounds. */
bool kf_hold_is_outgrown(const struct kf_task *task, struct kf_hold *hold);
bool kf_hold_is_early(const struct kf_problem *problem, const struct kf_hold *hold);

#endif
