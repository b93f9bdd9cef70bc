#define _POSIX_C_SOURCE 200809L
#include "history/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "history/folder.h"

#define DIGITS 6
#define LOCK_NAME "lock"
#define UNFINISHED ".new"

/* ---- the folder ---- */

static char *generation_path(const struct kf_journal *journal, uint64_t generation, const char *suffix)
{
    char name[32];
    snprintf(name, sizeof name, "%0*" PRIu64 "%s", DIGITS, generation, suffix);
    return kf_disk_join(journal->folder, name);
}

static bool is_leftover(const struct kf_journal *journal, const char *name)
{
    uint64_t number;
    return kf_name_number(name, DIGITS, UNFINISHED, &number) ||
           (kf_name_number(name, DIGITS, "", &number) && number < journal->generation);
}

/* Finds the generation that counts. Foreign files mean that this is some other folder. */
static keepfit_status find_generation(struct kf_journal *journal, bool writing, keepfit_error *error)
{
    struct kf_names names;
    keepfit_status status = kf_names_read(&names, journal->disk, journal->folder, error);
    if (status != KEEPFIT_OK)
        return status;
    const char *foreign = NULL;
    for (size_t k = 0; k < names.count; k++) {
        uint64_t number;
        if (kf_name_number(names.name[k], DIGITS, "", &number))
            journal->generation = number > journal->generation ? number : journal->generation;
        else if (strcmp(names.name[k], LOCK_NAME) != 0 && !is_leftover(journal, names.name[k]))
            foreign = names.name[k];
    }
    if (journal->generation) {
        journal->home = generation_path(journal, journal->generation, "");
        status = journal->home ? KEEPFIT_OK : kf_fail_memory(error);
    } else if (foreign && writing) {
        status = kf_fail(error, KEEPFIT_USAGE, "%s: is not a journal and is not empty ('%s'), so none is made there",
                         journal->folder, foreign);
    } else if (!writing) {
        status = kf_fail(error, KEEPFIT_IO, "%s: there is no journal in this folder", journal->folder);
    }
    kf_names_free(&names);
    return status;
}

/* What an interrupted creation or compaction has left, and temporary files; what cannot be removed does no harm. */
static void remove_leftovers(const struct kf_journal *journal)
{
    const keepfit_disk *disk = journal->disk;
    struct kf_names names;
    if (kf_names_read(&names, disk, journal->folder, NULL) == KEEPFIT_OK) {
        for (size_t k = 0; k < names.count; k++) {
            char *path = is_leftover(journal, names.name[k]) ? kf_disk_join(journal->folder, names.name[k]) : NULL;
            if (path)
                kf_folder_remove(disk, path);
            free(path);
        }
        kf_names_free(&names);
    }
    if (!journal->home || kf_names_read(&names, disk, journal->home, NULL) != KEEPFIT_OK)
        return;
    for (size_t k = 0; k < names.count; k++) {
        char *path = strstr(names.name[k], ".new-") ? kf_disk_join(journal->home, names.name[k]) : NULL;
        if (path)
            disk->remove(disk->context, path);
        free(path);
    }
    kf_names_free(&names);
}

/* The name of the generation may be the work of a process that died before it was durable: it has to be before others go for its sake. */
static keepfit_status settle(const struct kf_journal *journal, keepfit_error *error)
{
    int problem = journal->disk->sync_folder(journal->disk->context, journal->folder);
    return problem < 0 ? kf_disk_fail(error, journal->folder, "cannot make the journal durable", problem) : KEEPFIT_OK;
}

/* ---- the lock ---- */

static keepfit_status fail_locked(const struct kf_journal *journal, int file, keepfit_error *error)
{
    char holder[24] = "";
    int64_t length = kf_disk_read(journal->disk, file, holder, sizeof holder - 1, 0);
    holder[length > 0 ? length : 0] = '\0';
    holder[strspn(holder, "0123456789")] = '\0';
    return kf_fail(error, KEEPFIT_IO, "%s: the journal is in use by %s%s; stop it first, or use another folder",
                   journal->folder, *holder ? "process " : "another process", holder);
}

