/* The columns of a table: how many, what they are called, and which of them are target and weight. */
#ifndef KF_COLUMN_H
#define KF_COLUMN_H

#include "keepfit.h"

#define KF_NO_COLUMN SIZE_MAX

struct kf_columns {
    size_t count, capacity;
    char **name;           /* NULL: they have none */
    size_t target, weight; /* from 0, or KF_NO_COLUMN */
};

void kf_columns_free(struct kf_columns *columns);

/* Takes the name over, even when it fails; a NULL name makes it fail. */
bool kf_columns_add(struct kf_columns *columns, char *name);
void kf_columns_forget_names(struct kf_columns *columns);

/* Sets target and weight from the options (which may be NULL), by name or number from 1. There must be at
 * least one feature left, and at most max_features. `source` is what messages call the table. */
keepfit_status kf_columns_choose(struct kf_columns *columns, const char *target, const char *weight,
                                 uint64_t max_features, const char *source, keepfit_error *error);

/* The target column's name ("": it has none), cut to size, and its number from 1 (0: there is none). */
void kf_columns_say(const struct kf_columns *columns, char *name, size_t size, uint64_t *number);

#endif
