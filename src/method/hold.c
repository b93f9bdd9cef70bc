#include "method/hold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/logarithm.h"
#include "base/memory.h"
#include "kernels/kernels.h"

/* A solve goes on to this share of the target, so that it lasts for some stages; early on nothing does. */
#define SOLVE_TO 0.25
#define ROUNDS_MOST 60
/* A Hessian is used again while the weight has not grown by more than this, and x not moved too far from its anchor. */
#define GROWTH_MOST 2
#define STRETCH_MOST 0.5
/* One that is made of modelled slopes, which costs no gradients, not so long where it is cheap: what points that are not in it may be off
 * by adds up without cancelling. */
#define GROWTH_MODELLED 1.25
#define LOST_MOST 0.3
/* Steps that promise more than this multiple of the target lead too far to go without looking. */
#define UNSEEN_BELOW 32
/* The bounds are made ready once a step promises less than this multiple of the target. */
#define CERTIFY_BELOW 100
/* With fewer points than this times the size x moves too far at every stage for the curvature's bound to last; beyond CHEAP_MOST
 * coordinates, for it to be worth its while. */
#define EARLY 2
#define EARLY_WIDE 6
/* Of the model's error, as a share of x's move. */
#define DOUBT_LEAST 0.02
#define DOUBT_MOST 1.0
#define TRIES_MOST 20
/* Steps on which scores move by this, times M, are shortened at once. */
#define DAMPED_FROM 2.0
/* Where the proof asks for more than the solver's estimate said: how much further at a time, and in all. */
#define SHARE_STEP 1e-3
#define SHARE_LEAST 1e-15

void kf_hold_measure_anew(struct kf_task *task, struct kf_hold *hold)
{
    size_t free = task->problem.objective.free;
    hold->intercept.known = false;
    hold->square = kf_square(kf_size(&task->problem) - free, task->iterate.x + free);
}

/* |g|_{H^-1} with H as it would be for all points. */
static double decrement_now(const struct kf_task *task, const struct kf_hold *hold)
{
    struct kf_tracked tracked = kf_hold_tracked(hold);
    double share = fmin(hold->curvature.weight / task->problem.objective.weight_total, 1);
    return sqrt(kf_curvature_decrement(&hold->curvature, task, &tracked) / share);
}

/* A pass has shown what the modelled gradient, which said 0, was off by. */
static void learn_doubt(struct kf_task *task, struct kf_hold *hold)
{
    if (!hold->origin)
        return;
    if (hold->distance > 0 && hold->curvature.certified)
        hold->doubt = fmin(fmax(2 * decrement_now(task, hold) / hold->distance, DOUBT_LEAST), DOUBT_MOST);
    hold->distance = 0;
    kf_copy(&task->problem, hold->origin, task->iterate.x);
}

/* Room for the slopes of all points, which Hessians are made of without computing gradients again; NULL: they are not to be
 * remembered, or there is none. Estimates move x and compute nothing. */
static double *room_for_slopes(struct kf_task *task, struct kf_hold *hold)
{
    if (hold->origin || kf_is_limited(&task->problem) || !kf_curvature_suits(&task->problem))
        return NULL;
    if (KF_RESERVE(hold->slopes, hold->slopes_capacity, task->problem.points.count))
        return hold->slopes;
    task->problem.objective.memory_failed = true;
    return NULL;
}

/* The gradient sum at x from a pass, when x has moved there. */
static void refresh(struct kf_task *task, struct kf_hold *hold, double change)
{
    double *slopes = room_for_slopes(task, hold);
    kf_gradient_sum(&task->problem.objective, task->iterate.x, task->problem.points.count, hold->sum, slopes,
                    task->vectors.factors[0]);
    struct kf_tracked tracked = kf_hold_tracked(hold);
    kf_rounding_of_pass(&task->problem.objective, task->iterate.x, hold->off);
    hold->remembered = slopes != NULL;
    hold->modelled = hold->matching = false;
    hold->moved_most = hold->moved_off = 0;
    hold->curvature.since.error = 0;
    kf_hold_measure_anew(task, hold);
    kf_goal_move(&hold->goal, task, task->iterate.x, change);
    kf_curvature_move(&hold->curvature, task, &tracked);
    learn_doubt(task, hold);
}

/* Begins to track, at the start and when what was tracked is void. */
static void track(struct kf_task *task, struct kf_hold *hold)
{
    refresh(task, hold, NAN);
    hold->tracked = true;
}

