#include "certificate/certificate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "certificate/internal.h"
#include "kernels/kernels.h"
#include "optimum/dual.h"

/* A new Hessian brings the bound down by less than this, besides the room. */
#define CRAMPED_TO 1.2 /* speed: bench/tuning.md */
/* Of the model's error, as a share of x's move. */
#define DOUBT_LEAST 0.02 /* safety: an estimate is never sure, nor hopeless */
#define DOUBT_MOST 1.0   /* safety: an estimate is never sure, nor hopeless */

void kf_certificate_measure_anew(struct kf_task *task, struct kf_certificate *certificate)
{
    size_t free = task->problem.objective.free;
    certificate->intercept.known = certificate->classes.here = false;
    certificate->square = kf_square(kf_size(&task->problem) - free, task->iterate.x + free);
}

/* |g|_{H^-1} with H as it would be for all points. */
static double decrement_now(const struct kf_task *task, const struct kf_certificate *certificate)
{
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    double share = fmin(certificate->curvature.weight / task->problem.objective.weight_total, 1);
    return sqrt(kf_curvature_decrement(&certificate->curvature, task, &tracked) / share);
}

/* A pass has shown what the modelled gradient, which said 0, was off by. */
static void learn_doubt(struct kf_task *task, struct kf_certificate *certificate)
{
    struct kf_estimate *estimate = &certificate->estimate;
    if (!estimate->origin)
        return;
    if (estimate->distance > 0 && kf_is_certified(&certificate->curvature))
        estimate->doubt =
            fmin(fmax(2 * decrement_now(task, certificate) / estimate->distance, DOUBT_LEAST), DOUBT_MOST);
    estimate->distance = 0;
    kf_copy(&task->problem, estimate->origin, task->iterate.x);
}

/* Whether slopes are worth remembering: Hessians, or products with them, are made of them without computing gradients again. Estimates move
 * x and compute nothing. */
static bool wants_slopes(const struct kf_problem *problem, const struct kf_certificate *certificate)
{
    return kf_products_suit(problem) || (!certificate->estimate.origin && !kf_is_limited(problem) &&
                                         (kf_curvature_suits(problem) || kf_dual_suits(problem)));
}

/* Room for the slopes of all points; NULL: they are not to be remembered, or there is none. */
static double *room_for_slopes(struct kf_task *task, struct kf_certificate *certificate)
{
    struct kf_slopes *slopes = &certificate->slopes;
    if (!wants_slopes(&task->problem, certificate))
        return NULL;
    if (KF_RESERVE(slopes->at, slopes->at_capacity, task->problem.points.count * task->problem.objective.outputs))
        return slopes->at;
    task->problem.objective.memory_failed = true;
    return NULL;
}

void kf_certificate_pass(struct kf_task *task, struct kf_certificate *certificate, double change)
{
    struct kf_objective *objective = &task->problem.objective;
    struct kf_slopes *slopes = &certificate->slopes;
    double *at = room_for_slopes(task, certificate);
    kf_gradient_sum(objective, task->iterate.x, task->problem.points.count, certificate->sum, at,
                    task->vectors.factors[0]);
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    kf_rounding_of_pass(objective, task->iterate.x, certificate->off);
    certificate->gradient = at ? KF_GRADIENT_REMEMBERED : KF_GRADIENT_EXACT;
    slopes->matching = false;
    slopes->moved_most = slopes->moved_off = 0;
    certificate->curvature.since.error = 0;
    kf_certificate_measure_anew(task, certificate);
    kf_goal_move(&certificate->goal, task, task->iterate.x, change);
    kf_curvature_move(&certificate->curvature, task, &tracked);
    learn_doubt(task, certificate);
    kf_certificate_check(task, certificate);
}

void kf_certificate_moved(struct kf_task *task, struct kf_certificate *certificate, double losses)
{
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    kf_certificate_measure_anew(task, certificate);
    kf_goal_set(&certificate->goal, &task->problem, task->iterate.x, losses);
    kf_curvature_move(&certificate->curvature, task, &tracked);
    kf_certificate_check(task, certificate);
}

