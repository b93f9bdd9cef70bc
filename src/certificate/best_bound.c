/* The bounds of x as it is, the smallest of which counts, and what is done where rounding alone stands in their way. */
#include <assert.h>
#include <math.h>

#include "certificate/certificate.h"
#include "certificate/internal.h"
#include "kernels/kernels.h"

/* A bound, and what it goes by. */
struct verdict {
    double bound;
    enum kf_proof proof;
};

/* Where the gradient's norm proves nothing for want of convexity in the intercepts; the gradient is complete. Infinite where a better
 * x would have a bound; NaN where none has, or it is not asked for. */
static double bound_with_intercept(struct kf_task *task, struct kf_certificate *certificate)
{
    struct kf_intercept *intercept = &certificate->intercept;
    const struct kf_problem *problem = &task->problem;
    if (problem->options->guarantee != KF_GUARANTEE_PROVED || !kf_intercept_suits(problem))
        return NAN;
    double *slopes = kf_slopes_known(certificate);
    bool serves = kf_intercept_serves(intercept, problem);
    bool affords = slopes || kf_affords(task, problem->points.count);
    if (!serves && slopes && kf_is_single(&problem->objective))
        kf_intercept_gather(intercept, task, slopes);
    else if (!serves && affords &&
             kf_gap_estimate(problem, task->iterate.x, certificate->complete) <=
                 certificate->now.target) /* or x has to move in any case */
        kf_intercept_gather(intercept, task, slopes);
    return kf_intercept_bound(intercept, task, certificate->complete, task->vectors.doubt);
}

/* Several classes with few coordinates; the gradient is complete. Infinite where nothing is proved. */
static double bound_of_classes(struct kf_task *task, struct kf_certificate *certificate, double enough)
{
    struct kf_class_curvature *classes = &certificate->classes;
    const struct kf_problem *problem = &task->problem;
    if (!kf_class_curvature_suit(problem) || !kf_remembers_slopes(certificate))
        return INFINITY;
    double bound =
        kf_class_curvature_bound(classes, problem, task->iterate.x, certificate->complete, task->vectors.doubt);
    if (bound <= enough || kf_class_curvature_serve(classes, problem))
        return bound;
    kf_class_curvature_gather(classes, task, certificate->slopes.at);
    return kf_class_curvature_bound(classes, problem, task->iterate.x, certificate->complete, task->vectors.doubt);
}

/* From the norm of a gradient that is off by something; it is complete. Infinite where an intercept is free. */
static double bound_of_model(const struct kf_task *task, const struct kf_certificate *certificate)
{
    const struct kf_problem *problem = &task->problem;
    if (problem->objective.free || !kf_is_certified(&certificate->curvature))
        return INFINITY;
    return kf_held_bound(problem, 2 * problem->objective.lambda, task->iterate.x, certificate->complete,
                         task->vectors.doubt, kf_curvature_error_norm(&certificate->curvature, problem));
}

/* What the model says, and may be off by. */
static double estimate(const struct kf_task *task, const struct kf_certificate *certificate)
{
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    double share = fmin(certificate->curvature.weight / task->problem.objective.weight_total, 1);
    double off = sqrt(kf_curvature_decrement(&certificate->curvature, task, &tracked) / share) +
                 certificate->estimate.doubt * certificate->estimate.distance;
    return off * off / 2;
}

/* From curvature; a closer look is taken where that is not enough. */
static double bound_from_curvature(struct kf_task *task, struct kf_certificate *certificate, double enough)
{
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    double bound = kf_curvature_bound(&certificate->curvature, task, &tracked, enough);
    if (!(bound <= enough) && kf_certificate_refine(task, certificate))
        bound = kf_curvature_bound(&certificate->curvature, task, &tracked, enough);
    return bound;
}

/* The smallest of the bounds, NaN where none proves anything; those from the gradient, O(d), only where the curvature's is not
 * enough. */
