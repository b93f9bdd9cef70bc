/* A proof of the gap where an intercept is free, for losses of probabilities (logistic, softmax), with any number of features and
 * in any domain.
 *
 * Let b be the intercepts (one, or one for each of C classes), w the rest of x, and h(w) = min over b of g(w, b), which is as convex
 * in w as the regulariser. With v the gradient of g at x,
 *
 *   gap  <=  (g(w,b) - h(w)) + (h(w) - min h)
 *
 * The first part has C unknowns, and H = (1/W) sum w_j (curvature of loss_j in its scores) for a Hessian: with
 * N = |v_b|_{H^-1}, and rho the largest difference between two entries of a d with |d|_H = 1 (for one intercept, its own size),
 *
 *   g(w,b) - h(w)  <=  (t + (1-t) ln(1-t))/rho^2,     t = rho N < 1
 *
 * The second part has the gradient of h, which is v_w but for what it changes by on the way to the best b, and that is at most
 *
 *   sqrt(V) (t/(1-t))/rho,     V = (1/W) sum w_j |row j|^2 (largest eigenvalue of loss_j's curvature)
 *
 * which gains by rows that are less a constant one, m: for b' = b + w.m the problem is the same, its gradient in w is v_w - m v_b, and V is that
 * of rows a_j - m (several classes); and A |v_b| where there is one intercept, with A the largest |row|.
 * docs/guarantee.md, Theorem 14 (free intercepts). H is made of the points at one x, and only grows by those that come later; V takes them in. */
#ifndef KF_INTERCEPT_H
#define KF_INTERCEPT_H

#include "iterate/task.h"
#include "problem/gap.h"

struct kf_intercept {
    bool known;         /* what follows is of task->iterate.x */
    bool hopeless;      /* a class without points pulls its intercept away without end */
    size_t outputs;     /* C, then */
    double weight;      /* W, then */
    double range;       /* rho^2/W */
    double moment_most; /* V W, of all points */
    double upward;      /* what squares of lengths are to be multiplied by, for the rounding in H */
    double *inverse;
    size_t capacity;
    double *centre; /* several classes: what is taken off each feature, */
    size_t centre_count, centre_capacity;
    double *shifted; /* and a gradient of such rows, with what it may be off by */
    size_t shifted_capacity;
};

void kf_intercept_free(struct kf_intercept *intercept);
void kf_intercept_archive(struct kf_intercept *intercept, const struct kf_problem *problem, struct kf_archive *archive);

/* Whether there is a free intercept that nothing else proves anything of. */
bool kf_intercept_suits(const struct kf_problem *problem);
/* Whether H is of this x, and of nearly all points. */
bool kf_intercept_serves(const struct kf_intercept *intercept, const struct kf_problem *problem);
/* Makes it at task->iterate.x: one FO a point, or none where the points' slopes there are remembered (not NULL). */
void kf_intercept_gather(struct kf_intercept *intercept, struct kf_task *task, const double *slopes);
/* Point j has come, whose scores may be off by `blur`. */
void kf_intercept_take(struct kf_intercept *intercept, struct kf_task *task, size_t j, double blur);
/* The bound, infinite where a better x would have one; NaN where none has. */
double kf_intercept_bound(struct kf_intercept *intercept, struct kf_task *task, const double *gradient,
                          const double *doubt);
/* Where H has been lost to rounding, since the losses are flat so far out, and no step leads back: the intercepts become those that
 * would be best if nothing else were known than how much weight each class has. */
void kf_intercept_bring_back(const struct kf_intercept *intercept, struct kf_task *task);

#endif
