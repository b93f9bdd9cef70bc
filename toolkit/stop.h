/* SIGINT, SIGTERM and SIGHUP (the terminal is gone): what is being done is brought to a good end, everything is written, and
 * the exit code says which came.
 *
 * Signals often come in pairs: `timeout` sends one to the process and one to its group, and a terminal's user is impatient. So
 * those that follow within a second change nothing. If the end takes longer, the first is then acknowledged on standard error,
 * and only a signal after that ends the process at once. */
#ifndef KEEPFIT_TOOLKIT_STOP_H
#define KEEPFIT_TOOLKIT_STOP_H

#include <stdatomic.h>

#include "keepfit.h"

extern atomic_int stop_signal; /* the signal that came; 0: none */

/* From now on. What it returns is raised by the first one; NULL where there was no memory. */
keepfit_stop *stop_watch(void);
int stop_code(void); /* the exit code for it */

#endif
