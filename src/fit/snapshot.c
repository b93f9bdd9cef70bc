#include "fit/snapshot.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "fit/centre.h"
#include "fit/durable.h"
#include "fit/fade.h"
#include "fit/validation.h"

/* 1 has no points whose slopes are older than x (certificate/certificate.h); 4 has what rounding may have done, the whole tally, patience (promise.c),
 * and centres of columns; 5 the means of rows that proofs of several classes go by (certificate/intercept.h); from 8 on sums go by
 * blocks of arrivals (objective/tree.h): older ones go on so, too, but whoever wrote them would add in another order; 9 has
 * the keys of points; 10 what predictions were like (validation.h); 11 the inverse that classes share (optimum/shared_inverse.h);
 * 12 weights that fade (fade.h); 13 what products have taken (hold/rented.c); 14 what steps with few points are made of
 * (optimum/dual.h). */
#define SNAPSHOT_VERSION 14 /* safety: the format */
#define NAME_ROOM 64        /* safety: room; longer is a damaged file */

static void archive_labels(struct kf_labels *labels, struct kf_archive *archive)
{
    size_t most = labels->kind == KF_NUMBERS ? 0 : labels->kind == KF_TWO_CLASSES ? 2 : SIZE_MAX;
    kf_archive_count(archive, &labels->count, most);
    kf_archive_array(archive, &labels->label, &labels->capacity, labels->count);
    if (archive->status != KEEPFIT_OK)
        labels->count = 0;
}

/* Reading: the method that was at work is put to work. */
static void archive_method(keepfit_fit *fit, struct kf_archive *archive, keepfit_error *error)
{
    const struct kf_method *at_work = fit->running[fit->running_count - 1].method;
    assert(strlen(at_work->name) < NAME_ROOM);
    char name[NAME_ROOM] = "";
    strncpy(name, at_work->name, sizeof name - 1);
    kf_archive_text(archive, name, sizeof name);
    if (archive->status != KEEPFIT_OK || strcmp(name, at_work->name) == 0)
        return;
    const struct kf_method *method = kf_method_find(name);
    kf_archive_require(archive, method && method->create && strcmp(fit->asked->name, "auto") == 0);
    if (archive->status == KEEPFIT_OK)
        archive->status = kf_fit_start(fit, method, error);
}

static void archive_arrivals(keepfit_fit *fit, struct kf_archive *archive)
{
    size_t count = fit->task.problem.points.count;
    bool written = fit->arrivals.of != NULL;
    kf_archive_number(archive, &fit->arrivals.arrived);
    kf_archive_require(archive, fit->arrivals.arrived >= count);
    kf_archive_flag(archive, &written);
    if (!written || archive->status != KEEPFIT_OK)
        return;
    kf_archive_require(archive, kf_archive_holds(archive, count));
    if (archive->status == KEEPFIT_OK && !KF_RESERVE(fit->arrivals.of, fit->arrivals.capacity, count + 1))
        archive->status = KEEPFIT_NO_MEMORY;
    for (size_t k = 0; k < count && archive->status == KEEPFIT_OK; k++) {
        kf_archive_number(archive, &fit->arrivals.of[k]);
        kf_archive_require(archive, fit->arrivals.of[k] > (k ? fit->arrivals.of[k - 1] : 0) &&
                                        fit->arrivals.of[k] <= fit->arrivals.arrived);
    }
}

/* Sums go by when points came. */
static void number_points(keepfit_fit *fit)
{
    struct kf_points *points = &fit->task.problem.points;
    for (size_t j = 0; j < points->count; j++)
        kf_points_number(points, j, kf_fit_arrival(fit, j));
    points->arrived = fit->arrivals.arrived;
}

