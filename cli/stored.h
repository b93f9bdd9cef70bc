/* What keepfit keeps on disk, as the commands that look at it need it. */
#ifndef KEEPFIT_CLI_STORED_H
#define KEEPFIT_CLI_STORED_H

#include <stdio.h>

#include "keepfit.h"

/* A folder is a journal; a checkpoint is known by its first bytes; anything else should be a model. */
enum stored_kind { STORED_MODEL, STORED_JOURNAL, STORED_CHECKPOINT };

enum stored_kind stored_kind(const char *path);

/* The model as JSON, with its weights if asked for. */
void stored_model_json(FILE *file, const keepfit_description *model, bool weights);

#endif
