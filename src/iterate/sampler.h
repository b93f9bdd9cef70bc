/* Points drawn uniformly from 0 .. bound-1, exactly `count` of them, a few ahead of their use so that their rows, and their remembered
 * factors, are on the way when they are needed; for networks more, whose products with v and m are then computed together. */
#ifndef KF_SAMPLER_H
#define KF_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#define KF_AHEAD_MOST 64 /* speed: bench/tuning.md */

struct kf_sampler {
    uint64_t left, bound, drawn, taken;
    uint64_t ahead;
    uint64_t fetched; /* of a team: draws whose rows have been fetched */
    size_t ring[KF_AHEAD_MOST];
    const double *table; /* remembered factors by point, `each` a point, asked for with the rows; or NULL */
    size_t each;
};

struct kf_task;

void kf_sampler_start(struct kf_task *task, uint64_t bound, uint64_t count, const double *table);
size_t kf_sampler_next(struct kf_task *task);
/* Draws what the next call would draw ahead, where something else is waited for. */
void kf_sampler_refill(struct kf_task *task);
/* The point that a sampler started now with this bound will draw first; draws nothing. For asking for it in time where a
 * stage has few steps. */
size_t kf_sampler_foresee(const struct kf_task *task, uint64_t bound);

#endif
