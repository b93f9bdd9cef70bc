/* What a request brings: points to learn, or rows to predict, out of JSON. Apart from any transport, and from any fit: what names mean is
 * found out later.
 *
 *   {"features": {"name": number or string, ...} | [numbers], "target": ..., "weight": 1, "id": "..."}
 *
 * one such object, an array of them, or (JSON lines) one on each line. Rows of numbers become points here. Rows with names are the
 * library's business, which knows columns and their types: they become JSON lines, as keepfit train reads them. A request has the one
 * kind or the other. */
#ifndef KEEPFIT_SERVICE_ROWS_H
#define KEEPFIT_SERVICE_ROWS_H

#include "keepfit.h"
#include "service/trouble.h"

#define ROWS_ID_MOST 200 /* bytes */
#define ROWS_NONE SIZE_MAX

struct row {
    size_t from, count; /* values; of a sparse row indices, too */
    size_t index_from;  /* ROWS_NONE: not sparse */
    double target, weight;
    bool has_target;
    size_t target_text;   /* where it lies in texts; ROWS_NONE: it is a number */
    size_t id;            /* likewise; ROWS_NONE: it has none */
    const char *features; /* as they stand in the request */
    size_t features_count;
};

struct rows {
    struct row *row;
    size_t count, capacity;
    double *value;
    size_t value_count, value_capacity;
    uint32_t *index;
    size_t index_count, index_capacity;
    struct text texts; /* targets and ids, each with a zero byte behind it */
    struct text lines; /* rows with names: a line each */
    bool named, listed;
    bool single; /* the request was one object, not an array */
};

struct rows_wanted {
    bool targets;       /* each needs one; otherwise none may have one */
    const char *target; /* what lines call it */
    size_t most;        /* rows a request */
};

bool rows_read(struct rows *rows, const char *bytes, size_t count, const struct rows_wanted *wanted,
               struct trouble *trouble);
/* JSON lines. *plain: they are not of this form, but rows of a table as files have them; nothing has been read. */
bool rows_read_lines(struct rows *rows, const char *bytes, size_t count, const struct rows_wanted *wanted, bool *plain,
                     struct trouble *trouble);
/* A JSON value as it stands there, on one line. */
void rows_put_value(struct text *lines, const char *from, const char *to);
/* Row by row, number by number. False: out of memory. */
bool rows_begin(struct rows *rows);
bool rows_add_value(struct rows *rows, double value);
/* Adds a copy of a point. False: out of memory. */
bool rows_add(struct rows *rows, const keepfit_point *point);
void rows_free(struct rows *rows);

static inline const char *rows_text(const struct rows *rows, size_t at)
{
    return at == ROWS_NONE ? NULL : rows->texts.at + at;
}
/* Row k as a point, whose target is a number. */
keepfit_point rows_point(const struct rows *rows, size_t k);

#endif
