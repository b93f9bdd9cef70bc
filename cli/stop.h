/* SIGINT and SIGTERM: what is being done is brought to a good end, everything is written, and the exit code tells. A second
 * signal ends the process at once. */
#ifndef KEEPFIT_CLI_STOP_H
#define KEEPFIT_CLI_STOP_H

extern volatile int stop_signal; /* the signal that came; 0: none */

void stop_watch(void);
int stop_code(void); /* the exit code for it */

#endif
