/* Reading ahead: a thread decompresses and parses while the caller fits.
 *
 * Points travel in batches: handed over one by one they would cost more than they save. So this is for files; a pipe is
 * followed line by line without it. */
#ifndef KF_AHEAD_H
#define KF_AHEAD_H

#include "history/points.h"
#include "stream/lines.h"

/* What the caller gets with a point or instead of one. */
struct kf_progress {
    uint64_t line, skipped, bytes_read;
    size_t classes;              /* that have names so far */
    size_t features;             /* of a table with types, so far */
    uint64_t unseen, collisions; /* likewise (recipe.h) */
    bool marked;                 /* rows have keys or times: */
    const char *key;             /* NULL: none */
    double time;
    bool bad; /* a bad row that is skipped stood there; the point is nothing */
    struct kf_cut cut;
    bool empty; /* it ended before the first point */
};

/* Reads one point; runs on the thread. Anything but KEEPFIT_OK ends the reading. */
typedef keepfit_status kf_pull(void *context, keepfit_point *point, struct kf_progress *progress, keepfit_error *error);

struct kf_ahead;

/* NULL: no memory or no thread; read without it. */
struct kf_ahead *kf_ahead_start(kf_pull *pull, void *context);
/* The next point, valid until the next call, or the status that ended the reading (again and again). */
keepfit_status kf_ahead_next(struct kf_ahead *ahead, keepfit_point *point, struct kf_progress *progress,
                             keepfit_error *error);
/* Ends the thread, after `pull` has returned once more. */
void kf_ahead_stop(struct kf_ahead *ahead);

#endif
