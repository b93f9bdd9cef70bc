/* Which coordinate a text of a column has: a hash table that only grows, but for the newest entries, which can be taken back. It grows
 * smoothly: a table twice as large takes over bit by bit, a few slots for each entry that comes, and until then both are looked into.
 *
 * A coordinate's name is that of its column, and behind a "=" its text; without one, the column's name alone. */
#ifndef KF_DICTIONARY_H
#define KF_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KF_NO_COORDINATE UINT32_MAX

struct kf_entry {
    char *name;
    const char *key; /* within the name */
    uint32_t length; /* of the key */
    uint32_t column;
};

struct kf_slot {
    uint32_t hash, number; /* the coordinate + 1; 0: free, as memory that has never been touched is */
};

struct kf_dictionary {
    struct kf_entry *entry;
    size_t count, capacity;
    struct kf_slot *slot, *before; /* `before`: of the table that was too small; NULL: all of it has moved */
    size_t slots, before_slots;    /* powers of two, or 0 */
    size_t moved;                  /* of `before` */
};

void kf_dictionary_free(struct kf_dictionary *dictionary);
uint64_t kf_dictionary_hash(uint32_t column, const char *key, size_t length);
/* KF_NO_COORDINATE: there is none. */
uint32_t kf_dictionary_find(const struct kf_dictionary *dictionary, uint64_t hash, uint32_t column, const char *key,
                            size_t length);
/* A new one, which is not there yet. False: out of memory. */
bool kf_dictionary_add(struct kf_dictionary *dictionary, uint64_t hash, uint32_t column, const char *column_name,
                       const char *key, size_t length);
/* Takes back all but the first `count`. */
void kf_dictionary_cut(struct kf_dictionary *dictionary, size_t count);

#endif
