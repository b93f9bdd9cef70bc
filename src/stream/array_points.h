/* Points out of arrays: one array with the rows, and the targets in one of its columns, in a file of their
 * own, or nowhere. What npy and idx have in common. */
#ifndef KF_ARRAY_POINTS_H
#define KF_ARRAY_POINTS_H

#include "stream/array.h"
#include "stream/column.h"
#include "stream/reader.h"

struct kf_table {
    struct kf_input *input;
    struct kf_array array;
    struct kf_columns columns; /* target: KF_NO_COLUMN when the targets are elsewhere */
    const char *target_path;   /* the input's; NULL: no file of targets is open */
    struct kf_source target_source;
    struct kf_array targets;
    double *value; /* the row without its target */
};

/* Reads the header only, which must be of that format. */
keepfit_status kf_table_open(struct kf_table *table, struct kf_input *input, const struct kf_reader *format,
                             keepfit_error *error);
void kf_table_close(struct kf_table *table);

/* Then one of these. */
keepfit_status kf_table_use_file(struct kf_table *table, const char *path, keepfit_error *error);
keepfit_status kf_table_use_column(struct kf_table *table, const char *column, keepfit_error *error);

keepfit_status kf_table_next(struct kf_table *table, keepfit_point *point, keepfit_error *error);

#endif
