/* The certificate from stage to stage: made, written, forgotten, and what must always hold of it. */
#include <assert.h>
#include <stdlib.h>

#include "certificate/certificate.h"
#include "certificate/internal.h"

/* What is taken for the model's error, as a share of x's move, until there is something to learn it from. */
#define DOUBT_FIRST 0.3 /* speed: bench/tuning.md */

bool kf_certificate_create(struct kf_task *task, struct kf_certificate *certificate, bool plain, bool estimates)
{
    certificate->curvature.plain = plain;
    certificate->estimate.doubt = DOUBT_FIRST;
    certificate->now = kf_no_outcome;
    struct kf_start *start = &certificate->start;
    double **vectors[] = {&certificate->sum,      &certificate->off, &start->off, &certificate->aside,
                          &certificate->complete, &start->x,         &start->sum, &certificate->estimate.origin};
    size_t count = sizeof vectors / sizeof vectors[0];
    for (size_t k = 0; k < count - !estimates; k++)
        if (!kf_task_vector(task, vectors[k]))
            return false;
    return true;
}

void kf_certificate_free(struct kf_certificate *certificate)
{
    free(certificate->slopes.at);
    free(certificate->slopes.moved);
    free(certificate->slopes.trial);
    kf_curvature_free(&certificate->curvature);
    kf_intercept_free(&certificate->intercept);
    kf_class_curvature_free(&certificate->classes);
}

void kf_certificate_forget(struct kf_certificate *certificate)
{
    certificate->gradient = KF_GRADIENT_UNKNOWN;
    certificate->estimate.doubt = DOUBT_FIRST;
    certificate->estimate.distance = 0;
    certificate->curvature.phase = KF_PHASE_NONE;
    certificate->intercept.known = certificate->classes.made = false;
}

void kf_certificate_check(const struct kf_task *task, const struct kf_certificate *certificate)
{
#ifndef NDEBUG
    const struct kf_slopes *slopes = &certificate->slopes;
    const struct kf_curvature *curvature = &certificate->curvature;
    const struct kf_intercept *intercept = &certificate->intercept;
    size_t count = task->problem.points.count;
    assert(certificate->gradient < KF_GRADIENT_REMEMBERED ||
           slopes->at_capacity >= count * task->problem.objective.outputs);
    assert(!kf_is_modelled(certificate) || (slopes->moved_capacity >= count && kf_has_factor(curvature)));
    assert(slopes->moved_most >= 0 && slopes->moved_off >= 0);
    assert(!(certificate->square < 0) && certificate->sum && certificate->off);
    assert(!certificate->estimate.origin || certificate->gradient != KF_GRADIENT_MODELLED);
    assert(certificate->estimate.distance >= 0 && certificate->estimate.doubt >= 0);
    assert(!intercept->known || (intercept->weight >= 0 && intercept->range >= 0 && intercept->moment_most >= 0));
    kf_curvature_check(curvature, &task->problem);
#else
    (void)task;
    (void)certificate;
#endif
}

/* One enumeration was three flags. */
static void archive_gradient(struct kf_certificate *certificate, struct kf_archive *archive)
{
    bool tracked = certificate->gradient > KF_GRADIENT_UNKNOWN, remembered = certificate->gradient > KF_GRADIENT_EXACT;
    kf_archive_flag(archive, &tracked);
    kf_archive_flag(archive, &remembered);
    kf_archive_require(archive, tracked || !remembered);
    if (archive->reading)
        certificate->gradient = remembered ? KF_GRADIENT_REMEMBERED : tracked ? KF_GRADIENT_EXACT : KF_GRADIENT_UNKNOWN;
}

static void archive_moves(struct kf_task *task, struct kf_certificate *certificate, bool modelled,
                          struct kf_archive *archive)
{
    struct kf_slopes *slopes = &certificate->slopes;
    struct kf_curvature *curvature = &certificate->curvature;
    kf_archive_flag(archive, &modelled);
    kf_archive_flag(archive, &slopes->matching);
    kf_archive_require(archive, !modelled || (kf_remembers_slopes(certificate) && kf_has_factor(curvature)));
    if (modelled) {
        kf_archive_array(archive, &slopes->moved, &slopes->moved_capacity, task->problem.points.count);
        certificate->gradient = KF_GRADIENT_MODELLED;
    }
    kf_curvature_archive_since(curvature, archive);
}

void kf_certificate_archive(struct kf_task *task, struct kf_certificate *certificate, struct kf_archive *archive)
{
    struct kf_slopes *slopes = &certificate->slopes;
    struct kf_estimate *estimate = &certificate->estimate;
    bool modelled = kf_is_modelled(certificate);
    kf_task_archive_vector(task, archive, &certificate->sum);
    if (archive->version >= KF_VERSION_WITH_ROUNDING) {
        kf_task_archive_vector(task, archive, &certificate->off);
        kf_archive_real(archive, &slopes->moved_most);
        kf_archive_real(archive, &slopes->moved_off);
        kf_archive_require(archive, slopes->moved_most >= 0 && slopes->moved_off >= 0);
    }
    kf_task_archive_vector(task, archive, &estimate->origin);
    kf_archive_real(archive, &certificate->square);
    archive_gradient(certificate, archive);
    if (kf_remembers_slopes(certificate))
        kf_archive_array(archive, &slopes->at, &slopes->at_capacity,
                         task->problem.points.count * task->problem.objective.outputs);
    kf_archive_real(archive, &estimate->distance);
    kf_archive_real(archive, &estimate->doubt);
    kf_archive_require(archive, estimate->distance >= 0 && estimate->doubt >= 0);
    kf_goal_archive(&certificate->goal, archive);
    kf_curvature_archive(&certificate->curvature, task, archive);
    if (archive->version == 1)
        return;
    archive_moves(task, certificate, modelled, archive);
    kf_intercept_archive(&certificate->intercept, &task->problem, archive);
    if (archive->version >= KF_VERSION_WITH_CLASSES && kf_class_curvature_suit(&task->problem))
        kf_class_curvature_archive(&certificate->classes, &task->problem, archive);
}
