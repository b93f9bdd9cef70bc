/* Journals on a disk in memory, for tests. */
#ifndef KEEPFIT_TESTS_JOURNALS_H
#define KEEPFIT_TESTS_JOURNALS_H

#include "support.h"
#include "world.h"

#define FOLDER "journal"
#define SMALL 6

/* A fit with these options on this disk, and the same where nothing may go wrong. */
keepfit_status journal_fit(struct world *world, const char *text, keepfit_fit **fit, keepfit_error *error);
keepfit_fit *journal_fit_sound(struct world *world, const char *text);
/* The journal in FOLDER, without a fit. */
keepfit_status journal_look(struct world *world, keepfit_journal **journal, keepfit_error *error);

bool journal_same_point(const keepfit_point *a, const keepfit_point *b);

/* SMALL points in one segment, with a checkpoint that does not know the last two, or none at all. */
struct world *journal_small(const struct cloud *cloud, bool checkpoint);
/* Whether the journal's points are the first so many of the cloud, and not fewer than `least`. */
bool journal_is_prefix(keepfit_journal *journal, const struct cloud *cloud, size_t least);

#endif
