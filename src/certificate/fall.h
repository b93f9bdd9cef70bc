/* How the curvature of a point can fall when its score moves. Everything in a bound from curvature but this is the same for all losses; a
 * family with a record a member:
 *
 *   concordant   by exp(-M s) at most where the score moves by s                                  (concordant.c)
 *   pieces       not at all, as long as the score stays inside the piece of the loss that it is in (pieces.c) */
#ifndef KF_FALL_H
#define KF_FALL_H

#include "certificate/curvature.h"

struct kf_fall {
    const char *name;
    bool has_rooms; /* each point's room is kept */
    bool
        inherits; /* what is known of leverages serves for the next H; and what a step without a pass is off by can be known */
    bool recentres; /* bounds go farthest from an H at the very x */
    double rough;   /* above this, what a move adds to `stretch` is looked at point by point */
    /* What H keeps of its points, and its inverse with all that bounds need. False: there is none, or no memory. */
    bool (*find)(struct kf_curvature *curvature, struct kf_task *task, double target);
    /* Once the leverages of all points are measured, what H keeps of them; *again: it has become another, and they are to be measured
     * again. False: it has no inverse, or no memory. */
    bool (*choose)(struct kf_curvature *curvature, struct kf_task *task, double target, bool *again);
    /* How far x may move, when all of this is known. */
    double (*radius)(const struct kf_curvature *curvature);
    /* By how much a move of this |.|_H adds to `stretch`, at most; what it is at x, having moved by delta, by a look at all points. */
    double (*stretch_of)(const struct kf_curvature *curvature, double length);
    double (*look)(const struct kf_curvature *curvature, const struct kf_problem *problem, const double *slopes,
                   const double *delta);
    /* Whether it is so much that a new H would serve better where the bound is to be `target`. */
    bool (*is_far)(const struct kf_curvature *curvature, double target);
    /* The share of H that is left after such a stretch. */
    double (*share)(const struct kf_curvature *curvature, const struct kf_problem *problem, double stretch);
    /* The bound where |g|^2_{H^-1} is `square` and the Hessian at x at least c H; `most` and `enough` as for kf_curvature_bound_at. */
    double (*bound)(const struct kf_curvature *curvature, const struct kf_problem *problem, double square, double c,
                    double most, double enough);
};

extern const struct kf_fall kf_concordant_fall, kf_piecewise_fall;

/* That of this loss; NULL: nothing is known of it. */
static inline const struct kf_fall *kf_fall_of(const struct kf_loss *loss)
{
    return isfinite(loss->concordance) ? &kf_concordant_fall : loss->piece ? &kf_piecewise_fall : NULL;
}

/* That of the problem, which the curvature suits. */
static inline const struct kf_fall *kf_fall(const struct kf_problem *problem)
{
    return kf_fall_of(problem->objective.loss);
}

/* ---- rooms, where there are any ---- */

/* For so many points. False: no memory. */
bool kf_rooms_reserve(struct kf_curvature *curvature, const struct kf_problem *problem, size_t count);
/* The slopes at the anchor: those that are known (not NULL), or those of H's next points up to to-1, computed where rooms are made of them;
 * one FO each. */
const double *kf_rooms_slopes(struct kf_curvature *curvature, struct kf_task *task, const double *slopes, size_t to);
/* From these, the rooms of H's next points. */
void kf_rooms_measure(struct kf_curvature *curvature, const struct kf_problem *problem, size_t to);
void kf_rooms_archive(struct kf_curvature *curvature, const struct kf_problem *problem, struct kf_archive *archive);

#endif
