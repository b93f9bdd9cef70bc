/* SSVRG's state, visible so that its laws can be tested. */
#ifndef KF_SSVRG_H
#define KF_SSVRG_H

#include "iterate/step.h"
#include "method/constants.h"
#include "method/method.h"

struct kf_ssvrg {
    double *anchor;
    struct kf_step_size step;
    uint64_t round;    /* the paper's s */
    uint64_t gathered; /* points whose gradients at the anchor are in the drift */
    uint64_t left;     /* steps left of this round; 0: it is still gathering */
};

/* Of a step on point u, with u's gradient at the anchor in `then`. */
struct kf_estimator kf_ssvrg_estimator(struct kf_task *task, const struct kf_ssvrg *ssvrg, size_t u, double *then);

#endif
