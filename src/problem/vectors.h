/* The vectors of the model's size, which all grow together when the stream brings new features or classes. */
#ifndef KF_VECTORS_H
#define KF_VECTORS_H

#include "objective/objective.h"

#define KF_VECTORS_MOST 48  /* safety: room; asserted */
#define KF_FACTOR_BUFFERS 4 /* safety: room */

struct kf_vectors {
    double *doubt; /* what the numbers of a gradient may be off by, while a bound is made of them */
    double *factors[KF_FACTOR_BUFFERS]; /* factors of single points */

    double **all[KF_VECTORS_MOST];  /* all of them, x included */
    size_t widths[KF_VECTORS_MOST]; /* numbers a coordinate: 1, or 2 for pairs */
    size_t count;
    size_t capacity; /* numbers allocated for each */
    size_t factor_capacity;
};

/* Registers a vector of `width` numbers a coordinate: *vector is allocated, its first `size` coordinates are zero, and from now on it
 * follows the model's size. */
bool kf_vectors_add(struct kf_vectors *vectors, double **vector, size_t size, size_t width);
void kf_vectors_free(struct kf_vectors *vectors);

/* Room for an objective that is about to be so large; the numbers stay where they are. False: out of memory. */
bool kf_vectors_reserve(struct kf_vectors *vectors, const struct kf_objective *objective,
                        const struct kf_objective *larger);
/* Puts all numbers into the places that they have in the larger one; new ones are 0. */
void kf_vectors_rearrange(struct kf_vectors *vectors, const struct kf_objective *objective,
                          const struct kf_objective *larger);

#endif