keepfit_status kf_hold_take(struct kf_task *task, void *state, double loss, keepfit_error *error)
{
    struct kf_hold *hold = state;
    struct kf_objective *objective = &task->problem.objective;
    size_t newest = task->problem.points.count - 1;
    if (!hold->tracked) {
        track(task, hold);
        return KEEPFIT_OK;
    }
    double *factors = task->vectors.factors[0];
    kf_factors(objective, &task->iterate.view, newest, factors);
    objective->type->add(objective, 1, newest, factors, hold->sum);
    struct kf_tracked tracked = kf_hold_tracked(hold);
    double blur = kf_rounding_of_point(objective, task->iterate.x, newest, factors, 0, &tracked);
    hold->curvature.since.blur = fmax(hold->curvature.since.blur, blur);
    hold->remembered = hold->remembered && room_for_slopes(task, hold);
    if (hold->remembered)
        hold->slopes[newest] = factors[0];
    if (hold->modelled && hold->remembered && KF_RESERVE(hold->moved, hold->moved_capacity, task->problem.points.count))
        hold->moved[newest] = 0;
    else if (hold->modelled)
        return kf_fail_memory(error);
    kf_goal_take(&hold->goal, task, loss, blur);
    kf_intercept_take(&hold->intercept, task, newest);
    bool room = kf_curvature_take(&hold->curvature, task, newest, factors[0]) && kf_spread_take(task, &hold->spread);
    return room ? KEEPFIT_OK : kf_fail_memory(error);
}

/* Where the gradient's norm proves nothing for want of convexity in the intercepts; hold->gradient is complete. Infinite where a better
 * x would have a bound; NaN where none has, or it is not asked for. */
static double bound_with_intercept(struct kf_task *task, struct kf_hold *hold)
{
    if (task->problem.options->guarantee != KF_GUARANTEE_PROVED || !kf_intercept_suits(&task->problem))
        return NAN;
    bool serves = kf_intercept_serves(&hold->intercept, &task->problem);
    if (!serves && hold->remembered)
        kf_intercept_gather(&hold->intercept, task, hold->slopes);
    else if (!serves && kf_affords(task, task->problem.points.count) &&
             kf_gap_estimate(&task->problem, task->iterate.x, hold->gradient) <=
                 hold->now.target) /* or x has to move in any case */
        kf_intercept_gather(&hold->intercept, task, NULL);
    return kf_intercept_bound(&hold->intercept, task, hold->gradient, task->vectors.doubt);
}

/* From the norm of a gradient that is off by something; hold->gradient is complete. Infinite where an intercept is free. */
static double bound_of_model(const struct kf_task *task, const struct kf_hold *hold)
{
    if (task->problem.objective.free || !hold->curvature.certified)
        return INFINITY;
    return kf_held_bound(&task->problem, 2 * task->problem.objective.lambda, task->iterate.x, hold->gradient,
                         task->vectors.doubt, kf_curvature_error_norm(&hold->curvature, &task->problem));
}

/* A closer look at what has become of the Hessian's curvatures. */
static bool refine(const struct kf_task *task, struct kf_hold *hold)
{
    const double *slopes = hold->remembered && !hold->modelled ? hold->slopes : NULL;
    return kf_curvature_refine(&hold->curvature, task, slopes);
}

/* The smallest of the bounds, NaN where none proves anything; those from the gradient, O(d), only where the curvature's is not
 * enough. For estimates, what the model says and may be off by. */
static double best_bound(struct kf_task *task, struct kf_hold *hold, double enough)
{
    if (hold->origin && hold->curvature.certified) {
        double off = decrement_now(task, hold) + hold->doubt * hold->distance;
        return off * off / 2;
    }
    struct kf_tracked tracked = kf_hold_tracked(hold);
    double bound = kf_curvature_bound(&hold->curvature, task, &tracked, enough);
    if (!(bound <= enough) && refine(task, hold))
        bound = kf_curvature_bound(&hold->curvature, task, &tracked, enough);
    if (bound <= enough || (hold->modelled && isfinite(bound)))
        return bound;
    kf_complete_gradient(&task->problem.objective, hold->sum, task->iterate.x, hold->gradient);
    kf_complete_doubt(&task->problem.objective, &tracked, task->iterate.x, task->vectors.doubt);
    if (hold->modelled)
        return bound_of_model(task, hold);
    bound = fmin(bound, kf_gap_bound(&task->problem, task->iterate.x, hold->gradient, task->vectors.doubt,
                                     0)); /* which may be NaN: then the first one */
    if (isfinite(bound))
        return bound;
    bound = bound_with_intercept(task, hold);
    return isinf(bound) && kf_is_limited(&task->problem) ? NAN : bound;
}

