/* Improving without a stage that costs much: what hold.h does in a pass over all points, in slices that the stages' allowance
 * (--max-stage-work, --stage-budget) has room for. Meanwhile x is held with its exact gradient, so that every stage's bound
 * is proved; it may exceed what epsilon asks for, and then says so.
 *
 * One job is under way at a time:
 *
 *   trying     x' = x + length * Newton's direction; its gradient sum is gathered point by point. When it has all points, x
 *              moves there if that is better, or a shorter step is tried.
 *   gathering  the Hessian at x, beside the one in force,
 *   measuring  and then the leverages that its bounds need, as many points at a time as a stage may compute gradients; then it
 *              takes over.
 *
 * Points that come meanwhile are at the end of the line and are reached in their turn; of points that leave, what was gathered
 * is taken out again. A job begins when the bound, growing as it did lately, would exceed the target before the job ends. */
#ifndef KF_SPREAD_H
#define KF_SPREAD_H

#include "certificate/curvature.h"

enum kf_job { KF_IDLE, KF_TRYING, KF_GATHERING, KF_MEASURING };

struct kf_spread {
    enum kf_job job;
    double *x, *sum, *off; /* trying: x', the gradient sum there of the points done, and what that may be off by */
    size_t done;
    double length, promise; /* of the step; the squared decrement, where it began */
    double losses, fall;    /* of the points done: their losses at x', and how much less that is than at x, */
    double at_zero;         /* and at 0 */
    bool restart;           /* x' is 0, because x is worse */
    bool worn;              /* steps gain too little: a Hessian at x is wanted */
    bool fresh;             /* x is where the Hessian was taken */
    bool chosen;            /* measuring: what is left out of H has been chosen */
    double settled;         /* the bound when the last job ended, */
    uint64_t stages;        /* and the stages since */
    double hopeless;        /* rounding does not let it fall below this; 0: not known */
    struct kf_curvature curvature;
};

struct kf_hold;

bool kf_spread_create(struct kf_task *task, struct kf_spread *spread);
void kf_spread_free(struct kf_spread *spread);
/* What was gathered is void. */
void kf_spread_forget(struct kf_spread *spread);
void kf_spread_archive(struct kf_task *task, struct kf_spread *spread, struct kf_archive *archive);
/* The newest point may have brought new features. False: out of memory. */
bool kf_spread_take(struct kf_task *task, struct kf_spread *spread);
/* Point j leaves. 1 FO at most. */
void kf_spread_leave(struct kf_task *task, struct kf_hold *hold, size_t j);
/* The stage's share of the work, after its bound is known. */
void kf_spread_work(struct kf_task *task, struct kf_hold *hold);

#endif
