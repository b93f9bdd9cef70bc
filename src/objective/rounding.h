/* What rounding may have done to a gradient sum: for each of its numbers a bound on how far it is from the sum over the points' exact
 * gradients at the very x that is held. A proof adds it to what it takes from the sum. docs/guarantee.md derives all of
 * this: Lemma 18 (losses in numbers) and Theorem 19 (gradient sums).
 *
 * A sum that is followed has its bounds followed too, each operation adding what it may do. After a pass they are made of what the rows'
 * columns have: mass_k = sum w_j |a_jk| and most_k = max |a_jk|, which do not depend on x.
 *
 *   a score    is off by at most gamma(row's length) sum_k |a_jk| |x_k|, and that is at most gamma z, z = sum_k most_k |x_k|
 *   a slope    by the loss's largest curvature times that, and by its own evaluation
 *   a sum      by one unit of each partial sum */
#ifndef KF_ROUNDING_H
#define KF_ROUNDING_H

#include "objective/objective.h"

/* Half the distance from 1 to the next number: what one operation may be off by, relative to its result. */
#define KF_UNIT 0x1p-53 /* proof: "Lemma 16 (operations)" */
/* Formulas of at most 2^10 operations on positive numbers, times this, are upper bounds of what they stand for; and what underflow may
 * have taken from them is less than the second number. */
#define KF_UPWARD (1 + 0x1p-40) /* proof: "Lemma 16 (operations)" */
#define KF_UNDERFLOW 0x1p-960   /* proof: "Lemma 16 (operations)" */

/* k u/(1-k u): what k operations one after the other may be off by. */
static inline double kf_gamma(double operations)
{
    double share = operations * KF_UNIT;
    return share < 0.5 ? share / (1 - share) * KF_UPWARD : INFINITY;
}

/* A gradient sum, and by how much each of its numbers may be off. */
struct kf_tracked {
    double *sum, *off;
};

/* z: no row's product with x has terms that add up to more in size. */
double kf_score_most(const struct kf_objective *objective, const double *x);
/* What the scores of rows like these may be off by where their terms add up to at most z in size. */
double kf_score_rounding(const struct kf_objective *objective, double z);

/* off: after a pass over all points at x. */
void kf_rounding_of_pass(const struct kf_objective *objective, const double *x, double *off);
/* The gradient sum at x once more, and each number's bound from what each point adds to it, which is often far less than what a pass can say
 * of all; the sums themselves are exact to the last digit. For linear models. One FO a point; low is a vector to work with. */
void kf_gradient_sum_closely(struct kf_objective *objective, const double *x, const struct kf_tracked *tracked,
                             double *low, double *remembered, double *scratch);
/* off, after point j's factors at x have been added to the sum, or taken from it; its weighted slope may be off by `more` besides. Returns by
 * how much its scores may be off. */
double kf_rounding_of_point(const struct kf_objective *objective, const double *x, size_t j, const double *factors,
                            double more, const struct kf_tracked *tracked);
/* The same as a length, where that of the sum is known to be at most `length`. *blur: what the point's scores may be off by. */
double kf_rounding_length(const struct kf_objective *objective, const double *x, size_t j, const double *factors,
                          double length, double *blur);
/* off, where the sum is about to take in what the points' curvatures make of a step from x, by so many operations in any order; x does not
 * get quite where the step leads. */
void kf_rounding_of_follow(const struct kf_objective *objective, const double *x, const double *step, double operations,
                           const struct kf_tracked *tracked);
/* The same where what so many points' curvatures have made of moves of at most `most`, each off by `off` at most, is about to be corrected. */
void kf_rounding_of_correction(const struct kf_objective *objective, double most, double off, double operations,
                               const struct kf_tracked *tracked);
/* What each number of sum/W + 2 lambda x (kf_complete_gradient) may be off by. */
void kf_complete_doubt(const struct kf_objective *objective, const struct kf_tracked *tracked, const double *x,
                       double *doubt);

/* How far the weighted loss of point j may be from the exact one, where its scores may be off by `blur`. */
double kf_rounding_of_loss(const struct kf_objective *objective, size_t j, double loss, double blur);
/* How far the sum of the points' weighted losses at x, as kf_objective_value has it, may be from the exact one. */
double kf_rounding_of_losses(const struct kf_objective *objective, const double *x, double losses);

#endif
