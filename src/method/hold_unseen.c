/* Newton's steps without a pass: the slopes are those of an earlier x, and what curvatures make of the moves since (certificate/modelled.c)
 * says what they are now, and by how much at most that is off. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "kernels/kernels.h"
#include "method/hold.h"

/* A step without a pass is good if what it may be off by is less than this share of the target, and with what the model says of the
 * gradient that one. Beyond KF_HOLD_CHEAP_MOST coordinates, finding out takes most of a pass's time, and it does not last as long: such steps are made
 * only where passes have become rare, with no more gradients than this for a point so far. */
#define UNSEEN_TO 0.4
#define UNSEEN_MOST 0.6
#define RARE_MOST 20

/* Whether gradients are what is to be saved, rather than time. */
static bool saves_gradients(const struct kf_problem *problem)
{
    return kf_hold_is_cheap(problem) || problem->objective.fo <= RARE_MOST * (uint64_t)problem->points.count;
}

double kf_hold_foreseen_change(const struct kf_problem *problem, const struct kf_hold *hold, double length)
{
    size_t size = kf_size(problem);
    double change = length * kf_dot(size, hold->sum, hold->direction), off = 0;
    if (hold->modelled && !hold->curvature.certified)
        return NAN;
    for (size_t k = 0; k < size; k++)
        off += fabs(hold->direction[k]) * (hold->off[k] + kf_gamma((double)size + 8) * fabs(hold->sum[k]));
    if (hold->modelled)
        off += hold->curvature.since.error * kf_curvature_length(&hold->curvature, hold->direction);
    return change - fabs(length) * off * KF_UPWARD;
}

/* Where the points' scores will have moved to by the direction. False: no memory. */
static bool foresee_moves(struct kf_task *task, struct kf_hold *hold)
{
    size_t count = task->problem.points.count;
    if (!KF_RESERVE(hold->moved, hold->moved_capacity, count) ||
        !KF_RESERVE(hold->trial, hold->trial_capacity, count)) {
        task->problem.objective.memory_failed = true;
        return false;
    }
    kf_single_scores(&task->problem.objective, hold->direction, 0, count, hold->trial);
    if (hold->modelled)
        kf_add(count, 1, hold->moved, hold->trial);
    kf_spend(&task->stage, 0.3 * (double)task->problem.points.entries);
    return true;
}

/* What the scores of a step along the direction, and with them the moves so far, are off by: in the products, in the sums, and in where x
 * gets to. */
static struct kf_moves foresee_rounding(const struct kf_task *task, const struct kf_hold *hold, double *most)
{
    const struct kf_objective *objective = &task->problem.objective;
    double along = kf_score_most(objective, hold->direction);
    *most = hold->moved_most + along;
    double off =
        kf_score_rounding(objective, along) + KF_UNIT * (*most + along + kf_score_most(objective, task->iterate.x));
    return (struct kf_moves){hold->trial, (hold->moved_off + off) * KF_UPWARD};
}

/* x moves along the direction, and everything that is known of it follows, but for `moved`. */
static void move_unseen(struct kf_task *task, struct kf_hold *hold, double error, double most)
{
    struct kf_tracked tracked = kf_hold_tracked(hold);
    double change = kf_hold_foreseen_change(&task->problem, hold, 1);
    kf_curvature_follow(&hold->curvature, task, hold->slopes, hold->direction, &tracked);
    kf_add(kf_size(&task->problem), 1, hold->direction, task->iterate.x);
    hold->modelled = true;
    kf_hold_measure_anew(task, hold);
    kf_goal_move(&hold->goal, task, task->iterate.x, change);
    kf_curvature_move(&hold->curvature, task, &tracked);
    kf_curvature_doubt(&hold->curvature, error, most);
}

bool kf_hold_step_unseen(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_curvature *curvature = &hold->curvature;
    double error, most, farthest;
    if (!hold->reuse || !hold->remembered || !curvature->certified || !saves_gradients(&task->problem) ||
        !foresee_moves(task, hold))
        return false;
    struct kf_moves moves = foresee_rounding(task, hold, &farthest);
    error = kf_curvature_error(curvature, &task->problem, hold->slopes, &moves, &most);
    if (!(kf_curvature_foresee(curvature, &task->problem, error, most) <= UNSEEN_TO * hold->now.target))
        return false;
    struct kf_goal goal = hold->goal;
    double square = hold->square, was_off = curvature->since.error, stretch = curvature->since.stretch;
    bool modelled = hold->modelled, rough = curvature->since.rough;
    kf_copy(&task->problem, hold->start, task->iterate.x);
    kf_copy(&task->problem, hold->start_sum, hold->sum);
    kf_copy(&task->problem, hold->start_off, hold->off);
    move_unseen(task, hold, error, most);
    struct kf_tracked tracked = kf_hold_tracked(hold);
    double enough = UNSEEN_MOST * hold->now.target;
    if (kf_curvature_bound(curvature, task, &tracked, enough) <= enough) {
        memcpy(hold->moved, hold->trial, task->problem.points.count * sizeof *hold->moved);
        hold->moved_most = farthest;
        hold->moved_off = moves.off;
        task->stage.steps++;
        return true;
    }
    kf_copy(&task->problem, task->iterate.x, hold->start);
    kf_copy(&task->problem, hold->sum, hold->start_sum);
    kf_copy(&task->problem, hold->off, hold->start_off);
    hold->goal = goal;
    hold->square = square;
    hold->modelled = modelled;
    kf_curvature_move(curvature, task, &tracked);
    kf_curvature_doubt(curvature, was_off, stretch);
    curvature->since.rough = rough;
    return false;
}
