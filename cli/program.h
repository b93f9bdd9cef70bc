/* The command as a function: what `keepfit` and `keepfit-mpi` run. */
#ifndef KEEPFIT_CLI_PROGRAM_H
#define KEEPFIT_CLI_PROGRAM_H

#include "toolkit/exit_code.h"

/* Returns the exit code; standard output has been flushed. */
int program_run(int count, char **words);

#endif
