/* A pass over all points, on several threads.
 *
 * Each leaf (tree.h) is summed by itself, and the leaves' sums are added along the tree, whoever computed them: so the bits do not
 * depend on the number of threads. Several threads take whole subtrees in turn. A leaf is large enough for the addition of its
 * d-vector to be cheap beside it. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/far.h"
#include "kernels/kernels.h"
#include "objective/objective.h"
#include "objective/tree.h"

#define HELPERS_MOST 31 /* safety: room; threads beyond do not help */
/* So many subtrees at least, where there are leaves enough: then all threads are done at about the same time. */
#define SUBTREES_LEAST 32 /* safety: enough for the threads there may be */
/* A leaf is larger than one block where adding its sum would take more numbers a point than this, less than a row does. */
#define NUMBERS_A_POINT 16 /* safety: all bits go by it, so it stays */
#define SHIFT_MOST 5       /* safety: likewise */

struct pass {
    struct kf_objective *objective;
    const double *x;
    size_t from, count, each; /* of the points from .. count-1 */
    unsigned shift, subtree;  /* a leaf's blocks, and a subtree's leaves, as powers of 2 */
    struct kf_tree tree;
    double *remembered;
    pthread_mutex_t lock;
    pthread_cond_t added;
    size_t next, in_order; /* the first point of the next subtree to compute, and to add */
    bool failed;           /* no memory for a sum */
};

static unsigned leaf_shift(const struct kf_objective *objective)
{
    unsigned shift = 0;
    while (shift < SHIFT_MOST && kf_dimension(objective) >> (KF_BLOCK_BITS + shift) >= NUMBERS_A_POINT)
        shift++;
    return shift;
}

double kf_pass_depth(const struct kf_objective *objective)
{
    unsigned shift = leaf_shift(objective);
    double count = (double)objective->points->count, leaf = (double)((size_t)1 << (KF_BLOCK_BITS + shift));
    bool whole = objective->hidden || objective->memory_failed;
    return whole ? count + 2 : fmin(count, leaf) + 1 + kf_tree_height(objective->points, shift);
}

/* Rows wider than this had better be added one by one: few of them fit into the fastest cache. */
#define WIDTH_TOGETHER 64 /* speed: bench/tuning.md */

/* Whether the rows are dense, of one length, and lie one behind the other. */
static bool lie_together(const struct kf_place *place, size_t count)
{
    size_t width = place[0].count;
    for (size_t k = 0; k < count; k++)
        if (!place[k].dense || place[k].count != width || place[k].value != place[0].value + k * width)
            return false;
    return width <= WIDTH_TOGETHER;
}

/* sum += the rows, times their factors, one after the other: the same bits wherever they lie, as a fit that goes on from its journal has them
 * elsewhere. */
static void add_rows(const struct kf_objective *objective, size_t from, size_t count, const double *factors,
                     double *sum)
{
    const struct kf_place *place = objective->points->place + from;
    if (kf_far_at_hand(objective->points) && lie_together(place, count)) {
        objective->kernels->combine(count, NULL, factors, place->value, place->count, place->count, sum);
        return;
    }
    for (size_t k = 0; k < count; k++) {
        keepfit_row row = kf_points_row(objective->points, from + k);
        if (row.index)
            kf_row_add(&row, 1, &factors[k], 1, sum);
        else
            objective->kernels->add(row.count, factors[k], row.value, sum);
    }
}

/* Of points with one score each. */
static void sum_singles(const struct pass *pass, size_t from, size_t to, double *sum)
{
    struct kf_objective *objective = pass->objective;
    double own[KF_SINGLES];
    for (size_t j = from, count; j < to; j += count) {
        double *factors = pass->remembered ? pass->remembered + j : own;
        count = to - j < KF_SINGLES ? to - j : KF_SINGLES;
        kf_single_factors(objective, pass->x, j, count, factors);
        add_rows(objective, j, count, factors, sum);
    }
}

