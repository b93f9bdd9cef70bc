/* Every allocation of every operation is made to fail in turn, once and for good. What must hold each time:
 *
 *   - the operation tells that memory has run out, and nothing else (or has managed without, and the result is the same);
 *   - what was acknowledged before is still there, and a handle goes on or keeps telling why it does not;
 *   - all memory is given back.
 *
 * The number of allocations is not known beforehand: k goes up until nothing has failed any more. */
#include <stdlib.h>

#include "failing_memory.h"
#include "operations.h"
#include "tap.h"

#define OPERATIONS_MOST 200

/* NULL: all is well. */
static const char *judge(const struct outcome *outcome, const struct outcome *expected)
{
    if (outcome->breach)
        return outcome->breach;
    if (memory_held() > 0)
        return "memory is not given back";
    if (outcome->status == KEEPFIT_OK)
        return outcome->digest == expected->digest ? NULL : "success, but another result";
    if (outcome->status != KEEPFIT_NO_MEMORY)
        return "a failure, but not for want of memory";
    return outcome->error.status == KEEPFIT_NO_MEMORY ? NULL : "the error tells something else";
}

static bool fail_each(const struct operation *operation, const struct outcome *expected, bool for_good,
                      uint64_t *failed)
{
    for (uint64_t k = 1;; k++) {
        struct outcome outcome = {0};
        if (operation->prepare)
            operation->prepare(operation);
        memory_arm(k, for_good);
        operation->run(operation, &outcome);
        memory_disarm();
        const char *fault = judge(&outcome, expected);
        *failed += memory_refused() > 0;
        if (fault) {
            printf("# allocation %llu, %s: %s: %s %s\n", (unsigned long long)k, for_good ? "for good" : "once", fault,
                   keepfit_status_name(outcome.status), outcome.error.message);
            return false;
        }
        if (memory_refused() == 0)
            return true;
    }
}

static void test_operation(struct tap *tap, const struct operation *operation)
{
    struct outcome expected = {0};
    if (!operation_works(tap, operation, &expected))
        return;
    uint64_t failed = 0;
    bool once = fail_each(operation, &expected, false, &failed);
    bool good = fail_each(operation, &expected, true, &failed) && once;
    tap_check(tap, good, "%s: each allocation failed once and for good, %llu failures", operation->name,
              (unsigned long long)failed);
}

int main(int count, char **arguments)
{
    struct tap tap = {0};
    static struct operation list[OPERATIONS_MOST];
    size_t share = count > 1 ? (size_t)strtoul(arguments[1], NULL, 10) : 1;
    operations_begin();
    operations_calm = memory_disarm;
    size_t operations = fit_operations(list, OPERATIONS_MOST, share);
    operations += stream_operations(list + operations, OPERATIONS_MOST - operations);
    operations += journal_operations(list + operations, OPERATIONS_MOST - operations);
    for (size_t k = 0; k < operations; k++)
        test_operation(&tap, &list[k]);
    operations_end();
    return tap_end(&tap);
}
