/* plain_network.h - the network and sgd once more, without the library: one stage from initial weights, which the library's fits, that
 * go on from stage to stage, cannot do. */
#ifndef KEEPFIT_EXPERIMENTS_PLAIN_NETWORK_H
#define KEEPFIT_EXPERIMENTS_PLAIN_NETWORK_H

#include "images.h"

struct plain_network {
    size_t hidden, classes;
    size_t class_of[10]; /* of each digit; classes are numbered as they appear */
    double *first;       /* [pixel, and the bias last][unit] */
    double *second;      /* [unit, and the bias last][class] */
};

/* The mean of the iterates of `steps` steps of sgd from weights drawn by the seed, on the first `count` images. */
struct plain_network plain_network_train(const struct images *images, size_t count, size_t hidden, double step,
                                         size_t steps, uint64_t seed);
/* The cross-entropy of an image, and whether its digit is the likeliest. Digits that have no class must not be asked. */
double plain_network_loss(const struct plain_network *network, const keepfit_point *point, bool *right);
void plain_network_free(struct plain_network *network);

#endif
