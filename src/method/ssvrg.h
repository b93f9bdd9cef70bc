/* SSVRG's state, visible so that its laws can be tested. */
#ifndef KF_SSVRG_H
#define KF_SSVRG_H

#include "method/constants.h"
#include "method/method.h"

struct kf_ssvrg {
    double *anchor;
    struct kf_step_size step;
    uint64_t round;    /* the paper's s */
    uint64_t gathered; /* points whose gradients at the anchor are in the drift */
    uint64_t left;     /* steps left of this round; 0: it is still gathering */
};

/* What a step on point u adds to drift_scale * drift + 2 lambda x, with u's gradient at the anchor in `then`. */
struct kf_sample kf_ssvrg_sample(struct kf_task *task, const struct kf_ssvrg *ssvrg, size_t u, double *then);
double kf_ssvrg_drift_scale(const struct kf_problem *problem, const struct kf_ssvrg *ssvrg);

#endif