void kf_certificate_solved(struct kf_task *task, struct kf_certificate *certificate)
{
    kf_rounding_of_pass(&task->problem.objective, task->iterate.x, certificate->off);
    certificate->gradient = KF_GRADIENT_EXACT;
    certificate->curvature.since.error = 0;
    certificate->curvature.phase = KF_PHASE_NONE; /* it was of an x that may be far away */
    kf_certificate_measure_anew(task, certificate);
    kf_goal_move(&certificate->goal, task, task->iterate.x, NAN);
    kf_certificate_check(task, certificate);
}

/* ---- points ---- */

/* The newest point's slopes join the others, as far as they are remembered. False: no memory. */
static bool remember_slopes(struct kf_task *task, struct kf_certificate *certificate, const double *factors)
{
    struct kf_slopes *slopes = &certificate->slopes;
    size_t newest = task->problem.points.count - 1, each = task->problem.objective.outputs;
    if (certificate->gradient < KF_GRADIENT_REMEMBERED)
        return true;
    if (!room_for_slopes(task, certificate)) {
        assert(!kf_is_modelled(certificate) || task->problem.objective.memory_failed);
        certificate->gradient = KF_GRADIENT_EXACT;
        return !task->problem.objective.memory_failed;
    }
    memcpy(slopes->at + newest * each, factors, each * sizeof *factors);
    if (!kf_is_modelled(certificate))
        return true;
    if (!KF_RESERVE(slopes->moved, slopes->moved_capacity, task->problem.points.count))
        return false;
    slopes->moved[newest] = 0;
    return true;
}

keepfit_status kf_certificate_take(struct kf_task *task, struct kf_certificate *certificate, double loss,
                                   keepfit_error *error)
{
    struct kf_objective *objective = &task->problem.objective;
    size_t newest = task->problem.points.count - 1;
    bool outgrown = kf_is_modelled(certificate) && !wants_slopes(&task->problem, certificate);
    if (certificate->gradient == KF_GRADIENT_UNKNOWN || outgrown) {
        kf_certificate_pass(task, certificate, NAN);
        return KEEPFIT_OK;
    }
    double *factors = task->vectors.factors[0];
    kf_factors(objective, &task->iterate.view, newest, factors);
    objective->type->add(objective, 1, newest, factors, certificate->sum);
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    double blur = kf_rounding_of_point(objective, task->iterate.x, newest, factors, 0, &tracked);
    if (certificate->curvature.phase != KF_PHASE_NONE)
        certificate->curvature.since.blur = fmax(certificate->curvature.since.blur, blur);
    if (!remember_slopes(task, certificate, factors))
        return kf_fail_memory(error);
    kf_goal_take(&certificate->goal, task, loss, blur);
    kf_intercept_take(&certificate->intercept, task, newest, blur);
    if (!kf_curvature_take(&certificate->curvature, task, newest, factors[0]))
        return kf_fail_memory(error);
    kf_certificate_check(task, certificate);
    return KEEPFIT_OK;
}

/* What point j has in the sum. */
static void find_factors(struct kf_task *task, const struct kf_certificate *certificate, size_t j, double *factors)
{
    const struct kf_slopes *slopes = &certificate->slopes;
    if (kf_is_modelled(certificate))
        factors[0] =
            slopes->at[j] + kf_curvature_of(&certificate->curvature, &task->problem, slopes->at, j) * slopes->moved[j];
    else
        kf_factors(&task->problem.objective, &task->iterate.view, j, factors);
}

