/* The losses: for one point with scores z[0..C-1] (C = 1 for all but softmax) and target b, the value, its gradient in
 * z (the "factors" of the gradient in x), and its second derivative in z.
 *
 *   squared    (z-b)^2
 *   logistic   log(1 + exp(-b z)),                                     b = -1 or +1
 *   huber      r^2 for |r| <= delta, 2 delta |r| - delta^2 beyond;      r = z-b
 *   logcosh    ln cosh(z-b)
 *   hinge      0 for bz >= 1; (1-bz)^2/(2 delta) for 1-delta < bz < 1; 1 - bz - delta/2 below
 *   squared-hinge  max(0, 1-bz)^2
 *   softmax    log(sum_k exp z_k) - z_b,                                b = 0 .. C-1
 *   network    the same; its scores are the outputs of a network with one hidden layer (network.h)
 *
 * A new one is a record: its functions in the file of its family (loss_numbers.c, loss_two_classes.c, loss_many_classes.c), one line in
 * loss_records.h, one in the table of loss.c and one word in the choices of the option (base/options.c). Nothing else in src asks which loss
 * it is, only what its record says. CONTRIBUTING.md goes through the rest: tests and documents.
 */
#ifndef KF_LOSS_H
#define KF_LOSS_H

#include <stdbool.h>
#include <stddef.h>

struct kf_kernels;

/* What proofs take for granted of each loss: how far value and slope, computed at a given score and then multiplied by a weight, may be from
 * the exact ones at that very score, in units (2^-53) of themselves. [test_units in tests/unit/test_objective.c] Losses of many classes
 * have units of 1 besides (rounding.c).
 *
 *   slope   logistic: 2.2 of exp, 1 each of the sum, the quotient and the weight. logcosh: 6, that of z-b counted (tanh is no more off than
 *           its argument), and the weight. The others fewer.
 *   value   logistic: 2 of log1p and 3.2 of what goes into it, and the sum. logcosh: 2 for z-b, which counts up to twice, 4 of the series, 2 of
 *           log1p; and the weight. */
#define KF_SLOPE_UNITS 8  /* proof: "Lemma 18 (losses in numbers)" */
#define KF_VALUE_UNITS 12 /* proof: "Lemma 18 (losses in numbers)" */

/* What a slope, and what is computed of it in a few operations, is off by at most, of itself: a weight that was multiplied with it and taken
 * out again counts. */
#define KF_PIECE_ROUNDING 0x1p-48 /* proof: "Theorem 27 (losses made of pieces)" */

enum kf_targets { KF_NUMBERS, KF_TWO_CLASSES, KF_MANY_CLASSES };

struct kf_loss {
    const char *name, *summary;
    enum kf_targets targets;
    double (*value)(const double *z, size_t outputs, double b, double delta);
    /* One of the two: for losses of one score, and of several (slopes may be z itself). */
    double (*slope)(double z, double b, double delta);
    void (*slopes)(const double *z, size_t outputs, double b, double *slopes);
    /* Of many points with one score each, in place of the scores z; or NULL: one after the other. */
    void (*slopes_of)(const struct kf_kernels *kernels, size_t count, const double *b, double *z);
    /* curve[k*outputs + l]: the second derivative (where there is a kink, one of its limits). Where there is a concordance it is off by at most 60
     * units of itself (optimum.c makes it a lower bound). */
    void (*curve)(const double *z, size_t outputs, double b, double delta, double *curve);
    /* The second derivatives where the first ones are `slopes`, or as little less as makes them lower bounds although the slopes are off by
     * KF_SLOPE_UNITS; or NULL. For losses of one score; every one with a finite concordance has to have it. What they are less by is at most
     * 2^-47 where |slope| is above 1/2, and 2^-46 of themselves below: a proof adds that back (kernels: doubts; test_units). So it suits
     * slopes that go to limits of 0 and 1 in size, where the curvature goes to 0, or to 1 alone. */
    void (*curves_of)(size_t count, const double *slopes, double *curves);
    /* Losses that are made of pieces with one curvature each: that where the slope is this, or as little less as makes it a lower bound even
     * once a weight has been multiplied with it; and *room, by how much at most the score may move, from any for which a slope as little off
     * as KF_SLOPE_UNITS and that weight allow comes out as this one, and keep it. 0: that is not known, or there is no curvature. At most one
     * piece has any. NULL: curvature changes all along. */
    double (*piece)(double slope, double delta, double *room);
    /* Losses of several scores, where the slopes times the point's weight are `slopes`, and the weight above 0: the second derivative times
     * that; z becomes what it makes of z; and its diagonal. All of them or none. */
    void (*curve_of)(const double *slopes, size_t outputs, double b, double weight, double *curve);
    void (*bend_of)(const double *slopes, size_t outputs, double b, double weight, double *z);
    void (*diagonal_of)(const double *slopes, size_t outputs, double b, double weight, double *diagonal);
    /* The largest eigenvalue that curve can have anywhere. */
    double (*curve_bound)(double delta);
    /* The same for scores within `blur` of z, where the slope is this; NULL: that of anywhere has to do. */
    double (*bend)(double z, double b, double delta, double slope, double blur);
    /* The largest |slope| for scores within [-score, score] (of the score vector's norm). */
    double (*slope_bound)(double score, double b, double delta);
    bool probabilities;
    /* The loss is minus the logarithm of a likelihood: 1: as it is; another number: once divided by that many times the variance of the
     * noise; 0: it is not. */
    double likelihood;
    /* The third derivative is at most this times the second; infinite where it is not bounded so. */
    double concordance;
    /* Losses of several scores: where these move by s, the second derivative falls to no less than exp(-this (max s - min s)) times what it
     * was; 0: not known. */
    double range_concordance;
    /* For classes: a score on the right side that is larger costs nothing; infinite where every one costs something. */
    double settled;
    /* How the option names it where that is not the name alone: the scores come from a network, and the objective is not
     * convex. NULL for linear models. */
    const char *network;
};

static inline void kf_loss_slopes(const struct kf_loss *loss, const double *z, size_t outputs, double b, double delta,
                                  double *slopes)
{
    if (loss->slope)
        slopes[0] = loss->slope(z[0], b, delta);
    else
        loss->slopes(z, outputs, b, slopes);
}

/* Of losses of one score whose curvature follows from the slope, lower bounds of it. */
static inline void kf_loss_curves(const struct kf_loss *loss, size_t count, const double *slopes, double delta,
                                  double *curves)
{
    double room;
    if (!loss->piece)
        loss->curves_of(count, slopes, curves);
    for (size_t k = 0; k < count && loss->piece; k++)
        curves[k] = loss->piece(slopes[k], delta, &room);
}

/* The one of this name; NULL: none. */
const struct kf_loss *kf_loss_find(const char *name);
/* Loss k, in the order of the option's choices; NULL past the last. */
const struct kf_loss *kf_loss_entry(size_t k);

#endif
