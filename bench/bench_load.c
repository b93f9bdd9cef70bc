/* Load for a service on this machine: so many connections that are kept open, each with one request at a time, for some seconds.
 *
 *   bench_load PORT PATH TYPE FILE CONNECTIONS SECONDS
 *
 * The file is the body. Prints {"answers", "per_second", "failures", "p50", "p99", "longest"}, times in microseconds. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TIMES_MOST (1 << 24)

struct connection {
    int file;
    size_t sent, got;
    size_t wanted; /* bytes of the answer; 0: not known yet */
    double since;
    char answer[1 << 16];
};

static char *request;
static size_t request_size;
static float *times;
static size_t answers, failures;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void need(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench_load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void make_request(const char *path, const char *type, const char *name)
{
    FILE *file = fopen(name, "rb");
    need(file, name);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    request = malloc(size + 512);
    int head =
        snprintf(request, 512, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n",
                 path, type, size);
    need(fread(request + head, 1, size, file) == size, name);
    request_size = (size_t)head + size;
    fclose(file);
}

static void send_on(struct connection *connection)
{
    while (connection->sent < request_size) {
        ssize_t count = send(connection->file, request + connection->sent, request_size - connection->sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno == EAGAIN)
            return;
        need(count > 0, "sending");
        connection->sent += (size_t)count;
    }
}

static void begin(struct connection *connection)
{
    connection->sent = connection->got = connection->wanted = 0;
    connection->since = now();
    send_on(connection);
}

static void find_end(struct connection *connection)
{
    char *end = memmem(connection->answer, connection->got, "\r\n\r\n", 4);
    char *length = memmem(connection->answer, connection->got, "Content-Length: ", 16);
    if (end && length)
        connection->wanted = (size_t)(end + 4 - connection->answer) + strtoull(length + 16, NULL, 10);
    need(connection->wanted < sizeof connection->answer, "an answer is too long");
}

static void receive_on(struct connection *connection)
{
    for (;;) {
        ssize_t count = recv(connection->file, connection->answer + connection->got,
                             sizeof connection->answer - connection->got - 1, MSG_DONTWAIT);
        if (count < 0 && errno == EAGAIN)
            return;
        need(count > 0, "receiving");
        connection->got += (size_t)count;
        connection->answer[connection->got] = '\0';
        if (!connection->wanted)
            find_end(connection);
        if (connection->wanted && connection->got >= connection->wanted) {
            failures += memcmp(connection->answer + 9, "200", 3) != 0;
            if (answers < TIMES_MOST)
                times[answers] = (float)(now() - connection->since);
            answers++;
            begin(connection);
            return;
        }
    }
}

static int by_size(const void *one, const void *other)
{
    float a = *(const float *)one, b = *(const float *)other;
    return a < b ? -1 : a > b;
}

int main(int count, char **words)
{
    need(count == 7, "PORT PATH TYPE FILE CONNECTIONS SECONDS");
    make_request(words[2], words[3], words[4]);
    size_t connections = strtoull(words[5], NULL, 10);
    double seconds = strtod(words[6], NULL);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct connection *all = calloc(connections, sizeof *all);
    times = malloc(TIMES_MOST * sizeof *times);
    int epoll = epoll_create1(0), yes = 1;
    need(all && times && epoll >= 0, "starting");
    for (size_t k = 0; k < connections; k++) {
        all[k].file = socket(AF_INET, SOCK_STREAM, 0);
        need(connect(all[k].file, (struct sockaddr *)&address, sizeof address) == 0, "connecting");
        setsockopt(all[k].file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[k]};
        need(epoll_ctl(epoll, EPOLL_CTL_ADD, all[k].file, &event) == 0, "epoll");
    }
    double from = now(), until = from + seconds;
    for (size_t k = 0; k < connections; k++)
        begin(&all[k]);
    while (now() < until) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll, events, 64, 100);
        for (int k = 0; k < ready; k++) {
            send_on(events[k].data.ptr);
            receive_on(events[k].data.ptr);
        }
    }
    double took = now() - from;
    size_t known = answers < TIMES_MOST ? answers : TIMES_MOST;
    qsort(times, known, sizeof *times, by_size);
    printf("{\"answers\": %zu, \"per_second\": %.0f, \"failures\": %zu, \"p50\": %.0f, \"p99\": %.0f, \"longest\": "
           "%.0f}\n",
           answers, (double)answers / took, failures, known ? 1e6 * (double)times[known / 2] : 0,
           known ? 1e6 * (double)times[known * 99 / 100] : 0, known ? 1e6 * (double)times[known - 1] : 0);
    return 0;
}
