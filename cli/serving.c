#include <string.h>

#include "arguments.h"
#include "toolkit/output.h"
#include "service/pushing.h"

#ifdef KEEPFIT_SERVICE
#include "service/serve.h"

int run_serve(struct arguments *arguments)
{
    const struct serve_settings settings = {
        .options = arguments->options,
        .listen = arguments->listen,
        .unix_path = arguments->unix_path,
        .tokens = arguments->tokens,
        .log = arguments->log_file,
        .max_body = arguments->max_body,
        .max_points = arguments->max_points,
        .max_queue = arguments->max_queue,
        .max_connections = arguments->max_connections,
        .max_connections_address = arguments->max_connections_address,
        .max_listeners = arguments->max_listeners,
        .max_waiting = arguments->max_waiting,
        .waiting_seconds = arguments->waiting_seconds,
        .keep_keys = arguments->keep_keys,
        .header_seconds = arguments->header_seconds,
        .idle_seconds = arguments->idle_seconds,
        .body_rate = arguments->body_rate,
    };
    return serve_run(&settings);
}

#else

int run_serve(struct arguments *arguments)
{
    (void)arguments;
    return fail(EXIT_FAILED, "this build has no service: it was made without libmicrohttpd ('scripts/setup build' "
                             "installs it)");
}

#endif

static int send_rows(const struct arguments *arguments, bool predictions)
{
    const struct pushing pushing = {
        .url = arguments->positional[0],
        .path = arguments->positional[1],
        .format = keepfit_options_get(arguments->options, "format"),
        .token = arguments->token,
        .predictions = predictions,
        .quiet = arguments->quiet,
        .batch = arguments->batch,
        .retries = arguments->retries,
    };
    if (strcmp(pushing.format, "npy") == 0 || strcmp(pushing.format, "idx") == 0)
        return fail(EXIT_USAGE, "--format %s is not for lines; libsvm, csv and jsonl are", pushing.format);
    return pushing_run(&pushing);
}

int run_push(struct arguments *arguments)
{
    return send_rows(arguments, false);
}

int run_ask(struct arguments *arguments)
{
    return send_rows(arguments, true);
}
