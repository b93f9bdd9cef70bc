#define _GNU_SOURCE
#include "service/transport.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/events.h"
#include "service/guard.h"
#include "service/log.h"
#include "service/past.h"

#define MEMORY_A_CONNECTION ((size_t)48 << 10) /* holds the header, so it limits that: 431 beyond */
#define SECOND ((uint64_t)1000000000)
#define BEAT (10 * SECOND)
#define THREADS_MOST 8

/* A connection, with what it is at. */
struct visitor {
    int file;
    enum { PHASE_IDLE, PHASE_HEADER, PHASE_BODY, PHASE_ANSWER } phase;
    bool served; /* it has had an answer */
    uint64_t since, bytes;
    struct visitor *before, *after;
};

/* A request. */
struct visit {
    struct exchange exchange;
    struct transport *transport;
    struct MHD_Connection *connection;
    struct visitor *visitor;
    char what[100]; /* "POST /v1/points" */
    bool answered;  /* exchange.answer or its trouble is there */
    uint64_t discarded;
};

/* Who listens to events. */
struct listener {
    struct transport *transport;
    struct MHD_Connection *connection;
    struct text text; /* being sent */
    size_t sent;
    uint64_t seen, told_at;
    bool sleeping, beat;
    struct listener *before, *after;
};

struct transport {
    struct service *service;
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; /* of both lists */
    struct visitor *visitors;
    struct listener *listeners;
    bool quiet;
};

/* ---- connections ---- */

static void set_phase(struct transport *transport, struct visitor *visitor, int phase)
{
    if (!visitor)
        return;
    pthread_mutex_lock(&transport->lock);
    visitor->phase = phase;
    visitor->served = visitor->served || phase == PHASE_IDLE;
    visitor->since = clock_nanoseconds();
    visitor->bytes = 0;
    pthread_mutex_unlock(&transport->lock);
}

static struct visitor *visitor_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void connection_changed(void *context, struct MHD_Connection *connection, void **place,
                               enum MHD_ConnectionNotificationCode code)
{
    struct transport *transport = context;
    struct visitor *visitor = *place;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (!info || !(visitor = calloc(1, sizeof *visitor)))
            return;
        visitor->file = info->connect_fd;
        visitor->since = clock_nanoseconds();
        pthread_mutex_lock(&transport->lock);
        visitor->after = transport->visitors;
        if (visitor->after)
            visitor->after->before = visitor;
        transport->visitors = visitor;
        pthread_mutex_unlock(&transport->lock);
        atomic_fetch_add(&transport->service->counters.connections, 1);
        *place = visitor;
    } else if (visitor) {
        pthread_mutex_lock(&transport->lock);
        *(visitor->before ? &visitor->before->after : &transport->visitors) = visitor->after;
        if (visitor->after)
            visitor->after->before = visitor->before;
        pthread_mutex_unlock(&transport->lock);
        atomic_fetch_sub(&transport->service->counters.connections, 1);
        free(visitor);
        *place = NULL;
    }
}

/* The request line has come. */
static void *request_begins(void *context, const char *uri, struct MHD_Connection *connection)
{
    (void)uri;
    set_phase(context, visitor_of(connection), PHASE_HEADER);
    return NULL;
}

static bool takes_too_long(const struct visitor *visitor, const struct limits *limits, uint64_t now)
{
    uint64_t seconds = (now - visitor->since) / SECOND;
    switch (visitor->phase) {
    case PHASE_IDLE:
        return seconds > (visitor->served ? limits->idle_seconds : limits->header_seconds);
    case PHASE_HEADER:
        return seconds > limits->header_seconds;
    case PHASE_BODY:
        return seconds > limits->header_seconds &&
               visitor->bytes < (seconds - limits->header_seconds) * limits->body_rate;
    default:
        return false;
    }
}

void transport_look(struct transport *transport)
{
    pthread_mutex_lock(&transport->lock);
    uint64_t now = clock_nanoseconds(); /* no phase has begun after it */
    for (struct visitor *visitor = transport->visitors; visitor; visitor = visitor->after)
        if (takes_too_long(visitor, &transport->service->limits, now))
            shutdown(visitor->file, SHUT_RDWR);
    for (struct listener *listener = transport->listeners; listener; listener = listener->after)
        if (listener->sleeping && now - listener->told_at > BEAT) {
            listener->beat = true;
            listener->sleeping = false;
            MHD_resume_connection(listener->connection);
        }
    pthread_mutex_unlock(&transport->lock);
}

/* ---- answers ---- */

