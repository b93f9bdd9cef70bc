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

/* What the summary says it of. */
struct taken_data {
    const keepfit_stream_info *stream; /* NULL: there was none */
    const keepfit_schema *names;       /* of the target and the classes, as the stream has them */
    const keepfit_description *model;  /* which has the classes; NULL: none could be had */
};

/* Lines of the summary; fields of its object. */
void taken_print_text(keepfit_options *options, const struct taken_data *data);
void taken_print_json(keepfit_options *options, const struct taken_data *data);

#endif
