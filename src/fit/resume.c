/* Taking over what a journal holds: the points of the newest checkpoint, which are used where they lie in the files, its state, and then
 * the records behind it, whose stages are run again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/stopping.h"
#include "fit/durable.h"
#include "fit/fade.h"
#include "fit/snapshot.h"
#include "history/presence.h"

/* A journal of a user-written objective is of use only with that one. */
static keepfit_status check_objective(const keepfit_fit *fit, keepfit_error *error)
{
    struct kf_settings settings;
    const char *here = kf_durable_objective(fit);
    keepfit_status status = kf_durable_settings(fit->durable, &settings, error);
    if (status != KEEPFIT_OK)
        return status;
    if (settings.objective_length == strcspn(here, "\n") &&
        memcmp(settings.objective, here, settings.objective_length) == 0)
        return KEEPFIT_OK;
    return kf_fail(error, KEEPFIT_USAGE, "%s: the journal was made with the objective '%.*s', not '%s'",
                   fit->durable->journal.folder, (int)settings.objective_length, settings.objective, here);
}

static keepfit_status fail_record(const keepfit_fit *fit, const struct kf_record *record, keepfit_status status,
                                  const char *reason, keepfit_error *error)
{
    return kf_fail(error, status, "%s: record %" PRIu64 ": %s ('keepfit export' gives the journal's points)",
                   fit->durable->journal.folder, record->number, reason);
}

/* Which points are present after the checkpoint's last record; nothing where all are. */
static keepfit_status find_presence(const keepfit_fit *fit, struct kf_presence *presence, keepfit_error *error)
{
    const struct kf_journal *journal = &fit->durable->journal;
    const struct kf_record *record;
    struct kf_cursor cursor = {0};
    uint64_t removals = 0;
    for (size_t k = 0; k < journal->segment_count; k++)
        removals += journal->segments[k].removals + journal->segments[k].keyed;
    presence->terms = kf_terms_of(fit->options);
    if (removals == 0 && !kf_terms_end_any(&presence->terms))
        return KEEPFIT_OK;
    while ((record = kf_journal_next(journal, &cursor)) && record->number <= journal->checkpoint.number)
        switch (kf_presence_take(presence, record)) {
        case KF_PRESENCE_GOOD:
            break;
        case KF_PRESENCE_WRONG:
            return fail_record(fit, record, KEEPFIT_CORRUPT, "does not fit those before it", error);
        case KF_PRESENCE_MEMORY:
            return kf_fail_memory(error);
        }
    return KEEPFIT_OK;
}

static keepfit_status take_names(keepfit_fit *fit, const struct kf_record *record, keepfit_error *error)
{
    keepfit_status status = kf_record_names(record, &fit->meaning.schema);
    if (status == KEEPFIT_CORRUPT)
        return fail_record(fit, record, status, "its names do not fit those before it", error);
    return status == KEEPFIT_OK ? status : kf_fail_memory(error);
}

static keepfit_status take_note(keepfit_fit *fit, const struct kf_record *record, keepfit_error *error)
{
    const struct kf_note note = kf_record_note(record);
    return kf_notes_take(&fit->durable->notes, &note) ? KEEPFIT_OK : kf_fail_memory(error);
}

/* Puts the points that the checkpoint knows into the history, where they lie in the files. */
static keepfit_status recall_points(keepfit_fit *fit, struct kf_cursor *cursor, keepfit_error *error)
{
    const struct kf_journal *journal = &fit->durable->journal;
    struct kf_presence presence = {0};
    keepfit_status status = find_presence(fit, &presence, error);
    size_t k = 0;
    for (uint64_t number = 0; number < journal->checkpoint.number && status == KEEPFIT_OK; number++) {
        const struct kf_record *record = kf_journal_next(journal, cursor);
        if (record->kind == KF_RECORD_NAMES)
            status = take_names(fit, record, error);
        if (record->kind == KF_RECORD_NOTE)
            status = take_note(fit, record, error);
        if (!kf_record_is_point(record))
            continue;
        struct kf_place place = kf_durable_place(record);
        struct kf_mark mark = kf_record_mark(record);
        bool gone = presence.arrival && presence.arrival[k++] & KF_GONE;
        if (gone)
            continue;
        fit->task.problem.points.arrived = record->arrival - 1;
        if (!kf_points_append_lent(&fit->task.problem.points, &place) ||
            (mark.length && !kf_keys_add(&fit->arrivals.keys, mark.key, mark.length, record->arrival)) ||
            (kf_fit_is_timed(fit) && !kf_along_append(&fit->arrivals.fading.times, mark.time)))
            status = kf_fail_memory(error);
    }
    kf_presence_free(&presence);
    return status;
}

