/* The losses: for one point with scores z[0..K-1] (K = 1 for all but softmax) and target b, the value, its gradient in
 * z (the "factors" of the gradient in x), and its second derivative in z.
 *
 *   squared    (z-b)^2
 *   logistic   log(1 + exp(-b z)),                                     b = -1 or +1
 *   huber      r^2 for |r| <= delta, 2 delta |r| - delta^2 beyond;      r = z-b
 *   hinge      0 for bz >= 1; (1-bz)^2/(2 delta) for 1-delta < bz < 1; 1 - bz - delta/2 below
 *   softmax    log(sum_k exp z_k) - z_b,                                b = 0 .. K-1
 *   network    the same; its scores are the outputs of a network with one hidden layer (network.h)
 */
#ifndef KF_LOSS_H
#define KF_LOSS_H

#include <stdbool.h>
#include <stddef.h>

struct kf_kernels;

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
    /* curve[k*outputs + l]: the second derivative (where there is a kink, one of its limits) */
    void (*curve)(const double *z, size_t outputs, double b, double delta, double *curve);
    /* The second derivatives where the first ones are `slopes`, or as little less as makes them lower bounds in spite of rounding, for
     * losses of one score that bend by known amounts; or NULL. */
    void (*curves_of)(size_t count, const double *slopes, double *curves);
    /* The largest eigenvalue that curve can have anywhere. */
    double (*curve_bound)(double delta);
    /* The same for scores within `blur` of z, where the slope is this; NULL: that of anywhere has to do. */
    double (*bend)(double z, double b, double delta, double slope, double blur);
    /* The largest |slope| for scores within [-score, score] (of the score vector's norm). */
    double (*slope_bound)(double score, double b, double delta);
    bool probabilities;
    /* The third derivative is at most this times the second; infinite where it is not bounded so. */
    double concordance;
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

/* Loss k, in the order of the option's choices; NULL past the last. */
const struct kf_loss *kf_loss_entry(size_t k);

#endif
