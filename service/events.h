/* Server-sent events: who listens at /v1/events is told of the present state, some times a second, when something has changed. */
#ifndef KEEPFIT_SERVICE_EVENTS_H
#define KEEPFIT_SERVICE_EVENTS_H

#include "service/service.h"

/* The learner's: makes a new event, if it is time. */
void events_tell(struct service *service);
/* A copy of the newest event, and its number; false: it is the one numbered `seen`. */
bool events_copy(struct service *service, uint64_t seen, struct text *event, uint64_t *number);
/* transport.c: there is a new one. */
void transport_wake_listeners(void);

#endif