void kf_certificate_leave(struct kf_task *task, struct kf_certificate *certificate, size_t j)
{
    struct kf_slopes *slopes = &certificate->slopes;
    struct kf_objective *objective = &task->problem.objective;
    size_t count = task->problem.points.count;
    assert(j < count);
    if (certificate->gradient == KF_GRADIENT_UNKNOWN)
        return;
    double *factors = task->vectors.factors[0];
    bool modelled = kf_is_modelled(certificate);
    find_factors(task, certificate, j, factors);
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    objective->type->add(objective, -1, j, factors, certificate->sum);
    double followed = modelled ? kf_curvature_of(&certificate->curvature, &task->problem, slopes->at, j) : 0;
    double blur = kf_rounding_of_point(objective, task->iterate.x, j, factors, followed * slopes->moved_off, &tracked);
    kf_goal_drop(&certificate->goal, task, &task->iterate.view, j, blur);
    certificate->intercept.known = false;
    kf_class_curvature_leave(&certificate->classes, &task->problem, j, kf_slopes_known(certificate));
    if (kf_remembers_slopes(certificate))
        kf_points_close_gap(slopes->at, count, objective->outputs, j);
    if (modelled)
        kf_points_close_gap(slopes->moved, count, 1, j);
    kf_curvature_leave(&certificate->curvature, task, j, factors[0]);
    if (modelled && !kf_has_factor(&certificate->curvature)) /* nothing says any more what the sum was made of */
        certificate->gradient = KF_GRADIENT_UNKNOWN;
}

/* ---- steps ---- */

void kf_certificate_set_out(const struct kf_task *task, struct kf_certificate *certificate)
{
    assert(certificate->gradient != KF_GRADIENT_UNKNOWN);
    kf_copy(&task->problem, certificate->start.x, task->iterate.x);
    kf_copy(&task->problem, certificate->start.sum, certificate->sum);
    kf_copy(&task->problem, certificate->start.off, certificate->off);
}

void kf_certificate_go_back(struct kf_task *task, struct kf_certificate *certificate, enum kf_gradient from)
{
    const struct kf_start *start = &certificate->start;
    assert(from != KF_GRADIENT_UNKNOWN);
    kf_copy(&task->problem, task->iterate.x, start->x);
    if (from == KF_GRADIENT_MODELLED) {
        kf_certificate_pass(task, certificate, NAN);
        return;
    }
    kf_copy(&task->problem, certificate->sum, start->sum);
    kf_copy(&task->problem, certificate->off, start->off);
    certificate->gradient = KF_GRADIENT_EXACT;
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    kf_certificate_measure_anew(task, certificate);
    kf_goal_move(&certificate->goal, task, task->iterate.x, NAN);
    kf_curvature_move(&certificate->curvature, task, &tracked);
    kf_certificate_check(task, certificate);
}

void kf_certificate_step_estimated(struct kf_task *task, struct kf_certificate *certificate, double *direction)
{
    const struct kf_objective *objective = &task->problem.objective;
    struct kf_estimate *estimate = &certificate->estimate;
    size_t size = kf_size(&task->problem);
    assert(estimate->origin && kf_is_certified(&certificate->curvature));
    kf_certificate_aim(task, certificate, direction);
    double change = kf_dot(size, certificate->sum, direction), *x = task->iterate.x;
    kf_add(size, 1, direction, x);
    task->stage.steps++;
    for (size_t k = 0; k < size; k++)
        certificate->sum[k] = k < objective->free ? 0 : -2 * objective->lambda * objective->weight_total * x[k];
    kf_clear(&task->problem, certificate->off);
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    kf_certificate_measure_anew(task, certificate);
    kf_goal_move(&certificate->goal, task, x, change);
    kf_curvature_move(&certificate->curvature, task, &tracked);
    for (size_t k = 0; k < size; k++)
        direction[k] = x[k] - estimate->origin[k];
    estimate->distance = kf_curvature_length(&certificate->curvature, direction);
}

/* ---- Hessians ---- */

