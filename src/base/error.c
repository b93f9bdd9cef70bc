#include "base/error.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *sentence;
} statuses[] = {
#define KF_STATUS_ROW(name, sentence) {#name, sentence},
    KEEPFIT_STATUS_LIST(KF_STATUS_ROW)
#undef KF_STATUS_ROW
};

static bool is_status(keepfit_status status)
{
    return (int)status >= 0 && (size_t)status < sizeof statuses / sizeof statuses[0];
}

const char *keepfit_status_name(keepfit_status status)
{
    return is_status(status) ? statuses[status].name : "UNKNOWN";
}

const char *keepfit_status_sentence(keepfit_status status)
{
    return is_status(status) ? statuses[status].sentence : "this number is not a keepfit status";
}

const char *keepfit_version(void)
{
    return KEEPFIT_VERSION_STRING;
}

void kf_error_clear(keepfit_error *error)
{
    if (error)
        memset(error, 0, sizeof *error);
}

static void set(keepfit_error *error, keepfit_status status, uint64_t line, uint64_t column)
{
    error->status = status;
    error->line = line;
    error->column = column;
}

keepfit_status kf_fail(keepfit_error *error, keepfit_status status, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        set(error, status, 0, 0);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

/* Writes "name:line:column: " and gives its length, at most size - 1. */
static size_t write_place(char *text, size_t size, const char *name, uint64_t line, uint64_t column)
{
    int length;
    if (line && column)
        length = snprintf(text, size, "%s:%llu:%llu: ", name, (unsigned long long)line, (unsigned long long)column);
    else if (line)
        length = snprintf(text, size, "%s:%llu: ", name, (unsigned long long)line);
    else
        length = snprintf(text, size, "%s: ", name);
    if (length < 0)
        return 0;
    return (size_t)length < size ? (size_t)length : size - 1;
}

keepfit_status kf_fail_at(keepfit_error *error, keepfit_status status, const char *name, uint64_t line, uint64_t column,
                          const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        set(error, status, line, column);
        size_t used = write_place(error->message, sizeof error->message, name, line, column);
        vsnprintf(error->message + used, sizeof error->message - used, format, arguments);
        va_end(arguments);
    }
    return status;
}

keepfit_status kf_fail_memory(keepfit_error *error)
{
    return kf_fail(error, KEEPFIT_NO_MEMORY, "out of memory");
}
