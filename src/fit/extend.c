/* Many points as one stage: all join the history and what the method remembers, then the model is made good once, for
 * everything so far. Methods that promise nothing have no such thing, and see the points one by one.
 *
 * The block is checked before anything changes, so that one bad row does not leave half of it behind. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "fit/centre.h"
#include "fit/durable.h"
#include "fit/fade.h"

keepfit_point kf_block_point(const keepfit_block *block, size_t k)
{
    keepfit_point point = {.target = block->target[k], .weight = block->weight ? block->weight[k] : 1};
    point.weightless = point.weight == 0; /* an array of weights is meant as it is */
    if (block->start) {
        uint64_t from = block->start[k];
        point.row.count = block->start[k + 1] > from ? (size_t)(block->start[k + 1] - from) : 0;
        point.row.index = block->index ? block->index + from : NULL;
        point.row.value = block->value ? block->value + from : NULL;
    } else {
        point.row.count = block->features;
        point.row.value = block->value ? block->value + k * block->stride : NULL;
    }
    return point;
}

/* Its key and its time, which check_block has looked at. */
static struct kf_mark mark_of(const keepfit_fit *fit, const keepfit_block *block, size_t k)
{
    const char *key = block->key ? block->key[k] : NULL;
    return (struct kf_mark){key, key ? strlen(key) : 0, block->time && kf_fit_is_timed(fit) ? block->time[k] : NAN};
}

/* Labels that the fit will know once the block is in, and the widest row. */
struct prospect {
    struct kf_labels labels;
    size_t width;
    double weight, latest;
};

/* A point, with its key and time. */
struct comer {
    keepfit_point point;
    const char *key;
    double time;
};

static keepfit_status foresee(const keepfit_fit *fit, const struct comer *comer, struct prospect *prospect,
                              keepfit_error *error)
{
    const keepfit_point *point = &comer->point;
    struct kf_mark mark;
    double mapped;
    keepfit_status status = kf_fit_check_point(fit, point, error);
    if (status == KEEPFIT_OK)
        status = kf_mark_read(fit, comer->key, comer->time, &mark, error);
    if (status == KEEPFIT_OK)
        status = kf_fade_suits(fit, &mark, point->weight, prospect->latest, error);
    if (status != KEEPFIT_OK)
        return status;
    if (kf_row_width(&point->row) > prospect->width)
        prospect->width = kf_row_width(&point->row);
    prospect->latest = mark.time;
    prospect->weight += kf_fade_most(fit, point->weight);
    if (!isfinite(prospect->weight * prospect->weight))
        return kf_fail(error, KEEPFIT_DATA, "the weights' sum is too large");
    switch (kf_labels_take(&prospect->labels, point->target, &mapped)) {
    case KF_LABEL_THIRD:
        return kf_fit_third(fit, point->target, &prospect->labels, error);
    case KF_LABEL_MEMORY:
        return kf_fail_memory(error);
    default:
        return KEEPFIT_OK;
    }
}

static keepfit_status know_labels(const keepfit_fit *fit, struct prospect *prospect, keepfit_error *error)
{
    double unused;
    prospect->labels.kind = fit->meaning.labels.kind;
    prospect->weight = fit->task.problem.objective.weight_total;
    prospect->latest = fit->arrivals.fading.begun ? fit->arrivals.fading.latest : -INFINITY;
    for (size_t k = 0; k < fit->meaning.labels.count; k++)
        if (kf_labels_take(&prospect->labels, fit->meaning.labels.label[k], &unused) == KF_LABEL_MEMORY)
            return kf_fail_memory(error);
    return KEEPFIT_OK;
}

/* Checks all of the block, and finds what sizes it asks for. On failure error->line is the row's number, from 1. */
static keepfit_status check_block(const keepfit_fit *fit, const keepfit_block *block, struct prospect *prospect,
                                  keepfit_error *error)
{
    keepfit_status status = know_labels(fit, prospect, error);
    for (size_t k = 0; k < block->count && status == KEEPFIT_OK; k++) {
        const struct comer comer = {kf_block_point(block, k), block->key ? block->key[k] : NULL,
                                    block->time ? block->time[k] : NAN};
        status = foresee(fit, &comer, prospect, error);
        if (status != KEEPFIT_OK)
            error->line = k + 1;
    }
    return status;
}

