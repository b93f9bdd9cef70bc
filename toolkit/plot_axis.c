/* plot_axis.c - ranges and ticks.
 *
 * Ends are kept in the axis's own measure: the value, or its log10. A position is then linear in that
 * measure. Differences are taken of halves, because the distance from -1e308 to 1e308 is no double.
 *
 * A logarithmic axis shows at least one decade, so that a power of ten or a 2 or 5 is always in sight. When
 * a value <= 0 was seen (a gap lost in rounding), its low end is the power of ten below the smallest positive
 * value, and the tick there reads "<= 0".
 *
 * Labels are given out by importance: a label that would touch one already given is dropped.
 */
#include "toolkit/plot_axis.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

/* Shown when there is nothing positive to show: the size of rounding errors. */
static const double floor_exponent = -17;

static const double padding = 0.03;

static const double margin = 15;

static const char times_ten[] = "\xC2\xB7" /* a raised dot */ "10";

void plot_axis_start(struct plot_axis *axis, bool logarithmic, bool clamps)
{
    *axis = (struct plot_axis){.logarithmic = logarithmic, .clamps = clamps, .low = INFINITY, .high = -INFINITY};
}

void plot_axis_widen(struct plot_axis *axis, double value)
{
    if (!isfinite(value))
        return;
    if (axis->logarithmic && value <= 0) {
        axis->clamped = axis->clamps || axis->clamped;
        return;
    }
    double measure = axis->logarithmic ? log10(value) : value;
    axis->low = fmin(axis->low, measure);
    axis->high = fmax(axis->high, measure);
    axis->any = true;
}

static void settle_logarithmic(struct plot_axis *axis)
{
    if (!axis->any)
        axis->low = axis->high = axis->clamped ? floor_exponent : 0;
    double lowest = axis->low;
    double pad = fmax(padding * (axis->high - axis->low), (1 - (axis->high - axis->low)) / 2);
    axis->low -= pad;
    axis->high += pad;
    if (axis->clamped) {
        /* Below the lowest by a visible distance, so that "lost in rounding" is not mistaken for a value. */
        axis->low = fmin(floor(lowest - 0.5), lowest - 0.08 * (axis->high - axis->low));
    }
}

static void settle_linear(struct plot_axis *axis)
{
    if (!axis->any)
        axis->low = axis->high = 0;
    double size = fmax(fabs(axis->low), fabs(axis->high));
    double half_span = axis->high / 2 - axis->low / 2;
    double pad = 2 * padding * half_span;
    /* Equal up to rounding: ticks could not tell the values apart. */
    if (size < 1e-290)
        pad = 1;
    else if (half_span < 1e-10 * size)
        pad = size / 10;
    axis->low = fmax(axis->low - pad, -DBL_MAX);
    axis->high = fmin(axis->high + pad, DBL_MAX);
}

void plot_axis_settle(struct plot_axis *axis)
{
    if (axis->logarithmic)
        settle_logarithmic(axis);
    else
        settle_linear(axis);
    assert(axis->low < axis->high);
}

static double measure_position(const struct plot_axis *axis, double measure)
{
    double fraction = (measure / 2 - axis->low / 2) / (axis->high / 2 - axis->low / 2);
    return axis->from + fraction * (axis->to - axis->from);
}

double plot_axis_position(const struct plot_axis *axis, double value)
{
    if (!isfinite(value))
        return NAN;
    if (!axis->logarithmic)
        return measure_position(axis, value);
    if (value <= 0)
        return axis->clamps ? axis->from : NAN;
    return measure_position(axis, log10(value));
}

/* NULL when the table is full. */
static struct plot_tick *add_tick(struct plot_axis *axis, double measure, bool major)
{
    if (axis->tick_count == PLOT_TICK_LIMIT)
        return NULL;
    struct plot_tick *tick = &axis->ticks[axis->tick_count++];
    *tick = (struct plot_tick){.position = measure_position(axis, measure), .major = major};
    return tick;
}

/* The label factor * 10^exponent; plain: written out. */
static void name_logarithmic(struct plot_tick *tick, int factor, int exponent, bool plain)
{
    if (tick == NULL)
        return;
    if (plain) {
        snprintf(tick->text, sizeof tick->text, "%.*f", exponent < 0 ? -exponent : 0, factor * pow(10, exponent));
        return;
    }
    tick->raised = true;
    tick->exponent = exponent;
    if (factor == 1)
        snprintf(tick->text, sizeof tick->text, "10");
    else
        snprintf(tick->text, sizeof tick->text, "%d%s", factor, times_ten);
}

