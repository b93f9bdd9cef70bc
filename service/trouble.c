#include "service/trouble.h"

#include <stdarg.h>
#include <stdio.h>

#include "toolkit/output.h"

bool trouble_set(struct trouble *trouble, unsigned status, const char *code, const char *format, ...)
{
    va_list list;
    if (trouble->status)
        return false;
    trouble->status = status;
    trouble->code = code;
    va_start(list, format);
    vsnprintf(trouble->message, sizeof trouble->message, format, list);
    va_end(list);
    return false;
}

bool trouble_at(struct trouble *trouble, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (!trouble->at[0])
        vsnprintf(trouble->at, sizeof trouble->at, format, list);
    va_end(list);
    return false;
}

bool trouble_memory(struct trouble *trouble)
{
    return trouble_set(trouble, 503, "no_memory", "out of memory");
}

bool trouble_library(struct trouble *trouble, keepfit_status status, const keepfit_error *error)
{
    struct message message = message_of(error);
    const char *copy = error->message[0] ? message.text : keepfit_status_sentence(status);
    switch (status) {
    case KEEPFIT_DATA:
    case KEEPFIT_USAGE:
        return trouble_set(trouble, 422, "bad_data", "%s", copy);
    case KEEPFIT_NO_MEMORY:
        return trouble_memory(trouble);
    case KEEPFIT_STOPPED:
        return trouble_set(trouble, 503, "stopping", "the service is about to end");
    case KEEPFIT_IO:
        return trouble_set(trouble, 500, "disk", "%s", copy);
    default:
        return trouble_set(trouble, 500, "fit", "%s", copy);
    }
}

bool trouble_json(struct trouble *trouble, const struct json *json)
{
    trouble_set(trouble, 400, "bad_json", "%s", json->wrong[0] ? json->wrong : "the text is no JSON");
    return trouble_at(trouble, "byte %zu", json->wrong_at ? (size_t)(json->wrong_at - json->begin) + 1 : 1);
}
