#include "certificate/goal.h"

#include <limits.h>
#include <math.h>

#define MOVES_MOST 32
/* A relative target is no less than this share of the objective at 0, which is rounding: the optimum may be worth 0. */
#define FINEST 1e-14

static bool is_relative(const struct kf_problem *problem)
{
    return problem->options->epsilon_kind == KF_EPSILON_RELATIVE;
}

static double loss_of(struct kf_problem *problem, const struct kf_view *x, size_t j)
{
    struct kf_objective *objective = &problem->objective;
    return problem->points.place[j].weight * objective->type->value(objective, x, j);
}

void kf_goal_take(struct kf_goal *goal, struct kf_problem *problem)
{
    size_t newest = problem->points.count - 1;
    if (!is_relative(problem))
        return;
    if (isnan(problem->arrival_loss))
        goal->losses += loss_of(problem, &problem->iterate.view, newest);
    else
        goal->losses += problem->points.place[newest].weight * problem->arrival_loss;
}

void kf_goal_drop(struct kf_goal *goal, struct kf_problem *problem, const struct kf_view *x, size_t j)
{
    if (is_relative(problem))
        goal->losses -= loss_of(problem, x, j);
}

void kf_goal_move(struct kf_goal *goal, struct kf_problem *problem, const double *to, double change)
{
    if (!is_relative(problem))
        return;
    goal->losses += change;
    if (!isnan(goal->losses) && goal->losses > 0 && ++goal->moves < MOVES_MOST)
        return;
    double mean = kf_objective_value(&problem->objective, to) - kf_regulariser(&problem->objective, to);
    goal->losses = mean * problem->objective.weight_total;
    goal->moves = 0;
}

void kf_goal_archive(struct kf_goal *goal, struct kf_archive *archive)
{
    size_t moves = goal->moves;
    kf_archive_real(archive, &goal->losses);
    kf_archive_count(archive, &moves, UINT_MAX);
    goal->moves = (unsigned)moves;
}

double kf_goal_target(const struct kf_goal *goal, const struct kf_problem *problem, double square)
{
    const struct kf_objective *objective = &problem->objective;
    double epsilon = problem->options->epsilon;
    switch (problem->options->epsilon_kind) {
    case KF_EPSILON_RELATIVE:
        return fmax(epsilon / (1 + epsilon) *
                        (goal->losses * kf_inverse_weight(objective) + objective->lambda * square),
                    FINEST * objective->zero_total * kf_inverse_weight(objective));
    case KF_EPSILON_STAT:
        return epsilon / (double)problem->points.count;
    default:
        return epsilon;
    }
}
