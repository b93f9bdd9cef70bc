/* Slopes and curvatures of an earlier x: what a gradient that is made of them may be off by, and a Hessian that goes on from
 * the one before. */
#include <math.h>
#include <string.h>

#include "certificate/internal.h"
#include "kernels/exponential.h"
#include "kernels/kernels.h"

/* A doubt that brings t so far would leave no room for what is to come. */
#define FORESEEN_MOST 0.25 /* speed: bench/tuning.md */
/* A curvature below this share of the weight says little of its slope: what that is off by is counted as for a point that is not in H, which
 * is allowed for any point. */
#define FAINT 1e-9 /* safety: allowed for any point, and 7 digits are left above it */

/* (exp(Mu) - 1 - Mu)/M = M u^2/2 (1 + Mu/3 + (Mu)^2/12 + (Mu)^3/60 + ...), or a little more for Mu < 1, where what follows the square
 * is less than (Mu)^2/36: without a division, since all points are looked at. */
static double excess_below(double concordance, double u)
{
    double scaled = concordance * u;
    return scaled * u * (0.5 + scaled * (1.0 / 6) + scaled * scaled * (1.0 / 18));
}

static double excess_beyond(double concordance, double u)
{
    return (kf_expm1(concordance * u) - concordance * u) / concordance;
}

double kf_curvature_of(const struct kf_curvature *curvature, const struct kf_problem *problem, const double *slopes,
                       size_t j)
{
    return j < curvature->points ? curvature->curves.of[j] : kf_curve_recalled(problem, j, slopes[j]);
}

/* sqrt(a_j'H^-1 a_j) of a point that is not in H, or more. */
static double reach_outside(const struct kf_curvature *curvature, const struct kf_problem *problem, size_t j)
{
    return sqrt(j < curvature->points ? kf_leverage(curvature, problem, j) : curvature->leverages.later);
}

static bool is_inside(const struct kf_curvature *curvature, size_t j)
{
    return j < curvature->points && curvature->leverages.of[j] >= 0;
}

/* ---- all points, one block after the other ---- */

static void find_doubts(const struct kf_curvature *curvature, const struct kf_problem *problem, const double *slopes,
                        const struct kf_moves *moves, size_t from, size_t count, struct kf_doubts *doubts)
{
    double concordance = kf_concordance(problem);
    size_t inside = curvature->points < from ? 0 : curvature->points - from < count ? curvature->points - from : count;
    bool beyond = false;
    memcpy(doubts->slope, slopes + from, count * sizeof *slopes);
    kf_curves_recall(problem, from, from + count, slopes, doubts->own);
    memcpy(doubts->used, curvature->curves.of + from, inside * sizeof(double));
    memcpy(doubts->used + inside, doubts->own + inside, (count - inside) * sizeof(double));
    for (size_t k = 0; k < count; k++)
        doubts->weight[k] = problem->points.place[from + k].weight;
    for (size_t k = 0; k < count; k++) {
        doubts->far[k] = moves ? fabs(moves->by[from + k]) + moves->off + curvature->since.blur : 0;
        doubts->bent[k] = excess_below(concordance, doubts->far[k]);
        beyond |= !(concordance * doubts->far[k] < 1);
    }
    for (size_t k = 0; k < count && beyond; k++)
        if (!(concordance * doubts->far[k] < 1))
            doubts->bent[k] = excess_beyond(concordance, doubts->far[k]);
    problem->objective.kernels->doubts(count, concordance, doubts);
}

/* How many times smaller curvatures may have become, from 1 on in steps of equal width: the largest ratio of a step, the share of H that
 * its points have at most, and that divided by their ratios. Few points that have lost much had better not decide: with f a ratio that most
 * do not exceed, and L the sum of (1 - f/f_j) times the share over those whose f_j does, the Hessian at x is at least (1-L)/f times H
 * (docs/guarantee.md, Lemma 8 (points given up)). */
#define STEPS 64        /* speed: bench/tuning.md */
#define STEPS_A_UNIT 32 /* speed: bench/tuning.md */
struct tally {
    double most[STEPS], share[STEPS], left[STEPS]; /* the shares of the first step are not asked for */
};

