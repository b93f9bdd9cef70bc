/* plot_text.h - text inside SVG and HTML: names and messages must not break the page. */
#ifndef KEEPFIT_TOOLKIT_PLOT_TEXT_H
#define KEEPFIT_TOOLKIT_PLOT_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Writes text with markup characters escaped, fit for element content and for quoted attributes. Bytes that
 * are no UTF-8, and characters that XML forbids, become U+FFFD. NULL writes nothing. */
void plot_text_write(FILE *out, const char *text);

/* The same, cut to at most limit characters; where something was cut, the last of them is an ellipsis. */
void plot_text_write_cut(FILE *out, const char *text, size_t limit);

/* The number of characters (not bytes) that plot_text_write writes, an escaped one counted once. */
size_t plot_text_length(const char *text);

#endif
