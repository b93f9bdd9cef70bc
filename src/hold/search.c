/* How far along a direction g falls, for losses made of pieces. Newton's step does not see the kinks that lie on its way, and where few points
 * are curved it leads far astray; but along a line g is a function of one number, whose slope takes two scores a point and no gradients. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "hold/hold.h"
#include "kernels/kernels.h"
#include "problem/costs.h"

/* A length is good where the slope is this share of what it is at x, up or down. */
#define FLAT 0.1       /* safety: any share below a half ends; Wolfe's condition */
#define TRIES_MOST 20  /* safety: an end */
#define DOUBLED_MOST 8 /* safety: an end; 256 steps are far enough */

/* Scores of all points, at x and of the direction; and the regulariser's part of the slope, first + second * length. */
struct line {
    const struct kf_problem *problem;
    const double *at, *along;
    double first, second;
};

static double slope_at(const struct line *line, double length)
{
    const struct kf_objective *objective = &line->problem->objective;
    const struct kf_place *place = line->problem->points.place;
    double sum = 0;
    for (size_t j = 0; j < line->problem->points.count; j++)
        sum += place[j].weight * line->along[j] *
               objective->loss->slope(line->at[j] + length * line->along[j], place[j].target, objective->delta);
    return sum * kf_inverse_weight(objective) + line->first + length * line->second;
}

/* Between low, where g still falls, and high, where it rises: by straight lines, halved where one end stays (Illinois). */
static double find_flat(const struct line *line, double low, double high, double falls, double rises, double enough)
{
    double length = high;
    int last = 0;
    for (int k = 0; k < TRIES_MOST; k++) {
        length = low + (high - low) * (falls / (falls - rises));
        double slope = slope_at(line, length);
        if (!(fabs(slope) > enough))
            return length;
        if (slope < 0) {
            low = length;
            falls = slope;
            rises *= last < 0 ? 0.5 : 1;
            last = -1;
        } else {
            high = length;
            rises = slope;
            falls *= last > 0 ? 0.5 : 1;
            last = 1;
        }
    }
    return length;
}

static double search(const struct line *line, double decrement)
{
    double length = 1, before = 0, falls = -decrement, slope = slope_at(line, length);
    for (int k = 0; k < DOUBLED_MOST && slope < -FLAT * decrement; k++) {
        before = length;
        falls = slope;
        length *= 2;
        slope = slope_at(line, length);
    }
    return slope > FLAT * decrement ? find_flat(line, before, length, falls, slope, FLAT * decrement) : length;
}

double kf_hold_search(struct kf_task *task, struct kf_hold *hold, double decrement)
{
    const struct kf_problem *problem = &task->problem;
    const struct kf_objective *objective = &problem->objective;
    size_t count = problem->points.count, free = objective->free, size = kf_size(problem);
    if (!kf_is_single(objective) || !objective->loss->piece ||
        decrement < KF_HOLD_KINKS_FROM * hold->certificate.now.target)
        return 1;
    if (!KF_RESERVE(hold->scores, hold->scores_capacity, 2 * count)) {
        task->problem.objective.memory_failed = true;
        return 1;
    }
    const double *x = task->iterate.x + free, *direction = hold->direction + free;
    kf_single_scores(objective, task->iterate.x, 0, count, hold->scores);
    kf_single_scores(objective, hold->direction, 0, count, hold->scores + count);
    kf_spend(&task->stage, 2 * kf_cost_pass(problem));
    struct line line = {problem, hold->scores, hold->scores + count,
                        2 * objective->lambda * kf_dot(size - free, x, direction),
                        2 * objective->lambda * kf_square(size - free, direction)};
    return search(&line, decrement);
}
