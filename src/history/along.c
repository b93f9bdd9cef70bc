#include "history/along.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void kf_along_free(struct kf_along *along)
{
    if (along->value)
        free(along->value - along->gone);
    *along = (struct kf_along){0};
}

bool kf_along_append(struct kf_along *along, double number)
{
    double *base = along->value ? along->value - along->gone : NULL;
    if (along->gone > along->count) { /* what the oldest have left behind is as much as is in use */
        memmove(base, along->value, along->count * sizeof *base);
        along->gone = 0;
    }
    bool room = KF_RESERVE(base, along->capacity, along->gone + along->count + 1);
    along->value = base ? base + along->gone : NULL;
    if (room)
        along->value[along->count++] = number;
    return room;
}

void kf_along_remove(struct kf_along *along, size_t j)
{
    assert(j < along->count);
    along->count--;
    if (j == 0) {
        along->value++;
        along->gone++;
    } else {
        memmove(along->value + j, along->value + j + 1, (along->count - j) * sizeof *along->value);
    }
}
