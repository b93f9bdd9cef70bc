#include "iterate/problem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/kernels.h"

keepfit_status kf_problem_create(struct kf_problem *problem, const keepfit_options *options, keepfit_error *error)
{
    memset(problem, 0, sizeof *problem);
    problem->options = options;
    problem->bound = NAN;
    problem->objective.points = &problem->points;
    problem->objective.delta = options->delta;
    kf_random_seed(&problem->random, options->seed);
    keepfit_status status = kf_domain_read(&problem->domain, options->domain, error);
    if (status != KEEPFIT_OK)
        return status;
    if (!kf_problem_vector(problem, &problem->x) || !kf_problem_vector(problem, &problem->scratch) ||
        !kf_problem_vector(problem, &problem->spare))
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
    kf_points_free(&problem->points);
}

bool kf_problem_vector(struct kf_problem *problem, double **vector)
{
    assert(problem->vector_count < KF_VECTORS_MOST);
    *vector = kf_allocate(problem->vector_capacity, sizeof **vector);
    if (*vector)
        problem->vectors[problem->vector_count++] = vector;
    return *vector != NULL;
}

/* Spreads rows of `from` numbers to rows of `to` >= from numbers within the same memory, last row first. */
static void widen_rows(double *vector, size_t rows, size_t from, size_t to)
{
    for (size_t r = rows; r-- > 0;) {
        memmove(vector + r * to, vector + r * from, from * sizeof *vector);
        memset(vector + r * to + from, 0, (to - from) * sizeof *vector);
    }
}

static bool grow_to(double **array, size_t before, size_t after)
{
    double *moved = realloc(*array, (after ? after : 1) * sizeof *moved);
    if (!moved)
        return false;
    if (after > before)
        memset(moved + before, 0, (after - before) * sizeof *moved);
    *array = moved;
    return true;
}

static bool grow_vectors(struct kf_problem *problem, size_t needed)
{
    if (needed <= problem->vector_capacity)
        return true;
    size_t capacity = needed < 32 ? 32 : needed + needed / 2;
    for (size_t k = 0; k < problem->vector_count; k++)
        if (!grow_to(problem->vectors[k], problem->vector_capacity, capacity))
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
    if (!grow_to(&problem->objective.scores, problem->factor_capacity, capacity))
        return false;
    problem->factor_capacity = capacity;
    return true;
}

bool kf_problem_resize(struct kf_problem *problem, size_t slots, size_t outputs)
{
    struct kf_objective *objective = &problem->objective;
    size_t old_slots = objective->slots, old_outputs = objective->outputs;
    assert(slots >= old_slots && outputs >= old_outputs);
    if (slots == old_slots && outputs == old_outputs)
        return true;
    if (slots > SIZE_MAX / sizeof(double) / 2 / outputs)
        return false;
    size_t factors = objective->callbacks ? slots * outputs : outputs;
    if (!grow_vectors(problem, slots * outputs) || !grow_factors(problem, factors))
        return false;
    if (outputs > old_outputs && old_outputs > 0)
        for (size_t k = 0; k < problem->vector_count; k++)
            widen_rows(*problem->vectors[k], old_slots, old_outputs, outputs);
    objective->slots = slots;
    objective->outputs = outputs;
    if (objective->free)
        objective->free = outputs;
    kf_project(problem, problem->x);
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

void kf_step(struct kf_problem *problem, double *x, double step, const double *drift, double drift_scale,
             const struct kf_term *terms, size_t count)
{
    const struct kf_objective *objective = &problem->objective;
    size_t free = objective->free, rest = kf_size(problem) - free;
    double keep = 1 - 2 * objective->lambda * step;
    if (drift) {
        kf_add(free, -step * drift_scale, drift, x);
        kf_blend(rest, keep, x + free, -step * drift_scale, drift + free);
    } else {
        kf_scale(rest, keep, x + free);
    }
    for (size_t k = 0; k < count; k++)
        objective->type->add(objective, -step * terms[k].scale, terms[k].point, terms[k].factors, x);
    kf_project(problem, x);
    problem->steps++;
}

void kf_average_start(struct kf_average *average)
{
    average->weight = 0;
}

void kf_average_add(const struct kf_problem *problem, struct kf_average *average, double weight, const double *x)
{
    average->weight += weight;
    if (average->weight > 0) {
        double share = weight / average->weight;
        if (share == 1)
            kf_copy(problem, average->mean, x); /* whatever the mean held before, even NaN */
        else
            kf_blend(kf_size(problem), 1 - share, average->mean, share, x);
    }
}

double kf_gap_bound(const struct kf_problem *problem, const double *x, const double *gradient)
{
    double mu = 2 * problem->objective.lambda;
    if (!(mu > 0) || problem->objective.free)
        return NAN;
    size_t size = kf_size(problem);
    if (kf_domain_is_whole(&problem->domain))
        return kf_square(size, gradient) / (2 * mu);
    double *y = problem->spare;
    for (size_t k = 0; k < size; k++)
        y[k] = x[k] - gradient[k] / mu;
    kf_project(problem, y);
    double bound = 0;
    for (size_t k = 0; k < size; k++) {
        double move = x[k] - y[k];
        bound += gradient[k] * move - mu / 2 * move * move;
    }
    return bound > 0 ? bound : 0;
}
