/* What the library itself takes for a stream in blocks: the measure for its bindings.
 *
 *   bench_blocks FILE compressed|full ROWS [OPTION=VALUE ...]
 *
 * Reads all points, as they are or with all zeros, then extends a fit by ROWS of them at a time, and prints the seconds of processor time that took, the best of three. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "keepfit.h"

#define ROUNDS 3

struct rows {
    size_t count, entries, count_room, entries_room;
    uint64_t *start;
    uint32_t *index;
    double *value, *target, *weight;
};

static void *grown(void *memory, size_t count, size_t size)
{
    void *more = realloc(memory, count * size);
    if (!more)
        exit(1);
    return more;
}

static void make_room(struct rows *rows, size_t entries)
{
    while (rows->count + 2 > rows->count_room) {
        rows->count_room = 2 * rows->count_room + 1024;
        rows->start = grown(rows->start, rows->count_room, sizeof *rows->start);
        rows->target = grown(rows->target, rows->count_room, sizeof *rows->target);
        rows->weight = grown(rows->weight, rows->count_room, sizeof *rows->weight);
    }
    while (rows->entries + entries > rows->entries_room) {
        rows->entries_room = 2 * rows->entries_room + 1024;
        rows->index = grown(rows->index, rows->entries_room, sizeof *rows->index);
        rows->value = grown(rows->value, rows->entries_room, sizeof *rows->value);
    }
}

static void append(struct rows *rows, const keepfit_point *point)
{
    make_room(rows, point->row.count);
    rows->start[rows->count] = rows->entries;
    for (size_t k = 0; k < point->row.count; k++, rows->entries++) {
        rows->index[rows->entries] = point->row.index ? point->row.index[k] : (uint32_t)k;
        rows->value[rows->entries] = point->row.value[k];
    }
    rows->target[rows->count] = point->target;
    rows->weight[rows->count++] = point->weight;
    rows->start[rows->count] = rows->entries;
}

static void need(keepfit_status status, const keepfit_error *error)
{
    if (status == KEEPFIT_OK)
        return;
    fprintf(stderr, "bench_blocks: %s\n", error->message);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The same rows with all their zeros. */
static double *fill(const struct rows *rows, size_t *features)
{
    for (size_t e = 0; e < rows->entries; e++)
        *features = rows->index[e] >= *features ? rows->index[e] + 1 : *features;
    double *value = calloc(rows->count * *features, sizeof *value);
    for (size_t k = 0; value && k < rows->count; k++)
        for (size_t e = rows->start[k]; e < rows->start[k + 1]; e++)
            value[k * *features + rows->index[e]] = rows->value[e];
    return value;
}

/* full may be NULL */
static double run(const struct rows *rows, const double *full, size_t features, size_t each,
                  const keepfit_options *options)
{
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    need(keepfit_fit_create(options, &fit, &error), &error);
    double start = now();
    for (size_t at = 0; at < rows->count; at += each) {
        keepfit_block block = {.count = rows->count - at < each ? rows->count - at : each,
                               .start = rows->start + at,
                               .index = rows->index,
                               .value = rows->value,
                               .target = rows->target + at,
                               .weight = rows->weight + at};
        if (full) {
            block.start = NULL;
            block.features = block.stride = features;
            block.value = full + at * features;
        }
        need(keepfit_fit_extend(fit, &block, NULL), keepfit_fit_error(fit));
    }
    double seconds = now() - start;
    keepfit_fit_free(fit);
    return seconds;
}

int main(int count, char **words)
{
    struct rows rows = {0};
    keepfit_options *options = keepfit_options_create();
    keepfit_stream *stream = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_point point;
    if (count < 4 || !options)
        return 2;
    for (int k = 4; k < count; k++) {
        char *equals = strchr(words[k], '=');
        if (!equals)
            return 2;
        *equals = '\0';
        need(keepfit_options_set(options, words[k], equals + 1, &error), &error);
    }
    need(keepfit_stream_open(words[1], options, &stream, &error), &error);
    while (keepfit_stream_next(stream, &point) == KEEPFIT_OK)
        append(&rows, &point);
    size_t features = 0;
    double best = 1e300, *full = strcmp(words[2], "full") == 0 ? fill(&rows, &features) : NULL;
    for (int round = 0; round < ROUNDS; round++) {
        double seconds = run(&rows, full, features, strtoul(words[3], NULL, 10), options);
        best = seconds < best ? seconds : best;
    }
    printf("%.9g\n", best);
    keepfit_stream_close(stream);
    keepfit_options_free(options);
    free(full);
    free(rows.start);
    free(rows.index);
    free(rows.value);
    free(rows.target);
    free(rows.weight);
    return 0;
}
