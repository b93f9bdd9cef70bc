/* Hold and re-solve: x stands still while its exact gradient takes in each new point with 1 FO, so the bound on the gap is
 * proved at every stage. Only when the bound exceeds epsilon is the stage's problem solved again, warm, by Newton's method
 * (optimum/optimum.h), to a quarter of epsilon.
 *
 * With a free intercept the gradient norm proves nothing about the intercept's direction; there the test uses an estimate
 * of its curvature, and no bound is reported. */
#include <math.h>

#include "base/error.h"
#include "kernels/kernels.h"
#include "method/method.h"
#include "optimum/optimum.h"

#define SOLVE_TO 0.25

struct refit {
    double *sum; /* of the points' gradients at problem->x */
    double *gradient;
    bool tracked; /* sum is valid for all points but the newest */
    struct kf_optimum optimum;
};

static keepfit_status refit_create(struct kf_problem *problem, void *state, keepfit_error *error)
{
    struct refit *refit = state;
    if (!kf_iterate_prepare(problem, 0) || !kf_problem_vector(problem, &refit->sum) ||
        !kf_problem_vector(problem, &refit->gradient))
        return kf_fail_memory(error);
    return KEEPFIT_OK;
}

static void take_newest(struct kf_problem *problem, struct refit *refit)
{
    struct kf_objective *objective = &problem->objective;
    size_t newest = problem->points.count - 1;
    if (refit->tracked) {
        kf_factors(objective, &problem->iterate.view, newest, problem->factors[0]);
        objective->type->add(objective, 1, newest, problem->factors[0], refit->sum);
    } else {
        kf_gradient_sum(objective, problem->x, newest + 1, refit->sum, NULL, problem->factors[0]);
        refit->tracked = true;
    }
    kf_complete_gradient(objective, refit->sum, problem->x, refit->gradient);
}

static keepfit_status refit_stage(struct kf_problem *problem, void *state, keepfit_error *error)
{
    struct refit *refit = state;
    double epsilon = problem->options->epsilon;
    take_newest(problem, refit);
    problem->bound = kf_gap_bound(problem, problem->x, refit->gradient);
    if (kf_gap_estimate(problem, problem->x, refit->gradient) <= epsilon)
        return KEEPFIT_OK;
    keepfit_status status =
        kf_optimum_find(&refit->optimum, problem, SOLVE_TO * epsilon, problem->x, refit->sum, error);
    problem->steps++;
    kf_complete_gradient(&problem->objective, refit->sum, problem->x, refit->gradient);
    problem->bound = kf_gap_bound(problem, problem->x, refit->gradient);
    /* An optimum as good as rounding allows is no failure of the method: the bound tells what it is worth. */
    if (status != KEEPFIT_UNSOLVED || !kf_all_finite(kf_size(problem), problem->x))
        return status;
    kf_error_clear(error);
    return KEEPFIT_OK;
}

static void refit_forget(struct kf_problem *problem, void *state)
{
    (void)problem;
    ((struct refit *)state)->tracked = false;
}

static void refit_destroy(void *state)
{
    kf_optimum_free(&((struct refit *)state)->optimum);
}

const struct kf_method kf_refit = {
    .name = "refit",
    .summary =
        "hold the model, track its exact gradient, re-solve by Newton only when the proved bound exceeds epsilon",
    .needs_convexity = true,
    .holds_epsilon = true,
    .draws_from = -1,
    .state_size = sizeof(struct refit),
    .create = refit_create,
    .stage = refit_stage,
    .forget = refit_forget,
    .destroy = refit_destroy,
};