/* The same if there were no rounding in the sum. */
static double bound_without_rounding(struct kf_task *task, struct kf_hold *hold, double enough)
{
    kf_copy(&task->problem, hold->aside, hold->off);
    kf_clear(&task->problem, hold->off);
    double bound = best_bound(task, hold, enough);
    kf_copy(&task->problem, hold->off, hold->aside);
    return bound;
}

/* Where rounding in the sum is what keeps the bound above the target, the sum is made anew, with all that can be known of it. */
static void look_closely(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_objective *objective = &task->problem.objective;
    if (hold->now.bound <= hold->now.target || hold->modelled || hold->origin || !objective->loss ||
        objective->hidden || !kf_affords(task, task->problem.points.count) ||
        !(bound_without_rounding(task, hold, hold->now.target) <= hold->now.target))
        return;
    struct kf_tracked tracked = kf_hold_tracked(hold);
    double *slopes = hold->remembered ? hold->slopes : NULL;
    kf_gradient_sum_closely(objective, task->iterate.x, &tracked, hold->aside, slopes, task->vectors.factors[0]);
    kf_curvature_move(&hold->curvature, task, &tracked);
    kf_hold_judge(task, hold);
}

/* Whether the points that the Hessian was made of are too few of all. */
static bool is_outnumbered(const struct kf_problem *problem, const struct kf_curvature *curvature, double growth)
{
    return !curvature->anchored || curvature->since.lost > LOST_MOST ||
           problem->objective.weight_total > growth * curvature->weight;
}

bool kf_hold_is_outgrown(const struct kf_task *task, struct kf_hold *hold)
{
    struct kf_curvature *curvature = &hold->curvature;
    if (is_outnumbered(&task->problem, curvature, GROWTH_MOST))
        return true;
    if (curvature->certified && curvature->since.stretch > STRETCH_MOST)
        refine(task, hold);
    return curvature->certified && curvature->since.stretch > STRETCH_MOST;
}

/* A Hessian that is made of the slopes as they are would be no other, however far x has gone from where these were computed. */
static bool must_anchor(const struct kf_task *task, struct kf_hold *hold)
{
    if (hold->reuse && hold->modelled && hold->matching)
        return is_outnumbered(&task->problem, &hold->curvature,
                              kf_hold_is_cheap(&task->problem) ? GROWTH_MODELLED : GROWTH_MOST);
    return !hold->reuse || kf_hold_is_outgrown(task, hold);
}

double kf_hold_aim(struct kf_task *task, struct kf_hold *hold)
{
    kf_spend(&task->stage, 0.5 * (double)(kf_size(&task->problem) * kf_size(&task->problem)));
    kf_complete_gradient(&task->problem.objective, hold->sum, task->iterate.x, hold->gradient);
    kf_curvature_step(&hold->curvature, hold->gradient, hold->direction);
    return -kf_dot(kf_size(&task->problem), hold->gradient, hold->direction);
}

void kf_hold_judge(struct kf_task *task, struct kf_hold *hold)
{
    hold->now.target = kf_goal_target(&hold->goal, &task->problem, hold->square);
    hold->now.bound = best_bound(task, hold, hold->now.target);
}

void kf_hold_has_moved(struct kf_task *task, struct kf_hold *hold, double losses)
{
    struct kf_tracked tracked = kf_hold_tracked(hold);
    kf_hold_measure_anew(task, hold);
    kf_goal_set(&hold->goal, &task->problem, task->iterate.x, losses);
    kf_curvature_move(&hold->curvature, task, &tracked);
}

bool kf_hold_is_early(const struct kf_problem *problem, const struct kf_hold *hold)
{
    size_t times = kf_hold_is_cheap(problem) ? EARLY : EARLY_WIDE;
    return hold->reuse && !problem->objective.free && problem->points.count < times * kf_size(problem);
}

