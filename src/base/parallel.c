#include "base/parallel.h"

#include <pthread.h>
#include <stdbool.h>

#define THREADS_MOST 64

struct task {
    kf_share *share;
    void *context;
    size_t part, parts;
    pthread_t thread;
    bool started;
};

static void *run(void *argument)
{
    const struct task *task = argument;
    task->share(task->context, task->part, task->parts);
    return NULL;
}

void kf_share_out(size_t threads, kf_share *share, void *context)
{
    struct task tasks[THREADS_MOST];
    size_t parts = threads < THREADS_MOST ? threads : THREADS_MOST;
    for (size_t k = 1; k < parts; k++) {
        tasks[k] = (struct task){.share = share, .context = context, .part = k, .parts = parts};
        tasks[k].started = pthread_create(&tasks[k].thread, NULL, run, &tasks[k]) == 0;
    }
    share(context, 0, parts);
    for (size_t k = 1; k < parts; k++)
        if (tasks[k].started)
            pthread_join(tasks[k].thread, NULL);
        else
            run(&tasks[k]);
}