static void add_headers(struct MHD_Response *response, const struct answer *answer)
{
    char number[24];
    MHD_add_response_header(response, "Content-Type", answer->type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cache-Control", answer->policy ? "no-cache" : "no-store");
    if (answer->policy) {
        MHD_add_response_header(response, "Content-Security-Policy", answer->policy);
        MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    }
    if (answer->retry_after) {
        snprintf(number, sizeof number, "%u", answer->retry_after);
        MHD_add_response_header(response, "Retry-After", number);
    }
    if (answer->allow)
        MHD_add_response_header(response, "Allow", answer->allow);
    if (answer->shown)
        MHD_add_response_header(response, "Content-Disposition", "attachment; filename=\"model.kf\"");
    if (answer->status == 401)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
}

static enum MHD_Result send_answer(struct visit *visit, bool closing)
{
    struct exchange *exchange = &visit->exchange;
    struct answer *answer = &exchange->answer;
    if (exchange->trouble.status) {
        exchange_refuse(exchange);
        past_refused(exchange->service->past, visit->what, &exchange->trouble);
    }
    struct MHD_Response *response =
        answer->text.failed
            ? NULL
            : MHD_create_response_from_buffer(answer->text.count, answer->text.at,
                                              answer->text.at ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    answer->text = (struct text){0};
    add_headers(response, answer);
    if (closing)
        MHD_add_response_header(response, "Connection", "close");
    atomic_fetch_add(&exchange->service->counters.requests[answer->status / 100 % 6], 1);
    set_phase(visit->transport, visit->visitor, PHASE_ANSWER);
    enum MHD_Result result = MHD_queue_response(visit->connection, answer->status, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- listeners ---- */

void transport_wake(struct transport *transport)
{
    pthread_mutex_lock(&transport->lock);
    for (struct listener *listener = transport->listeners; listener; listener = listener->after)
        if (listener->sleeping) {
            listener->sleeping = false;
            MHD_resume_connection(listener->connection);
        }
    pthread_mutex_unlock(&transport->lock);
}

/* What comes next; suspends the connection where nothing does. */
static ssize_t tell_listener(void *context, uint64_t position, char *buffer, size_t most)
{
    struct listener *listener = context;
    struct transport *transport = listener->transport;
    (void)position;
    if (listener->sent == listener->text.count) {
        listener->text.count = listener->sent = 0;
        bool news = events_copy(transport->service, listener->seen, &listener->text, &listener->seen);
        pthread_mutex_lock(&transport->lock);
        if (transport->quiet) {
            pthread_mutex_unlock(&transport->lock);
            return MHD_CONTENT_READER_END_OF_STREAM;
        }
        if (!news && listener->beat)
            text_put(&listener->text, ": still here\n\n");
        listener->beat = false;
        listener->told_at = clock_nanoseconds();
        if (!listener->text.count) {
            listener->sleeping = true;
            MHD_suspend_connection(listener->connection);
        }
        pthread_mutex_unlock(&transport->lock);
    }
    size_t left = listener->text.count - listener->sent, count = left < most ? left : most;
    if (count)
        memcpy(buffer, listener->text.at + listener->sent, count);
    listener->sent += count;
    return (ssize_t)count;
}

static void listener_leaves(void *context)
{
    struct listener *listener = context;
    struct transport *transport = listener->transport;
    pthread_mutex_lock(&transport->lock);
    *(listener->before ? &listener->before->after : &transport->listeners) = listener->after;
    if (listener->after)
        listener->after->before = listener->before;
    pthread_mutex_unlock(&transport->lock);
    atomic_fetch_sub(&transport->service->counters.listeners, 1);
    text_free(&listener->text);
    free(listener);
}

static enum MHD_Result begin_listening(struct visit *visit)
{
    struct transport *transport = visit->transport;
    struct counters *counters = &transport->service->counters;
    struct listener *listener = NULL;
    if (atomic_fetch_add(&counters->listeners, 1) >= transport->service->limits.listeners ||
        !(listener = calloc(1, sizeof *listener))) {
        atomic_fetch_sub(&counters->listeners, 1);
        visit->exchange.answer.retry_after = 10;
        trouble_set(&visit->exchange.trouble, 503, "listeners", "more listen already than may");
        return send_answer(visit, false);
    }
    *listener = (struct listener){.transport = transport, .connection = visit->connection};
    listener->told_at = clock_nanoseconds();
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, tell_listener, listener, listener_leaves);
    if (!response) {
        atomic_fetch_sub(&counters->listeners, 1);
        free(listener);
        return MHD_NO;
    }
    pthread_mutex_lock(&transport->lock);
    listener->after = transport->listeners;
    if (listener->after)
        listener->after->before = listener;
    transport->listeners = listener;
    pthread_mutex_unlock(&transport->lock);
    const struct answer headers = {.type = "text/event-stream", .status = 200};
    add_headers(response, &headers);
    atomic_fetch_add(&counters->requests[2], 1);
    set_phase(transport, visit->visitor, PHASE_ANSWER);
    enum MHD_Result result = MHD_queue_response(visit->connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- requests ---- */

struct headers {
    int lengths, encodings, hosts;
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
    struct headers *headers = context;
    (void)kind;
    (void)value;
    headers->lengths += strcasecmp(key, "Content-Length") == 0;
    headers->encodings += strcasecmp(key, "Transfer-Encoding") == 0;
    headers->hosts += strcasecmp(key, "Host") == 0;
    return MHD_YES;
}

static const char *header_of(const struct visit *visit, const char *name)
{
    return MHD_lookup_connection_value(visit->connection, MHD_HEADER_KIND, name);
}

static const char *argument_of(const struct exchange *exchange, const char *name)
{
    const struct visit *visit = exchange->transport;
    return MHD_lookup_connection_value(visit->connection, MHD_GET_ARGUMENT_KIND, name);
}

static bool take_header(struct visit *visit, const char *name, char *room, size_t size)
{
    const char *value = header_of(visit, name);
    if (!value)
        return true;
    if (strlen(value) >= size)
        return trouble_set(&visit->exchange.trouble, 400, "header", "%s has more than %zu bytes", name, size - 1);
    for (const char *at = value; *at; at++)
        if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f)
            return trouble_set(&visit->exchange.trouble, 400, "header", "%s has bytes that no header may have", name);
    strcpy(room, value);
    return true;
}

/* What can be said before the body comes. */
static bool check_request(struct visit *visit, const char *url, const char *method)
{
    struct exchange *exchange = &visit->exchange;
    struct service *service = exchange->service;
    struct headers headers = {0};
    MHD_get_connection_values(visit->connection, MHD_HEADER_KIND, count_header, &headers);
    if (headers.lengths > 1 || headers.encodings > 1 || headers.hosts > 1 || (headers.lengths && headers.encodings))
        return trouble_set(&exchange->trouble, 400, "ambiguous", "the request tells its length, or its host, twice");
    const char *encoding = header_of(visit, "Transfer-Encoding"), *length = header_of(visit, "Content-Length");
    if (encoding && strcasecmp(encoding, "chunked") != 0)
        return trouble_set(&exchange->trouble, 501, "encoding", "no Transfer-Encoding but chunked is known");
    if (!guard_host(service->guard, header_of(visit, "Host"), header_of(visit, "Origin"), &exchange->trouble))
        return false;
    exchange->route = route_find(exchange, method, url);
    if (!exchange->route ||
        !guard_allows(service->guard, exchange->route->scope, header_of(visit, "Authorization"), &exchange->trouble))
        return false;
    if (length && strtoull(length, NULL, 10) > service->limits.body)
        return trouble_set(&exchange->trouble, 413, "too_large", "a body has at most %llu bytes",
                           (unsigned long long)service->limits.body);
    if (header_of(visit, "Content-Encoding"))
        return trouble_set(&exchange->trouble, 415, "content_encoding", "bodies come as they are, not encoded");
    int state = atomic_load(&service->state);
    if (!exchange->route->early && state == STATE_STARTING) {
        exchange->answer.retry_after = 1;
        return trouble_set(&exchange->trouble, 503, "starting", "the journal is being taken over");
    }
    return take_header(visit, "Content-Type", exchange->type, sizeof exchange->type) &&
           take_header(visit, "Idempotency-Key", exchange->key, sizeof exchange->key);
}

/* The learner has done its part. */
static void ready(struct exchange *exchange)
{
    struct visit *visit = exchange->transport;
    visit->answered = true;
    MHD_resume_connection(visit->connection);
}

/* The whole request is there. */
static enum MHD_Result dispatch(struct visit *visit)
{
    struct exchange *exchange = &visit->exchange;
    const struct route *route = exchange->route;
    if (visit->answered || exchange->trouble.status)
        return send_answer(visit, false);
    set_phase(visit->transport, visit->visitor, PHASE_ANSWER);
    if (route->place == PLACE_EVENTS)
        return begin_listening(visit);
    if (!route->here(exchange) || (route->place == PLACE_HERE && !exchange->goes_on))
        return send_answer(visit, false);
    exchange->ready = ready;
    MHD_suspend_connection(visit->connection);
    if (!learner_submit(exchange))
        ready(exchange);
    return MHD_YES;
}

static struct visit *make_visit(struct transport *transport, struct MHD_Connection *connection)
{
    struct visit *visit = calloc(1, sizeof *visit);
    if (!visit)
        return NULL;
    visit->transport = transport;
    visit->connection = connection;
    visit->visitor = visitor_of(connection);
    visit->exchange.service = transport->service;
    visit->exchange.trained = &transport->service->models[0];
    visit->exchange.argument = argument_of;
    visit->exchange.transport = visit;
    set_phase(transport, visit->visitor, PHASE_BODY);
    return visit;
}

/* A piece of the body. What is too long is read to some length all the same, so that the answer arrives. */
static enum MHD_Result take_body(struct visit *visit, const char *bytes, size_t count)
{
    struct exchange *exchange = &visit->exchange;
    uint64_t most = exchange->service->limits.body;
    if (visit->visitor) {
        pthread_mutex_lock(&visit->transport->lock);
        visit->visitor->bytes += count;
        pthread_mutex_unlock(&visit->transport->lock);
    }
    if (exchange->body.count + count > most)
        trouble_set(&exchange->trouble, 413, "too_large", "a body has at most %llu bytes", (unsigned long long)most);
    if (exchange->trouble.status) {
        visit->discarded += count;
        return visit->discarded > most ? MHD_NO : MHD_YES;
    }
    text_add(&exchange->body, bytes, count);
    if (exchange->body.failed)
        trouble_memory(&exchange->trouble);
    return MHD_YES;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *bytes, size_t *count, void **place)
{
    struct visit *visit = *place;
    (void)version;
    if (!visit) {
        if (!(*place = visit = make_visit(context, connection)))
            return MHD_NO;
        snprintf(visit->what, sizeof visit->what, "%.10s %.80s", method, url);
        return check_request(visit, url, method) ? MHD_YES : send_answer(visit, true);
    }
    if (*count) {
        enum MHD_Result result = take_body(visit, bytes, *count);
        *count = 0;
        return result;
    }
    return dispatch(visit);
}

static void request_ends(void *context, struct MHD_Connection *connection, void **place,
                         enum MHD_RequestTerminationCode code)
{
    struct visit *visit = *place;
    (void)connection;
    (void)code;
    if (!visit)
        return;
    set_phase(context, visit->visitor, PHASE_IDLE);
    exchange_free(&visit->exchange);
    free(visit);
    *place = NULL;
}

static void complain(void *context, const char *format, va_list list)
{
    (void)context;
    (void)format;
    (void)list; /* what clients do wrong is their business */
}

/* ---- the whole ---- */

struct transport *transport_start(struct service *service, int socket)
{
    struct transport *transport = calloc(1, sizeof *transport);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = processors < 2 ? 2 : processors > THREADS_MOST ? THREADS_MOST : (unsigned)processors;
    if (!transport)
        return NULL;
    transport->service = service;
    pthread_mutex_init(&transport->lock, NULL);
    transport->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, handle, transport,
        MHD_OPTION_EXTERNAL_LOGGER, complain, NULL, MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_THREAD_POOL_SIZE,
        threads, MHD_OPTION_CONNECTION_LIMIT, (unsigned)service->limits.connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)service->limits.connections_address, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)service->limits.idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY_A_CONNECTION,
        MHD_OPTION_NOTIFY_COMPLETED, request_ends, transport, MHD_OPTION_NOTIFY_CONNECTION, connection_changed,
        transport, MHD_OPTION_URI_LOG_CALLBACK, request_begins, transport, MHD_OPTION_END);
    if (transport->daemon)
        return transport;
    pthread_mutex_destroy(&transport->lock);
    free(transport);
    return NULL;
}

void transport_quiet(struct transport *transport)
{
    MHD_socket socket = MHD_quiesce_daemon(transport->daemon);
    if (socket != MHD_INVALID_SOCKET)
        close(socket);
    pthread_mutex_lock(&transport->lock);
    transport->quiet = true;
    pthread_mutex_unlock(&transport->lock);
    transport_wake(transport);
}

void transport_stop(struct transport *transport)
{
    if (!transport)
        return;
    MHD_stop_daemon(transport->daemon);
    pthread_mutex_destroy(&transport->lock);
    free(transport);
}
