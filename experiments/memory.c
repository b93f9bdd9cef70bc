#include "memory.h"

#include <stdlib.h>

#include "arguments.h"
#include "output.h"

void *must_have(void *space)
{
    if (!space)
        exit(fail(EXIT_FAILED, "out of memory"));
    return space;
}

void *must_allocate(size_t bytes)
{
    return must_have(calloc(bytes ? bytes : 1, 1));
}

void *must_resize(void *old, size_t bytes)
{
    return must_have(realloc(old, bytes ? bytes : 1));
}
