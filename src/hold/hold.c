#include "hold/hold.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "kernels/kernels.h"

#define TRIES_MOST 20 /* safety: an end */
/* Where the proof asks for more than the solver's estimate said: how much further at a time, and in all. */
#define SHARE_STEP 1e-3   /* safety: three digits a try */
#define SHARE_LEAST 1e-15 /* safety: beyond is rounding */

/* A better x lowers a relative target: until both have met. With a free intercept the solver goes by an estimate, and has to go
 * further if the proof asks for more. */
static keepfit_status solve_anew(struct kf_task *task, struct kf_hold *hold, keepfit_error *error)
{
    struct kf_certificate *certificate = &hold->certificate;
    const struct kf_outcome *now = &certificate->now;
    keepfit_status status = KEEPFIT_OK;
    double share = KF_HOLD_SOLVE_TO, *x = task->iterate.x;
    for (int k = 0; k < TRIES_MOST && status == KEEPFIT_OK && share > SHARE_LEAST &&
                    kf_affords(task, 3 * task->problem.points.count);
         k++) {
        kf_intercept_bring_back(&certificate->intercept, task);
        status = kf_optimum_find(&hold->optimum, task, share * now->target, x, certificate->sum, error);
        task->stage.steps++;
        kf_certificate_solved(task, certificate);
        kf_certificate_judge(task, certificate, 0);
        kf_certificate_look_closely(task, certificate);
        if (kf_certificate_is_good(task, certificate))
            break;
        if (certificate->intercept.known)
            share *= fmin(fmax(KF_HOLD_SOLVE_TO * now->target / now->bound, SHARE_STEP), 0.5);
    }
    /* An optimum as good as rounding allows is no failure of the method: the bound says what it is worth. */
    if (status != KEEPFIT_UNSOLVED || !kf_all_finite(kf_size(&task->problem), x))
        return status;
    kf_error_clear(error);
    return KEEPFIT_OK;
}

void kf_hold_check(const struct kf_task *task, const struct kf_hold *hold)
{
#ifndef NDEBUG
    const struct kf_spread *spread = &hold->spread;
    enum kf_phase phase = spread->curvature.phase;
    assert(!task->iterate.scaled); /* steps move x itself */
    assert(spread->job == KF_IDLE || hold->certificate.gradient != KF_GRADIENT_UNKNOWN);
    assert(spread->job != KF_TRYING || spread->done <= task->problem.points.count);
    assert(spread->job != KF_TRYING || !(spread->length <= 0));
    assert(spread->job != KF_GATHERING || phase == KF_PHASE_GATHERING);
    assert(spread->job != KF_MEASURING || phase == KF_PHASE_MEASURING);
    kf_certificate_check(task, &hold->certificate);
#else
    (void)task;
    (void)hold;
#endif
}

/* ---- stages ---- */

/* False: by none of the ways that begin at x as it is. */
static bool improve(struct kf_task *task, struct kf_hold *hold, bool has_curvature)
{
    double share = kf_hold_share(task, hold);
    if (kf_hold_is_dual(&task->problem, hold) && kf_hold_improve_early(task, hold, share))
        return true;
    if (has_curvature)
        return kf_hold_improve(task, hold);
    return kf_products_suit(&task->problem) && kf_hold_improve_truncated(task, hold, share);
}

/* What a stage does when its points are in. */
static keepfit_status settle(struct kf_task *task, struct kf_hold *hold, keepfit_error *error)
{
    struct kf_certificate *certificate = &hold->certificate;
    bool has_curvature = kf_curvature_suits(&task->problem);
    if (certificate->gradient == KF_GRADIENT_UNKNOWN)
        kf_certificate_pass(task, certificate, NAN);
    kf_certificate_judge(task, certificate, 1);
    kf_certificate_look_closely(task, certificate);
    if (kf_is_limited(&task->problem) && has_curvature) {
        kf_spread_work(task, hold);
        return KEEPFIT_OK;
    }
    if (kf_certificate_is_good(task, certificate))
        return KEEPFIT_OK;
    bool improved = improve(task, hold, has_curvature);
    kf_certificate_look_closely(task, certificate);
    return improved ? KEEPFIT_OK : solve_anew(task, hold, error);
}

