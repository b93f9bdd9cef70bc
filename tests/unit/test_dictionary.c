/* The dictionary of categories against a plain list: what is added is found with its number, what is not is not, and what is taken
 * back is as if it had never been, also while a larger table takes over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/dictionary.h"
#include "support.h"

#define KEYS_MOST 20000

/* Which key stands at each place, and at which place each key is; -1: at none. */
static int at[KEYS_MOST], place[KEYS_MOST];
static size_t listed;

/* Keys of many lengths, in two columns; some are beginnings of others. */
static size_t write_key(int key, char room[64], uint32_t *column)
{
    *column = (uint32_t)key % 2;
    return (size_t)snprintf(room, 64, "%.*s%d", key % 23, "a key that is rather long", key / 2);
}

static uint32_t find(const struct kf_dictionary *dictionary, int key)
{
    char room[64];
    uint32_t column;
    size_t length = write_key(key, room, &column);
    return kf_dictionary_find(dictionary, kf_dictionary_hash(column, room, length), column, room, length);
}

static bool add(struct kf_dictionary *dictionary, int key)
{
    char room[64];
    uint32_t column;
    size_t length = write_key(key, room, &column);
    at[listed] = key;
    place[key] = (int)listed++;
    return kf_dictionary_add(dictionary, kf_dictionary_hash(column, room, length), column, "column", room, length);
}

static void cut(struct kf_dictionary *dictionary, size_t count)
{
    while (listed > count)
        place[at[--listed]] = -1;
    kf_dictionary_cut(dictionary, count);
}

static size_t count_wrong(const struct kf_dictionary *dictionary, int keys)
{
    size_t wrong = dictionary->count != listed;
    for (int key = 0; key < keys; key++)
        wrong += find(dictionary, key) != (place[key] < 0 ? KF_NO_COORDINATE : (uint32_t)place[key]);
    return wrong;
}

static void test_against_list(struct tap *tap, uint64_t seed, int keys, bool taken_back)
{
    struct kf_dictionary dictionary = {0};
    struct kf_random random;
    kf_random_seed(&random, seed);
    memset(place, -1, sizeof place);
    listed = 0;
    size_t wrong = 0;
    for (int step = 0; step < 3 * keys; step++) {
        int key = (int)kf_random_below(&random, (uint32_t)keys);
        if (place[key] < 0)
            wrong += !add(&dictionary, key);
        wrong += find(&dictionary, key) != (uint32_t)place[key];
        key = (int)kf_random_below(&random, (uint32_t)keys);
        wrong += find(&dictionary, key) != (place[key] < 0 ? KF_NO_COORDINATE : (uint32_t)place[key]);
        if (taken_back && kf_random_below(&random, 9) == 0)
            cut(&dictionary, listed - (size_t)kf_random_below(&random, (listed < 12 ? listed : 12) + 1));
        if ((step & (step - 1)) == 0)
            wrong += count_wrong(&dictionary, keys);
    }
    wrong += count_wrong(&dictionary, keys);
    tap_check(tap, wrong == 0, "%d keys%s: %zu wrong answers", keys, taken_back ? ", some taken back" : "", wrong);
    kf_dictionary_free(&dictionary);
}

/* What one entry costs is bounded: so many slots are moved, and no more. */
static void test_smooth(struct tap *tap)
{
    struct kf_dictionary dictionary = {0};
    memset(place, -1, sizeof place);
    listed = 0;
    size_t most = 0;
    for (int key = 0; key < KEYS_MOST; key++) {
        size_t before = dictionary.before ? dictionary.moved : 0, slots = dictionary.slots;
        add(&dictionary, key);
        bool grown = dictionary.slots != slots;
        size_t moved = dictionary.before ? dictionary.moved - (grown ? 0 : before) : 0;
        most = moved > most ? moved : most;
        if (grown && slots)
            tap_check(tap, before == 0, "the table of %zu slots had moved before the next one was needed", slots / 2);
    }
    tap_check(tap, most > 0 && most <= 8, "an entry moves at most a few slots (%zu)", most);
    tap_check(tap, count_wrong(&dictionary, KEYS_MOST) == 0, "all are found");
    kf_dictionary_free(&dictionary);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    (void)words;
    for (uint64_t seed = 1; seed <= (count > 1 ? 4 : 20); seed++) {
        test_against_list(&tap, seed, 700, true);
        test_against_list(&tap, seed, 300 * (int)seed, false);
    }
    test_smooth(&tap);
    return tap_end(&tap);
}
