/* Memory: arrays that grow by doubling, with every size computation checked. All memory of the library is asked for here;
 * it is given back with free. */
#ifndef KF_MEMORY_H
#define KF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* count * size bytes, zeroed; NULL when there are none or the product overflows. */
void *kf_allocate(size_t count, size_t size);

/* `size` bytes that hold nothing yet. */
void *kf_allocate_raw(size_t size);

/* The same in large pages, where the system has them: asking for each small page when it is first written takes longer than writing
 * it, and a table of many is slow to look places up in. */
#define KF_LARGE_PAGE ((size_t)1 << 21)
void *kf_allocate_pages(size_t pages);

/* kf_allocate for numbers that vector instructions run over: aligned to cache lines unless there are very many. */
double *kf_allocate_numbers(size_t count);
/* Always aligned, and not zeroed: numbers that are never written take no room. */
double *kf_allocate_unset(size_t count);

/* Makes room for `needed` elements of `size` bytes. *capacity counts elements and at least doubles when it grows; new
 * elements hold nothing yet, and memory that is never written is never used. On failure *array and *capacity stay as they were. */
bool kf_reserve(void **array, size_t *capacity, size_t needed, size_t size);

#define KF_RESERVE(array, capacity, needed) kf_reserve((void **)&(array), &(capacity), (needed), sizeof *(array))

char *kf_copy_text(const char *text);

#endif
