/* The minimiser of the current stage's objective over the domain.
 *
 * Objectives with a Hessian: Newton's method. Up to KF_DENSE_MOST coordinates the Hessian is assembled and its quadratic
 * model minimised over the domain (quadratic.h); beyond that, in the whole space, conjugate gradients solve for the
 * step. Everything else (user-written objectives, large models inside a domain): accelerated projected gradient on the
 * objective itself. Newton's steps are cut by a line search; where a loss has kinks the generalised Hessian serves. */
#ifndef KF_OPTIMUM_H
#define KF_OPTIMUM_H

#include "optimum/quadratic_solver.h"

#define KF_DENSE_MOST 1500 /* safety: as H of the proofs, certificate/dense_hessian.c */
#define KF_COLUMNS 64      /* safety: room; a block of columns */

/* Score curvatures, each times its point's weight, and room for rows on their way into a Hessian. */
struct kf_curves {
    double *of; /* outputs^2 numbers a point */
    size_t capacity;
    double *columns; /* KF_COLUMNS rows */
    size_t columns_capacity;
};

void kf_curves_free(struct kf_curves *curves);

struct kf_optimum {
    struct kf_quadratic quadratic;
    struct kf_curves curves;
    double *work; /* vectors of the model's size, one after the other */
    size_t work_capacity;
};

void kf_optimum_free(struct kf_optimum *optimum);

/* Moves x until the bound (with free coordinates, the estimate) is at most `target`, or, with target 0, as far as rounding allows. sum receives the
 * gradient sum at the final x (kf_gradient_sum). FOs are counted: one a gradient, one a Hessian. KEEPFIT_UNSOLVED: it
 * stopped short (x holds the best it reached). Stops short, too, when the stage's budget is spent, unless target is 0. */
keepfit_status kf_optimum_find(struct kf_optimum *optimum, struct kf_task *task, double target, double *x, double *sum,
                               keepfit_error *error);

/* Point j's score curvature times its weight, from its slope times its weight, where the loss knows (curves_of); and those of the points
 * from .. to-1, whose slopes begin at slopes[from]. */
double kf_curve_recalled(const struct kf_problem *problem, size_t j, double slope);
void kf_curves_recall(const struct kf_problem *problem, size_t from, size_t to, const double *slopes, double *curves);

/* Adds the Hessians at x of the points from .. to-1, times their weights, to a matrix's lower triangle; each point's score
 * curvature times its weight goes to `curves`. One FO a point; none where the points' weighted slopes at x are
 * remembered (not NULL). False: out of memory. */
bool kf_hessian_add(struct kf_curves *curves, struct kf_task *task, const double *x, const double *slopes, size_t from,
                    size_t to, double *hessian, size_t stride);
/* The same, times `scale`, of the first `count` points with other curvatures than theirs. */
bool kf_hessian_add_known(struct kf_curves *curves, const struct kf_problem *problem, const double *others,
                          size_t count, double scale, double *hessian, size_t stride);
/* Takes scale times that of point j out again. */
void kf_hessian_take_out(const struct kf_curves *curves, const struct kf_problem *problem, size_t j, double scale,
                         double *hessian, size_t stride);

#endif
