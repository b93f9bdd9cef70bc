#define _POSIX_C_SOURCE 200809L /* getline */
#include "frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/exit_code.h"
#include "must.h"
#include "toolkit/output.h"

void frame_start(struct frame *frame, const char *columns)
{
    *frame = (struct frame){.columns = columns, .width = 1};
    for (const char *at = columns; *at; at++)
        frame->width += *at == ',';
}

void frame_add(struct frame *frame, const double *row)
{
    if (frame->rows == frame->room) {
        frame->room = frame->room ? 2 * frame->room : 64;
        frame->cells = must_resize(frame->cells, frame->room * frame->width * sizeof(double));
    }
    memcpy(frame->cells + frame->rows++ * frame->width, row, frame->width * sizeof(double));
}

void frame_free(struct frame *frame)
{
    free(frame->cells);
    *frame = (struct frame){0};
}

static void write_head(FILE *file, const char *key, const char *columns)
{
    fprintf(file, "# keepfit %s: %s\n%s\n", keepfit_version(), key, columns);
}

int frame_write(const struct frame *frame, const char *key, const char *path)
{
    struct output output;
    int code = output_open(&output, path);
    if (code != EXIT_DONE)
        return code;
    write_head(output.file, key, frame->columns);
    for (size_t row = 0; row < frame->rows; row++)
        for (size_t column = 0; column < frame->width; column++)
            fprintf(output.file, "%.17g%c", frame_at(frame, row, column), column + 1 == frame->width ? '\n' : ',');
    fprintf(output.file, "# %zu rows\n", frame->rows);
    return output_commit(&output);
}

static bool read_row(struct frame *frame, const char *line, double *row)
{
    char *end = NULL;
    for (size_t column = 0; column < frame->width; column++, line = end + 1) {
        row[column] = strtod(line, &end);
        if (end == line || *end != (column + 1 == frame->width ? '\n' : ','))
            return false;
    }
    frame_add(frame, row);
    return true;
}

/* The rows after the head; true when the last line gives as many as there were. */
static bool read_rows(struct frame *frame, FILE *file)
{
    char *line = NULL;
    size_t room = 0, told = 0;
    bool good = true, ended = false;
    double *row = must_allocate(frame->width * sizeof *row);
    while (good && getline(&line, &room, file) > 0) {
        good = !ended;
        if (line[0] == '#')
            ended = sscanf(line, "# %zu rows\n", &told) == 1;
        else
            good = good && read_row(frame, line, row);
    }
    free(line);
    free(row);
    return good && ended && told == frame->rows;
}

bool frame_read(struct frame *frame, const char *columns, const char *key, const char *path)
{
    frame_start(frame, columns);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    char *wanted = NULL;
    size_t length = 0;
    FILE *head = must_have(open_memstream(&wanted, &length));
    write_head(head, key, columns);
    bool same = fclose(head) == 0;
    char *found = must_allocate(length + 1);
    same =
        same && fread(found, 1, length, file) == length && memcmp(found, wanted, length) == 0 && read_rows(frame, file);
    fclose(file);
    free(found);
    free(wanted);
    if (!same)
        frame_free(frame);
    return same;
}
