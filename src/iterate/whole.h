/* Steps over full rows of a dense iterate, behind iterate.h; nobody else includes this. */
#ifndef KF_WHOLE_H
#define KF_WHOLE_H

#include "iterate/task.h"

/* kf_step_sampled where the iterate is dense and each sampled row covers all of it: the case of dense data. False: it is not,
 * and nothing was done. */
bool kf_step_whole(struct kf_task *task, double step, double drift_scale, const struct kf_sample *samples,
                   size_t count);

/* kf_steps, its sampler started, where that holds for all points, in the whole space. False: it does not, and nothing was done. */
bool kf_steps_whole(struct kf_task *task, const struct kf_course *course);

#endif
