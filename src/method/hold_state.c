/* What methods that hold x keep from stage to stage: made, written, forgotten; and what a point that leaves takes with it. */
#include <stdlib.h>

#include "method/hold.h"

/* What is taken for the model's error, as a share of x's move, until there is something to learn it from. */
#define DOUBT_FIRST 0.3

keepfit_status kf_hold_create(struct kf_task *task, struct kf_hold *hold, bool reuse)
{
    hold->reuse = reuse;
    hold->curvature.plain = hold->spread.curvature.plain = !reuse;
    bool room = kf_iterate_prepare(task, 0) && kf_task_vector(task, &hold->sum) && kf_task_vector(task, &hold->off) &&
                kf_task_vector(task, &hold->start_off) && kf_task_vector(task, &hold->aside) &&
                kf_task_vector(task, &hold->gradient) && kf_task_vector(task, &hold->direction) &&
                kf_task_vector(task, &hold->start) && kf_task_vector(task, &hold->start_sum);
    bool spread = kf_is_limited(&task->problem); /* which is proved in any case */
    if (spread)
        room = room && kf_spread_create(task, &hold->spread);
    if (reuse && task->problem.options->guarantee == KF_GUARANTEE_ESTIMATE && !spread)
        room = room && kf_task_vector(task, &hold->origin);
    hold->doubt = DOUBT_FIRST;
    return room ? KEEPFIT_OK : KEEPFIT_NO_MEMORY;
}

void kf_hold_forget(struct kf_task *task, void *state)
{
    struct kf_hold *hold = state;
    (void)task;
    hold->tracked = hold->remembered = hold->modelled = false;
    hold->doubt = DOUBT_FIRST;
    hold->distance = 0;
    hold->curvature.anchored = hold->curvature.certified = hold->intercept.known = false;
    kf_spread_forget(&hold->spread);
}

void kf_hold_leave(struct kf_task *task, void *state, size_t j)
{
    struct kf_hold *hold = state;
    if (!hold->tracked)
        return;
    double *factors = task->vectors.factors[0];
    if (hold->modelled) /* what it has in the sum */
        factors[0] =
            hold->slopes[j] + kf_curvature_of(&hold->curvature, &task->problem, hold->slopes, j) * hold->moved[j];
    else
        kf_factors(&task->problem.objective, &task->iterate.view, j, factors);
    struct kf_tracked tracked = kf_hold_tracked(hold);
    task->problem.objective.type->add(&task->problem.objective, -1, j, factors, hold->sum);
    double blur = kf_rounding_of_point(&task->problem.objective, task->iterate.x, j, factors,
                                       hold->modelled ? hold->moved_off : 0, &tracked);
    kf_goal_drop(&hold->goal, task, &task->iterate.view, j, blur);
    hold->intercept.known = false;
    if (hold->remembered)
        kf_points_close_gap(hold->slopes, task->problem.points.count, 1, j);
    if (hold->modelled)
        kf_points_close_gap(hold->moved, task->problem.points.count, 1, j);
    kf_curvature_leave(&hold->curvature, task, j, factors[0]);
    if (hold->modelled && !hold->curvature.anchored) /* nothing tells any more what the sum was made of */
        hold->tracked = hold->remembered = hold->modelled = false;
    kf_spread_leave(task, hold, j);
}

double kf_hold_advantage(struct kf_task *task, void *state)
{
    struct kf_hold *hold = state;
    if (!hold->tracked || !hold->curvature.certified)
        return 1;
    struct kf_tracked tracked = kf_hold_tracked(hold);
    kf_complete_gradient(&task->problem.objective, hold->sum, task->iterate.x, hold->gradient);
    return 2 * kf_gap_bound(&task->problem, task->iterate.x, hold->gradient, NULL, 0) /
           kf_curvature_decrement(&hold->curvature, task, &tracked);
}

static void archive_moves(struct kf_task *task, struct kf_hold *hold, struct kf_archive *archive)
{
    kf_archive_flag(archive, &hold->modelled);
    kf_archive_flag(archive, &hold->matching);
    kf_archive_require(archive, !hold->modelled || (hold->remembered && hold->curvature.anchored));
    if (hold->modelled)
        kf_archive_array(archive, &hold->moved, &hold->moved_capacity, task->problem.points.count);
    kf_archive_real(archive, &hold->curvature.since.error);
    kf_archive_real(archive, &hold->curvature.since.before);
    kf_archive_real(archive, &hold->curvature.leverages.later);
    kf_archive_require(archive, hold->curvature.since.error >= 0 && hold->curvature.since.before >= 0 &&
                                    hold->curvature.leverages.later >= 0);
}

void kf_hold_archive(struct kf_task *task, void *state, struct kf_archive *archive)
{
    struct kf_hold *hold = state;
    kf_task_archive_vector(task, archive, &hold->sum);
    if (archive->version >= KF_VERSION_WITH_ROUNDING) {
        kf_task_archive_vector(task, archive, &hold->off);
        kf_archive_real(archive, &hold->moved_most);
        kf_archive_real(archive, &hold->moved_off);
    }
    kf_task_archive_vector(task, archive, &hold->origin);
    kf_archive_real(archive, &hold->square);
    kf_archive_flag(archive, &hold->tracked);
    kf_archive_flag(archive, &hold->remembered);
    if (hold->remembered)
        kf_archive_array(archive, &hold->slopes, &hold->slopes_capacity, task->problem.points.count);
    kf_archive_real(archive, &hold->distance);
    kf_archive_real(archive, &hold->doubt);
    kf_goal_archive(&hold->goal, archive);
    kf_curvature_archive(&hold->curvature, task, archive);
    if (archive->version > 1) {
        archive_moves(task, hold, archive);
        kf_intercept_archive(&hold->intercept, &task->problem, archive);
    }
    if (!kf_is_limited(&task->problem))
        return;
    kf_task_archive_vector(task, archive, &hold->direction);
    kf_spread_archive(task, &hold->spread, archive);
}

void kf_hold_destroy(void *state)
{
    struct kf_hold *hold = state;
    free(hold->slopes);
    free(hold->moved);
    free(hold->trial);
    kf_optimum_free(&hold->optimum);
    kf_curvature_free(&hold->curvature);
    kf_intercept_free(&hold->intercept);
    kf_spread_free(&hold->spread);
}
