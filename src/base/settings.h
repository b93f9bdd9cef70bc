/* What a journal remembers of the fit it belongs to, as text:
 *
 *   base 0                  a compacted journal needs a checkpoint of this record or a later one; 0: not compacted
 *   objective               the name of a user-written objective; empty for the built-in ones
 *   set lambda 0.1          an option that was given
 *   default epsilon 0.001   an option that was not
 *
 * Options that define the problem and how it is solved are there; those that only say how fast or where to are not, and may differ
 * from run to run. */
#ifndef KF_SETTINGS_H
#define KF_SETTINGS_H

#include "base/options.h"

struct kf_settings {
    uint64_t base;
    const char *objective, *options; /* within the text */
    size_t objective_length, options_length;
};

/* To be freed; NULL: out of memory. */
char *kf_settings_write(const keepfit_options *options, uint64_t base, const char *objective);
/* Finds the parts; false: the text is none. */
bool kf_settings_split(const char *text, size_t length, struct kf_settings *settings);
/* Takes the options over. KEEPFIT_USAGE: one was given that says something else; from: what remembers them, for the message. */
keepfit_status kf_settings_apply(const struct kf_settings *settings, keepfit_options *options, const char *from,
                                 keepfit_error *error);

#endif