static void sum_leaf(const struct pass *pass, size_t from, size_t to, double *scratch, double *sum)
{
    struct kf_objective *objective = pass->objective;
    if (kf_is_single(objective)) {
        sum_singles(pass, from, to, sum);
        return;
    }
    const struct kf_view x = kf_dense_view(pass->x);
    for (size_t j = from; j < to; j++) {
        double *factors = pass->remembered ? pass->remembered + j * pass->each : scratch;
        objective->type->factors(objective, &x, j, factors);
        objective->type->add(objective, 1, j, factors, sum);
        for (size_t k = 0; k < pass->each && objective->callbacks; k++)
            objective->mass[k] += fabs(factors[k]); /* for the rounding of this sum (rounding.h) */
    }
}

/* The leaves of the points from .. to-1. False: no memory. */
static bool sum_leaves(const struct pass *pass, size_t from, size_t to, double *scratch, struct kf_tree *tree)
{
    const struct kf_points *points = pass->objective->points;
    for (size_t end; from < to; from = end) {
        double *sum = kf_tree_next(tree, kf_tree_leaf(points, from, pass->shift));
        if (!sum)
            return false;
        end = kf_tree_leaf_end(points, from, to, pass->shift);
        sum_leaf(pass, from, end, scratch, sum);
    }
    kf_tree_close(tree);
    return true;
}

/* Takes subtrees as they come, adds their sums in order. The first one under way never waits, so all get their turn. */
static void work(struct pass *pass, struct kf_tree *own, double *scratch)
{
    const struct kf_points *points = pass->objective->points;
    pthread_mutex_lock(&pass->lock);
    while (pass->next < pass->count) {
        size_t from = pass->next, to = kf_tree_leaf_end(points, from, pass->count, pass->shift + pass->subtree);
        pass->next = to;
        pthread_mutex_unlock(&pass->lock);
        bool summed = sum_leaves(pass, from, to, scratch, own);
        pthread_mutex_lock(&pass->lock);
        while (pass->in_order != from)
            pthread_cond_wait(&pass->added, &pass->lock);
        double *sum = summed ? kf_tree_next(&pass->tree, kf_tree_leaf(points, from, pass->shift)) : NULL;
        if (sum)
            memcpy(sum, own->sums[0], own->size * sizeof *sum);
        pass->failed |= !sum;
        pass->in_order = to;
        pthread_cond_broadcast(&pass->added);
    }
    pthread_mutex_unlock(&pass->lock);
}

/* A helper that gets no memory does nothing: the others do its work. */
static void *helper(void *argument)
{
    struct pass *pass = argument;
    size_t size = kf_dimension(pass->objective);
    double *space = kf_allocate_raw((size + pass->each) * sizeof *space);
    struct kf_tree own = kf_tree_of(size, space);
    if (space)
        work(pass, &own, space + size);
    kf_tree_free(&own);
    free(space);
    return NULL;
}

static bool run_together(struct pass *pass, size_t threads)
{
    pthread_t helpers[HELPERS_MOST];
    size_t started = 0;
    pthread_mutex_init(&pass->lock, NULL);
    pthread_cond_init(&pass->added, NULL);
    while (started + 1 < threads && started < HELPERS_MOST &&
           pthread_create(&helpers[started], NULL, helper, pass) == 0)
        started++;
    helper(pass);
    for (size_t k = 0; k < started; k++)
        pthread_join(helpers[k], NULL);
    pthread_cond_destroy(&pass->added);
    pthread_mutex_destroy(&pass->lock);
    pass->failed |= pass->in_order < pass->count; /* nobody got memory */
    kf_tree_close(&pass->tree);
    return !pass->failed;
}

/* How many leaves a subtree has, so that there are enough for all threads. */
static unsigned subtree_shift(const struct kf_points *points, size_t from, size_t count, unsigned shift)
{
    uint32_t first = kf_tree_leaf(points, from, shift), last = kf_tree_leaf(points, count - 1, shift);
    unsigned subtree = 0;
    while ((last >> (subtree + 1)) - (first >> (subtree + 1)) >= SUBTREES_LEAST)
        subtree++;
    return subtree;
}