static keepfit_status take_lock(struct kf_journal *journal, keepfit_error *error)
{
    const keepfit_disk *disk = journal->disk;
    char *path = kf_disk_join(journal->folder, LOCK_NAME), holder[24];
    if (!path)
        return kf_fail_memory(error);
    int file = disk->open(disk->context, path, KEEPFIT_DISK_WRITE | KEEPFIT_DISK_CREATE, 0);
    free(path);
    if (file < 0)
        return kf_disk_fail(error, journal->folder, "cannot lock the journal", file);
    int problem = disk->lock(disk->context, file);
    keepfit_status status = KEEPFIT_OK;
    if (problem == -EWOULDBLOCK)
        status = fail_locked(journal, file, error);
    else if (problem < 0)
        status = kf_disk_fail(error, journal->folder, "cannot lock the journal", problem);
    if (status != KEEPFIT_OK) {
        disk->close(disk->context, file);
        return status;
    }
    journal->lock = file;
    /* Only for the message above; that it cannot be written will show elsewhere. */
    int length = snprintf(holder, sizeof holder, "%ld\n", (long)getpid());
    disk->truncate(disk->context, file, 0);
    kf_disk_write(disk, file, holder, (size_t)length, 0);
    return KEEPFIT_OK;
}

static keepfit_status make_folder(const struct kf_journal *journal, keepfit_error *error)
{
    const keepfit_disk *disk = journal->disk;
    keepfit_disk_kind kind;
    int problem = disk->examine(disk->context, journal->folder, &kind, NULL);
    if (problem == 0 && kind != KEEPFIT_DISK_FOLDER)
        return kf_fail(error, KEEPFIT_USAGE, "%s: is not a folder, so no journal is kept there", journal->folder);
    if (problem != 0 && problem != -ENOENT)
        return kf_disk_fail(error, journal->folder, "cannot look at the journal's folder", problem);
    char *parent = kf_disk_folder_of(journal->folder);
    if (!parent)
        return kf_fail_memory(error);
    if (problem == -ENOENT)
        problem = disk->make_folder(disk->context, journal->folder);
    if (problem == 0) { /* also where it was there: whoever made it may have been killed before */
        problem = disk->sync_folder(disk->context, parent);
        if (problem == -EACCES)
            problem = 0; /* a parent that may not be read is not ours to make durable */
    }
    free(parent);
    return problem == 0 ? KEEPFIT_OK
                        : kf_disk_fail(error, journal->folder, "cannot make the journal's folder", problem);
}

/* ---- reading ---- */

static keepfit_status add_segment(struct kf_journal *journal, const char *path, uint64_t first, keepfit_error *error)
{
    if (!KF_RESERVE(journal->segments, journal->segment_capacity, journal->segment_count + 1))
        return kf_fail_memory(error);
    struct kf_segment *segment = &journal->segments[journal->segment_count];
    keepfit_status status = kf_segment_open(segment, journal->disk, path, first, error);
    if (status != KEEPFIT_OK)
        return status;
    journal->segment_count++;
    kf_segment_scan(segment);
    return KEEPFIT_OK;
}

uint64_t kf_journal_last(const struct kf_journal *journal)
{
    return journal->segment_count ? journal->segments[journal->segment_count - 1].next - 1 : 0;
}

static void damaged_after(struct kf_journal *journal)
{
    const struct kf_segment *segment = &journal->segments[journal->segment_count - 1];
    kf_fail(&journal->damage, KEEPFIT_CORRUPT,
            "%s: record %" PRIu64
            " at byte %zu is damaged, and it had been durable, so this is not the trace of a crash; "
            "the %" PRIu64 " records before it are whole ('keepfit export' gives their points)",
            segment->path, segment->bad, segment->bad_at, segment->next - 1);
}

static void missing_after(struct kf_journal *journal)
{
    uint64_t last = kf_journal_last(journal);
    kf_fail(&journal->damage, KEEPFIT_CORRUPT,
            "%s: record %" PRIu64 " is missing, though there are traces of later ones; the %" PRIu64
            " records before it are whole ('keepfit export' gives their points)",
            journal->home, last + 1, last);
}

/* The next segment, if it continues the ones before. Damage ends the data; only other failures end the reading. */
static keepfit_status read_segment(struct kf_journal *journal, const char *name, uint64_t first, keepfit_error *error)
{
    if (journal->segment_count) {
        const struct kf_segment *before = &journal->segments[journal->segment_count - 1];
        if (before->used < before->size) {
            damaged_after(journal);
            return KEEPFIT_OK;
        }
    }
    if (first != kf_journal_last(journal) + 1) {
        missing_after(journal);
        return KEEPFIT_OK;
    }
    char *path = kf_disk_join(journal->home, name);
    keepfit_status status = path ? add_segment(journal, path, first, error) : kf_fail_memory(error);
    free(path);
    if (status == KEEPFIT_CORRUPT) {
        journal->damage = *error;
        return KEEPFIT_OK;
    }
    const struct kf_segment *segment = status == KEEPFIT_OK ? &journal->segments[journal->segment_count - 1] : NULL;
    if (segment && first == 1)
        journal->identity = segment->head.identity;
    else if (segment && segment->head.identity != journal->identity)
        kf_fail(&journal->damage, KEEPFIT_CORRUPT, "%s: belongs to another journal", segment->path);
    return status;
}

