#define _GNU_SOURCE
#include "service/sockets.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 512

static int fail_with(char name[SOCKET_NAME], const char *what)
{
    snprintf(name, SOCKET_NAME, "%s: %s", what, strerror(errno));
    return -1;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
    if (address->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
    return address->sa_family == AF_UNIX;
}

/* Where it listens, once it does. */
static int tell(int file, char name[SOCKET_NAME], bool *open)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[80], port[16];
    if (getsockname(file, (struct sockaddr *)&address, &length) < 0) {
        close(file);
        return fail_with(name, "the socket");
    }
    *open = !is_loopback((struct sockaddr *)&address);
    if (address.ss_family == AF_UNIX)
        snprintf(name, SOCKET_NAME, "unix:%.100s", ((struct sockaddr_un *)(void *)&address)->sun_path);
    else if (getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                         NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        snprintf(name, SOCKET_NAME, address.ss_family == AF_INET6 ? "http://[%s]:%s" : "http://%s:%s", host, port);
    return file;
}

static int open_listening(const struct addrinfo *at)
{
    int yes = 1, file = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (file < 0)
        return -1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(file, at->ai_addr, at->ai_addrlen) == 0 && listen(file, BACKLOG) == 0)
        return file;
    int problem = errno;
    close(file);
    errno = problem;
    return -1;
}

int socket_listen(const char *address, char name[SOCKET_NAME], bool *open)
{
    char host[128];
    const char *colon = strrchr(address, ':'), *begin = address;
    size_t length = colon ? (size_t)(colon - address) : 0;
    if (!colon || !colon[1] || length == 0 || length >= sizeof host) {
        snprintf(name, SOCKET_NAME, "'%.80s' is not HOST:PORT, such as 127.0.0.1:8377", address);
        return -1;
    }
    if (address[0] == '[' && colon[-1] == ']') {
        begin++;
        length -= 2;
    }
    memcpy(host, begin, length);
    host[length] = '\0';
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
    int problem = getaddrinfo(host, colon + 1, &wanted, &found);
    if (problem) {
        snprintf(name, SOCKET_NAME, "%.80s: %s", address, gai_strerror(problem));
        return -1;
    }
    int file = open_listening(found);
    freeaddrinfo(found);
    return file < 0 ? fail_with(name, address) : tell(file, name, open);
}

/* Whether somebody listens there. */
static bool is_alive(const struct sockaddr_un *address)
{
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool alive =
        file >= 0 && (connect(file, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN);
    if (file >= 0)
        close(file);
    return alive;
}

int socket_listen_unix(const char *path, char name[SOCKET_NAME])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat about;
    bool open;
    if (strlen(path) >= sizeof address.sun_path) {
        snprintf(name, SOCKET_NAME, "the path of a socket has at most %zu bytes", sizeof address.sun_path - 1);
        return -1;
    }
    strcpy(address.sun_path, path);
    if (lstat(path, &about) == 0 && S_ISSOCK(about.st_mode)) {
        if (is_alive(&address)) {
            snprintf(name, SOCKET_NAME, "%.100s: another process listens there", path);
            return -1;
        }
        unlink(path); /* one that was left behind */
    }
    struct addrinfo at = {.ai_family = AF_UNIX,
                          .ai_socktype = SOCK_STREAM,
                          .ai_addr = (struct sockaddr *)&address,
                          .ai_addrlen = sizeof address};
    mode_t before = umask(0117); /* the owner's and the group's */
    int file = open_listening(&at);
    umask(before);
    return file < 0 ? fail_with(name, path) : tell(file, name, &open);
}

int socket_inherited(char name[SOCKET_NAME], bool *open)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    if (!pid || !count || strtol(pid, NULL, 10) != (long)getpid() || strtol(count, NULL, 10) < 1)
        return -1;
    return tell(3, name, open);
}

void socket_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path)
        return;
    strcpy(address.sun_path, path);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0)
        return;
    sendto(file, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
    close(file);
}
