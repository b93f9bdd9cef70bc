#define _DEFAULT_SOURCE /* getentropy */
#include "history/writer.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

/* Written at once when so much has been gathered; more, where a thread of its own will write it. */
#define GATHERED_MOST ((size_t)1 << 18)
#define BATCH_MOST ((size_t)1 << 22)

keepfit_status kf_sync_read(const char *text, struct kf_sync_policy *policy, keepfit_error *error)
{
    static const struct {
        const char *name;
        bool counted;
    } kinds[] = {{"always", false}, {"batch:", true}, {"interval:", true}, {"none", false}};
    const char *end = text + strlen(text), *stop = NULL;
    for (int k = 0; k < 4; k++) {
        size_t length = strlen(kinds[k].name);
        if (strncmp(text, kinds[k].name, length) != 0)
            continue;
        *policy = (struct kf_sync_policy){.kind = k};
        if (kinds[k].counted ? kf_read_count(text + length, end, &policy->amount, &stop) == KF_NUMBER_OK &&
                                   stop == end && policy->amount > 0
                             : text + length == end)
            return KEEPFIT_OK;
    }
    static const char choices[] = "always|batch:N|interval:MS|none";
    keepfit_guess guess = {.word = text};
    keepfit_guess_offer(&guess, choices);
    return kf_fail(error, KEEPFIT_USAGE, "{sync}: '%s' is none of %s%s", text, choices, keepfit_guess_hint(&guess, ""));
}

char *kf_numbered_path(const char *home, uint64_t number, const char *suffix)
{
    char name[64];
    snprintf(name, sizeof name, "%020" PRIu64 ".%s", number, suffix);
    return kf_disk_join(home, name);
}

uint64_t kf_unforeseen(void)
{
    uint64_t number;
    if (getentropy(&number, sizeof number) == 0)
        return number;
    struct timespec time; /* good enough: it only has to differ from file to file */
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000007 ^ (uint64_t)time.tv_nsec << 20 ^ (uint64_t)getpid();
}

static uint64_t milliseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* From now on everything fails in the same way. */
static keepfit_status fail_for_good(struct kf_writer *writer, const char *doing, int64_t problem, keepfit_error *error)
{
    keepfit_status status = kf_disk_fail(&writer->failure, writer->path, doing, problem);
    kf_error_give(error, &writer->failure);
    return status;
}

static keepfit_status still_good(const struct kf_writer *writer, keepfit_error *error)
{
    if (writer->failure.status != KEEPFIT_OK)
        kf_error_give(error, &writer->failure);
    return writer->failure.status;
}

void kf_writer_init(struct kf_writer *writer, const keepfit_disk *disk, const char *home, uint64_t identity)
{
    *writer = (struct kf_writer){
        .disk = disk,
        .home = kf_copy_text(home),
        .identity = identity,
        .segment_bytes = UINT64_MAX,
        .file = -1,
        .next = 1,
        .synced_at = milliseconds(),
    };
}

static void close_file(struct kf_writer *writer)
{
    if (writer->file >= 0)
        writer->disk->close(writer->disk->context, writer->file);
    writer->file = -1;
}

/* Opens writer->path for writing; it has `size` bytes. */
static keepfit_status open_file(struct kf_writer *writer, uint64_t size, keepfit_error *error)
{
    writer->file = writer->disk->open(writer->disk->context, writer->path, KEEPFIT_DISK_WRITE, 0);
    if (writer->file < 0)
        return fail_for_good(writer, "cannot open the journal's segment for writing", writer->file, error);
    writer->offset = size;
    return KEEPFIT_OK;
}

