/* What predict prints for a row: columns that are chosen once and stay as they are, also when another model takes over. */
#ifndef KEEPFIT_CLI_PREDICT_COLUMNS_H
#define KEEPFIT_CLI_PREDICT_COLUMNS_H

#include "keepfit.h"

/* A model at work, with room for what it says of a row. */
struct predictor {
    keepfit_model *model;
    keepfit_description about;
    keepfit_schema schema;
    double *scores, *probabilities; /* [outputs], [classes]: those of the row that was predicted last */
    keepfit_prediction prediction;
};

/* Takes the model over. False: out of memory, and the caller keeps it. */
bool predictor_make(struct predictor *predictor, keepfit_model *model);
void predictor_free(struct predictor *predictor);
keepfit_status predictor_run(struct predictor *predictor, const keepfit_row *row);
/* The class of that name, or number; classes where there is none. */
size_t predictor_class(const struct predictor *predictor, const char *name);

#define COLUMN_KINDS_MOST 8

struct predict_columns {
    enum { COLUMN_LABEL, COLUMN_PROBABILITY, COLUMN_SCORES, COLUMN_MARGIN } kinds[COLUMN_KINDS_MOST];
    size_t kind_count;
    bool names;     /* labels are texts */
    bool one;       /* the probability of one class was asked for */
    char **classes; /* those that have columns, as people call them */
    size_t *place;  /* where the model has them; its number of classes: nowhere */
    size_t class_count;
    size_t outputs;   /* scores a row */
    uint64_t explain; /* so many contributions behind them */
};

/* Reads what was asked for, "label,scores" and a class or NULL; an exit code. */
int predict_columns_make(struct predict_columns *columns, const char *list, const char *class_name,
                         const struct predictor *predictor);
/* Whether the columns can be had from this model too, */
bool predict_columns_fit(const struct predict_columns *columns, const struct predictor *predictor);
/* and then they are. False: its classes are others than those that have columns; what it does not have is NAN. */
bool predict_columns_suit(struct predict_columns *columns, const struct predictor *predictor);
void predict_columns_free(struct predict_columns *columns);

/* A line of names, where there are several columns. */
void predict_columns_head(const struct predict_columns *columns);
/* A line; NULL: the row was skipped. */
void predict_columns_row(const struct predict_columns *columns, const struct predictor *predictor,
                         const keepfit_row *row);

#endif
