/* What the bound has to come down to at a stage: the user's epsilon in one of its kinds. docs/guarantee.md, Theorem 1 (relative target)
 * and Theorem 2 (losses followed).
 *
 *   absolute   E
 *   relative   E times the best possible objective. It is unknown, but at least g(x) - bound; so a bound of at most
 *              E*g(x)/(1+E) is enough.
 *   stat       E/i, the statistical accuracy of i points
 *
 * For the relative kind the sum of the losses at x is followed: each new point adds its loss, and when x moves, convexity
 * gives a lower bound from the gradient, loss(x') >= loss(x) + grad loss(x).(x'-x), which is as good here as the sum itself.
 * It is computed anew now and then, before such bounds add up to a loss that matters. */
#ifndef KF_GOAL_H
#define KF_GOAL_H

#include "iterate/task.h"
#include "problem/gap.h"

struct kf_goal {
    double losses;  /* sum of the weighted losses at x, or a little less */
    double off;     /* what rounding may have added to it */
    unsigned moves; /* since it was computed */
};

/* The newest point has come; x is where it was. `loss` is what it costs there, NaN: not known. Its scores may be off by `blur`. */
void kf_goal_take(struct kf_goal *goal, struct kf_task *task, double loss, double blur);
/* Point j leaves. */
void kf_goal_drop(struct kf_goal *goal, struct kf_task *task, const struct kf_view *x, size_t j, double blur);
/* x has moved to `to`; change = (sum of the points' gradients where it was).(its move), or less, NaN where that is not known. */
void kf_goal_move(struct kf_goal *goal, struct kf_task *task, const double *to, double change);

/* Whether the losses are followed: only a relative epsilon asks for them. */
bool kf_goal_follows(const struct kf_problem *problem);

void kf_goal_archive(struct kf_goal *goal, struct kf_archive *archive);

/* The losses at `x` are so much, as they were computed point by point. */
void kf_goal_set(struct kf_goal *goal, const struct kf_problem *problem, const double *x, double losses);

/* The largest bound that meets epsilon at this stage, for x with |x|^2 = square over the regularised coordinates. */
double kf_goal_target(const struct kf_goal *goal, const struct kf_problem *problem, double square);

#endif
