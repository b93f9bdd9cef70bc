#include "base/random.h"

#include <assert.h>
#include <math.h>

#include "base/logarithm.h"

__extension__ typedef unsigned __int128 wide;

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void kf_random_seed(struct kf_random *random, uint64_t seed)
{
    for (int k = 0; k < 4; k++)
        random->state[k] = splitmix64(&seed);
}

static uint64_t rotate_left(uint64_t word, int by)
{
    return word << by | word >> (64 - by);
}

uint64_t kf_random_bits(struct kf_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t kf_random_below(struct kf_random *random, uint64_t bound)
{
    assert(bound > 0);
    wide product = (wide)kf_random_bits(random) * bound;
    if ((uint64_t)product < bound) {
        uint64_t threshold = -bound % bound;
        while ((uint64_t)product < threshold)
            product = (wide)kf_random_bits(random) * bound;
    }
    return (uint64_t)(product >> 64);
}

double kf_random_unit(struct kf_random *random)
{
    return (double)(kf_random_bits(random) >> 11) * 0x1p-53;
}

double kf_random_normal(struct kf_random *random)
{
    double u, v, q;
    do {
        u = 2 * kf_random_unit(random) - 1;
        v = 2 * kf_random_unit(random) - 1;
        q = u * u + v * v;
    } while (q >= 1 || q == 0);
    return u * sqrt(-2 * kf_log(q) / q);
}
