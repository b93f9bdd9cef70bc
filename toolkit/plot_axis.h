/* plot_axis.h - from numbers to positions on the drawing, and the ticks that let a reader go back. */
#ifndef KEEPFIT_TOOLKIT_PLOT_AXIS_H
#define KEEPFIT_TOOLKIT_PLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#define PLOT_TICK_LIMIT 64

/* The label is text, followed by exponent as a superscript when raised is set: "10" and -3. */
struct plot_tick {
    double position;
    bool major;    /* has a grid line */
    bool labelled; /* its label fits beside those of the more important ticks */
    bool raised;
    int exponent;
    char text[32];
};

struct plot_axis {
    bool logarithmic;
    bool clamps;  /* values <= 0 on a logarithmic axis stand at the low end; otherwise they have no position */
    bool clamped; /* such a value was seen */
    bool any;     /* a value was seen that can be drawn at its own place */
    double low;   /* the ends; on a logarithmic axis their log10 */
    double high;
    double from; /* where the ends are on the drawing; from > to is an axis that grows upwards */
    double to;
    size_t tick_count;
    struct plot_tick ticks[PLOT_TICK_LIMIT];
};

/* Start with no values; widen with every value (unusable ones are ignored); then settle the ends once. */
void plot_axis_start(struct plot_axis *axis, bool logarithmic, bool clamps);
void plot_axis_widen(struct plot_axis *axis, double value);
void plot_axis_settle(struct plot_axis *axis);

/* Where a value lies, or NaN where it has no place. Needs from and to. */
double plot_axis_position(const struct plot_axis *axis, double value);

/* Chooses the ticks. Two labels keep this distance: gap, plus per_character for each half label that lies
 * between the two centres (0 for labels stacked above each other). Needs from and to. */
void plot_axis_place_ticks(struct plot_axis *axis, double gap, double per_character);

/* The width of a tick's label in characters of the label's size. */
double plot_tick_width(const struct plot_tick *tick);

#endif
