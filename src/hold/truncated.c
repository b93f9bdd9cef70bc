/* Improving x where losses have several scores: Newton's steps, each solved no further than the target asks (optimum/products.h), from x as
 * it is, or with the inverse of a Hessian that the certificate has. A step costs a pass, and the products of its direction two passes' time
 * each, but no gradients. */
#include <math.h>

#include "hold/hold.h"

#define ROUNDS_MOST 60 /* safety: then another solver takes over */
/* A direction is solved until the model's gradient is so much of the one here, at least and at most: what lies between is what the bound has to
 * come down by. */
#define SHARE_MOST 0.3   /* speed: bench/tuning.md */
#define SHARE_LEAST 1e-3 /* safety: three digits a step */
/* The model aims at this much of what is asked for. */
#define AIM 0.7 /* speed: bench/tuning.md */

/* The bound, or where nothing is proved an estimate. */
static double standing(const struct kf_task *task, const struct kf_certificate *certificate)
{
    double bound = certificate->now.bound;
    return isnan(bound) ? kf_gap_estimate(&task->problem, task->iterate.x, certificate->complete) : bound;
}

/* How far the next direction is worth solving. Bounds go by the square of the gradient. */
static double share_for(double bound, double goal)
{
    double share = isfinite(bound) ? AIM * sqrt(goal / bound) : SHARE_MOST;
    return fmin(fmax(share, SHARE_LEAST), SHARE_MOST);
}

/* Newton's direction: where the certificate has the inverse of a Hessian, of this x or the last, with that. Returns the squared decrement. */
static double aim(struct kf_task *task, struct kf_hold *hold, double to)
{
    const struct kf_certificate *certificate = &hold->certificate;
    double decrement = kf_class_curvature_aim(&certificate->classes, &task->problem, task->iterate.x,
                                              certificate->complete, hold->direction);
    double share = share_for(standing(task, certificate), to * certificate->now.target);
    return isnan(decrement) ? kf_products_aim(&hold->products, task, certificate->slopes.at, certificate->complete,
                                              share, hold->direction)
                            : decrement;
}

bool kf_hold_improve_truncated(struct kf_task *task, struct kf_hold *hold, double to)
{
    struct kf_certificate *certificate = &hold->certificate;
    const struct kf_objective *objective = &task->problem.objective;
    uint64_t pass = task->problem.points.count;
    /* What a dense Hessian would have taken: then that had better be it. */
    double most = kf_size(&task->problem) <= KF_DENSE_MOST ? kf_cost_hessian(&task->problem) : INFINITY;
    hold->products.spent = 0;
    for (int round = 0; round < ROUNDS_MOST && hold->products.spent <= most; round++) {
        if (!kf_affords(task, pass))
            return true; /* what there is has to do */
        if (!kf_remembers_slopes(certificate))
            kf_certificate_pass(task, certificate, NAN);
        kf_complete_gradient(objective, certificate->sum, task->iterate.x, certificate->complete);
        double decrement = aim(task, hold, to);
        if (!(decrement > 0) || !isfinite(decrement))
            return false;
        if (!kf_hold_advance(task, hold, decrement))
            return !kf_affords(task, pass);
        if (kf_certificate_reaches(task, certificate, to) ||
            (isnan(certificate->now.bound) && standing(task, certificate) <= to * certificate->now.target))
            return true;
    }
    return false;
}
