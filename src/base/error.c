#include "base/error.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"

struct status {
    keepfit_status status;
    const char *name, *sentence;
};

static const struct status statuses[] = {
#define KF_STATUS_ROW(name, number, sentence) {KEEPFIT_##name, #name, sentence},
    KEEPFIT_STATUS_LIST(KF_STATUS_ROW)
#undef KF_STATUS_ROW
};

static const struct status *find(keepfit_status status)
{
    static const struct status none = {KEEPFIT_OK, "UNKNOWN", "this number is not a keepfit status"};
    for (size_t k = 0; k < sizeof statuses / sizeof statuses[0]; k++)
        if (statuses[k].status == status)
            return &statuses[k];
    return &none;
}

const char *keepfit_status_name(keepfit_status status)
{
    return find(status)->name;
}

const char *keepfit_status_sentence(keepfit_status status)
{
    return find(status)->sentence;
}

bool keepfit_failed(keepfit_status status)
{
    return (int)status >= KEEPFIT_FAILURES || (int)status < 0;
}

const char *keepfit_version(void)
{
    return KEEPFIT_VERSION_STRING;
}

void kf_error_give(keepfit_error *error, const keepfit_error *made)
{
    if (error)
        KF_GIVE(error, made);
}

void kf_error_clear(keepfit_error *error)
{
    static const keepfit_error none = {0};
    kf_error_give(error, &none);
}

#define BEGINS '\1'
#define ENDS '\2'

/* Braces around a key become the marks of KF_OPTION, which no argument is likely to have in it. */
static void mark(char *marked, size_t size, const char *format)
{
    size_t length = 0;
    for (; *format && length + 1 < size; format++)
        marked[length++] = *format == '{' ? BEGINS : *format == '}' ? ENDS : *format;
    assert(!*format);
    marked[length] = '\0';
}

static void note_option(keepfit_error *error, const char *begins, size_t length)
{
    if (!length || error->options == KEEPFIT_ERROR_OPTIONS)
        return;
    const char *equals = memchr(begins, '=', length);
    size_t key = equals ? (size_t)(equals - begins) : length;
    error->option[error->options].at = (uint16_t)(begins - error->message);
    error->option[error->options].length = (uint16_t)length;
    error->option[error->options].key = (uint16_t)key;
    error->options++;
}

/* Notes what the marks enclose, and drops them. One without a partner came from an argument, or lost it where the message
 * was too long. */
static void take_marks(keepfit_error *error)
{
    char *to = error->message;
    const char *begins = NULL;
    error->options = 0;
    for (const char *from = error->message; *from; from++)
        if (*from == BEGINS) {
            begins = to;
        } else if (*from == ENDS) {
            if (begins)
                note_option(error, begins, (size_t)(to - begins));
            begins = NULL;
        } else {
            *to++ = *from;
        }
    *to = '\0';
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the callers' formats are checked, and marking leaves each % */
static void write_message(keepfit_error *error, size_t used, const char *format, va_list arguments)
{
    char marked[sizeof error->message];
    mark(marked, sizeof marked, format);
    vsnprintf(error->message + used, sizeof error->message - used, marked, arguments);
    take_marks(error);
}
#pragma GCC diagnostic pop

keepfit_status kf_fail(keepfit_error *error, keepfit_status status, const char *format, ...)
{
    if (error) {
        keepfit_error made = {.status = status};
        va_list arguments;
        va_start(arguments, format);
        write_message(&made, 0, format, arguments);
        va_end(arguments);
        kf_error_give(error, &made);
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
        keepfit_error made = {.status = status, .line = line, .column = column};
        va_list arguments;
        va_start(arguments, format);
        write_message(&made, write_place(made.message, sizeof made.message, name, line, column), format, arguments);
        va_end(arguments);
        kf_error_give(error, &made);
    }
    return status;
}

const char *kf_error_marked(const keepfit_error *error, struct kf_marked *marked)
{
    size_t length = 0, from = 0;
    for (size_t k = 0; k < error->options; k++) {
        size_t at = error->option[k].at, end = at + error->option[k].length;
        memcpy(marked->text + length, error->message + from, at - from);
        length += at - from;
        marked->text[length++] = BEGINS;
        memcpy(marked->text + length, error->message + at, end - at);
        length += end - at;
        marked->text[length++] = ENDS;
        from = end;
    }
    strcpy(marked->text + length, error->message + from);
    return marked->text;
}

keepfit_status kf_fail_memory(keepfit_error *error)
{
    return kf_fail(error, KEEPFIT_NO_MEMORY, "out of memory");
}
