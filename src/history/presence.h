/* Which of a journal's points are still present after a certain record: a removal takes out the point it names, a key the one that had
 * it, and those leave whose
 * terms end when one more comes. */
#ifndef KF_PRESENCE_H
#define KF_PRESENCE_H

#include "history/record.h"
#include "history/terms.h"

struct kf_presence {
    struct kf_terms terms;
    uint64_t *arrival; /* of every point in turn; KF_GONE is added once it has left */
    size_t count, capacity;
    double *time; /* of every point, where terms go by it */
    size_t time_capacity;
    size_t oldest, present;
    struct kf_keys keys; /* of those that are present */
};

#define KF_GONE ((uint64_t)1 << 63)

enum kf_presence_news { KF_PRESENCE_GOOD, KF_PRESENCE_WRONG, KF_PRESENCE_MEMORY };

/* Takes the next record into account. WRONG: it removes what is not there, or points come out of order. */
enum kf_presence_news kf_presence_take(struct kf_presence *presence, const struct kf_record *record);
void kf_presence_free(struct kf_presence *presence);

#endif
