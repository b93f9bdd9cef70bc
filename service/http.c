#define _GNU_SOURCE /* memmem */
#include "service/http.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define ANSWER_MOST ((size_t)1 << 30)
#define SECONDS_MOST 120 /* without a byte */

static bool fail_with(struct http *http, const char *doing)
{
    snprintf(http->wrong, sizeof http->wrong, "%s: %s", doing, strerror(errno));
    http_close(http);
    return false;
}

void http_close(struct http *http)
{
    if (http->file >= 0)
        close(http->file);
    http->file = -1;
}

bool http_parse(struct http *http, const char *url)
{
    static const char scheme[] = "http://";
    *http = (struct http){.file = -1};
    if (strncasecmp(url, scheme, sizeof scheme - 1) != 0)
        return false;
    const char *host = url + sizeof scheme - 1, *slash = strchrnul(host, '/'), *bracket = NULL;
    if (*host == '[')
        bracket = memchr(host, ']', (size_t)(slash - host));
    const char *colon = memchr(bracket ? bracket : host, ':', (size_t)(slash - (bracket ? bracket : host)));
    const char *end = colon ? colon : slash;
    if (end == host || (size_t)(end - host) >= sizeof http->host || strlen(slash) >= sizeof http->path ||
        (colon && (colon + 1 == slash || (size_t)(slash - colon) > sizeof http->port)) || strpbrk(url, " \r\n\t"))
        return false;
    memcpy(http->host, host, (size_t)(end - host));
    snprintf(http->port, sizeof http->port, "%.*s", colon ? (int)(slash - colon - 1) : 2, colon ? colon + 1 : "80");
    snprintf(http->path, sizeof http->path, "%s", slash);
    for (size_t k = strlen(http->path); k > 0 && http->path[k - 1] == '/'; k--)
        http->path[k - 1] = '\0';
    return true;
}

static bool connect_to(struct http *http)
{
    char host[sizeof http->host];
    size_t length = strlen(http->host);
    bool bracket = http->host[0] == '[' && http->host[length - 1] == ']';
    snprintf(host, sizeof host, "%.*s", (int)(bracket ? length - 2 : length), http->host + bracket);
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int problem = getaddrinfo(host, http->port, &wanted, &found), yes = 1;
    if (problem) {
        snprintf(http->wrong, sizeof http->wrong, "%s:%s: %s", http->host, http->port, gai_strerror(problem));
        return false;
    }
    for (const struct addrinfo *at = found; at && http->file < 0; at = at->ai_next) {
        http->file = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (http->file >= 0 && connect(http->file, at->ai_addr, at->ai_addrlen) < 0) {
            fail_with(http, http->host);
            continue;
        }
    }
    freeaddrinfo(found);
    if (http->file < 0)
        return http->wrong[0] ? false : fail_with(http, http->host);
    const struct timeval patience = {.tv_sec = SECONDS_MOST};
    setsockopt(http->file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(http->file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(http->file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return true;
}

static bool send_all(struct http *http, const char *bytes, size_t count)
{
    while (count) {
        ssize_t sent = send(http->file, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return fail_with(http, "sending");
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

static bool receive_more(struct http *http, struct text *got)
{
    char piece[16384];
    ssize_t count;
    while ((count = recv(http->file, piece, sizeof piece, 0)) < 0 && errno == EINTR)
        ;
    if (count < 0)
        return fail_with(http, "receiving");
    if (count == 0 || got->count > ANSWER_MOST) {
        snprintf(http->wrong, sizeof http->wrong, "the connection was closed before the answer was whole");
        http_close(http);
        return false;
    }
    text_add(got, piece, (size_t)count);
    return !got->failed;
}

/* The value of a header, among lines that end with "\r\n"; NULL: it is not there. */
static const char *find_header(const char *head, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':')
            return line + 2 + length + 1 + strspn(line + 2 + length + 1, " \t");
    return NULL;
}

/* Of the head, which ends with a zero byte. */
static bool read_head(struct http *http, const char *head, struct http_answer *answer, size_t *length, bool *closes)
{
    const char *size = find_header(head, "Content-Length"), *after = find_header(head, "Retry-After");
    const char *connection = find_header(head, "Connection");
    if (strncmp(head, "HTTP/1.", 7) != 0 || strlen(head) < 12 || !size) {
        snprintf(http->wrong, sizeof http->wrong, "this is no answer of a service of keepfit");
        http_close(http);
        return false;
    }
    answer->status = (unsigned)strtoul(head + 9, NULL, 10);
    answer->retry_after = after ? (unsigned)strtoul(after, NULL, 10) : 0;
    *length = (size_t)strtoull(size, NULL, 10);
    *closes = connection && strncasecmp(connection, "close", 5) == 0;
    return *length <= ANSWER_MOST;
}

static bool receive(struct http *http, struct http_answer *answer)
{
    struct text got = {0};
    size_t length = 0, head = 0;
    bool closes = false, good = true;
    while (good && !head) {
        const char *end = got.count ? memmem(got.at, got.count, "\r\n\r\n", 4) : NULL;
        if (end)
            head = (size_t)(end - got.at) + 4;
        else
            good = receive_more(http, &got);
    }
    if (good) {
        got.at[head - 1] = '\0';
        good = read_head(http, got.at, answer, &length, &closes);
    }
    while (good && got.count < head + length)
        good = receive_more(http, &got);
    answer->body.count = 0;
    if (good) {
        text_add(&answer->body, got.at + head, length);
        text_add(&answer->body, "", 1);
        answer->body.count -= !answer->body.failed;
    }
    text_free(&got);
    if (closes)
        http_close(http);
    return good && !answer->body.failed;
}

bool http_ask(struct http *http, const struct http_request *request, struct http_answer *answer)
{
    struct text head = {0};
    http->wrong[0] = '\0';
    if (http->file < 0 && !connect_to(http))
        return false;
    text_printf(&head, "POST %s%s HTTP/1.1\r\nHost: %s:%s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n", http->path,
                request->path, http->host, http->port, request->type, request->count);
    if (request->token)
        text_printf(&head, "Authorization: Bearer %s\r\n", request->token);
    if (request->key)
        text_printf(&head, "Idempotency-Key: %s\r\n", request->key);
    text_put(&head, "\r\n");
    bool good = !head.failed && send_all(http, head.at, head.count) && send_all(http, request->body, request->count);
    text_free(&head);
    good = good && receive(http, answer);
    if (!good)
        http_close(http);
    return good;
}
