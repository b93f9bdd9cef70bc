#include "stream/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SLOTS_FIRST 64

void kf_dictionary_free(struct kf_dictionary *dictionary)
{
    for (size_t k = 0; k < dictionary->count; k++)
        free(dictionary->entry[k].name);
    free(dictionary->entry);
    free(dictionary->slot);
    *dictionary = (struct kf_dictionary){0};
}

/* Eight bytes at a time, each mixed by a multiplication whose upper half comes down. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t big_endian(const char *key, size_t bytes)
{
    uint64_t number = 0;
    for (size_t k = 0; k < bytes; k++)
        number = number << 8 | (unsigned char)key[k];
    return number;
}

/* Up to seven bytes as one number, the first the highest: by their first and last four or two, which may overlap. */
static uint64_t rest_of(const char *key, size_t length)
{
    if (length >= 4)
        return big_endian(key, 4) << 8 * (length - 4) | big_endian(key + length - 4, 4);
    if (length >= 2)
        return big_endian(key, 2) << 8 * (length - 2) | big_endian(key + length - 2, 2);
    return length ? (unsigned char)*key : 0;
}

uint64_t kf_dictionary_hash(uint32_t column, const char *key, size_t length)
{
    uint64_t hash = mix(UINT64_C(0x8ebc6af09c88c6e3), (uint64_t)column << 32 ^ length);
    for (; length >= 8; key += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, key, 8);
        hash = mix(hash, word);
    }
    return mix(mix(hash, rest_of(key, length)), 0);
}

static uint64_t eight(const char *at)
{
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

static uint32_t four(const char *at)
{
    uint32_t word;
    memcpy(&word, at, 4);
    return word;
}

/* Most keys have up to 16 bytes: the first and the last eight or four, which may overlap, are all of them. */
static bool same_bytes(const char *one, const char *other, size_t length)
{
    if (length > 16 || length < 4)
        return memcmp(one, other, length) == 0;
    size_t last = length - (length < 8 ? 4 : 8);
    return length < 8 ? four(one) == four(other) && four(one + last) == four(other + last)
                      : eight(one) == eight(other) && eight(one + last) == eight(other + last);
}

static bool is_same(const struct kf_entry *entry, uint32_t column, const char *key, size_t length)
{
    return entry->column == column && entry->length == length && same_bytes(entry->key, key, length);
}

uint32_t kf_dictionary_find(const struct kf_dictionary *dictionary, uint64_t hash, uint32_t column, const char *key,
                            size_t length)
{
    size_t mask = dictionary->slots - 1;
    if (!dictionary->slots)
        return KF_NO_COORDINATE;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        const struct kf_slot *slot = &dictionary->slot[at];
        if (slot->coordinate == KF_NO_COORDINATE)
            return KF_NO_COORDINATE;
        if (slot->hash == (uint32_t)(hash >> 32) && is_same(&dictionary->entry[slot->coordinate], column, key, length))
            return slot->coordinate;
    }
}

/* Into the first free slot of its run. The low bits of the hash choose the slot, the high ones are kept. */
static void put(struct kf_slot *slots, size_t count, uint64_t hash, uint32_t coordinate)
{
    size_t at = hash & (count - 1);
    while (slots[at].coordinate != KF_NO_COORDINATE)
        at = (at + 1) & (count - 1);
    slots[at] = (struct kf_slot){(uint32_t)(hash >> 32), coordinate};
}

static uint64_t hash_of(const struct kf_entry *entry)
{
    return kf_dictionary_hash(entry->column, entry->key, entry->length);
}

/* At most half of the slots are in use. Entries go in again in their order, so that the newest can always be taken back. */
static bool grow(struct kf_dictionary *dictionary)
{
    if (2 * (dictionary->count + 1) <= dictionary->slots)
        return true;
    size_t slots = dictionary->slots ? 2 * dictionary->slots : SLOTS_FIRST;
    struct kf_slot *slot = slots <= SIZE_MAX / sizeof *slot ? kf_allocate_raw(slots * sizeof *slot) : NULL;
    if (!slot)
        return false;
    for (size_t k = 0; k < slots; k++)
        slot[k].coordinate = KF_NO_COORDINATE;
    for (size_t k = 0; k < dictionary->count; k++)
        put(slot, slots, hash_of(&dictionary->entry[k]), (uint32_t)k);
    free(dictionary->slot);
    dictionary->slot = slot;
    dictionary->slots = slots;
    return true;
}

bool kf_dictionary_add(struct kf_dictionary *dictionary, uint64_t hash, uint32_t column, const char *column_name,
                       const char *key, size_t length)
{
    size_t before = strlen(column_name), from = before + (length > 0);
    if (length > UINT32_MAX || dictionary->count >= KF_NO_COORDINATE || !grow(dictionary) ||
        !KF_RESERVE(dictionary->entry, dictionary->capacity, dictionary->count + 1))
        return false;
    char *name = kf_allocate_raw(from + length + 1);
    if (!name)
        return false;
    memcpy(name, column_name, before);
    if (length) {
        name[before] = '=';
        memcpy(name + from, key, length);
    }
    name[from + length] = '\0';
    dictionary->entry[dictionary->count] =
        (struct kf_entry){.name = name, .key = name + from, .length = (uint32_t)length, .column = column};
    put(dictionary->slot, dictionary->slots, hash, (uint32_t)dictionary->count++);
    return true;
}

void kf_dictionary_cut(struct kf_dictionary *dictionary, size_t count)
{
    while (dictionary->count > count) {
        struct kf_entry *entry = &dictionary->entry[--dictionary->count];
        size_t mask = dictionary->slots - 1, at = hash_of(entry) & mask;
        while (dictionary->slot[at].coordinate != dictionary->count)
            at = (at + 1) & mask;
        dictionary->slot[at].coordinate = KF_NO_COORDINATE;
        free(entry->name);
    }
}
