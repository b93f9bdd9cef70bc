#define _POSIX_C_SOURCE 200809L
#include "fit/durable.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/sized.h"
#include "fit/centre.h"
#include "fit/snapshot.h"

/* A checkpoint may take this share of the time. */
#define CHECKPOINT_SHARE 0.1 /* safety: at most a tenth of the time */

/* ---- what the journal remembers ---- */

const char *kf_durable_objective(const keepfit_fit *fit)
{
    return fit->own.name ? fit->own.name : "";
}

/* The first record, which is sound, if it is what it should be. */
keepfit_status kf_durable_settings(const struct kf_durable *durable, struct kf_settings *settings, keepfit_error *error)
{
    struct kf_cursor cursor = {0};
    const struct kf_record *record = kf_journal_next(&durable->journal, &cursor);
    if (record && record->kind == KF_RECORD_SETTINGS &&
        kf_settings_split((const char *)record->row, record->count, settings))
        return KEEPFIT_OK;
    return kf_fail(error, KEEPFIT_CORRUPT, "%s: the journal does not begin with its settings", durable->journal.folder);
}

static keepfit_status take_settings(struct kf_durable *durable, keepfit_options *options, keepfit_error *error)
{
    struct kf_settings settings;
    keepfit_status status = kf_durable_settings(durable, &settings, error);
    if (status != KEEPFIT_OK)
        return status;
    durable->base = settings.base;
    return kf_settings_apply(&settings, options, durable->journal.folder, error);
}

/* ---- opening ---- */

static keepfit_status open_journal(struct kf_journal *journal, const keepfit_disk *disk, const keepfit_options *options,
                                   keepfit_error *error)
{
    if (!options->looking)
        return kf_journal_open(journal, disk, options->journal, error);
    keepfit_status status = kf_journal_read(journal, disk, options->journal, error);
    if (status != KEEPFIT_OK || journal->damage.status == KEEPFIT_OK)
        return status;
    kf_error_give(error, &journal->damage);
    return error->status;
}

keepfit_status kf_durable_open(struct kf_durable **out, keepfit_options *options, keepfit_error *error)
{
    struct kf_sync_policy policy;
    keepfit_error reason = {.struct_size = sizeof reason};
    *out = NULL;
    keepfit_status status = kf_sync_read(options->sync, &policy, &reason);
    const keepfit_disk *disk = kf_disk_of(options);
    if (status == KEEPFIT_OK && disk->struct_size && disk->struct_size < KF_FIRST_SIZE(*disk))
        status = kf_fail(&reason, KEEPFIT_USAGE, "the table of disk functions has %zu bytes: it lacks functions",
                         disk->struct_size);
    struct kf_durable *durable = NULL;
    if (status == KEEPFIT_OK && options->journal) {
        durable = kf_allocate(1, sizeof *durable);
        status = durable ? open_journal(&durable->journal, disk, options, &reason) : kf_fail_memory(&reason);
        if (status == KEEPFIT_OK && durable->journal.home) {
            durable->told.cut = durable->journal.torn;
            durable->told.spoilt = durable->journal.checkpoint.spoilt;
            status = take_settings(durable, options, &reason);
        }
    }
    if (status == KEEPFIT_OK) {
        *out = durable;
    } else {
        kf_durable_close(durable);
        if (error)
            kf_error_give(error, &reason);
    }
    return status;
}

void kf_durable_close(struct kf_durable *durable)
{
    keepfit_error unused = {.struct_size = sizeof unused};
    if (!durable)
        return;
    if (durable->journal.writer.file >= 0)
        kf_writer_sync(&durable->journal.writer, &unused); /* whoever wants to know calls keepfit_fit_sync */
    kf_journal_close(&durable->journal);
    kf_notes_free(&durable->notes);
    free(durable);
}

/* ---- going on ---- */

void kf_durable_start_segment(keepfit_fit *fit)
{
    kf_points_close_block(&fit->task.problem.points);
    fit->durable->in_memory = fit->arrivals.arrived + 1;
}

