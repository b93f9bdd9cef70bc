#include "fit/centre.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fit/durable.h"
#include "objective/rounding.h"

/* A column is centred once its condition number beside the intercept's is above this, as far as its values show. */
#define FAR 0x1p30 /* proof: "Theorem 15 (columns far from 0)" */
/* With --standardise, where columns are to be easy for methods of first order, too: four times as far from 0 as it is wide. */
#define FAR_IN_SPREADS                                                                                                 \
    0x1p4 /* safety: any value does; values are within a factor of 2 of such a centre, so it is exact */
/* Twice lambda over the smallest curvature bound, that of logistic: what the regulariser adds to the variance. */
#define HELD 8.0 /* proof: "Theorem 15 (columns far from 0)" */

static bool suits(const keepfit_fit *fit)
{
    const struct kf_objective *objective = &fit->task.problem.objective;
    return objective->free && objective->loss && !objective->hidden;
}

/* ---- sums that lose nothing that matters ---- */

/* A number of twice the format's digits, and the sizes of what went into it. */
struct wide {
    double high, low, size;
    size_t terms;
};

static void wide_add(struct wide *sum, double a)
{
    double high = sum->high + a, part = high - sum->high;
    sum->low += (sum->high - (high - part)) + (a - part);
    sum->high = high;
    sum->size += fabs(a);
    sum->terms++;
}

static void wide_add_product(struct wide *sum, double a, double b)
{
    double product = a * b;
    wide_add(sum, product);
    wide_add(sum, fma(a, b, -product));
}

/* What rounding to high + low may be off by: that, and what the sum of the low parts lost. */
static double wide_error(const struct wide *sum, double rounded)
{
    double terms = (double)sum->terms;
    return fabs((sum->high - rounded) + sum->low) + terms * terms * DBL_EPSILON * DBL_EPSILON * sum->size;
}

/* Of rows as they came. */
static double weight_of(const struct kf_centres *centres, const double *x, size_t outputs, uint32_t column, size_t k)
{
    return x[kf_slot_behind_lead(column) * outputs + k] / kf_centres_scale(centres, column);
}

/* b_k + sign w_k.c */
static struct wide shifted(const struct kf_centres *centres, const double *x, size_t outputs, size_t k, double sign)
{
    struct wide sum = {0};
    wide_add(&sum, x[k]);
    for (size_t c = 0; c < centres->count; c++)
        wide_add_product(&sum, weight_of(centres, x, outputs, centres->at[c].column, k), sign * centres->at[c].value);
    return sum;
}

const double *kf_centre_read_x(keepfit_fit *fit)
{
    const struct kf_task *task = &fit->task;
    size_t outputs = task->problem.objective.outputs;
    const struct kf_centres *centres = &fit->centring.centres;
    if (!kf_centres_change(centres))
        return task->iterate.x;
    kf_copy(&task->problem, fit->centring.given_x, task->iterate.x);
    for (size_t k = 0; k < outputs; k++) {
        struct wide sum = shifted(&fit->centring.centres, task->iterate.x, outputs, k, -1);
        fit->centring.given_x[k] = sum.high + sum.low;
    }
    for (size_t column = 0; column < centres->scales && column < fit->meaning.features; column++)
        for (size_t k = 0; k < outputs; k++)
            fit->centring.given_x[kf_slot_behind_lead((uint32_t)column) * outputs + k] =
                weight_of(centres, task->iterate.x, outputs, (uint32_t)column, k);
    return fit->centring.given_x;
}

/* In a domain the gradient in the weight of a bias, which is a part of x, may be anything at the optimum: by how much the losses and the
 * regulariser change at most where scores change by `error`. */
static double more_in_domain(const struct kf_objective *objective, const double *x, double error, double size,
                             double lead)
{
    double score = (kf_score_most(objective, x) + error) * KF_UPWARD, move = error / fabs(lead);
    double slope = objective->loss->slope_bound(score, objective->target_most, objective->delta);
    return slope * error + objective->lambda * (2 * size + move) * move;
}

