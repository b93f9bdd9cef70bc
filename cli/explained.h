/* What a model says of its weights, a prediction of its features, and a fit of a point. */
#ifndef KEEPFIT_CLI_EXPLAINED_H
#define KEEPFIT_CLI_EXPLAINED_H

#include <stdio.h>

#include "predict_columns.h"

/* name,class,weight,error,robust_error: intercepts, then the weights. */
void explained_weights_csv(const keepfit_model *model);
/* " (0.1, robust 0.2)", or nothing where there is no error; feature may be KEEPFIT_INTERCEPT. */
void explained_error(const keepfit_model *model, uint64_t feature, size_t output);

/* The `most` largest contributions to the prediction, as columns that stand behind others. */
int explained_check(const struct predictor *predictor, uint64_t most);
void explained_head(uint64_t most);
/* predictor NULL: the row was skipped. */
void explained_row(const struct predictor *predictor, const keepfit_row *row, uint64_t most);

/* What the point with this key or number does to the model of the journal; an exit code. */
int explained_influence(const char *folder, const char *point, bool json);

#endif
