/* What the rest of the library may ask of this layer beyond keepfit.h; see also scaling.h. */
#ifndef KF_STREAM_H
#define KF_STREAM_H

#include "stream/source.h"

/* Entry k of the table of formats, from 0; false past the last. */
bool kf_format_entry(size_t k, keepfit_entry *entry);

/* A stream of what lies in memory, which must outlive it; a name with an extension tells the format. */
keepfit_status kf_stream_open_memory(const struct kf_memory *memory, const char *name, const keepfit_options *options,
                                     keepfit_stream **stream, keepfit_error *error);

#endif
