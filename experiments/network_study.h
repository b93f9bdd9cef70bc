/* network_study.h - the network of the paper's last appendix: 784-1000-10, ReLU, cross-entropy, 3000 images of MNIST in two orders. */
#ifndef KEEPFIT_EXPERIMENTS_NETWORK_STUDY_H
#define KEEPFIT_EXPERIMENTS_NETWORK_STUDY_H

#include "experiment.h"

enum network_stream { UNIFORM, ASCENDING, NETWORK_STREAMS };
enum network_method { NETWORK_SGD, NETWORK_SVRG, NETWORK_CSVRG, NETWORK_SGD_SHORT, NETWORK_METHODS };
enum network_column { NETWORK_STAGE, NETWORK_FO, NETWORK_LOSS, NETWORK_TRAIN, NETWORK_TEST };

struct network_size {
    size_t each;   /* images of each digit in the ascending stream; ten times as many in both */
    size_t hidden; /* units */
    size_t test;   /* test images of each digit */
};

struct network_size network_size(const struct setting *setting);

int network_plan(struct plan *plan);
void network_report(const struct setting *setting, const struct unit *units, struct article *article);

#endif
