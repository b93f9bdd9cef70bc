/* Lines that were read before their time: those whose types are looked at before the first row is handed out, and those that a quoted
 * cell may go over. They are handed out again in their order, and so is the failure that ended the reading. */
#ifndef KF_HELD_H
#define KF_HELD_H

#include "stream/reader.h"

struct kf_held_line {
    size_t at, length;
    uint64_t number;
};

struct kf_held {
    char *bytes;
    size_t used, capacity;
    struct kf_held_line *line;
    size_t count, line_capacity;
    size_t next;           /* to be handed out */
    keepfit_status status; /* behind the last line, if it is not KEEPFIT_OK */
    bool bad_row;
    keepfit_error error;
};

void kf_held_free(struct kf_held *held);
/* False: out of memory. */
bool kf_held_add(struct kf_held *held, const struct kf_line *line);
/* Reads one more. False: there is none to be had, and `status` says why. */
bool kf_held_fetch(struct kf_held *held, struct kf_lines *lines);
struct kf_line kf_held_show(const struct kf_held *held, size_t k);
/* The next line, held or read, valid until the next call. */
keepfit_status kf_held_next(struct kf_held *held, struct kf_lines *lines, struct kf_line *line, bool *bad_row,
                            keepfit_error *error);

#endif