static void archive_account(keepfit_fit *fit, struct kf_archive *archive)
{
    uint64_t left = fit->arrivals.left;
    uint64_t *counts[] = {&left,
                          &fit->meaning.features,
                          &fit->account.tally.missed,
                          &fit->account.tally.unproved,
                          &fit->account.validated,
                          &fit->account.wrong};
    double *reals[] = {&fit->account.tally.worst_bound, &fit->account.seconds, &fit->account.loss_sum,
                       &fit->account.square_sum};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        kf_archive_number(archive, counts[k]);
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
        kf_archive_real(archive, reals[k]);
    kf_fit_archive_tally(fit, archive);
    size_t slots = fit->task.problem.objective.slots - kf_lead_width(&fit->meaning.lead);
    kf_archive_require(archive, fit->account.wrong <= fit->account.validated);
    kf_archive_require(archive,
                       left <= SIZE_MAX && (fit->meaning.features <= slots || !fit->task.problem.objective.loss));
    fit->arrivals.left = (size_t)left;
}

/* All parts, in order: sizes come before what has them. */
static void archive_fit(keepfit_fit *fit, struct kf_archive *archive, bool keys, keepfit_error *error)
{
    size_t version = SNAPSHOT_VERSION, points = fit->task.problem.points.count;
    kf_archive_count(archive, &version, SNAPSHOT_VERSION);
    kf_archive_require(archive, version >= 1);
    archive->version = version;
    kf_archive_count(archive, &points, fit->task.problem.points.count);
    kf_archive_require(archive, points == fit->task.problem.points.count);
    archive_labels(&fit->meaning.labels, archive);
    archive_method(fit, archive, error);
    if (archive->status == KEEPFIT_OK)
        kf_task_archive(&fit->task, &fit->outcome, archive);
    if (version >= KF_VERSION_WITH_ROUNDING && archive->status == KEEPFIT_OK)
        kf_centre_archive(fit, archive);
    struct kf_running *running = &fit->running[fit->running_count - 1];
    if (running->method->archive && archive->status == KEEPFIT_OK)
        running->method->archive(&fit->task, running->state, archive);
    archive_arrivals(fit, archive);
    if (archive->reading && archive->status == KEEPFIT_OK)
        number_points(fit);
    if (version >= KF_VERSION_WITH_KEYS)
        kf_keys_archive(fit, archive, keys);
    if (version >= KF_VERSION_WITH_FADING)
        kf_fade_archive(fit, archive, keys);
    archive_account(fit, archive);
    kf_choice_archive(&fit->choice, archive);
    bool chooses = strcmp(fit->asked->name, "auto") == 0;
    kf_archive_require(archive, chooses || (!fit->choice.trying && !fit->choice.watched));
    if (archive->status == KEEPFIT_OK)
        kf_task_archive_vector(&fit->task, archive, &fit->measured.x);
    if (version >= KF_VERSION_WITH_VALIDATION && archive->status == KEEPFIT_OK)
        kf_validation_archive(fit->account.validation, archive);
}

keepfit_status kf_snapshot_take(keepfit_fit *fit, struct kf_archive *archive)
{
    archive_fit(fit, archive, true, NULL);
    return archive->status;
}

keepfit_status kf_snapshot_take_beside_records(keepfit_fit *fit, struct kf_archive *archive)
{
    archive_fit(fit, archive, false, NULL);
    return archive->status;
}

bool kf_snapshot_recall(keepfit_fit *fit, const keepfit_point *point)
{
    return kf_points_append(&fit->task.problem.points, point, &fit->meaning.lead);
}

/* The points' targets, as they came, become what the labels make of them. False: one is unknown, or a row is too wide. */
static bool map_points(keepfit_fit *fit)
{
    struct kf_points *points = &fit->task.problem.points;
    for (size_t j = 0; j < points->count; j++) {
        struct kf_place *place = &points->place[j];
        keepfit_row row = kf_points_row(points, j);
        bool known = fit->meaning.labels.kind == KF_NUMBERS ||
                     kf_labels_find(&fit->meaning.labels, place->target, &place->target);
        if (!known || (fit->task.problem.objective.loss && kf_row_width(&row) > fit->task.problem.objective.slots))
            return false;
    }
    return true;
}