static void tally_add(struct tally *tally, double ratio, double share)
{
    double above = (ratio - 1) * STEPS_A_UNIT;
    size_t step = above < STEPS - 1 ? (size_t)above : STEPS - 1;
    if (ratio > tally->most[step])
        tally->most[step] = ratio;
    tally->share[step] += share;
    tally->left[step] += share / ratio;
}

/* f/(1-L), as small as it gets with L at most `given_up`. */
static double tally_ratio(const struct tally *tally, double given_up)
{
    double below[STEPS + 1] = {1}, share = 0, left = 0;
    for (size_t k = 0; k < STEPS; k++)
        below[k + 1] = fmax(below[k], tally->most[k]);
    double least = below[STEPS];
    for (size_t k = STEPS; k-- > 1;) {
        share += tally->share[k];
        left += tally->left[k];
        double lost = share - below[k] * left;
        if (!(lost <= given_up))
            break;
        least = fmin(least, below[k] / (1 - lost));
    }
    return least;
}

/* What adds up over the points. */
struct survey {
    struct tally tally;
    double squares, apart;
};

/* Whether all points of a block are in H, and have curvatures that say something. */
static bool is_ordinary(const struct kf_curvature *curvature, size_t from, size_t count, const struct kf_doubts *doubts)
{
    size_t others = 0;
    if (from + count > curvature->points)
        return false;
    for (size_t k = 0; k < count; k++)
        others += !(curvature->leverages.of[from + k] >= 0) | !(doubts->weight[k] > 0) |
                  !(doubts->used[k] > FAINT * doubts->weight[k]);
    return others == 0;
}

/* What has become of some points of a block, which begins with point `from`; they are in H. */
static void look_at_ratios(const struct kf_curvature *curvature, size_t from, size_t first, size_t end,
                           const struct kf_doubts *doubts, struct survey *survey)
{
    double known = curvature->leverages.inflation / curvature->weight / (1 - curvature->hessian.slack) * KF_UPWARD,
           most = survey->tally.most[0];
    for (size_t k = first; k < end; k++) {
        double ratio = doubts->ratio[k];
        if (ratio > 1 + 1.0 / STEPS_A_UNIT)
            tally_add(&survey->tally, ratio, doubts->used[k] * curvature->leverages.of[from + k] * known);
        else if (ratio > most)
            most = ratio;
    }
    survey->tally.most[0] = most;
}

static void look_at(const struct kf_curvature *curvature, const struct kf_problem *problem, size_t from, size_t count,
                    const struct kf_doubts *doubts, struct survey *survey)
{
    double farthest = sqrt(curvature->leverages.largest);
    if (is_ordinary(curvature, from, count, doubts)) {
        look_at_ratios(curvature, from, 0, count, doubts, survey);
        for (size_t k = 0; k < count; k++)
            survey->squares += doubts->square[k];
        return;
    }
    for (size_t k = 0; k < count; k++) {
        bool inside = is_inside(curvature, from + k);
        if (doubts->weight[k] == 0)
            continue;
        if (inside)
            look_at_ratios(curvature, from, k, k + 1, doubts, survey);
        if (inside && doubts->used[k] > FAINT * doubts->weight[k])
            survey->squares += doubts->square[k];
        else
            survey->apart += doubts->off[k] * (inside ? farthest : reach_outside(curvature, problem, from + k));
    }
}

double kf_curvature_error(const struct kf_curvature *curvature, const struct kf_problem *problem, const double *slopes,
                          const struct kf_moves *moves, double *most)
{
    struct survey survey = {{{0}, {0}, {0}}, 0, 0};
    struct kf_doubts doubts;
    *most = 0;
    if (kf_concordance(problem) == 0)
        return 0;
    for (size_t from = 0, count; from < problem->points.count; from += count) {
        count = problem->points.count - from < KF_DOUBTS ? problem->points.count - from : KF_DOUBTS;
        find_doubts(curvature, problem, slopes, moves, from, count, &doubts);
        look_at(curvature, problem, from, count, &doubts, &survey);
    }
    double given_up = curvature->plain ? 0 : KF_GIVEN_UP_MOST;
    *most = kf_log(tally_ratio(&survey.tally, given_up) * KF_UPWARD) / kf_concordance(problem) * KF_UPWARD;
    double error = sqrt(curvature->weight * survey.squares) + survey.apart;
    return error * (1 + 2 * curvature->hessian.slack) * (1 + kf_gamma((double)problem->points.count + 64));
}

