/* Passes of a network over all points, in blocks: the products of a block's rows with W1 are computed together, and so is the sum of
 * the gradients' outer products (rows.h).
 *
 * Threads divide the points of a block where factors are computed, and the slots and units of the sum where these are added. No
 * number is the work of two, and each is summed in the order of the points: so the bits do not depend on how many there are. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "objective/rows.h"
#include "objective/network.h"

#define BLOCK 256      /* speed: bench/tuning.md */
#define WORK_LEAST 1e6 /* safety: a thread is worth starting then; products of two numbers a thread, at least */

struct block {
    const struct kf_objective *objective;
    const double *x;
    struct kf_second_layer second;
    struct kf_rows rows;
    size_t each;
    double *factors; /* [count][each] */
    double *values;  /* only these are wanted, where not NULL */
    double *sum;
    struct kf_turned turned;
    struct kf_network_scratch **scratch; /* one a thread */
};

static void find_factors(void *context, size_t part, size_t parts)
{
    struct block *block = context;
    const struct kf_objective *objective = block->objective;
    size_t from = kf_share_begin(block->rows.count, part, parts),
           to = kf_share_begin(block->rows.count, part + 1, parts);
    kf_rows_multiply(&block->rows, from, to, objective->kernels, block->x, objective->hidden, block->factors,
                     block->each);
    for (size_t k = from; k < to; k++) {
        double *factors = block->factors + k * block->each;
        size_t j = block->rows.first + k;
        if (block->values) {
            kf_network_scores(objective, &block->second, block->scratch[part], factors);
            block->values[k] = objective->loss->value(factors + objective->hidden, objective->outputs,
                                                      objective->points->place[j].target, objective->delta);
        } else {
            kf_network_factors(objective, &block->second, j, block->scratch[part], factors);
        }
    }
}

static void add_gradients(void *context, size_t part, size_t parts)
{
    struct block *block = context;
    const struct kf_objective *objective = block->objective;
    size_t hidden = objective->hidden, slots = objective->slots;
    kf_turned_add(&block->turned, objective->kernels, kf_share_begin(slots, part, parts),
                  kf_share_begin(slots, part + 1, parts), block->factors, block->each, hidden, block->sum);
    size_t from = kf_share_begin(hidden + 1, part, parts), to = kf_share_begin(hidden + 1, part + 1, parts);
    for (size_t k = 0; k < block->rows.count; k++)
        kf_network_add_second(objective, 1, block->factors + k * block->each, from, to, block->scratch[part],
                              block->sum + slots * hidden);
}

static void free_scratches(struct block *block, size_t threads)
{
    for (size_t k = 0; block->scratch && k < threads; k++)
        free(block->scratch[k]);
    free(block->scratch);
}

static bool make_scratches(struct block *block, size_t threads)
{
    const struct kf_objective *objective = block->objective;
    block->scratch = kf_allocate(threads, sizeof *block->scratch);
    for (size_t k = 0; block->scratch && k < threads; k++)
        if (!(block->scratch[k] = kf_network_scratch_make(objective->hidden, objective->outputs)))
            return false;
    return block->scratch != NULL;
}

static size_t threads_for(const struct kf_objective *objective, size_t count)
{
    double row = (double)objective->points->entries / (double)objective->points->count;
    double worth = 1 + row * (double)count * (double)objective->hidden / WORK_LEAST;
    return (double)objective->threads < worth ? objective->threads : (size_t)worth;
}

static struct block begin(const struct kf_objective *objective, const double *x)
{
    struct kf_view view = kf_dense_view(x);
    return (struct block){.objective = objective,
                          .x = x,
                          .second = kf_second_layer(objective, &view),
                          .rows = {.points = objective->points},
                          .each = objective->type->factor_count(objective)};
}

bool kf_network_sum(struct kf_objective *objective, const double *x, size_t count, double *sum, double *remembered)
{
    struct block block = begin(objective, x);
    size_t most = count < BLOCK ? count : BLOCK, threads = threads_for(objective, most);
    double *own = remembered ? NULL : kf_allocate_unset(most * block.each);
    bool good = make_scratches(&block, threads) && (own || remembered);
    memset(sum, 0, kf_dimension(objective) * sizeof *sum);
    block.sum = sum;
    for (size_t first = 0; good && first < count; first += most) {
        block.rows.first = first;
        block.rows.count = count - first < most ? count - first : most;
        block.factors = remembered ? remembered + first * block.each : own;
        good = kf_turned_build(&block.turned, &block.rows, objective->slots);
        if (good) {
            kf_share_out(threads, find_factors, &block);
            kf_share_out(threads, add_gradients, &block);
        }
    }
    kf_turned_free(&block.turned);
    free_scratches(&block, threads);
    free(own);
    return good;
}

bool kf_network_values(struct kf_objective *objective, const double *x, size_t first, size_t count, double *values)
{
    struct block block = begin(objective, x);
    size_t threads = threads_for(objective, count);
    bool good = make_scratches(&block, threads) && (block.factors = kf_allocate_unset(count * block.each));
    block.rows.first = first;
    block.rows.count = count;
    block.values = values;
    if (good)
        kf_share_out(threads, find_factors, &block);
    free_scratches(&block, threads);
    free(block.factors);
    return good;
}
