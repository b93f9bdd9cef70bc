/* Losses of which |phi'''| is at most M times phi'': where scores move by s, curvatures fall by exp(-M s) at most (curvature.h). */
#include <math.h>

#include "certificate/internal.h"
#include "kernels/exponential.h"

/* Above this, how far scores have moved is looked at point by point. */
#define STRETCH_ROUGH 0.1 /* speed: bench/tuning.md */
/* With an H that was left farther behind Newton's steps gain little. */
#define STRETCH_MOST 0.5 /* speed: bench/tuning.md */
/* So often what follows from a distance is put in again. */
#define DISTANCE_ROUNDS 3 /* speed: bench/tuning.md */
/* They bring it down by less than this. */
#define ROUNDS_BELOW 2.0 /* speed: bench/tuning.md */

/* ---- what H keeps ---- */

/* K: R, or less where the representation can show less. False: out of memory. */
static bool find_reach(struct kf_curvature *curvature, struct kf_task *task, double target)
{
    curvature->leverages.reach = sqrt(curvature->leverages.largest);
    bool matters = !curvature->plain && curvature->hessian.type->find_reach;
    return !matters || curvature->hessian.type->find_reach(curvature, task, target);
}

static bool concordant_find(struct kf_curvature *curvature, struct kf_task *task, double target)
{
    bool found = kf_concordance(&task->problem) > 0 ? kf_leverages_find(curvature, task, target)
                                                    : curvature->hessian.type->invert(&curvature->hessian);
    if (!found)
        return false;
    bool room = find_reach(curvature, task, target);
    task->problem.objective.memory_failed |= !room;
    return room;
}

static bool concordant_choose(struct kf_curvature *curvature, struct kf_task *task, double target, bool *again)
{
    return kf_leverages_choose(curvature, &task->problem, target, again);
}

static double concordant_radius(const struct kf_curvature *curvature)
{
    (void)curvature;
    return INFINITY;
}

/* ---- how far scores have moved ---- */

static double concordant_stretch_of(const struct kf_curvature *curvature, double length)
{
    return sqrt(curvature->leverages.largest) * length;
}

/* By curvatures, where the slopes at x are known, otherwise by scores. */
static double concordant_look(const struct kf_curvature *curvature, const struct kf_problem *problem,
                              const double *slopes, const double *delta)
{
    double most;
    if (!slopes)
        return curvature->since.before + kf_scores_most(curvature, problem, delta) +
               kf_score_rounding(&problem->objective, kf_score_most(&problem->objective, delta));
    kf_curvature_error(curvature, problem, slopes, NULL, &most);
    return most;
}

static bool concordant_is_far(const struct kf_curvature *curvature, double target)
{
    (void)target;
    return curvature->since.stretch > STRETCH_MOST;
}

static double concordant_share(const struct kf_curvature *curvature, const struct kf_problem *problem, double stretch)
{
    return kf_exp_any(-kf_concordance(problem) * (stretch + curvature->since.blur));
}

/* ---- the bound ---- */

/* u^2/(2 (u - 1 + exp(-u))), at most 1 + u/2: what the curvature at the start of a way is of its mean, if it falls like
 * exp(-u s). */
static double flattening(double u)
{
    return u < 0.01 ? 1 + u / 2 : u * u / (2 * (u + kf_expm1(-u)));
}

/* From how far away the optimum can be at all: D, and the inequality for the gap, at the head of curvature.h. What comes out is beside the
 * point where it is much more than the other bound. */
static double bound_by_distance(const struct kf_curvature *curvature, const struct kf_problem *problem, double square,
                                double c, double other)
{
    const struct kf_objective *objective = &problem->objective;
    double longest = objective->row_most * (1 + kf_gamma((double)objective->longest + 8));
    double concordance = kf_concordance(problem), rate = concordance * longest / sqrt(objective->lambda);
    double t = objective->free ? concordance * sqrt(curvature->hessian.inverse[0]) * sqrt(square) / c : 0;
    if (!(t < 1))
        return INFINITY;
    double rest = 1 + sqrt(1 - t), half = 2 * square / (c * rest * rest);
    double e = half * rate / 4, root = e + sqrt(e * e + half), bound = root * root;
    for (int k = 0; k < DISTANCE_ROUNDS && !objective->free && bound < ROUNDS_BELOW * other; k++)
        bound = half * flattening(rate * sqrt(bound));
    return bound;
}

/* K where points' curvatures have become less than c says of all, or have left: the others' shares are the larger. */
static double reach_now(const struct kf_curvature *curvature)
{
    double rest = 1 - curvature->since.lost - KF_GIVEN_UP_MOST, farthest = sqrt(curvature->leverages.largest);
    return rest > 0 ? fmin(farthest, curvature->leverages.reach / rest) : farthest;
}

static double concordant_bound(const struct kf_curvature *curvature, const struct kf_problem *problem, double square,
                               double c, double most, double enough)
{
    double t = kf_concordance(problem) * reach_now(curvature) * sqrt(square) / c;
    double bound = t < most ? square / (2 * c) * kf_concordant_excess(t) : INFINITY;
    if (!curvature->plain && !(bound <= enough))
        bound = fmin(bound, bound_by_distance(curvature, problem, square, c, bound));
    return bound;
}

const struct kf_fall kf_concordant_fall = {
    .name = "concordant",
    .inherits = true,
    .rough = STRETCH_ROUGH,
    .find = concordant_find,
    .choose = concordant_choose,
    .radius = concordant_radius,
    .stretch_of = concordant_stretch_of,
    .look = concordant_look,
    .is_far = concordant_is_far,
    .share = concordant_share,
    .bound = concordant_bound,
};
