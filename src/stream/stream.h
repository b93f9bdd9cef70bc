/* What the rest of the library may ask of this layer beyond keepfit.h; see also scaling.h. */
#ifndef KF_STREAM_H
#define KF_STREAM_H

#include "keepfit.h"

/* Entry k of the table of formats, from 0; false past the last. */
bool kf_format_entry(size_t k, keepfit_entry *entry);

#endif
