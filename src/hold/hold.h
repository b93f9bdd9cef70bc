/* Hold and certify: x stands still while its certificate takes in each new point with 1 FO, so that the bound on the gap stays proved.
 * Only when it exceeds what epsilon asks for is x improved.
 *
 * How, is what methods differ in. Where curvature is known by Newton's steps, each followed by a pass that makes the gradient exact
 * again: with the Hessian of the current x every time, or with an old one as long as it serves. Where slopes are remembered the pass may
 * wait: what curvatures make of them is off by little, and by how much at most is known. Where an estimate is enough it may wait, too.
 * Where losses have several scores by Newton's steps that are solved no further than the target asks, without a Hessian (truncated.c).
 * Elsewhere (domains, other losses, many features) the stage's problem is solved by optimum/optimum.h. */
#ifndef KF_HOLD_H
#define KF_HOLD_H

#include "certificate/certificate.h"
#include "hold/spread.h"
#include "optimum/dual.h"
#include "optimum/products.h"

/* A step is good if the slope at its end is at most this share of the one at its start, uphill; of one that promises more than
 * KF_HOLD_FAR the value decides too. */
#define KF_HOLD_SLOPE_MOST 0.5 /* speed: bench/tuning.md */
#define KF_HOLD_FAR 1.0        /* speed: bench/tuning.md */
/* A step that takes the decrement down by less than this asks for a Hessian at the current x. */
#define KF_HOLD_CONTRACTION 0.6 /* speed: bench/tuning.md */
/* Up to so many coordinates a Hessian, of slopes that are remembered, takes not much longer than a pass. */
#define KF_HOLD_CHEAP_MOST 32 /* speed: bench/tuning.md */
/* Passes are rare with no more gradients than this for each point that is present, so far. */
#define KF_HOLD_RARE_MOST 20 /* speed: bench/tuning.md */

/* A solve goes on to this share of the target, so that it lasts for some stages; early on nothing does. */
#define KF_HOLD_SOLVE_TO 0.25 /* speed: bench/tuning.md */
/* Where losses are made of pieces, steps that promise more than this multiple of the target cross kinks. */
#define KF_HOLD_KINKS_FROM 4.0 /* safety: far from the target; from half to double nothing moves */

struct kf_hold {
    bool reuse; /* Newton's steps with the Hessian of an earlier x, while it serves */
    bool
        sharp; /* for losses of pieces: proofs from curvature are much sharper than the gradient's, as the last improvement found */
    double *direction;
    struct kf_certificate certificate;
    struct kf_products products;
    struct kf_dual dual; /* while there are fewer points than coordinates */
    struct kf_optimum optimum;
    double *scores; /* room for two a point */
    size_t scores_capacity;
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
/* Asserts what must hold of it between two operations. */
void kf_hold_check(const struct kf_task *task, const struct kf_hold *hold);

static inline bool kf_hold_is_cheap(const struct kf_problem *problem)
{
    return kf_size(problem) <= KF_HOLD_CHEAP_MOST;
}

static inline bool kf_hold_is_rare(const struct kf_problem *problem)
{
    return problem->objective.fo <= KF_HOLD_RARE_MOST * (uint64_t)problem->points.count;
}

/* Whether the Hessian no longer serves; whether it is too early for its bounds. */
bool kf_hold_is_outgrown(const struct kf_task *task, struct kf_hold *hold);
bool kf_hold_is_early(const struct kf_problem *problem, const struct kf_hold *hold);

/* Goes along hold->direction, which promises half of `decrement`: all the way, or back to where the slope, taken as straight, is 0: by
 * convexity what matters is where the slope turns up. Each try is a pass. False: no length helps, or none that the budget allows; x has not
 * moved. */
bool kf_hold_advance(struct kf_task *task, struct kf_hold *hold, double decrement);
/* Where losses are made of pieces: how far along the direction g falls. 1 for others, and where the step promises little. */
double kf_hold_search(struct kf_task *task, struct kf_hold *hold, double decrement);
/* To what share of the target a stage is solved. */
double kf_hold_share(const struct kf_task *task, const struct kf_hold *hold);
/* Newton's steps with a Hessian until the bound is that share of the target. False: they lead nowhere. */
bool kf_hold_improve(struct kf_task *task, struct kf_hold *hold);
/* Whether a direction had better be found without a new Hessian, by products; and that. Returns the squared decrement, NaN: out of memory. */
bool kf_hold_rents(const struct kf_task *task, const struct kf_hold *hold);
double kf_hold_aim_rented(struct kf_task *task, struct kf_hold *hold);
/* Steps without a Hessian, for losses of several scores. Where nothing is proved, an estimate is brought down so far. False: not cheaply, too. */
bool kf_hold_improve_truncated(struct kf_task *task, struct kf_hold *hold, double to);
/* The same while there are fewer points than coordinates (early.c). */
bool kf_hold_improve_early(struct kf_task *task, struct kf_hold *hold, double to);
bool kf_hold_is_dual(const struct kf_problem *problem, const struct kf_hold *hold);

#endif
