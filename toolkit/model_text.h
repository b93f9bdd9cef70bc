/* A model as a text for others: JSON, and the files of liblinear. The command and the service write the same. */
#ifndef KEEPFIT_TOOLKIT_MODEL_TEXT_H
#define KEEPFIT_TOOLKIT_MODEL_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "keepfit.h"

#define MODEL_REASON 160

/* The model as JSON, with its weights if asked for. */
void model_json(FILE *file, const keepfit_model *model, bool weights);
/* A field of JSON: the classes as people call them. */
void model_classes_json(FILE *file, const char *name, const keepfit_description *model, const keepfit_schema *schema);
/* A field of JSON, where columns have types: each column's. */
void model_types_json(FILE *file, const keepfit_schema *schema);
/* Rows of the last layer's weights. */
size_t model_last_inputs(const keepfit_description *model);

/* Whether liblinear has such a model; where not, why. */
bool model_fits_liblinear(const keepfit_model *model, char reason[MODEL_REASON]);
/* One that it has. */
void model_liblinear(FILE *file, const keepfit_model *model);

#endif