/* Modelled slopes were followed by H's curvatures, and will be by the points' own. */
static void correct_sum(struct kf_task *task, struct kf_certificate *certificate)
{
    const struct kf_objective *objective = &task->problem.objective;
    const struct kf_slopes *slopes = &certificate->slopes;
    const struct kf_curvature *curvature = &certificate->curvature;
    if (!kf_is_modelled(certificate) || slopes->matching)
        return;
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    kf_rounding_of_correction(objective, slopes->moved_most, slopes->moved_off, (double)curvature->points, &tracked);
    for (size_t j = 0; j < curvature->points; j++) {
        double more = kf_curve_recalled(&task->problem, j, slopes->at[j]) - curvature->curves.of[j],
               factor = more * slopes->moved[j];
        if (factor != 0)
            objective->type->add(objective, 1, j, &factor, certificate->sum);
    }
}

keepfit_status kf_certificate_anchor(struct kf_task *task, struct kf_certificate *certificate)
{
    struct kf_curvature *curvature = &certificate->curvature;
    struct kf_slopes *slopes = &certificate->slopes;
    const double *known = kf_slopes_known(certificate);
    bool modelled = kf_is_modelled(certificate);
    bool extends = modelled && slopes->matching && kf_curvature_may_extend(curvature, &task->problem);
    double blur = modelled ? curvature->since.blur : 0; /* slopes are of then */
    correct_sum(task, certificate);
    keepfit_status status =
        extends ? kf_curvature_extend(curvature, task, known) : kf_curvature_anchor(curvature, task, known);
    slopes->matching = status == KEEPFIT_OK && known;
    curvature->since.blur = fmax(curvature->since.blur, blur);
    for (size_t j = 0; j < task->problem.points.count && slopes->matching && modelled; j++)
        curvature->since.before = fmax(curvature->since.before, fabs(slopes->moved[j]) + slopes->moved_off);
    return status;
}

void kf_certificate_certify(struct kf_task *task, struct kf_certificate *certificate)
{
    struct kf_curvature *curvature = &certificate->curvature;
    const struct kf_slopes *slopes = &certificate->slopes;
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    if (!kf_curvature_certify(curvature, task, &tracked, certificate->now.target) || !kf_is_modelled(certificate))
        return;
    struct kf_moves moves = {slopes->moved, slopes->moved_off};
    double most, error = kf_curvature_error(curvature, &task->problem, slopes->at, &moves, &most);
    kf_curvature_doubt(curvature, error, most);
    kf_certificate_check(task, certificate);
}

bool kf_certificate_refine(const struct kf_task *task, struct kf_certificate *certificate)
{
    bool of_x = certificate->gradient == KF_GRADIENT_REMEMBERED;
    return kf_curvature_refine(&certificate->curvature, task, of_x ? certificate->slopes.at : NULL);
}

bool kf_certificate_is_cramped(const struct kf_task *task, const struct kf_certificate *certificate)
{
    const struct kf_curvature *curvature = &certificate->curvature;
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    if (!kf_is_certified(curvature))
        return true;
    double c = kf_curvature_shrinkage(curvature, &task->problem, curvature->since.stretch);
    return kf_curvature_decrement(curvature, task, &tracked) <= CRAMPED_TO * 2 * c * certificate->now.target;
}

double kf_certificate_aim(struct kf_task *task, struct kf_certificate *certificate, double *direction)
{
    size_t size = kf_size(&task->problem);
    assert(kf_has_factor(&certificate->curvature));
    kf_spend(&task->stage, kf_cost_solve((double)size));
    kf_complete_gradient(&task->problem.objective, certificate->sum, task->iterate.x, certificate->complete);
    kf_curvature_step(&certificate->curvature, certificate->complete, direction);
    return -kf_dot(size, certificate->complete, direction);
}

double kf_certificate_advantage(struct kf_task *task, struct kf_certificate *certificate)
{
    if (certificate->gradient == KF_GRADIENT_UNKNOWN || !kf_is_certified(&certificate->curvature))
        return 1;
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    kf_complete_gradient(&task->problem.objective, certificate->sum, task->iterate.x, certificate->complete);
    return 2 * kf_gap_bound(&task->problem, task->iterate.x, certificate->complete, NULL, 0) /
           kf_curvature_decrement(&certificate->curvature, task, &tracked);
}