static struct verdict best_bound(struct kf_task *task, struct kf_certificate *certificate, double enough)
{
    const struct kf_problem *problem = &task->problem;
    if (certificate->estimate.origin && kf_is_certified(&certificate->curvature))
        return (struct verdict){estimate(task, certificate), KF_PROOF_ESTIMATE};
    double bound = bound_from_curvature(task, certificate, enough);
    bool modelled = kf_is_modelled(certificate);
    if (bound <= enough || (modelled && isfinite(bound)))
        return (struct verdict){bound, KF_PROOF_CURVATURE};
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    kf_complete_gradient(&problem->objective, certificate->sum, task->iterate.x, certificate->complete);
    kf_complete_doubt(&problem->objective, &tracked, task->iterate.x, task->vectors.doubt);
    if (modelled)
        return (struct verdict){bound_of_model(task, certificate), KF_PROOF_GRADIENT};
    assert(certificate->gradient != KF_GRADIENT_UNKNOWN);
    double of_gradient = kf_gap_bound(problem, task->iterate.x, certificate->complete, task->vectors.doubt, 0);
    if (!(of_gradient <= enough))
        bound = fmin(bound, bound_of_classes(task, certificate, enough));
    if (bound <= of_gradient && isfinite(bound))
        return (struct verdict){bound, KF_PROOF_CURVATURE};
    if (isfinite(fmin(bound, of_gradient))) /* of_gradient may be NaN: then the first one */
        return (struct verdict){fmin(bound, of_gradient),
                                isfinite(of_gradient) ? KF_PROOF_GRADIENT : KF_PROOF_CURVATURE};
    bound = bound_with_intercept(task, certificate);
    return (struct verdict){isinf(bound) && kf_is_limited(problem) ? NAN : bound, KF_PROOF_INTERCEPT};
}

/* The same if there were no rounding in the sum. */
static double bound_without_rounding(struct kf_task *task, struct kf_certificate *certificate, double enough)
{
    kf_copy(&task->problem, certificate->aside, certificate->off);
    kf_clear(&task->problem, certificate->off);
    double bound = best_bound(task, certificate, enough).bound;
    kf_copy(&task->problem, certificate->off, certificate->aside);
    return bound;
}

void kf_certificate_judge(struct kf_task *task, struct kf_certificate *certificate, double share)
{
    struct kf_outcome *now = &certificate->now;
    now->target = kf_goal_target(&certificate->goal, &task->problem, certificate->square);
    struct verdict verdict = best_bound(task, certificate, share * now->target);
    assert(share >= 0 && !(verdict.bound < 0)); /* NaN: nothing is proved */
    now->bound = verdict.bound;
    now->proof = isfinite(verdict.bound) ? verdict.proof : KF_PROOF_NONE;
}

bool kf_certificate_reaches(struct kf_task *task, struct kf_certificate *certificate, double share)
{
    kf_certificate_judge(task, certificate, share);
    double enough = share * certificate->now.target;
    return certificate->now.bound <= enough || bound_without_rounding(task, certificate, enough) <= enough;
}

/* Whether the sum can be made with twice the digits. */
static bool can_look_closely(const struct kf_task *task, const struct kf_certificate *certificate)
{
    const struct kf_objective *objective = &task->problem.objective;
    return !kf_is_modelled(certificate) && !certificate->estimate.origin && objective->loss && !objective->hidden &&
           kf_affords(task, task->problem.points.count);
}

void kf_certificate_look_closely(struct kf_task *task, struct kf_certificate *certificate)
{
    double target = certificate->now.target;
    if (certificate->now.bound <= target || !can_look_closely(task, certificate) ||
        !(bound_without_rounding(task, certificate, target) <= target))
        return;
    assert(certificate->gradient == KF_GRADIENT_EXACT || certificate->gradient == KF_GRADIENT_REMEMBERED);
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    kf_gradient_sum_closely(&task->problem.objective, task->iterate.x, &tracked, certificate->aside,
                            kf_slopes_known(certificate), task->vectors.factors[0]);
    kf_curvature_move(&certificate->curvature, task, &tracked);
    kf_certificate_judge(task, certificate, 1);
}

bool kf_certificate_is_good(const struct kf_task *task, const struct kf_certificate *certificate)
{
    const struct kf_outcome *now = &certificate->now;
    if (!isnan(now->bound))
        return now->bound <= now->target;
    return kf_gap_estimate(&task->problem, task->iterate.x, certificate->complete) <= now->target;
}
