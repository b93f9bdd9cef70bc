/* The columns of a table: how many, what they are called, which of them are target and weight, and which feature each of the others
 * is.
 *
 * Where it is known what the features are called, columns find their places by name, in whatever order they come. Where only their
 * number is known, that decides. Where nothing is known, all columns but target and weight are features, in their order. */
#ifndef KF_COLUMN_H
#define KF_COLUMN_H

#include "stream/reader.h"

struct kf_columns {
    size_t count, capacity;
    char **name;           /* NULL: they have none */
    size_t target, weight; /* from 0, or KF_NO_COLUMN */
    size_t key, time;      /* likewise; the time's may be a feature, too */
    size_t *feature;       /* [count] which one it is; KF_NO_COLUMN: none */
    size_t features;       /* of a row */
    bool *left_out;        /* [count] of a table with types: it is ignored; NULL: none is */
};

void kf_columns_free(struct kf_columns *columns);

/* Takes the name over, even when it fails; a NULL name makes it fail. */
bool kf_columns_add(struct kf_columns *columns, char *name);
void kf_columns_forget_names(struct kf_columns *columns);
/* Columns without names are called by their numbers, from 1, `without` one of them (0: with all). False: out of memory. */
bool kf_columns_number(struct kf_columns *columns, size_t without);

/* Chooses target and weight, by name or number from 1 where they are given (they may be NULL; "none": there is no target), and
 * the features by what the input wants, and puts down in the input what they are called. There must be at least one feature. */
keepfit_status kf_columns_choose(struct kf_columns *columns, const char *target, const char *weight,
                                 struct kf_input *input, keepfit_error *error);

/* The first half of it: target and weight; and the second. */
keepfit_status kf_columns_others(struct kf_columns *columns, const char *target, const char *weight,
                                 struct kf_input *input, keepfit_error *error);
keepfit_status kf_columns_features(struct kf_columns *columns, bool said, struct kf_input *input, keepfit_error *error);

/* Chooses key and time, where the options name them: of a table with types, after target and weight (marks.c). */
keepfit_status kf_columns_marks(struct kf_columns *columns, struct kf_input *input, keepfit_error *error);

/* By name if one is called so, otherwise by number from 1; `option` is for the message. */
keepfit_status kf_columns_look_up(const struct kf_columns *columns, const char *option, const char *text,
                                  size_t *column, const char *source, keepfit_error *error);

/* The column of that name, from `from` on. */
size_t kf_columns_find(const struct kf_columns *columns, const char *name, size_t from);
/* Whether a target is usually called so. */
bool kf_is_usual_target(const char *name);

/* Whether a feature has that name; the schema has names. */
bool kf_is_feature(const keepfit_schema *schema, const char *name);

/* Between column.c and match.c: gives each column its feature by name. */
keepfit_status kf_columns_match(struct kf_columns *columns, const struct kf_input *input, keepfit_error *error);

#endif
