#define _DEFAULT_SOURCE
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CACHE_LINE 64
#define NUMBERS_A_LINE (CACHE_LINE / sizeof(double))
/* Longer arrays are not in the nearest cache anyway, and are better left untouched until used. */
#define ALIGNED_BELOW 65536

void *kf_allocate(size_t count, size_t size)
{
    return calloc(count ? count : 1, size);
}

void *kf_allocate_raw(size_t size)
{
    return malloc(size ? size : 1);
}

void *kf_allocate_pages(size_t pages)
{
    if (pages > SIZE_MAX / KF_LARGE_PAGE)
        return NULL;
    void *memory = aligned_alloc(KF_LARGE_PAGE, pages * KF_LARGE_PAGE);
#ifdef MADV_HUGEPAGE
    if (memory) /* where there are none it works with small ones */
        madvise(memory, pages * KF_LARGE_PAGE, MADV_HUGEPAGE);
#endif
    return memory;
}

double *kf_allocate_unset(size_t count)
{
    if (count > SIZE_MAX / sizeof(double) - NUMBERS_A_LINE)
        return NULL;
    return aligned_alloc(CACHE_LINE, (count / NUMBERS_A_LINE + 1) * CACHE_LINE);
}

double *kf_allocate_numbers(size_t count)
{
    if (count >= ALIGNED_BELOW)
        return kf_allocate(count, sizeof(double));
    double *numbers = kf_allocate_unset(count);
    return numbers ? memset(numbers, 0, count * sizeof *numbers) : NULL;
}

bool kf_reserve(void **array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    size_t larger = *capacity > SIZE_MAX / 2 ? SIZE_MAX : 2 * *capacity;
    if (larger < 16)
        larger = 16;
    if (larger < needed)
        larger = needed;
    if (larger > SIZE_MAX / size)
        return false;
    char *moved = realloc(*array, larger * size);
    if (!moved)
        return false;
    *array = moved;
    *capacity = larger;
    return true;
}

char *kf_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = kf_allocate_raw(size);
    return copy ? memcpy(copy, text, size) : NULL;
}