/* Whether the data ends as it should, and if not, whether a power cut explains it. */
static void judge_end(struct kf_journal *journal)
{
    uint64_t floor = journal->checkpoint.number;
    const struct kf_segment *last = journal->segment_count ? &journal->segments[journal->segment_count - 1] : NULL;
    if (!last || last->next == 1)
        kf_fail(&journal->damage, KEEPFIT_CORRUPT, "%s: the journal's first record is missing or damaged",
                journal->home);
    else if (last->used < last->size && !kf_segment_torn(last, floor))
        damaged_after(journal);
    else if (last->next <= floor)
        missing_after(journal);
    else
        journal->torn = last->size - last->used;
}

static keepfit_status read_all(struct kf_journal *journal, keepfit_error *error)
{
    struct kf_names names;
    keepfit_status status = kf_names_read(&names, journal->disk, journal->home, error);
    if (status != KEEPFIT_OK)
        return status;
    for (size_t k = 0; k < names.count && status == KEEPFIT_OK && journal->damage.status == KEEPFIT_OK; k++) {
        uint64_t first;
        if (kf_name_number(names.name[k], 20, ".segment", &first))
            status = read_segment(journal, names.name[k], first, error);
    }
    kf_names_free(&names);
    if (status == KEEPFIT_OK)
        status = kf_checkpoint_find(&journal->checkpoint, journal->disk, journal->home, journal->identity, error);
    if (status == KEEPFIT_OK && journal->damage.status == KEEPFIT_OK)
        judge_end(journal);
    return status;
}

static void start(struct kf_journal *journal, const keepfit_disk *disk, const char *folder)
{
    *journal = (struct kf_journal){.disk = disk, .folder = kf_copy_text(folder), .lock = -1, .writer.file = -1};
    for (size_t end = journal->folder ? strlen(folder) : 0; end > 1 && journal->folder[end - 1] == '/'; end--)
        journal->folder[end - 1] = '\0';
}

keepfit_status kf_journal_read(struct kf_journal *journal, const keepfit_disk *disk, const char *folder,
                               keepfit_error *error)
{
    start(journal, disk, folder);
    keepfit_status status = journal->folder ? find_generation(journal, false, error) : kf_fail_memory(error);
    if (status == KEEPFIT_OK)
        status = read_all(journal, error);
    if (status != KEEPFIT_OK)
        kf_journal_close(journal);
    return status;
}

keepfit_status kf_journal_open(struct kf_journal *journal, const keepfit_disk *disk, const char *folder,
                               keepfit_error *error)
{
    start(journal, disk, folder);
    keepfit_status status = journal->folder ? make_folder(journal, error) : kf_fail_memory(error);
    if (status == KEEPFIT_OK)
        status = take_lock(journal, error);
    if (status == KEEPFIT_OK)
        status = find_generation(journal, true, error);
    if (status == KEEPFIT_OK)
        status = settle(journal, error);
    if (status == KEEPFIT_OK)
        remove_leftovers(journal);
    if (status == KEEPFIT_OK && journal->home)
        status = read_all(journal, error);
    if (status == KEEPFIT_OK && journal->damage.status != KEEPFIT_OK) {
        kf_error_give(error, &journal->damage);
        status = error->status;
    }
    if (status != KEEPFIT_OK)
        kf_journal_close(journal);
    return status;
}

void kf_journal_close(struct kf_journal *journal)
{
    kf_writer_close(&journal->writer);
    for (size_t k = 0; k < journal->segment_count; k++)
        kf_segment_close(&journal->segments[k], journal->disk);
    if (journal->lock >= 0)
        journal->disk->close(journal->disk->context, journal->lock);
    kf_checkpoint_free(&journal->checkpoint);
    free(journal->segments);
    free(journal->home);
    free(journal->folder);
    *journal = (struct kf_journal){.lock = -1, .writer.file = -1};
}

const struct kf_record *kf_journal_next(const struct kf_journal *journal, struct kf_cursor *cursor)
{
    while (cursor->segment < journal->segment_count) {
        const struct kf_segment *segment = &journal->segments[cursor->segment];
        if (cursor->offset == 0)
            cursor->offset = sizeof segment->head;
        if (cursor->offset < segment->used) {
            const struct kf_record *record = (const struct kf_record *)(segment->bytes + cursor->offset);
            cursor->offset += kf_record_bytes(record);
            return record;
        }
        *cursor = (struct kf_cursor){cursor->segment + 1, 0};
    }
    return NULL;
}

