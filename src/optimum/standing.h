/* Shared by the solvers behind optimum.h. */
#ifndef KF_STANDING_H
#define KF_STANDING_H

#include <math.h>

#include "optimum/optimum.h"
#include "problem/costs.h"
#include "problem/gap.h"

/* Where a solver stands: x with its value, gradient sum, gradient and bound (an estimate with free coordinates). */
struct kf_standing {
    double *x, *sum, *gradient;
    double value, bound;
    double zero_value; /* the objective at x = 0 */
};

/* What counts as large for a value here; precision is relative to it, since a value may itself tend to 0. */
static inline double kf_standing_scale(const struct kf_standing *at)
{
    return fmax(at->zero_value, fabs(at->value));
}

/* Room for what Newton's method needs: score curvatures, and a matrix if dense. */
bool kf_optimum_reserve(struct kf_optimum *optimum, const struct kf_problem *problem, bool hessian, bool dense);
/* Fills in everything from x. */
void kf_standing_measure(struct kf_task *task, struct kf_standing *at);

/* Whether the target is met; a target of 0 never is. */
static inline bool kf_standing_good(const struct kf_standing *at, double target)
{
    return target > 0 && at->bound <= target;
}

/* Whether the stage's budget leaves no room for so many passes; where the optimum itself is wanted, there is none, but there is an
 * end to what it may take (kf_spend). */
static inline bool kf_standing_spent(const struct kf_task *task, double target, uint64_t passes)
{
    uint64_t gradients = passes * task->problem.points.count;
    return target > 0 ? !kf_affords(task, gradients) : gradients > kf_toil_left(task);
}

/* g(x), and the work that it is. */
static inline double kf_optimum_value(struct kf_task *task, const double *x)
{
    kf_spend(&task->stage, (double)task->problem.points.count * kf_cost_value(&task->problem));
    return kf_objective_value(&task->problem.objective, x);
}
/* Newton with an assembled Hessian. `spare` are 3 vectors. Returns whether it ended by its own criterion. */
bool kf_newton_dense(struct kf_optimum *optimum, struct kf_task *task, double target, struct kf_standing *at,
                     double **spare);
/* Newton with conjugate gradients; whole space only. `spare` are 6 vectors. */
bool kf_newton_cg(struct kf_optimum *optimum, struct kf_task *task, double target, struct kf_standing *at,
                  double **spare);
/* Accelerated projected gradient. `spare` are 4 vectors. */
bool kf_accelerated(struct kf_task *task, double target, struct kf_standing *at, double **spare);

/* Moves at->x along the direction (slope = gradient.direction < 0), halving the step until the value has fallen enough,
 * and measures there. candidate is a vector. False: no step helps any more. */
bool kf_line_search(struct kf_task *task, struct kf_standing *at, const double *direction, double slope,
                    double *candidate);

/* Fills curves->of of the points from .. to-1 at x, counting one FO a point. */
void kf_curves(struct kf_curves *curves, struct kf_task *task, const double *x, size_t from, size_t to);

#endif
