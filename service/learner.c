/* The learner: one thread that owns the fits. It takes all requests that have come meanwhile, learns from one after the other, makes all of it
 * durable with one sync, publishes the model, and only then answers: who has an answer finds the points in every later prediction. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "service/events.h"
#include "service/log.h"
#include "service/service.h"

#define GROUP_MOST 512                /* requests that share a sync */
#define GROUP_BYTES ((size_t)1 << 22) /* of their bodies */

bool learner_submit(struct exchange *exchange)
{
    struct service *service = exchange->service;
    size_t bytes = exchange->body.count + 1024;
    pthread_mutex_lock(&service->lock);
    bool full = service->queued >= service->limits.queue || service->queued_bytes + bytes > service->limits.queue_bytes;
    bool ending = service->ending;
    if (!full && !ending) {
        exchange->next = NULL;
        *(service->last ? &service->last->next : &service->first) = exchange;
        service->last = exchange;
        service->queued++;
        service->queued_bytes += bytes;
        pthread_cond_signal(&service->wake);
    }
    pthread_mutex_unlock(&service->lock);
    if (ending) {
        exchange->answer.retry_after = 2;
        return trouble_set(&exchange->trouble, 503, "stopping", "the service is about to end");
    }
    if (full) {
        exchange->answer.retry_after = 1;
        atomic_fetch_add(&service->counters.refused_full, 1);
        return trouble_set(&exchange->trouble, 429, "busy", "more requests wait than are let wait; try again later");
    }
    return true;
}

/* What waits, up to a group; waits itself for at most a second. NULL: nothing came. */
static struct exchange *take_group(struct service *service)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&service->lock);
    while (!service->first && !service->ending)
        if (pthread_cond_timedwait(&service->wake, &service->lock, &until) == ETIMEDOUT)
            break;
    struct exchange *group = service->first, *last = group;
    size_t bytes = 0, count = 0;
    for (struct exchange *at = group; at && count < GROUP_MOST && (count == 0 || bytes < GROUP_BYTES); at = at->next) {
        bytes += at->body.count;
        count++;
        last = at;
        service->queued--;
        service->queued_bytes -= at->body.count + 1024;
    }
    if (last) {
        service->first = last->next;
        service->last = last->next ? service->last : NULL;
        last->next = NULL;
    }
    pthread_mutex_unlock(&service->lock);
    return group;
}

/* ---- a group ---- */

static void refuse_dead(struct exchange *exchange, const keepfit_error *failure)
{
    trouble_library(&exchange->trouble, failure->status, failure);
}

static void finish(struct exchange *exchange, uint64_t safe)
{
    struct answer *answer = &exchange->answer;
    struct text *text = &answer->text;
    if (exchange->trouble.status || !exchange->learnt)
        return;
    answer->status = 200;
    answer->type = "application/json";
    text_put(text, "{\"stage\":");
    text_count(text, exchange->stage);
    if (exchange->removed) {
        text_put(text, ",\"removed\":");
        if (exchange->first)
            text_count(text, exchange->first);
        else
            text_string(text, exchange->tail);
    } else {
        text_put(text, ",\"first\":");
        text_count(text, exchange->first);
        text_put(text, ",\"last\":");
        text_count(text, exchange->last);
    }
    text_put(text, ",\"bound\":");
    text_number(text, exchange->bound);
    text_put(text, exchange->removed || safe >= exchange->last ? ",\"safe\":true}\n" : ",\"safe\":false}\n");
}

/* A removal has no number by which to say that it is safe, so it always is. */
static keepfit_status make_durable(struct service *service, bool changed, bool removed)
{
    keepfit_fit *fit = service->models[0].fit;
    keepfit_status status = KEEPFIT_OK;
    if (changed && (service->always || removed)) {
        status = keepfit_fit_sync(fit);
        atomic_fetch_add(&service->counters.syncs, 1);
    }
    if (status == KEEPFIT_OK && changed)
        status = memory_gather(service->memory, fit, false);
    return status;
}

static void fail_for_good(struct service *service, const keepfit_error *error)
{
    if (service->failure.status)
        return;
    service->failure = *error;
    atomic_store(&service->state, STATE_FAILED);
    log_line(service->log, "error", "learning has ended: %s", error->message);
}

static void answer_group(struct exchange *group, uint64_t safe)
{
    for (struct exchange *at = group, *next; at; at = next) {
        next = at->next;
        finish(at, safe);
        at->ready(at);
    }
}