/* The sum of the points from .. count-1, whose rows are at hand. */
static void run(struct pass *pass, double *scratch)
{
    struct kf_objective *objective = pass->objective;
    const struct kf_points *points = objective->points;
    bool alone = objective->threads < 2 || !objective->loss || objective->hidden || pass->count == pass->from ||
                 kf_tree_leaf_end(points, pass->from, pass->count, pass->shift) == pass->count;
    pass->next = pass->in_order = pass->from;
    if (!alone)
        pass->subtree = subtree_shift(points, pass->from, pass->count, pass->shift);
    if (!(alone ? sum_leaves(pass, pass->from, pass->count, scratch, &pass->tree)
                : run_together(pass, objective->threads))) {
        double *sum = pass->tree.sums[0];
        objective->memory_failed =
            true; /* the same sum in another order: whoever reads it finds numbers, not rubbish */
        memset(sum, 0, kf_dimension(objective) * sizeof *sum);
        sum_leaf(pass, pass->from, pass->count, scratch, sum);
    }
    kf_tree_free(&pass->tree);
}

/* Of a team: each rank sums its ranges, which are whole subtrees, and all put together what all have. */
static void run_ranges(const struct pass *whole, double *scratch)
{
    struct kf_objective *objective = whole->objective;
    const struct kf_points *points = objective->points;
    struct kf_far *far = points->far;
    size_t size = whole->tree.size, ranks = kf_far_ranks(far), ranges = 0, own_at = 0;
    size_t *begin = kf_allocate(2 * ranks, sizeof *begin), *counts = begin + ranks;
    for (struct kf_far_range range = {0}; begin && kf_far_next(points, whole->count, &range); ranges++)
        counts[range.owner] += size;
    double *own = begin ? kf_allocate_raw((counts[kf_far_rank(far)] + 1) * sizeof *own) : NULL;
    double *all = kf_allocate_raw((ranges * size + 1) * sizeof *all);
    if (!own || !all)
        kf_far_fail(far, "out of memory");
    kf_far_begin_own(objective->points);
    for (struct kf_far_range range = {0}; kf_far_next(points, whole->count, &range);)
        if (kf_far_is_own(far, &range)) {
            struct pass pass = *whole;
            pass.from = range.from;
            pass.count = range.to;
            pass.tree = kf_tree_of(size, own + own_at);
            run(&pass, scratch);
            own_at += size;
        }
    kf_far_end_own(objective->points);
    if (objective->memory_failed)
        kf_far_fail(far, "out of memory"); /* the others know nothing of it */
    kf_far_gather(far, own, counts, all);
    for (size_t r = 1; r < ranks; r++)
        begin[r] = begin[r - 1] + counts[r - 1];
    struct kf_tree tree = whole->tree;
    for (struct kf_far_range range = {0}; kf_far_next(points, whole->count, &range);) {
        double *sum = kf_tree_next(&tree, kf_tree_leaf(points, range.from, whole->shift));
        if (!sum)
            kf_far_fail(far, "out of memory");
        memcpy(sum, all + begin[range.owner], size * sizeof *sum);
        begin[range.owner] += size;
    }
    kf_tree_close(&tree);
    kf_tree_free(&tree);
    free(begin);
    free(own);
    free(all);
    if (whole->remembered)
        kf_far_exchange(points, whole->count, whole->each, whole->remembered);
}

void kf_gradient_sum(struct kf_objective *objective, const double *x, size_t count, double *sum, double *remembered,
                     double *scratch)
{
    const struct kf_points *points = objective->points;
    objective->fo += count;
    if (objective->type->sum && objective->type->sum(objective, x, count, sum, remembered))
        return;
    objective->memory_failed |= objective->type->sum != NULL;
    struct pass pass = {
        .objective = objective,
        .x = x,
        .count = count,
        .each = objective->type->factor_count(objective),
        .shift = leaf_shift(objective),
        .tree = kf_tree_of(kf_dimension(objective), sum),
        .remembered = remembered,
    };
    if (objective->callbacks)
        kf_objective_clear_columns(objective);
    if (points->far && !kf_far_at_hand(points) && count > 0 && pass.shift <= kf_far_shift(points->far)) {
        run_ranges(&pass, scratch);
        return;
    }
    if (points->far && objective->threads > 1) { /* rows come to one thread */
        size_t threads = objective->threads;
        objective->threads = 1;
        run(&pass, scratch);
        objective->threads = threads;
        return;
    }
    run(&pass, scratch);
}
