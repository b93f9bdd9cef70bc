/* What sampled methods step along, written once: an estimate of the gradient at x that a few points are enough for.
 *
 *     e = 2 lambda x + drift_scale * m + sum over the samples u of scale_u * (g_u(x) - r_u)
 *
 *     x <- P(x - step * e),   and then for each sample   m += drift_u * (g_u(x) - r_u),   r_u <- g_u(x) where it is renewed
 *
 * g_u = w_u grad loss_u, r_u is the gradient of u that is remembered (0: none), and m, the drift, is kept by the iterate. With u uniform
 * among n points of weight W, scale n/W, drift_scale 1/W and m the sum of their r, this is "grad f_u(x) - remembered_u + mean of those
 * remembered": its mean over u is the gradient of their weighted mean, whatever is remembered.
 *
 *   function                methods                       m, of                          samples: scale, drift, remembered
 *   kf_estimate_plainly     sgd, sgd-sparse               -                              u: n/W, 0, none
 *   kf_estimate_anchored    svrg, lsvrg, ssvrg            gradients at a snapshot        u: n/W, 0, the one at the snapshot
 *   kf_estimate_by_table    saga, strsaga, dynasaga,      the table                      u: n/W, 1, u's in the table, renewed
 *                           table
 *   kf_estimate_continual   csvrg                         those at x_prev, but i's       u: (i-1)/W, 0, the one at x_prev;
 *                                                                                        i, the newest: 1/W, 0, none
 *
 * ssvrg's mean is over the points of a round, each of the mean weight so far. gd and sarah step along the drift alone; sarah makes it
 * follow x by what u's gradients at the last two iterates differ by. katyusha estimates as svrg does, but at points of its own.
 *
 * step.h makes the steps. */
#ifndef KF_ESTIMATOR_H
#define KF_ESTIMATOR_H

#include <stdbool.h>
#include <stddef.h>

/* A point drawn for a step. */
struct kf_sample {
    double scale, drift;
    size_t point;
    double *remembered; /* factors, or NULL */
    bool renew;
};

#define KF_SAMPLES_MOST 2 /* safety: room; asserted */

struct kf_estimator {
    double drift_scale;
    size_t count; /* of samples; the first is the one that is drawn */
    struct kf_sample sample[KF_SAMPLES_MOST];
};

/* `count` points of weight 1/mean; the one that is drawn is put in by kf_estimate_at. */
static inline struct kf_estimator kf_estimate_plainly(size_t count, double mean)
{
    return (struct kf_estimator){.count = 1, .sample = {{.scale = (double)count * mean}}};
}

static inline struct kf_estimator kf_estimate_anchored(size_t count, double mean)
{
    return (struct kf_estimator){.drift_scale = mean, .count = 1, .sample = {{.scale = (double)count * mean}}};
}

static inline struct kf_estimator kf_estimate_by_table(size_t count, double mean)
{
    return (struct kf_estimator){
        .drift_scale = mean, .count = 1, .sample = {{.scale = (double)count * mean, .drift = 1, .renew = true}}};
}

static inline struct kf_estimator kf_estimate_continual(size_t newest, double mean)
{
    return (struct kf_estimator){.drift_scale = mean,
                                 .count = 2,
                                 .sample = {{.scale = (double)newest * mean}, {.scale = mean, .point = newest}}};
}

/* Takes the point that was drawn, and the factors that are remembered of it (may be NULL). */
static inline void kf_estimate_at(struct kf_estimator *estimator, size_t drawn, double *remembered)
{
    estimator->sample[0].point = drawn;
    estimator->sample[0].remembered = remembered;
}

#endif