/* Between powers of ten: 2 and 5 want labels, the others are strokes. */
static void place_between(struct plot_axis *axis, int exponent, bool plain)
{
    for (int factor = 2; factor <= 9; factor++) {
        double measure = exponent + log10(factor);
        if (measure < axis->low || measure > axis->high)
            continue;
        struct plot_tick *tick = add_tick(axis, measure, false);
        if (factor == 2 || factor == 5)
            name_logarithmic(tick, factor, exponent, plain);
    }
}

static void place_logarithmic(struct plot_axis *axis)
{
    static const int steps[] = {1, 2, 3, 5, 10, 20, 50, 100};
    const size_t step_count = sizeof steps / sizeof steps[0];
    double span = axis->high - axis->low;
    size_t choice = 0;
    while (choice + 1 < step_count && span / steps[choice] > 9)
        choice++;
    bool plain = axis->low > -2.5 && axis->high < 5.5;
    /* A little more than two decades, because of the padding. */
    bool fine = span <= 2.2;
    if (axis->clamped) {
        struct plot_tick *tick = add_tick(axis, axis->low, false);
        snprintf(tick->text, sizeof tick->text, "\xE2\x89\xA4 0");
    }
    for (int exponent = (int)floor(axis->low); exponent <= (int)floor(axis->high); exponent++) {
        if (exponent >= axis->low && !(axis->clamped && exponent == axis->low)) {
            bool major = exponent % steps[choice] == 0;
            if (major)
                name_logarithmic(add_tick(axis, exponent, true), 1, exponent, plain);
            else if (span <= 40)
                add_tick(axis, exponent, false);
        }
        if (fine)
            place_between(axis, exponent, plain);
    }
}

/* The largest of 1, 2, 5 times a power of ten that is not above what is given. */
static double round_step(double step)
{
    double power = pow(10, floor(log10(step)));
    double ratio = step / power;
    return (ratio >= 5 ? 5 : ratio >= 2 ? 2 : 1) * power;
}

static void place_linear(struct plot_axis *axis)
{
    double step = round_step((axis->high / 2 - axis->low / 2) * 0.4);
    double size = fmax(fabs(axis->low), fabs(axis->high));
    int step_exponent = (int)floor(log10(step) + 1e-9);
    int size_exponent = (int)floor(log10(size));
    /* Very large or small numbers share the largest power of ten, unless that makes them longer. */
    bool share = step < 1e-4 || size >= 1e15 || (size >= 1e6 && size_exponent - step_exponent < 4);
    int shared = share ? size_exponent : 0;
    int decimals = shared - step_exponent;
    decimals = decimals < 0 ? 0 : decimals > 12 ? 12 : decimals;
    double last = floor(axis->high / step + 1e-9);
    for (double k = ceil(axis->low / step - 1e-9); k <= last; k++) {
        struct plot_tick *tick = add_tick(axis, k * step, true);
        if (tick == NULL)
            return;
        tick->raised = shared != 0 && k != 0;
        tick->exponent = shared;
        if (k == 0)
            snprintf(tick->text, sizeof tick->text, "0");
        else
            snprintf(tick->text, sizeof tick->text, "%.*f%s", decimals, k * step / pow(10, shared),
                     tick->raised ? times_ten : "");
    }
}

double plot_tick_width(const struct plot_tick *tick)
{
    char exponent[16];
    size_t length = 0;
    for (const char *byte = tick->text; *byte != '\0'; byte++)
        length += ((unsigned char)*byte & 0xC0) != 0x80;
    if (!tick->raised)
        return (double)length;
    return (double)length + 0.72 * snprintf(exponent, sizeof exponent, "%d", tick->exponent);
}

static bool label_fits(const struct plot_axis *axis, const struct plot_tick *tick, double gap, double per_character)
{
    /* At the far end there is only the margin to reach into. */
    if (per_character > 0 && tick->position + per_character * plot_tick_width(tick) / 2 > axis->to + margin)
        return false;
    for (size_t i = 0; i < axis->tick_count; i++) {
        const struct plot_tick *other = &axis->ticks[i];
        double halves = (plot_tick_width(tick) + plot_tick_width(other)) / 2;
        if (other->labelled && fabs(other->position - tick->position) < gap + per_character * halves)
            return false;
    }
    return true;
}

void plot_axis_place_ticks(struct plot_axis *axis, double gap, double per_character)
{
    axis->tick_count = 0;
    if (axis->logarithmic)
        place_logarithmic(axis);
    else
        place_linear(axis);
    /* The tick for "<= 0" is the first of all and no grid line; it goes before the powers of ten. */
    if (axis->clamped)
        axis->ticks[0].labelled = true;
    for (int important = 1; important >= 0; important--) {
        for (size_t i = 0; i < axis->tick_count; i++) {
            struct plot_tick *tick = &axis->ticks[i];
            if (tick->major == (important == 1) && !tick->labelled && tick->text[0] != '\0')
                tick->labelled = label_fits(axis, tick, gap, per_character);
        }
    }
}
