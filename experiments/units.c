/* units.c - the units of work on threads, each one's numbers a file of its own under OUT/units.
 *
 * A unit whose file is there with the same key is not done again. A file appears only when its unit is done, so a run that is
 * stopped at any time goes on where it was. Long units go first, so that no thread is left alone with one at the end. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/exit_code.h"
#include "experiment.h"
#include "must.h"
#include "toolkit/output.h"
#include "toolkit/progress.h"
#include "toolkit/stop.h"

struct work {
    struct unit **queue; /* what is to be done, longest first */
    size_t count, next;
    double cost; /* of all in the queue */
    char *folder;
    struct progress progress;
    pthread_mutex_t lock;
    int code;
};

static struct work work = {
    .lock = PTHREAD_MUTEX_INITIALIZER}; /* one at a time: units report their progress from anywhere */

struct unit *plan_unit(struct plan *plan, uint64_t run, const void *parameters, size_t size)
{
    if (plan->count == plan->room) {
        plan->room = plan->room ? 2 * plan->room : 64;
        plan->units = must_resize(plan->units, plan->room * sizeof *plan->units);
    }
    struct unit *unit = &plan->units[plan->count++];
    void *copy = must_allocate(size);
    memcpy(copy, parameters, size);
    *unit = (struct unit){.parameters = copy, .seed = plan->setting->seed + run, .cost = 1};
    return unit;
}

void plan_free(struct plan *plan)
{
    for (size_t k = 0; k < plan->count; k++) {
        frame_free(&plan->units[k].frame);
        free(plan->units[k].parameters);
    }
    free(plan->units);
}

/* Under the lock: nobody failed, and the user has not stopped it. */
static bool may_go_on(void)
{
    return work.code == EXIT_DONE && !stop_signal;
}

bool unit_tick(struct unit *unit, double share)
{
    pthread_mutex_lock(&work.lock);
    unit->share = share;
    double done = 0;
    for (size_t k = 0; k < work.next && k < work.count; k++)
        done += work.queue[k]->cost * work.queue[k]->share;
    progress_share(&work.progress, "reproducing", done / work.cost);
    bool go_on = may_go_on();
    pthread_mutex_unlock(&work.lock);
    return go_on;
}

static char *file_of(const struct unit *unit, const char *folder)
{
    char name[sizeof unit->name + 8];
    snprintf(name, sizeof name, "%s.csv", unit->name);
    return must_have(path_in(folder, name));
}

static int do_unit(struct unit *unit)
{
    frame_start(&unit->frame, unit->columns);
    int code = unit->run(unit);
    if (code != EXIT_DONE || !unit_tick(unit, 1)) /* a unit that was told to give up is not whole */
        return code;
    char *path = file_of(unit, work.folder);
    code = frame_write(&unit->frame, unit->key, path);
    free(path);
    return code;
}

static void *worker(void *argument)
{
    (void)argument;
    for (;;) {
        pthread_mutex_lock(&work.lock);
        struct unit *unit = may_go_on() && work.next < work.count ? work.queue[work.next++] : NULL;
        pthread_mutex_unlock(&work.lock);
        if (!unit)
            return NULL;
        int code = do_unit(unit);
        pthread_mutex_lock(&work.lock);
        if (work.code == EXIT_DONE)
            work.code = code;
        pthread_mutex_unlock(&work.lock);
    }
}

static int by_cost(const void *a, const void *b)
{
    const struct unit *left = *(struct unit *const *)a, *right = *(struct unit *const *)b;
    if (left->cost != right->cost)
        return left->cost > right->cost ? -1 : 1;
    return left < right ? -1 : 1; /* as planned */
}

/* Everything whose file is missing or has another key. */
static void fill_queue(struct plan *plan)
{
    work.queue = must_allocate(plan->count * sizeof *work.queue);
    for (size_t k = 0; k < plan->count; k++) {
        struct unit *unit = &plan->units[k];
        char *path = file_of(unit, work.folder);
        if (!frame_read(&unit->frame, unit->columns, unit->key, path)) {
            work.queue[work.count++] = unit;
            work.cost += unit->cost;
        }
        free(path);
    }
    qsort(work.queue, work.count, sizeof(struct unit *), by_cost);
}

static void run_on_threads(size_t threads)
{
    size_t started = 0;
    pthread_t *others = must_allocate(threads * sizeof *others);
    while (started + 1 < threads && pthread_create(&others[started], NULL, worker, NULL) == 0)
        started++;
    worker(NULL);
    for (size_t k = 0; k < started; k++)
        pthread_join(others[k], NULL);
    free(others);
}

int units_run(struct plan *plan)
{
    const struct setting *setting = plan->setting;
    work.folder = must_have(path_in(setting->out, "units"));
    int code = make_folder(work.folder);
    if (code == EXIT_DONE) {
        fill_queue(plan);
        if (!setting->quiet && work.count < plan->count)
            fprintf(stderr, "keepfit: %zu of %zu units of work are done already in %s\n", plan->count - work.count,
                    plan->count, work.folder);
        progress_start(&work.progress, setting->quiet);
        run_on_threads(setting->threads < work.count ? setting->threads : work.count);
        progress_end(&work.progress);
        code = work.code;
    }
    free(work.queue);
    free(work.folder);
    if (code == EXIT_DONE && stop_signal) {
        fail(stop_code(), "stopped; the same command goes on from here");
        return stop_code();
    }
    return code;
}