keepfit_status kf_hold_settle(struct kf_task *task, void *state, struct kf_outcome *outcome, keepfit_error *error)
{
    struct kf_hold *hold = state;
    struct kf_certificate *certificate = &hold->certificate;
    keepfit_status status = settle(task, hold, error);
    if (kf_is_modelled(certificate) && !kf_is_certified(&certificate->curvature)) {
        /* stopped halfway, with nothing to say what the sum is worth */
        kf_certificate_pass(task, certificate, NAN);
        kf_certificate_judge(task, certificate, 1);
    }
    kf_hold_check(task, hold);
    *outcome = certificate->now;
    return status;
}

keepfit_status kf_hold_take(struct kf_task *task, void *state, double loss, keepfit_error *error)
{
    struct kf_hold *hold = state;
    bool tracked = hold->certificate.gradient != KF_GRADIENT_UNKNOWN;
    keepfit_status status = kf_certificate_take(task, &hold->certificate, loss, error);
    if (status == KEEPFIT_OK && tracked && !kf_spread_take(task, &hold->spread))
        return kf_fail_memory(error);
    return status;
}

void kf_hold_leave(struct kf_task *task, void *state, size_t j)
{
    struct kf_hold *hold = state;
    kf_dual_leave(&hold->dual, j);
    if (hold->certificate.gradient == KF_GRADIENT_UNKNOWN)
        return;
    kf_certificate_leave(task, &hold->certificate, j);
    kf_spread_leave(task, hold, j);
}

double kf_hold_advantage(struct kf_task *task, void *state)
{
    return kf_certificate_advantage(task, &((struct kf_hold *)state)->certificate);
}

/* ---- from stage to stage ---- */

keepfit_status kf_hold_create(struct kf_task *task, struct kf_hold *hold, bool reuse)
{
    bool limited = kf_is_limited(&task->problem); /* which is proved in any case */
    bool estimates = reuse && task->problem.options->guarantee == KF_GUARANTEE_ESTIMATE && !limited;
    hold->reuse = reuse;
    hold->spread.curvature.plain = !reuse;
    bool room = kf_iterate_prepare(task, 0) && kf_certificate_create(task, &hold->certificate, !reuse, estimates) &&
                kf_task_vector(task, &hold->direction) && (!limited || kf_spread_create(task, &hold->spread));
    return room ? KEEPFIT_OK : KEEPFIT_NO_MEMORY;
}

void kf_hold_forget(struct kf_task *task, void *state)
{
    struct kf_hold *hold = state;
    (void)task;
    kf_certificate_forget(&hold->certificate);
    kf_shared_inverse_forget(&hold->products.shared);
    hold->products.rent = 0;
    hold->sharp = false;
    kf_dual_forget(&hold->dual);
    kf_spread_forget(&hold->spread);
}

void kf_hold_archive(struct kf_task *task, void *state, struct kf_archive *archive)
{
    struct kf_hold *hold = state;
    kf_certificate_archive(task, &hold->certificate, archive);
    if (archive->version >= KF_VERSION_WITH_SHARED && kf_products_suit(&task->problem))
        kf_shared_inverse_archive(&hold->products.shared, archive);
    if (archive->version >= KF_VERSION_WITH_RENT) {
        kf_archive_real(archive, &hold->products.rent);
        kf_archive_require(archive, hold->products.rent >= 0);
        kf_archive_flag(archive, &hold->sharp);
    }
    if (archive->version >= KF_VERSION_WITH_FEW_POINTS)
        kf_dual_archive(&hold->dual, task, archive);
    if (!kf_is_limited(&task->problem))
        return;
    kf_task_archive_vector(task, archive, &hold->direction);
    kf_spread_archive(task, &hold->spread, archive);
}

void kf_hold_destroy(void *state)
{
    struct kf_hold *hold = state;
    kf_products_free(&hold->products);
    kf_dual_free(&hold->dual);
    kf_optimum_free(&hold->optimum);
    kf_certificate_free(&hold->certificate);
    kf_spread_free(&hold->spread);
    free(hold->scores);
}
