#include "history/record.h"

#include <math.h>
#include <string.h>

#include "base/crc32c.h"

static const char magic[8] = {'k', 'e', 'e', 'p', 'f', 'i', 't', 'J'};

static uint32_t head_checksum(const struct kf_segment_head *head)
{
    return kf_crc32c(0, &head->first, sizeof *head - offsetof(struct kf_segment_head, first));
}

struct kf_segment_head kf_segment_head(uint64_t first, uint64_t salt, uint64_t identity)
{
    struct kf_segment_head head = {.version = KF_SEGMENT_VERSION, .first = first, .salt = salt, .identity = identity};
    memcpy(head.magic, magic, sizeof magic);
    head.checksum = head_checksum(&head);
    return head;
}

const char *kf_segment_wrong(const struct kf_segment_head *head, size_t size)
{
    if (size < sizeof *head || memcmp(head->magic, magic, sizeof magic) != 0)
        return "is not a segment of a journal";
    if (head->version != KF_SEGMENT_VERSION)
        return "is of a format that this version does not know";
    return head->checksum == head_checksum(head) ? NULL : "has a damaged head";
}

/* Of a row: count doubles, and count indices where it is sparse. */
static uint64_t row_words(unsigned kind, uint64_t count)
{
    return kind == KF_RECORD_SPARSE ? count + (count + 1) / 2 : count;
}

uint64_t kf_record_words(unsigned kind, uint64_t count, unsigned mark)
{
    uint64_t head = sizeof(struct kf_record) / 8;
    switch (kind) {
    case KF_RECORD_SETTINGS:
    case KF_RECORD_NAMES:
    case KF_RECORD_NOTE:
        return mark == 0 ? head + (count + 7) / 8 : 0;
    case KF_RECORD_DENSE:
    case KF_RECORD_SPARSE:
        return head + row_words(kind, count) + (mark & KF_RECORD_TIMED ? 1 : 0) + ((mark & ~KF_RECORD_TIMED) + 7) / 8;
    case KF_RECORD_REMOVAL:
    case KF_RECORD_BLOCK:
    case KF_RECORD_EXPECTED:
    case KF_RECORD_ROOM:
        return count == 0 && mark == 0 ? head : 0;
    default:
        return 0;
    }
}

static uint32_t record_checksum(const struct kf_record *record, uint64_t salt)
{
    return kf_crc32c(kf_crc32c(0, &salt, sizeof salt), &record->words, kf_record_bytes(record) - 4);
}

void kf_record_seal(struct kf_record *record, uint64_t salt)
{
    record->words = (uint32_t)kf_record_words(record->kind, record->count, record->mark);
    record->checksum = record_checksum(record, salt);
}

/* What a fit would refuse is never written, so it cannot be there. */
static bool contents_sound(const struct kf_record *record)
{
    if (!kf_record_is_point(record))
        return isfinite(record->target);
    if (!isfinite(record->target) || !isfinite(record->weight) || record->weight < 0)
        return false;
    const uint32_t *index = (const uint32_t *)(record->row + record->count);
    double sum = 0; /* of zeros, as long as all are finite */
    for (uint32_t k = 0; k < record->count; k++)
        sum += 0 * record->row[k];
    for (uint32_t k = 1; record->kind == KF_RECORD_SPARSE && k < record->count; k++)
        if (index[k] <= index[k - 1])
            return false;
    struct kf_mark mark = kf_record_mark(record);
    if (isinf(mark.time) || (kf_record_is_timed(record) && isnan(mark.time)) || mark.length > KEEPFIT_KEY_MOST ||
        (mark.length && memchr(mark.key, '\0', mark.length)))
        return false;
    bool highest = record->kind == KF_RECORD_SPARSE && record->count && index[record->count - 1] == UINT32_MAX;
    return sum == 0 && !highest;
}

bool kf_record_sound(const struct kf_record *at, size_t available, uint64_t salt)
{
    return available >= sizeof *at && available / 8 >= at->words &&
           at->words == kf_record_words(at->kind, at->count, at->mark) && at->words > 0 &&
           at->checksum == record_checksum(at, salt) && contents_sound(at);
}

struct kf_mark kf_record_mark(const struct kf_record *record)
{
    struct kf_mark mark = {NULL, 0, NAN};
    if (!kf_record_is_point(record))
        return mark;
    const double *behind = record->row + row_words(record->kind, record->count);
    if (kf_record_is_timed(record))
        mark.time = *behind++;
    mark.length = kf_record_key(record);
    mark.key = mark.length ? (const char *)behind : NULL;
    return mark;
}

keepfit_point kf_record_point(const struct kf_record *record, const struct kf_lead *lead, uint32_t *index)
{
    const uint32_t *stored = record->kind == KF_RECORD_SPARSE ? (const uint32_t *)(record->row + record->count) : NULL;
    const keepfit_row kept = {.count = record->count, .index = stored, .value = record->row};
    return (keepfit_point){
        .row = kf_lead_strip(lead, &kept, index),
        .target = record->target,
        .weight = record->weight,
        .weightless = record->weight == 0,
    };
}

keepfit_status kf_record_names(const struct kf_record *record, struct kf_schema *known)
{
    struct kf_archive archive = kf_archive_to_read(record->row, record->count);
    struct kf_schema said = {0}, news = {0};
    kf_schema_archive(&said, &archive);
    kf_archive_require(&archive, archive.at == archive.count);
    keepfit_schema shown = kf_schema_show(&said);
    keepfit_status status = archive.status;
    if (status == KEEPFIT_OK)
        status = kf_schema_news(known, &shown, said.earlier, &news, NULL);
    if (status == KEEPFIT_OK && !kf_schema_learn(known, &news))
        status = KEEPFIT_NO_MEMORY;
    kf_schema_free(&said);
    kf_schema_free(&news);
    return status == KEEPFIT_DATA ? KEEPFIT_CORRUPT : status;
}
