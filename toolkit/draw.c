#include "toolkit/draw.h"

#include <math.h>

uint64_t draw(struct source *source)
{
    uint64_t z = source->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double uniform(struct source *source)
{
    return ((double)(draw(source) >> 11) + 0.5) * 0x1p-53;
}

double normal(struct source *source)
{
    double u = uniform(source), v = uniform(source);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}
