/* What keepfit keeps on disk, as the commands that look at it need it. */
#ifndef KEEPFIT_CLI_STORED_H
#define KEEPFIT_CLI_STORED_H

#include <stdio.h>

#include "keepfit.h"

/* A folder is a journal; a checkpoint is known by its first bytes; anything else should be a model. */
enum stored_kind { STORED_MODEL, STORED_JOURNAL, STORED_CHECKPOINT };

enum stored_kind stored_kind(const char *path);

/* The model that a path names: that of a model file, or of a journal's folder. Says what is wrong; an exit code. */
int stored_open_model(const char *path, keepfit_options *options, keepfit_model **model);

/* Rows of the last layer's weights. */
size_t stored_last_inputs(const keepfit_description *model);

/* The model as JSON, with its weights if asked for. */
void stored_model_json(FILE *file, const keepfit_description *model, bool weights);

#endif
