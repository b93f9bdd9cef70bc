/* K: how far scores move with |v|_H, in the mean that counts. docs/guarantee.md, Theorem 10 (reach in the mean).
 *
 * R is the farthest that any score can move. But what the Hessian loses along v on the way to x+v is a mean over the points, each with
 * its share k_j (a_j.v)^2 of |v|^2_H for a weight, and by Jensen's inequality
 *
 *   the mean of exp(-M|a_j.v|)  >=  exp(-M mean of |a_j.v|)  >=  exp(-M K |v|_H)     if  (1/W0) sum h_j R_j a_j a_j' <= K H
 *
 * with R_j^2 the leverage of point j. K is found as base + kappa: points above the base, with what they are above it by, make a matrix X, and
 * kappa H - X has a Cholesky factor. How large kappa has to be is found by a few steps of the power method. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "certificate/internal.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"

/* K is not worth its while where t is below this with R at the target. */
#define MATTERS_FROM 0.25 /* speed: bench/tuning.md */
#define POWER_STEPS 8     /* speed: bench/tuning.md */
/* What the power method found, which is a little less than the largest eigenvalue, is taken times this; then times that; and a share of
 * the base, beside which it may be so little that nothing is saved by finding it exactly. */
#define MARGIN_FIRST 1.1  /* speed: bench/tuning.md */
#define MARGIN_SECOND 1.5 /* speed: bench/tuning.md */
#define BASE_SHARE 0.02   /* speed: bench/tuning.md */

/* R_j, or a little more; 0 for a point that is left out of H. */
static double reach_of(const struct kf_curvature *curvature, size_t j)
{
    return curvature->leverages.of[j] > 0
               ? sqrt(curvature->leverages.of[j] * curvature->leverages.inflation) * KF_UPWARD
               : 0;
}

/* The mean of the R_j, by the points' shares of H. */
static double mean_reach(const struct kf_curvature *curvature)
{
    double sum = 0, total = 0;
    for (size_t j = 0; j < curvature->points; j++) {
        double reach = reach_of(curvature, j), share = curvature->curves.of[j] * reach * reach;
        sum += share * reach;
        total += share;
    }
    return total > 0 ? sum / total : 0;
}

static bool make_excess(struct kf_curvature *curvature, const struct kf_problem *problem, double base)
{
    for (size_t j = 0; j < curvature->points; j++)
        curvature->excesses[j] = curvature->curves.of[j] * fmax(reach_of(curvature, j) - base, 0);
    for (size_t k = 0; k < curvature->hessian.size; k++)
        memset(curvature->hessian.excess + k * curvature->hessian.capacity, 0,
               curvature->hessian.size * sizeof(double));
    return kf_hessian_add_known(&curvature->curves, problem, curvature->excesses, curvature->points,
                                1 / curvature->weight, curvature->hessian.excess, curvature->hessian.capacity);
}

/* v'X v/v'H v after some steps from the direction in which the farthest score moves most. */
static double largest_ratio(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    size_t size = curvature->hessian.size, farthest = 0;
    for (size_t j = 1; j < curvature->points; j++)
        if (curvature->leverages.of[j] > curvature->leverages.of[farthest])
            farthest = j;
    keepfit_row row = kf_points_row(&problem->points, farthest);
    double *v, *bent = kf_hessian_scratch(&curvature->hessian, 1), largest = 0;
    double length = curvature->hessian.type->bend(&curvature->hessian, problem->objective.kernels, &row, &v);
    for (int step = 0; step < POWER_STEPS && length > 0; step++) {
        kf_symmetric_times(size, curvature->hessian.excess, curvature->hessian.capacity, v, bent);
        largest = fmax(largest, kf_dot(size, v, bent) / length);
        curvature->hessian.type->times_inverse(&curvature->hessian, bent, v);
        length = kf_dot(size, v, bent);
    }
    return largest;
}

/* Whether kappa H - X is positive definite; X, which as many operations have made as H, is lost. */
static bool covers(struct kf_curvature *curvature, double kappa)
{
    double *margin = kf_hessian_scratch(&curvature->hessian, 0);
    for (size_t k = 0; k < curvature->hessian.size; k++) {
        double *column = curvature->hessian.excess + k * curvature->hessian.capacity, excess = column[k];
        const double *of = curvature->hessian.matrix + k * curvature->hessian.capacity;
        for (size_t l = k; l < curvature->hessian.size; l++)
            column[l] = kappa * of[l] - column[l];
        margin[k] = kf_hessian_margin(&curvature->hessian, k) * (kappa + excess / curvature->hessian.peak[k]);
    }
    struct kf_square difference = kf_like_hessian(&curvature->hessian, curvature->hessian.excess);
    return kf_verified_factor(&difference, margin);
}

bool kf_dense_find_reach(struct kf_curvature *curvature, struct kf_task *task, double target)
{
    static const double margins[] = {MARGIN_FIRST, MARGIN_SECOND};
    double farthest = sqrt(curvature->leverages.largest), size = (double)curvature->hessian.size;
    if (kf_concordance(&task->problem) * farthest * sqrt(2 * target) < MATTERS_FROM)
        return true;
    if (!KF_RESERVE(curvature->excesses, curvature->excesses_capacity, curvature->points))
        return false;
    double base = mean_reach(curvature);
    if (!make_excess(curvature, &task->problem, base))
        return false;
    double kappa = largest_ratio(curvature, &task->problem);
    kf_spend(&task->stage, kf_cost_squares(&task->problem, (double)curvature->points) + kf_cost_factor(size) +
                               2 * POWER_STEPS * kf_cost_product(size));
    for (size_t k = 0; k < sizeof margins / sizeof margins[0]; k++) {
        double enough = margins[k] * kappa + BASE_SHARE * base;
        if (!(base + enough < farthest))
            break;
        if (k > 0 && !make_excess(curvature, &task->problem, base))
            return false;
        if (covers(curvature, enough)) {
            curvature->leverages.reach = (base + enough) * KF_UPWARD;
            return true;
        }
    }
    return true;
}
