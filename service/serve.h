/* keepfit serve, but for the command line. */
#ifndef KEEPFIT_SERVICE_SERVE_H
#define KEEPFIT_SERVICE_SERVE_H

#include "keepfit.h"

struct serve_settings {
    keepfit_options *options; /* of train */
    const char *listen;       /* HOST:PORT; NULL: none */
    const char *unix_path;    /* NULL: none */
    const char *tokens, *log; /* files; NULL: none */
    uint64_t max_body, max_points, max_queue, max_connections, max_connections_address, max_listeners, max_waiting,
        keep_keys; /* 0: the usual ones */
    uint64_t header_seconds, idle_seconds, body_rate, waiting_seconds;
};

/* Until a signal ends it. An exit code, with its message printed. */
int serve_run(const struct serve_settings *settings);

#endif
