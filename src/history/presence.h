/* Which of a journal's points are still present after a certain record: a removal takes out the point it names, a key the one that had
 * it, and with a window the oldest leaves when one more comes. */
#ifndef KF_PRESENCE_H
#define KF_PRESENCE_H

#include "history/record.h"

struct kf_presence {
    uint64_t window;   /* 0: none */
    uint64_t *arrival; /* of every point in turn; KF_GONE is added once it has left */
    size_t count, capacity;
    size_t oldest, present;
    struct kf_keys keys; /* of those that are present */
};

#define KF_GONE ((uint64_t)1 << 63)

enum kf_presence_news { KF_PRESENCE_GOOD, KF_PRESENCE_WRONG, KF_PRESENCE_MEMORY };

/* Takes the next record into account. WRONG: it removes what is not there, or points come out of order. */
enum kf_presence_news kf_presence_take(struct kf_presence *presence, const struct kf_record *record);
void kf_presence_free(struct kf_presence *presence);

#endif
