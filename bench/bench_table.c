/* The reader of tables by itself, in one thread, by processor time:  bench_table FILE [KEY=VALUE...]
 *
 * Prints megabytes and rows a second of the fastest of some runs through the file, and what is held in memory by then. */
#define _POSIX_C_SOURCE 200809L
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "keepfit.h"

#define RUNS 7

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void end(const char *why)
{
    fprintf(stderr, "bench_table: %s\n", why);
    exit(1);
}

static size_t held(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Once through the file; the seconds that it took. */
static double read_all(const char *path, const keepfit_options *options, keepfit_stream_info *info, size_t *memory,
                       size_t *features, double *sum)
{
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_stream *stream = NULL;
    keepfit_point point;
    double before = seconds_now();
    size_t empty = held();
    if (keepfit_stream_open(path, options, &stream, &error) != KEEPFIT_OK)
        end(error.message);
    keepfit_status status;
    while ((status = keepfit_stream_next(stream, &point)) == KEEPFIT_OK)
        *sum += point.row.count ? point.row.value[0] : 0;
    if (status != KEEPFIT_END)
        end(keepfit_stream_error(stream)->message);
    double took = seconds_now() - before;
    keepfit_stream_describe(stream, info);
    keepfit_stream_schema(stream, &schema);
    *features = schema.features;
    *memory = held() - empty;
    keepfit_stream_close(stream);
    return took;
}

int main(int count, char **words)
{
    keepfit_options *options = keepfit_options_create();
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_error error = {.struct_size = sizeof error};
    double least = 1e300, sum = 0;
    size_t memory = 0, features = 0;
    if (count < 2 || !options || keepfit_options_set(options, "threads", "1", NULL) != KEEPFIT_OK)
        end("bench_table FILE [KEY=VALUE...]");
    for (int k = 2; k < count; k++) {
        char *sign = strchr(words[k], '=');
        if (!sign)
            end("KEY=VALUE");
        *sign = '\0';
        if (keepfit_options_set(options, words[k], sign + 1, &error) != KEEPFIT_OK)
            end(error.message);
    }
    const char *runs = getenv("BENCH_RUNS");
    for (int k = 0; k < (runs ? atoi(runs) : RUNS); k++) {
        double took = read_all(words[1], options, &info, &memory, &features, &sum);
        least = took < least ? took : least;
    }
    printf("%.1f MB/s, %.0f rows/s, %zu features, %.1f kB in memory (sum %.6g)\n", 1e-6 * (double)info.bytes / least,
           (double)info.points / least, features, 1e-3 * (double)memory, sum);
    keepfit_options_free(options);
    return 0;
}
