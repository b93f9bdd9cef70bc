/* Whether the losses of predictions still come from where they came from: a two-sided alarm.
 *
 * Losses go in blocks of KF_DRIFT_BLOCK points, and a block's mean is ranked among those before it (the reference). As long as the
 * blocks could have come in any order, each rank is as likely as any other, whatever the distribution of the losses. So with k blocks
 * in the reference, of which r are larger than the new one (equal ones count half),
 *
 *   u = (r + 1/2)/(k + 1),    f(u) = 1/(2 sqrt(u))
 *
 * has a mean of at most 1, since f is convex and its integral from 0 to 1 is 1. Shiryaev's and Roberts's statistic,
 *
 *   R = (1 + R) f(u),
 *
 * then grows by at most 1 a block in the mean, so the mean number of blocks until it is above a threshold is at least that
 * threshold. There is one for losses that rise, and one, with 1-u, for losses that fall; each has twice the threshold.
 *
 * The ranks are those within the newest blocks, since the older half of the reference goes when it is full, and a model that still
 * learns has losses that fall: the older half also goes whenever the number of points has doubled, and falling losses count only
 * once there are so many points a coordinate. So the rate of false alarms is measured (bench/drift.md), not proved. After an alarm
 * the reference begins anew. */
#ifndef KF_DRIFT_H
#define KF_DRIFT_H

#include "base/archive.h"

#define KF_DRIFT_BLOCK 50        /* safety: as measured in bench/drift.md */
#define KF_DRIFT_REFERENCE 200   /* safety: as measured in bench/drift.md */
#define KF_DRIFT_LEAST 20        /* safety: as measured in bench/drift.md */
#define KF_DRIFT_EVERY 1e6       /* safety: points between false alarms, at least so many in the mean */
#define KF_DRIFT_A_COORDINATE 10 /* safety: a model of so many points a coordinate hardly gets better by learning */

struct kf_drift {
    uint64_t points;      /* that were judged */
    uint64_t block_count; /* points in the block that is being filled, */
    double block_sum;     /* and their losses */
    size_t count;         /* of the reference */
    double mean[KF_DRIFT_REFERENCE];
    double rising, falling; /* R */
    uint64_t alarms;
    uint64_t last;        /* the arrival at the last alarm */
    bool worse;           /* it was a rise */
    double before, after; /* the means of the reference then, and of the blocks that it took to notice */
    size_t since;         /* the reference's blocks before R last began from little: what `after` leaves out */
};

/* Another prediction was judged. learns: the model has too few points for falling losses to mean anything. */
void kf_drift_take(struct kf_drift *drift, double loss, uint64_t arrival, bool learns);
/* The larger R on a scale where 0 is nothing and 1 an alarm. */
double kf_drift_level(const struct kf_drift *drift);
void kf_drift_archive(struct kf_drift *drift, struct kf_archive *archive);

#endif
