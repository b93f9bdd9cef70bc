/* CSVRG's state, visible so that its laws can be tested: the tracked gradient and the estimator. */
#ifndef KF_CSVRG_H
#define KF_CSVRG_H

#include "iterate/step.h"
#include "method/constants.h"
#include "method/method.h"

struct kf_csvrg {
    double *anchor; /* the paper's x_prev */
    double *
        remembered; /* factors of every point's gradient at x_prev; the drift is their sum, the paper's (i-1) * D_{i-1} */
    size_t remembered_capacity;
    struct kf_step_size step;
    struct kf_lipschitz lipschitz;
    size_t previous;      /* the paper's prev */
    bool stale;           /* the functions changed: recompute at the next stage whatever alpha says */
    uint64_t full_stages; /* stages that computed full gradients */
};

/* For the drawn u (0 .. i-2): two samples, 2 FOs, since the third gradient is remembered. */
struct kf_estimator kf_csvrg_estimator(const struct kf_problem *problem, const struct kf_csvrg *csvrg, size_t u);

double kf_csvrg_alpha(const struct kf_problem *problem, struct kf_csvrg *csvrg);
uint64_t kf_csvrg_inner_steps(const struct kf_problem *problem, struct kf_csvrg *csvrg);
/* The weight of the iterate after step t (from 0), not normalised. */
double kf_csvrg_output_weight(const struct kf_problem *problem, uint64_t t);

extern const struct kf_method kf_csvrg_method;

#endif
