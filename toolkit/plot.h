/* plot.h - one line chart as SVG, small enough to mail and readable in light, dark, print and on a phone. */
#ifndef KEEPFIT_TOOLKIT_PLOT_H
#define KEEPFIT_TOOLKIT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One line. x ascends. A NaN or infinite x or y breaks the line, and so does x <= 0 on a logarithmic axis;
 * y <= 0 on a logarithmic axis is drawn at the bottom edge, and the axis says so. */
struct plot_series {
    const char *name;
    size_t count; /* 0: listed in the legend as having no data */
    const double *x;
    const double *y;
    const double *low; /* a band around the line; low and high may both be NULL */
    const double *high;
};

struct plot {
    const char *title;
    const char *x_label;
    const char *y_label;
    bool log_x;
    bool log_y;
    size_t count;
    const struct plot_series *series;
    double reference; /* a horizontal line such as epsilon; NaN, or <= 0 on a logarithmic axis: none */
    const char *reference_label;
    const char *caption; /* one sentence on how to read the chart; may be NULL */
};

/* standalone: a complete SVG file with the title drawn and its own colours, which follow the reader's light
 * or dark preference. Otherwise an inline <svg> for a page that carries plot_write_style in its <style>; the
 * title is then left to the page. Returns false when writing failed. */
bool plot_write(FILE *out, const struct plot *plot, bool standalone);

/* A standalone file, complete or not there at all. Returns an exit code. */
int plot_save(const struct plot *plot, const char *path);

/* The CSS that inline plots need: the colours as variables on :root (--plot-paper, --plot-ink, --plot-grid,
 * ..., with their dark values) and the rules that use them. */
void plot_write_style(FILE *out);

#endif
