/* frame.h - numbers in named columns: what a unit of work leaves behind.
 *
 * As a file it is CSV that any program reads, with lines of comment around it:
 *
 *     # keepfit 1.0.0: ridge german.numer csvrg seed 3 ...    the key: all that the numbers depend on
 *     stage,fo,gap
 *     1,35,0.25                                               numbers that read back exactly; nan where there is none
 *     # 1 row                                                 shows that nothing is missing
 */
#ifndef KEEPFIT_FRAME_H
#define KEEPFIT_FRAME_H

#include <stdbool.h>
#include <stddef.h>

struct frame {
    const char *columns; /* "stage,fo,gap" */
    size_t width, rows, room;
    double *cells;
};

/* columns must outlive the frame. */
void frame_start(struct frame *frame, const char *columns);
void frame_add(struct frame *frame, const double *row);
void frame_free(struct frame *frame);

static inline double frame_at(const struct frame *frame, size_t row, size_t column)
{
    return frame->cells[row * frame->width + column];
}

/* Returns an exit code. */
int frame_write(const struct frame *frame, const char *key, const char *path);
/* Whether the file is there, whole, and has this key and these columns. */
bool frame_read(struct frame *frame, const char *columns, const char *key, const char *path);

#endif
