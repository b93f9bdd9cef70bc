/* Who may do what: tokens from a file, the request's Host and Origin. */
#ifndef KEEPFIT_SERVICE_GUARD_H
#define KEEPFIT_SERVICE_GUARD_H

#include "service/service.h"

struct guard;

/* path NULL: there are no tokens, and all who reach a loopback address may do everything. Lines of the file: a token, then what it is
 * for: read, write, forget, admin. NULL: it cannot be read, and `why` says what is wrong. */
struct guard *guard_create(const char *path, char *why, size_t room);
/* Reads the tokens again; the old ones stay where that fails. */
bool guard_reload(struct guard *guard, char *why, size_t room);
void guard_free(struct guard *guard);
bool guard_has_tokens(const struct guard *guard);

/* False: refused, and the trouble says why. Any text may be NULL. */
bool guard_allows(struct guard *guard, enum scope scope, const char *authorization, struct trouble *trouble);
/* host: the header Host; origin: of the page that a browser has it from. */
bool guard_host(const struct guard *guard, const char *host, const char *origin, struct trouble *trouble);
/* Whether the text (without a port) names this machine and no other. */
bool guard_is_loopback(const char *host, size_t length);

#endif