void kf_curvature_follow(const struct kf_curvature *curvature, const struct kf_task *task, const double *slopes,
                         const double *step, const struct kf_tracked *tracked)
{
    const struct kf_objective *objective = &task->problem.objective;
    double *sum = tracked->sum;
    kf_rounding_of_follow(objective, task->iterate.x, step,
                          curvature->hessian.operations + (double)task->problem.points.count, tracked);
    double *bent = kf_hessian_scratch(&curvature->hessian, 1);
    bool complete = kf_concordance(&task->problem) == 0; /* then nothing is left out */
    bool by_points = curvature->since.lost != 0;         /* H has points that are no longer there */
    if (!by_points) {
        curvature->hessian.type->times(&curvature->hessian, step, bent);
        kf_add(curvature->hessian.size - objective->free, -2 * curvature->lambda, step + objective->free,
               bent + objective->free);
        kf_add(curvature->hessian.size, curvature->weight, bent, sum);
    }
    for (size_t j = complete && !by_points ? curvature->points : 0; j < task->problem.points.count; j++)
        if (by_points || complete || !is_inside(curvature, j)) {
            double curve = kf_curvature_of(curvature, &task->problem, slopes, j);
            double factor = curve * kf_score(&task->problem, j, step);
            objective->type->add(objective, 1, j, &factor, sum);
        }
}

void kf_curvature_doubt(struct kf_curvature *curvature, double error, double most)
{
    curvature->since.error = error >= 0 ? error : INFINITY; /* what is no number is not known */
    curvature->since.stretch = most >= 0 ? most : INFINITY;
    curvature->since.rough = false;
}

double kf_curvature_foresee(const struct kf_curvature *curvature, const struct kf_problem *problem, double error,
                            double most)
{
    double off = kf_inverse_weight(&problem->objective) * error;
    return kf_curvature_bound_at(curvature, problem, off * off, kf_curvature_shrinkage(curvature, problem, most),
                                 FORESEEN_MOST, 0);
}

/* A point that was left out may have been so large that rounding adds up when it comes and goes. */
bool kf_curvature_may_extend(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    if (!kf_is_certified(curvature) || curvature->since.lost != 0)
        return false;
    for (size_t j = 0; j < curvature->points && kf_concordance(problem) > 0; j++)
        if (curvature->leverages.of[j] < 0)
            return false;
    return true;
}

/* From the mean Hessian that bounds are made of to the sum that it was before. */
static void undo_close(struct kf_curvature *curvature, const struct kf_problem *problem)
{
    curvature->hessian.type->reopen(&curvature->hessian, problem, curvature->weight, 2 * curvature->lambda);
    curvature->phase = KF_PHASE_GATHERING;
    curvature->leverages.known = 0; /* until it is inherited */
}

keepfit_status kf_curvature_extend(struct kf_curvature *curvature, struct kf_task *task, const double *slopes)
{
    double share = fmin(curvature->weight / task->problem.objective.weight_total, 1),
           c = share * (1 - curvature->hessian.slack) / KF_UPWARD;
    struct kf_heritage heritage = kf_curvature_bequeath(curvature, &task->problem, c);
    undo_close(curvature, &task->problem);
    kf_copy(&task->problem, curvature->anchor, task->iterate.x);
    if (!kf_curvature_gather(curvature, task, slopes, task->problem.points.count))
        return KEEPFIT_NO_MEMORY;
    keepfit_status status = kf_curvature_close(curvature, task);
    return status == KEEPFIT_OK ? kf_curvature_inherit(curvature, task, &heritage) : status;
}

double kf_curvature_error_norm(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    double trace = kf_hessian_trace(&curvature->hessian) / (1 - curvature->hessian.slack) *
                   (1 + kf_gamma((double)curvature->hessian.size + 8));
    return curvature->since.error * kf_inverse_weight(&problem->objective) * sqrt(trace) * KF_UPWARD;
}
