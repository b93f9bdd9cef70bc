/* Every call of the system that an operation makes fails in turn, once and for good, in each of the ways that it can. What must
 * hold each time:
 *
 *   - EINTR, and reads and writes of one byte, change nothing at all;
 *   - EIO and ENOSPC are told with the system's words (or did not matter, and the result is the same);
 *   - what was there before is still there whole: a model is the old or the new one;
 *   - all memory is given back, and all files are closed. */
#include <errno.h>
#include <string.h>

#include "failing_memory.h"
#include "operations.h"
#include "system.h"
#include "tap.h"

#define OPERATIONS_MOST 64

static bool is_told(const struct outcome *outcome, enum system_fault fault)
{
    bool kind = outcome->status == KEEPFIT_IO || outcome->status == KEEPFIT_DATA;
    return kind && outcome->error.status == outcome->status &&
           strstr(outcome->error.message, strerror(fault == SYSTEM_FULL ? ENOSPC : EIO));
}

/* NULL: all is well. */
static const char *judge(const struct outcome *outcome, const struct outcome *expected, enum system_fault fault)
{
    bool same = outcome->status == KEEPFIT_OK && outcome->digest == expected->digest;
    if (outcome->breach)
        return outcome->breach;
    if (memory_held() > 0)
        return "memory is not given back";
    if (system_open_files() != 0)
        return "a file is left open";
    if (fault == SYSTEM_INTERRUPTED || fault == SYSTEM_SHORT)
        return same ? NULL : "it made a difference";
    if (outcome->status == KEEPFIT_OK)
        return same ? NULL : "success, but another result";
    return is_told(outcome, fault) ? NULL : "the error tells something else";
}

static bool fail_each(const struct operation *operation, const struct outcome *expected, enum system_fault fault,
                      bool for_good, uint64_t *failed)
{
    for (uint64_t k = 1;; k++) {
        struct outcome outcome = {0};
        if (operation->prepare)
            operation->prepare(operation);
        memory_arm(0, false);
        system_arm(fault, k, for_good);
        operation->run(operation, &outcome);
        system_disarm();
        const char *wrong = judge(&outcome, expected, fault);
        *failed += system_failed() > 0;
        if (wrong) {
            printf("# call %llu, %s, %s: %s: %s %s\n", (unsigned long long)k, system_fault_names[fault],
                   for_good ? "for good" : "once", wrong, keepfit_status_name(outcome.status), outcome.error.message);
            return false;
        }
        if (system_failed() == 0)
            return true;
    }
}

static void test_operation(struct tap *tap, const struct operation *operation)
{
    struct outcome expected = {0};
    if (!operation_works(tap, operation, &expected))
        return;
    uint64_t failed = 0;
    for (int fault = 0; fault < SYSTEM_FAULTS; fault++) {
        bool good = fail_each(operation, &expected, (enum system_fault)fault, false, &failed);
        if (fault != SYSTEM_INTERRUPTED) /* for good, that would be to wait for ever */
            good = fail_each(operation, &expected, (enum system_fault)fault, true, &failed) && good;
        tap_check(tap, good, "%s: %s", operation->name, system_fault_names[fault]);
    }
    tap_check(tap, failed > 0, "%s: %llu failures in all", operation->name, (unsigned long long)failed);
}

int main(void)
{
    struct tap tap = {0};
    static struct operation list[OPERATIONS_MOST];
    operations_begin();
    operations_calm = system_disarm;
    size_t operations = stream_operations(list, OPERATIONS_MOST);
    operations += journal_operations(list + operations, OPERATIONS_MOST - operations);
    for (size_t k = 0; k < operations; k++)
        if (!list[k].path || *list[k].path) /* otherwise it works on what a program has, and calls nobody */
            test_operation(&tap, &list[k]);
    operations_end();
    return tap_end(&tap);
}
