/* The formats: one table, and how a file's format is found. */
#ifndef KF_FORMAT_H
#define KF_FORMAT_H

#include "stream/reader.h"

/* The one called `wanted`; for "auto", by the path's extension (before .gz), then by the content. */
keepfit_status kf_format_find(const char *wanted, const char *path, struct kf_source *source,
                              const struct kf_reader **reader, keepfit_error *error);

#endif
