/* exit_code.h - how a program of ours ends. Functions that return an exit code have printed their message where it is not
 * EXIT_DONE. */
#ifndef KEEPFIT_TOOLKIT_EXIT_CODE_H
#define KEEPFIT_TOOLKIT_EXIT_CODE_H

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_DATA = 3,
    EXIT_CORRUPT = 4,
    EXIT_NOT_REACHED = 5,
    EXIT_HUNG_UP = 129,
    EXIT_INTERRUPTED = 130,
    EXIT_TERMINATED = 143
};

#endif
