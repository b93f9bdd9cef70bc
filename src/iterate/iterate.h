/* The iterate, and what may be done to it but for steps (step.h). Two representations behave alike:
 *
 *   dense   x as it is. Every step costs O(d). The reference, and the only choice for boxes, the simplex and user-written
 *           objectives.
 *   scaled  x = s*v + c*m, where m is the drift: the sum of remembered gradients that a step adds a multiple of. Shrinking by
 *           the regulariser changes s and c, adding drift changes c, and a sampled gradient touches only its row's
 *           coordinates of v. v and m lie side by side. A step costs O(non-zeros of the rows in it).
 *
 * Scaled, when m changes by delta, v changes by -(c/s) delta, and x stays. A weighted mean of iterates is kept as
 * A = S*v + C*m + t: adding an iterate changes S and C, and a change of v or m is taken out of t, so that t has entries only
 * where rows were touched. When the mean becomes the iterate, t is folded into v there. Projection on a ball needs |x|^2, which
 * follows from |v|^2, v.m and |m|^2; these follow every change, and are computed anew before rounding adds up.
 *
 * A network's iterate is scaled in the whole space. Its v and m are apart, m only where there is drift, and the changes of its first
 * layer wait in a list (deferred.h) until they are many; whoever reads v as it stands writes them first. */
#ifndef KF_ITERATE_H
#define KF_ITERATE_H

#include "iterate/estimator.h"
#include "iterate/sampler.h"
#include "objective/objective.h"

enum kf_needs { KF_NEEDS_DRIFT = 1, KF_NEEDS_AVERAGE = 2, KF_NEEDS_BEFORE = 4 };

struct kf_iterate {
    double *x; /* as a plain vector: itself where dense, otherwise after kf_read */
    bool scaled;
    bool may_change;       /* between the two, to suit the rows */
    bool overflown;        /* scaled: a gradient that went into it was not finite */
    struct kf_view view;   /* how the objective reads x */
    struct kf_view before; /* the same before the last step, where a method needs it */
    unsigned needs;

    double *drift;    /* dense: m */
    double *before_x; /* dense */
    double *average;  /* dense: the mean so far; scaled: t */
    double weight;    /* of the mean so far */
    bool averaging;

    double *pairs;                /* scaled: v and m side by side */
    double *v, *m;                /* networks: the two apart */
    struct kf_lanes lanes;        /* either of these */
    struct kf_deferred *deferred; /* networks */
    double *temporary;            /* what kf_borrow lends; the mean's t where there is one, which is 0 between stages */
    bool read;                    /* task->iterate.x holds x */
    double sum_s, sum_c;
    size_t *touched; /* points whose rows were changed since averaging began */
    size_t touched_count, touched_capacity;
    bool everywhere;         /* t may have entries anywhere */
    double vv, vm, mm, peak; /* peak: the largest |v|^2 since they were computed */
    bool norms;              /* these are kept */
    uint64_t since_norms;

    struct kf_sampler sampler;
};

struct kf_task;

/* Before a method's first stage: the vectors it needs. False: out of memory. */
bool kf_iterate_prepare(struct kf_task *task, unsigned needs);
/* Changes to the representation that suits the rows so far, if the iterate may be scaled and nothing else was asked for:
 * dense where the mean row fills more than half of x, scaled otherwise. Looks now and then; cheap to call at every stage. */
void kf_iterate_suit(struct kf_task *task);
void kf_iterate_free(struct kf_iterate *iterate);
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

/* A weighted mean of the iterates from now on, which at the end becomes the iterate. */
void kf_average_begin(struct kf_task *task);
void kf_average_add(struct kf_task *task, double weight);
void kf_average_end(struct kf_task *task);

#endif
