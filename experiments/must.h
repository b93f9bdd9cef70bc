/* must.h - memory or the end: every result so far is on disk and the next run goes on from there, so a command that runs out
 * of memory says so and exits. */
#ifndef KEEPFIT_EXPERIMENTS_MUST_H
#define KEEPFIT_EXPERIMENTS_MUST_H

#include <stddef.h>

void *must_allocate(size_t bytes); /* zeroed */
void *must_resize(void *old, size_t bytes);
/* What somebody else allocated, unless it is NULL. */
void *must_have(void *space);

#endif
