#include "stream/dictionary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SLOTS_FIRST 64
#define MOVED_AT_ONCE 4 /* slots of the table before: two would be enough to be done before the next one is needed */

void kf_dictionary_free(struct kf_dictionary *dictionary)
{
    for (size_t k = 0; k < dictionary->count; k++)
        free(dictionary->entry[k].name);
    free(dictionary->entry);
    free(dictionary->slot);
    free(dictionary->before);
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

static uint32_t find_in(const struct kf_dictionary *dictionary, const struct kf_slot *slots, size_t count,
                        uint64_t hash, uint32_t column, const char *key, size_t length)
{
    size_t mask = count - 1;
    for (size_t at = hash & mask; slots[at].number; at = (at + 1) & mask)
        if (slots[at].hash == (uint32_t)(hash >> 32) &&
            is_same(&dictionary->entry[slots[at].number - 1], column, key, length))
            return slots[at].number - 1;
    return KF_NO_COORDINATE;
}

uint32_t kf_dictionary_find(const struct kf_dictionary *dictionary, uint64_t hash, uint32_t column, const char *key,
                            size_t length)
{
    if (!dictionary->slots)
        return KF_NO_COORDINATE;
    uint32_t found = find_in(dictionary, dictionary->slot, dictionary->slots, hash, column, key, length);
    if (found == KF_NO_COORDINATE && dictionary->before)
        found = find_in(dictionary, dictionary->before, dictionary->before_slots, hash, column, key, length);
    return found;
}

/* Into the first free slot of its run. The low bits of the hash choose the slot, the high ones are kept. */
static void put(struct kf_slot *slots, size_t count, uint64_t hash, uint32_t coordinate)
{
    size_t at = hash & (count - 1);
    while (slots[at].number)
        at = (at + 1) & (count - 1);
    slots[at] = (struct kf_slot){(uint32_t)(hash >> 32), coordinate + 1};
}

static uint64_t hash_of(const struct kf_entry *entry)
{
    return kf_dictionary_hash(entry->column, entry->key, entry->length);
}

/* Moves some of the table before. */
static void move(struct kf_dictionary *dictionary)
{
    for (size_t k = 0; k < MOVED_AT_ONCE && dictionary->before; k++) {
        const struct kf_slot *slot = &dictionary->before[dictionary->moved++];
        if (slot->number)
            put(dictionary->slot, dictionary->slots, hash_of(&dictionary->entry[slot->number - 1]), slot->number - 1);
        if (dictionary->moved == dictionary->before_slots) {
            free(dictionary->before);
            dictionary->before = NULL;
        }
    }
}

/* At most half of the slots are in use. */
static bool grow(struct kf_dictionary *dictionary)
{
    if (2 * (dictionary->count + 1) <= dictionary->slots)
        return true;
    while (dictionary->before) /* only where many entries were taken back */
        move(dictionary);
    size_t slots = dictionary->slots ? 2 * dictionary->slots : SLOTS_FIRST;
    struct kf_slot *slot = kf_allocate(slots, sizeof *slot);
    if (!slot)
        return false;
    dictionary->before = dictionary->slot;
    dictionary->before_slots = dictionary->slots;
    dictionary->moved = 0;
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
    move(dictionary);
    return true;
}

/* Out of a table, where what stands behind it in its run moves up, as far as it may. */
static void take_out(struct kf_dictionary *dictionary, struct kf_slot *slots, size_t count, uint32_t coordinate)
{
    size_t mask = count - 1, at = hash_of(&dictionary->entry[coordinate]) & mask;
    while (slots[at].number && slots[at].number != coordinate + 1)
        at = (at + 1) & mask;
    assert(slots[at].number);
    for (size_t next = (at + 1) & mask; slots[next].number; next = (next + 1) & mask) {
        size_t home = hash_of(&dictionary->entry[slots[next].number - 1]) & mask;
        if (((next - home) & mask) < ((next - at) & mask))
            continue;
        slots[at] = slots[next];
        at = next;
    }
    slots[at].number = 0;
}

void kf_dictionary_cut(struct kf_dictionary *dictionary, size_t count)
{
    while (dictionary->count > count) {
        uint32_t last = (uint32_t)dictionary->count - 1;
        while (dictionary->before) /* rows that are refused are rare, and this is done once for each table */
            move(dictionary);
        take_out(dictionary, dictionary->slot, dictionary->slots, last);
        free(dictionary->entry[last].name);
        dictionary->count--;
    }
}
