/* Writing: messages, files that are complete or not there at all, JSON. */
#ifndef KEEPFIT_TOOLKIT_OUTPUT_H
#define KEEPFIT_TOOLKIT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "keepfit.h"

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/* "keepfit: message" on standard error. Returns code. */
int fail(int code, const char *format, ...) PRINTF_LIKE(2, 3);
void warn(const char *format, ...) PRINTF_LIKE(1, 2);
/* "what: 'value' is none of a|b|c", and which may have been meant; EXIT_USAGE. */
int fail_choice(const char *what, const char *value, const char *choices);
/* Warns of a last line without a newline, if the stream had one. */
void warn_cut(const keepfit_stream_info *info);
/* What a failure of the library says, its options written as the command line has them ("--lambda"). The text lives as long
 * as the full expression that calls this. */
struct message {
    char text[640];
};
struct message message_of(const keepfit_error *error);
/* The exit code that a status of the library stands for, its message printed. */
int fail_status(keepfit_status status, const char *message);

/* A file that appears under its name only when output_commit succeeds: it is written beside it and renamed. "-" is
 * standard output; anything but a regular file (a pipe, /dev/null) is written directly. */
struct output {
    FILE *file;
    const char *path;
    char *target;    /* what path leads to, if it exists */
    char *temporary; /* NULL: written directly */
};

int output_open(struct output *output, const char *path);
int output_commit(struct output *output);
void output_discard(struct output *output);

/* Makes the folder if it is not there (its parent must be); an exit code. */
int make_folder(const char *path);
/* "folder/name", to be freed; NULL: out of memory. */
char *path_in(const char *folder, const char *name);

/* Flushes standard output. Returns code, or EXIT_FAILED where something did not arrive. */
int finish_standard_output(int code);

/* For people: as it is, but for control characters and bytes that are no UTF-8, which become \xNN, so that a name in a file writes
 * nothing else on a terminal, and no line of its own. Messages are written so. */
void plain_text(FILE *file, const char *text);

/* A cell of CSV, in quotes where it needs them. */
void csv_text(FILE *file, const char *text);

/* JSON: numbers that read back exactly; NaN and infinities become null. */
void json_text(FILE *file, const char *text);
void json_number(FILE *file, double number);

#endif
