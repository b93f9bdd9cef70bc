/* What train took the data for: loss, intercept, target, classes. Where they were not asked for, the summary says so; where the
 * data looks as if something else was meant, there is a warning. */
#ifndef KEEPFIT_CLI_TAKEN_H
#define KEEPFIT_CLI_TAKEN_H

#include "arguments.h"

struct taken {
    uint64_t points;
    double value[3]; /* the first different targets */
    size_t distinct;
    bool warned;
};

void taken_see(struct taken *taken, double target);
/* Targets that look like two classes, while nobody said which loss: warns, once. */
void taken_warn(struct taken *taken, const keepfit_options *options, const char *name);

/* Lines of the summary; fields of its object. stream is NULL where there was none, model where none could be had. */
void taken_print_text(keepfit_options *options, const keepfit_stream_info *stream, const keepfit_description *model);
void taken_print_json(keepfit_options *options, const keepfit_stream_info *stream, const keepfit_description *model);

#endif
