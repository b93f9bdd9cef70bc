#include "iterate/problem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/kernels.h"
#include "objective/network.h"

keepfit_status kf_problem_create(struct kf_problem *problem, const keepfit_options *options, keepfit_error *error)
{
    memset(problem, 0, sizeof *problem);
    problem->options = options;
    problem->bound = problem->target = problem->arrival_loss = NAN;
    problem->allowance = UINT64_MAX;
    problem->toil_most = INFINITY;
    problem->objective.points = &problem->points;
    problem->objective.delta = options->delta;
    problem->objective.kernels = kf_kernels_best();
    problem->objective.threads = kf_threads(options);
    kf_random_seed(&problem->random, options->seed);
    keepfit_status status = kf_domain_read(&problem->domain, options->domain, error);
    if (status != KEEPFIT_OK)
        return status;
    bool projects = !kf_domain_is_whole(&problem->domain);
    if (!kf_problem_vector(problem, &problem->x) || !kf_problem_vector(problem, &problem->doubt) ||
        (projects && !kf_problem_vector(problem, &problem->scratch)) ||
        (projects && !kf_problem_vector(problem, &problem->spare)))
        return kf_fail_memory(error);
    return KEEPFIT_OK;
}

void kf_problem_free(struct kf_problem *problem)
{
    for (size_t k = 0; k < problem->vector_count; k++) {
        free(*problem->vectors[k]);
        *problem->vectors[k] = NULL;
    }
    for (size_t k = 0; k < KF_FACTOR_BUFFERS; k++)
        free(problem->factors[k]);
    free(problem->objective.scores);
    free(problem->objective.pair_sums);
    free(problem->objective.mass);
    free(problem->objective.most);
    kf_network_free(&problem->objective);
    kf_iterate_free(&problem->iterate);
    kf_points_free(&problem->points);
}

static bool add_vector(struct kf_problem *problem, double **vector, size_t width)
{
    assert(problem->vector_count < KF_VECTORS_MOST);
    *vector = kf_allocate_unset(problem->vector_capacity * width);
    if (!*vector)
        return false;
    memset(*vector, 0, kf_size(problem) * width * sizeof **vector);
    problem->widths[problem->vector_count] = width;
    problem->vectors[problem->vector_count++] = vector;
    return true;
}

bool kf_problem_vector(struct kf_problem *problem, double **vector)
{
    return add_vector(problem, vector, 1);
}

bool kf_problem_pairs(struct kf_problem *problem, double **pairs)
{
    return add_vector(problem, pairs, 2);
}

/* Spreads rows of `from` numbers to rows of `to` >= from numbers within the same memory, last row first. */
static void widen_rows(double *vector, size_t rows, size_t from, size_t to)
{
    for (size_t r = rows; r-- > 0;) {
        memmove(vector + r * to, vector + r * from, from * sizeof *vector);
        memset(vector + r * to + from, 0, (to - from) * sizeof *vector);
    }
}

/* What is reserved for growth is not written, and so costs nothing yet. */
static bool grow_to(double **array, size_t used, size_t after)
{
    double *moved = kf_allocate_unset(after);
    if (!moved)
        return false;
    if (used)
        memcpy(moved, *array, used * sizeof *moved);
    free(*array);
    *array = moved;
    return true;
}

static bool grow_vectors(struct kf_problem *problem, size_t needed)
{
    if (needed <= problem->vector_capacity)
        return true;
    size_t capacity = needed < 32 ? 32 : needed + needed / 2;
    for (size_t k = 0; k < problem->vector_count; k++)
        if (!grow_to(problem->vectors[k], kf_size(problem) * problem->widths[k], capacity * problem->widths[k]))
            return false;
    problem->vector_capacity = capacity;
    return true;
}

static bool grow_factors(struct kf_problem *problem, size_t needed)
{
    if (needed <= problem->factor_capacity)
        return true;
    size_t capacity = needed + needed / 2 + 4;
    for (size_t k = 0; k < KF_FACTOR_BUFFERS; k++)
        if (!grow_to(&problem->factors[k], problem->factor_capacity, capacity))
            return false;
    if (!grow_to(&problem->objective.scores, problem->factor_capacity, capacity) ||
        !grow_to(&problem->objective.pair_sums, 2 * problem->factor_capacity, 2 * capacity))
        return false;
    problem->factor_capacity = capacity;
    return true;
}

