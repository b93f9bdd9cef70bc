/* Keys of the points that are present: from a key to the arrival of its point, and from an arrival to the key. No two points that are
 * present have the same key. */
#ifndef KF_KEYS_H
#define KF_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a point may have besides row, target and weight. The key is not ended by a NUL here. */
struct kf_mark {
    const char *key;
    size_t length; /* 0: it has no key */
    double time;   /* seconds; NaN: it has none */
};

struct kf_key {
    uint64_t arrival;
    size_t length;
    char text[]; /* ended by a NUL */
};

struct kf_keys {
    struct kf_key **by_text, **by_arrival; /* open addressing, both with as many slots; NULL: free */
    size_t slots, count;                   /* slots: 0, or a power of two, at least twice the count */
};

void kf_keys_free(struct kf_keys *keys);
/* A key that no point has, of a point that has none. False: out of memory, and nothing has changed. */
bool kf_keys_add(struct kf_keys *keys, const char *text, size_t length, uint64_t arrival);
/* NULL: there is none. */
const struct kf_key *kf_keys_find(const struct kf_keys *keys, const char *text, size_t length);
const struct kf_key *kf_keys_of(const struct kf_keys *keys, uint64_t arrival);
/* The point has left; one without a key is no matter. */
void kf_keys_remove(struct kf_keys *keys, uint64_t arrival);

#endif
