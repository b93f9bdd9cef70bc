/* Streaming SVRG (Frostig, Ge, Kakade, Sidford 2015, "Competing with the Empirical Risk Minimizer in a Single Pass"). Rounds s =
 * 0, 1, 2, ... of fresh samples, each used once and only when it arrives; no earlier point is ever read again:
 *
 *   gather   k_s = b^s k_0 points: the mean of their gradients at the anchor, the iterate where the round began  (1 FO a stage)
 *   step     m' points, m' uniform on 1..m:  x <- P(x - step * (grad f_u(x) - grad f_u(anchor) + that mean))      (2 FOs a stage)
 *
 * The output of a stage is the current iterate; while a round gathers, it is the last one again.
 *
 * From the paper: the rounds, the growth of k_s by b, the random m'. b = 3, p = 2, step 1/(5 b^(p+1) L) = 1/(135 L), k_0 = kappa
 * and m = kappa/(step L), kappa = L/mu. These are cautious: many streams end in the first rounds. --step changes the step (and m
 * with it), --inner sets m, --smoothness and --convexity set kappa.
 *
 * Decided here: L is that of the points so far, so k_s and m are looked at anew at each stage of gathering and when m' is drawn;
 * kappa is at least 1. Weights: f_u = (i/W) w_u loss_u + lambda |x|^2, both for the step and in the mean at the anchor, with W/i
 * the mean weight so far; the regulariser is applied exactly. When the functions themselves change (a new class, swapped labels)
 * the mean at the anchor is void, and the round begins again where the iterate is. Without strong convexity kappa is infinite:
 * lambda = 0 needs --convexity. */
#include "method/ssvrg.h"

#include <assert.h>
#include <math.h>

#include "base/error.h"

#define GROWTH 3                  /* safety: the paper's b */
#define DEFAULT_SHARE (1.0 / 135) /* safety: the paper's step */

static keepfit_status ssvrg_create(struct kf_task *task, void *state, keepfit_error *error)
{
    struct kf_ssvrg *ssvrg = state;
    const keepfit_options *options = task->problem.options;
    if (!(options->convexity > 0 || options->lambda_total > 0 || options->lambda > 0))
        return kf_fail(error, KEEPFIT_USAGE,
                       "{lambda}: must be above 0 for {method=ssvrg}, whose rounds are as long as the condition number "
                       "(or give {convexity})");
    if (!kf_iterate_prepare(task, KF_NEEDS_DRIFT) || !kf_task_vector(task, &ssvrg->anchor))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(options, (struct kf_step_size){KF_STEP_SHARE, DEFAULT_SHARE}, false, false, &ssvrg->step,
                        error);
}

static double condition_of(const struct kf_problem *problem)
{
    return fmax(kf_constant_smoothness(problem) / kf_constant_convexity(problem), 1);
}

/* m' for a round that has gathered enough. */
static uint64_t draw_steps(struct kf_task *task, const struct kf_ssvrg *ssvrg)
{
    double share = kf_step_fixed(&task->problem, &ssvrg->step) * kf_constant_smoothness(&task->problem);
    double most = ceil(condition_of(&task->problem) / share);
    uint64_t bound = most < 1 ? 1 : most < 1e15 ? (uint64_t)most : (uint64_t)1e15;
    return 1 + kf_random_below(&task->stage.random, kf_given_or(task->problem.options->inner, bound));
}

/* The drift becomes 0, and x the anchor. */
static void begin_round(struct kf_task *task, struct kf_ssvrg *ssvrg)
{
    kf_copy(&task->problem, ssvrg->anchor, kf_read(task));
    kf_drift_recompute(task, 0, NULL);
}

/* GROWTH^round; pow of the C library is not the same on every processor. */
static double growth_until(uint64_t round)
{
    double growth = 1;
    for (; round > 0 && isfinite(growth); round--)
        growth *= GROWTH;
    return growth;
}

static void gather(struct kf_task *task, struct kf_ssvrg *ssvrg)
{
    size_t newest = task->problem.points.count - 1;
    struct kf_view anchor = kf_dense_view(ssvrg->anchor);
    double *factors = task->vectors.factors[0];
    assert(ssvrg->left == 0);
    kf_factors(&task->problem.objective, &anchor, newest, factors);
    kf_drift_add(task, 1, newest, factors);
    ssvrg->gathered++;
    bool known = kf_constant_smoothness(&task->problem) > 0; /* a stream may begin with empty rows */
    if (known && (double)ssvrg->gathered >= condition_of(&task->problem) * growth_until(ssvrg->round))
        ssvrg->left = draw_steps(task, ssvrg);
}

struct kf_estimator kf_ssvrg_estimator(struct kf_task *task, const struct kf_ssvrg *ssvrg, size_t u, double *then)
{
    struct kf_view anchor = kf_dense_view(ssvrg->anchor);
    kf_factors(&task->problem.objective, &anchor, u, then);
    assert(ssvrg->gathered > 0);
    struct kf_estimator estimator =
        kf_estimate_anchored(task->problem.points.count, kf_inverse_weight(&task->problem.objective));
    estimator.drift_scale = estimator.sample[0].scale / (double)ssvrg->gathered; /* the mean is over those alone */
    kf_estimate_at(&estimator, u, then);
    return estimator;
}

static keepfit_status ssvrg_stage(struct kf_task *task, void *state, keepfit_error *error)
{
    (void)error;
    struct kf_ssvrg *ssvrg = state;
    if (ssvrg->gathered == 0)
        begin_round(task, ssvrg);
    if (ssvrg->left == 0) {
        gather(task, ssvrg);
        return KEEPFIT_OK;
    }
    size_t newest = task->problem.points.count - 1;
    struct kf_estimator estimator = kf_ssvrg_estimator(task, ssvrg, newest, task->vectors.factors[KF_SAMPLES_MOST]);
    kf_step(task, kf_step_fixed(&task->problem, &ssvrg->step), &estimator);
    if (--ssvrg->left == 0) {
        ssvrg->gathered = 0;
        ssvrg->round++;
    }
    return KEEPFIT_OK;
}

static void ssvrg_forget(struct kf_task *task, void *state)
{
    (void)task;
    struct kf_ssvrg *ssvrg = state;
    ssvrg->gathered = ssvrg->left = 0;
}

static void ssvrg_archive(struct kf_task *task, void *state, struct kf_archive *archive)
{
    struct kf_ssvrg *ssvrg = state;
    kf_task_archive_vector(task, archive, &ssvrg->anchor);
    kf_archive_number(archive, &ssvrg->round);
    kf_archive_number(archive, &ssvrg->gathered);
    kf_archive_number(archive, &ssvrg->left);
}

const struct kf_method kf_ssvrg_method = {
    .name = "ssvrg",
    .summary = "streaming SVRG, a single pass: rounds of gradients at an anchor, then steps, each on the newest point",
    .does = "uses the newest point, and no other: in rounds, a gradient at an anchor, then a step",
    .gradients = "1 or 2",
    .output = "the iterate",
    .scaled = true,
    .state_size = sizeof(struct kf_ssvrg),
    .create = ssvrg_create,
    .stage = ssvrg_stage,
    .forget = ssvrg_forget,
    .archive = ssvrg_archive,
};
