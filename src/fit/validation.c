#include "fit/validation.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "fit/fit.h"

/* ---- the order of scores ---- */

/* Bits of a double: below the exponent, those that tell the parts of an octave. */
#define PART_SHIFT (52 - 6) /* safety: the format of a double */
_Static_assert(KF_AUC_PARTS == 1 << 6, "a part is told by 6 bits");

static size_t bin_of(double score)
{
    uint64_t bits, least = (uint64_t)(1023 - KF_AUC_BELOW) * KF_AUC_PARTS;
    double size = fabs(score);
    memcpy(&bits, &size, sizeof bits);
    uint64_t part = bits >> PART_SHIFT;
    size_t side = part < least ? 0 : part - least < KF_AUC_SIDE - 1 ? (size_t)(part - least) + 1 : KF_AUC_SIDE;
    return score < 0 ? KF_AUC_SIDE - side : KF_AUC_SIDE + side;
}

double kf_validation_auc(const struct kf_validation *validation, double *off)
{
    double lower = 0, upper = 0, ordered = 0, tied = 0;
    for (size_t k = 0; k < KF_AUC_BINS; k++) {
        double low = (double)validation->scored[0][k], high = (double)validation->scored[1][k];
        ordered += high * lower;
        tied += high * low;
        lower += low;
        upper += high;
    }
    double pairs = lower * upper;
    *off = pairs > 0 ? tied / 2 / pairs : NAN;
    return pairs > 0 ? (ordered + tied / 2) / pairs : NAN;
}

/* ---- a prediction ---- */

void kf_validation_take(struct kf_validation *validation, const struct kf_judged *judged)
{
    size_t at = validation->recent.next;
    assert(at < KF_RECENT);
    validation->recent.loss[at] = judged->loss;
    validation->recent.miss[at] = judged->miss;
    validation->recent.next = at + 1 < KF_RECENT ? at + 1 : 0;
    validation->recent.count += validation->recent.count < KF_RECENT;
    kf_drift_take(&validation->drift, judged->loss, judged->arrival, judged->learns);
    if (!judged->has_classes)
        return;
    if (!isnan(judged->score))
        validation->scored[judged->happened][bin_of(judged->score)]++;
    if (isnan(judged->probability))
        return;
    size_t tenth = (size_t)(judged->probability * KF_CALIBRATION);
    tenth = tenth < KF_CALIBRATION ? tenth : KF_CALIBRATION - 1;
    validation->calibration.count[tenth]++;
    validation->calibration.happened[tenth] += judged->happened;
    validation->calibration.sum[tenth] += judged->probability;
}

/* ---- given out ---- */

static double mean_of_recent(const struct kf_validation *validation, const double *ring)
{
    double sum = 0;
    for (size_t k = 0; k < validation->recent.count; k++)
        sum += ring[k];
    return sum / (double)validation->recent.count;
}

static size_t count_calibration(struct kf_validation *validation)
{
    uint64_t all = 0;
    for (size_t k = 0; k < KF_CALIBRATION; k++) {
        double count = (double)validation->calibration.count[k];
        all += validation->calibration.count[k];
        validation->calibration.predicted[k] = validation->calibration.sum[k] / count;
        validation->calibration.share[k] = (double)validation->calibration.happened[k] / count;
    }
    return all ? KF_CALIBRATION : 0;
}

void keepfit_fit_validation(keepfit_fit *fit, keepfit_validation *result)
{
    struct kf_validation *validation = fit->account.validation;
    const struct kf_drift *drift = &validation->drift;
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    double miss = mean_of_recent(validation, validation->recent.miss);
    keepfit_validation made = {
        .judged = report.validated,
        .loss = report.validation_loss,
        .error = report.validation_error,
        .window = validation->recent.count,
        .windowed_loss = mean_of_recent(validation, validation->recent.loss),
        .windowed_error = fit->meaning.labels.kind == KF_NUMBERS ? sqrt(miss) : miss,
        .calibration = count_calibration(validation),
        .calibration_count = validation->calibration.count,
        .predicted = validation->calibration.predicted,
        .happened = validation->calibration.share,
        .drift_level = kf_drift_level(drift),
        .drift_alarms = drift->alarms,
        .drift_last = drift->last,
        .drift = !drift->alarms ? KEEPFIT_DRIFT_NONE
                 : drift->worse ? KEEPFIT_DRIFT_WORSE
                                : KEEPFIT_DRIFT_BETTER,
        .drift_before = drift->alarms ? drift->before : NAN,
        .drift_after = drift->alarms ? drift->after : NAN,
        .drift_blocks = drift->count,
    };
    made.auc = kf_validation_auc(validation, &made.auc_off);
    KF_GIVE(result, &made);
}

/* ---- stored ---- */

/* Bins that have points, each with its number. */
static void archive_scored(struct kf_validation *validation, struct kf_archive *archive)
{
    size_t used = 0, bin = 0;
    for (size_t k = 0; k < KF_AUC_BINS; k++)
        used += validation->scored[0][k] || validation->scored[1][k];
    kf_archive_count(archive, &used, KF_AUC_BINS);
    for (size_t k = 0; k < used && archive->status == KEEPFIT_OK; k++) {
        while (!archive->reading && !validation->scored[0][bin] && !validation->scored[1][bin])
            bin++;
        kf_archive_count(archive, &bin, KF_AUC_BINS - 1);
        kf_archive_number(archive, &validation->scored[0][bin]);
        kf_archive_number(archive, &validation->scored[1][bin]);
        bin++;
    }
}

void kf_validation_archive(struct kf_validation *validation, struct kf_archive *archive)
{
    kf_archive_count(archive, &validation->recent.count, KF_RECENT);
    kf_archive_count(archive, &validation->recent.next, KF_RECENT - 1);
    kf_archive_require(archive,
                       validation->recent.count == KF_RECENT || validation->recent.next == validation->recent.count);
    size_t count = archive->status == KEEPFIT_OK ? validation->recent.count : 0;
    kf_archive_reals(archive, validation->recent.loss, count);
    kf_archive_reals(archive, validation->recent.miss, count);
    for (size_t k = 0; k < KF_CALIBRATION; k++) {
        kf_archive_number(archive, &validation->calibration.count[k]);
        kf_archive_number(archive, &validation->calibration.happened[k]);
    }
    kf_archive_reals(archive, validation->calibration.sum, KF_CALIBRATION);
    archive_scored(validation, archive);
    kf_drift_archive(&validation->drift, archive);
}
