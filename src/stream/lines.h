/* Lines out of a source, counted from 1. CRLF and a byte order mark are taken off.
 *
 * A last line without a newline may have been cut in the middle of a number. Public data sets end so, and their files are
 * whole: from a regular file it is taken. From a pipe it is left out, since whoever wrote it may have died over it. Either
 * way `cut` has it; the options strict-end and accept-cut say otherwise.
 *
 * A line handed out ends with a NUL byte in place of its newline, and holds none before that (a NUL in the
 * file is an error), so a parser may run up to the NUL without looking at `end`. */
#ifndef KF_LINES_H
#define KF_LINES_H

#include "stream/source.h"

/* A last line that has no newline, and about which nothing was said: its number, and whether it was handed out. */
struct kf_cut {
    uint64_t line; /* 0: there is none */
    bool taken;
};

struct kf_lines {
    struct kf_source *source;
    bool strict_end, accept_cut;
    struct kf_cut cut;
    char *buffer;
    size_t capacity;
    size_t start, end; /* what has been read and not handed out */
    size_t scanned;    /* up to here there is no newline */
    uint64_t number;   /* of the line handed out last */
};

struct kf_line {
    const char *text, *end;
    uint64_t number;
};

void kf_lines_open(struct kf_lines *lines, struct kf_source *source, const keepfit_options *options);
void kf_lines_close(struct kf_lines *lines);

/* The next line, valid until the next call; KEEPFIT_END after the last. *bad_row says whether the failure
 * concerns this line alone, so that the next call may give the next line. */
keepfit_status kf_lines_next(struct kf_lines *lines, struct kf_line *line, bool *bad_row, keepfit_error *error);

/* Where the byte `at` of a row stands, which may have been joined out of several lines. */
uint64_t kf_line_of(const struct kf_line *line, const char *at);
uint64_t kf_column_of(const struct kf_line *line, const char *at);

#endif