keepfit_status kf_durable_create(keepfit_fit *fit, keepfit_error *error)
{
    char *settings = kf_settings_write(fit->options, 0, kf_durable_objective(fit));
    keepfit_status status =
        settings ? kf_journal_create(&fit->durable->journal, settings, error) : kf_fail_memory(error);
    free(settings);
    return status;
}

struct kf_place kf_durable_place(const struct kf_record *record)
{
    return (struct kf_place){
        .value = (double *)(uintptr_t)record->row, /* rows are only read */
        .count = record->count,
        .dense = record->kind == KF_RECORD_DENSE,
        .target = record->target,
        .weight = record->weight,
    };
}

/* The first present point that came as the arrival-th or later. */
static size_t first_from(const keepfit_fit *fit, uint64_t arrival)
{
    size_t low = 0, high = fit->task.problem.points.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kf_fit_arrival(fit, middle) < arrival)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A segment is full: its rows are used where they lie in the file, and their memory is free. Where it cannot be mapped, or they
 * are kept less their columns' centres, they stay in memory. */
static void leave_memory(keepfit_fit *fit, uint64_t first_record)
{
    struct kf_durable *durable = fit->durable;
    struct kf_points *points = &fit->task.problem.points;
    size_t first = first_from(fit, durable->in_memory), j = first;
    assert(!durable->replaying && first <= points->count);
    keepfit_error unused = {.struct_size = sizeof unused};
    if (kf_journal_map_segment(&durable->journal, first_record, &unused) == KEEPFIT_OK &&
        !kf_centres_change(&fit->centring.centres) && !points->far && kf_points_lend(points, first)) {
        struct kf_cursor cursor = {durable->journal.segment_count - 1, 0};
        const struct kf_record *record;
        while (j < points->count && (record = kf_journal_next(&durable->journal, &cursor)))
            if (kf_record_is_point(record) && record->arrival == kf_fit_arrival(fit, j))
                points->place[j++].value = kf_durable_place(record).value;
    }
    kf_durable_start_segment(fit);
}

static bool records(const keepfit_fit *fit)
{
    return fit->durable && !fit->durable->replaying && !fit->options->looking;
}

/* A record has been appended, or not; the segment that was being written before may be full. */
static keepfit_status recorded(keepfit_fit *fit, keepfit_status status, uint64_t segment)
{
    if (status != KEEPFIT_OK)
        fit->death = fit->error;
    else if (fit->durable->journal.writer.first != segment)
        leave_memory(fit, segment);
    return status;
}

keepfit_status kf_durable_point(keepfit_fit *fit, const keepfit_point *point, const struct kf_mark *mark)
{
    if (!records(fit))
        return KEEPFIT_OK;
    struct kf_writer *writer = &fit->durable->journal.writer;
    uint64_t segment = writer->first;
    return recorded(fit, kf_writer_point(writer, writer->arrived + 1, point, &fit->meaning.lead, mark, &fit->error),
                    segment);
}

keepfit_status kf_durable_block(keepfit_fit *fit, size_t count)
{
    if (!records(fit))
        return KEEPFIT_OK;
    struct kf_writer *writer = &fit->durable->journal.writer;
    uint64_t segment = writer->first;
    return recorded(fit, kf_writer_block(writer, count, &fit->error), segment);
}

keepfit_status kf_durable_removals(keepfit_fit *fit, const uint64_t *indices, size_t count)
{
    keepfit_status status = count > 1 ? kf_durable_block(fit, count) : KEEPFIT_OK;
    for (size_t k = 0; k < count && records(fit) && status == KEEPFIT_OK; k++) {
        struct kf_writer *writer = &fit->durable->journal.writer;
        uint64_t segment = writer->first, arrival = kf_fit_arrival(fit, (size_t)indices[k]);
        status = recorded(fit, kf_writer_removal(writer, arrival, &fit->error), segment);
    }
    return status;
}

