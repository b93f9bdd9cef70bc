/* keepfit serve: puts the parts together, and waits for signals. SIGTERM and SIGINT end it in order: no new connections, what was asked is
 * answered, a checkpoint is written. SIGHUP opens the log anew and reads the tokens again. */
#define _GNU_SOURCE
#include "service/serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "service/events.h"
#include "service/guard.h"
#include "service/log.h"
#include "service/past.h"
#include "service/service.h"
#include "service/sockets.h"
#include "service/transport.h"
#include "toolkit/exit_code.h"
#include "toolkit/output.h"

#define SOCKETS_MOST 3

struct running {
    struct service service;
    struct transport *transport[SOCKETS_MOST];
    int sockets[SOCKETS_MOST];
    size_t count;
    const char *unix_path;
};

static uint64_t or_else(uint64_t given, uint64_t usual)
{
    return given ? given : usual;
}

static void set_limits(struct limits *limits, const struct serve_settings *settings)
{
    *limits = (struct limits){
        .body = or_else(settings->max_body, (uint64_t)32 << 20),
        .points = or_else(settings->max_points, 100000),
        .queue = or_else(settings->max_queue, 1024),
        .connections = or_else(settings->max_connections, 1000),
        .connections_address = or_else(settings->max_connections_address, 800),
        .listeners = or_else(settings->max_listeners, 64),
        .waiting = or_else(settings->max_waiting, 100000),
        .header_seconds = or_else(settings->header_seconds, 10),
        .idle_seconds = or_else(settings->idle_seconds, 60),
        .body_rate = or_else(settings->body_rate, 1000),
        .waiting_seconds = or_else(settings->waiting_seconds, 7 * 86400),
        .keys = or_else(settings->keep_keys, 100000),
    };
    limits->queue_bytes = 4 * limits->body;
}

/* ---- options ---- */

static int fail_option(keepfit_status status, const keepfit_error *error)
{
    return fail_status(status, message_of(error).text);
}

/* For the streams that read requests: by themselves, and strictly. A point's key is its id, and its time that of its arrival, whatever
 * columns a journal of a file's rows remembers. */
static int make_reading(struct trained *trained)
{
    static const char *const formats[FORMATS] = {"libsvm", "csv", "jsonl"};
    keepfit_error error = {.struct_size = sizeof error};
    for (int k = 0; k < FORMATS; k++) {
        keepfit_options *made = trained->reading[k] = keepfit_options_copy(trained->options);
        keepfit_status status = made ? keepfit_options_set(made, "format", formats[k], &error) : KEEPFIT_NO_MEMORY;
        if (status == KEEPFIT_OK)
            status = keepfit_options_set_integer(made, "threads", 1, &error);
        if (status == KEEPFIT_OK)
            status = keepfit_options_set(made, "on-error", "stop", &error);
        if (status == KEEPFIT_OK)
            status = keepfit_options_set(made, "key", "", &error);
        if (status == KEEPFIT_OK)
            status = keepfit_options_set(made, "time", "", &error);
        if (status != KEEPFIT_OK)
            return fail_option(status, &error);
    }
    return EXIT_DONE;
}

static int check_options(const keepfit_options *options)
{
    static const char *const useless[] = {"shuffle", "limit", "targets", "resume", "key", "time"};
    const char *scale = keepfit_options_get(options, "scale");
    if (!keepfit_options_given(options, "journal"))
        return fail(EXIT_USAGE, "serve: --journal DIR says where the points are kept");
    for (size_t k = 0; k < sizeof useless / sizeof useless[0]; k++)
        if (keepfit_options_get(options, useless[k]) && keepfit_options_given(options, useless[k]))
            return fail(EXIT_USAGE, "serve: --%s is for files", useless[k]);
    if (strcmp(scale, "columns") == 0 || strcmp(scale, "minmax") == 0)
        return fail(EXIT_USAGE, "serve: --scale %s reads all points first; a service never has all", scale);
    if (strcmp(scale, "rows") ==
        0) /* lists of numbers go past the reader that would scale them, and so do rows to predict */
        return fail(EXIT_USAGE, "serve: --scale rows is for files; send rows of unit norm");
    return EXIT_DONE;
}

