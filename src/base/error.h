/* Filling in a keepfit_error. Every function here accepts a NULL error and returns the status it was given, so
 * that failing reads `return kf_fail(error, KEEPFIT_DATA, "...")`. */
#ifndef KF_ERROR_H
#define KF_ERROR_H

#include <stdarg.h>

#include "keepfit.h"

#define KF_PRINTF(text, first) __attribute__((format(printf, text, first)))

void kf_error_clear(keepfit_error *error);
keepfit_status kf_fail(keepfit_error *error, keepfit_status status, const char *format, ...) KF_PRINTF(3, 4);
/* The message becomes "name:line:column: text"; a line or column of 0 is left out. */
keepfit_status kf_fail_at(keepfit_error *error, keepfit_status status, const char *name, uint64_t line, uint64_t column,
                          const char *format, ...) KF_PRINTF(6, 7);
keepfit_status kf_fail_memory(keepfit_error *error);

#endif