static keepfit_status restore(keepfit_fit *fit, struct kf_cursor *cursor, bool *unusable, keepfit_error *error)
{
    struct kf_durable *durable = fit->durable;
    struct kf_checkpoint *checkpoint = &durable->journal.checkpoint;
    size_t count;
    keepfit_status status = recall_points(fit, cursor, error);
    if (status != KEEPFIT_OK)
        return status;
    const unsigned char *state = kf_checkpoint_state(checkpoint, &count);
    struct kf_archive archive = kf_archive_to_read(state, count);
    status = kf_snapshot_restore(fit, &archive, error);
    if (status == KEEPFIT_CORRUPT) {
        *unusable = durable->base == 0;
        durable->told.spoilt++;
        checkpoint->number = 0;
        return kf_fail(error, KEEPFIT_CORRUPT,
                       "%s: the checkpoint cannot be used, and the journal has been compacted, so it is needed "
                       "('keepfit export' gives the journal's points)",
                       durable->journal.folder);
    }
    durable->checkpointed = checkpoint->number;
    durable->told.checkpointed = fit->arrivals.arrived;
    kf_archive_free(&archive);
    free(checkpoint->bytes);
    checkpoint->bytes = NULL;
    return status;
}

/* ---- running again ---- */

struct replay {
    uint64_t members;  /* records of a block that are still to come */
    uint64_t *removed; /* the indices that it removes, which leave together */
    size_t removed_count, removed_capacity;
    uint32_t *index; /* room for those of a row */
    size_t index_capacity;
};

static keepfit_status replay_point(keepfit_fit *fit, struct replay *replay, const struct kf_record *record)
{
    if (!KF_RESERVE(replay->index, replay->index_capacity, (size_t)record->count + 1))
        return kf_fail_memory(&fit->error);
    keepfit_point point = kf_record_point(record, &fit->meaning.lead, replay->index);
    struct kf_place place = kf_durable_place(record);
    struct kf_mark mark = kf_record_mark(record);
    if (record->arrival != fit->arrivals.arrived + 1)
        return kf_fail(&fit->error, KEEPFIT_CORRUPT, "points are out of order");
    keepfit_status status = kf_fit_check(fit, &point, &mark, &fit->error);
    if (status != KEEPFIT_OK)
        return status;
    return replay->members ? kf_fit_take(fit, &point, &mark, &place) : kf_fit_push(fit, &point, &mark, &place);
}

static keepfit_status replay_removal(keepfit_fit *fit, struct replay *replay, const struct kf_record *record)
{
    uint64_t index;
    if (!keepfit_fit_find(fit, record->arrival, &index))
        return kf_fail(&fit->error, KEEPFIT_CORRUPT, "a point is removed that is not there");
    if (!replay->members)
        return keepfit_fit_remove(fit, index);
    if (!KF_RESERVE(replay->removed, replay->removed_capacity, replay->removed_count + 1))
        return kf_fail_memory(&fit->error);
    replay->removed[replay->removed_count++] = index;
    return KEEPFIT_OK;
}

/* The last record of a block has come. */
static keepfit_status replay_end(keepfit_fit *fit, struct replay *replay)
{
    size_t count = replay->removed_count;
    replay->removed_count = 0;
    return count ? keepfit_fit_remove_block(fit, replay->removed, count) : kf_fit_settle(fit);
}

