/* plot_style.h - colours, dashes and markers of a chart. */
#ifndef KEEPFIT_TOOLKIT_PLOT_STYLE_H
#define KEEPFIT_TOOLKIT_PLOT_STYLE_H

#include <stddef.h>
#include <stdio.h>

/* The CSS for a file of its own: colours spelled out, which also viewers without CSS variables understand. */
void plot_style_write_literal(FILE *out);

/* What distinguishes series, which are counted from 0. The class picks the colour, and the other two do so without colour. */
size_t plot_style_class(size_t series);
const char *plot_style_dashes(size_t series); /* a stroke-dasharray */
const char *plot_style_marker(size_t series); /* path commands relative to the marker's centre */

#endif
