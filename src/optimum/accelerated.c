/* Accelerated projected gradient (Nesterov 1983, Beck and Teboulle 2009) on the objective itself, the curvature estimated
 * as it goes, restarted when it turns uphill (O'Donoghue and Candes 2015). Needs values, gradients and projections only. */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "optimum/standing.h"

#define ROUNDS_MOST 100000 /* safety: an end */
#define ROUNDING 1e-15     /* safety: a proved gap of this share of the scale is as good as none */

struct point {
    double *x, *sum, *gradient;
    double value;
};

static void measure(struct kf_task *task, struct point *at)
{
    struct kf_objective *objective = &task->problem.objective;
    kf_gradient_sum(objective, at->x, task->problem.points.count, at->sum, NULL, task->vectors.factors[0]);
    kf_complete_gradient(objective, at->sum, at->x, at->gradient);
    at->value = kf_optimum_value(task, at->x);
}

/* next = P(ahead - gradient/top), with the smallest doubling of top for which the parabola lies above the objective. */
static double descend(struct kf_task *task, const struct point *ahead, double top, double *next)
{
    size_t size = kf_size(&task->problem);
    for (;; top *= 2) {
        memcpy(next, ahead->x, size * sizeof *next);
        kf_add(size, -1 / top, ahead->gradient, next);
        kf_project(&task->problem, next);
        double model = ahead->value;
        for (size_t k = 0; k < size; k++) {
            double move = next[k] - ahead->x[k];
            model += ahead->gradient[k] * move + top / 2 * move * move;
        }
        double value = kf_optimum_value(task, next);
        if (!(value > model + 1e-15 * fabs(ahead->value)) || top > 1e300)
            return top;
    }
}

/* Moves on to next; returns the momentum that follows. */
static double advance(size_t size, const double *next, double momentum, double *ahead, double *x, double *moved)
{
    double uphill = 0, most = 0, largest = 0;
    for (size_t k = 0; k < size; k++) {
        uphill += (ahead[k] - next[k]) * (next[k] - x[k]);
        most = fmax(most, fabs(next[k] - x[k]));
        largest = fmax(largest, fabs(next[k]));
    }
    double following = uphill > 0 ? 1 : (1 + sqrt(1 + 4 * momentum * momentum)) / 2;
    double push = uphill > 0 ? 0 : (momentum - 1) / following;
    for (size_t k = 0; k < size; k++) {
        ahead[k] = next[k] + push * (next[k] - x[k]);
        x[k] = next[k];
    }
    *moved = largest > 0 ? most / largest : 0;
    return following;
}

bool kf_accelerated(struct kf_task *task, double target, struct kf_standing *at, double **spare)
{
    size_t size = kf_size(&task->problem);
    double *next = spare[3], momentum = 1, moved = 1;
    struct point ahead = {.x = spare[0], .sum = spare[1], .gradient = spare[2]};
    double top = fmax(kf_smoothness(&task->problem.objective), 1e-12);
    int still = 0;
    memcpy(ahead.x, at->x, size * sizeof *at->x);
    for (long round = 0; round < ROUNDS_MOST && still < 5; round++) {
        if (kf_standing_spent(task, target, 3))
            break;
        if (round % KF_CHECK_EVERY == 0) {
            kf_standing_measure(task, at);
            if (at->bound <= fmax(target, ROUNDING * kf_standing_scale(at)))
                return true;
        }
        measure(task, &ahead);
        if (!isfinite(ahead.value) || task->problem.objective.callback_failed)
            return false;
        top = descend(task, &ahead, top * 0.9, next);
        momentum = advance(size, next, momentum, ahead.x, at->x, &moved);
        still = moved <= KF_PRECISE ? still + 1 : 0;
    }
    kf_standing_measure(task, at);
    return still >= 5 && (!(target > 0) || at->bound <= target);
}
