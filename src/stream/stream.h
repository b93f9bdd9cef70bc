/* What the rest of the library may ask of this layer beyond keepfit.h; see also scaling.h. */
#ifndef KF_STREAM_H
#define KF_STREAM_H

#include "stream/reader.h"

/* Entry k of the table of formats, from 0; false past the last. */
bool kf_format_entry(size_t k, keepfit_entry *entry);

/* keepfit_stream_open, for rows that are for something, in a file or (otherwise than NULL) in memory; what is wanted is only read during
 * the call, but for its numbers. */
keepfit_status kf_stream_open_wanted(const char *path, const struct kf_memory *memory, const keepfit_options *options,
                                     const struct kf_wanted *wanted, keepfit_stream **stream, keepfit_error *error);
/* Whether targets may be texts, by the loss that the options name. */
enum kf_texts kf_texts_for(const keepfit_options *options);
/* From now on the rows are for a model with so many features. KEEPFIT_DATA: its columns are others than those that were asked for. */
keepfit_status kf_stream_suit(keepfit_stream *stream, const struct kf_wanted *wanted, keepfit_error *error);

/* A stream of what lies in memory, which must outlive it; a name with an extension names the format. */
keepfit_status kf_stream_open_memory(const struct kf_memory *memory, const char *name, const keepfit_options *options,
                                     keepfit_stream **stream, keepfit_error *error);

#endif