keepfit_status kf_fit_take(keepfit_fit *fit, const keepfit_point *point, const struct kf_mark *mark,
                           const struct kf_place *lent)
{
    keepfit_status status = kf_fit_admit(fit, point, mark, lent);
    if (status != KEEPFIT_OK)
        return status;
    double loss = kf_fit_account(fit);
    if (!kf_centre_arrived(fit))
        return kf_fail_memory(&fit->error);
    kf_iterate_suit(&fit->task);
    const struct kf_running *running = &fit->running[fit->running_count - 1];
    bool weighs = fit->task.problem.objective.weight_total > 0;
    if (!weighs && running->method->forget) /* it does not see this point */
        running->method->forget(&fit->task, running->state);
    if (!running->method->take || !weighs)
        return KEEPFIT_OK;
    status = running->method->take(&fit->task, running->state, loss, &fit->error);
    assert(running->method->settle); /* it is for blocks */
    fit->task.stage.fo_before =
        fit->task.problem.objective.fo; /* a block's allowance is for what comes after its points */
    return status;
}

/* The whole block is recorded before any of it is taken. */
static keepfit_status record(keepfit_fit *fit, const keepfit_block *block)
{
    keepfit_status status = kf_durable_block(fit, block->count);
    for (size_t k = 0; k < block->count && status == KEEPFIT_OK; k++) {
        keepfit_point point = kf_block_point(block, k);
        struct kf_mark mark = mark_of(fit, block, k);
        status = kf_durable_point(fit, &point, &mark);
    }
    return status;
}

static keepfit_status take_all(keepfit_fit *fit, const keepfit_block *block)
{
    keepfit_status status = record(fit, block);
    for (size_t k = 0; k < block->count && status == KEEPFIT_OK; k++) {
        keepfit_point point = kf_block_point(block, k);
        struct kf_mark mark = mark_of(fit, block, k);
        status = kf_fit_take(fit, &point, &mark, NULL);
    }
    if (status != KEEPFIT_OK)
        fit->death = fit->error;
    else
        status = kf_fit_settle(fit);
    return status;
}

static keepfit_status push_each(keepfit_fit *fit, const keepfit_block *block, size_t *pushed)
{
    keepfit_status status = KEEPFIT_OK;
    for (; *pushed < block->count; (*pushed)++) {
        keepfit_point point = kf_block_point(block, *pushed);
        struct kf_mark mark = mark_of(fit, block, *pushed);
        status = kf_fit_push(fit, &point, &mark, NULL);
        if (status != KEEPFIT_OK)
            break;
    }
    return status;
}

keepfit_status kf_fit_prepare(keepfit_fit *fit, size_t features, size_t classes)
{
    keepfit_status status = kf_durable_room(fit, features, classes);
    if (status != KEEPFIT_OK)
        return status;
    if (!kf_fit_make_room(fit, features, classes))
        status = kf_fail_memory(&fit->error);
    else
        status = kf_fit_choose(fit, &fit->error);
    if (status != KEEPFIT_OK)
        fit->death = fit->error;
    return status;
}

/* A sound block: room for it, the method that suits it then, and its points. */
static keepfit_status take_block(keepfit_fit *fit, const keepfit_block *block, const struct prospect *prospect,
                                 size_t *pushed)
{
    double start = kf_fit_clock();
    keepfit_status status = kf_fit_prepare(fit, prospect->width, prospect->labels.count);
    if (status != KEEPFIT_OK)
        return status;
    if (block->count == 1 || !fit->running[fit->running_count - 1].method->settle)
        return push_each(fit, block, pushed);
    status = take_all(fit, block);
    *pushed = status == KEEPFIT_OK ? block->count : 0;
    fit->account.seconds += kf_fit_clock() - start;
    return kf_durable_acknowledge(fit, status);
}

