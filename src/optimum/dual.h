/* Newton's direction where there are few points for so many coordinates: all that curvature knows lies in the span of the rows, so what has to be
 * solved has as many unknowns as there are points.
 *
 * With A the rows (regularised coordinates), c the curvatures, W the weight and s = 2 lambda W,
 *
 *   H = A' diag(c) A / W + 2 lambda I,     M = diag(sqrt c) A A' diag(sqrt c) + s I,
 *   H^-1 v = (v - A' (sqrt c * M^-1 (sqrt c * A v))) / (2 lambda)                                  (Woodbury)
 *
 * The products A A' are kept, and each new point adds its own. M's equation is solved by conjugate gradients, no further than is worth its
 * while, with the Cholesky factor of an earlier M for preconditioner, which new points join. It is made again when the rounds since have cost
 * as much as that would. Where an intercept is free, a second equation has what it does to the rest.
 *
 * It is a direction and proves nothing. */
#ifndef KF_DUAL_H
#define KF_DUAL_H

#include "iterate/task.h"

#define KF_DUAL_MOST 2048 /* safety: points; two matrices of 32 MB */

struct kf_dual {
    double *gram, *factor; /* matrices of `stride` columns: products of rows; the factor */
    size_t gram_capacity, factor_capacity, stride;
    size_t points;          /* that the products are of */
    size_t factored, begun; /* and the factor, 0: there is none; it was made of so many, the others joined one by one */
    size_t made;            /* of it so many rows are there: fewer after a snapshot */
    double *of;             /* each point's curvature and s when it joined */
    size_t of_capacity;
    double spent; /* nominal nanoseconds that a better factor would have saved since */
    double *work;
    size_t work_capacity;
};

void kf_dual_free(struct kf_dual *dual);
/* Rows are others, or point j has left. */
void kf_dual_forget(struct kf_dual *dual);
void kf_dual_leave(struct kf_dual *dual, size_t j);
void kf_dual_archive(struct kf_dual *dual, const struct kf_task *task, struct kf_archive *archive);

/* Whether there are fewer points than coordinates (some more, where the loss is squared or has kinks), of a loss of one score in the whole
 * space. */
bool kf_dual_suits(const struct kf_problem *problem);

/* direction = -H^-1 gradient, H's curvatures being those of the slopes; solved until the quadratic model's gradient there is no longer than
 * this share of the gradient. Returns the squared decrement; NaN: there is none, or no memory. */
double kf_dual_aim(struct kf_dual *dual, struct kf_task *task, const double *slopes, const double *gradient,
                   double share, double *direction);

#endif
