#include "history/points.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define BLOCK_DOUBLES ((size_t)1 << 16)

struct kf_block {
    struct kf_block *next, *newer;
    size_t used, size; /* in doubles */
    size_t rows;       /* that have not left */
    double space[];
};

void kf_points_free(struct kf_points *points)
{
    while (points->blocks) {
        struct kf_block *next = points->blocks->next;
        free(points->blocks);
        points->blocks = next;
    }
    if (points->place)
        free(points->place - points->gone);
    memset(points, 0, sizeof *points);
}

void kf_points_clear(struct kf_points *points)
{
    while (points->blocks && points->blocks->next) { /* keeps the oldest */
        struct kf_block *next = points->blocks->next;
        free(points->blocks);
        points->blocks = next;
    }
    if (points->blocks) {
        points->blocks->used = points->blocks->rows = 0;
        points->blocks->newer = NULL;
    }
    points->oldest = points->blocks;
    if (points->place)
        points->place -= points->gone;
    points->gone = 0;
    points->count = 0;
    points->entries = 0;
}

static double *take_space(struct kf_points *points, size_t doubles)
{
    struct kf_block *block = points->blocks;
    if (!block || block->size - block->used < doubles) {
        size_t size = doubles > BLOCK_DOUBLES ? doubles : BLOCK_DOUBLES;
        if (size > (SIZE_MAX - sizeof *block) / sizeof(double))
            return NULL;
        block = kf_allocate_raw(sizeof *block + size * sizeof(double));
        if (!block)
            return NULL;
        *block = (struct kf_block){.next = points->blocks, .used = 0, .size = size};
        if (points->blocks)
            points->blocks->newer = block;
        else
            points->oldest = block;
        points->blocks = block;
    }
    double *space = block->space + block->used;
    block->used += doubles;
    block->rows++;
    return space;
}

/* Indices that ascend strictly and end at count-1 are 0 .. count-1. */
static bool is_dense(const keepfit_row *row)
{
    return !row->index || row->count == 0 || row->index[row->count - 1] == row->count - 1;
}

static void copy_indices(uint32_t *to, const keepfit_row *row, uint32_t shift)
{
    for (size_t k = 0; k < row->count; k++)
        to[k] = row->index[k] + shift;
}

/* Room for one more place: what the oldest have left behind is used first, once it is as much as is in use. */
static bool reserve_place(struct kf_points *points)
{
    struct kf_place *base = points->place ? points->place - points->gone : NULL;
    if (points->gone > points->count) {
        memmove(base, points->place, points->count * sizeof *base);
        points->gone = 0;
    }
    bool room = KF_RESERVE(base, points->place_capacity, points->gone + points->count + 1);
    points->place = base + points->gone;
    return room;
}

/* Rows lie in their blocks in the order in which they came. */
static struct kf_block *block_of(const struct kf_points *points, size_t j)
{
    struct kf_block *block = points->oldest;
    for (size_t before = block->rows; before <= j; before += block->rows)
        block = block->newer;
    return block;
}

static void drop_block(struct kf_points *points, struct kf_block *block)
{
    if (block->next)
        block->next->newer = block->newer;
    else
        points->oldest = block->newer;
    block->newer->next = block->next;
    free(block);
}

void kf_points_close_gap(double *numbers, size_t count, size_t each, size_t j)
{
    memmove(numbers + j * each, numbers + (j + 1) * each, (count - j - 1) * each * sizeof *numbers);
}

void kf_points_remove(struct kf_points *points, size_t j)
{
    struct kf_block *block = block_of(points, j);
    points->entries -= points->place[j].count;
    if (--block->rows == 0 && block != points->blocks)
        drop_block(points, block);
    if (j == 0) {
        points->place++;
        points->gone++;
    } else {
        memmove(points->place + j, points->place + j + 1, (points->count - j - 1) * sizeof *points->place);
    }
    points->count--;
}

bool kf_points_append(struct kf_points *points, const keepfit_point *point, const double *lead)
{
    const keepfit_row *row = &point->row;
    size_t extra = lead != NULL, count = row->count + extra;
    assert(count <= UINT32_MAX);
    if (!reserve_place(points))
        return false;
    bool dense = is_dense(row);
    double *value = take_space(points, dense ? count : count + (count + 1) / 2);
    if (!value)
        return false;
    if (lead)
        value[0] = *lead;
    if (row->count)
        memcpy(value + extra, row->value, row->count * sizeof *value);
    if (!dense) {
        uint32_t *index = (uint32_t *)(value + count);
        index[0] = 0;
        copy_indices(index + extra, row, (uint32_t)extra);
    }
    points->entries += count;
    points->place[points->count++] = (struct kf_place){
        .value = value, .count = (uint32_t)count, .dense = dense, .target = point->target, .weight = point->weight};
    return true;
}
