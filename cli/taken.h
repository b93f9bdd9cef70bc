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

/* The types of the columns, where they have some: a line on standard error. */
void taken_say_types(const keepfit_stream *stream);
/* What a table with types had that is worth a word: cells that the model does not know, hashes that collided. */
void taken_warn_cells(const keepfit_stream_info *info);
/* Nobody said which loss, and the targets of a file are texts: classes. It is logistic for two, and softmax for more, of the first
 * rows. A file that cannot be read is left to those who read it. */
void taken_choose_loss(keepfit_options *options, const char *path);

/* What the summary says it of. */
struct taken_data {
    const keepfit_stream_info *stream; /* NULL: there was none */
    const keepfit_schema *names;       /* of the target and the classes, as the stream has them */
    const keepfit_description *model;  /* which has the classes; NULL: none could be had */
    bool loss_chosen;                  /* since the targets are texts */
};

/* Lines of the summary; fields of its object. */
void taken_print_text(keepfit_options *options, const struct taken_data *data);
void taken_print_json(keepfit_options *options, const struct taken_data *data);

#endif
