/* --standardise: lambda sum_k (s_k x_k)^2, s_k a power of two near the spread of column k. Beside a free intercept that is what standardised
 * columns with lambda |x|^2 are: their means are the intercept's business, and with x = z/s, a.x = (a/s).z. So the history keeps rows
 * a/s, which is exact, the iterate is z, and all proofs are those of z; at the fit's boundary rows and x are what they were. (docs/guarantee.md,
 * Theorem 30.)
 *
 * s is looked for when the number of points has doubled, with the centres (centre.c), in all points that are there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "fit/centre.h"

/* Spreads in these bounds; and no value is more than so many of its column's. */
#define SCALE_MOST 0x1p300   /* safety: squares stay finite */
#define SPREADS_MOST 0x1p330 /* safety: likewise */

keepfit_status kf_scales_check(const keepfit_options *options, bool own_objective, keepfit_error *error)
{
    if (!options->standardise)
        return KEEPFIT_OK;
    if (options->hidden || own_objective)
        return kf_fail(error, KEEPFIT_USAGE, "{standardise} works for the linear models of this library");
    if (options->team && options->team->size > 1)
        return kf_fail(error, KEEPFIT_USAGE, "{standardise} writes rows anew, and those of a team lie apart");
    if (!options->intercept)
        return kf_fail(error, KEEPFIT_USAGE,
                       "{standardise} wants {intercept}, which takes the place of the columns' means");
    if (strcmp(options->domain ? options->domain : "none", "none") != 0)
        return kf_fail(error, KEEPFIT_USAGE,
                       "{standardise} and {domain} exclude each other: what the domain holds would change with the "
                       "columns' spreads");
    return KEEPFIT_OK;
}

/* What is known of a column: the weight of its entries, their mean, the sum of squares about it, and the largest. */
struct column {
    double weight, mean, squares, most;
};

static void see(struct column *column, double value, double weight)
{
    column->most = fmax(column->most, fabs(value));
    if (!(weight > 0))
        return;
    double apart = value - column->mean;
    column->weight += weight;
    column->mean += apart * (weight / column->weight);
    column->squares += weight * apart * (value - column->mean);
}

static void see_points(const keepfit_fit *fit, struct column *columns, size_t count)
{
    const struct kf_points *points = &fit->task.problem.points;
    const struct kf_centres *now = &fit->centring.centres;
    for (size_t j = 0; j < points->count; j++) {
        keepfit_row row = kf_points_row(points, j);
        for (size_t e = 0; e < row.count; e++) {
            size_t slot = row.index ? row.index[e] : e;
            if (slot == 0 || slot > count) /* the constant in front */
                continue;
            double value = row.value[e] * kf_centres_scale(now, (uint32_t)slot - 1);
            see(&columns[slot - 1], value, points->place[j].weight);
        }
    }
}

/* The power of two that is nearest to its spread; 1 for a column that does not vary. */
static double scale_of(const struct column *column, double weight)
{
    double missing = fmax(weight - column->weight, 0);
    double squares = column->squares + column->mean * column->mean * column->weight * (missing / weight);
    double spread = sqrt(squares / weight);
    if (!(spread > 0) || !isfinite(spread))
        return 1;
    spread = fmax(fmin(spread, SCALE_MOST), fmax(1 / SCALE_MOST, column->most / SPREADS_MOST));
    int exponent;
    double share = frexp(spread, &exponent);
    return ldexp(1, share >= 0.70710678118654752 ? exponent : exponent - 1);
}

bool kf_scales_find(keepfit_fit *fit, struct kf_centres *next, bool *changes)
{
    size_t count = (size_t)fit->meaning.features;
    double weight = fit->task.problem.objective.weight_total;
    if (count == 0 || !(weight > 0))
        return kf_scales_copy(next, &fit->centring.centres);
    struct column *columns = kf_allocate(count, sizeof *columns);
    bool room = columns;
    if (room)
        see_points(fit, columns, count);
    for (size_t k = 0; k < count && room; k++) {
        double scale = scale_of(&columns[k], weight);
        *changes |= scale != kf_centres_scale(&fit->centring.centres, (uint32_t)k);
        room = scale == 1 || kf_centres_add_scale(next, (uint32_t)k, scale);
    }
    free(columns);
    return room;
}

bool kf_scales_copy(struct kf_centres *next, const struct kf_centres *from)
{
    bool room = true;
    for (size_t k = 0; k < from->scales && room; k++)
        room = kf_centres_add_scale(next, (uint32_t)k, from->scale[k]);
    return room;
}

const double *keepfit_fit_scales(const keepfit_fit *fit, size_t *count)
{
    *count = fit->centring.centres.scales;
    return *count ? fit->centring.centres.scale : NULL;
}

void kf_scales_archive(const keepfit_fit *fit, struct kf_archive *archive, struct kf_centres *next, size_t most)
{
    size_t count = fit->centring.centres.scales;
    int exponent;
    kf_archive_count(archive, &count, most + 1);
    kf_archive_require(archive, !archive->reading || kf_archive_holds(archive, count));
    for (size_t k = 0; k < count && archive->status == KEEPFIT_OK; k++) {
        double scale = archive->reading ? 0 : fit->centring.centres.scale[k];
        kf_archive_real(archive, &scale);
        kf_archive_require(archive,
                           scale >= 1 / SPREADS_MOST && scale <= SPREADS_MOST && frexp(scale, &exponent) == 0.5);
        if (archive->status == KEEPFIT_OK && archive->reading && !kf_centres_add_scale(next, (uint32_t)k, scale))
            archive->status = KEEPFIT_NO_MEMORY;
    }
}
