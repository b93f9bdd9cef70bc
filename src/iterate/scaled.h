/* The scaled representation behind iterate.h; nobody else includes this. */
#ifndef KF_SCALED_H
#define KF_SCALED_H

#include "iterate/step.h"

/* v takes in what waits for it. */
void kf_scaled_write(struct kf_task *task);
void kf_scaled_read(struct kf_task *task);
void kf_scaled_load(struct kf_task *task);
void kf_scaled_step(struct kf_task *task, double step, double drift_scale, const struct kf_term *terms, size_t count);
void kf_scaled_set_drift(struct kf_task *task, const double *drift);
void kf_scaled_drift_add(struct kf_task *task, double scale, size_t point, const double *factors);
void kf_scaled_average_begin(struct kf_task *task);
void kf_scaled_average_add(struct kf_task *task, double weight);
void kf_scaled_average_end(struct kf_task *task);

#endif
