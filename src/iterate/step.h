/* Steps of sampled methods. estimator.h has the formula; step.c carries it out word by word on the plain dense iterate; what is faster is
 * declared here. A path is a way of making steps. All give the same but for rounding, and tests/unit/test_steps.c holds each of them to
 * the plain one. Methods do not choose among them: the first that fits is taken. */
#ifndef KF_STEP_H
#define KF_STEP_H

#include "iterate/task.h"

/* Many steps alike, over points drawn uniformly from the first `bound`. */
struct kf_course {
    double step;
    struct kf_estimator estimator; /* each step has its own point, and what is remembered of it in the table */
    uint64_t bound, count;
    double *table; /* or NULL */
};

typedef void kf_stepper(struct kf_task *task, double step, const struct kf_estimator *estimator);

/* Either `step` makes one step, or `course` makes many, for which the sampler has been started. */
struct kf_step_path {
    const char *name;
    const char *estimators, *iterates; /* that it is for, in words */
    bool scaled;                       /* the representation; */
    /* and all else that it asks for, of one step and of all steps of a course. NULL: nothing. */
    bool (*fits)(const struct kf_task *task, const struct kf_estimator *estimator);
    bool (*fits_course)(const struct kf_task *task, const struct kf_course *course);
    kf_stepper *step;
    void (*course)(struct kf_task *task, const struct kf_course *course);
};

/* Path k; NULL past the last. */
const struct kf_step_path *kf_step_path_entry(size_t k);
/* The reference, for every estimator on every dense iterate. */
extern const struct kf_step_path kf_plain_path;
extern const struct kf_step_path kf_scaled_path, kf_whole_path, kf_stride_path, kf_stride_both_path;

/* One step, and those of a course: one FO a sample, whatever is remembered. */
void kf_step(struct kf_task *task, double step, const struct kf_estimator *estimator);
void kf_steps(struct kf_task *task, const struct kf_course *course);
/* Those of SVRG over all points: the drift is the gradient sum at the snapshot, where a drawn point's gradient is computed anew. 2 FOs. */
void kf_steps_anchored(struct kf_task *task, const double *snapshot, double step, uint64_t count);

/* ---- what paths are made of ---- */

/* g_u(x) - r_u, as factors: `scale` times it in the step, and `drift` times it joins the drift. */
struct kf_term {
    double scale, drift;
    size_t point;
    const double *factors;
};

#define KF_TERMS_MOST (2 * KF_SAMPLES_MOST) /* safety: room; asserted */

/* What the samples stand for at x, with what is remembered renewed; the factors lie in task->vectors.factors. Gives the number of terms:
 * one a sample, or, where gradients cannot be subtracted by their factors, one more for each that is remembered. */
size_t kf_step_terms(struct kf_task *task, const struct kf_view *x, const struct kf_estimator *estimator,
                     struct kf_term *terms);
/* The step along 2 lambda x + drift_scale * m + the terms, in the representation at hand. */
void kf_step_along(struct kf_task *task, double step, double drift_scale, const struct kf_term *terms, size_t count);

#endif
