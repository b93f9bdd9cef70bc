#define _POSIX_C_SOURCE 200809L
#include "toolkit/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QUIET_SECONDS 1.0
#define REDRAW_SECONDS 0.2
#define LINE_SECONDS 10.0

double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool can_draw(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && !getenv("NO_COLOR") && terminal && strcmp(terminal, "dumb") != 0;
}

void progress_start(struct progress *progress, bool off)
{
    double now = seconds_now();
    *progress = (struct progress){.off = off, .terminal = can_draw(), .start = now, .redraw = now + QUIET_SECONDS};
    progress->next_line = 1;
}

bool progress_due(const struct progress *progress, uint64_t stage)
{
    if (progress->off)
        return false;
    if (!progress->terminal)
        return stage >= progress->next_line;
    return (stage & 15) == 0 && seconds_now() >= progress->redraw;
}

/* "40%, 1:20 left" */
static void print_time_left(const char *before, double elapsed, double share)
{
    if (share <= 0)
        return;
    double left = elapsed * (1 - share) / share;
    fprintf(stderr, "%s%.0f%%, %d:%02d left", before, 100 * share, (int)(left / 60), (int)left % 60);
}

static void print_state(const keepfit_report *report, double elapsed, double share)
{
    fprintf(stderr, "stage %llu, %.3g FO a point", (unsigned long long)report->stage,
            (double)report->fo / (double)report->stage);
    if (!isnan(report->bound))
        fprintf(stderr, ", bound %.2g", report->bound);
    if (report->validated)
        fprintf(stderr, ", progressive %s %.4g", report->classes ? "error" : "rmse", report->validation_error);
    fprintf(stderr, ", %.3g points/s", (double)report->stage / elapsed);
    print_time_left(", ", elapsed, share);
}

void progress_show(struct progress *progress, const keepfit_report *report, double share)
{
    double now = seconds_now(), elapsed = now - progress->start;
    progress->next_line = 2 * report->stage;
    if (progress->off || elapsed < QUIET_SECONDS)
        return;
    fputs(progress->terminal ? "\r\033[K" : "keepfit: ", stderr);
    print_state(report, elapsed, share);
    fputs(progress->terminal ? "" : "\n", stderr);
    fflush(stderr);
    progress->drawn = progress->terminal;
    progress->redraw = now + REDRAW_SECONDS;
}

void progress_share(struct progress *progress, const char *what, double share)
{
    double now = seconds_now();
    if (progress->off || now < progress->redraw || share <= 0)
        return;
    fprintf(stderr, "%s%s", progress->terminal ? "\r\033[K" : "keepfit: ", what);
    print_time_left(": ", now - progress->start, share);
    fputs(progress->terminal ? "" : "\n", stderr);
    fflush(stderr);
    progress->drawn = progress->terminal;
    progress->redraw = now + (progress->terminal ? REDRAW_SECONDS : LINE_SECONDS);
}

void progress_end(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
