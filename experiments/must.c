#include "must.h"

#include <stdlib.h>

#include "toolkit/exit_code.h"
#include "toolkit/output.h"

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