keepfit_status kf_durable_expected(keepfit_fit *fit, double label)
{
    if (!records(fit))
        return KEEPFIT_OK;
    struct kf_writer *writer = &fit->durable->journal.writer;
    uint64_t segment = writer->first;
    return recorded(fit, kf_writer_expected(writer, label, &fit->error), segment);
}

static keepfit_status write_names(struct kf_writer *writer, struct kf_schema *schema, keepfit_error *error)
{
    struct kf_archive archive = {0};
    kf_schema_archive(schema, &archive);
    keepfit_status status = archive.status == KEEPFIT_OK ? kf_writer_names(writer, archive.bytes, archive.count, error)
                                                         : kf_fail_memory(error);
    kf_archive_free(&archive);
    return status;
}

keepfit_status kf_durable_names(keepfit_fit *fit, struct kf_schema *news)
{
    if (!records(fit))
        return KEEPFIT_OK;
    struct kf_writer *writer = &fit->durable->journal.writer;
    uint64_t segment = writer->first;
    return recorded(fit, write_names(writer, news, &fit->error), segment);
}

keepfit_status kf_durable_room(keepfit_fit *fit, size_t features, size_t classes)
{
    if (!records(fit))
        return KEEPFIT_OK;
    struct kf_writer *writer = &fit->durable->journal.writer;
    uint64_t segment = writer->first;
    return recorded(fit, kf_writer_room(writer, features, classes, &fit->error), segment);
}

static keepfit_status take_note(keepfit_fit *fit, const void *bytes, size_t count, bool instead)
{
    if (kf_durable_follows(fit))
        return KEEPFIT_OK;
    if (!fit->durable)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "the fit has no journal, so nothing is noted");
    keepfit_status status = kf_fit_ready(fit);
    if (status != KEEPFIT_OK)
        return status;
    const struct kf_note note = {bytes, count, fit->arrivals.arrived, instead};
    struct kf_writer *writer = &fit->durable->journal.writer;
    uint64_t segment = writer->first;
    status = recorded(fit, kf_writer_note(writer, &note, &fit->error), segment);
    if (status == KEEPFIT_OK && !kf_notes_take(&fit->durable->notes, &note)) {
        status = kf_fail_memory(&fit->error);
        fit->death = fit->error;
    }
    return kf_durable_acknowledge(fit, status);
}

keepfit_status keepfit_fit_note(keepfit_fit *fit, const void *bytes, size_t count)
{
    return take_note(fit, bytes, count, false);
}

keepfit_status keepfit_fit_note_instead(keepfit_fit *fit, const void *bytes, size_t count)
{
    return take_note(fit, bytes, count, true);
}

bool keepfit_fit_noted(const keepfit_fit *fit, size_t k, keepfit_note *note)
{
    if (!fit->durable || k >= fit->durable->notes.count)
        return false;
    const struct kf_note *there = &fit->durable->notes.note[k];
    const keepfit_note made = {.bytes = there->bytes, .count = there->count, .points = there->points};
    KF_GIVE(note, &made);
    return true;
}

static keepfit_status write_checkpoint(keepfit_fit *fit, keepfit_error *error)
{
    struct kf_durable *durable = fit->durable;
    struct kf_writer *writer = &durable->journal.writer;
    struct kf_archive archive = {0};
    double start = kf_fit_clock();
    keepfit_status status = kf_writer_sync(writer, error);
    if (status != KEEPFIT_OK)
        return status;
    kf_checkpoint_begin(&archive);
    status = kf_snapshot_take_beside_records(fit, &archive) == KEEPFIT_OK
                 ? kf_checkpoint_write(durable->journal.disk, durable->journal.home, durable->journal.identity,
                                       writer->durable, &archive, error)
                 : kf_fail_memory(error);
    kf_archive_free(&archive);
    if (status == KEEPFIT_OK) {
        durable->checkpointed = writer->durable;
        assert(writer->durable < writer->next);
        durable->told.checkpointed = fit->arrivals.arrived;
    }
    /* Also after a failure: the next attempt is made when the next one is due. */
    durable->checkpoint_fo = fit->task.problem.objective.fo;
    durable->checkpoint_seconds = fit->account.seconds;
    durable->checkpoint_cost = kf_fit_clock() - start;
    return status;
}

