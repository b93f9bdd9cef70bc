/* A small client of HTTP/1.1: one connection, kept open, one request after the other. */
#ifndef KEEPFIT_SERVICE_HTTP_H
#define KEEPFIT_SERVICE_HTTP_H

#include "service/text.h"

struct http {
    char host[128], port[8], path[200]; /* path: what stands before /v1, without a slash at its end */
    int file;                           /* -1: not connected */
    char wrong[200];
};

struct http_request {
    const char *path, *type, *token, *key; /* token, key: NULL: none */
    const char *body;
    size_t count;
};

struct http_answer {
    unsigned status, retry_after;
    struct text body;
};

/* "http://HOST:PORT"; false: it is none, or one of another protocol. */
bool http_parse(struct http *http, const char *url);
/* False: it did not get through, and http->wrong says why; it may or may not have been received. */
bool http_ask(struct http *http, const struct http_request *request, struct http_answer *answer);
void http_close(struct http *http);

#endif
