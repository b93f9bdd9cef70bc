/* A journal as others see it: what it holds, its points, whether it is whole. */
#include <stdlib.h>
#include <string.h>

#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/sized.h"
#include "history/folder.h"
#include "history/journal.h"
#include "history/presence.h"

struct keepfit_journal {
    struct kf_journal inner;
    char *settings;
    struct kf_lead lead;
    struct kf_presence presence;
    struct kf_schema schema;
    uint64_t notes; /* that stand */
    struct kf_cursor cursor;
    size_t seen;         /* points that the cursor has passed */
    struct kf_mark mark; /* of the last one that was given out */
    char key[KEEPFIT_KEY_MOST + 1];
    uint64_t spoilt;
    uint32_t *index;
    size_t index_capacity;
};

/* What the first record says. What makes no sense counts as damage. */
static keepfit_status read_settings(keepfit_journal *journal, keepfit_error *error)
{
    struct kf_cursor cursor = {0};
    const struct kf_record *record = kf_journal_next(&journal->inner, &cursor);
    size_t length = record && record->kind == KF_RECORD_SETTINGS ? record->count : 0;
    journal->settings = kf_allocate(length + 1, 1);
    keepfit_options *options = keepfit_options_create();
    keepfit_status status = journal->settings && options ? KEEPFIT_OK : kf_fail_memory(error);
    struct kf_settings parts = {0};
    if (status == KEEPFIT_OK && length) {
        memcpy(journal->settings, record->row, length);
        if (kf_settings_split(journal->settings, length, &parts))
            status = kf_settings_apply(&parts, options, journal->inner.folder, error);
        else
            status =
                kf_fail(error, KEEPFIT_CORRUPT, "%s: the journal's settings cannot be read", journal->inner.folder);
    }
    if (status == KEEPFIT_OK) {
        journal->lead = kf_lead_of(options, parts.objective_length > 0);
        journal->presence.terms = kf_terms_of(options);
    }
    keepfit_error *damage = &journal->inner.damage;
    if (status == KEEPFIT_OK && damage->status == KEEPFIT_OK && parts.base > journal->inner.checkpoint.number)
        kf_fail(
            damage, KEEPFIT_CORRUPT,
            "%s: the checkpoint that a compacted journal needs is missing or damaged; the points are whole ('keepfit "
            "export' gives them)",
            journal->inner.home);
    keepfit_options_free(options);
    return status;
}

/* Which points are present, what the names are, and how many notes stand. */
static keepfit_status find_presence(keepfit_journal *journal, keepfit_error *error)
{
    struct kf_cursor cursor = {0};
    const struct kf_record *record;
    while ((record = kf_journal_next(&journal->inner, &cursor))) {
        enum kf_presence_news news = kf_presence_take(&journal->presence, record);
        keepfit_status named = record->kind == KF_RECORD_NAMES ? kf_record_names(record, &journal->schema) : KEEPFIT_OK;
        if (record->kind == KF_RECORD_NOTE)
            journal->notes = kf_record_note(record).instead ? 1 : journal->notes + 1;
        if (news == KF_PRESENCE_MEMORY || named == KEEPFIT_NO_MEMORY)
            return kf_fail_memory(error);
        if (news == KF_PRESENCE_WRONG || named != KEEPFIT_OK)
            return kf_fail(error, KEEPFIT_CORRUPT, "%s: record %llu does not fit those before it", journal->inner.home,
                           (unsigned long long)record->number);
    }
    return KEEPFIT_OK;
}

/* Counts the checkpoints that are not sound, and removes them if that is asked for. */
static keepfit_status find_spoilt(const struct kf_journal *journal, bool remove, uint64_t *spoilt, keepfit_error *error)
{
    struct kf_names names;
    keepfit_status status = kf_names_read(&names, journal->disk, journal->home, error);
    for (size_t k = 0; status == KEEPFIT_OK && k < names.count; k++) {
        uint64_t number;
        struct kf_checkpoint checkpoint = {0};
        if (!kf_name_number(names.name[k], 20, KF_CHECKPOINT_SUFFIX, &number))
            continue;
        char *path = kf_disk_join(journal->home, names.name[k]);
        status = path ? kf_checkpoint_load(&checkpoint, journal->disk, path, journal->identity, error)
                      : kf_fail_memory(error);
        if (status == KEEPFIT_CORRUPT || (status == KEEPFIT_OK && checkpoint.number != number)) {
            int problem = remove ? journal->disk->remove(journal->disk->context, path) : 0;
            status = problem ? kf_disk_fail(error, path, "cannot remove it", problem) : KEEPFIT_OK;
            ++*spoilt;
        }
        kf_checkpoint_free(&checkpoint);
        free(path);
    }
    kf_names_free(&names);
    return status;
}