static bool checkpoint_is_due(const keepfit_fit *fit)
{
    const struct kf_durable *durable = fit->durable;
    const keepfit_options *options = fit->options;
    double worked = fit->account.seconds - durable->checkpoint_seconds;
    uint64_t gradients = fit->task.problem.objective.fo - durable->checkpoint_fo;
    assert(durable->checkpoint_fo <= fit->task.problem.objective.fo);
    return (worked >= options->checkpoint_seconds && worked * CHECKPOINT_SHARE >= durable->checkpoint_cost) ||
           (options->checkpoint_gradients && gradients >= options->checkpoint_gradients);
}

keepfit_status kf_durable_acknowledge(keepfit_fit *fit, keepfit_status status)
{
    struct kf_durable *durable = fit->durable;
    keepfit_error reason = {.struct_size = sizeof reason};
    if (!records(fit))
        return status;
    keepfit_status written = kf_writer_acknowledge(&durable->journal.writer, &reason);
    bool alive = written == KEEPFIT_OK && fit->death.status == KEEPFIT_OK;
    /* A stage that was stopped would not stop there when run again. */
    bool was_cut = kf_fit_stopped(fit) || fit->came_of_it == KEEPFIT_STAGE_STOPPED;
    bool due = checkpoint_is_due(fit) || (was_cut && durable->checkpointed < durable->journal.writer.next - 1);
    if (alive && due && write_checkpoint(fit, &reason) != KEEPFIT_OK) {
        durable->told.failed_checkpoints++; /* the points are safe without it */
        written = durable->journal.writer.failure.status;
    }
    if (written != KEEPFIT_OK && fit->death.status == KEEPFIT_OK)
        kf_error_give(&fit->death, &durable->journal.writer.failure);
    if (status != KEEPFIT_OK || written == KEEPFIT_OK)
        return status;
    fit->error = fit->death;
    return fit->error.status;
}

/* ---- what the caller may ask for ---- */

static keepfit_status usable(keepfit_fit *fit)
{
    if (!fit->durable)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "the fit has no journal");
    return kf_fit_ready(fit);
}

keepfit_status keepfit_fit_sync(keepfit_fit *fit)
{
    if (kf_durable_follows(fit))
        return KEEPFIT_OK;
    if (!fit->durable)
        return usable(fit);
    keepfit_status status = kf_writer_sync(&fit->durable->journal.writer, &fit->error);
    if (status != KEEPFIT_OK)
        fit->death = fit->error;
    return status;
}

keepfit_status keepfit_fit_checkpoint(keepfit_fit *fit)
{
    if (kf_durable_follows(fit))
        return KEEPFIT_OK;
    keepfit_status status = usable(fit);
    if (status != KEEPFIT_OK || fit->durable->checkpointed + 1 == fit->durable->journal.writer.next)
        return status;
    status = write_checkpoint(fit, &fit->error);
    if (fit->durable->journal.writer.failure.status != KEEPFIT_OK)
        fit->death = fit->error;
    return status;
}

static uint64_t feature_of(const keepfit_row *row, size_t k)
{
    return row->index ? row->index[k] : k;
}

keepfit_status keepfit_fit_compare(keepfit_fit *fit, uint64_t arrival, const keepfit_point *point)
{
    uint64_t j;
    keepfit_point there;
    const keepfit_row *row = &point->row;
    if (!keepfit_fit_find(fit, arrival, &j))
        return KEEPFIT_END;
    keepfit_status status = keepfit_fit_point(fit, j, &there);
    if (status != KEEPFIT_OK)
        return status;
    bool same = there.row.count == row->count && there.target == point->target && there.weight == point->weight;
    for (size_t k = 0; same && k < row->count; k++)
        same = there.row.value[k] == row->value[k] && feature_of(&there.row, k) == feature_of(row, k);
    return same ? KEEPFIT_OK : KEEPFIT_DIFFERENT;
}

