/* plot_thin.h - a series as the few vertices that a drawing can show. */
#ifndef KEEPFIT_TOOLKIT_PLOT_THIN_H
#define KEEPFIT_TOOLKIT_PLOT_THIN_H

#include "toolkit/plot.h"
#include "toolkit/plot_axis.h"

#define PLOT_VERTEX_LIMIT 400

/* On the drawing. A line has low == high == y. */
struct plot_vertex {
    double x;
    double low;
    double high;
    bool starts; /* not joined to the vertex before */
};

/* Both return the number of vertices, at most PLOT_VERTEX_LIMIT. Without a band there are none. */
size_t plot_thin_line(const struct plot_series *series, const struct plot_axis *x, const struct plot_axis *y,
                      struct plot_vertex *vertices);
size_t plot_thin_band(const struct plot_series *series, const struct plot_axis *x, const struct plot_axis *y,
                      struct plot_vertex *vertices);

#endif
