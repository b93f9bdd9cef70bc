#include "stream/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"

#define FIRST_BYTES (4 * KF_PIECE_BYTES)
#define GOOD_PIECE_BYTES KF_PIECE_BYTES
#define LONGEST_MEBIBYTES 256
#define LONGEST_BYTES ((size_t)LONGEST_MEBIBYTES << 20)

void kf_lines_open(struct kf_lines *lines, struct kf_source *source, const keepfit_options *options)
{
    *lines = (struct kf_lines){.source = source, .strict_end = options->strict_end, .accept_cut = options->accept_cut};
}

void kf_lines_close(struct kf_lines *lines)
{
    free(lines->buffer);
    lines->buffer = NULL;
}

static void move_to_front(struct kf_lines *lines)
{
    if (lines->start == 0)
        return;
    memmove(lines->buffer, lines->buffer + lines->start, lines->end - lines->start);
    lines->scanned -= lines->start;
    lines->end -= lines->start;
    lines->start = 0;
}

/* Room for a good piece (at the limit: for one more byte), and one byte behind it for the NUL. */
static keepfit_status make_room(struct kf_lines *lines, keepfit_error *error)
{
    if (lines->capacity - lines->end > GOOD_PIECE_BYTES)
        return KEEPFIT_OK;
    move_to_front(lines);
    if (lines->capacity - lines->end > GOOD_PIECE_BYTES)
        return KEEPFIT_OK;
    if (lines->capacity >= LONGEST_BYTES)
        return lines->end + 1 < lines->capacity
                   ? KEEPFIT_OK
                   : kf_fail_at(error, KEEPFIT_DATA, lines->source->name, lines->number + 1, 0,
                                "the line is longer than %d MiB; this is not a text file of points", LONGEST_MEBIBYTES);
    size_t wanted = lines->capacity ? 2 * lines->capacity : FIRST_BYTES;
    return KF_RESERVE(lines->buffer, lines->capacity, wanted) ? KEEPFIT_OK : kf_fail_memory(error);
}

/* The end of the first line in the buffer, reading on as needed; NULL in *newline at the end of the source.
 */
static keepfit_status find_newline(struct kf_lines *lines, char **newline, keepfit_error *error)
{
    for (;;) {
        size_t unseen = lines->end - lines->scanned;
        *newline = unseen ? memchr(lines->buffer + lines->scanned, '\n', unseen) : NULL;
        if (*newline)
            return KEEPFIT_OK;
        lines->scanned = lines->end;
        keepfit_status status = make_room(lines, error);
        if (status != KEEPFIT_OK)
            return status;
        size_t got;
        status =
            kf_source_read(lines->source, lines->buffer + lines->end, lines->capacity - 1 - lines->end, &got, error);
        if (status != KEEPFIT_OK || got == 0)
            return status;
        lines->end += got;
    }
}

static const char *skip_mark(const char *text, const char *end)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t length = sizeof mark - 1;
    return (size_t)(end - text) >= length && memcmp(text, mark, length) == 0 ? text + length : text;
}

/* Whether a reader passes over it, whatever may be missing at its end. */
static bool says_nothing(const struct kf_line *line)
{
    const char *at = line->text;
    while (at < line->end && (*at == ' ' || *at == '\t'))
        at++;
    return at == line->end || *at == '#';
}

/* The last line has no newline. KEEPFIT_END: it is left out. */
static keepfit_status judge_cut(struct kf_lines *lines, const struct kf_line *line, keepfit_error *error)
{
    if (says_nothing(line))
        return KEEPFIT_OK;
    if (lines->strict_end)
        return kf_fail_at(error, KEEPFIT_DATA, lines->source->name, line->number,
                          (uint64_t)(line->end - line->text) + 1,
                          "the last line does not end with a newline, so it may have been cut, and {strict-end} "
                          "refuses it");
    if (lines->accept_cut)
        return KEEPFIT_OK;
    lines->cut = (struct kf_cut){line->number, lines->source->regular};
    return lines->cut.taken ? KEEPFIT_OK : KEEPFIT_END;
}

keepfit_status kf_lines_next(struct kf_lines *lines, struct kf_line *line, bool *bad_row, keepfit_error *error)
{
    *bad_row = false;
    char *newline;
    keepfit_status status = find_newline(lines, &newline, error);
    if (status != KEEPFIT_OK)
        return status;
    if (!newline && lines->start == lines->end)
        return KEEPFIT_END;
    char *text = lines->buffer + lines->start, *end = newline ? newline : lines->buffer + lines->end;
    lines->start = (size_t)(end - lines->buffer) + (newline != NULL);
    lines->scanned = lines->start;
    if (end > text && end[-1] == '\r')
        end--;
    *end = '\0';
    line->text = ++lines->number == 1 ? skip_mark(text, end) : text;
    line->end = end;
    line->number = lines->number;
    if (!newline && (status = judge_cut(lines, line, error)) != KEEPFIT_OK)
        return status;
    const char *nul = memchr(line->text, '\0', (size_t)(end - line->text));
    *bad_row = nul != NULL;
    return nul ? kf_fail_at(error, KEEPFIT_DATA, lines->source->name, line->number, (uint64_t)(nul - line->text) + 1,
                            "a NUL byte, which no text file of points holds")
               : KEEPFIT_OK;
}

uint64_t kf_line_of(const struct kf_line *line, const char *at)
{
    uint64_t number = line->number;
    for (const char *c = line->text; c < at; c++)
        number += *c == '\n';
    return number;
}

uint64_t kf_column_of(const struct kf_line *line, const char *at)
{
    const char *first = at;
    while (first > line->text && first[-1] != '\n')
        first--;
    return (uint64_t)(at - first) + 1;
}