static bool grow_zeros(double **array, size_t *capacity, size_t needed)
{
    size_t before = *capacity;
    if (needed <= before)
        return true;
    if (!KF_RESERVE(*array, *capacity, needed))
        return false;
    memset(*array + before, 0, (*capacity - before) * sizeof **array);
    return true;
}

/* One for each slot, or, of user-written objectives, for each number of x. */
static bool grow_columns(struct kf_objective *objective, size_t needed)
{
    return objective->hidden || (grow_zeros(&objective->mass, &objective->mass_capacity, needed) &&
                                 grow_zeros(&objective->most, &objective->most_capacity, needed));
}

/* The memory for an objective of the new size. */
static bool make_room(struct kf_problem *problem, const struct kf_objective *larger)
{
    size_t columns = larger->hidden > larger->outputs ? larger->hidden : larger->outputs;
    if (larger->slots + larger->hidden + 1 > SIZE_MAX / sizeof(double) / 4 / columns)
        return false;
    return grow_vectors(problem, kf_dimension(larger)) && grow_factors(problem, larger->type->factor_count(larger)) &&
           grow_columns(&problem->objective, larger->slots) &&
           (!larger->hidden || kf_network_reserve(&problem->objective, larger->slots, larger->outputs));
}

/* Puts the numbers of a vector, `width` a coordinate, into the places that they have in the larger one; new ones are 0. */
static void spread_vector(double *vector, size_t width, const struct kf_objective *old,
                          const struct kf_objective *larger)
{
    size_t from = old->outputs * width, to = larger->outputs * width;
    if (!larger->hidden) {
        if (to > from)
            widen_rows(vector, old->slots, from, to);
        memset(vector + old->slots * to, 0, (larger->slots - old->slots) * to * sizeof *vector);
        return;
    }
    size_t rows = larger->hidden + 1, end = old->slots * larger->hidden * width;
    double *second = vector + larger->slots * larger->hidden * width;
    memmove(second, vector + end, rows * from * sizeof *vector);
    widen_rows(second, rows, from, to);
    memset(vector + end, 0, (size_t)(second - vector - (ptrdiff_t)end) * sizeof *vector);
}

bool kf_problem_resize(struct kf_problem *problem, size_t slots, size_t outputs)
{
    struct kf_objective *objective = &problem->objective;
    assert(slots >= objective->slots && outputs >= objective->outputs);
    if (slots == objective->slots && outputs == objective->outputs)
        return true;
    struct kf_objective old = *objective, larger = old;
    larger.slots = slots;
    larger.outputs = outputs;
    if (objective->hidden)
        kf_read(problem); /* new weights are written into x */
    if (!make_room(problem, &larger)) {
        kf_iterate_moved(problem); /* some have moved all the same */
        return false;
    }
    for (size_t k = 0; k < problem->vector_count; k++)
        spread_vector(*problem->vectors[k], problem->widths[k], &old, &larger);
    objective->slots = slots;
    objective->outputs = outputs;
    if (objective->free)
        objective->free = outputs;
    kf_iterate_moved(problem);
    if (objective->hidden) {
        kf_network_initialise(objective, problem->options->seed, old.slots, old.outputs, problem->x);
        kf_load(problem);
    }
    if (!problem->iterate.scaled)
        kf_project(problem, problem->x); /* a new coordinate may lie outside the domain */
    return true;
}

void kf_copy(const struct kf_problem *problem, double *to, const double *from)
{
    memcpy(to, from, kf_size(problem) * sizeof *to);
}

void kf_clear(const struct kf_problem *problem, double *vector)
{
    memset(vector, 0, kf_size(problem) * sizeof *vector);
}

void kf_project(const struct kf_problem *problem, double *x)
{
    size_t free = problem->objective.free;
    problem->domain.type->project(&problem->domain, kf_size(problem) - free, x + free, problem->scratch);
}
