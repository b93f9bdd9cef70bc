/* Notes: what a program records among the points of a journal, opaque to the library (keepfit_fit_note). Those that stand are kept in
 * memory, from the last one that took the place of all before it. */
#ifndef KF_NOTES_H
#define KF_NOTES_H

#include "history/record.h"

struct kf_note {
    const unsigned char *bytes;
    size_t count;
    uint64_t points; /* that had come before it */
    bool instead;    /* of all earlier ones */
};

struct kf_notes {
    struct kf_note *note; /* with bytes of their own */
    size_t count, capacity;
};

/* A copy is added, and what it takes the place of goes. False: out of memory, and nothing has changed. */
bool kf_notes_take(struct kf_notes *notes, const struct kf_note *note);
void kf_notes_free(struct kf_notes *notes);

/* As it lies in its record. */
struct kf_note kf_record_note(const struct kf_record *record);

#endif
