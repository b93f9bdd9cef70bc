/* A stage: what it may spend, what it has spent, and what came of it. */
#ifndef KF_STAGE_H
#define KF_STAGE_H

#include <assert.h>
#include <math.h>

#include "base/random.h"
#include "base/stopping.h"

/* What a stage may do and has done. Work is counted in nominal nanoseconds: numbers of operations, never a clock, so that the same data
 * give the same bits on any machine. */
struct kf_stage {
    struct kf_random random;
    uint64_t steps;          /* of all stages so far */
    uint64_t products;       /* of points' Hessians with vectors, of all stages so far */
    uint64_t fo_before;      /* FOs before this stage */
    uint64_t allowance;      /* and how many it may spend; UINT64_MAX: any number */
    double work;             /* besides FOs, since auto last looked (kf_spend) */
    double toil, toil_most;  /* what the stage has done besides FOs, and what it may do with them (kf_spend) */
    uint64_t toil_from;      /* FOs before */
    const atomic_bool *stop; /* what ends the stage's work early; may be NULL */
};

/* What a stage does besides FOs (costs.h). auto compares methods by it, and when there is no end to it, the stage ends as if its gradients
 * were spent (fit/promise.c says when). */
static inline void kf_spend(struct kf_stage *stage, double nanoseconds)
{
    assert(!(nanoseconds < 0));
    stage->work += nanoseconds;
    stage->toil += nanoseconds;
}

/* The Hessian of so many points was multiplied with a vector, which took so long. */
static inline void kf_spend_products(struct kf_stage *stage, size_t points, double nanoseconds)
{
    stage->products += points;
    kf_spend(stage, nanoseconds);
}

/* What the proof of a bound goes by. */
enum kf_proof { KF_PROOF_NONE, KF_PROOF_GRADIENT, KF_PROOF_CURVATURE, KF_PROOF_INTERCEPT, KF_PROOF_ESTIMATE };

/* What came of it. */
struct kf_outcome {
    double bound;  /* proved bound on the gap at x, where the method keeps one; otherwise NaN */
    double target; /* what it has to be at most; NaN where nothing is promised */
    enum kf_proof proof;
    double work; /* that it took, in nominal nanoseconds */
};

static const struct kf_outcome kf_no_outcome = {NAN, NAN, KF_PROOF_NONE, 0};

#endif
