/* Newton's steps with a Hessian that is kept: of the current x every time, or an old one as long as it serves. */
#include "hold/hold.h"

#include <assert.h>
#include <math.h>

#include "base/logarithm.h"
#include "kernels/kernels.h"

/* Where a new H alone brings the bound down to this, x is held on. */
#define HELD_TO 0.7    /* speed: bench/tuning.md */
#define ROUNDS_MOST 60 /* safety: an end; then the general solver */
/* A Hessian is used again while no more of its weight than this has left. */
#define LOST_MOST 0.3 /* speed: bench/tuning.md */
/* With fewer points than this times the size x moves too far at every stage for the curvature's bound to last; beyond CHEAP_MOST
 * coordinates, for it to be worth its while. */
#define EARLY 2      /* speed: bench/tuning.md */
#define EARLY_WIDE 6 /* speed: bench/tuning.md */
/* Sharp is, for losses of pieces, a proof that beats the gradient's by this times the coordinates. */
#define SHARP_FROM 4.0 /* speed: bench/pieces.md */
#define TRIES_MOST 20  /* safety: an end; 0.25^20 of a step is none */
/* Steps on which scores move by this, times M, are shortened at once. */
#define DAMPED_FROM 2.0 /* speed: bench/tuning.md */

/* ---- when a Hessian serves ---- */

/* Whether the points that the Hessian was made of are too few of all. */
static bool is_outnumbered(const struct kf_problem *problem, const struct kf_curvature *curvature)
{
    return !kf_has_factor(curvature) || curvature->since.lost > LOST_MOST ||
           problem->objective.weight_total > KF_GROWTH_MOST * curvature->weight;
}

bool kf_hold_is_outgrown(const struct kf_task *task, struct kf_hold *hold)
{
    const struct kf_curvature *curvature = &hold->certificate.curvature;
    if (is_outnumbered(&task->problem, curvature))
        return true;
    if (kf_curvature_is_far(curvature, &task->problem, hold->certificate.now.target))
        kf_certificate_refine(task, &hold->certificate);
    return kf_curvature_is_far(curvature, &task->problem, hold->certificate.now.target);
}

/* A Hessian that is made of the slopes as they are would be no other, however far x has gone from where these were computed. */
static bool must_anchor(const struct kf_task *task, struct kf_hold *hold)
{
    const struct kf_certificate *certificate = &hold->certificate;
    if (hold->reuse && kf_is_modelled(certificate) && certificate->slopes.matching)
        return is_outnumbered(&task->problem, &certificate->curvature);
    if (kf_curvature_recentres(&task->problem) &&
        !kf_is_limited(&task->problem)) /* for steps it serves beyond its ball */
        return !hold->reuse || is_outnumbered(&task->problem, &certificate->curvature);
    return !hold->reuse || kf_hold_is_outgrown(task, hold);
}

bool kf_hold_is_early(const struct kf_problem *problem, const struct kf_hold *hold)
{
    if (!hold->reuse || problem->objective.free)
        return false;
    if (kf_curvature_recentres(problem)) /* nothing lasts, but a Hessian is cheap, or worth its price */
        return !kf_hold_is_cheap(problem) && !hold->sharp;
    return problem->points.count < (kf_hold_is_cheap(problem) ? EARLY : EARLY_WIDE) * kf_size(problem);
}

/* With many coordinates bounds that go by a Hessian at the very x are worth it only where the gradient's norm alone would allow the gap to
 * be very many times what they do. */
static void judge_sharpness(const struct kf_task *task, struct kf_hold *hold, double decrement)
{
    const struct kf_problem *problem = &task->problem;
    if (!kf_curvature_recentres(problem) || problem->objective.free || !(decrement > 0))
        return;
    double of_gradient = kf_gap_bound(problem, task->iterate.x, hold->certificate.complete, NULL, 0);
    hold->sharp = 2 * of_gradient > SHARP_FROM * (double)kf_size(problem) * decrement;
}

static bool has_cheap_hessian(const struct kf_problem *problem, const struct kf_hold *hold)
{
    return kf_remembers_slopes(&hold->certificate) && kf_hold_is_cheap(problem);
}

/* Whether a step that promised so much has crossed kinks: what H has beyond them is no guide. */
static bool is_among_kinks(const struct kf_task *task, const struct kf_hold *hold, double decrement)
{
    return kf_curvature_recentres(&task->problem) && kf_remembers_slopes(&hold->certificate) &&
           decrement > KF_HOLD_KINKS_FROM * hold->certificate.now.target;
}

