#include "history/presence.h"

#include <stdlib.h>

#include "base/memory.h"

static void leave(struct kf_presence *presence, size_t k)
{
    kf_keys_remove(&presence->keys, presence->arrival[k]);
    presence->arrival[k] |= KF_GONE;
    presence->present--;
    while (presence->oldest < presence->count && presence->arrival[presence->oldest] & KF_GONE)
        presence->oldest++;
}

static bool take_out(struct kf_presence *presence, uint64_t arrival)
{
    size_t low = presence->oldest, high = presence->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((presence->arrival[middle] & ~KF_GONE) < arrival)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == presence->count || presence->arrival[low] != arrival)
        return false;
    leave(presence, low);
    return true;
}

/* Those leave whose terms end when this one comes. False: out of memory. */
static bool end_terms(struct kf_presence *presence, uint64_t arrival, double time)
{
    bool timed = kf_terms_are_timed(&presence->terms);
    while (presence->present) {
        struct kf_came oldest = {presence->arrival[presence->oldest], timed ? presence->time[presence->oldest] : 0};
        const struct kf_came newest = {arrival, time};
        if (!kf_terms_fade(&presence->terms, oldest, newest) &&
            !kf_terms_end(&presence->terms, presence->present, oldest, newest))
            break;
        leave(presence, presence->oldest);
    }
    if (timed && !KF_RESERVE(presence->time, presence->time_capacity, presence->count + 1))
        return false;
    if (timed)
        presence->time[presence->count] = time;
    return true;
}

enum kf_presence_news kf_presence_take(struct kf_presence *presence, const struct kf_record *record)
{
    if (record->kind == KF_RECORD_REMOVAL)
        return take_out(presence, record->arrival) ? KF_PRESENCE_GOOD : KF_PRESENCE_WRONG;
    if (!kf_record_is_point(record))
        return KF_PRESENCE_GOOD;
    uint64_t before = presence->count ? presence->arrival[presence->count - 1] & ~KF_GONE : 0;
    if (record->arrival <= before || record->arrival >= KF_GONE)
        return KF_PRESENCE_WRONG;
    if (!KF_RESERVE(presence->arrival, presence->capacity, presence->count + 1))
        return KF_PRESENCE_MEMORY;
    struct kf_mark mark = kf_record_mark(record);
    const struct kf_key *same = mark.length ? kf_keys_find(&presence->keys, mark.key, mark.length) : NULL;
    if (same && !take_out(presence, same->arrival))
        return KF_PRESENCE_WRONG;
    if (mark.length && !kf_keys_add(&presence->keys, mark.key, mark.length, record->arrival))
        return KF_PRESENCE_MEMORY;
    if (!end_terms(presence, record->arrival, mark.time))
        return KF_PRESENCE_MEMORY;
    presence->arrival[presence->count++] = record->arrival;
    presence->present++;
    return KF_PRESENCE_GOOD;
}

void kf_presence_free(struct kf_presence *presence)
{
    kf_keys_free(&presence->keys);
    free(presence->time);
    free(presence->arrival);
    *presence = (struct kf_presence){0};
}