static bool is_span(const keepfit_options *options, const char *key)
{
    const char *value = keepfit_options_get(options, key);
    return value && *value && value[strlen(value) - 1] > '9'; /* it ends with a unit */
}

/* With sync "always" the fit itself does not sync: the learner does, once for all requests that it has taken. */
static int make_model(struct service *service, const struct serve_settings *settings)
{
    struct trained *trained = &service->models[service->model_count++];
    keepfit_error error = {.struct_size = sizeof error};
    int code = check_options(settings->options);
    if (code != EXIT_DONE)
        return code;
    strcpy(trained->name, "default");
    pthread_mutex_init(&trained->lock, NULL);
    if (!(trained->options = keepfit_options_copy(settings->options)))
        return fail(EXIT_FAILED, "out of memory");
    service->always = strcmp(keepfit_options_get(trained->options, "sync"), "always") == 0;
    if (service->always && keepfit_options_set(trained->options, "sync", "none", &error) != KEEPFIT_OK)
        return fail_option(KEEPFIT_USAGE, &error);
    trained->timed = is_span(trained->options, "half-life") || is_span(trained->options, "window");
    keepfit_options_stop(trained->options, service->stop);
    return make_reading(trained);
}

/* ---- sockets ---- */

static int add_socket(struct running *running, int file, const char *name, bool open)
{
    if (file < 0)
        return fail(EXIT_FAILED, "serve: %s", name);
    running->sockets[running->count++] = file;
    if (open && !guard_has_tokens(running->service.guard))
        return fail(EXIT_USAGE, "serve: %s can be reached from elsewhere: --tokens FILE says who may", name);
    log_line(running->service.log, "info", "listening on %s", name);
    return EXIT_DONE;
}

static int open_sockets(struct running *running, const struct serve_settings *settings)
{
    char name[SOCKET_NAME] = "";
    bool open = false;
    int file = socket_inherited(name, &open), code = EXIT_DONE;
    if (file >= 0)
        code = add_socket(running, file, name, open);
    if (code == EXIT_DONE && settings->listen) {
        file = socket_listen(settings->listen, name, &open);
        code = add_socket(running, file, name, open);
    }
    if (code == EXIT_DONE && settings->unix_path) {
        file = socket_listen_unix(settings->unix_path, name);
        code = add_socket(running, file, name, false);
        running->unix_path = code == EXIT_DONE ? settings->unix_path : NULL;
    }
    if (code == EXIT_DONE && running->count == 0)
        code = fail(EXIT_USAGE, "serve: --listen HOST:PORT (127.0.0.1:8377, say) or --unix PATH says where");
    return code;
}

static int start_transports(struct running *running)
{
    for (size_t k = 0; k < running->count; k++) {
        running->transport[k] = transport_start(&running->service, running->sockets[k]);
        if (!running->transport[k])
            return fail(EXIT_FAILED, "serve: no server could be started on the socket");
        running->sockets[k] = -1;
    }
    return EXIT_DONE;
}

/* ---- events wake all ---- */

static struct running *the_one; /* the process has one service */

void transport_wake_listeners(void)
{
    for (size_t k = 0; the_one && k < the_one->count; k++)
        if (the_one->transport[k])
            transport_wake(the_one->transport[k]);
}

/* ---- signals ---- */

