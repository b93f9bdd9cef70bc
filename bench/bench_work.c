/* What a stream takes, as one line of JSON: gradients and believed work (src/problem/costs.h), which are the same in every run, and seconds.
 *
 *   bench_work FILE KEY=VALUE ...     within=S ends it after S seconds of processor time */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fit/fit.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static keepfit_options *read_options(int count, char **words, double *within)
{
    keepfit_options *options = keepfit_options_create();
    for (int k = 0; k < count; k++) {
        char *value = strchr(words[k], '=');
        if (!value)
            return NULL;
        *value++ = '\0';
        if (strcmp(words[k], "within") == 0) {
            *within = atof(value);
            continue;
        }
        if (keepfit_options_set(options, words[k], value, NULL) != KEEPFIT_OK)
            return NULL;
    }
    return options;
}

int main(int count, char **words)
{
    double work = 0, seconds = 0, within = 1e9;
    keepfit_options *options = count > 1 ? read_options(count - 2, words + 2, &within) : NULL;
    keepfit_stream *stream = NULL;
    keepfit_fit *fit = NULL;
    keepfit_point point;
    keepfit_report report = {.struct_size = sizeof report};
    if (!options || keepfit_stream_open(words[1], options, &stream, NULL) != KEEPFIT_OK ||
        keepfit_fit_create(options, &fit, NULL) != KEEPFIT_OK)
        return 2;
    while (seconds < within && keepfit_stream_next(stream, &point) == KEEPFIT_OK) {
        double start = now();
        if (keepfit_fit_push(fit, &point) != KEEPFIT_OK)
            return 1;
        seconds += now() - start;
        work += fit->outcome.work;
    }
    keepfit_fit_report(fit, &report);
    printf("{\"stages\": %" PRIu64 ", \"fo\": %" PRIu64
           ", \"work\": %.17g, \"seconds\": %.4g, \"cut\": %s, \"missed\": %" PRIu64 ", \"unproved\": %" PRIu64
           ", \"method\": \"%s\", \"reason\": \"%s\"}\n",
           report.stage, report.fo, work, seconds, seconds < within ? "false" : "true", report.missed, report.unproved,
           report.method, report.reason);
    keepfit_fit_free(fit);
    keepfit_stream_close(stream);
    keepfit_options_free(options);
    return 0;
}
