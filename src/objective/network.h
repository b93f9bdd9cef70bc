/* A network with one hidden layer. For a row a (a constant in front of it carries the hidden biases), H units, C classes:
 *
 *     z = a W1,   h = max(z, 0),   scores = (h, 1) W2,   loss = softmax's
 *
 * x holds W1 as [slot][unit], so that a row's non-zeros stand for blocks of H numbers in memory, and behind it W2 as
 * [unit, and the bias last][class]. The gradient is two outer products,
 *
 *     grad W1 = a (x) delta,  delta = [z > 0] * (W2 slopes),      grad W2 = (h, 1) (x) slopes,
 *
 * so its factors are delta (H numbers), slopes (C) and h (H). It is linear in the first two while h stays; hence a difference of
 * two gradients is two sets of factors, never the difference of the sets. Where z = 0 the slope is taken as 0; a z that is NaN
 * counts as active, so that it reaches the slopes and is noticed.
 *
 * The objective is not convex: there is no bound on the gap, and no largest curvature. |a|^2 stands for the curvature where a
 * step is a share of 1/L: at the initial weights, which are small, it is of that size. */
#ifndef KF_NETWORK_H
#define KF_NETWORK_H

#include "objective/objective.h"

/* Room for H and C in the scratch, and for a row with all its slots. False: out of memory, and nothing has changed. */
bool kf_network_reserve(struct kf_objective *objective, size_t slots, size_t outputs);
void kf_network_free(struct kf_objective *objective);

/* The initial weights: uniform within 1/sqrt(inputs of the layer) on either side, biases too, as is usual (He et al. 2015 with
 * the slope sqrt(5)). They are drawn by (seed, layer, row or class), so a feature or class that comes later gets its own, whatever
 * came before; for a feature the inputs are those known when it comes. Writes those of slots from old_slots on, and of classes from
 * old_outputs on. */
void kf_network_initialise(const struct kf_objective *objective, uint64_t seed, size_t old_slots, size_t old_outputs,
                           double *x);

/* What is shared by the file for single points and that for whole passes. */

/* W2 as the view has it: one matrix, or two of which a sum is meant. */
struct kf_second_layer {
    const double *part[2];
    double scale[2];
    size_t parts;
};

struct kf_second_layer kf_second_layer(const struct kf_objective *objective, const struct kf_view *x);

struct kf_network_scratch *kf_network_scratch_make(size_t hidden, size_t outputs);

/* From z, which lies where delta will be, to the scores, which lie where the slopes will be. */
void kf_network_scores(const struct kf_objective *objective, const struct kf_second_layer *second,
                       struct kf_network_scratch *scratch, double *factors);
/* From there to the factors of point j, its weight multiplied in. */
void kf_network_factors(const struct kf_objective *objective, const struct kf_second_layer *second, size_t j,
                        struct kf_network_scratch *scratch, double *factors);
/* y2 += scale * (h, 1) (x) slopes, for the units from `from` to `to` (the bias is unit H); y2 is the second layer. */
void kf_network_add_second(const struct kf_objective *objective, double scale, const double *factors, size_t from,
                           size_t to, struct kf_network_scratch *scratch, double *y2);

/* The whole pass, in blocks of points (network_pass.c). False: no memory for a block. */
bool kf_network_sum(struct kf_objective *objective, const double *x, size_t count, double *sum, double *remembered);
bool kf_network_values(struct kf_objective *objective, const double *x, size_t first, size_t count, double *values);

#endif
