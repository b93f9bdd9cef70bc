#include "objective/tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernels/kernels.h"

void kf_tree_free(struct kf_tree *tree)
{
    while (tree->made > 1)
        free(tree->sums[--tree->made]);
}

/* The level where two leaves come together. */
static unsigned level_of(uint32_t a, uint32_t b)
{
    unsigned level = 0;
    for (uint32_t apart = a ^ b; apart; apart >>= 1)
        level++;
    return level;
}

static void add_last(struct kf_tree *tree)
{
    assert(tree->count > 1);
    tree->count--;
    kf_add(tree->size, 1, tree->sums[tree->count], tree->sums[tree->count - 1]);
    tree->leaf[tree->count - 1] = tree->leaf[tree->count];
}

double *kf_tree_next(struct kf_tree *tree, uint32_t leaf)
{
    assert(tree->count == 0 || leaf > tree->leaf[tree->count - 1]);
    /* Two sums come together as soon as the next leaf lies outside of the subtree that they make. */
    while (tree->count > 1 && level_of(tree->leaf[tree->count - 2], tree->leaf[tree->count - 1]) <
                                  level_of(tree->leaf[tree->count - 1], leaf))
        add_last(tree);
    assert(tree->count < KF_TREE_LEVELS);
    if (tree->count == tree->made) {
        double *made = kf_allocate_raw((tree->size + !tree->size) * sizeof(double));
        if (!made)
            return NULL;
        tree->sums[tree->made++] = made;
    }
    tree->leaf[tree->count] = leaf;
    return memset(tree->sums[tree->count++], 0, tree->size * sizeof(double));
}

void kf_tree_close(struct kf_tree *tree)
{
    if (tree->count == 0)
        memset(tree->sums[0], 0, tree->size * sizeof(double));
    while (tree->count > 1)
        add_last(tree);
    tree->count = 0;
}

double kf_tree_height(const struct kf_points *points, unsigned shift)
{
    return points->count == 0
               ? 0
               : level_of(kf_tree_leaf(points, 0, shift), kf_tree_leaf(points, points->count - 1, shift));
}

size_t kf_tree_leaf_end(const struct kf_points *points, size_t j, size_t count, unsigned shift)
{
    size_t most = (size_t)1 << (KF_BLOCK_BITS + shift), low = j + 1, high = count - j < most ? count : j + most;
    uint32_t leaf = kf_tree_leaf(points, j, shift);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kf_tree_leaf(points, middle, shift) == leaf)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low == count || kf_tree_leaf(points, low, shift) > leaf);
    return low;
}
