/* What people call the numbers: the columns of a table and the classes. Inside, features are counted and classes are numbers; names
 * are given at the edge, and whoever keeps points or a model keeps them too. */
#ifndef KF_SCHEMA_H
#define KF_SCHEMA_H

#include "base/archive.h"

struct kf_schema {
    size_t features, target_at;
    char **feature; /* NULL: they have no names */
    char *target, *weight;
    size_t classes, label_capacity, name_capacity;
    double *label;
    char **class_name;
    /* A table with types: its columns, and the column that each feature comes from. Its features become more as new categories come. */
    size_t columns;
    char **column, **type;
    uint32_t *origin; /* [features] */
    size_t feature_capacity, origin_capacity;
    bool more;      /* of what is new: the columns are known, and are not here, and so are the first features: */
    size_t earlier; /* so many */
};

void kf_schema_free(struct kf_schema *schema);
bool kf_schema_is_empty(const struct kf_schema *schema);
/* As keepfit.h has it; it lives as long as the schema is not changed. */
keepfit_schema kf_schema_show(const struct kf_schema *schema);

/* One more class. False: out of memory. */
bool kf_schema_add_class(struct kf_schema *schema, double label, const char *name);
/* Columns in place of those that are known. False: out of memory, and nothing has changed. */
bool kf_schema_set_columns(struct kf_schema *schema, const keepfit_schema *columns);

/* One more feature of a table with types. False: out of memory. */
bool kf_schema_add_feature(struct kf_schema *schema, const char *name, uint32_t origin);
/* Takes features off the end. */
void kf_schema_cut(struct kf_schema *schema, size_t features);

/* What `said` says that is not known yet; its features are those from `earlier` on. KEEPFIT_DATA: it contradicts what is known. */
keepfit_status kf_schema_news(const struct kf_schema *known, const keepfit_schema *said, size_t earlier,
                              struct kf_schema *news, keepfit_error *error);
/* Adds what is new, which is emptied. False: out of memory. */
bool kf_schema_learn(struct kf_schema *known, struct kf_schema *news);

/* To bytes and back. Of what is read, no class is there twice. */
void kf_schema_archive(struct kf_schema *schema, struct kf_archive *archive);

#endif
