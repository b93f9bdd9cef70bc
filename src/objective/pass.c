/* A pass over all points, on several threads.
 *
 * The points are cut into chunks whose number depends on the data alone. Each chunk is summed by itself, and the chunks' sums
 * are added in order, whoever computed them: so the bits do not depend on the number of threads. A chunk is large enough for
 * the addition of its d-vector to be cheap beside it. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernels/kernels.h"
#include "objective/objective.h"

#define CHUNKS_MOST 32   /* safety: room; threads beyond do not help */
#define WORK_LEAST 65536 /* speed: bench/tuning.md; stored values a chunk, at least */

struct pass {
    struct kf_objective *objective;
    const double *x;
    size_t count, each, chunks;
    double *sum, *remembered, *scratch;
    pthread_mutex_t lock;
    pthread_cond_t added;
    size_t next, in_order; /* the next chunk to compute, and to add */
};

static size_t chunks_for(const struct kf_objective *objective)
{
    uint64_t least = WORK_LEAST + 4 * (uint64_t)kf_dimension(objective);
    uint64_t chunks = objective->points->entries / least;
    return chunks < 1 || !objective->loss || objective->hidden ? 1
           : chunks > CHUNKS_MOST                              ? CHUNKS_MOST
                                                               : (size_t)chunks;
}

double kf_pass_depth(const struct kf_objective *objective)
{
    size_t chunks = chunks_for(objective), count = objective->points->count;
    return (double)(count / chunks + 1 + chunks);
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
    if (lie_together(place, count)) {
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

static void sum_chunk(const struct pass *pass, size_t chunk, double *scratch, double *sum)
{
    struct kf_objective *objective = pass->objective;
    size_t from = chunk * pass->count / pass->chunks, to = (chunk + 1) * pass->count / pass->chunks;
    memset(sum, 0, kf_dimension(objective) * sizeof *sum);
    if (objective->callbacks)
        kf_objective_clear_columns(objective);
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

/* Takes chunks as they come, adds their sums in order. The lowest chunk under way never waits, so all get their turn. */
static void work(struct pass *pass, double *partial, double *scratch)
{
    pthread_mutex_lock(&pass->lock);
    while (pass->next < pass->chunks) {
        size_t chunk = pass->next++;
        pthread_mutex_unlock(&pass->lock);
        sum_chunk(pass, chunk, scratch, partial);
        pthread_mutex_lock(&pass->lock);
        while (pass->in_order != chunk)
            pthread_cond_wait(&pass->added, &pass->lock);
        kf_add(kf_dimension(pass->objective), 1, partial, pass->sum);
        pass->in_order++;
        pthread_cond_broadcast(&pass->added);
    }
    pthread_mutex_unlock(&pass->lock);
}

static double *make_space(const struct pass *pass)
{
    return kf_allocate_raw((kf_dimension(pass->objective) + pass->each) * sizeof(double));
}

/* A helper that gets no memory does nothing: the others do its work. */
static void *helper(void *argument)
{
    struct pass *pass = argument;
    double *space = make_space(pass);
    if (space)
        work(pass, space, space + kf_dimension(pass->objective));
    free(space);
    return NULL;
}

/* False: not even memory for one chunk's sum. */
static bool run_chunks(struct pass *pass)
{
    size_t wanted = pass->objective->threads < pass->chunks ? pass->objective->threads : pass->chunks, started = 0;
    pthread_t helpers[CHUNKS_MOST];
    double *partial = make_space(pass);
    if (!partial)
        return false;
    pthread_mutex_init(&pass->lock, NULL);
    pthread_cond_init(&pass->added, NULL);
    memset(pass->sum, 0, kf_dimension(pass->objective) * sizeof(double));
    while (started + 1 < wanted && pthread_create(&helpers[started], NULL, helper, pass) == 0)
        started++;
    work(pass, partial, pass->scratch);
    for (size_t k = 0; k < started; k++)
        pthread_join(helpers[k], NULL);
    pthread_cond_destroy(&pass->added);
    pthread_mutex_destroy(&pass->lock);
    free(partial);
    return true;
}

void kf_gradient_sum(struct kf_objective *objective, const double *x, size_t count, double *sum, double *remembered,
                     double *scratch)
{
    objective->fo += count;
    if (objective->type->sum && objective->type->sum(objective, x, count, sum, remembered))
        return;
    objective->memory_failed |= objective->type->sum != NULL;
    struct pass pass = {
        .objective = objective,
        .x = x,
        .count = count,
        .each = objective->type->factor_count(objective),
        .chunks = chunks_for(objective),
        .sum = sum,
        .remembered = remembered,
        .scratch = scratch,
    };
    if (pass.chunks == 1 || !run_chunks(&pass)) {
        objective->memory_failed |= pass.chunks > 1;
        pass.chunks = 1; /* the same sum in another order: whoever reads it finds numbers, not rubbish */
        sum_chunk(&pass, 0, scratch, sum);
    }
}
