#include "history/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"

static keepfit_status map(struct kf_segment *segment, const keepfit_disk *disk, int file, keepfit_error *error)
{
    const void *bytes = NULL;
    int64_t size = disk->size(disk->context, file);
    if (size < 0)
        return kf_disk_fail(error, segment->path, "cannot find out its size", size);
    if ((uint64_t)size < sizeof segment->head)
        return kf_fail(error, KEEPFIT_CORRUPT, "%s: is not a segment of a journal", segment->path);
    int problem = disk->map(disk->context, file, (size_t)size, &bytes);
    if (problem < 0)
        return kf_disk_fail(error, segment->path, "cannot map it into memory", problem);
    segment->bytes = bytes;
    segment->size = (size_t)size;
    memcpy(&segment->head, bytes, sizeof segment->head);
    return KEEPFIT_OK;
}

keepfit_status kf_segment_open(struct kf_segment *segment, const keepfit_disk *disk, const char *path, uint64_t first,
                               keepfit_error *error)
{
    *segment = (struct kf_segment){.path = kf_copy_text(path)};
    if (!segment->path)
        return kf_fail_memory(error);
    int file = disk->open(disk->context, path, KEEPFIT_DISK_READ, 0);
    keepfit_status status = file < 0 ? kf_disk_fail(error, path, "cannot open the journal's segment", file)
                                     : map(segment, disk, file, error);
    if (file >= 0)
        disk->close(disk->context, file);
    const char *wrong = status == KEEPFIT_OK ? kf_segment_wrong(&segment->head, segment->size) : NULL;
    if (!wrong && status == KEEPFIT_OK && segment->head.first != first)
        wrong = "does not begin with the record that its name says";
    if (wrong)
        status = kf_fail(error, KEEPFIT_CORRUPT, "%s: %s", path, wrong);
    if (status != KEEPFIT_OK) {
        kf_segment_close(segment, disk);
        return status;
    }
    segment->used = sizeof segment->head;
    segment->next = first;
    return KEEPFIT_OK;
}

void kf_segment_close(struct kf_segment *segment, const keepfit_disk *disk)
{
    if (segment->bytes)
        disk->unmap(disk->context, segment->bytes, segment->size);
    free(segment->path);
    *segment = (struct kf_segment){0};
}

/* The sound record of this number at this place; NULL: there is none, which is then remembered. */
static const struct kf_record *sound_record(struct kf_segment *segment, size_t at, uint64_t number)
{
    const struct kf_record *record = (const struct kf_record *)(segment->bytes + at);
    if (kf_record_sound(record, segment->size - at, segment->head.salt) && record->number == number)
        return record;
    segment->bad = number;
    segment->bad_at = at;
    return NULL;
}

/* One record, or a whole block of them. */
static bool scan_one(struct kf_segment *segment)
{
    uint64_t points = 0, removals = 0, keyed = 0, members = 0, number = segment->next;
    size_t at = segment->used;
    for (uint64_t k = 0; k <= members; k++) {
        const struct kf_record *record = sound_record(segment, at, number);
        if (!record || (k > 0 && record->kind == KF_RECORD_BLOCK))
            return false;
        if (record->kind == KF_RECORD_BLOCK)
            members = record->arrival;
        points += kf_record_is_point(record);
        keyed += kf_record_is_point(record) && kf_record_key(record) > 0;
        removals += record->kind == KF_RECORD_REMOVAL;
        at += kf_record_bytes(record);
        number++;
    }
    segment->used = at;
    segment->next = number;
    segment->points += points;
    segment->removals += removals;
    segment->keyed += keyed;
    return true;
}

void kf_segment_scan(struct kf_segment *segment)
{
    while (scan_one(segment))
        ;
}

bool kf_segment_torn(const struct kf_segment *segment, uint64_t floor)
{
    uint64_t lost = segment->next;
    if (lost <= floor)
        return false;
    /* Looking at every place for a record costs a checksum for each that looks like one; a file made to have too many of them is not
     * what a power cut leaves. */
    uint64_t work = 16 * (uint64_t)segment->size + ((uint64_t)1 << 24);
    for (size_t at = segment->used; at + sizeof(struct kf_record) <= segment->size; at += 8) {
        const struct kf_record *record = (const struct kf_record *)(segment->bytes + at);
        size_t available = segment->size - at;
        if (record->number <= lost || record->number - lost > segment->size || record->durable < lost ||
            record->words > available / 8 ||
            record->words != kf_record_words(record->kind, record->count, record->mark))
            continue;
        if (kf_record_bytes(record) > work || kf_record_sound(record, available, segment->head.salt))
            return false;
        work -= kf_record_bytes(record);
    }
    return true;
}
