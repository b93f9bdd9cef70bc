/* SVRG (Johnson and Zhang 2013), run anew at each stage from the last output: S epochs, each with the full gradient at
 * the snapshot (i FOs) and T steps of
 *
 *     x <- P(x - step * (grad f_u(x) - grad f_u(snapshot) + mean gradient at the snapshot)),  u uniform on 1..i  (2 FOs)
 *
 * The next snapshot is the last iterate (option I of that paper). S = 10, T = 100, step 1/(3L) as in the CSVRG paper. */
#include "method/constants.h"
#include "method/method.h"

struct svrg {
    double *snapshot, *sum;
    struct kf_step_size step;
    uint64_t outer, inner;
};

static keepfit_status svrg_create(struct kf_problem *problem, void *state, keepfit_error *error)
{
    struct svrg *svrg = state;
    svrg->outer = kf_given_or(problem->options->outer, 10);
    svrg->inner = kf_given_or(problem->options->inner, 100);
    if (!kf_problem_vector(problem, &svrg->snapshot) || !kf_problem_vector(problem, &svrg->sum))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(problem->options, (struct kf_step_size){KF_STEP_SHARE, 1.0 / 3}, false, false, &svrg->step,
                        error);
}

static keepfit_status svrg_stage(struct kf_problem *problem, void *state, keepfit_error *error)
{
    (void)error;
    struct svrg *svrg = state;
    struct kf_objective *objective = &problem->objective;
    size_t i = problem->points.count;
    double mean = kf_inverse_weight(objective), share = (double)i * mean;
    double step = kf_step_fixed(problem, &svrg->step), *x = problem->x;
    for (uint64_t s = 0; s < svrg->outer; s++) {
        kf_copy(problem, svrg->snapshot, x);
        kf_gradient_sum(objective, svrg->snapshot, i, svrg->sum, problem->factors[0]);
        for (uint64_t t = 0; t < svrg->inner; t++) {
            size_t u = kf_random_below(&problem->random, i);
            kf_factors(objective, x, u, problem->factors[0]);
            kf_factors(objective, svrg->snapshot, u, problem->factors[1]);
            struct kf_term terms[] = {{share, u, problem->factors[0]}, {-share, u, problem->factors[1]}};
            kf_step(problem, x, step, svrg->sum, mean, terms, 2);
        }
    }
    return KEEPFIT_OK;
}

const struct kf_method kf_svrg = {
    .name = "svrg",
    .summary = "stochastic variance reduced gradient: S epochs (10) of T steps (100) a stage",
    .state_size = sizeof(struct svrg),
    .create = svrg_create,
    .stage = svrg_stage,
};
