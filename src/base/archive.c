#include "base/archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define WORD 8

struct kf_archive kf_archive_to_read(const void *bytes, size_t count)
{
    return (struct kf_archive){.reading = true, .bytes = (unsigned char *)(uintptr_t)bytes, .count = count};
}

void kf_archive_free(struct kf_archive *archive)
{
    if (!archive->reading)
        free(archive->bytes);
    *archive = (struct kf_archive){0};
}

static void fail(struct kf_archive *archive, keepfit_status status)
{
    if (archive->status == KEEPFIT_OK)
        archive->status = status;
}

void kf_archive_require(struct kf_archive *archive, bool so)
{
    if (archive->reading && !so)
        fail(archive, KEEPFIT_CORRUPT);
}

bool kf_archive_holds(const struct kf_archive *archive, size_t numbers)
{
    return numbers <= (archive->count - archive->at) / WORD;
}

/* The place of the next `count` bytes; NULL: there is none. */
static unsigned char *next(struct kf_archive *archive, size_t count)
{
    if (archive->status != KEEPFIT_OK)
        return NULL;
    if (archive->reading) {
        kf_archive_require(archive, count <= archive->count - archive->at);
        if (archive->status != KEEPFIT_OK)
            return NULL;
        archive->at += count;
        return archive->bytes + archive->at - count;
    }
    if (count > SIZE_MAX - archive->count || !KF_RESERVE(archive->bytes, archive->capacity, archive->count + count)) {
        fail(archive, KEEPFIT_NO_MEMORY);
        return NULL;
    }
    archive->count += count;
    return archive->bytes + archive->count - count;
}

static void put_word(unsigned char *to, uint64_t word)
{
    for (size_t k = 0; k < WORD; k++)
        to[k] = (unsigned char)(word >> 8 * k);
}

static uint64_t get_word(const unsigned char *from)
{
    uint64_t word = 0;
    for (size_t k = 0; k < WORD; k++)
        word |= (uint64_t)from[k] << 8 * k;
    return word;
}

void kf_archive_number(struct kf_archive *archive, uint64_t *number)
{
    unsigned char *place = next(archive, WORD);
    if (!place)
        return;
    if (archive->reading)
        *number = get_word(place);
    else
        put_word(place, *number);
}

void kf_archive_count(struct kf_archive *archive, size_t *count, size_t most)
{
    uint64_t number = *count;
    kf_archive_number(archive, &number);
    kf_archive_require(archive, number <= most);
    if (archive->reading && archive->status == KEEPFIT_OK)
        *count = (size_t)number;
}

void kf_archive_flag(struct kf_archive *archive, bool *flag)
{
    size_t number = *flag;
    kf_archive_count(archive, &number, 1);
    *flag = number == 1;
}

void kf_archive_real(struct kf_archive *archive, double *real)
{
    kf_archive_reals(archive, real, 1);
}

void kf_archive_reals(struct kf_archive *archive, double *reals, size_t count)
{
    kf_archive_require(archive, kf_archive_holds(archive, count));
    unsigned char *place = count > SIZE_MAX / WORD ? NULL : next(archive, count * WORD);
    for (size_t k = 0; k < count && place; k++) {
        uint64_t word;
        if (archive->reading) {
            word = get_word(place + k * WORD);
            memcpy(&reals[k], &word, sizeof word);
        } else {
            memcpy(&word, &reals[k], sizeof word);
            put_word(place + k * WORD, word);
        }
    }
}

void kf_archive_array(struct kf_archive *archive, double **array, size_t *capacity, size_t count)
{
    kf_archive_require(archive, kf_archive_holds(archive, count));
    if (archive->status == KEEPFIT_OK && archive->reading && !KF_RESERVE(*array, *capacity, count))
        fail(archive, KEEPFIT_NO_MEMORY);
    if (archive->status == KEEPFIT_OK)
        kf_archive_reals(archive, *array, count);
}

void kf_archive_text(struct kf_archive *archive, char *text, size_t room)
{
    size_t length = archive->reading ? 0 : strlen(text);
    kf_archive_count(archive, &length, room - 1);
    unsigned char *place = next(archive, length);
    if (!place)
        return;
    if (archive->reading) {
        kf_archive_require(archive, !memchr(place, '\0', length));
        memcpy(text, place, length);
        text[length] = '\0';
    } else {
        memcpy(place, text, length);
    }
}

void kf_archive_bytes(struct kf_archive *archive, void *bytes, size_t count)
{
    unsigned char *place = next(archive, count);
    if (!place || !count)
        return;
    if (archive->reading)
        memcpy(bytes, place, count);
    else
        memcpy(place, bytes, count);
}
