/* What the Python package needs in C besides the library: calls that Ctrl-C can stop, in as few crossings as possible.
 *
 * The interpreter's own handler only notes the signal, and raises KeyboardInterrupt once the call is back. While a call
 * runs in the main thread our handler stands before it: it raises the flag that the fit watches, and hands the signal on. */
#include <signal.h>
#include <string.h>

#include "keepfit.h"

static volatile int interrupted;
static struct sigaction before;

static void on_interrupt(int number)
{
    interrupted = 1;
    before.sa_handler(number);
}

/* Only in front of a plain handler: where Ctrl-C is ignored, or ends the process, it goes on to do so. */
static bool watch(keepfit_fit *fit, bool main_thread)
{
    struct sigaction ours;
    if (!main_thread || sigaction(SIGINT, NULL, &before) != 0 || (before.sa_flags & SA_SIGINFO) ||
        before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
        return false;
    memset(&ours, 0, sizeof ours);
    ours.sa_handler = on_interrupt;
    ours.sa_flags = before.sa_flags;
    ours.sa_mask = before.sa_mask;
    interrupted = 0;
    keepfit_fit_watch(fit, &interrupted);
    return sigaction(SIGINT, &ours, NULL) == 0;
}

static void unwatch(keepfit_fit *fit, bool watched)
{
    keepfit_fit_watch(fit, NULL);
    if (watched)
        sigaction(SIGINT, &before, NULL);
}

/* begin */
/* The first row of compressed ones that reaches beyond the arrays or has a feature that is not there; `count` if none does.
 * That indices ascend is the library's to check, so the last of a row is the largest. */
static size_t keepfit_python_malformed(size_t count, size_t features, const uint64_t *start, const int32_t *index,
                                       size_t entries)
{
    for (size_t k = 0; k < count; k++) {
        if (start[k] > start[k + 1] || start[k + 1] > entries)
            return k;
        if (start[k] < start[k + 1] && (uint32_t)index[start[k + 1] - 1] >= features)
            return k;
    }
    return count;
}

/* For callbacks in Python, where KeyboardInterrupt comes before the call is back. */
static void keepfit_python_stop(void)
{
    interrupted = 1;
}

/* weight may be NULL; start == NULL: full rows, one behind the other. */
static keepfit_status keepfit_python_extend(keepfit_fit *fit, size_t count, size_t features, const uint64_t *start,
                                            const int32_t *index, const double *value, const double *target,
                                            const double *weight, bool main_thread, keepfit_report *report)
{
    keepfit_block block = {.count = count,
                           .features = features,
                           .stride = features,
                           .start = start,
                           .index = (const uint32_t *)index,
                           .value = value,
                           .target = target,
                           .weight = weight};
    bool watched = watch(fit, main_thread);
    keepfit_status status = keepfit_fit_extend(fit, &block, NULL);
    unwatch(fit, watched);
    keepfit_fit_report(fit, report);
    return status;
}

static keepfit_status keepfit_python_restore(keepfit_fit *fit, size_t count, const uint64_t *start,
                                             const int32_t *index, const double *value, const double *target,
                                             const double *weight, const unsigned char *bytes, size_t size,
                                             keepfit_report *report)
{
    keepfit_block block = {.count = count,
                           .start = start,
                           .index = (const uint32_t *)index,
                           .value = value,
                           .target = target,
                           .weight = weight};
    keepfit_status status = keepfit_fit_restore(fit, &block, bytes, size);
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
