#include "fit/fade.h"

#include <assert.h>
#include <math.h>

#include "base/error.h"
#include "fit/durable.h"
#include "history/terms.h"
#include "kernels/exponential.h"

/* Half-lives after which weights are multiplied: they stay between 2^-2 KF_HALF_LIVES and 2^FADE_SPAN of themselves. */
#define FADE_SPAN 128 /* safety: one pass in so many half-lives */
/* Weights in these bounds stay normal numbers whatever they are multiplied by. */
#define WEIGHT_LEAST 1e-200        /* safety: 2^-665, and 2^-665-128 is normal */
#define WEIGHT_MOST 1e200          /* safety: 2^665, and its square's sum with 2^128 is finite */
#define ONE_BY_ONE 32              /* safety: fewer leave one by one, which costs no pass */
#define LN2 0.69314718055994530942 /* proof: "Theorem 29 (half-lives)" */

static bool fades(const keepfit_fit *fit)
{
    return fit->options->half_life || fit->options->half_life_seconds > 0;
}

bool kf_fit_is_timed(const keepfit_fit *fit)
{
    return fit->options->half_life_seconds > 0 || fit->options->window_seconds > 0;
}

keepfit_status kf_fade_check(const keepfit_options *options, bool own_objective, bool holds, keepfit_error *error)
{
    if (!options->half_life && !(options->half_life_seconds > 0))
        return KEEPFIT_OK;
    if (!isnan(options->lambda_total))
        return kf_fail(error, KEEPFIT_USAGE,
                       "{half-life} and {lambda-total} exclude each other: weights that fade have no total; give "
                       "{lambda}, which belongs to their mean");
    if (options->hidden || own_objective)
        return kf_fail(error, KEEPFIT_USAGE, "{half-life} works for the convex losses of this library");
    if (options->team && options->team->size > 1)
        return kf_fail(error, KEEPFIT_USAGE, "{half-life} is for one process, not for a team");
    if (!(options->lambda > 0))
        return kf_fail(error, KEEPFIT_USAGE, "{lambda}: must be above 0 beside {half-life}");
    if (!holds)
        return kf_fail(
            error, KEEPFIT_USAGE,
            "{method=%s} draws points whatever they weigh, and does not go with {half-life}; try auto, which "
            "proves what it does",
            options->method);
    return KEEPFIT_OK;
}

static const char *goes_by_time(const keepfit_fit *fit)
{
    return fit->options->half_life_seconds > 0 ? "half-life" : "window";
}

keepfit_status kf_fade_suits(const keepfit_fit *fit, const struct kf_mark *mark, double weight, double latest,
                             keepfit_error *error)
{
    if (kf_fit_is_timed(fit) && !isfinite(mark->time))
        return kf_fail(error, KEEPFIT_DATA,
                       "the point has no time, by which {%s=%s} goes ({time=COLUMN} names a table's)",
                       goes_by_time(fit), keepfit_options_get(fit->options, goes_by_time(fit)));
    if (kf_fit_is_timed(fit) && mark->time < latest)
        return kf_fail(error, KEEPFIT_DATA,
                       "the point's time is %.17g s before that of the point before it, and {%s=%s} goes by time: sort "
                       "the rows",
                       latest - mark->time, goes_by_time(fit), keepfit_options_get(fit->options, goes_by_time(fit)));
    if (fades(fit) && weight != 0 && !(weight >= WEIGHT_LEAST && weight <= WEIGHT_MOST))
        return kf_fail(error, KEEPFIT_DATA,
                       "the weight %g does not lie between %g and %g, as it has to beside {half-life}", weight,
                       WEIGHT_LEAST, WEIGHT_MOST);
    return KEEPFIT_OK;
}

/* How many whole half-lives after the first point, and what share of one beside them. */
static double whole_half_lives(const keepfit_fit *fit, uint64_t arrival, double time, double *part)
{
    uint64_t each = fit->options->half_life;
    if (each) {
        *part = (double)(arrival % each) / (double)each;
        return (double)(arrival / each);
    }
    double passed = (time - fit->arrivals.fading.origin) / fit->options->half_life_seconds, whole = floor(passed);
    *part = passed - whole;
    return whole;
}

double kf_fade_weight(const keepfit_fit *fit, double weight, uint64_t arrival, double time)
{
    double part;
    if (!fades(fit) || weight == 0)
        return weight;
    double whole = whole_half_lives(fit, arrival, time, &part);
    assert(part >= 0 && part < 1 && whole - fit->arrivals.fading.base <= FADE_SPAN);
    return ldexp(weight * kf_exp(part * LN2), (int)(whole - fit->arrivals.fading.base));
}

double kf_fade_most(const keepfit_fit *fit, double weight)
{
    return fades(fit) ? ldexp(weight, FADE_SPAN + 1) : weight;
}

/* All weights are multiplied by a power of two. */
static void move_base(keepfit_fit *fit, double base)
{
    struct kf_points *points = &fit->task.problem.points;
    int less = (int)(fit->arrivals.fading.base - base); /* points are younger than KF_HALF_LIVES */
    fit->arrivals.fading.base = base;
    for (size_t j = 0; j < points->count; j++) {
        points->place[j].weight = ldexp(points->place[j].weight, less);
        assert(points->place[j].weight ==
               kf_fade_weight(fit, kf_fade_given(fit, j), kf_fit_arrival(fit, j), kf_fade_time(fit, j)));
    }
    if (points->count == 0)
        return;
    kf_fit_compute_constants(fit);
    kf_fit_forget(fit);
}