double kf_centre_bound(keepfit_fit *fit, double bound)
{
    const struct kf_objective *objective = &fit->task.problem.objective;
    size_t outputs = objective->outputs;
    double square = 0, lead = fit->meaning.lead.constant, size = 0;
    bool biased = fit->meaning.lead.there && lead != 1;
    if (!(kf_centres_change(&fit->centring.centres) || biased) || !isfinite(bound))
        return bound;
    const double *x = kf_read(&fit->task);
    for (size_t k = 0; k < outputs; k++) {
        struct wide sum = shifted(&fit->centring.centres, x, outputs, k, -1);
        double error = wide_error(&sum, sum.high + sum.low) + (biased ? DBL_EPSILON * fabs(lead * x[k]) : 0);
        if (fit->centring.centres.scales) /* weights that underflow in the unit of the rows as they came */
            error += KF_UNDERFLOW * (double)objective->slots * (1 + objective->row_most);
        square += error * error;
        size += x[k] * x[k];
    }
    double bend = objective->loss->curve_bound(objective->delta);
    if (biased)
        bend += 2 * objective->lambda / (lead * lead); /* the weight of the constant is regularised */
    assert(bound >= 0 && !(square < 0));
    double more = sqrt(2 * bend * bound * square) + bend * square / 2;
    if (biased && !kf_domain_is_whole(&fit->task.problem.domain))
        more = more_in_domain(objective, x, sqrt(square), sqrt(size), lead);
    return (bound + more * (1 + 16 * DBL_EPSILON)) * (1 + 2 * DBL_EPSILON);
}

/* ---- from some centres to others ---- */

/* Rows as they are with these centres. INEXACT: *column cannot be one of them. What was kept stays until all is there. */
static enum kf_centred rewrite_rows(keepfit_fit *fit, struct kf_centres *next, uint32_t *column)
{
    struct kf_points *points = &fit->task.problem.points;
    struct kf_points made = {.far = points->far, .fetches = points->fetches};
    enum kf_centred outcome = KF_CENTRED;
    for (size_t j = 0; j < points->count && outcome == KF_CENTRED; j++) {
        const struct kf_place *place = &points->place[j];
        keepfit_point point = {.target = place->target, .weight = place->weight};
        struct kf_centred_row centred;
        keepfit_row row;
        outcome = kf_centres_undo(&fit->centring.centres, points, j, &row)
                      ? kf_centres_apply(next, &row, &centred, column)
                      : KF_CENTRED_MEMORY;
        if (outcome != KF_CENTRED)
            break;
        point.row = centred.row;
        made.arrived = kf_fit_arrival(fit, j) - 1;
        if (kf_points_append(&made, &point, &fit->meaning.lead))
            made.place[j].filled = centred.filled;
        else
            outcome = KF_CENTRED_MEMORY;
    }
    if (outcome != KF_CENTRED) {
        kf_points_free(&made);
        return outcome;
    }
    made.arrived = points->arrived;
    kf_points_free(points);
    *points = made;
    assert(fit->task.problem.objective.points == points);
    if (fit->durable)
        kf_durable_start_segment(fit); /* these rows stay in memory */
    return outcome;
}

static void leave_out(struct kf_centres *centres, uint32_t column)
{
    size_t kept = 0;
    for (size_t k = 0; k < centres->count; k++)
        if (centres->at[k].column != column)
            centres->at[kept++] = centres->at[k];
    centres->count = kept;
    if (column < centres->scales)
        centres->scale[column] = 1;
}

/* As many as can be: points of weight 0, which have no say, may stand in the way. False: out of memory. */
static bool adopt_rows(keepfit_fit *fit, struct kf_centres *next)
{
    uint32_t column = 0;
    enum kf_centred outcome;
    if (!fit->centring.given_x && !kf_task_vector(&fit->task, &fit->centring.given_x))
        return false;
    while ((outcome = rewrite_rows(fit, next, &column)) == KF_CENTRED_INEXACT)
        leave_out(next, column);
    return outcome == KF_CENTRED;
}

