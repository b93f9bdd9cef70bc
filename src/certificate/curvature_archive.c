/* The curvature as bytes, and what must always hold of it: the two ask for the same. */
#include <assert.h>

#include "certificate/internal.h"

#define CAPACITY_MOST 3000 /* safety: twice the largest H; more is a damaged file */

static void archive_numbers(struct kf_curvature *curvature, struct kf_archive *archive)
{
    struct kf_leverages *leverages = &curvature->leverages;
    struct kf_followed *followed = &curvature->followed;
    double products[3] = {0}; /* of older versions */
    double *older[] = {&products[0], &products[1], &products[2]};
    double *reals[] = {&curvature->weight,     &curvature->lambda, &leverages->largest,   &curvature->since.stretch,
                       &curvature->since.lost, &leverages->most,   &leverages->inflation, &leverages->measured};
    double *rounding[] = {&curvature->hessian.operations,
                          &curvature->hessian.slack,
                          &followed->sum_length,
                          &followed->x_length,
                          &followed->sum_off,
                          &followed->x_off,
                          &curvature->since.blur};
    for (size_t k = 0; k < 3 && archive->version < KF_VERSION_WITH_ROUNDING; k++)
        kf_archive_real(archive, older[k]);
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
        kf_archive_real(archive, reals[k]);
    if (archive->version > 2)
        kf_archive_real(archive, &leverages->reach);
    else
        leverages->reach = sqrt(leverages->largest);
    kf_archive_require(archive, !(leverages->reach < 0));
    for (size_t k = 0; k < sizeof rounding / sizeof rounding[0] && archive->version >= KF_VERSION_WITH_ROUNDING; k++) {
        kf_archive_real(archive, rounding[k]);
        kf_archive_require(archive, *rounding[k] >= 0);
    }
    const struct kf_since *since = &curvature->since;
    if (curvature->phase == KF_PHASE_NONE)
        return;
    kf_archive_require(archive, since->lost >= 0);
    kf_archive_require(archive,
                       curvature->phase == KF_PHASE_GATHERING || (curvature->weight > 0 && curvature->lambda > 0));
    /* where there is an inverse that serves */
    kf_archive_require(archive,
                       curvature->phase < KF_PHASE_MEASURING || (curvature->hessian.slack < 1 && since->lost < 1));
    kf_archive_require(archive, !kf_is_certified(curvature) || (since->stretch >= 0 && leverages->largest >= 0));
}

/* One enumeration was four flags. */
static void archive_phase(struct kf_curvature *curvature, struct kf_archive *archive)
{
    enum kf_phase phase = curvature->phase;
    bool anchored = kf_has_factor(curvature), certified = kf_is_certified(curvature);
    bool gathering = phase == KF_PHASE_GATHERING, measuring = phase == KF_PHASE_MEASURING;
    bool *flags[] = {&anchored, &certified, &gathering, &measuring, &curvature->since.rough};
    for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++)
        kf_archive_flag(archive, flags[k]);
    kf_archive_require(archive, anchored ? !gathering : !certified && !measuring);
    kf_archive_require(archive, !certified || !measuring);
    curvature->phase = certified   ? KF_PHASE_CERTIFIED
                       : measuring ? KF_PHASE_MEASURING
                       : anchored  ? KF_PHASE_ANCHORED
                       : gathering ? KF_PHASE_GATHERING
                                   : KF_PHASE_NONE;
}

/* How large H is, and room for it. */
static void archive_size(struct kf_curvature *curvature, const struct kf_problem *problem, struct kf_archive *archive)
{
    size_t size = curvature->hessian.size, capacity = curvature->hessian.capacity;
    kf_archive_count(archive, &size, kf_size(problem));
    kf_archive_count(archive, &capacity, CAPACITY_MOST);
    kf_archive_require(archive, size <= capacity && kf_curvature_suits(problem));
    if (archive->status != KEEPFIT_OK || !archive->reading)
        return;
    if (kf_curvature_room(curvature, problem, capacity))
        curvature->hessian.size = size;
    else
        archive->status = KEEPFIT_NO_MEMORY;
}

void kf_curvature_archive(struct kf_curvature *curvature, struct kf_task *task, struct kf_archive *archive)
{
    struct kf_leverages *leverages = &curvature->leverages;
    archive_phase(curvature, archive);
    archive_numbers(curvature, archive);
    if (curvature->phase == KF_PHASE_NONE || archive->status != KEEPFIT_OK)
        return;
    bool certified = kf_is_certified(curvature), factor = kf_has_factor(curvature);
    bool inverse = curvature->phase >= KF_PHASE_MEASURING;
    kf_archive_count(archive, &curvature->points, task->problem.points.count);
    kf_archive_count(archive, &leverages->known, task->problem.points.count);
    kf_archive_require(archive, certified || leverages->known <= curvature->points);
    kf_archive_array(archive, &leverages->of, &leverages->capacity, kf_leverages_listed(curvature));
    archive_size(curvature, &task->problem, archive);
    if (archive->status != KEEPFIT_OK)
        return;
    size_t size = curvature->hessian.size;
    kf_archive_array(archive, &curvature->curves.of, &curvature->curves.capacity, curvature->points);
    kf_rooms_archive(curvature, &task->problem, archive);
    kf_archive_reals(archive, curvature->anchor, size);
    bool matrix = archive->version > 2 || inverse || !factor;
    curvature->hessian.type->archive(&curvature->hessian, factor, matrix, inverse, archive);
    if (!certified)
        return;
    kf_archive_reals(archive, curvature->followed.at_sum, size);
    kf_archive_reals(archive, curvature->followed.at_x, size);
}

void kf_curvature_archive_since(struct kf_curvature *curvature, struct kf_archive *archive)
{
    double *reals[] = {&curvature->since.error, &curvature->since.before, &curvature->leverages.later};
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++) {
        kf_archive_real(archive, reals[k]);
        kf_archive_require(archive, *reals[k] >= 0);
    }
}

void kf_curvature_check(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
#ifndef NDEBUG
    const struct kf_hessian *hessian = &curvature->hessian;
    const struct kf_leverages *leverages = &curvature->leverages;
    const struct kf_followed *followed = &curvature->followed;
    const struct kf_since *since = &curvature->since;
    if (curvature->phase == KF_PHASE_NONE)
        return;
    assert(hessian->type && hessian->size <= hessian->capacity && hessian->size <= kf_size(problem));
    assert(curvature->anchor_capacity >= hessian->size);
    assert(hessian->operations >= 0 && hessian->slack >= 0); /* infinite where there was no inverse */
    assert(curvature->points <= problem->points.count && curvature->curves.capacity >= curvature->points);
    assert(since->error >= 0 && since->before >= 0 && since->blur >= 0 && since->lost >= 0);
    if (curvature->phase == KF_PHASE_GATHERING)
        return;
    assert(curvature->weight > 0 && curvature->lambda > 0);
    assert(leverages->known <= (kf_is_certified(curvature) ? problem->points.count : curvature->points));
    assert(leverages->capacity >= kf_leverages_listed(curvature));
    if (!kf_is_certified(curvature))
        return;
    assert(hessian->slack < 1 && since->lost < 1 && since->stretch >= 0);
    assert(curvature->rooms.radius >= 0);
    assert(!(leverages->reach < 0) && leverages->largest >= 0 && leverages->later >= 0);
    assert(followed->sum_length >= 0 && followed->x_length >= 0 && followed->sum_off >= 0 && followed->x_off >= 0);
#else
    (void)curvature;
    (void)problem;
#endif
}
