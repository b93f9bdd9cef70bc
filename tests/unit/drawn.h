/* Random problems for the guarantee: losses, domains, conditioning, sparsity, weights, kinds of epsilon and of streams, all drawn from
 * a seed, which also tells the method. */
#ifndef KEEPFIT_TESTS_DRAWN_H
#define KEEPFIT_TESTS_DRAWN_H

#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { AUTO, QUADRATIC, TABLE, REFIT, EXACT };
enum { IID, SORTED, DUPLICATED, HUGE_ROW, GROWING, RARE, LATE };
#define METHODS 5
#define STREAMS 7
#define UNSEEN 500000     /* seeds from here on are such that steps without a pass are likely, */
#define BUDGETED 1000000  /* have a stage budget, */
#define FLAT 1500000      /* work that is at most a multiple of the mean, */
#define ESTIMATED 2000000 /* and from here on an estimate for a guarantee */

struct drawn {
    uint64_t seed, budget;
    double factor;                                   /* of max-stage-work; 0: none */
    size_t method, stream, count, features, classes; /* classes: 0 for numbers */
    const char *loss, *domain, *kind;
    double epsilon, bend, lead; /* bend: the loss's largest curvature */
    bool intercept;
    struct kf_random random;
    struct cloud *cloud;
    char text[400];
};

extern const char *const drawn_methods[METHODS], *const drawn_streams[STREAMS];

/* The problem of this seed. Its cloud is to be freed. */
void draw(struct drawn *drawn, uint64_t seed);

#endif
