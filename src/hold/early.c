/* Improving x while there are fewer points than coordinates: Newton's steps whose equation has as many unknowns as there are points
 * (optimum/dual.h). A step costs the pass that proves it, and about one more for its direction. */
#include <assert.h>
#include <math.h>

#include "hold/hold.h"

#define ROUNDS_MOST 60 /* safety: then another solver takes over */
/* Directions are solved so far: products cost little beside passes here. */
#define SHARE_MOST 0.1   /* speed: bench/tuning.md */
#define SHARE_LEAST 1e-4 /* safety: four digits a step */
/* The model aims at this much of what is asked for; bounds go by the square of the gradient. */
#define AIM 0.5 /* speed: bench/tuning.md */

bool kf_hold_is_dual(const struct kf_problem *problem, const struct kf_hold *hold)
{
    return !kf_hold_is_cheap(problem) && kf_dual_suits(problem) && !hold->certificate.estimate.origin;
}

static double share_for(const struct kf_certificate *certificate, double goal)
{
    double bound = certificate->now.bound, share = isfinite(bound) ? AIM * sqrt(goal / bound) : SHARE_MOST;
    return fmin(fmax(share, SHARE_LEAST), SHARE_MOST);
}

bool kf_hold_improve_early(struct kf_task *task, struct kf_hold *hold, double to)
{
    struct kf_certificate *certificate = &hold->certificate;
    const struct kf_outcome *now = &certificate->now;
    uint64_t pass = task->problem.points.count;
    assert(kf_hold_is_dual(&task->problem, hold) && to > 0 && to <= 1);
    for (int round = 0; round < ROUNDS_MOST; round++) {
        if (!kf_affords(task, pass))
            return true; /* what there is has to do */
        if (certificate->gradient != KF_GRADIENT_REMEMBERED)
            kf_certificate_pass(task, certificate, NAN);
        kf_complete_gradient(&task->problem.objective, certificate->sum, task->iterate.x, certificate->complete);
        double decrement = kf_dual_aim(&hold->dual, task, certificate->slopes.at, certificate->complete,
                                       share_for(certificate, to * now->target), hold->direction);
        if (!(decrement > 0) || !isfinite(decrement))
            return false;
        if (!kf_hold_advance(task, hold, decrement))
            return !kf_affords(task, pass);
        if (kf_certificate_reaches(task, certificate, to) ||
            (isnan(now->bound) && decrement <= KF_HOLD_SOLVE_TO * now->target))
            return true;
    }
    return now->bound <= now->target;
}
