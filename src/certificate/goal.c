#include "certificate/goal.h"

#include <assert.h>
#include <limits.h>
#include <math.h>

#define MOVES_MOST 32 /* speed: bench/tuning.md */
/* The losses are summed anew when rounding may be this share of them. */
#define OFF_MOST 1e-3 /* safety: epsilon is asked for a thousandth more strictly at most */
/* A relative target is no less than this share of the objective at 0, which is rounding: the optimum may be worth 0. */
#define FINEST 1e-14 /* safety: 45 units of rounding */

bool kf_goal_follows(const struct kf_problem *problem)
{
    return problem->options->epsilon_kind == KF_EPSILON_RELATIVE;
}

static double loss_of(struct kf_task *task, const struct kf_view *x, size_t j)
{
    struct kf_objective *objective = &task->problem.objective;
    return task->problem.points.place[j].weight * objective->type->value(objective, x, j);
}

/* Point j's loss comes or, with a minus, goes. */
static void change_losses(struct kf_goal *goal, const struct kf_problem *problem, size_t j, double loss, double blur)
{
    assert(j < problem->points.count && !(blur < 0));
    goal->losses += loss;
    goal->off += kf_rounding_of_loss(&problem->objective, j, loss, blur) + KF_UNIT * fabs(goal->losses) * KF_UPWARD;
}

void kf_goal_take(struct kf_goal *goal, struct kf_task *task, double loss, double blur)
{
    size_t newest = task->problem.points.count - 1;
    if (!kf_goal_follows(&task->problem))
        return;
    double weighted =
        isnan(loss) ? loss_of(task, &task->iterate.view, newest) : task->problem.points.place[newest].weight * loss;
    change_losses(goal, &task->problem, newest, weighted, blur);
}

void kf_goal_drop(struct kf_goal *goal, struct kf_task *task, const struct kf_view *x, size_t j, double blur)
{
    if (kf_goal_follows(&task->problem))
        change_losses(goal, &task->problem, j, -loss_of(task, x, j), blur);
}

void kf_goal_set(struct kf_goal *goal, const struct kf_problem *problem, const double *x, double losses)
{
    goal->losses = losses;
    goal->off = kf_rounding_of_losses(&problem->objective, x, losses);
    assert(!(goal->off < 0));
    goal->moves = 0;
}

void kf_goal_move(struct kf_goal *goal, struct kf_task *task, const double *to, double change)
{
    if (!kf_goal_follows(&task->problem))
        return;
    goal->losses += change;
    goal->off += KF_UNIT * fabs(goal->losses) * KF_UPWARD;
    if (!isnan(goal->losses) && goal->off < OFF_MOST * goal->losses && ++goal->moves < MOVES_MOST)
        return;
    double mean = kf_objective_value(&task->problem.objective, to) - kf_regulariser(&task->problem.objective, to);
    kf_goal_set(goal, &task->problem, to, mean * task->problem.objective.weight_total);
}

void kf_goal_archive(struct kf_goal *goal, struct kf_archive *archive)
{
    size_t moves = goal->moves;
    kf_archive_real(archive, &goal->losses);
    if (archive->version >= KF_VERSION_WITH_ROUNDING)
        kf_archive_real(archive, &goal->off);
    kf_archive_count(archive, &moves, UINT_MAX);
    goal->moves = (unsigned)moves;
}

double kf_goal_target(const struct kf_goal *goal, const struct kf_problem *problem, double square)
{
    const struct kf_objective *objective = &problem->objective;
    double epsilon = problem->options->epsilon;
    assert(epsilon >= 0 && problem->points.count > 0 && !(square < 0));
    switch (problem->options->epsilon_kind) {
    case KF_EPSILON_RELATIVE:
        return fmax(epsilon / (1 + epsilon) *
                        ((goal->losses - goal->off) * kf_inverse_weight(objective) + objective->lambda * square) /
                        (1 + kf_gamma((double)objective->slots * (double)objective->outputs + 64)),
                    FINEST * objective->zeros.high * kf_inverse_weight(objective));
    case KF_EPSILON_STAT:
        return epsilon / (double)problem->points.count;
    default:
        return epsilon;
    }
}
