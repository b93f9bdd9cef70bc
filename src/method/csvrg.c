/* CSVRG, the method of "Efficient Continual Finite-Sum Minimization" (ICLR 2024), algorithms 1 and 2.
 *
 * Stage 1: gradient descent on f_1. Stage i >= 2:
 *   if i - prev >= alpha*i: full gradient of g_{i-1} at x_{i-1}, prev <- i-1                              (i-1 FOs)
 *   T times: u uniform on 1..i-1, x <- P(x - step_t * e), e the estimator                      (3 FOs, one remembered)
 *       e = (1-1/i)(grad f_u(x) - grad f_u(x_prev) + D) + (1/i) grad f_i(x)
 *   where D is the mean of grad f_k(x_prev) over k < i
 *   then, if full gradients were computed before the loop, again of g_i at x_i, prev <- i                   (i FOs)
 *   otherwise D takes in grad f_i(x_prev)                                                                   (1 FO)
 *
 * With weights w_k the same estimator of the weighted mean's gradient is
 *       e = ((i-1) w_u (grad loss_u(x) - grad loss_u(x_prev)) + sum_{k<i} w_k grad loss_k(x_prev) + w_i grad loss_i(x)) / W_i
 * plus the regulariser's gradient, which is the same in all f_k and applied exactly. The factors of every grad loss_k(x_prev)
 * are remembered, so that grad f_u(x_prev) is not computed again; --count paper charges it all the same.
 *
 *   setting   alpha                              T                                    step            output
 *   theory    mu eps^(1/3)/(20 G^(2/3) L^(2/3))  see kf_csvrg_inner_steps             4/(mu(t+beta))  weighted mean
 *   paper     0.3                                100                                  1/(lambda i t)  weighted mean
 *   tuned     0.3                                100                                  1/(3L)          last iterate
 *
 * --stage-output mean or last takes the place of the last column.
 *
 * The iterate after step t = 0 .. T-1 has weight t+beta-1, beta = 72 L^2/mu^2, normalised by the sum of the weights (the
 * algorithm box prints another normaliser, with which the output would not be a convex combination). Where theorem and
 * proof print different constants, theory takes the safe one of each. The printed step 1/(lambda i t) overflows in the whole
 * space when lambda is small, so it is capped at 1/L there; inside a bounded domain, or with --step paper, it is as printed.
 *
 * Other departures: gradient descent in stage 1 ends when the gap of f_1 is proved to be at most epsilon/2, or after
 * FIRST_STAGE_STEPS steps (the paper does not say when). When the functions themselves change (a class appears, labels are
 * swapped) the remembered gradients are void, and the next stage computes full gradients whatever alpha says. A point that
 * leaves is taken out of D. Without strong convexity beta is infinite, and the output is the plain mean. */
#include "method/csvrg.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/kernels.h"
#include "problem/gap.h"

#define FIRST_STAGE_STEPS 1000 /* safety: an end; one point */

static bool is_theory(const struct kf_problem *problem)
{
    return problem->options->setting == KF_SETTING_THEORY;
}

static bool is_averaged(const struct kf_problem *problem)
{
    int output = problem->options->stage_output;
    return output == KF_OUTPUT_MEAN || (output == KF_OUTPUT_AUTO && problem->options->setting != KF_SETTING_TUNED);
}

static keepfit_status csvrg_create(struct kf_task *task, void *state, keepfit_error *error)
{
    struct kf_csvrg *csvrg = state;
    const keepfit_options *options = task->problem.options;
    struct kf_step_size fallback = {KF_STEP_SHARE, 1.0 / 3};
    if (options->setting == KF_SETTING_PAPER)
        fallback = kf_step_as_printed(&task->problem);
    if (is_theory(&task->problem)) {
        fallback.rule = KF_STEP_THEORY;
        if (kf_domain_is_whole(&task->problem.domain) && isnan(options->lipschitz))
            return kf_fail(error, KEEPFIT_USAGE,
                           "{setting=theory} needs a bounded {domain} or {lipschitz} (its constants contain G)");
    }
    if (!kf_iterate_prepare(task, KF_NEEDS_DRIFT | (is_averaged(&task->problem) ? KF_NEEDS_AVERAGE : 0)) ||
        !kf_task_vector(task, &csvrg->anchor))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(options, fallback, true, true, &csvrg->step, error);
}

