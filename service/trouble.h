/* Why a request was refused: what the answer {"error": {"code", "message", "at"}} is made of. */
#ifndef KEEPFIT_SERVICE_TROUBLE_H
#define KEEPFIT_SERVICE_TROUBLE_H

#include "keepfit.h"
#include "service/json.h"

struct trouble {
    unsigned status;  /* of HTTP; 0: none */
    const char *code; /* one word, which programs look at */
    char message[640];
    char at[64]; /* "point 3", "byte 17", or "" */
};

/* The first one stays. Returns false. */
bool trouble_set(struct trouble *trouble, unsigned status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool trouble_at(struct trouble *trouble, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool trouble_memory(struct trouble *trouble);
/* What the library has refused. */
bool trouble_library(struct trouble *trouble, keepfit_status status, const keepfit_error *error);
/* What is wrong with a JSON document. */
bool trouble_json(struct trouble *trouble, const struct json *json);

#endif