static bool is_enough(struct kf_task *task, struct kf_hold *hold)
{
    hold->now.target = kf_goal_target(&hold->goal, &task->problem, hold->square);
    double enough = (kf_hold_is_early(&task->problem, hold) ? 1 : SOLVE_TO) * hold->now.target;
    hold->now.bound = best_bound(task, hold, enough);
    return hold->now.bound <= enough || bound_without_rounding(task, hold, enough) <= enough;
}

/* For an estimate: Newton's step, after which the gradient of the model is 0, and so it is taken to be. No FO. False: this
 * would not do. */
static bool model_step(struct kf_task *task, struct kf_hold *hold)
{
    const struct kf_objective *objective = &task->problem.objective;
    size_t size = kf_size(&task->problem);
    if (!hold->origin || !hold->curvature.certified || must_anchor(task, hold))
        return false;
    kf_hold_aim(task, hold);
    double change = kf_dot(size, hold->sum, hold->direction);
    kf_add(size, 1, hold->direction, task->iterate.x);
    task->stage.steps++;
    for (size_t k = 0; k < size; k++)
        hold->sum[k] = k < objective->free ? 0 : -2 * objective->lambda * objective->weight_total * task->iterate.x[k];
    kf_clear(&task->problem, hold->off);
    struct kf_tracked tracked = kf_hold_tracked(hold);
    kf_hold_measure_anew(task, hold);
    kf_goal_move(&hold->goal, task, task->iterate.x, change);
    kf_curvature_move(&hold->curvature, task, &tracked);
    for (size_t k = 0; k < size; k++)
        hold->direction[k] = task->iterate.x[k] - hold->origin[k];
    hold->distance = kf_curvature_length(&hold->curvature, hold->direction);
    return is_enough(task, hold);
}

/* x is where the step began again, and what was known of it is true again; what was only modelled is made sure of. */
static void go_back(struct kf_task *task, struct kf_hold *hold, bool modelled)
{
    kf_copy(&task->problem, task->iterate.x, hold->start);
    if (modelled) {
        refresh(task, hold, NAN);
        return;
    }
    kf_copy(&task->problem, hold->sum, hold->start_sum);
    kf_copy(&task->problem, hold->off, hold->start_off);
    hold->remembered = false;
    struct kf_tracked tracked = kf_hold_tracked(hold);
    kf_hold_measure_anew(task, hold);
    kf_goal_move(&hold->goal, task, task->iterate.x, NAN);
    kf_curvature_move(&hold->curvature, task, &tracked);
}

/* Early on steps lead far. Along one on which no score moves by more than s, curvatures fall by exp(-M s) at most, and a step that stops at
 * ln(1+Ms)/(Ms) of it does not overshoot. */
static double first_length(const struct kf_problem *problem, const struct kf_hold *hold)
{
    double most = 0;
    if (!kf_hold_is_early(problem, hold))
        return 1;
    for (size_t j = 0; j < problem->points.count; j++)
        most = fmax(most, fabs(kf_score(problem, j, hold->direction)));
    most *= problem->objective.loss->concordance;
    return most > DAMPED_FROM ? kf_log1p(most) / most : 1;
}

/* Goes along the direction, all the way, or back to where the slope, taken as straight, is 0: by convexity what matters is
 * where the slope turns up. Each try is a pass. False: no length helps, or none that the budget allows; x has not moved. */
static bool advance(struct kf_task *task, struct kf_hold *hold, double decrement)
{
    size_t size = kf_size(&task->problem);
    double length = first_length(&task->problem, hold), at = 0;
    /* A slope says little of a step that promises much: where the loss is flat the end of one that went far astray is flat
     * too. There the value decides. */
    bool far = decrement > KF_HOLD_FAR, modelled = hold->modelled;
    double value = far ? kf_objective_value(&task->problem.objective, task->iterate.x) : 0;
    kf_copy(&task->problem, hold->start, task->iterate.x);
    kf_copy(&task->problem, hold->start_sum, hold->sum);
    kf_copy(&task->problem, hold->start_off, hold->off);
    for (int tries = 0; tries < TRIES_MOST && kf_affords(task, task->problem.points.count); tries++) {
        double change = kf_hold_foreseen_change(&task->problem, hold, length - at);
        kf_copy(&task->problem, task->iterate.x, hold->start);
        kf_add(size, length, hold->direction, task->iterate.x);
        at = length;
        task->stage.steps++;
        refresh(task, hold, change);
        kf_complete_gradient(&task->problem.objective, hold->sum, task->iterate.x, hold->gradient);
        double slope = kf_dot(size, hold->gradient, hold->direction);
        bool lower =
            !far || kf_objective_value(&task->problem.objective, task->iterate.x) <= value - 1e-4 * length * decrement;
        if (slope <= KF_HOLD_SLOPE_MOST * decrement && lower)
            return true;
        length *= slope > 0 ? fmax(decrement / (decrement + slope), 0.05) : 0.25;
    }
    if (at != 0)
        go_back(task, hold, modelled);
    return false;
}

