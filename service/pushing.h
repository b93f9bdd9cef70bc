/* keepfit push and keepfit ask: a file's rows sent to a service, some at a time, and again where they do not get through. They need no
 * library for HTTP: a service is asked in the plainest way. */
#ifndef KEEPFIT_SERVICE_PUSHING_H
#define KEEPFIT_SERVICE_PUSHING_H

#include <stdbool.h>
#include <stdint.h>

struct pushing {
    const char *url, *path; /* path "-": standard input */
    const char *format;     /* "auto", "libsvm", "csv" or "jsonl" */
    const char *token;      /* a file; NULL: none */
    bool predictions;       /* ask, rather than push */
    bool quiet;
    uint64_t batch, retries;
};

/* An exit code, with its message printed. */
int pushing_run(const struct pushing *pushing);

#endif