/* Names and notes, the points that are present, and the state that knows them. */
static keepfit_status write_compacted(keepfit_fit *fit, struct kf_writer *writer, keepfit_error *error)
{
    const struct kf_points *points = &fit->task.problem.points;
    const struct kf_journal *journal = &fit->durable->journal;
    const struct kf_notes *notes = &fit->durable->notes;
    struct kf_archive archive = {0};
    keepfit_status status =
        kf_schema_is_empty(&fit->meaning.schema) ? KEEPFIT_OK : write_names(writer, &fit->meaning.schema, error);
    for (size_t k = 0; k < notes->count && status == KEEPFIT_OK; k++)
        status = kf_writer_note(writer, &notes->note[k], error);
    for (size_t j = 0; j < points->count && status == KEEPFIT_OK; j++) {
        keepfit_point point;
        status = keepfit_fit_point(fit, j, &point);
        struct kf_mark mark = kf_fit_mark_of(fit, j);
        if (status == KEEPFIT_OK)
            status = kf_writer_point(writer, kf_fit_arrival(fit, j), &point, &fit->meaning.lead, &mark, error);
    }
    if (status == KEEPFIT_OK)
        status = kf_writer_sync(writer, error);
    kf_checkpoint_begin(&archive);
    if (status == KEEPFIT_OK && kf_snapshot_take_beside_records(fit, &archive) != KEEPFIT_OK)
        status = kf_fail_memory(error);
    if (status == KEEPFIT_OK)
        status = kf_checkpoint_write(journal->disk, writer->home, writer->identity, writer->durable, &archive, error);
    kf_archive_free(&archive);
    return status;
}

keepfit_status keepfit_fit_compact(keepfit_fit *fit)
{
    /* Until the new journal is durable, what counts may turn out to be the old one. */
    keepfit_status status = usable(fit);
    if (status == KEEPFIT_OK && fit->options->team)
        status = kf_fail(&fit->error, KEEPFIT_USAGE, "one process compacts a journal, not a team");
    if (status == KEEPFIT_OK)
        status = keepfit_fit_sync(fit);
    if (status != KEEPFIT_OK)
        return status;
    struct kf_durable *durable = fit->durable;
    struct kf_journal *journal = &durable->journal;
    struct kf_writer writer;
    uint64_t base = 1 + !kf_schema_is_empty(&fit->meaning.schema) + durable->notes.count + /* settings, names, notes, */
                    fit->task.problem.points.count;                                        /* points */
    char *settings = kf_settings_write(fit->options, base, kf_durable_objective(fit));
    status = settings ? kf_generation_begin(journal, &writer, settings, &fit->error) : kf_fail_memory(&fit->error);
    free(settings);
    if (status != KEEPFIT_OK)
        return status;
    writer.policy = journal->writer.policy;
    writer.segment_bytes = journal->writer.segment_bytes;
    status = write_compacted(fit, &writer, &fit->error);
    if (status != KEEPFIT_OK) {
        kf_generation_abandon(journal, &writer);
        return status;
    }
    writer.arrived = writer.safe = fit->arrivals.arrived;
    uint64_t generation = journal->generation;
    status = kf_generation_commit(journal, &writer, &fit->error);
    if (journal->generation == generation)
        return status; /* the old one goes on */
    durable->base = base;
    durable->checkpointed = base;
    durable->told.checkpointed = fit->arrivals.arrived;
    kf_durable_start_segment(fit);
    if (status != KEEPFIT_OK)
        fit->death = fit->error;
    return status;
}

void keepfit_fit_durability(const keepfit_fit *fit, keepfit_durability *durability)
{
    keepfit_durability told = {0};
    if (fit->durable) {
        told = fit->durable->told;
        told.safe = fit->durable->journal.writer.safe;
    }
    KF_GIVE(durability, &told);
}
