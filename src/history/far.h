/* Rows that lie far: a team's ranks (keepfit-team.h) all have every point's place, target and weight, but of rows only a share each.
 * Points are dealt out by the number of their arrival, so that a rank's share is whole subtrees of the tree that sums go by
 * (objective/tree.h). The rows of the newest block are on all ranks, until the next one begins.
 *
 * All ranks run the same steps. Where one of them reads a row that is not on all, so do the others, at the same time: the rank that
 * has it gives it to all. What is read one after the other comes a block at a time. Passes are better off to compute with each
 * rank's own rows (kf_far_begin_own) and to exchange what came of it. Rows that were fetched stay for a while; a pointer to one is good
 * until some hundred others have been read. */
#ifndef KF_FAR_H
#define KF_FAR_H

#include "history/points.h"
#include "keepfit-team.h"

struct kf_far;

/* NULL: out of memory. window: as many points at most are there; 0: any number. */
struct kf_far *kf_far_create(const keepfit_team *team, uint64_t window);
void kf_far_free(struct kf_far *far);

/* For a while each rank reads rows of its own share only. */
void kf_far_begin_own(struct kf_points *points);
void kf_far_end_own(struct kf_points *points);
/* Whether that is so; then, and without a team, rows are at hand. */
bool kf_far_at_hand(const struct kf_points *points);

/* Points from .. to-1 are one rank's. */
struct kf_far_range {
    size_t from, to, owner;
};
/* The next range; {0} is before the first. False: there is none below `count`. */
bool kf_far_next(const struct kf_points *points, size_t count, struct kf_far_range *range);
bool kf_far_is_own(const struct kf_far *far, const struct kf_far_range *range);
/* Blocks of a share, as a power of 2: leaves have to be no larger. */
unsigned kf_far_shift(const struct kf_far *far);

/* Each rank has put `each` numbers for its own points among those of the first `count` ones: now all have all. */
void kf_far_exchange(const struct kf_points *points, size_t count, size_t each, double *numbers);
/* All get what each has: counts[r] numbers of rank r, in the order of ranks. */
void kf_far_gather(struct kf_far *far, const double *own, const size_t *counts, double *all);
size_t kf_far_ranks(const struct kf_far *far);
size_t kf_far_rank(const struct kf_far *far);
/* Ends all ranks. */
void kf_far_fail(const struct kf_far *far, const char *message);

/* These points' rows are about to be read: those that are far come at once. */
void kf_far_fetch(const struct kf_points *points, size_t count, const size_t *which);
/* A point has left: those behind it have other numbers. */
void kf_far_forget(const struct kf_points *points);
/* Whether the rows of a block of arrivals are this rank's once the next block begins. */
bool kf_far_keeps(const struct kf_far *far, uint32_t block);

#endif
