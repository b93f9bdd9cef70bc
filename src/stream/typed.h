/* Tables with types, whatever the format: which type each column has, by the options, the first rows, or what is known already, and
 * from the cells of a row to a point. */
#ifndef KF_TYPED_H
#define KF_TYPED_H

#include "stream/column.h"
#include "stream/survey.h"

struct kf_table {
    struct kf_input *input;
    struct kf_columns *columns;  /* feature: the recipe's column */
    struct kf_content *cell;     /* [readable] */
    struct kf_content key, time; /* the row's, where these columns are no features */
    keepfit_schema view;         /* of what is known: the columns take the places of the features */
    const char **names;
};

void kf_table_free(struct kf_table *table);

/* Whether the options ask for types. */
bool kf_table_is_asked_for(const keepfit_options *options);
/* What is known has types: they become the recipe, and what is wanted becomes a view of its columns, to be found by their names. */
keepfit_status kf_table_know(struct kf_table *table, struct kf_input *input, keepfit_error *error);

/* Whether what is known was a table without names, so that columns are known by their numbers. */
bool kf_table_is_numbered(const struct kf_input *input);
/* Calls columns without names by their numbers, if what is known is. For a model the target may be left out. False: out of memory. */
bool kf_table_number(struct kf_columns *columns, const struct kf_input *input);

/* The columns have their names, target and weight. `sights` [columns]: the first rows; NULL: they were not looked at. */
keepfit_status kf_table_begin(struct kf_table *table, struct kf_columns *columns, struct kf_input *input,
                              const struct kf_sight *sights, keepfit_error *error);
/* Whether the options say the type of each column, so that nobody has to look at rows. */
keepfit_status kf_table_is_said(const struct kf_columns *columns, const struct kf_input *input, bool *said,
                                keepfit_error *error);

/* The key and the time of the row, into the input. */
keepfit_status kf_table_mark(struct kf_table *table, const struct kf_line *line, keepfit_error *error);
/* The row of the cells that have been put into `cell`. */
keepfit_status kf_table_row(struct kf_table *table, const struct kf_line *line, keepfit_point *point,
                            keepfit_error *error);

#endif
