/* The constants of the theory, from the data and the domain as they stream or as the user gave them, and the step rules
 * made of them. */
#ifndef KF_CONSTANTS_H
#define KF_CONSTANTS_H

#include "iterate/task.h"

double kf_constant_smoothness(const struct kf_problem *problem); /* L, of one point's function */
double kf_constant_convexity(const struct kf_problem *problem);  /* mu = 2 lambda */

/* G, the largest gradient of one point's function in the domain: kept as a running maximum, recomputed when the domain's
 * radius has changed (a box grows with the dimension). Infinite without a bounded domain. */
struct kf_lipschitz {
    double slope_most, radius;
    size_t counted;
};

double kf_constant_lipschitz(const struct kf_problem *problem, struct kf_lipschitz *lipschitz);

/* A point leaves: the others count as before, and the maximum stays what it is, an upper bound. */
static inline void kf_lipschitz_leave(struct kf_lipschitz *lipschitz)
{
    lipschitz->counted -= lipschitz->counted > 0;
}
void kf_lipschitz_archive(struct kf_lipschitz *lipschitz, const struct kf_problem *problem, struct kf_archive *archive);

enum kf_step_rule {
    KF_STEP_CONSTANT, /* value */
    KF_STEP_SHARE,    /* value/L */
    KF_STEP_DIVIDED,  /* value/t; this one and those below become shorter */
    KF_STEP_PAPER,    /* 1/(lambda t) or 1/(lambda i t) */
    KF_STEP_CAPPED,   /* the same, at most 1/L */
    KF_STEP_THEORY    /* 4/(mu (t+beta)) */
};

struct kf_step_size {
    enum kf_step_rule rule;
    double value;
};

/* Reads the option step; without it, the fallback. A rule that the method does not know is refused. */
keepfit_status kf_step_read(const keepfit_options *options, struct kf_step_size fallback, bool decreasing, bool theory,
                            struct kf_step_size *step, keepfit_error *error);

/* The step that does not depend on t, for CONSTANT and SHARE. */
double kf_step_fixed(const struct kf_problem *problem, const struct kf_step_size *step);

/* The default where the paper prints a step without a cap: as printed inside a bounded domain, capped in the whole space,
 * where the first steps (1/lambda) would overflow. For a network, which has no strong convexity, 1/(3L). */
struct kf_step_size kf_step_as_printed(const struct kf_problem *problem);

static inline uint64_t kf_given_or(uint64_t given, uint64_t fallback)
{
    return given ? given : fallback;
}

#endif
