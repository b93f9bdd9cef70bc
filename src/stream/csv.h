/* Between csv.c, which reads the rows, and csv_open.c, which finds out what they are; jsonl.c makes its cells otherwise, and does
 * with them the same. */
#ifndef KF_CSV_H
#define KF_CSV_H

#include "stream/held.h"
#include "stream/typed.h"

struct kf_csv {
    struct kf_input *input;
    struct kf_lines lines;
    char delimiter;
    struct kf_columns columns;
    double *value;
    enum kf_texts texts; /* what targets have turned out to be */
    char *text;          /* room for one, without its quotes */
    size_t text_capacity;
    struct kf_held held;
    bool open_quote; /* of the line that failed */
    bool no_memory;  /* to join it with those behind it */
    bool typed;
    bool hash_rows; /* a line that begins with # is a row, as in tables with types */
    bool mixed;     /* the first line has names and numbers */
    bool numbered;  /* no line has names */
    struct kf_table table;
    char *plain; /* room for a row's cells without their quotes, where these are doubled */
    size_t plain_capacity, plain_used;
    char *joined; /* a row of several lines */
    size_t joined_capacity;
};

struct kf_csv_cell {
    const char *start;      /* with the quote, if there is one */
    const char *text, *end; /* without */
    bool quoted, doubled;   /* it has doubled quotes, which stand for one */
};

keepfit_status kf_csv_open(void *state, struct kf_input *input, keepfit_error *error);

/* Takes the cell at *at and leaves *at at the next one; *more says whether there is one. */
keepfit_status kf_csv_cell_next(struct kf_csv *reader, const struct kf_line *line, const char **at,
                                struct kf_csv_cell *cell, bool *more, keepfit_error *error);
/* A cell that neither is a number, nor stands for a missing one, nor is one gone wrong (1e999; 1,5). */
bool kf_csv_is_name(const struct kf_csv_cell *cell);
/* The cell's text without quotes and doubled quotes; `to` has room for it and a NUL. */
void kf_csv_unquote(const struct kf_csv_cell *cell, char *to);

/* What a cell of a column is: the target, the weight, a feature, or a cell for the recipe. */
keepfit_status kf_csv_take_value(struct kf_csv *reader, const struct kf_line *line, const struct kf_csv_cell *cell,
                                 size_t column, keepfit_point *point, keepfit_error *error);
void kf_csv_close(void *state);

/* Neither blank nor a comment. */
bool kf_csv_says_something(const struct kf_csv *reader, const struct kf_line *line);
/* The next line that is neither blank nor a comment. */
keepfit_status kf_csv_next_line(struct kf_csv *reader, struct kf_line *line, keepfit_error *error);
/* A line that was read just now is held, behind comments in front of it. False: out of memory. */
bool kf_csv_hold(struct kf_csv *reader, const struct kf_line *line);
/* The line and those behind it, up to one in which the quote may be closed. They are held, so that of a quote which never closes only
 * its own line is lost. `lines`: how many have been joined so far. False: there is no such line. */
bool kf_csv_join(struct kf_csv *reader, struct kf_line *line, size_t *lines);

#endif
