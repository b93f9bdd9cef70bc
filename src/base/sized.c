#include "base/sized.h"

#include <string.h>

/* How much of a struct of `size` bytes both sides have. */
static size_t shared(const void *given, size_t size, size_t first)
{
    size_t room;
    memcpy(&room, given, sizeof room);
    if (room == 0)
        room = first;
    if (room < sizeof room)
        return sizeof room;
    return room < size ? room : size;
}

void kf_give(void *to, const void *made, size_t size, size_t first)
{
    size_t behind = sizeof size; /* struct_size itself */
    memcpy((char *)to + behind, (const char *)made + behind, shared(to, size, first) - behind);
}

void kf_take(void *own, const void *from, size_t size, size_t first)
{
    size_t count = shared(from, size, first);
    memcpy(own, from, count);
    memset((char *)own + count, 0, size - count);
    memcpy(own, &size, sizeof size);
}