/* How many of the oldest leave, by one rule or the other. */
static size_t count_leaving(const keepfit_fit *fit, struct kf_came newest, bool faded)
{
    struct kf_terms terms = kf_terms_of(fit->options);
    size_t points = fit->task.problem.points.count, count = 0;
    for (; count < points; count++) {
        struct kf_came oldest = {kf_fit_arrival(fit, count), kf_fade_time(fit, count)};
        if (faded ? !kf_terms_fade(&terms, oldest, newest) : !kf_terms_end(&terms, points - count, oldest, newest))
            break;
    }
    return count;
}

/* One after the other, or, where there are many, together. */
static bool let_leave(keepfit_fit *fit, size_t count)
{
    bool room = true;
    if (count > ONE_BY_ONE)
        kf_fit_drop_oldest(fit, count);
    for (size_t k = 0; k < count && count <= ONE_BY_ONE && room; k++)
        room = kf_fit_drop(fit, 0);
    return room;
}

bool kf_fade_begin(keepfit_fit *fit, const struct kf_mark *mark)
{
    struct kf_fading *fading = &fit->arrivals.fading;
    const struct kf_came newest = {fit->arrivals.arrived + 1, mark->time};
    double part;
    if (!let_leave(fit, fades(fit) ? count_leaving(fit, newest, true) : 0) ||
        !let_leave(fit, count_leaving(fit, newest, false)))
        return false;
    if (kf_fit_is_timed(fit)) {
        if (!fading->begun)
            fading->origin = mark->time;
        fading->begun = true;
        fading->latest = mark->time;
    }
    double whole = fades(fit) ? whole_half_lives(fit, newest.arrival, newest.time, &part) : 0;
    if (whole - fading->base >= FADE_SPAN)
        move_base(fit, whole);
    return true;
}

bool kf_fade_keep(keepfit_fit *fit, const struct kf_mark *mark, double weight)
{
    return (!fades(fit) || kf_along_append(&fit->arrivals.fading.given, weight)) &&
           (!kf_fit_is_timed(fit) || kf_along_append(&fit->arrivals.fading.times, mark->time));
}

void kf_fade_drop(keepfit_fit *fit, size_t j)
{
    if (fades(fit))
        kf_along_remove(&fit->arrivals.fading.given, j);
    if (kf_fit_is_timed(fit))
        kf_along_remove(&fit->arrivals.fading.times, j);
}

double kf_fade_given(const keepfit_fit *fit, size_t j)
{
    return fades(fit) ? fit->arrivals.fading.given.value[j] : fit->task.problem.points.place[j].weight;
}

double kf_fade_time(const keepfit_fit *fit, size_t j)
{
    return kf_fit_is_timed(fit) ? fit->arrivals.fading.times.value[j] : NAN;
}

/* ---- keeping ---- */

static void archive_times(keepfit_fit *fit, struct kf_archive *archive)
{
    struct kf_along *times = &fit->arrivals.fading.times;
    size_t count = fit->task.problem.points.count;
    kf_archive_require(archive, kf_archive_holds(archive, count) && (!archive->reading || times->count == 0));
    for (size_t j = 0; j < count && archive->status == KEEPFIT_OK; j++) {
        double time = archive->reading ? 0 : times->value[j];
        kf_archive_real(archive, &time);
        if (archive->status == KEEPFIT_OK && archive->reading && !kf_along_append(times, time))
            archive->status = KEEPFIT_NO_MEMORY;
    }
}

/* Reading: what is kept of the weights, from what they came with. */
static void fade_all(keepfit_fit *fit, struct kf_archive *archive)
{
    struct kf_points *points = &fit->task.problem.points;
    const struct kf_fading *fading = &fit->arrivals.fading;
    for (size_t j = 0; j < points->count && archive->status == KEEPFIT_OK; j++) {
        double time = kf_fade_time(fit, j), part, given = points->place[j].weight;
        bool timed = kf_fit_is_timed(fit), fading_time = fit->options->half_life_seconds > 0;
        kf_archive_require(archive, !timed || (isfinite(time) && time <= fading->latest &&
                                               (j == 0 || time >= kf_fade_time(fit, j - 1))));
        kf_archive_require(archive, !fading_time || (time >= fading->origin && fading->begun));
        double whole = fades(fit) && archive->status == KEEPFIT_OK
                           ? whole_half_lives(fit, kf_fit_arrival(fit, j), time, &part) - fading->base
                           : 0;
        kf_archive_require(archive, whole >= -2 * KF_HALF_LIVES && whole <= FADE_SPAN);
        if (archive->status != KEEPFIT_OK || !fades(fit))
            continue;
        points->place[j].weight = kf_fade_weight(fit, given, kf_fit_arrival(fit, j), time);
        if (!kf_along_append(&fit->arrivals.fading.given, given))
            archive->status = KEEPFIT_NO_MEMORY;
    }
}

void kf_fade_archive(keepfit_fit *fit, struct kf_archive *archive, bool inside)
{
    struct kf_fading *fading = &fit->arrivals.fading;
    if (!fades(fit) && !kf_fit_is_timed(fit))
        return;
    kf_archive_flag(archive, &inside);
    kf_archive_flag(archive, &fading->begun);
    kf_archive_real(archive, &fading->base);
    kf_archive_real(archive, &fading->origin);
    kf_archive_real(archive, &fading->latest);
    kf_archive_require(archive, fading->base >= 0 && floor(fading->base) == fading->base && isfinite(fading->base));
    if (kf_fit_is_timed(fit) && inside)
        archive_times(fit, archive);
    size_t times = kf_fit_is_timed(fit) ? fit->task.problem.points.count : 0;
    kf_archive_require(archive, fading->times.count == times);
    if (archive->reading)
        fade_all(fit, archive);
}
