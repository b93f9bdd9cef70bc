/* What the Python package needs in C besides the library: calls that Ctrl-C can stop, in as few crossings as possible.
 *
 * The interpreter's own handler only notes the signal, and raises KeyboardInterrupt once the call is back. While a call
 * runs in the main thread our handler stands before it: it stops the fit at work, and hands the signal on. */
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "keepfit.h"

static _Atomic(keepfit_fit *) at_work; /* in the main thread, while the handler is ours */
static struct sigaction before;

static void stop_fit(void)
{
    keepfit_fit *fit = atomic_load(&at_work);
    if (fit)
        keepfit_fit_stop(fit);
}

static void on_interrupt(int number)
{
    stop_fit();
    before.sa_handler(number);
}

/* Only in front of a plain handler: where Ctrl-C is ignored, or ends the process, it goes on to do so. And once: a fit that is used
 * within another one's objective is not stopped by itself. */
static bool watch(keepfit_fit *fit, bool main_thread)
{
    struct sigaction ours;
    if (!main_thread || atomic_load(&at_work) || sigaction(SIGINT, NULL, &before) != 0 ||
        (before.sa_flags & SA_SIGINFO) || before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
        return false;
    memset(&ours, 0, sizeof ours);
    ours.sa_handler = on_interrupt;
    ours.sa_flags = before.sa_flags;
    ours.sa_mask = before.sa_mask;
    atomic_store(&at_work, fit);
    if (sigaction(SIGINT, &ours, NULL) == 0)
        return true;
    atomic_store(&at_work, NULL);
    return false;
}

static void unwatch(keepfit_fit *fit, bool watched)
{
    if (!watched)
        return;
    sigaction(SIGINT, &before, NULL);
    atomic_store(&at_work, NULL);
    keepfit_fit_resume(fit);
}

/* Where the rows of compressed ones begin: SciPy counts in 4 bytes where these are enough, the library in 8. */
static uint64_t start_at(const void *start, bool wide, size_t k)
{
    return wide ? ((const uint64_t *)start)[k] : (uint64_t)((const int32_t *)start)[k];
}

#define FEW 16

/* In 8 bytes: `few`, or what is to be freed, has them where they were not. NULL: no memory. */
static const uint64_t *widen(const void *start, bool wide, size_t count, uint64_t few[FEW], uint64_t **made)
{
    *made = NULL;
    if (wide || !start)
        return start;
    uint64_t *to = count < FEW ? few : (*made = malloc((count + 1) * sizeof *to));
    for (size_t k = 0; to && k <= count; k++)
        to[k] = start_at(start, false, k);
    return to;
}

/* begin */
/* What is wrong with compressed rows: nothing (0), indices that do not ascend (1), or arrays that do not fit together (2). */
static int keepfit_python_wrong(size_t count, size_t features, const void *start, bool wide, const int32_t *index,
                                size_t entries)
{
    int wrong = 0;
    for (size_t k = 0; k < count; k++) {
        uint64_t from = start_at(start, wide, k), to = start_at(start, wide, k + 1);
        if (from > to || to > entries)
            return 2;
        for (uint64_t e = from; e < to; e++) {
            if ((uint32_t)index[e] >= features)
                return 2;
            wrong |= e > from && index[e] <= index[e - 1];
        }
    }
    return wrong;
}

static void keepfit_python_free(void *bytes)
{
    free(bytes);
}

/* Texts that stand one behind the other, each with its NUL: where they begin. */
static void keepfit_python_split(const char *texts, size_t count, char **text)
{
    for (size_t k = 0; k < count; k++) {
        text[k] = (char *)(uintptr_t)texts;
        texts += strlen(texts) + 1;
    }
}

/* For callbacks in Python, where KeyboardInterrupt comes before the call is back. */
static void keepfit_python_stop(void)
{
    stop_fit();
}

/* weight may be NULL; start == NULL: full rows, one behind the other. */
static keepfit_status keepfit_python_extend(keepfit_fit *fit, size_t count, size_t features, const void *start,
                                            bool wide, const int32_t *index, const double *value, const double *target,
                                            const double *weight, bool main_thread, keepfit_report *report)
{
    uint64_t few[FEW], *made;
    keepfit_block block = {.struct_size = sizeof block,
                           .count = count,
                           .features = features,
                           .stride = features,
                           .start = widen(start, wide, count, few, &made),
                           .index = (const uint32_t *)index,
                           .value = value,
                           .target = target,
                           .weight = weight};
    if (start && !block.start)
        return KEEPFIT_NO_MEMORY;
    bool watched = watch(fit, main_thread);
    keepfit_status status = keepfit_fit_extend(fit, &block, NULL);
    unwatch(fit, watched);
    free(made);
    keepfit_fit_report(fit, report);
    return status;
}

static keepfit_status keepfit_python_restore(keepfit_fit *fit, size_t count, const void *start, bool wide,
                                             const int32_t *index, const double *value, const double *target,
                                             const double *weight, const unsigned char *bytes, size_t size,
                                             keepfit_report *report)
{
    uint64_t few[FEW], *made;
    keepfit_block block = {.struct_size = sizeof block,
                           .count = count,
                           .start = widen(start, wide, count, few, &made),
                           .index = (const uint32_t *)index,
                           .value = value,
                           .target = target,
                           .weight = weight};
    keepfit_status status = block.start ? keepfit_fit_restore(fit, &block, bytes, size) : KEEPFIT_NO_MEMORY;
    free(made);
    keepfit_fit_report(fit, report);
    return status;
}

static keepfit_status keepfit_python_remove(keepfit_fit *fit, const uint64_t *indices, size_t count, bool main_thread,
                                            keepfit_report *report)
{
    bool watched = watch(fit, main_thread);
    keepfit_status status = keepfit_fit_remove_block(fit, indices, count);
    unwatch(fit, watched);
    keepfit_fit_report(fit, report);
    return status;
}

/* The entries that the present points have, so that there can be room for them. */
static uint64_t keepfit_python_entries(keepfit_fit *fit, uint64_t points)
{
    uint64_t entries = 0;
    keepfit_point point;
    for (uint64_t k = 0; k < points && keepfit_fit_point(fit, k, &point) == KEEPFIT_OK; k++)
        entries += point.row.count;
    return entries;
}

/* The present points as compressed rows. */
static keepfit_status keepfit_python_points(keepfit_fit *fit, uint64_t points, int64_t *start, int32_t *index,
                                            double *value, double *target, double *weight)
{
    keepfit_status status = KEEPFIT_OK;
    keepfit_point point;
    int64_t at = 0;
    for (uint64_t k = 0; k < points && (status = keepfit_fit_point(fit, k, &point)) == KEEPFIT_OK; k++) {
        start[k] = at;
        target[k] = point.target;
        weight[k] = point.weight;
        for (size_t e = 0; e < point.row.count; e++, at++) {
            index[at] = point.row.index ? (int32_t)point.row.index[e] : (int32_t)e;
            value[at] = point.row.value[e];
        }
    }
    start[points] = at;
    return status;
}
/* end */
