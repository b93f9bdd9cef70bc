#include "stream/ahead.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "stream/marks.h"

#define BATCHES 3
#define BATCH_POINTS 512
#define BATCH_ENTRIES 16384

struct batch {
    struct kf_points points;
    struct kf_marks marks;                         /* where they have any */
    struct kf_progress progress[BATCH_POINTS + 1]; /* with each point, and with what follows the last */
    keepfit_status end;                            /* what that is; KEEPFIT_OK: more */
    keepfit_error error;
};

struct kf_ahead {
    kf_pull *pull;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct batch batch[BATCHES];
    uint64_t filled, emptied; /* batches so far; batch k lies in place k mod BATCHES */
    atomic_bool stop;
    bool holding;    /* the caller has a batch */
    size_t position; /* of the caller in it */
};

static struct batch *place_of(struct kf_ahead *ahead, uint64_t number)
{
    return &ahead->batch[number % BATCHES];
}

static void fill(struct kf_ahead *ahead, struct batch *batch)
{
    struct kf_points *points = &batch->points;
    kf_points_clear(points);
    kf_marks_clear(&batch->marks);
    batch->end = KEEPFIT_OK;
    while (points->count < BATCH_POINTS && points->entries < BATCH_ENTRIES) {
        keepfit_point point;
        const struct kf_progress *progress = &batch->progress[points->count];
        batch->end = ahead->pull(ahead->context, &point, &batch->progress[points->count], &batch->error);
        bool marked = batch->end == KEEPFIT_OK && progress->marked;
        if (marked && !kf_marks_append(&batch->marks, progress->key, progress->time))
            batch->end = kf_fail_memory(&batch->error);
        if (batch->end == KEEPFIT_OK && !kf_points_append(points, &point, NULL))
            batch->end = kf_fail_memory(&batch->error);
        if (batch->end != KEEPFIT_OK)
            return;
    }
}

static void *read_ahead(void *argument)
{
    struct kf_ahead *ahead = argument;
    bool more = true;
    while (more && !atomic_load(&ahead->stop)) {
        pthread_mutex_lock(&ahead->lock);
        while (ahead->filled - ahead->emptied == BATCHES && !atomic_load(&ahead->stop))
            pthread_cond_wait(&ahead->changed, &ahead->lock);
        struct batch *batch = place_of(ahead, ahead->filled);
        pthread_mutex_unlock(&ahead->lock);
        if (atomic_load(&ahead->stop))
            break;
        fill(ahead, batch);
        more = batch->end == KEEPFIT_OK;
        pthread_mutex_lock(&ahead->lock);
        ahead->filled++;
        pthread_cond_broadcast(&ahead->changed);
        pthread_mutex_unlock(&ahead->lock);
    }
    return NULL;
}

struct kf_ahead *kf_ahead_start(kf_pull *pull, void *context)
{
    struct kf_ahead *ahead = kf_allocate(1, sizeof *ahead);
    if (!ahead)
        return NULL;
    ahead->pull = pull;
    ahead->context = context;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    if (pthread_create(&ahead->thread, NULL, read_ahead, ahead) == 0)
        return ahead;
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
    return NULL;
}

void kf_ahead_stop(struct kf_ahead *ahead)
{
    if (!ahead)
        return;
    pthread_mutex_lock(&ahead->lock);
    atomic_store(&ahead->stop, true);
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    for (size_t k = 0; k < BATCHES; k++) {
        kf_points_free(&ahead->batch[k].points);
        kf_marks_free(&ahead->batch[k].marks);
    }
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}

/* Gives the used batch back and waits for the one after it. */
static void change_batch(struct kf_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    if (ahead->holding)
        ahead->emptied++;
    ahead->holding = true;
    ahead->position = 0;
    pthread_cond_broadcast(&ahead->changed);
    while (ahead->filled == ahead->emptied)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
}

keepfit_status kf_ahead_next(struct kf_ahead *ahead, keepfit_point *point, struct kf_progress *progress,
                             keepfit_error *error)
{
    struct batch *batch = place_of(ahead, ahead->emptied);
    while (!ahead->holding || (ahead->position == batch->points.count && batch->end == KEEPFIT_OK)) {
        change_batch(ahead);
        batch = place_of(ahead, ahead->emptied);
    }
    *progress = batch->progress[ahead->position];
    if (ahead->position == batch->points.count) {
        kf_error_give(error, &batch->error);
        return batch->end;
    }
    kf_marks_show(&batch->marks, ahead->position, &progress->key, &progress->time);
    const struct kf_place *place = &batch->points.place[ahead->position];
    *point = (keepfit_point){.row = kf_points_row(&batch->points, ahead->position),
                             .target = place->target,
                             .weight = place->weight,
                             .weightless = place->weight == 0};
    ahead->position++;
    return KEEPFIT_OK;
}
