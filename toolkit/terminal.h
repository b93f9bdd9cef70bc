/* How wide the reader's screen is. */
#ifndef KEEPFIT_TOOLKIT_TERMINAL_H
#define KEEPFIT_TOOLKIT_TERMINAL_H

#include <stddef.h>

/* Columns of the terminal that the descriptor is, or of the variable COLUMNS; where neither is known, `otherwise`. */
size_t terminal_width(int descriptor, size_t otherwise);

#endif