keepfit_status kf_writer_begin(struct kf_writer *writer, keepfit_error *error)
{
    close_file(writer);
    free(writer->path);
    writer->path = writer->home ? kf_numbered_path(writer->home, writer->next, "segment") : NULL;
    if (!writer->path) {
        kf_fail_memory(&writer->failure);
        return still_good(writer, error);
    }
    writer->first = writer->next;
    writer->salt = kf_unforeseen();
    struct kf_segment_head head = kf_segment_head(writer->first, writer->salt, writer->identity);
    keepfit_status status =
        kf_disk_replace(writer->disk, writer->path, "the journal's segment", &head, sizeof head, &writer->failure);
    if (status != KEEPFIT_OK)
        return still_good(writer, error);
    return open_file(writer, sizeof head, error);
}

keepfit_status kf_writer_continue(struct kf_writer *writer, const struct kf_segment *segment, keepfit_error *error)
{
    writer->path = kf_copy_text(segment->path);
    if (!writer->path)
        return kf_fail_memory(error);
    writer->first = segment->head.first;
    writer->salt = segment->head.salt;
    writer->next = segment->next;
    keepfit_status status = open_file(writer, segment->used, error);
    if (status == KEEPFIT_OK && segment->used < segment->size) {
        int problem = writer->disk->truncate(writer->disk->context, writer->file, segment->used);
        if (problem < 0)
            status = fail_for_good(writer, "cannot cut off the torn tail", problem, error);
    }
    /* What has been read may not be durable yet, and is about to be relied on. */
    return status == KEEPFIT_OK ? kf_writer_sync(writer, error) : status;
}

void kf_writer_close(struct kf_writer *writer)
{
    kf_background_free(writer->background);
    if (writer->disk)
        close_file(writer);
    free(writer->buffer);
    free(writer->handed);
    free(writer->path);
    free(writer->home);
    *writer = (struct kf_writer){.file = -1};
}

static keepfit_status fail_to_write(struct kf_writer *writer, int problem, keepfit_error *error)
{
    return fail_for_good(writer, "cannot write the journal", problem, error);
}

static keepfit_status fail_to_sync(struct kf_writer *writer, int problem, keepfit_error *error)
{
    return fail_for_good(writer, "cannot make the journal durable", problem, error);
}

static keepfit_status flush(struct kf_writer *writer, keepfit_error *error)
{
    int problem = kf_disk_write(writer->disk, writer->file, writer->buffer, writer->buffered, writer->offset);
    if (problem < 0)
        return fail_to_write(writer, problem, error);
    writer->offset += writer->buffered;
    writer->buffered = 0;
    return KEEPFIT_OK;
}

static void became_durable(struct kf_writer *writer, uint64_t number, uint64_t arrived)
{
    writer->durable = number;
    writer->safe = arrived;
    writer->synced_at = milliseconds();
}

/* Takes note of the sync in the background, if it has ended or is waited for. */
static keepfit_status collect(struct kf_writer *writer, bool wait, keepfit_error *error)
{
    struct kf_background_end end;
    if (!writer->syncing || !kf_background_collect(writer->background, wait, &end))
        return still_good(writer, error);
    uint64_t number = writer->syncing;
    writer->syncing = 0;
    if (end.write < 0)
        return fail_to_write(writer, end.write, error);
    if (end.sync < 0)
        return fail_to_sync(writer, end.sync, error);
    became_durable(writer, number, writer->syncing_arrived);
    return still_good(writer, error);
}

keepfit_status kf_writer_sync(struct kf_writer *writer, keepfit_error *error)
{
    keepfit_status status = collect(writer, true, error);
    if (status == KEEPFIT_OK && writer->buffered)
        status = flush(writer, error);
    if (status != KEEPFIT_OK || writer->durable + 1 == writer->next)
        return status;
    int problem = writer->disk->sync(writer->disk->context, writer->file);
    if (problem < 0)
        return fail_to_sync(writer, problem, error);
    became_durable(writer, writer->next - 1, writer->arrived);
    return KEEPFIT_OK;
}

static uint64_t pending(const struct kf_writer *writer)
{
    return writer->next - 1 - writer->durable;
}