/* Intercepts and weights that belong to rows with these centres and scales. */
static void convert(const keepfit_fit *fit, const struct kf_centres *next, double *x)
{
    const struct kf_centres *now = &fit->centring.centres;
    size_t outputs = fit->task.problem.objective.outputs, slots = fit->task.problem.objective.slots;
    size_t scales = now->scales > next->scales ? now->scales : next->scales;
    for (size_t k = 0; k < outputs; k++) {
        struct wide sum = shifted(now, x, outputs, k, -1);
        for (size_t column = 0; column < scales && column + 1 < slots; column++)
            x[kf_slot_behind_lead((uint32_t)column) * outputs + k] =
                weight_of(now, x, outputs, (uint32_t)column, k) * kf_centres_scale(next, (uint32_t)column);
        struct wide more = shifted(next, x, outputs, k, 1);
        wide_add(&sum, -x[k]);
        wide_add(&sum, more.high);
        x[k] = sum.high + (sum.low + more.low);
    }
}

/* The rows, x, and all that was made of them are another's. Takes what `next` owns. */
static bool adopt(keepfit_fit *fit, struct kf_centres *next)
{
    struct kf_task *task = &fit->task;
    if (!adopt_rows(fit, next)) {
        kf_centres_free(next);
        return false;
    }
    kf_read(task);
    convert(fit, next, task->iterate.x);
    if (fit->measured.x)
        convert(fit, next, fit->measured.x);
    kf_load(task);
    kf_centres_free(&fit->centring.centres);
    fit->centring.centres = *next;
    kf_fit_compute_constants(fit);
    kf_fit_forget(fit);
    return true;
}

/* The centres without one. */
static bool give_up(keepfit_fit *fit, uint32_t column)
{
    struct kf_centres next = {0};
    bool room = true;
    for (size_t k = 0; k < fit->centring.centres.count && room; k++)
        if (fit->centring.centres.at[k].column != column)
            room = kf_centres_add(&next, fit->centring.centres.at[k].column, fit->centring.centres.at[k].value);
    room = room && kf_scales_copy(&next, &fit->centring.centres);
    if (column < next.scales)
        next.scale[column] = 1;
    if (room)
        return adopt(fit, &next);
    kf_centres_free(&next);
    return false;
}

bool kf_centre_row(keepfit_fit *fit, const keepfit_row *row, struct kf_centred_row *centred)
{
    enum kf_centred outcome;
    uint32_t column = 0;
    *centred = (struct kf_centred_row){.row = *row};
    while (kf_centres_change(&fit->centring.centres) &&
           (outcome = kf_centres_apply(&fit->centring.centres, row, centred, &column)) != KF_CENTRED) {
        *centred = (struct kf_centred_row){.row = *row};
        if (outcome == KF_CENTRED_MEMORY || !give_up(fit, column))
            return false;
    }
    return true;
}

bool kf_centre_read_row(keepfit_fit *fit, size_t j, keepfit_row *row)
{
    const struct kf_points *points = &fit->task.problem.points;
    if (kf_centres_change(&fit->centring.centres))
        return kf_centres_undo(&fit->centring.centres, points, j, row);
    keepfit_row kept = kf_points_row(points, j);
    bool moved = kept.index && kf_lead_width(&fit->meaning.lead);
    if (moved && !KF_RESERVE(fit->last_row.indices, fit->last_row.capacity, kept.count))
        return false;
    *row = kf_lead_strip(&fit->meaning.lead, &kept, fit->last_row.indices);
    return true;
}

/* ---- looking ---- */

/* A column that may have to be centred, or is, and where its values lie as they are kept, in points that count. */
struct range {
    struct kf_centre now; /* 0: none */
    double scale;
    double low, high;
    size_t there, missing;
};

struct ranges {
    size_t count, capacity;
    struct range *at;
};

/* The square of how finely values are to be kept apart: by how they vary, or by what the regulariser leaves of that. */
static double fineness(const keepfit_fit *fit, double extent, double scale)
{
    return extent * extent + HELD * fit->task.problem.objective.lambda * scale * scale;
}

/* Whether [1, column] is singular, nearly, for values of this size that vary by so much. */
static bool is_far_by(const keepfit_fit *fit, double size, double extent, double scale, double far)
{
    double fine = fineness(fit, extent, scale);
    return fine > 0 && size * size > far * fine;
}

static bool is_far(const keepfit_fit *fit, double size, double extent, double scale)
{
    return is_far_by(fit, size, extent, scale, fit->options->standardise ? FAR_IN_SPREADS : FAR);
}

