/* Sums that do not know how many took part: the points fall into leaves of 2^k by the number of their arrival, each leaf is summed one
 * point after the other, and the leaves' sums are added along the binary tree over the leaves' numbers. Leaves without points are
 * left out. So the bits depend on which points there are alone: not on threads, nor on who held which leaf.
 *
 * A whole subtree may be summed by itself and put in as one, under the number of any of its leaves. */
#ifndef KF_TREE_H
#define KF_TREE_H

#include "history/points.h"

#define KF_TREE_LEVELS 34 /* safety: a level for each bit of a leaf's number, and some */

struct kf_tree {
    size_t size; /* numbers of a sum */
    double *sums[KF_TREE_LEVELS];
    uint32_t leaf[KF_TREE_LEVELS]; /* the last one that came into that sum */
    size_t count;                  /* sums that wait for those after them */
    size_t made;                   /* that have memory; the first is the caller's */
};

/* A tree whose sum ends up in `sum`. */
static inline struct kf_tree kf_tree_of(size_t size, double *sum)
{
    return (struct kf_tree){.size = size, .sums[0] = sum, .made = 1};
}
void kf_tree_free(struct kf_tree *tree);

/* Where the sum of the next leaf is to be made, zeroed; leaves come in ascending order. NULL: no memory. */
double *kf_tree_next(struct kf_tree *tree, uint32_t leaf);
/* All has come: adds up what waits. A tree without leaves is 0. */
void kf_tree_close(struct kf_tree *tree);

/* Additions one after the other in a sum of the points first .. last of the history, beside those of a leaf. */
double kf_tree_height(const struct kf_points *points, unsigned shift);

/* Leaves of 2^shift blocks (points.h): the leaf of point j, and the first point behind those of its leaf, at most `count`. */
static inline uint32_t kf_tree_leaf(const struct kf_points *points, size_t j, unsigned shift)
{
    return points->place[j].block >> shift;
}
size_t kf_tree_leaf_end(const struct kf_points *points, size_t j, size_t count, unsigned shift);

#endif