static void block_signals(sigset_t *set)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
    sigemptyset(set);
    for (size_t k = 0; k < sizeof signals / sizeof signals[0]; k++)
        sigaddset(set, signals[k]);
    pthread_sigmask(SIG_BLOCK, set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void reload(struct service *service)
{
    char why[200];
    log_reopen(service->log);
    if (guard_reload(service->guard, why, sizeof why))
        log_line(service->log, "info", "log and tokens are read anew");
    else
        log_line(service->log, "error", "the old tokens stay: %s", why);
}

/* Until the service is to end; the signal, or 0 where the journal could not be taken over. */
static int wait_for_end(struct running *running, const sigset_t *set)
{
    struct service *service = &running->service;
    bool ready = false;
    for (;;) {
        int signal = sigtimedwait(set, NULL, &(struct timespec){.tv_sec = 1});
        if (signal == SIGTERM || signal == SIGINT)
            return signal;
        if (signal == SIGHUP)
            reload(service);
        int state = atomic_load(&service->state);
        if (state == STATE_FAILED && !ready)
            return 0;
        if (state == STATE_READY && !ready) {
            ready = true;
            log_line(service->log, "info", "ready");
            socket_notify("READY=1");
        }
        for (size_t k = 0; k < running->count; k++)
            transport_look(running->transport[k]);
    }
}

static void shut_down(struct running *running)
{
    struct service *service = &running->service;
    socket_notify("STOPPING=1");
    log_line(service->log, "info", "stopping");
    keepfit_stop_raise(service->stop);
    for (size_t k = 0; k < running->count; k++)
        transport_quiet(running->transport[k]);
    learner_end(service);
    for (size_t k = 0; k < running->count; k++)
        transport_stop(running->transport[k]);
    running->count = 0;
}

static int run(struct running *running, const sigset_t *set)
{
    struct service *service = &running->service;
    service->main_thread = pthread_self();
    int code = start_transports(running);
    if (code == EXIT_DONE && learner_start(service) != 0)
        code = fail(EXIT_FAILED, "serve: no thread could be started");
    if (code != EXIT_DONE) {
        for (size_t k = 0; k < running->count; k++)
            transport_stop(running->transport[k]);
        return code;
    }
    int signal = wait_for_end(running, set);
    shut_down(running);
    if (service->failure.status == KEEPFIT_STOPPED)
        return signal == SIGINT ? EXIT_INTERRUPTED : EXIT_TERMINATED;
    if (service->failure.status)
        return fail_status(service->failure.status, message_of(&service->failure).text);
    log_line(service->log, "info", "stopped");
    return EXIT_DONE;
}

/* ---- the whole ---- */

static int prepare(struct running *running, const struct serve_settings *settings)
{
    struct service *service = &running->service;
    char why[300];
    set_limits(&service->limits, settings);
    pthread_mutex_init(&service->lock, NULL);
    pthread_mutex_init(&service->events_lock, NULL);
    pthread_cond_init(&service->wake, NULL);
    service->failure.struct_size = sizeof service->failure;
    service->began = (double)clock_seconds();
    if (!(service->log = log_open(settings->log)))
        return fail(EXIT_FAILED, "serve: %s: %s", settings->log, strerror(errno));
    if (!(service->guard = guard_create(settings->tokens, why, sizeof why)))
        return fail(EXIT_USAGE, "serve: %s", why);
    service->stop = keepfit_stop_create();
    service->memory = memory_create(&service->limits);
    service->past = past_create();
    if (!service->stop || !service->memory || !service->past)
        return fail(EXIT_FAILED, "out of memory");
    int code = make_model(service, settings);
    return code == EXIT_DONE ? open_sockets(running, settings) : code;
}

static void clean_up(struct running *running)
{
    struct service *service = &running->service;
    for (size_t k = 0; k < SOCKETS_MOST; k++)
        if (running->sockets[k] >= 0)
            close(running->sockets[k]);
    if (running->unix_path)
        unlink(running->unix_path);
    for (size_t k = 0; k < service->model_count; k++) {
        struct trained *trained = &service->models[k];
        current_leave(trained->current);
        current_leave(trained->measured);
        keepfit_fit_free(trained->fit);
        for (int format = 0; format < FORMATS; format++)
            keepfit_options_free(trained->reading[format]);
        keepfit_options_free(trained->options);
        pthread_mutex_destroy(&trained->lock);
    }
    memory_free(service->memory);
    past_free(service->past);
    guard_free(service->guard);
    keepfit_stop_free(service->stop);
    text_free(&service->event);
    log_close(service->log);
}

int serve_run(const struct serve_settings *settings)
{
    sigset_t set;
    struct running *running = calloc(1, sizeof *running);
    if (!running)
        return fail(EXIT_FAILED, "out of memory");
    for (size_t k = 0; k < SOCKETS_MOST; k++)
        running->sockets[k] = -1;
    block_signals(&set);
    the_one = running;
    int code = prepare(running, settings);
    if (code == EXIT_DONE)
        code = run(running, &set);
    the_one = NULL;
    clean_up(running);
    free(running);
    return code;
}
