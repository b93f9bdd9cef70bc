#include "history/points.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/far.h"

#ifndef KF_BLOCK_DOUBLES
#define KF_BLOCK_DOUBLES ((size_t)1 << 16)
#endif

#ifndef KF_LARGE_DOUBLES
#define KF_LARGE_DOUBLES ((KF_LARGE_PAGE - sizeof(struct kf_block)) / sizeof(double))
#endif

struct kf_block {
    struct kf_block *next, *newer;
    size_t used, size; /* in doubles; a size of 0 stands for rows that lie elsewhere */
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
    points->closed = false;
    if (points->place)
        points->place -= points->gone;
    points->gone = 0;
    points->count = 0;
    points->entries = 0;
    points->arrived = 0;
}

/* A new newest block, with room for so many doubles; NULL: out of memory. */
static struct kf_block *add_block(struct kf_points *points, size_t doubles)
{
    struct kf_block *block = NULL;
    if (doubles > (SIZE_MAX - sizeof *block) / sizeof(double))
        return NULL;
    size_t bytes = sizeof *block + doubles * sizeof(double), pages = bytes / KF_LARGE_PAGE;
    block = pages ? kf_allocate_pages(pages + (bytes % KF_LARGE_PAGE > 0)) : kf_allocate_raw(bytes);
    if (!block)
        return NULL;
    *block = (struct kf_block){.next = points->blocks, .size = doubles};
    if (points->blocks)
        points->blocks->newer = block;
    else
        points->oldest = block;
    points->blocks = block;
    points->closed = false;
    return block;
}

/* Only a block that follows a full one is large: few rows may be all, and those that wait to be lent are. */
static size_t usual_size(const struct kf_points *points)
{
    bool follows = points->blocks && !points->closed && points->blocks->size >= KF_BLOCK_DOUBLES;
    return follows ? KF_LARGE_DOUBLES : KF_BLOCK_DOUBLES;
}

static double *take_space(struct kf_points *points, size_t doubles)
{
    struct kf_block *block = points->blocks;
    if (!block || points->closed || block->size - block->used < doubles || block->size == 0)
        block = add_block(points, doubles > usual_size(points) ? doubles : usual_size(points));
    if (!block)
        return NULL;
    double *space = block->space + block->used;
    block->used += doubles;
    block->rows++;
    return space;
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
    if (points->far)
        kf_far_forget(points);
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

/* Where the point that is about to come begins a new block, a team's rows of the one before stay with one rank. False: out of memory. */
static bool deal(struct kf_points *points)
{
    size_t first = points->count;
    uint32_t next = (uint32_t)(points->arrived >> KF_BLOCK_BITS & 0x3fffffff);
    if (!points->far || first == 0 || points->place[first - 1].block == next)
        return true;
    while (first > 0 && points->place[first - 1].block == points->place[points->count - 1].block)
        first--;
    bool keeps = kf_far_keeps(points->far, points->place[first].block);
    if (points->place[first].value && !keeps) {
        if (!kf_points_lend(points, first))
            return false;
        for (size_t j = first; j < points->count; j++)
            points->place[j].value = NULL;
    }
    if (!(keeps && kf_far_keeps(points->far, next))) /* rows that stay lie together, in large blocks of memory */
        kf_points_close_block(points);
    return true;
}

bool kf_points_append(struct kf_points *points, const keepfit_point *point, const struct kf_lead *lead)
{
    struct kf_shape shape = kf_row_shape(&point->row, lead);
    assert(shape.count <= UINT32_MAX);
    double *value = reserve_place(points) && deal(points) ? take_space(points, shape.room) : NULL;
    if (!value)
        return false;
    kf_row_lay(&point->row, lead, &shape, value);
    points->entries += shape.count;
    points->place[points->count++] = (struct kf_place){.value = value,
                                                       .count = (uint32_t)shape.count,
                                                       .dense = shape.dense,
                                                       .target = point->target,
                                                       .weight = point->weight};
    kf_points_number(points, points->count - 1, points->arrived + 1);
    return true;
}

/* Of a team's rows each rank keeps its own in memory, and the others not at all. */
static bool append_copy(struct kf_points *points, const struct kf_place *place)
{
    size_t room = place->count + (place->dense ? 0 : ((size_t)place->count + 1) / 2);
    double *value = reserve_place(points) && deal(points) ? take_space(points, room) : NULL;
    if (!value)
        return false;
    memcpy(value, place->value, place->count * (place->dense ? sizeof(double) : sizeof(double) + sizeof(uint32_t)));
    points->entries += place->count;
    points->place[points->count] = *place;
    points->place[points->count++].value = value;
    kf_points_number(points, points->count - 1, points->arrived + 1);
    return true;
}

bool kf_points_append_lent(struct kf_points *points, const struct kf_place *place)
{
    struct kf_block *block = points->blocks;
    if (points->far)
        return append_copy(points, place);
    if (!reserve_place(points))
        return false;
    if (!block || block->size > 0)
        block = add_block(points, 0);
    if (!block)
        return false;
    block->rows++;
    points->entries += place->count;
    points->place[points->count++] = *place;
    kf_points_number(points, points->count - 1, points->arrived + 1);
    return true;
}

void kf_points_close_block(struct kf_points *points)
{
    points->closed = true;
}

bool kf_points_lend(struct kf_points *points, size_t first)
{
    size_t rows = points->count - first;
    struct kf_block *lent = kf_allocate_raw(sizeof *lent);
    if (!lent)
        return false;
    for (size_t freed = 0; freed < rows;) {
        struct kf_block *next = points->blocks->next;
        freed += points->blocks->rows;
        assert(freed <= rows && points->blocks->size > 0);
        free(points->blocks);
        points->blocks = next;
    }
    *lent = (struct kf_block){.next = points->blocks, .rows = rows};
    if (points->blocks)
        points->blocks->newer = lent;
    else
        points->oldest = lent;
    points->blocks = lent;
    return true;
}