static void work_group(struct service *service, struct exchange *group)
{
    struct trained *trained = &service->models[0];
    keepfit_durability durability = {.struct_size = sizeof durability};
    uint64_t begin = clock_nanoseconds();
    bool changed = false, removed = false;
    for (struct exchange *at = group; at; at = at->next) {
        if (service->failure.status && at->route->scope != SCOPE_READ)
            refuse_dead(at, &service->failure);
        else
            at->route->learner(at);
        removed = removed || at->removed;
        changed = changed || at->learnt || at->route->learner == predict_wait;
        keepfit_status status = at->trouble.status == 500 ? keepfit_fit_error(trained->fit)->status : KEEPFIT_OK;
        if (keepfit_failed(status))
            fail_for_good(service, keepfit_fit_error(trained->fit));
    }
    keepfit_status status = service->failure.status ? service->failure.status : make_durable(service, changed, removed);
    if (status != KEEPFIT_OK && !service->failure.status)
        fail_for_good(service, keepfit_fit_error(trained->fit));
    for (struct exchange *at = group; at && service->failure.status; at = at->next)
        if (at->learnt)
            refuse_dead(at, &service->failure);
    trained->late = *memory_validation(service->memory);
    if (changed && !service->failure.status && current_publish(trained) != KEEPFIT_OK)
        log_line(service->log, "warning", "the model could not be published: out of memory");
    keepfit_fit_durability(trained->fit, &durability);
    atomic_store(&service->counters.waiting, memory_waiting_count(service->memory));
    atomic_fetch_add(&service->counters.groups, 1);
    atomic_fetch_add(&service->counters.learn_nanoseconds, clock_nanoseconds() - begin);
    answer_group(group, durability.safe);
    events_tell(service);
}

/* Nothing has come for a while: what is not safe yet becomes so. */
static void rest(struct service *service)
{
    keepfit_fit *fit = service->models[0].fit;
    keepfit_durability durability = {.struct_size = sizeof durability};
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_durability(fit, &durability);
    keepfit_fit_report(fit, &report);
    if (!service->failure.status && durability.safe < report.stage) {
        if (keepfit_fit_sync(fit) != KEEPFIT_OK)
            fail_for_good(service, keepfit_fit_error(fit));
        else
            current_publish(&service->models[0]);
    }
    memory_expire(service->memory);
    events_tell(service);
}

/* ---- the thread ---- */

/* A clock that has been put back does not come before the points that are there. */
static void find_latest(struct trained *trained)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_mark mark = {.struct_size = sizeof mark};
    keepfit_fit_report(trained->fit, &report);
    if (trained->timed && report.points && keepfit_fit_mark(trained->fit, report.points - 1, &mark) == KEEPFIT_OK)
        trained->latest = mark.time;
}

/* Takes over the journal. */
static bool begin(struct service *service)
{
    struct trained *trained = &service->models[0];
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_status status = keepfit_fit_create(trained->options, &trained->fit, &error);
    if (status == KEEPFIT_OK) {
        status = memory_recall(service->memory, trained->fit);
        if (status != KEEPFIT_OK && !error.message[0]) {
            error.status = status;
            strcpy(error.message, "the journal's notes are not those of a service");
        }
    }
    if (status == KEEPFIT_OK)
        find_latest(trained);
    trained->late = *memory_validation(service->memory);
    if (status == KEEPFIT_OK && (status = current_publish(trained)) != KEEPFIT_OK)
        error.status = status;
    if (status == KEEPFIT_OK)
        return true;
    service->failure = error;
    service->failure.status = status;
    return false;
}

static void end(struct service *service)
{
    struct trained *trained = &service->models[0];
    if (!service->failure.status && memory_gather(service->memory, trained->fit, true) != KEEPFIT_OK)
        fail_for_good(service, keepfit_fit_error(trained->fit));
    if (!service->failure.status && keepfit_fit_checkpoint(trained->fit) != KEEPFIT_OK)
        log_line(service->log, "warning", "no checkpoint: %s", keepfit_fit_error(trained->fit)->message);
}

static void *run(void *context)
{
    struct service *service = context;
    /* Predictions come first where processors are few: a pass over all points may wait a little. */
    const struct sched_param none = {0};
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
    if (!begin(service)) {
        atomic_store(&service->state, STATE_FAILED);
        pthread_kill(service->main_thread, SIGUSR1);
    } else {
        atomic_store(&service->state, STATE_READY);
        pthread_kill(service->main_thread, SIGUSR1);
    }
    bool alive = service->models[0].fit != NULL;
    for (;;) {
        struct exchange *group = take_group(service);
        pthread_mutex_lock(&service->lock);
        bool ending = service->ending && !service->first;
        pthread_mutex_unlock(&service->lock);
        if (group && alive)
            work_group(service, group);
        for (struct exchange *at = group; at && !alive; at = at->next)
            refuse_dead(at, &service->failure);
        if (group && !alive)
            answer_group(group, 0);
        if (!group && ending)
            break;
        if (!group && alive)
            rest(service);
    }
    if (alive)
        end(service);
    return NULL;
}

int learner_start(struct service *service)
{
    return pthread_create(&service->learner, NULL, run, service);
}

void learner_end(struct service *service)
{
    pthread_mutex_lock(&service->lock);
    service->ending = true;
    pthread_cond_broadcast(&service->wake);
    pthread_mutex_unlock(&service->lock);
    pthread_join(service->learner, NULL);
}
