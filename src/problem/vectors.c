#include "problem/vectors.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool kf_vectors_add(struct kf_vectors *vectors, double **vector, size_t size, size_t width)
{
    assert(vectors->count < KF_VECTORS_MOST && size <= vectors->capacity);
    *vector = kf_allocate_unset(vectors->capacity * width);
    if (!*vector)
        return false;
    memset(*vector, 0, size * width * sizeof **vector);
    vectors->widths[vectors->count] = width;
    vectors->all[vectors->count++] = vector;
    return true;
}

void kf_vectors_free(struct kf_vectors *vectors)
{
    for (size_t k = 0; k < vectors->count; k++) {
        free(*vectors->all[k]);
        *vectors->all[k] = NULL;
    }
    for (size_t k = 0; k < KF_FACTOR_BUFFERS; k++)
        free(vectors->factors[k]);
}

/* What is reserved for growth is not written, and so costs nothing yet. */
static bool grow_to(double **array, size_t used, size_t after)
{
    assert(used <= after);
    double *moved = kf_allocate_unset(after);
    if (!moved)
        return false;
    if (used)
        memcpy(moved, *array, used * sizeof *moved);
    free(*array);
    *array = moved;
    return true;
}

static bool grow_all(struct kf_vectors *vectors, size_t size, size_t needed)
{
    if (needed <= vectors->capacity)
        return true;
    size_t capacity = needed < 32 ? 32 : needed + needed / 2;
    for (size_t k = 0; k < vectors->count; k++)
        if (!grow_to(vectors->all[k], size * vectors->widths[k], capacity * vectors->widths[k]))
            return false;
    vectors->capacity = capacity;
    return true;
}

static bool grow_factors(struct kf_vectors *vectors, size_t needed)
{
    if (needed <= vectors->factor_capacity)
        return true;
    size_t capacity = needed + needed / 2 + 4;
    for (size_t k = 0; k < KF_FACTOR_BUFFERS; k++)
        if (!grow_to(&vectors->factors[k], vectors->factor_capacity, capacity))
            return false;
    vectors->factor_capacity = capacity;
    return true;
}

bool kf_vectors_reserve(struct kf_vectors *vectors, const struct kf_objective *objective,
                        const struct kf_objective *larger)
{
    return grow_all(vectors, kf_dimension(objective), kf_dimension(larger)) &&
           grow_factors(vectors, larger->type->factor_count(larger));
}

/* Spreads rows of `from` numbers to rows of `to` >= from numbers within the same memory, last row first. */
static void widen_rows(double *vector, size_t rows, size_t from, size_t to)
{
    assert(to >= from);
    for (size_t r = rows; r-- > 0;) {
        memmove(vector + r * to, vector + r * from, from * sizeof *vector);
        memset(vector + r * to + from, 0, (to - from) * sizeof *vector);
    }
}

static void rearrange_vector(double *vector, size_t width, const struct kf_objective *old,
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

void kf_vectors_rearrange(struct kf_vectors *vectors, const struct kf_objective *objective,
                          const struct kf_objective *larger)
{
    assert(larger->slots >= objective->slots && larger->outputs >= objective->outputs);
    assert(kf_dimension(larger) <= vectors->capacity);
    for (size_t k = 0; k < vectors->count; k++)
        rearrange_vector(*vectors->all[k], vectors->widths[k], objective, larger);
}