static bool has_cheap_hessian(const struct kf_problem *problem, const struct kf_hold *hold)
{
    return hold->remembered && kf_hold_is_cheap(problem);
}

/* Modelled slopes were followed by H's curvatures, and will be by the points' own. */
static void correct_sum(struct kf_task *task, struct kf_hold *hold)
{
    const struct kf_objective *objective = &task->problem.objective;
    if (!hold->modelled || hold->matching)
        return;
    struct kf_tracked tracked = kf_hold_tracked(hold);
    kf_rounding_of_correction(objective, hold->moved_most, (double)hold->curvature.points, &tracked);
    for (size_t j = 0; j < hold->curvature.points; j++) {
        double more = kf_curve_recalled(&task->problem, j, hold->slopes[j]) - hold->curvature.curves.of[j],
               factor = more * hold->moved[j];
        if (factor != 0)
            objective->type->add(objective, 1, j, &factor, hold->sum);
    }
}

/* The Hessian at x, or, of points whose slopes are older, where these were computed. */
static keepfit_status anchor(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_curvature *curvature = &hold->curvature;
    const double *slopes = hold->remembered ? hold->slopes : NULL;
    bool extends = hold->modelled && hold->matching && kf_curvature_may_extend(curvature, &task->problem);
    double blur = hold->modelled ? curvature->since.blur : 0; /* slopes are of then */
    correct_sum(task, hold);
    keepfit_status status =
        extends ? kf_curvature_extend(curvature, task, slopes) : kf_curvature_anchor(curvature, task, slopes);
    hold->matching = status == KEEPFIT_OK && slopes;
    curvature->since.blur = fmax(curvature->since.blur, blur);
    for (size_t j = 0; j < task->problem.points.count && hold->matching && hold->modelled; j++)
        curvature->since.before = fmax(curvature->since.before, fabs(hold->moved[j]) + hold->moved_off);
    return status;
}

/* Makes the bounds ready, once a step promises so little that they may hold. */
static void certify(struct kf_task *task, struct kf_hold *hold, double decrement)
{
    struct kf_curvature *curvature = &hold->curvature;
    struct kf_tracked tracked = kf_hold_tracked(hold);
    if (curvature->certified || kf_hold_is_early(&task->problem, hold) ||
        !(decrement < CERTIFY_BELOW * hold->now.target) ||
        !kf_curvature_certify(curvature, task, &tracked, hold->now.target) || !hold->modelled)
        return;
    struct kf_moves moves = {hold->moved, hold->moved_off};
    double most, error = kf_curvature_error(curvature, &task->problem, hold->slopes, &moves, &most);
    kf_curvature_doubt(curvature, error, most);
}

/* Newton's steps until the bound is a share of the target. False: they lead nowhere. */
static bool improve(struct kf_task *task, struct kf_hold *hold)
{
    uint64_t pass = task->problem.points.count;
    double before = INFINITY;
    bool fresh = has_cheap_hessian(&task->problem, hold);
    for (int round = 0; round < ROUNDS_MOST; round++) {
        double decrement = fresh || must_anchor(task, hold) ? INFINITY : kf_hold_aim(task, hold);
        /* An old Hessian is no guide for a step that promises much. */
        if (!(decrement < fmin(KF_HOLD_CONTRACTION * before, KF_HOLD_FAR))) {
            if (!kf_affords(task, 2 * pass))
                return true; /* what there is has to do */
            if (anchor(task, hold) != KEEPFIT_OK)
                return false;
            decrement = kf_hold_aim(task, hold);
            certify(task, hold, decrement);
        }
        if (!isfinite(decrement))
            return !kf_affords(task, pass);
        if (decrement < UNSEEN_BELOW * hold->now.target && kf_hold_step_unseen(task, hold)) {
            kf_hold_judge(task, hold);
            if (hold->now.bound <= hold->now.target)
                return true;
            decrement = kf_hold_aim(task, hold);
        }
        if (!advance(task, hold, decrement))
            return !kf_affords(task, pass);
        certify(task, hold, decrement);
        /* Where nothing can be proved (an intercept, while one class is all there is) the decrement has to do. */
        if (is_enough(task, hold) || (isnan(hold->now.bound) && decrement <= SOLVE_TO * hold->now.target))
            return true;
        fresh = !hold->reuse || has_cheap_hessian(&task->problem, hold);
        before = decrement;
    }
    return hold->now.bound <= hold->now.target;
}

