/* Random numbers for made-up data: splitmix64, the same on every machine. */
#ifndef KEEPFIT_TOOLKIT_DRAW_H
#define KEEPFIT_TOOLKIT_DRAW_H

#include <stdint.h>

struct source {
    uint64_t state; /* the seed; all seeds are equally good */
};

uint64_t draw(struct source *source);
double uniform(struct source *source); /* strictly between 0 and 1 */
double normal(struct source *source);

#endif
