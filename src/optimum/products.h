/* Newton's direction for losses of several scores, which have as many coordinates as features times classes: by conjugate gradients, on
 * products of the mean objective's Hessian with a vector,
 *
 *   H v = (1/W) sum_j a_j (w_j C_j (a_j'V)) + 2 lambda v,      V = v as a matrix, a row a feature; C_j the loss's curvature in its scores,
 *
 * of which C_j is at hand where the slopes of a gradient pass are remembered. A product costs two passes over the rows, and no matrix of
 * H's size ever exists.
 *
 * Adding one number to all scores of a point changes nothing. So H does nothing but the regulariser's part to a vector that is the same for
 * all classes, and maps the others, whose numbers add up to 0 in each row of V, to one another. Conjugate gradients stay among these; what
 * x has beside them is its mean over the classes, which the optimum has not. This is the gauge of free intercepts, too. */
#ifndef KF_PRODUCTS_H
#define KF_PRODUCTS_H

#include "optimum/shared_inverse.h"

struct kf_products {
    double *work;
    size_t capacity;
    double spent; /* in nominal nanoseconds, since it was last set to 0 */
    double rent;  /* the same, since a Hessian was made last, for losses of one score (hold/rented.c) */
    struct kf_shared_inverse shared;
};

void kf_products_free(struct kf_products *products);

/* Whether the loss has its curvature from its slopes, and the space is whole. */
bool kf_products_suit(const struct kf_problem *problem);

/* Newton's direction where the points' slopes, times their weights, are `slopes`, as far as is worth its while: until the gradient that the
 * quadratic model has at its end is `share` of the one here. Where intercepts are free, they count as much as bounds need. Returns the
 * squared decrement, -gradient.direction; NaN: out of memory. */
double kf_products_aim(struct kf_products *products, struct kf_task *task, const double *slopes, const double *gradient,
                       double share, double *direction);

/* What a direction has the same for all classes is replaced by what takes x's own away: the optimum has none of it. */
void kf_products_gauge(const struct kf_objective *objective, const double *x, double *direction);

#endif