/* From wherever x is, with a line search, to a share of the target; as far as the gradient's norm tells. */
static keepfit_status solve_once(struct kf_task *task, struct kf_hold *hold, double share, keepfit_error *error)
{
    keepfit_status status =
        kf_optimum_find(&hold->optimum, task, share * hold->now.target, task->iterate.x, hold->sum, error);
    task->stage.steps++;
    kf_rounding_of_pass(&task->problem.objective, task->iterate.x, hold->off);
    hold->remembered = hold->modelled = false;
    hold->curvature.since.error = 0;
    kf_hold_measure_anew(task, hold);
    kf_goal_move(&hold->goal, task, task->iterate.x, NAN);
    hold->curvature.anchored = hold->curvature.certified =
        false; /* the solver has its own use for the score curvatures */
    hold->now.target = kf_goal_target(&hold->goal, &task->problem, hold->square);
    hold->now.bound = best_bound(task, hold, 0);
    return status;
}

/* A better x lowers a relative target: until both have met. With a free intercept the solver goes by an estimate, and has to go
 * further if the proof asks for more. */
static keepfit_status solve_anew(struct kf_task *task, struct kf_hold *hold, keepfit_error *error)
{
    keepfit_status status = KEEPFIT_OK;
    double share = SOLVE_TO;
    for (int k = 0; k < TRIES_MOST && status == KEEPFIT_OK && share > SHARE_LEAST &&
                    kf_affords(task, 3 * task->problem.points.count);
         k++) {
        kf_intercept_bring_back(&hold->intercept, task);
        status = solve_once(task, hold, share, error);
        look_closely(task, hold);
        if (kf_hold_is_good(task, hold))
            break;
        if (hold->intercept.known)
            share *= fmin(fmax(SOLVE_TO * hold->now.target / hold->now.bound, SHARE_STEP), 0.5);
    }
    /* An optimum as good as rounding allows is no failure of the method: the bound tells what it is worth. */
    if (status != KEEPFIT_UNSOLVED || !kf_all_finite(kf_size(&task->problem), task->iterate.x))
        return status;
    kf_error_clear(error);
    return KEEPFIT_OK;
}

bool kf_hold_is_good(const struct kf_task *task, const struct kf_hold *hold)
{
    if (!isnan(hold->now.bound))
        return hold->now.bound <= hold->now.target;
    return kf_gap_estimate(&task->problem, task->iterate.x, hold->gradient) <= hold->now.target;
}

/* What a stage does when its points are in. */
static keepfit_status settle(struct kf_task *task, struct kf_hold *hold, keepfit_error *error)
{
    if (!hold->tracked)
        track(task, hold);
    kf_hold_judge(task, hold);
    look_closely(task, hold);
    if (kf_is_limited(&task->problem) && kf_curvature_suits(&task->problem)) {
        kf_spread_work(task, hold);
        return KEEPFIT_OK;
    }
    if (kf_hold_is_good(task, hold))
        return KEEPFIT_OK;
    bool improved = kf_curvature_suits(&task->problem) && (model_step(task, hold) || improve(task, hold));
    look_closely(task, hold);
    return improved ? KEEPFIT_OK : solve_anew(task, hold, error);
}

keepfit_status kf_hold_settle(struct kf_task *task, void *state, struct kf_outcome *outcome, keepfit_error *error)
{
    struct kf_hold *hold = state;
    keepfit_status status = settle(task, hold, error);
    if (hold->modelled &&
        !hold->curvature.certified) { /* stopped halfway, with nothing to tell what the sum is worth */
        refresh(task, hold, NAN);
        kf_hold_judge(task, hold);
    }
    *outcome = hold->now;
    return status;
}
