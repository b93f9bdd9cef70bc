/* reproduce.h - the paper's evaluation as one call. */
#ifndef KEEPFIT_EXPERIMENTS_REPRODUCE_H
#define KEEPFIT_EXPERIMENTS_REPRODUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is asked for. */
struct reproduction {
    const char *word; /* an experiment's name, or "all" */
    const char *data; /* folder of the paper's data sets; NULL: made-up data takes their place */
    const char *out;  /* folder of everything that is written */
    bool quick, quiet;
    uint64_t seed;
    size_t threads; /* 0: as many as there are processors */
};

/* Does the work that is not done yet and writes the report. Returns an exit code. */
int reproduce(const struct reproduction *wanted);

#endif
