/* Filling in a keepfit_error. Every function here accepts a NULL error and returns the status it was given, so
 * that failing reads `return kf_fail(error, KEEPFIT_DATA, "...")`.
 *
 * A format names an option by its key in braces, "{lambda}", and with a value as "{method=%s}". Braces are marks in formats
 * only: a text that stands for a %s is taken as it is, and names options with KF_OPTION. */
#ifndef KF_ERROR_H
#define KF_ERROR_H

#include <stdarg.h>

#include "keepfit.h"

#define KF_OPTION_BEGINS "\1"
#define KF_OPTION_ENDS "\2"
#define KF_OPTION(key) KF_OPTION_BEGINS key KF_OPTION_ENDS
#define KF_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* Hands `made` over; the error may be a caller's, of another size. */
void kf_error_give(keepfit_error *error, const keepfit_error *made);
void kf_error_clear(keepfit_error *error);
keepfit_status kf_fail(keepfit_error *error, keepfit_status status, const char *format, ...) KF_PRINTF(3, 4);
/* The message becomes "name:line:column: text"; a line or column of 0 is left out. */
keepfit_status kf_fail_at(keepfit_error *error, keepfit_status status, const char *name, uint64_t line, uint64_t column,
                          const char *format, ...) KF_PRINTF(6, 7);
/* The message with its marks, as an argument for another message's %s. */
struct kf_marked {
    char text[sizeof((keepfit_error *)0)->message + 2 * KEEPFIT_ERROR_OPTIONS];
};
const char *kf_error_marked(const keepfit_error *error, struct kf_marked *marked);
keepfit_status kf_fail_memory(keepfit_error *error);

#endif
