/* network_study.h - the network of the paper's last appendix: 784-1000-10, ReLU, cross-entropy, 3000 images of MNIST in two orders. */
#ifndef KEEPFIT_EXPERIMENTS_NETWORK_STUDY_H
#define KEEPFIT_EXPERIMENTS_NETWORK_STUDY_H

#include "experiment.h"

enum network_stream { UNIFORM, ASCENDING, NETWORK_STREAMS };
/* The paper's three; other readings of its sgd, and of both with the last iterate as the output; and what we would take, because svrg's
 * long step may be had for fewer FOs. */
enum network_method {
    NETWORK_SGD,
    NETWORK_CSVRG,
    NETWORK_SGD_SHORT,
    NETWORK_SGD_DIVIDED,
    NETWORK_SGD_SCRATCH,
    NETWORK_SGD_LAST,
    NETWORK_CSVRG_LAST,
    NETWORK_SVRG, /* after those that both streams have: so curves have the same colours */
    NETWORK_OWN_SGD,
    NETWORK_OWN_CSVRG,
    NETWORK_OWN_LSVRG,
    NETWORK_METHODS
};
enum network_column { NETWORK_STAGE, NETWORK_FO, NETWORK_LOSS, NETWORK_TRAIN, NETWORK_TEST };

struct network_size {
    size_t each;   /* images of each digit in the ascending stream; ten times as many in both */
    size_t hidden; /* units */
    size_t test;   /* test images of each digit */
};

struct network_size network_size(const struct setting *setting);
/* How many seeds a method gets on a stream, or 0; its units follow each other. */
size_t network_seeds(enum network_stream stream, enum network_method method);

int network_plan(struct plan *plan);
void network_report(const struct setting *setting, const struct unit *units, struct article *article);

#endif