double kf_csvrg_alpha(const struct kf_problem *problem, struct kf_csvrg *csvrg)
{
    if (!isnan(problem->options->alpha))
        return problem->options->alpha;
    if (!is_theory(problem))
        return 0.3;
    double slope = kf_constant_lipschitz(problem, &csvrg->lipschitz), smoothness = kf_constant_smoothness(problem);
    return kf_constant_convexity(problem) * cbrt(problem->options->epsilon) /
           (20 * cbrt(slope * slope) * cbrt(smoothness * smoothness));
}

uint64_t kf_csvrg_inner_steps(const struct kf_problem *problem, struct kf_csvrg *csvrg)
{
    if (problem->options->inner)
        return problem->options->inner;
    if (!is_theory(problem))
        return 100;
    double slope = kf_constant_lipschitz(problem, &csvrg->lipschitz), smoothness = kf_constant_smoothness(problem);
    double mu = kf_constant_convexity(problem), epsilon = problem->options->epsilon;
    double i = (double)problem->points.count, square = smoothness * smoothness;
    double steps = 720 * slope * square / (mu * mu * sqrt(mu) * i * sqrt(epsilon)) +
                   9 * cbrt(square * slope * slope) / (cbrt(epsilon) * mu) + 1152 * square / (mu * mu);
    steps = ceil(steps);
    return steps < 1 ? 1 : steps < 1e15 ? (uint64_t)steps : (uint64_t)1e15;
}

static double beta_of(const struct kf_problem *problem)
{
    /* L >= mu, whatever the user gave: with beta below 1 weights would be negative */
    double condition = fmax(kf_constant_smoothness(problem) / kf_constant_convexity(problem), 1);
    return 72 * condition * condition;
}

double kf_csvrg_output_weight(const struct kf_problem *problem, uint64_t t)
{
    double weight = (double)t + beta_of(problem) - 1;
    assert(!(weight < 0));                /* so that the output is a convex combination */
    return isfinite(weight) ? weight : 1; /* beta is infinite without strong convexity: all weights alike */
}

static double step_at(const struct kf_task *task, const struct kf_csvrg *csvrg, uint64_t t)
{
    double printed = 1 / (task->problem.objective.lambda * (double)task->problem.points.count * (double)(t + 1));
    switch (csvrg->step.rule) {
    case KF_STEP_DIVIDED:
        return csvrg->step.value / (double)(t + 1);
    case KF_STEP_PAPER:
        return printed;
    case KF_STEP_CAPPED:
        return fmin(printed, 1 / kf_constant_smoothness(&task->problem));
    case KF_STEP_THEORY:
        return 4 / (kf_constant_convexity(&task->problem) * ((double)t + beta_of(&task->problem)));
    default:
        return kf_step_fixed(&task->problem, &csvrg->step);
    }
}

/* Before u is drawn. */
static struct kf_estimator estimator_of(const struct kf_problem *problem)
{
    return kf_estimate_continual(problem->points.count - 1, kf_inverse_weight(&problem->objective));
}

struct kf_estimator kf_csvrg_estimator(const struct kf_problem *problem, const struct kf_csvrg *csvrg, size_t u)
{
    size_t each = problem->objective.type->factor_count(&problem->objective);
    assert(u + 1 < problem->points.count);
    struct kf_estimator estimator = estimator_of(problem);
    kf_estimate_at(&estimator, u, csvrg->remembered + u * each);
    return estimator;
}

/* Whether the gradient that is remembered is charged as if it were computed, as the paper does. */
static bool charges_remembered(const struct kf_problem *problem)
{
    int count = problem->options->count;
    return count == KF_COUNT_PAPER || (count == KF_COUNT_AUTO && problem->options->setting == KF_SETTING_PAPER);
}

