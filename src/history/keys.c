#include "history/keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SLOTS_FIRST 64

/* Each multiplication's upper half comes down. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t hash_of_text(const char *text, size_t length)
{
    uint64_t hash = mix(UINT64_C(0x8ebc6af09c88c6e3), length), rest = 0;
    for (; length >= 8; text += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        hash = mix(hash, word);
    }
    for (size_t k = 0; k < length; k++)
        rest = rest << 8 | (unsigned char)text[k];
    return mix(mix(hash, rest), 0);
}

static uint64_t hash_of_arrival(uint64_t arrival)
{
    return mix(mix(0, arrival), 0);
}

void kf_keys_free(struct kf_keys *keys)
{
    for (size_t k = 0; k < keys->slots; k++)
        free(keys->by_text[k]);
    free(keys->by_text);
    free(keys->by_arrival);
    *keys = (struct kf_keys){0};
}

/* Into the first free slot of its run. */
static void put(struct kf_key **table, size_t slots, uint64_t hash, struct kf_key *key)
{
    size_t at = hash & (slots - 1);
    while (table[at])
        at = (at + 1) & (slots - 1);
    table[at] = key;
}

static bool grow(struct kf_keys *keys)
{
    if (2 * (keys->count + 1) <= keys->slots)
        return true;
    size_t slots = keys->slots ? 2 * keys->slots : SLOTS_FIRST;
    struct kf_key **by_text = kf_allocate(slots, sizeof(struct kf_key *));
    struct kf_key **by_arrival = kf_allocate(slots, sizeof(struct kf_key *));
    if (!by_text || !by_arrival) {
        free(by_text);
        free(by_arrival);
        return false;
    }
    for (size_t k = 0; k < keys->slots; k++)
        if (keys->by_text[k]) {
            put(by_text, slots, hash_of_text(keys->by_text[k]->text, keys->by_text[k]->length), keys->by_text[k]);
            put(by_arrival, slots, hash_of_arrival(keys->by_text[k]->arrival), keys->by_text[k]);
        }
    free(keys->by_text);
    free(keys->by_arrival);
    *keys = (struct kf_keys){by_text, by_arrival, slots, keys->count};
    return true;
}

bool kf_keys_add(struct kf_keys *keys, const char *text, size_t length, uint64_t arrival)
{
    assert(length > 0 && !kf_keys_find(keys, text, length) && !kf_keys_of(keys, arrival));
    struct kf_key *key = kf_allocate_raw(sizeof *key + length + 1);
    if (!key || !grow(keys)) {
        free(key);
        return false;
    }
    key->arrival = arrival;
    key->length = length;
    memcpy(key->text, text, length);
    key->text[length] = '\0';
    put(keys->by_text, keys->slots, hash_of_text(text, length), key);
    put(keys->by_arrival, keys->slots, hash_of_arrival(arrival), key);
    keys->count++;
    return true;
}

const struct kf_key *kf_keys_find(const struct kf_keys *keys, const char *text, size_t length)
{
    const struct kf_key *key;
    if (!keys->slots)
        return NULL;
    for (size_t at = hash_of_text(text, length) & (keys->slots - 1); (key = keys->by_text[at]);
         at = (at + 1) & (keys->slots - 1))
        if (key->length == length && memcmp(key->text, text, length) == 0)
            break;
    return key;
}

const struct kf_key *kf_keys_of(const struct kf_keys *keys, uint64_t arrival)
{
    const struct kf_key *key;
    if (!keys->slots)
        return NULL;
    for (size_t at = hash_of_arrival(arrival) & (keys->slots - 1); (key = keys->by_arrival[at]);
         at = (at + 1) & (keys->slots - 1))
        if (key->arrival == arrival)
            break;
    return key;
}

static uint64_t hash_in(const struct kf_keys *keys, struct kf_key *const *table, size_t at)
{
    const struct kf_key *key = table[at];
    return table == keys->by_text ? hash_of_text(key->text, key->length) : hash_of_arrival(key->arrival);
}

/* What follows in the run moves up where it would no longer be found. */
static void take_out(struct kf_keys *keys, struct kf_key **table, uint64_t hash, const struct kf_key *key)
{
    size_t mask = keys->slots - 1, hole = hash & mask;
    while (table[hole] != key)
        hole = (hole + 1) & mask;
    for (size_t at = (hole + 1) & mask; table[at]; at = (at + 1) & mask)
        if (((at - hash_in(keys, table, at)) & mask) >= ((at - hole) & mask)) {
            table[hole] = table[at];
            hole = at;
        }
    table[hole] = NULL;
}

void kf_keys_remove(struct kf_keys *keys, uint64_t arrival)
{
    struct kf_key *key = (struct kf_key *)(uintptr_t)kf_keys_of(keys, arrival); /* the keys' own */
    if (!key)
        return;
    take_out(keys, keys->by_text, hash_of_text(key->text, key->length), key);
    take_out(keys, keys->by_arrival, hash_of_arrival(arrival), key);
    free(key);
    keys->count--;
}
