#define _POSIX_C_SOURCE 200809L
/* Keys: a point that comes with the key of one that is present takes its place, which is one stage. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "fit/durable.h"
#include "fit/fade.h"

const struct kf_mark kf_no_mark = {NULL, 0, NAN};

keepfit_status kf_mark_read(const keepfit_fit *fit, const char *key, double time, struct kf_mark *mark,
                            keepfit_error *error)
{
    size_t length = key ? strnlen(key, KEEPFIT_KEY_MOST + 1) : 0;
    *mark = (struct kf_mark){key, length, kf_fit_is_timed(fit) ? time : NAN};
    if (key && mark->length == 0)
        return kf_fail(error, KEEPFIT_DATA, "the key is empty; a point without one has none at all");
    if (mark->length > KEEPFIT_KEY_MOST)
        return kf_fail(error, KEEPFIT_DATA, "the key '%.40s...' is longer than %d bytes", key, KEEPFIT_KEY_MOST);
    return KEEPFIT_OK;
}

struct kf_mark kf_fit_mark_of(const keepfit_fit *fit, size_t j)
{
    const struct kf_key *key = kf_keys_of(&fit->arrivals.keys, kf_fit_arrival(fit, j));
    return (struct kf_mark){key ? key->text : NULL, key ? key->length : 0, kf_fade_time(fit, j)};
}

bool kf_fit_replace(keepfit_fit *fit, const struct kf_mark *mark)
{
    const struct kf_key *key = mark->length ? kf_keys_find(&fit->arrivals.keys, mark->key, mark->length) : NULL;
    uint64_t index;
    if (!key)
        return true;
    bool there = keepfit_fit_find(fit, key->arrival, &index);
    assert(there);
    return there && kf_fit_drop(fit, (size_t)index);
}

bool kf_fit_remember(keepfit_fit *fit, const struct kf_mark *mark)
{
    return !mark->length || kf_keys_add(&fit->arrivals.keys, mark->key, mark->length, fit->arrivals.arrived);
}

keepfit_status keepfit_fit_push_marked(keepfit_fit *fit, const keepfit_point *point, const keepfit_mark *given)
{
    keepfit_mark own = {.struct_size = sizeof own};
    struct kf_mark mark;
    KF_TAKE(&own, given);
    keepfit_status status = kf_fit_ready(fit);
    if (status == KEEPFIT_OK && own.removes)
        status = kf_fail(&fit->error, KEEPFIT_USAGE, "the mark is of a row that removes a point, which is no point");
    if (status == KEEPFIT_OK)
        status = kf_mark_read(fit, own.key, own.time, &mark, &fit->error);
    return status == KEEPFIT_OK ? kf_fit_push(fit, point, &mark, NULL) : status;
}

keepfit_status keepfit_fit_mark(keepfit_fit *fit, uint64_t index, keepfit_mark *mark)
{
    kf_error_clear(&fit->error);
    if (index >= fit->task.problem.points.count)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "there is no point %llu: %zu are present", (unsigned long long)index,
                       fit->task.problem.points.count);
    struct kf_mark there = kf_fit_mark_of(fit, (size_t)index);
    const keepfit_mark made = {.key = there.key, .time = there.time};
    KF_GIVE(mark, &made);
    return KEEPFIT_OK;
}

bool keepfit_fit_find_key(const keepfit_fit *fit, const char *text, uint64_t *index)
{
    const struct kf_key *key = kf_keys_find(&fit->arrivals.keys, text, strlen(text));
    return key && keepfit_fit_find(fit, key->arrival, index);
}

keepfit_status keepfit_fit_remove_key(keepfit_fit *fit, const char *key)
{
    uint64_t index;
    keepfit_status status = kf_fit_ready(fit);
    if (status != KEEPFIT_OK)
        return status;
    return keepfit_fit_find_key(fit, key, &index) ? keepfit_fit_remove(fit, index) : KEEPFIT_END;
}

/* Reading: the points are there, without keys. */
void kf_keys_archive(keepfit_fit *fit, struct kf_archive *archive, bool inside)
{
    size_t count = fit->arrivals.keys.count, points = fit->task.problem.points.count;
    kf_archive_flag(archive, &inside);
    if (!inside || archive->status != KEEPFIT_OK)
        return;
    kf_archive_require(archive, !archive->reading || count == 0);
    kf_archive_count(archive, &count, points);
    for (size_t j = 0, k = 0; k < count && archive->status == KEEPFIT_OK; j++, k++) {
        char text[KEEPFIT_KEY_MOST + 1] = "";
        while (!archive->reading && !kf_fit_mark_of(fit, j).length)
            j++;
        size_t at = j;
        if (!archive->reading)
            strcpy(text, kf_fit_mark_of(fit, j).key);
        kf_archive_count(archive, &at, points);
        kf_archive_text(archive, text, sizeof text);
        kf_archive_require(archive, at < points && at >= j && *text);
        if (archive->status != KEEPFIT_OK || !archive->reading)
            continue;
        j = at;
        kf_archive_require(archive, !kf_keys_find(&fit->arrivals.keys, text, strlen(text)));
        if (archive->status == KEEPFIT_OK &&
            !kf_keys_add(&fit->arrivals.keys, text, strlen(text), kf_fit_arrival(fit, j)))
            archive->status = KEEPFIT_NO_MEMORY;
    }
}