/* Steps of one length, of which the last is the output. */
static void steps_alike(struct kf_task *task, struct kf_csvrg *csvrg, uint64_t steps)
{
    kf_steps(task, &(struct kf_course){.step = step_at(task, csvrg, 0),
                                       .estimator = estimator_of(&task->problem),
                                       .bound = task->problem.points.count - 1,
                                       .count = steps,
                                       .table = csvrg->remembered});
}

/* Steps whose mean is the output, or that become shorter. */
static void steps_in_turn(struct kf_task *task, struct kf_csvrg *csvrg, uint64_t steps, bool averaged)
{
    struct kf_estimator estimator = estimator_of(&task->problem);
    size_t each = task->problem.objective.type->factor_count(&task->problem.objective);
    kf_sampler_start(task, task->problem.points.count - 1, steps, csvrg->remembered);
    if (averaged)
        kf_average_begin(task);
    for (uint64_t t = 0; t < steps; t++) {
        size_t u = kf_sampler_next(task);
        kf_estimate_at(&estimator, u, csvrg->remembered + u * each);
        kf_step(task, step_at(task, csvrg, t), &estimator);
        if (averaged)
            kf_average_add(task, kf_csvrg_output_weight(&task->problem, t));
    }
    if (averaged)
        kf_average_end(task);
}

static void frequent_update(struct kf_task *task, struct kf_csvrg *csvrg)
{
    bool averaged = is_averaged(&task->problem), decreasing = csvrg->step.rule >= KF_STEP_DIVIDED;
    uint64_t steps = kf_csvrg_inner_steps(&task->problem, csvrg);
    if (averaged || decreasing)
        steps_in_turn(task, csvrg, steps, averaged);
    else
        steps_alike(task, csvrg, steps);
    if (charges_remembered(&task->problem))
        kf_charge(&task->problem.objective, steps);
}

/* The proved bound at x on the gap of f_1. O(d). */
static double first_bound(struct kf_task *task, struct kf_csvrg *csvrg)
{
    struct kf_objective *objective = &task->problem.objective;
    const double *x = kf_read(task);
    kf_gradient_sum(objective, x, 1, csvrg->anchor, NULL, task->vectors.factors[0]);
    return kf_gap_bound_of_pass(&task->problem, x, csvrg->anchor, task->vectors.doubt, csvrg->anchor);
}

/* Gradient descent on f_1 until its gap is proved to be at most epsilon/2, which is looked at after 0, 1, 3, 7, ... steps: a
 * step costs the row's non-zeros, a look the whole dimension. */
static void first_stage(struct kf_task *task, struct kf_csvrg *csvrg)
{
    double smoothness = kf_constant_smoothness(&task->problem);
    struct kf_estimator only = kf_estimate_plainly(1, kf_inverse_weight(&task->problem.objective));
    if (task->problem.objective.hidden)
        return; /* one point has one class: there is nothing to learn, and nothing that could be proved */
    for (unsigned t = 0; t < FIRST_STAGE_STEPS && smoothness > 0; t++) {
        bool look = (t & (t + 1)) == 0;
        if (look && first_bound(task, csvrg) <= task->problem.options->epsilon / 2)
            break;
        kf_step(task, 1 / smoothness, &only);
    }
}

/* The anchor moves to the current output; the drift is computed there over the first `count` points. */
static void move_anchor(struct kf_task *task, struct kf_csvrg *csvrg, size_t count)
{
    assert(count > 0 && count <= task->problem.points.count);
    kf_copy(&task->problem, csvrg->anchor, kf_read(task));
    kf_drift_recompute(task, count, csvrg->remembered);
    csvrg->previous = count;
}