/* Softmax has an output for each class; the others one. */
static bool outputs_fit(const keepfit_fit *fit)
{
    size_t outputs = fit->task.problem.objective.outputs, classes = fit->meaning.labels.count;
    bool many = fit->meaning.labels.kind == KF_MANY_CLASSES;
    return many ? outputs == (classes ? classes : 1) : outputs == 1;
}

/* An older snapshot says nothing of what rounding has done to the sums that it has: the points are counted anew, and the method begins
 * with a pass. */
static void make_up_for_rounding(keepfit_fit *fit)
{
    const struct kf_running *running = &fit->running[fit->running_count - 1];
    kf_objective_recount(&fit->task.problem.objective);
    if (running->method->forget)
        running->method->forget(&fit->task, running->state);
}

keepfit_status kf_snapshot_restore(keepfit_fit *fit, struct kf_archive *archive, keepfit_error *error)
{
    archive_fit(fit, archive, true, error);
    kf_archive_require(archive, archive->status != KEEPFIT_OK || (outputs_fit(fit) && map_points(fit)));
    if (archive->status == KEEPFIT_OK && archive->version < KF_VERSION_WITH_ROUNDING)
        make_up_for_rounding(fit);
    if (archive->status == KEEPFIT_OK && strcmp(fit->asked->name, "auto") == 0)
        kf_choice_recall(fit);
    if (archive->status == KEEPFIT_OK)
        kf_fit_verify(fit);
    if (archive->status == KEEPFIT_NO_MEMORY)
        return kf_fail_memory(error);
    if (archive->status == KEEPFIT_CORRUPT)
        return kf_fail(error, KEEPFIT_CORRUPT, "the snapshot does not belong to such a fit, or is damaged");
    return archive->status;
}

keepfit_status keepfit_fit_snapshot(keepfit_fit *fit, const unsigned char **bytes, size_t *count)
{
    keepfit_status status = kf_fit_ready(fit);
    if (status != KEEPFIT_OK)
        return status;
    if (kf_snapshot_take(fit, &fit->snapshot) != KEEPFIT_OK)
        return kf_fail_memory(&fit->error);
    *bytes = fit->snapshot.bytes;
    *count = fit->snapshot.count;
    return KEEPFIT_OK;
}

static keepfit_status recall_all(keepfit_fit *fit, const keepfit_block *points)
{
    keepfit_status status = KEEPFIT_OK;
    for (size_t k = 0; k < points->count && status == KEEPFIT_OK; k++) {
        keepfit_point point = kf_block_point(points, k);
        status = kf_fit_check_point(fit, &point, &fit->error);
        if (status == KEEPFIT_OK && !kf_snapshot_recall(fit, &point))
            status = kf_fail_memory(&fit->error);
    }
    return status;
}

keepfit_status keepfit_fit_restore(keepfit_fit *fit, const keepfit_block *given, const unsigned char *bytes,
                                   size_t count)
{
    keepfit_block points = {.struct_size = sizeof points};
    KF_TAKE(&points, given);
    struct kf_archive archive = kf_archive_to_read(bytes, count);
    keepfit_status status = kf_fit_ready(fit);
    if (status != KEEPFIT_OK)
        return status;
    if (fit->arrivals.arrived || fit->task.problem.points.count)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "a fit that has points already cannot be restored");
    if (fit->task.problem.points.far)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "a team's fit is restored from a journal, not from a snapshot");
    status = recall_all(fit, &points);
    if (status == KEEPFIT_OK)
        status = kf_snapshot_restore(fit, &archive, &fit->error);
    if (status == KEEPFIT_OK && archive.at != count)
        status = kf_fail(&fit->error, KEEPFIT_CORRUPT, "something follows the snapshot");
    if (status != KEEPFIT_OK)
        fit->death = fit->error;
    return status;
}
