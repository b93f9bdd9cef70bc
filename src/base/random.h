/* Random numbers: xoshiro256++ (Blackman, Vigna 2019) seeded by splitmix64, and Lemire's bounded integers without
 * bias (2019). The whole state is four words, so it can be saved and compared. */
#ifndef KF_RANDOM_H
#define KF_RANDOM_H

#include <stdint.h>

struct kf_random {
    uint64_t state[4];
};

void kf_random_seed(struct kf_random *random, uint64_t seed);
uint64_t kf_random_bits(struct kf_random *random);
/* Uniform on 0 .. bound-1; bound > 0. */
uint64_t kf_random_below(struct kf_random *random, uint64_t bound);
/* Uniform on [0, 1), a multiple of 2^-53. */
double kf_random_unit(struct kf_random *random);
/* Standard normal (polar method; draws as often as it needs). */
double kf_random_normal(struct kf_random *random);

#endif
