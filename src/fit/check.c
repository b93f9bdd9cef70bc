/* What no fit could take is refused before anything has changed. */
#include <math.h>

#include "base/error.h"
#include "fit/fade.h"
#include "kernels/kernels.h"

/* Squares up to this leave room for their sums, which proofs are made of: an infinite curvature would prove anything. */
#define SQUARE_MOST 1e300 /* safety: 1e8 of them below the largest number */

static keepfit_status check_row(const keepfit_fit *fit, const keepfit_row *row, double weight, keepfit_error *error)
{
    uint64_t most = fit->options->max_features;
    if (row->count && !row->value)
        return kf_fail(error, KEEPFIT_DATA, "a row with entries has no values");
    for (size_t k = 0; row->index && k < row->count; k++)
        if (k > 0 && row->index[k] <= row->index[k - 1])
            return kf_fail(error, KEEPFIT_DATA, "feature %lu follows feature %lu: indices must ascend",
                           (unsigned long)row->index[k], (unsigned long)row->index[k - 1]);
    if (kf_row_width(row) > most)
        return kf_fail(error, KEEPFIT_DATA, "the row has %zu features, more than {max-features=%llu}",
                       kf_row_width(row), (unsigned long long)most);
    if (kf_square(row->count, row->value) * fmax(weight, 1) <= SQUARE_MOST)
        return KEEPFIT_OK;
    if (!kf_all_finite(row->count, row->value))
        return kf_fail(error, KEEPFIT_DATA, "a value of the row is not finite");
    return kf_fail(error, KEEPFIT_DATA, "the row's values are too large (their squares overflow); scale them");
}

keepfit_status kf_fit_check_point(const keepfit_fit *fit, const keepfit_point *point, keepfit_error *error)
{
    double heaviest = kf_fade_most(fit, point->weight);
    if (!isfinite(point->target))
        return kf_fail(error, KEEPFIT_DATA, "the target is not finite");
    if (!isfinite(point->weight) || point->weight < 0)
        return kf_fail(error, KEEPFIT_DATA, "the weight is not a finite number >= 0");
    if (point->weight == 0 && !point->weightless)
        return kf_fail(error, KEEPFIT_DATA,
                       "the point's weight is 0, as if .weight had been left out: an ordinary point has weight 1, and "
                       "one that is to count for nothing has .weightless = true");
    if (point->weight != 0 && point->weightless)
        return kf_fail(error, KEEPFIT_DATA, "the point is weightless, but its weight is %g", point->weight);
    if (fit->meaning.labels.kind == KF_NUMBERS && !(point->target * point->target * fmax(heaviest, 1) <= SQUARE_MOST))
        return kf_fail(error, KEEPFIT_DATA, "the target %g is too large (its square overflows); scale it",
                       point->target);
    double total = fit->task.problem.objective.weight_total + heaviest;
    bool total_sound = isnan(fit->options->lambda_total) || total == 0 || isfinite(fit->options->lambda_total / total);
    if (!isfinite(total * total) || !total_sound)
        return kf_fail(error, KEEPFIT_DATA, "the weight %g makes the sum of the weights too large or too small",
                       point->weight);
    if (kf_labels_foresee(&fit->meaning.labels, point->target) == KF_LABEL_THIRD)
        return kf_fit_third(fit, point->target, &fit->meaning.labels, error);
    return check_row(fit, &point->row, heaviest, error);
}

keepfit_status kf_fit_check(const keepfit_fit *fit, const keepfit_point *point, const struct kf_mark *mark,
                            keepfit_error *error)
{
    double latest = fit->arrivals.fading.begun ? fit->arrivals.fading.latest : -INFINITY;
    keepfit_status status = kf_fit_check_point(fit, point, error);
    return status == KEEPFIT_OK ? kf_fade_suits(fit, mark, point->weight, latest, error) : status;
}
