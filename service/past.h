/* What a service remembers of itself for those who look: how fast it was lately, its stages in the past, requests that were refused. */
#ifndef KEEPFIT_SERVICE_PAST_H
#define KEEPFIT_SERVICE_PAST_H

#include "service/service.h"

struct past;

struct past *past_create(void);
void past_free(struct past *past);
/* The learner's, at each event. */
void past_take(struct past *past, const struct service *service, const struct current *current);
/* A request was refused. */
void past_refused(struct past *past, const char *what, const struct trouble *trouble);

/* Members of a JSON object, each with a comma before it. */
void past_write_rates(struct past *past, struct text *text);
void past_write_refused(struct past *past, struct text *text);
void past_write_history(struct past *past, struct text *text);

#endif
