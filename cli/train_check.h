/* What is looked at before the training begins: where the data comes from, and whether what is asked for can be had. */
#ifndef KEEPFIT_CLI_TRAIN_CHECK_H
#define KEEPFIT_CLI_TRAIN_CHECK_H

#include "arguments.h"

/* Where the points come from; without a FILE there are none, and the journal has those that there are. */
const char *train_data(const struct arguments *arguments);
/* Whether the data may still be coming, as a pipe's: nobody knows how long the stream will be, and it cannot be read again. */
bool train_is_live(const struct arguments *arguments);
/* Whether the loss is chosen by the targets: nobody said it, the data can be read twice, and no journal knows it. */
bool train_chooses_loss(const struct arguments *arguments);
/* Refuses what cannot be done or written before the work, not after it; an exit code. */
int train_check(const struct arguments *arguments);
/* Refuses to wait for ever for all rows of a live stream; once a journal's options are known, too. An exit code. */
int train_check_scale(const struct arguments *arguments);

#endif
