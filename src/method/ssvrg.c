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

#include <math.h>

#include "base/error.h"

#define GROWTH 3
#define DEFAULT_SHARE (1.0 / 135)

static keepfit_status ssvrg_create(struct kf_problem *problem, void *state, keepfit_error *error)
{
    struct kf_ssvrg *ssvrg = state;
    const keepfit_options *options = problem->options;
    if (!(options->convexity > 0 || options->lambda_total > 0 || options->lambda > 0))
        return kf_fail(error, KEEPFIT_USAGE,
                       "{lambda}: must be above 0 for {method=ssvrg}, whose rounds are as long as the condition number "
                       "(or give {convexity})");
    if (!kf_iterate_prepare(problem, KF_NEEDS_DRIFT) || !kf_problem_vector(problem, &ssvrg->anchor))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(options, (struct kf_step_size){KF_STEP_SHARE, DEFAULT_SHARE}, false, false, &ssvrg->step,
                        error);
}

static double condition_of(const struct kf_problem *problem)
{
    return fmax(kf_constant_smoothness(problem) / kf_constant_convexity(problem), 1);
}

/* m' for a round that has gathered enough. */
static uint64_t draw_steps(struct kf_problem *problem, const struct kf_ssvrg *ssvrg)
{
    double share = kf_step_fixed(problem, &ssvrg->step) * kf_constant_smoothness(problem);
    double most = ceil(condition_of(problem) / share);
    uint64_t bound = most < 1 ? 1 : most < 1e15 ? (uint64_t)most : (uint64_t)1e15;
    return 1 + kf_random_below(&problem->random, kf_given_or(problem->options->inner, bound));
}

/* The drift becomes 0, and x the anchor. */
static void begin_round(struct kf_problem *problem, struct kf_ssvrg *ssvrg)
{
    kf_copy(problem, ssvrg->anchor, kf_read(problem));
    kf_drift_recompute(problem, 0, NULL);
}

static void gather(struct kf_problem *problem, struct kf_ssvrg *ssvrg)
{
    size_t newest = problem->points.count - 1;
    struct kf_view anchor = kf_dense_view(ssvrg->anchor);
    double *factors = problem->factors[0];
    kf_factors(&problem->objective, &anchor, newest, factors);
    kf_drift_add(problem, 1, newest, factors);
    ssvrg->gathered++;
    bool known = kf_constant_smoothness(problem) > 0; /* a stream may begin with empty rows */
    if (known && (double)ssvrg->gathered >= condition_of(problem) * pow(GROWTH, (double)ssvrg->round))
        ssvrg->left = draw_steps(problem, ssvrg);
}

static double share_of(const struct kf_problem *problem)
{
    return (double)problem->points.count * kf_inverse_weight(&problem->objective);
}

struct kf_sample kf_ssvrg_sample(struct kf_problem *problem, const struct kf_ssvrg *ssvrg, size_t u, double *then)
{
    struct kf_view anchor = kf_dense_view(ssvrg->anchor);
    kf_factors(&problem->objective, &anchor, u, then);
    return (struct kf_sample){share_of(problem), 0, u, then, false};
}

double kf_ssvrg_drift_scale(const struct kf_problem *problem, const struct kf_ssvrg *ssvrg)
{
    return share_of(problem) / (double)ssvrg->gathered;
}

static keepfit_status ssvrg_stage(struct kf_problem *problem, void *state, keepfit_error *error)
{
    (void)error;
    struct kf_ssvrg *ssvrg = state;
    if (ssvrg->gathered == 0)
        begin_round(problem, ssvrg);
    if (ssvrg->left == 0) {
        gather(problem, ssvrg);
        return KEEPFIT_OK;
    }
    size_t newest = problem->points.count - 1;
    struct kf_sample sample = kf_ssvrg_sample(problem, ssvrg, newest, problem->factors[KF_SAMPLES_MOST]);
    double drift_scale = kf_ssvrg_drift_scale(problem, ssvrg);
    kf_step_sampled(problem, kf_step_fixed(problem, &ssvrg->step), drift_scale, &sample, 1);
    if (--ssvrg->left == 0) {
        ssvrg->gathered = 0;
        ssvrg->round++;
    }
    return KEEPFIT_OK;
}

static void ssvrg_forget(struct kf_problem *problem, void *state)
{
    (void)problem;
    struct kf_ssvrg *ssvrg = state;
    ssvrg->gathered = ssvrg->left = 0;
}

static void ssvrg_archive(struct kf_problem *problem, void *state, struct kf_archive *archive)
{
    struct kf_ssvrg *ssvrg = state;
    kf_problem_archive_vector(problem, archive, &ssvrg->anchor);
    kf_archive_number(archive, &ssvrg->round);
    kf_archive_number(archive, &ssvrg->gathered);
    kf_archive_number(archive, &ssvrg->left);
}

const struct kf_method kf_ssvrg_method = {
    .name = "ssvrg",
    .summary = "streaming SVRG, a single pass: rounds of gradients at an anchor, then steps, each on the newest point",
    .scaled = true,
    .draws_from = -1,
    .state_size = sizeof(struct kf_ssvrg),
    .create = ssvrg_create,
    .stage = ssvrg_stage,
    .forget = ssvrg_forget,
    .archive = ssvrg_archive,
};
