/* The gradient bound: what strong convexity says of the gap, from the gradient alone. docs/guarantee.md, Theorem 3 (gradient bound) and
 * Theorem 4 (intercepts within bounds). */
#ifndef KF_GAP_H
#define KF_GAP_H

#include "problem/problem.h"
#include "objective/rounding.h"

/* max over y in D of -gradient.(y-x) - mu/2 |y-x|^2, attained at y = P(x - gradient/mu): by strong convexity no point of D
 * is better than x by more. In the whole space it is |gradient|^2/(2 mu). A free intercept b adds |its gradient| |b - b*|, where
 * b* is known to lie within bounds (squared, huber, hinge). The gradient's numbers may be off by those of `doubt` (kf_complete_doubt; may be
 * NULL), and all of it by a vector no longer than `more`; rounding is taken into account. NaN where nothing is proved: mu = 0, other free
 * coordinates, or a network, which is not convex. */
double kf_gap_bound(const struct kf_problem *problem, const double *x, const double *gradient, const double *doubt,
                    double more);
/* The same after a pass at x, whose sum is given; gradient receives what it makes (and may be the sum itself), and doubt
 * what its numbers may be off by. */
double kf_gap_bound_of_pass(const struct kf_problem *problem, const double *x, double *sum, double *doubt,
                            double *gradient);

/* All losses are at their least possible value, 0, and so is the regulariser: x is an optimum, and no rounding comes in. */
bool kf_gap_is_nothing(const struct kf_problem *problem, const double *x);
/* Whether kf_gap_bound is a number, lambda being above 0. */
bool kf_bounds_gap(const struct kf_problem *problem);

/* The same over the coordinates that are not free, for any function of convexity mu; `more` is how far the gradient may be off besides, as
 * a length. */
double kf_held_bound(const struct kf_problem *problem, double mu, const double *x, const double *gradient,
                     const double *doubt, double more);

/* About as much, without looking at rounding. With free coordinates that have no bound: that of the others, plus the gain of the free ones
 * if their curvature were a tenth of the largest possible. */
double kf_gap_estimate(const struct kf_problem *problem, const double *x, const double *gradient);

#endif
