#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

double *kf_allocate_numbers(size_t count)
{
    if (count >= ALIGNED_BELOW)
        return kf_allocate(count, sizeof(double));
    size_t lines = count / NUMBERS_A_LINE + 1;
    double *numbers = aligned_alloc(CACHE_LINE, lines * CACHE_LINE);
    return numbers ? memset(numbers, 0, lines * CACHE_LINE) : NULL;
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
