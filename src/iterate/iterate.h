/* The iterate, and what may be done to it but for steps (step.h). Two representations behave alike:
 *
 *   dense   x as it is. Every step costs O(d). The reference, and the only choice for boxes, the simplex and user-written
 *           objectives.
 *   scaled  x = s*v + c*m, where m is the drift: the sum of remembered gradients that a step adds a multiple of. Shrinking by
 *           the regulariser changes s and c, adding drift changes c, and a sampled gradient touches only its row's
 *           coordinates of v. v and m lie side by side. A step costs O(non-zeros of the rows in it).
 *
 * Scaled, when m changes by delta, v changes by -(c/s) delta, and x stays. How the mean of iterates and |x|^2 follow without looking at x
 * is in mean.h and norms.h.
 *
 * A network's iterate is scaled in the whole space. Its v and m are apart, m only where there is drift, and the changes of its first
 * layer wait in a list (deferred.h) until they are many; whoever reads v as it stands writes them first. */
#ifndef KF_ITERATE_H
#define KF_ITERATE_H

#include "iterate/estimator.h"
#include "iterate/mean.h"
#include "iterate/norms.h"
#include "iterate/sampler.h"
#include "objective/objective.h"

enum kf_needs { KF_NEEDS_DRIFT = 1, KF_NEEDS_AVERAGE = 2, KF_NEEDS_BEFORE = 4 };

/* Where v and m of a scaled iterate are: scaled.c alone writes there. */
struct kf_lazy {
    double *pairs;                /* the two side by side */
    double *v, *m;                /* networks: apart */
    struct kf_lanes lanes;        /* either of these */
    struct kf_deferred *deferred; /* networks */
};

struct kf_iterate {
    double *x; /* as a plain vector: itself where dense, otherwise after kf_read */
    bool scaled;
    bool may_change;       /* between the two, to suit the rows */
    bool read;             /* scaled: x is what v and m stand for */
    bool overflown;        /* scaled: a gradient that went into it was not finite */
    struct kf_view view;   /* how the objective reads x */
    struct kf_view before; /* the same before the last step, where a method needs it */
    unsigned needs;        /* kf_needs of the methods so far */

    double *drift;     /* dense: m */
    double *before_x;  /* dense */
    double *temporary; /* what kf_borrow lends, where the mean has no vector */
    struct kf_lazy lazy;
    struct kf_norms norms;
    struct kf_mean mean;
    struct kf_sampler sampler;
};

struct kf_task;

/* Before a method's first stage: the vectors it needs. False: out of memory. */
bool kf_iterate_prepare(struct kf_task *task, unsigned needs);
/* Changes to the representation that suits the rows so far, if the iterate may be scaled and nothing else was asked for:
 * dense where the mean row fills more than half of x, scaled otherwise. Looks now and then; cheap to call at every stage. */
void kf_iterate_suit(struct kf_task *task);
void kf_iterate_free(struct kf_iterate *iterate);
/* Asserts what must hold of it between two operations. O(1). */
void kf_iterate_check(const struct kf_task *task);
/* Writes what waits to be written, and forgets what was computed ahead. Before points leave, since these are known by their numbers;
 * before and after a stage, so that it does not matter whether the fit was stored and read again between two. */
void kf_iterate_write(struct kf_task *task);
/* Pointers may have moved. */
void kf_iterate_moved(struct kf_task *task);

/* x as a plain vector: task->iterate.x, brought up to date. Valid until the next change. */
const double *kf_read(struct kf_task *task);
/* The iterate becomes what task->iterate.x holds. The drift stays. */
void kf_load(struct kf_task *task);

/* The drift becomes the gradient sum of the first `count` points at x; remembered (may be NULL) takes their factors. */
void kf_drift_recompute(struct kf_task *task, size_t count, double *remembered);
/* A vector to use between stages, where memory counts: that of the mean, if there is one. To be given back. */
double *kf_borrow(struct kf_task *task);
void kf_give_back(struct kf_task *task, double *vector);

/* m += scale * (the gradient that the factors of point stand for); x stays. */
void kf_drift_add(struct kf_task *task, double scale, size_t point, const double *factors);
/* The row's products with x and with m, for models of one output. */
struct kf_pair kf_iterate_dots(const struct kf_task *task, size_t point);
/* m, as a plain vector. */
void kf_drift_read(struct kf_task *task, double *drift);

#endif
