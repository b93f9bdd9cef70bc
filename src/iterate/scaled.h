/* The scaled representation behind iterate.h, x = s*v + c*m; nobody outside this folder includes this. */
#ifndef KF_SCALED_H
#define KF_SCALED_H

#include "iterate/step.h"

/* Below this, v is multiplied out before s gets too small to divide by. */
#define KF_SMALLEST_SCALE 1e-100 /* safety: far above underflow */

/* v takes in what waits for it. */
void kf_scaled_write(struct kf_task *task);
void kf_scaled_read(struct kf_task *task);
void kf_scaled_load(struct kf_task *task);
/* v has become x: s = 1, c = 0. */
void kf_scaled_reset(struct kf_task *task);
void kf_scaled_step(struct kf_task *task, double step, double drift_scale, const struct kf_term *terms, size_t count);
void kf_scaled_set_drift(struct kf_task *task, const double *drift);
void kf_scaled_drift_add(struct kf_task *task, double scale, size_t point, const double *factors);

/* Coordinate k of v and of m. */
static inline double *kf_v(const struct kf_iterate *iterate, size_t k)
{
    return &iterate->lazy.lanes.v[k * iterate->lazy.lanes.stride];
}

static inline double kf_m(const struct kf_iterate *iterate, size_t k)
{
    return iterate->lazy.lanes.m ? iterate->lazy.lanes.m[k * iterate->lazy.lanes.stride] : 0;
}

#endif
