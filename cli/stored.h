/* What keepfit keeps on disk, as the commands that look at it need it. */
#ifndef KEEPFIT_CLI_STORED_H
#define KEEPFIT_CLI_STORED_H

#include <stdio.h>

#include "keepfit.h"

/* A folder is a journal; a checkpoint is known by its first bytes; anything else should be a model. */
enum stored_kind { STORED_MODEL, STORED_JOURNAL, STORED_CHECKPOINT };

enum stored_kind stored_kind(const char *path);

/* The model that a path names: that of a model file, or of a journal's folder. Every command that needs one opens it by this. */
keepfit_status stored_model(const char *path, const keepfit_options *options, keepfit_model **model,
                            keepfit_error *error);

/* A class as people call it: its name, or its number, written into `room` then. */
const char *stored_class(const keepfit_schema *schema, double label, char room[32]);

#endif