static bool begin_range(struct ranges *ranges, struct kf_centre now, double scale)
{
    if (!KF_RESERVE(ranges->at, ranges->capacity, ranges->count + 1))
        return false;
    ranges->at[ranges->count++] = (struct range){.now = now, .scale = scale, .low = INFINITY, .high = -INFINITY};
    return true;
}

/* All that are centred, and those that one row does not rule out, ascending. */
static bool begin(const keepfit_fit *fit, size_t j, struct ranges *ranges)
{
    keepfit_row row = kf_points_row(&fit->task.problem.points, j);
    const struct kf_centre *next = fit->centring.centres.at, *end = next + fit->centring.centres.count;
    bool room = true;
    for (size_t k = 1; k < row.count && room; k++) { /* a centred column has an entry in every row */
        uint32_t column = (row.index ? row.index[k] : (uint32_t)k) - 1;
        double scale = kf_centres_scale(&fit->centring.centres, column);
        if (next < end && next->column == column)
            room = begin_range(ranges, *next++, scale);
        else if (is_far(fit, row.value[k] * scale, 0, scale))
            room = begin_range(ranges, (struct kf_centre){column, 0}, scale);
    }
    return room;
}

/* Point j's share; columns that are not far any more, and will not be, are dropped. */
static void narrow(const keepfit_fit *fit, struct ranges *ranges, size_t j)
{
    size_t kept = 0;
    for (size_t k = 0; k < ranges->count; k++) {
        struct range range = ranges->at[k];
        struct kf_cell cell = kf_centres_cell(&fit->task.problem.points, j, range.now, range.scale);
        range.there += cell.came;
        range.missing += !cell.came;
        if (cell.came || range.now.value == 0) {
            range.low = fmin(range.low, cell.value);
            range.high = fmax(range.high, cell.value);
        }
        double extent = range.high - range.low;
        if (range.now.value != 0 || is_far(fit, fmax(fabs(range.low), fabs(range.high)), extent, range.scale))
            ranges->at[kept++] = range;
    }
    ranges->count = kept;
}

/* A number near the middle with few digits, so that values from afar can be subtracted from it as well. */
static double choose(const keepfit_fit *fit, const struct range *range)
{
    int exponent;
    double extent = range->high - range->low, middle = range->now.value + (range->low + extent / 2);
    frexp(sqrt(fineness(fit, extent, range->scale)), &exponent);
    double steps = ldexp(middle, 1 - exponent);
    return fabs(steps) < 0x1p52 ? ldexp(rint(steps), exponent - 1) : middle;
}

/* The column's centre from now on; 0: none. */
static double decide(const keepfit_fit *fit, const struct range *range)
{
    double extent = range->high - range->low, middle = fabs(range->low + extent / 2);
    if (range->now.value != 0 && range->missing >= range->there && range->missing)
        return 0; /* filling so many rows costs more than it is worth */
    return range->there && is_far(fit, middle, extent, range->scale) ? choose(fit, range) : range->now.value;
}

/* The newest point that counts, or as many as there are: none. */
static size_t newest_that_counts(const struct kf_points *points)
{
    for (size_t j = points->count; j-- > 0;)
        if (points->place[j].weight > 0)
            return j;
    return points->count;
}

/* Centres for what the points are now. */
static bool look(keepfit_fit *fit)
{
    const struct kf_points *points = &fit->task.problem.points;
    struct ranges ranges = {0};
    struct kf_centres next = {0};
    size_t newest = newest_that_counts(points);
    bool changes = false, room = newest == points->count || begin(fit, newest, &ranges);
    for (size_t j = 0; j < points->count && ranges.count; j++)
        if (points->place[j].weight > 0)
            narrow(fit, &ranges, j);
    for (size_t k = 0; k < ranges.count && room; k++) {
        double centre = decide(fit, &ranges.at[k]);
        changes |= centre != ranges.at[k].now.value;
        room = centre == 0 || kf_centres_add(&next, ranges.at[k].now.column, centre);
    }
    free(ranges.at);
    room = room && (fit->options->standardise ? kf_scales_find(fit, &next, &changes) : true);
    if (room && changes)
        return adopt(fit, &next);
    kf_centres_free(&next);
    return room;
}