/* The newest point's gradient at the anchor joins those remembered. */
static void take_newest(struct kf_task *task, struct kf_csvrg *csvrg)
{
    struct kf_view anchor = kf_dense_view(csvrg->anchor);
    size_t newest = task->problem.points.count - 1,
           each = task->problem.objective.type->factor_count(&task->problem.objective);
    double *factors = csvrg->remembered + newest * each;
    assert(csvrg->previous > 0 && csvrg->remembered_capacity >= (newest + 1) * each);
    kf_factors(&task->problem.objective, &anchor, newest, factors);
    kf_drift_add(task, 1, newest, factors);
}

static keepfit_status csvrg_stage(struct kf_task *task, void *state, keepfit_error *error)
{
    struct kf_csvrg *csvrg = state;
    size_t i = task->problem.points.count, each = task->problem.objective.type->factor_count(&task->problem.objective);
    if (i > SIZE_MAX / each / sizeof(double) || !KF_RESERVE(csvrg->remembered, csvrg->remembered_capacity, i * each))
        return kf_fail_memory(error);
    if (i == 1) {
        first_stage(task, csvrg);
        csvrg->stale = false;
        csvrg->previous = 0;
        return KEEPFIT_OK;
    }
    double unseen = (double)(i - csvrg->previous);
    bool full = csvrg->previous == 0 || csvrg->stale || unseen >= kf_csvrg_alpha(&task->problem, csvrg) * (double)i;
    csvrg->stale = false;
    if (full)
        move_anchor(task, csvrg, i - 1);
    frequent_update(task, csvrg);
    if (full) {
        move_anchor(task, csvrg, i);
        csvrg->full_stages++;
    } else {
        take_newest(task, csvrg);
    }
    return KEEPFIT_OK;
}

static void csvrg_forget(struct kf_task *task, void *state)
{
    (void)task;
    ((struct kf_csvrg *)state)->stale = true;
}

/* Whether all points' factors are remembered, and good. */
static bool has_table(const struct kf_csvrg *csvrg)
{
    return csvrg->previous > 0 && !csvrg->stale;
}

static void csvrg_leave(struct kf_task *task, void *state, size_t j)
{
    struct kf_csvrg *csvrg = state;
    size_t count = task->problem.points.count,
           each = task->problem.objective.type->factor_count(&task->problem.objective);
    kf_lipschitz_leave(&csvrg->lipschitz);
    assert(j < count && csvrg->previous <= count);
    if (!has_table(csvrg))
        return;
    csvrg->previous--;
    kf_drift_add(task, -1, j, csvrg->remembered + j * each);
    kf_points_close_gap(csvrg->remembered, count, each, j);
}

static void csvrg_archive(struct kf_task *task, void *state, struct kf_archive *archive)
{
    struct kf_csvrg *csvrg = state;
    size_t count = task->problem.points.count,
           each = task->problem.objective.type->factor_count(&task->problem.objective);
    kf_task_archive_vector(task, archive, &csvrg->anchor);
    kf_archive_count(archive, &csvrg->previous, count);
    kf_archive_flag(archive, &csvrg->stale);
    kf_archive_number(archive, &csvrg->full_stages);
    kf_lipschitz_archive(&csvrg->lipschitz, &task->problem, archive);
    kf_archive_array(archive, &csvrg->remembered, &csvrg->remembered_capacity, has_table(csvrg) ? count * each : 0);
}

static void csvrg_destroy(void *state)
{
    free(((struct kf_csvrg *)state)->remembered);
}

static size_t csvrg_draws_among(size_t count)
{
    return count - 1;
}

const struct kf_method kf_csvrg_method = {
    .name = "csvrg",
    .summary = "the paper's method: rare full gradients, tracked in between; setting theory, paper or tuned",
    .does = "T steps with a tracked gradient; full gradients when the share alpha of the points is new",
    .gradients = "2T + 1, sometimes 2T + 2i - 1",
    .output = "weighted mean, or last iterate (tuned)",
    .scaled = true,
    .state_size = sizeof(struct kf_csvrg),
    .create = csvrg_create,
    .stage = csvrg_stage,
    .draws_among = csvrg_draws_among,
    .forget = csvrg_forget,
    .leave = csvrg_leave,
    .archive = csvrg_archive,
    .destroy = csvrg_destroy,
};
