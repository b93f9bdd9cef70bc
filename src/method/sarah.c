/* SARAH (Nguyen, Liu, Scheinberg, Takac 2017), run anew at each stage from the last output: S epochs, each with
 *
 *     v = full gradient (i FOs), x_1 = P(x_0 - step*v), and then T times
 *     v <- grad f_u(x_t) - grad f_u(x_{t-1}) + v,   x_{t+1} = P(x_t - step*v),   u uniform on 1..i   (2 FOs)
 *
 * v tracks the loss's gradient; the regulariser, common to all f_u, is applied exactly. Departure: the next epoch starts
 * from the last iterate, not from one drawn at random among them. S = 10, T = 100, step 1/(3L). */
#include "method/constants.h"
#include "method/method.h"

struct sarah {
    double *before, *direction; /* x_{t-1}, and i*v */
    struct kf_step_size step;
    uint64_t outer, inner;
};

static keepfit_status sarah_create(struct kf_problem *problem, void *state, keepfit_error *error)
{
    struct sarah *sarah = state;
    sarah->outer = kf_given_or(problem->options->outer, 10);
    sarah->inner = kf_given_or(problem->options->inner, 100);
    if (!kf_problem_vector(problem, &sarah->before) || !kf_problem_vector(problem, &sarah->direction))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(problem->options, (struct kf_step_size){KF_STEP_SHARE, 1.0 / 3}, false, false, &sarah->step,
                        error);
}

static keepfit_status sarah_stage(struct kf_problem *problem, void *state, keepfit_error *error)
{
    (void)error;
    struct sarah *sarah = state;
    struct kf_objective *objective = &problem->objective;
    size_t i = problem->points.count;
    double mean = kf_inverse_weight(objective), step = kf_step_fixed(problem, &sarah->step);
    double *x = problem->x, *now = problem->factors[0], *then = problem->factors[1];
    for (uint64_t s = 0; s < sarah->outer; s++) {
        kf_gradient_sum(objective, x, i, sarah->direction, now);
        for (uint64_t t = 0; t <= sarah->inner; t++) {
            if (t > 0) {
                size_t u = kf_random_below(&problem->random, i);
                kf_factors(objective, x, u, now);
                kf_factors(objective, sarah->before, u, then);
                objective->type->add(objective, (double)i, u, now, sarah->direction);
                objective->type->add(objective, -(double)i, u, then, sarah->direction);
            }
            kf_copy(problem, sarah->before, x);
            kf_step(problem, x, step, sarah->direction, mean, NULL, 0);
        }
    }
    return KEEPFIT_OK;
}

const struct kf_method kf_sarah = {
    .name = "sarah",
    .summary = "stochastic recursive gradient: S epochs (10) of T steps (100) a stage",
    .state_size = sizeof(struct sarah),
    .create = sarah_create,
    .stage = sarah_stage,
};