keepfit_status keepfit_fit_extend(keepfit_fit *fit, const keepfit_block *given, size_t *pushed)
{
    keepfit_block own = {.struct_size = sizeof own}, *block = &own;
    KF_TAKE(block, given);
    struct prospect prospect = {0};
    size_t count = 0;
    keepfit_status status = kf_fit_ready(fit);
    if (status == KEEPFIT_OK && kf_fit_stopped(fit))
        status = KEEPFIT_STOPPED;
    if (status == KEEPFIT_OK)
        status = check_block(fit, block, &prospect, &fit->error);
    if (status == KEEPFIT_OK && block->count)
        status = take_block(fit, block, &prospect, &count);
    if (pushed)
        *pushed = count;
    free(prospect.labels.label);
    return status;
}

keepfit_status keepfit_fit_foresee(keepfit_fit *fit, const keepfit_point *points, const char *const *key,
                                   const double *time, size_t count)
{
    struct prospect prospect = {0};
    keepfit_status status = kf_fit_ready(fit);
    if (status == KEEPFIT_OK)
        status = know_labels(fit, &prospect, &fit->error);
    for (size_t k = 0; k < count && status == KEEPFIT_OK; k++) {
        const struct comer comer = {points[k], key ? key[k] : NULL, time ? time[k] : NAN};
        status = foresee(fit, &comer, &prospect, &fit->error);
        if (status != KEEPFIT_OK)
            fit->error.line = k + 1;
    }
    free(prospect.labels.label);
    return status;
}

keepfit_status keepfit_fit_expect(keepfit_fit *fit, double label)
{
    double target;
    keepfit_status status = kf_fit_ready(fit);
    if (status != KEEPFIT_OK)
        return status;
    if (fit->meaning.labels.kind == KF_NUMBERS)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "a regression has no classes to expect");
    if (!isfinite(label))
        return kf_fail(&fit->error, KEEPFIT_DATA, "the label is not finite");
    switch (kf_labels_foresee(&fit->meaning.labels, label)) {
    case KF_LABEL_KNOWN:
        return KEEPFIT_OK;
    case KF_LABEL_THIRD:
        return kf_fail(&fit->error, KEEPFIT_DATA, "label %g is a third class; this loss is for two", label);
    default:
        break;
    }
    status = kf_durable_expected(fit, label);
    if (status != KEEPFIT_OK)
        return status;
    if (!kf_fit_make_room(fit, fit->meaning.features, fit->meaning.labels.count + 1) ||
        !kf_fit_learn_label(fit, label, &target)) {
        kf_fail_memory(&fit->death);
        return kf_fail_memory(&fit->error);
    }
    return kf_durable_acknowledge(fit, fit->task.problem.points.count ? kf_fit_settle(fit) : KEEPFIT_OK);
}

double kf_fit_label(const keepfit_fit *fit, double target)
{
    const struct kf_labels *labels = &fit->meaning.labels;
    if (labels->kind == KF_NUMBERS)
        return target;
    assert(labels->kind == KF_TWO_CLASSES || target < (double)labels->count);
    if (labels->kind == KF_MANY_CLASSES)
        return labels->label[(size_t)target];
    return labels->label[labels->count == 2 && target > 0];
}

keepfit_status keepfit_fit_point(keepfit_fit *fit, uint64_t index, keepfit_point *point)
{
    kf_error_clear(&fit->error);
    if (index >= fit->task.problem.points.count)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "there is no point %llu: %zu are present", (unsigned long long)index,
                       fit->task.problem.points.count);
    keepfit_row row;
    if (!kf_centre_read_row(fit, (size_t)index, &row))
        return kf_fail_memory(&fit->error);
    const struct kf_place *place = &fit->task.problem.points.place[index];
    *point = (keepfit_point){.row = row,
                             .target = kf_fit_label(fit, place->target),
                             .weight = kf_fade_given(fit, (size_t)index),
                             .weightless = place->weight == 0};
    return KEEPFIT_OK;
}

void keepfit_fit_stop(keepfit_fit *fit)
{
    atomic_store(&fit->stop, true);
}

void keepfit_fit_resume(keepfit_fit *fit)
{
    atomic_store(&fit->stop, false);
}

bool kf_fit_stopped(const keepfit_fit *fit)
{
    return kf_is_raised(&fit->stop);
}
