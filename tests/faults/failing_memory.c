#include "failing_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* What --wrap makes of the names. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

#define BLOCKS_MOST 4096

/* The library may read on another thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool counting, for_good;
static uint64_t failing, asked, refused;
static const void *held[BLOCKS_MOST]; /* since memory_arm */
static size_t held_count;

void memory_arm(uint64_t k, bool all_after)
{
    pthread_mutex_lock(&lock);
    counting = true;
    for_good = all_after;
    failing = k;
    asked = refused = 0;
    held_count = 0;
    pthread_mutex_unlock(&lock);
}

void memory_disarm(void)
{
    pthread_mutex_lock(&lock);
    failing = 0;
    pthread_mutex_unlock(&lock);
}

uint64_t memory_asked(void)
{
    return asked;
}

uint64_t memory_refused(void)
{
    return refused;
}

uint64_t memory_held(void)
{
    counting = false;
    return held_count;
}

static bool refuses(void)
{
    pthread_mutex_lock(&lock);
    asked += counting;
    bool refuse = counting && failing && (for_good ? asked >= failing : asked == failing);
    refused += refuse;
    pthread_mutex_unlock(&lock);
    if (refuse)
        errno = ENOMEM;
    return refuse;
}

static void *hold(void *block)
{
    pthread_mutex_lock(&lock);
    if (counting && block) {
        if (held_count == BLOCKS_MOST) {
            printf("Bail out! more than %d blocks at once\n", BLOCKS_MOST);
            exit(2);
        }
        held[held_count++] = block;
    }
    pthread_mutex_unlock(&lock);
    return block;
}

/* Blocks from before, and those that the system's library has asked for, are not known here. */
static void let_go(const void *block)
{
    pthread_mutex_lock(&lock);
    for (size_t k = held_count; k-- > 0;)
        if (held[k] == block) {
            held[k] = held[--held_count];
            break;
        }
    pthread_mutex_unlock(&lock);
}

void *__wrap_malloc(size_t size)
{
    return refuses() ? NULL : hold(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuses() ? NULL : hold(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return refuses() ? NULL : hold(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (refuses())
        return NULL;
    let_go(old);
    return hold(__real_realloc(old, size));
}

void __wrap_free(void *block)
{
    let_go(block);
    __real_free(block);
}
