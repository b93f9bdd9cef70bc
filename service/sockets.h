/* Sockets that listen, made here or handed over by systemd, and what systemd is told. */
#ifndef KEEPFIT_SERVICE_SOCKETS_H
#define KEEPFIT_SERVICE_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

#define SOCKET_NAME 160

/* -1: it cannot, and `name` says why; otherwise `name` is where it listens, as a URL. open: others than this machine can reach it. */
int socket_listen(const char *address, char name[SOCKET_NAME], bool *open);
int socket_listen_unix(const char *path, char name[SOCKET_NAME]);
/* The socket that systemd handed over; -1: none. */
int socket_inherited(char name[SOCKET_NAME], bool *open);
/* "READY=1", for systemd, if it wants to know. */
void socket_notify(const char *state);

#endif
