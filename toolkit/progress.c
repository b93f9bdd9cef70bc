#define _POSIX_C_SOURCE 200809L
#include "toolkit/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "toolkit/terminal.h"

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

/* A line that is put together of pieces; on a terminal a piece that would not fit is left out. */
struct line {
    char text[256];
    size_t used, most;
};

static struct line begin_line(const struct progress *progress)
{
    struct line line = {.most = sizeof line.text - 1};
    size_t width = progress->terminal ? terminal_width(STDERR_FILENO, 80) : line.most;
    if (width - 1 < line.most)
        line.most = width - 1; /* a line that is full might be wrapped */
    return line;
}

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *line, const char *format, ...)
{
    char piece[sizeof line->text];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (length < 0 || line->used + (size_t)length > line->most)
        return;
    memcpy(line->text + line->used, piece, (size_t)length);
    line->used += (size_t)length;
}

/* "40%, 1:20 left" */
static void add_time_left(struct line *line, const char *before, double elapsed, double share)
{
    if (share <= 0)
        return;
    double left = elapsed * (1 - share) / share;
    if (left < 3600)
        add(line, "%s%.0f%%, %d:%02d left", before, 100 * share, (int)(left / 60), (int)left % 60);
    else
        add(line, "%s%.0f%%, %.0f:%02d h left", before, 100 * share, floor(left / 3600), (int)(left / 60) % 60);
}

/* What matters most comes first to its place: on a narrow screen the rest is left out. */
static void add_state(struct line *line, const keepfit_report *report, double elapsed, double share)
{
    add(line, "stage %llu", (unsigned long long)report->stage);
    add_time_left(line, ", ", elapsed, share);
    if (!isnan(report->bound))
        add(line, ", bound %.2g", report->bound);
    if (report->validated)
        add(line, ", progressive %s %.4g", report->classes ? "error" : "rmse", report->validation_error);
    add(line, ", %.3g points/s", (double)report->stage / elapsed);
    add(line, ", %.3g FO a point", (double)report->fo / (double)report->stage);
}

static void show(struct progress *progress, const struct line *line)
{
    fprintf(stderr, "%s%.*s%s", progress->terminal ? "\r\033[K" : "keepfit: ", (int)line->used, line->text,
            progress->terminal ? "" : "\n");
    fflush(stderr);
    progress->drawn = progress->terminal;
}

void progress_show(struct progress *progress, const keepfit_report *report, double share)
{
    double now = seconds_now(), elapsed = now - progress->start;
    progress->next_line = 2 * report->stage;
    if (progress->off || elapsed < QUIET_SECONDS)
        return;
    struct line line = begin_line(progress);
    add_state(&line, report, elapsed, share);
    show(progress, &line);
    progress->redraw = now + REDRAW_SECONDS;
}

void progress_share(struct progress *progress, const char *what, double share)
{
    double now = seconds_now();
    if (progress->off || now < progress->redraw || share <= 0)
        return;
    struct line line = begin_line(progress);
    add(&line, "%s", what);
    add_time_left(&line, ": ", now - progress->start, share);
    show(progress, &line);
    progress->redraw = now + (progress->terminal ? REDRAW_SECONDS : LINE_SECONDS);
}

void progress_end(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