static keepfit_status replay_record(keepfit_fit *fit, struct replay *replay, const struct kf_record *record)
{
    keepfit_status status = KEEPFIT_OK;
    if (kf_stop_is_raised(fit->options->stop))
        return kf_fail(&fit->error, KEEPFIT_STOPPED, "stopped while the journal was being taken over");
    switch (record->kind) {
    case KF_RECORD_DENSE:
    case KF_RECORD_SPARSE:
        status = replay_point(fit, replay, record);
        break;
    case KF_RECORD_REMOVAL:
        status = replay_removal(fit, replay, record);
        break;
    case KF_RECORD_EXPECTED:
        status = keepfit_fit_expect(fit, record->target);
        break;
    case KF_RECORD_ROOM:
        status = record->arrival <= fit->options->max_features && record->target >= 0 && record->target < 1e9
                     ? kf_fit_prepare(fit, (size_t)record->arrival, (size_t)record->target)
                     : kf_fail(&fit->error, KEEPFIT_CORRUPT, "it asks for too much room");
        break;
    case KF_RECORD_NAMES:
        status = kf_record_names(record, &fit->meaning.schema);
        if (status != KEEPFIT_OK)
            kf_fail(&fit->error, status, "its names do not fit those before it");
        break;
    case KF_RECORD_NOTE:
        status = take_note(fit, record, &fit->error);
        break;
    case KF_RECORD_BLOCK:
        replay->members = record->arrival;
        return replay->members ? KEEPFIT_OK : replay_end(fit, replay);
    default:
        break;
    }
    if (status == KEEPFIT_OK && replay->members && --replay->members == 0)
        status = replay_end(fit, replay);
    return status;
}

/* Runs what the checkpoint does not have again. */
static keepfit_status replay(keepfit_fit *fit, struct kf_cursor *cursor, keepfit_error *error)
{
    struct replay state = {0};
    const struct kf_record *record = NULL;
    keepfit_status status = KEEPFIT_OK;
    uint64_t before = fit->arrivals.arrived;
    fit->durable->replaying = true;
    while (status == KEEPFIT_OK && (record = kf_journal_next(&fit->durable->journal, cursor)))
        status = replay_record(fit, &state, record);
    fit->durable->replaying = false;
    fit->durable->told.replayed = fit->arrivals.arrived - before;
    free(state.removed);
    free(state.index);
    struct kf_marked reason;
    return status == KEEPFIT_OK ? status
                                : fail_record(fit, record, status, kf_error_marked(&fit->error, &reason), error);
}

static keepfit_status take_over(keepfit_fit *fit, bool *unusable, keepfit_error *error)
{
    struct kf_durable *durable = fit->durable;
    struct kf_cursor cursor = {0};
    kf_notes_free(&durable->notes); /* of an attempt with another checkpoint */
    keepfit_status status = check_objective(fit, error);
    if (status == KEEPFIT_OK && durable->journal.checkpoint.number < durable->base)
        status = kf_fail(error, KEEPFIT_CORRUPT,
                         "%s: the checkpoint that a compacted journal needs is missing or damaged ('keepfit export' "
                         "gives the journal's points)",
                         durable->journal.folder);
    if (status == KEEPFIT_OK && durable->journal.checkpoint.number)
        status = restore(fit, &cursor, unusable, error);
    if (status == KEEPFIT_OK)
        status = replay(fit, &cursor, error);
    durable->told.resumed = fit->arrivals.arrived;
    return status == KEEPFIT_OK && !fit->options->looking ? kf_journal_continue(&durable->journal, error) : status;
}

keepfit_status kf_durable_resume(keepfit_fit *fit, bool *unusable, keepfit_error *error)
{
    struct kf_durable *durable = fit->durable;
    keepfit_error reason = {.struct_size = sizeof reason};
    keepfit_status status = durable->journal.home ? take_over(fit, unusable, &reason) : kf_durable_create(fit, &reason);
    struct kf_writer *writer = &durable->journal.writer;
    if (status == KEEPFIT_OK)
        status = kf_sync_read(fit->options->sync, &writer->policy, &reason);
    if (status != KEEPFIT_OK) {
        if (error)
            kf_error_give(error, &reason);
        return status;
    }
    writer->segment_bytes = fit->options->segment_bytes;
    writer->arrived = writer->safe = fit->arrivals.arrived;
    durable->checkpoint_fo = fit->task.problem.objective.fo;
    durable->checkpoint_seconds = fit->account.seconds;
    kf_durable_start_segment(fit);
    return KEEPFIT_OK;
}