/* The largest power of two that is at most `count`. */
static uint64_t stride(uint64_t count)
{
    uint64_t power = 1;
    while (power <= count / 2)
        power *= 2;
    return power;
}

void kf_centre_leaves(keepfit_fit *fit, size_t j)
{
    const struct kf_points *points = &fit->task.problem.points;
    keepfit_row newest = kf_points_row(points, points->count - 1);
    for (size_t k = 1; suits(fit) && k < newest.count && !fit->centring.look_due; k++)
        if (is_far_by(fit, newest.value[k], 0, 1, FAR)) { /* in the column's unit, as what is compared with it */
            uint32_t column = (newest.index ? newest.index[k] : (uint32_t)k) - 1;
            double other = kf_centres_cell(points, j, (struct kf_centre){column, 0}, 1).value;
            fit->centring.look_due = !is_far_by(fit, newest.value[k], other - newest.value[k], 1, FAR);
        }
}

bool kf_centre_arrived(keepfit_fit *fit)
{
    bool due = fit->centring.look_due || fit->arrivals.arrived % stride(fit->task.problem.points.count) == 0;
    fit->centring.look_due = false;
    return !suits(fit) || !due || look(fit);
}

bool kf_centre_removed(keepfit_fit *fit, uint64_t count)
{
    uint64_t present = fit->task.problem.points.count, left = fit->arrivals.arrived - present, each = stride(present);
    bool due = fit->centring.look_due || left / each != (left - count) / each;
    fit->centring.look_due = false;
    return !suits(fit) || !due || look(fit);
}

/* ---- keeping ---- */

static void archive_column(struct kf_archive *archive, uint32_t *column, size_t most)
{
    size_t number = *column;
    kf_archive_count(archive, &number, most);
    *column = (uint32_t)number;
}

/* The centres themselves, read into `next`. */
static void archive_centres(const keepfit_fit *fit, struct kf_archive *archive, struct kf_centres *next, size_t most)
{
    size_t count = fit->centring.centres.count;
    kf_archive_count(archive, &count, most + 1);
    kf_archive_require(archive, !archive->reading || kf_archive_holds(archive, count));
    for (size_t k = 0; k < count && archive->status == KEEPFIT_OK; k++) {
        struct kf_centre centre = archive->reading ? (struct kf_centre){0} : fit->centring.centres.at[k];
        archive_column(archive, &centre.column, most);
        kf_archive_real(archive, &centre.value);
        bool ascends = k == 0 || !archive->reading || centre.column > next->at[k - 1].column;
        kf_archive_require(archive, ascends && isfinite(centre.value) && centre.value != 0);
        if (archive->status == KEEPFIT_OK && archive->reading && !kf_centres_add(next, centre.column, centre.value))
            archive->status = KEEPFIT_NO_MEMORY;
    }
}

void kf_centre_archive(keepfit_fit *fit, struct kf_archive *archive)
{
    size_t slots = fit->task.problem.objective.slots, most = slots > 1 ? slots - 2 : 0;
    struct kf_centres next = {0};
    uint32_t column;
    archive_centres(fit, archive, &next, most);
    if (fit->options->standardise)
        kf_scales_archive(fit, archive, &next, most);
    kf_archive_require(archive, next.count == 0 || (suits(fit) && slots > 1));
    if (!archive->reading || archive->status != KEEPFIT_OK || !kf_centres_change(&next)) {
        kf_centres_free(&next);
        return;
    }
    bool room = fit->centring.given_x || kf_task_vector(&fit->task, &fit->centring.given_x);
    enum kf_centred outcome = room ? rewrite_rows(fit, &next, &column) : KF_CENTRED_MEMORY;
    kf_archive_require(archive, outcome != KF_CENTRED_INEXACT);
    if (outcome == KF_CENTRED_MEMORY)
        archive->status = KEEPFIT_NO_MEMORY;
    struct kf_centres *of_no_use = outcome == KF_CENTRED ? &fit->centring.centres : &next;
    kf_centres_free(of_no_use);
    if (outcome == KF_CENTRED)
        fit->centring.centres = next;
}