/* Makes the bounds ready, unless it is too early for them to last. */
static void certify(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_certificate *certificate = &hold->certificate;
    const struct kf_curvature *curvature = &certificate->curvature;
    if (kf_has_factor(curvature) && !kf_is_certified(curvature) && !kf_hold_is_early(&task->problem, hold))
        kf_certificate_certify(task, certificate);
}

double kf_hold_share(const struct kf_task *task, const struct kf_hold *hold)
{
    return kf_hold_is_early(&task->problem, hold) ? 1 : KF_HOLD_SOLVE_TO;
}

static bool is_enough(struct kf_task *task, struct kf_hold *hold)
{
    return kf_certificate_reaches(task, &hold->certificate, kf_hold_share(task, hold));
}

/* ---- steps ---- */

/* For an estimate: Newton's step without a pass. False: this would not do. */
static bool step_estimated(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_certificate *certificate = &hold->certificate;
    if (!certificate->estimate.origin || !kf_is_certified(&certificate->curvature) || must_anchor(task, hold) ||
        kf_curvature_recentres(&task->problem)) /* it knows nothing of kinks */
        return false;
    kf_certificate_step_estimated(task, certificate, hold->direction);
    return is_enough(task, hold);
}

/* Newton's step without a pass, where gradients are what is to be saved, rather than time: beyond KF_HOLD_CHEAP_MOST coordinates, finding
 * out what it may be off by takes most of a pass's time, and it does not last as long. False: it may not be good enough, and x has
 * not moved. */
static bool step_unseen(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_certificate *certificate = &hold->certificate;
    const struct kf_problem *problem = &task->problem;
    bool saves = kf_hold_is_cheap(problem) || kf_hold_is_rare(problem);
    return hold->reuse && saves && kf_remembers_slopes(certificate) && kf_is_certified(&certificate->curvature) &&
           kf_certificate_step_unseen(task, certificate, hold->direction);
}

/* Early on steps lead far. Along one on which no score moves by more than s, curvatures fall by exp(-M s) at most, and a step that stops at
 * ln(1+Ms)/(Ms) of it does not overshoot. */
static double first_length(struct kf_task *task, struct kf_hold *hold, double decrement)
{
    const struct kf_problem *problem = &task->problem;
    double most = 0;
    if (!kf_is_single(&problem->objective) || isinf(problem->objective.loss->concordance))
        return kf_hold_search(task, hold, decrement);
    if (!kf_hold_is_early(problem, hold) || problem->objective.loss->concordance == 0)
        return 1;
    kf_spend(&task->stage, (double)problem->points.count * kf_cost_entries(problem) / 2);
    for (size_t j = 0; j < problem->points.count; j++)
        most = fmax(most, fabs(kf_score(problem, j, hold->direction)));
    most *= problem->objective.loss->concordance;
    return most > DAMPED_FROM ? kf_log1p(most) / most : 1;
}

bool kf_hold_advance(struct kf_task *task, struct kf_hold *hold, double decrement)
{
    assert(decrement >= 0 && hold->certificate.gradient != KF_GRADIENT_UNKNOWN);
    struct kf_certificate *certificate = &hold->certificate;
    struct kf_objective *objective = &task->problem.objective;
    size_t size = kf_size(&task->problem);
    double *x = task->iterate.x, length = first_length(task, hold, decrement), at = 0;
    /* A slope says little of a step that promises much: where the loss is flat the end of one that went far astray is flat
     * too. There the value decides. */
    bool far = decrement > KF_HOLD_FAR;
    enum kf_gradient from = certificate->gradient;
    double value = far ? kf_objective_value(objective, x) : 0;
    kf_certificate_set_out(task, certificate);
    for (int tries = 0; tries < TRIES_MOST && kf_affords(task, task->problem.points.count); tries++) {
        double change = kf_certificate_foresee_change(task, certificate, hold->direction, length - at);
        kf_copy(&task->problem, x, certificate->start.x);
        kf_add(size, length, hold->direction, x);
        at = length;
        task->stage.steps++;
        kf_certificate_pass(task, certificate, change);
        kf_complete_gradient(objective, certificate->sum, x, certificate->complete);
        double slope = kf_dot(size, certificate->complete, hold->direction);
        bool lower = !far || kf_objective_value(objective, x) <= value - 1e-4 * length * decrement;
        if (slope <= KF_HOLD_SLOPE_MOST * decrement && lower)
            return true;
        length *= slope > 0 ? fmax(decrement / (decrement + slope), 0.05) : 0.25;
    }
    if (at != 0)
        kf_certificate_go_back(task, certificate, from);
    return false;
}

