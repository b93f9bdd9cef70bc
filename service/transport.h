/* Connections: HTTP by libmicrohttpd. What it does not limit by itself is limited here: time for a header, the least rate of a body, requests whose
 * length is told twice. */
#ifndef KEEPFIT_SERVICE_TRANSPORT_H
#define KEEPFIT_SERVICE_TRANSPORT_H

#include "service/service.h"

struct transport;

/* Answers on a socket that listens already, and is its own from now on. NULL: it cannot. */
struct transport *transport_start(struct service *service, int socket);
/* Once a second: connections that take too long are closed, listeners get a sign of life. */
void transport_look(struct transport *transport);
/* There is a new event. */
void transport_wake(struct transport *transport);
/* No new connections, and listeners go home; what was asked is still answered. */
void transport_quiet(struct transport *transport);
void transport_stop(struct transport *transport);

#endif
