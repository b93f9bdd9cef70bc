/* Reading JSON (RFC 8259), strictly and without building a tree: whoever knows what should be there asks for it in order. The first
 * thing that is wrong stays, with its place; after it every call says no.
 *
 *     json_open(&json, '{');
 *     while (json_member(&json, &name))     each name, then its value has to be read or passed over
 *         ...
 *     json_end(&json);                      nothing but blanks may follow */
#ifndef KEEPFIT_SERVICE_JSON_H
#define KEEPFIT_SERVICE_JSON_H

#include "service/text.h"

#define JSON_DEPTH_MOST 32

struct json {
    const char *begin, *at, *end;
    struct text string; /* the one that was read last, without its escapes */
    size_t depth;
    bool first[JSON_DEPTH_MOST + 1]; /* of the object or array at this depth nothing has been read yet */
    char wrong[160];                 /* "": nothing so far */
    const char *wrong_at;
};

void json_begin(struct json *json, const char *bytes, size_t count);
void json_free(struct json *json);
bool json_wrong(struct json *json, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The sign with which the next value begins ('{', '[', '"', 't', 'f', 'n', or '0' for a number); 0: there is none. */
char json_next(struct json *json);
bool json_open(struct json *json, char bracket);
/* Whether an array has one more element, or an object one more member, whose name is then in json->string. */
bool json_element(struct json *json);
bool json_member(struct json *json);
bool json_name_is(const struct json *json, const char *name);
bool json_real(struct json *json, double *number);
bool json_string(struct json *json); /* to json->string, with a zero byte behind it; bytes of 0 in it are refused */
bool json_boolean(struct json *json, bool *truth);
bool json_skip(struct json *json); /* any value */
bool json_end(struct json *json);

#endif
