/* What is minimised: the objective over the points so far, and the set that x has to stay in. A stage changes none of it, but for what the
 * objective counts (FOs) and the room that it computes in. */
#ifndef KF_PROBLEM_H
#define KF_PROBLEM_H

#include <math.h>

#include "base/options.h"
#include "domain/domain.h"
#include "objective/objective.h"

struct kf_problem {
    const keepfit_options *options;
    struct kf_objective objective;
    struct kf_domain domain;
    struct kf_points points;
};

static inline size_t kf_size(const struct kf_problem *problem)
{
    return kf_dimension(&problem->objective);
}

/* Whether there is a limit to what a stage may spend. */
static inline bool kf_is_limited(const struct kf_problem *problem)
{
    return problem->options->stage_budget || !isnan(problem->options->max_stage_work);
}

void kf_copy(const struct kf_problem *problem, double *to, const double *from);
void kf_clear(const struct kf_problem *problem, double *vector);

/* The nearest point of the domain (free coordinates stay). */
void kf_project(const struct kf_problem *problem, double *x);

#endif
