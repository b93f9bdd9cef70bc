#include "fit/drift.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/logarithm.h"

/* For each of the two, in blocks. */
#define THRESHOLD (2 * KF_DRIFT_EVERY / KF_DRIFT_BLOCK) /* safety: two halves of the alarms */
/* What `after` and `before` are taken of: R below this says nothing yet. */
#define LITTLE 1.0 /* safety: its least value in the mean */

static double bet(double u)
{
    assert(u > 0 && u < 1);
    return 1 / (2 * sqrt(u));
}

static double mean_of(const double *numbers, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += numbers[k];
    return sum / (double)count;
}

/* The older half goes. */
static void forget_half(struct kf_drift *drift)
{
    size_t gone = drift->count / 2;
    memmove(drift->mean, drift->mean + gone, (drift->count - gone) * sizeof *drift->mean);
    drift->count -= gone;
    drift->since = drift->since > gone ? drift->since - gone : 0;
}

static void alarm(struct kf_drift *drift, uint64_t arrival)
{
    size_t before = drift->since ? drift->since : drift->count - 1;
    drift->alarms++;
    drift->last = arrival;
    drift->worse = drift->rising >= drift->falling;
    drift->before = mean_of(drift->mean, before);
    drift->after = mean_of(drift->mean + before, drift->count - before);
    drift->count = drift->since = 0;
    drift->rising = drift->falling = 0;
}

static void take_block(struct kf_drift *drift, double mean, uint64_t arrival, bool learns)
{
    double larger = 0.5;
    for (size_t k = 0; k < drift->count; k++)
        larger += drift->mean[k] > mean ? 1 : drift->mean[k] == mean ? 0.5 : 0;
    double u = larger / ((double)drift->count + 1);
    if (drift->count >= KF_DRIFT_LEAST) {
        if (fmax(drift->rising, drift->falling) <= LITTLE)
            drift->since = drift->count;
        drift->rising = (1 + drift->rising) * bet(u);
        drift->falling = learns ? 0 : (1 + drift->falling) * bet(1 - u);
    }
    drift->mean[drift->count++] = mean;
    if (fmax(drift->rising, drift->falling) >= THRESHOLD)
        alarm(drift, arrival);
    else if (drift->count == KF_DRIFT_REFERENCE)
        forget_half(drift);
    assert(drift->count < KF_DRIFT_REFERENCE);
}

void kf_drift_take(struct kf_drift *drift, double loss, uint64_t arrival, bool learns)
{
    drift->points++;
    drift->block_sum += loss;
    if ((drift->points & (drift->points - 1)) == 0 && drift->count > 1)
        forget_half(drift);
    if (++drift->block_count < KF_DRIFT_BLOCK)
        return;
    double mean = drift->block_sum / KF_DRIFT_BLOCK;
    drift->block_count = 0;
    drift->block_sum = 0;
    if (isfinite(mean))
        take_block(drift, mean, arrival, learns);
}

double kf_drift_level(const struct kf_drift *drift)
{
    return kf_log1p(fmax(drift->rising, drift->falling)) / kf_log1p(THRESHOLD);
}

void kf_drift_archive(struct kf_drift *drift, struct kf_archive *archive)
{
    uint64_t *counts[] = {&drift->points, &drift->block_count, &drift->alarms, &drift->last};
    double *reals[] = {&drift->block_sum, &drift->rising, &drift->falling, &drift->before, &drift->after};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        kf_archive_number(archive, counts[k]);
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
        kf_archive_real(archive, reals[k]);
    kf_archive_require(archive, drift->block_count < KF_DRIFT_BLOCK && drift->rising >= 0 && drift->falling >= 0);
    kf_archive_flag(archive, &drift->worse);
    kf_archive_count(archive, &drift->count, KF_DRIFT_REFERENCE - 1);
    kf_archive_count(archive, &drift->since, KF_DRIFT_REFERENCE - 1);
    kf_archive_require(archive, drift->since <= drift->count);
    kf_archive_reals(archive, drift->mean, archive->status == KEEPFIT_OK ? drift->count : 0);
}
