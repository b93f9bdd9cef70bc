/* |x|^2 of a scaled iterate in a ball, without looking at x: with x = s*v + c*m it follows from |v|^2, v.m and |m|^2, which follow every
 * change, and are computed anew before rounding adds up. Free coordinates do not count. */
#ifndef KF_NORMS_H
#define KF_NORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kf_norms {
    bool kept;         /* only in a ball */
    double vv, vm, mm; /* |v|^2, v.m, |m|^2 */
    double peak;       /* the largest |v|^2 since they were computed, */
    uint64_t since;    /* and the steps */
};

struct kf_task;

/* From scratch. */
void kf_norms_measure(struct kf_task *task);
/* After a row has changed v and m, by what the three have changed; from scratch where what is left of them is mostly rounding. */
void kf_norms_follow(struct kf_task *task, double vv, double vm, double mm);
/* A step has been made: from scratch after many. */
void kf_norms_count_step(struct kf_task *task);

static inline void kf_norms_add(struct kf_norms *norms, double vv, double vm, double mm)
{
    norms->vv += vv;
    norms->vm += vm;
    norms->mm += mm;
}

/* |s*v + c*m|^2 */
static inline double kf_norms_square(const struct kf_norms *norms, double s, double c)
{
    return s * s * norms->vv + 2 * s * c * norms->vm + c * c * norms->mm;
}

/* Whether s*v and c*m nearly cancel in that square, so that it says little. */
static inline bool kf_norms_cancel(const struct kf_norms *norms, double s, double c, double square)
{
    return square < 1e-8 * (s * s * norms->vv + c * c * norms->mm); /* safety: half of a double's digits are gone */
}

#endif