/* ---- improving ---- */

/* Newton's direction, with a Hessian at x where the old one is no guide: as for a step that promises much. *decrement is the squared one,
 * NaN: there is no direction. False: the budget does not allow it. */
static bool aim(struct kf_task *task, struct kf_hold *hold, bool fresh, double before, double *decrement)
{
    struct kf_certificate *certificate = &hold->certificate;
    bool old = !fresh && !must_anchor(task, hold);
    bool rents = kf_hold_rents(task, hold);
    if (rents && (isfinite(before) || kf_curvature_recentres(&task->problem)))
        old = false; /* what one old Hessian did not do, or a kink has spoilt */
    *decrement = old ? kf_certificate_aim(task, certificate, hold->direction) : INFINITY;
    if (*decrement < fmin(KF_HOLD_CONTRACTION * before, KF_HOLD_FAR))
        return true;
    if (rents) {
        *decrement = kf_hold_aim_rented(task, hold);
        if (*decrement > 0 && isfinite(*decrement))
            return true;
    }
    if (!kf_affords(task, 2 * (uint64_t)task->problem.points.count))
        return false;
    hold->products.rent = 0;
    if (kf_certificate_anchor(task, certificate) != KEEPFIT_OK) {
        *decrement = NAN;
        return true;
    }
    *decrement = kf_certificate_aim(task, certificate, hold->direction);
    certify(task, hold);
    return true;
}

/* H is made again where a step has led, and with it the bound. False: that is not wanted. */
static bool recentre(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_certificate *certificate = &hold->certificate;
    if (!kf_curvature_recentres(&task->problem) || !kf_remembers_slopes(certificate) ||
        kf_hold_is_early(&task->problem, hold))
        return false;
    if (kf_certificate_anchor(task, certificate) == KEEPFIT_OK)
        kf_certificate_certify(task, certificate);
    return true;
}

/* Steps, each with a pass behind it. */
static bool improve(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_certificate *certificate = &hold->certificate;
    const struct kf_outcome *now = &certificate->now;
    uint64_t pass = task->problem.points.count;
    double before = INFINITY;
    bool near = kf_curvature_recentres(&task->problem) && kf_is_certified(&certificate->curvature);
    bool recentred = kf_certificate_is_cramped(task, certificate) && recentre(task, hold);
    if (recentred && kf_certificate_reaches(task, certificate, HELD_TO))
        return true;
    bool fresh = has_cheap_hessian(&task->problem, hold) && !recentred && !near;
    for (int round = 0; round < ROUNDS_MOST; round++) {
        double decrement;
        if (!aim(task, hold, fresh, before, &decrement))
            return true; /* what there is has to do */
        judge_sharpness(task, hold, decrement);
        if (isnan(decrement) && !kf_has_factor(&certificate->curvature))
            return false;
        if (!isfinite(decrement))
            return !kf_affords(task, pass);
        if (step_unseen(task, hold)) {
            kf_certificate_judge(task, certificate, 1);
            if (now->bound <= now->target)
                return true;
            decrement = kf_certificate_aim(task, certificate, hold->direction);
        }
        if (!kf_hold_advance(task, hold, decrement))
            return !kf_affords(task, pass);
        certify(task, hold);
        /* Where nothing can be proved (an intercept, while one class is all there is) the decrement has to do. */
        if (is_enough(task, hold) || (isnan(now->bound) && decrement <= KF_HOLD_SOLVE_TO * now->target))
            return true;
        recentred = recentre(task, hold);
        if (recentred && is_enough(task, hold))
            return true;
        fresh = !recentred &&
                (!hold->reuse || has_cheap_hessian(&task->problem, hold) || is_among_kinks(task, hold, decrement));
        before = recentred ? INFINITY : decrement;
    }
    return now->bound <= now->target;
}

bool kf_hold_improve(struct kf_task *task, struct kf_hold *hold)
{
    return step_estimated(task, hold) || improve(task, hold);
}