/* Begins to write and sync what there is, without waiting; meanwhile records are gathered in the other buffer. */
static void begin_sync(struct kf_writer *writer)
{
    unsigned char *free_buffer = writer->handed;
    size_t free_capacity = writer->handed_capacity;
    writer->handed = writer->buffer;
    writer->handed_capacity = writer->capacity;
    writer->buffer = free_buffer;
    writer->capacity = free_capacity;
    writer->syncing = writer->next - 1;
    writer->syncing_arrived = writer->arrived;
    kf_background_begin(writer->background, writer->file, writer->handed, writer->buffered, writer->offset);
    writer->offset += writer->buffered;
    writer->buffered = 0;
}

/* A batch is written and synced while the next one is gathered. Only a disk that has not finished by then is waited for. */
static keepfit_status acknowledge_batch(struct kf_writer *writer, keepfit_error *error)
{
    uint64_t size = writer->policy.amount;
    keepfit_status status = collect(writer, pending(writer) / 2 >= size, error);
    if (status != KEEPFIT_OK || writer->syncing || pending(writer) < size)
        return status;
    if (!writer->background && writer->disk->concurrent)
        writer->background = kf_background_create(writer->disk);
    if (!writer->background)
        return kf_writer_sync(writer, error);
    begin_sync(writer);
    return KEEPFIT_OK;
}

keepfit_status kf_writer_acknowledge(struct kf_writer *writer, keepfit_error *error)
{
    switch (writer->policy.kind) {
    case KF_SYNC_BATCH:
        return acknowledge_batch(writer, error);
    case KF_SYNC_INTERVAL:
        if (milliseconds() - writer->synced_at < writer->policy.amount)
            return still_good(writer, error);
        return kf_writer_sync(writer, error);
    case KF_SYNC_NONE:
        return still_good(writer, error);
    default:
        return kf_writer_sync(writer, error);
    }
}

/* Room for one more record, in a new segment if this one is full; NULL: it failed. */
static struct kf_record *make_room(struct kf_writer *writer, unsigned kind, uint64_t count, unsigned mark,
                                   keepfit_error *error)
{
    uint64_t bytes = 8 * kf_record_words(kind, count, mark);
    if (still_good(writer, error) != KEEPFIT_OK)
        return NULL;
    if (bytes / 8 > UINT32_MAX || count > UINT32_MAX || bytes > SIZE_MAX - BATCH_MOST) {
        kf_fail(error, KEEPFIT_DATA, "a row or note is too long for the journal");
        return NULL;
    }
    uint64_t filled = writer->offset + writer->buffered;
    bool full = filled + bytes > writer->segment_bytes && writer->next > writer->first && writer->members == 0;
    if (full && (kf_writer_sync(writer, error) != KEEPFIT_OK || kf_writer_begin(writer, error) != KEEPFIT_OK))
        return NULL;
    if (writer->buffered >= (writer->background ? BATCH_MOST : GATHERED_MOST) && flush(writer, error) != KEEPFIT_OK)
        return NULL;
    if (!KF_RESERVE(writer->buffer, writer->capacity, writer->buffered + (size_t)bytes)) {
        kf_fail_memory(error);
        if (writer->members) /* half a block must not be followed by anything */
            kf_fail_memory(&writer->failure);
        return NULL;
    }
    struct kf_record *record = (struct kf_record *)(writer->buffer + writer->buffered);
    *record = (struct kf_record){.words = (uint32_t)(bytes / 8),
                                 .number = writer->next,
                                 .durable = writer->durable,
                                 .kind = (uint16_t)kind,
                                 .mark = (uint16_t)mark,
                                 .count = (uint32_t)count};
    return record;
}

static void append(struct kf_writer *writer, struct kf_record *record)
{
    kf_record_seal(record, writer->salt);
    writer->buffered += kf_record_bytes(record);
    writer->next++;
    writer->members -= writer->members > 0;
}

/* A record whose contents are bytes; NULL: it failed. It is to be appended. */
static struct kf_record *lay_bytes(struct kf_writer *writer, uint32_t kind, const void *bytes, size_t count,
                                   keepfit_error *error)
{
    struct kf_record *record = make_room(writer, kind, count, 0, error);
    if (!record)
        return NULL;
    memset(record->row, 0, (count + 7) / 8 * 8);
    if (count)
        memcpy(record->row, bytes, count);
    return record;
}

