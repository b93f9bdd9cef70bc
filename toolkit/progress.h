/* Progress on standard error: a bar that is redrawn on a terminal, otherwise a line each time the stage doubles. Nothing
 * in the first second, so that short runs stay silent. */
#ifndef KEEPFIT_TOOLKIT_PROGRESS_H
#define KEEPFIT_TOOLKIT_PROGRESS_H

#include <stdbool.h>

#include "keepfit.h"

struct progress {
    bool off, terminal, drawn;
    double start, redraw;
    uint64_t next_line;
};

void progress_start(struct progress *progress, bool off);
/* share: of the whole, 0 .. 1, or negative when unknown. */
void progress_show(struct progress *progress, const keepfit_report *report, double share);
/* For work without stages: "what: 40%, 1:20 left", now and then. */
void progress_share(struct progress *progress, const char *what, double share);
/* Removes the bar. */
void progress_end(struct progress *progress);
/* Whether a call of progress_show now would print: spares the caller the report. */
bool progress_due(const struct progress *progress, uint64_t stage);

double seconds_now(void);

#endif