/* ---- writing ---- */

keepfit_status kf_journal_continue(struct kf_journal *journal, keepfit_error *error)
{
    /* Names that were found may not be durable yet, and are about to be relied on. */
    const keepfit_disk *disk = journal->disk;
    int problem = disk->sync_folder(disk->context, journal->home);
    if (problem < 0)
        return kf_disk_fail(error, journal->folder, "cannot make the journal durable", problem);
    kf_writer_init(&journal->writer, journal->disk, journal->home, journal->identity);
    if (!journal->writer.home)
        return kf_fail_memory(error);
    return kf_writer_continue(&journal->writer, &journal->segments[journal->segment_count - 1], error);
}

keepfit_status kf_journal_map_segment(struct kf_journal *journal, uint64_t first, keepfit_error *error)
{
    char *path = kf_numbered_path(journal->home, first, "segment");
    keepfit_status status = path ? add_segment(journal, path, first, error) : kf_fail_memory(error);
    free(path);
    return status;
}

keepfit_status kf_generation_begin(const struct kf_journal *journal, struct kf_writer *writer, const char *settings,
                                   keepfit_error *error)
{
    const keepfit_disk *disk = journal->disk;
    char *home = generation_path(journal, journal->generation + 1, UNFINISHED);
    kf_writer_init(writer, disk, home ? home : "", kf_unforeseen());
    int problem = home && writer->home ? disk->make_folder(disk->context, home) : -ENOMEM;
    if (problem == -EEXIST && (problem = kf_folder_remove(disk, home)) == 0)
        problem = disk->make_folder(disk->context, home);
    keepfit_status status =
        problem ? kf_disk_fail(error, journal->folder, "cannot write to the journal's folder", problem) : KEEPFIT_OK;
    free(home);
    if (status == KEEPFIT_OK)
        status = kf_writer_begin(writer, error);
    if (status == KEEPFIT_OK)
        status = kf_writer_settings(writer, settings, error);
    if (status != KEEPFIT_OK)
        kf_generation_abandon(journal, writer);
    return status;
}

void kf_generation_abandon(const struct kf_journal *journal, struct kf_writer *writer)
{
    if (writer->home && *writer->home)
        kf_folder_remove(journal->disk, writer->home);
    kf_writer_close(writer);
}

/* The writer's paths, once its folder has got its name. */
static bool follow_rename(struct kf_writer *writer, const char *home)
{
    free(writer->home);
    free(writer->path);
    writer->home = kf_copy_text(home);
    writer->path = kf_numbered_path(home, writer->first, "segment");
    return writer->home && writer->path;
}

keepfit_status kf_generation_commit(struct kf_journal *journal, struct kf_writer *writer, keepfit_error *error)
{
    const keepfit_disk *disk = journal->disk;
    char *home = generation_path(journal, journal->generation + 1, "");
    keepfit_status status = home ? kf_writer_sync(writer, error) : kf_fail_memory(error);
    int problem = 0;
    if (status == KEEPFIT_OK)
        problem = disk->sync_folder(disk->context, writer->home);
    if (status == KEEPFIT_OK && problem == 0)
        problem = disk->rename(disk->context, writer->home, home);
    if (status == KEEPFIT_OK && problem < 0)
        status = kf_disk_fail(error, journal->folder, "cannot finish writing the journal", problem);
    if (status != KEEPFIT_OK) {
        free(home);
        kf_generation_abandon(journal, writer);
        return status;
    }
    /* From here on it is the new one. */
    kf_writer_close(&journal->writer);
    journal->writer = *writer;
    *writer = (struct kf_writer){.file = -1};
    free(journal->home);
    journal->home = home;
    journal->generation++;
    journal->identity = journal->writer.identity;
    if (!follow_rename(&journal->writer, home))
        return kf_fail_memory(error);
    status = settle(journal, error);
    if (status == KEEPFIT_OK)
        remove_leftovers(journal);
    return status;
}

keepfit_status kf_journal_create(struct kf_journal *journal, const char *settings, keepfit_error *error)
{
    struct kf_writer writer;
    keepfit_status status = kf_generation_begin(journal, &writer, settings, error);
    return status == KEEPFIT_OK ? kf_generation_commit(journal, &writer, error) : status;
}