static keepfit_status append_bytes(struct kf_writer *writer, uint32_t kind, const void *bytes, size_t count,
                                   keepfit_error *error)
{
    struct kf_record *record = lay_bytes(writer, kind, bytes, count, error);
    if (!record)
        return error->status;
    append(writer, record);
    return KEEPFIT_OK;
}

keepfit_status kf_writer_settings(struct kf_writer *writer, const char *text, keepfit_error *error)
{
    return append_bytes(writer, KF_RECORD_SETTINGS, text, strlen(text), error);
}

keepfit_status kf_writer_names(struct kf_writer *writer, const void *bytes, size_t count, keepfit_error *error)
{
    return append_bytes(writer, KF_RECORD_NAMES, bytes, count, error);
}

keepfit_status kf_writer_note(struct kf_writer *writer, const struct kf_note *note, keepfit_error *error)
{
    struct kf_record *record = lay_bytes(writer, KF_RECORD_NOTE, note->bytes, note->count, error);
    if (!record)
        return error->status;
    record->arrival = note->points;
    record->target = note->instead;
    append(writer, record);
    return KEEPFIT_OK;
}

/* Behind the row. */
static void lay_mark(double *at, const struct kf_mark *mark)
{
    if (!isnan(mark->time))
        *at++ = mark->time;
    memset(at, 0, (mark->length + 7) / 8 * 8);
    if (mark->length)
        memcpy(at, mark->key, mark->length);
}

keepfit_status kf_writer_point(struct kf_writer *writer, uint64_t arrival, const keepfit_point *point,
                               const struct kf_lead *lead, const struct kf_mark *mark, keepfit_error *error)
{
    struct kf_shape shape = kf_row_shape(&point->row, lead);
    unsigned kind = shape.dense ? KF_RECORD_DENSE : KF_RECORD_SPARSE;
    unsigned behind = (unsigned)mark->length | (isnan(mark->time) ? 0 : KF_RECORD_TIMED);
    assert(mark->length <= KEEPFIT_KEY_MOST);
    struct kf_record *record = make_room(writer, kind, shape.count, behind, error);
    if (!record)
        return error->status;
    lay_mark((double *)record + kf_record_words(kind, shape.count, 0), mark);
    record->arrival = arrival;
    record->target = point->target;
    record->weight = point->weight;
    kf_row_lay(&point->row, lead, &shape, record->row);
    append(writer, record);
    writer->arrived = arrival;
    return KEEPFIT_OK;
}

/* A record that is nothing but a head. */
static keepfit_status append_head(struct kf_writer *writer, uint32_t kind, uint64_t arrival, double target,
                                  keepfit_error *error)
{
    struct kf_record *record = make_room(writer, kind, 0, 0, error);
    if (!record)
        return error->status;
    record->arrival = arrival;
    record->target = target;
    append(writer, record);
    return KEEPFIT_OK;
}

keepfit_status kf_writer_removal(struct kf_writer *writer, uint64_t arrival, keepfit_error *error)
{
    return append_head(writer, KF_RECORD_REMOVAL, arrival, 0, error);
}

keepfit_status kf_writer_expected(struct kf_writer *writer, double label, keepfit_error *error)
{
    return append_head(writer, KF_RECORD_EXPECTED, 0, label, error);
}

keepfit_status kf_writer_room(struct kf_writer *writer, uint64_t features, uint64_t classes, keepfit_error *error)
{
    return append_head(writer, KF_RECORD_ROOM, features, (double)classes, error);
}

keepfit_status kf_writer_block(struct kf_writer *writer, uint64_t members, keepfit_error *error)
{
    keepfit_status status = append_head(writer, KF_RECORD_BLOCK, members, 0, error);
    if (status == KEEPFIT_OK)
        writer->members = members;
    return status;
}
