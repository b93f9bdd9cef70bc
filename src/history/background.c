#define _POSIX_C_SOURCE 200809L
#include "history/background.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/disk.h"
#include "base/memory.h"

struct kf_background {
    const keepfit_disk *disk;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int file;
    const void *bytes;
    size_t count;
    uint64_t offset;
    bool asked, quit;
    atomic_bool ended; /* looked at for every point, so without the mutex */
    struct kf_background_end end;
};

static struct kf_background_end write_and_sync(const struct kf_background *background)
{
    const keepfit_disk *disk = background->disk;
    int file = background->file;
    int write = kf_disk_write(disk, file, background->bytes, background->count, background->offset);
    return (struct kf_background_end){write, write < 0 ? 0 : disk->sync(disk->context, file)};
}

static void *run(void *argument)
{
    struct kf_background *background = argument;
    pthread_mutex_lock(&background->mutex);
    for (;;) {
        while (!background->asked && !background->quit)
            pthread_cond_wait(&background->changed, &background->mutex);
        if (!background->asked)
            break;
        pthread_mutex_unlock(&background->mutex);
        struct kf_background_end end = write_and_sync(background);
        pthread_mutex_lock(&background->mutex);
        background->end = end;
        background->asked = false;
        background->ended = true;
        pthread_cond_broadcast(&background->changed);
    }
    pthread_mutex_unlock(&background->mutex);
    return NULL;
}

struct kf_background *kf_background_create(const keepfit_disk *disk)
{
    struct kf_background *background = kf_allocate(1, sizeof *background);
    if (!background)
        return NULL;
    background->disk = disk;
    pthread_mutex_init(&background->mutex, NULL);
    pthread_cond_init(&background->changed, NULL);
    if (pthread_create(&background->thread, NULL, run, background) == 0)
        return background;
    pthread_cond_destroy(&background->changed);
    pthread_mutex_destroy(&background->mutex);
    free(background);
    return NULL;
}

void kf_background_free(struct kf_background *background)
{
    if (!background)
        return;
    pthread_mutex_lock(&background->mutex);
    background->quit = true;
    pthread_cond_broadcast(&background->changed);
    pthread_mutex_unlock(&background->mutex);
    pthread_join(background->thread, NULL);
    pthread_cond_destroy(&background->changed);
    pthread_mutex_destroy(&background->mutex);
    free(background);
}

void kf_background_begin(struct kf_background *background, int file, const void *bytes, size_t count, uint64_t offset)
{
    pthread_mutex_lock(&background->mutex);
    background->file = file;
    background->bytes = bytes;
    background->count = count;
    background->offset = offset;
    background->asked = true;
    background->ended = false;
    pthread_mutex_unlock(&background->mutex); /* first, so that who wakes does not have to wait for it */
    pthread_cond_broadcast(&background->changed);
}

bool kf_background_collect(struct kf_background *background, bool wait, struct kf_background_end *end)
{
    if (!wait && !atomic_load_explicit(&background->ended, memory_order_acquire))
        return false;
    pthread_mutex_lock(&background->mutex);
    while (wait && !background->ended)
        pthread_cond_wait(&background->changed, &background->mutex);
    bool ended = background->ended;
    *end = background->end;
    pthread_mutex_unlock(&background->mutex);
    return ended;
}