keepfit_status keepfit_journal_open(const char *folder, const keepfit_options *options, keepfit_journal **out,
                                    keepfit_error *error)
{
    keepfit_error reason = {.struct_size = sizeof reason};
    keepfit_journal *journal = kf_allocate(1, sizeof *journal);
    keepfit_status status =
        journal ? kf_journal_read(&journal->inner, kf_disk_of(options), folder, &reason) : kf_fail_memory(&reason);
    if (status == KEEPFIT_OK)
        status = read_settings(journal, &reason);
    if (status == KEEPFIT_OK)
        status = find_presence(journal, &reason);
    if (status == KEEPFIT_OK)
        status = find_spoilt(&journal->inner, false, &journal->spoilt, &reason);
    if (status == KEEPFIT_OK) {
        *out = journal;
        return status;
    }
    keepfit_journal_close(journal);
    if (error)
        kf_error_give(error, &reason);
    return status;
}

void keepfit_journal_close(keepfit_journal *journal)
{
    if (!journal)
        return;
    if (journal->inner.disk)
        kf_journal_close(&journal->inner);
    kf_presence_free(&journal->presence);
    kf_schema_free(&journal->schema);
    free(journal->settings);
    free(journal->index);
    free(journal);
}

void keepfit_journal_describe(const keepfit_journal *journal, keepfit_journal_info *info)
{
    const struct kf_journal *inner = &journal->inner;
    keepfit_journal_info made = {
        .settings = journal->settings,
        .generation = inner->generation,
        .segments = inner->segment_count,
        .records = kf_journal_last(inner),
        .present = journal->presence.present,
        .arrived = journal->presence.count ? journal->presence.arrival[journal->presence.count - 1] & ~KF_GONE : 0,
        .checkpoint = inner->checkpoint.number,
        .spoilt = journal->spoilt,
        .torn = inner->torn,
        .notes = journal->notes,
        .damage = inner->damage.status == KEEPFIT_OK ? NULL : inner->damage.message,
    };
    for (size_t k = 0; k < inner->segment_count; k++) {
        made.bytes += inner->segments[k].size;
        made.points += inner->segments[k].points;
        made.removals += inner->segments[k].removals;
    }
    KF_GIVE(info, &made);
}

void keepfit_journal_schema(const keepfit_journal *journal, keepfit_schema *schema)
{
    const keepfit_schema shown = kf_schema_show(&journal->schema);
    KF_GIVE(schema, &shown);
}

keepfit_status keepfit_journal_next(keepfit_journal *journal, keepfit_point *point, uint64_t *arrival)
{
    const struct kf_record *record;
    while ((record = kf_journal_next(&journal->inner, &journal->cursor))) {
        if (!kf_record_is_point(record) || journal->presence.arrival[journal->seen++] & KF_GONE)
            continue;
        if (!KF_RESERVE(journal->index, journal->index_capacity, (size_t)record->count + 1))
            return KEEPFIT_NO_MEMORY;
        *point = kf_record_point(record, &journal->lead, journal->index);
        struct kf_mark mark = kf_record_mark(record);
        memcpy(journal->key, mark.length ? mark.key : "", mark.length);
        journal->key[mark.length] = '\0';
        journal->mark = mark;
        if (arrival)
            *arrival = record->arrival;
        return KEEPFIT_OK;
    }
    return KEEPFIT_END;
}

void keepfit_journal_mark(const keepfit_journal *journal, keepfit_mark *mark)
{
    const keepfit_mark made = {.key = *journal->key ? journal->key : NULL, .time = journal->mark.time};
    KF_GIVE(mark, &made);
}

keepfit_status keepfit_journal_repair(const char *folder, const keepfit_options *options, keepfit_error *error)
{
    struct kf_journal journal;
    keepfit_error reason = {.struct_size = sizeof reason};
    keepfit_disk_kind kind;
    uint64_t spoilt = 0;
    const keepfit_disk *disk = kf_disk_of(options);
    int problem = disk->examine(disk->context, folder, &kind, NULL);
    if (problem != 0) /* opening for writing would make it */
        return kf_disk_fail(error, folder, "cannot look at the folder", problem);
    keepfit_status status = kf_journal_open(&journal, disk, folder, &reason);
    if (status == KEEPFIT_OK && !journal.home)
        status = kf_fail(&reason, KEEPFIT_IO, "%s: there is no journal in this folder", folder);
    if (status == KEEPFIT_OK && journal.torn)
        status = kf_journal_continue(&journal, &reason);
    if (status == KEEPFIT_OK)
        status = find_spoilt(&journal, true, &spoilt, &reason);
    if (journal.disk)
        kf_journal_close(&journal);
    if (status != KEEPFIT_OK && error)
        kf_error_give(error, &reason);
    return status;
}

keepfit_status keepfit_checkpoint_check(const char *path, const keepfit_options *options, uint64_t *record,
                                        keepfit_error *error)
{
    struct kf_checkpoint checkpoint;
    keepfit_status status = kf_checkpoint_load(&checkpoint, kf_disk_of(options), path, 0, error);
    if (status == KEEPFIT_OK)
        *record = checkpoint.number;
    kf_checkpoint_free(&checkpoint);
    return status;
}
