/* Streams that are made up, beside the rows of generate.c. */
#ifndef KEEPFIT_CLI_GENERATE_H
#define KEEPFIT_CLI_GENERATE_H

#include <stdbool.h>

#include "toolkit/draw.h"

/* What an event log is made of. */
struct log {
    uint64_t rows, seed;
    double noise, drift;
    bool three; /* classes */
};

/* Writes it to standard output. */
void generate_log(const struct log *log);

#endif
