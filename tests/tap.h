/* A test program prints TAP: one line a check, the plan at the end, and exits with 1 if a check failed. */
#ifndef KEEPFIT_TESTS_TAP_H
#define KEEPFIT_TESTS_TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct tap {
    int checks, failures;
};

__attribute__((format(printf, 3, 4))) static inline bool tap_check(struct tap *tap, bool good, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("%sok %d - ", good ? "" : "not ", ++tap->checks);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    tap->failures += !good;
    return good;
}

static inline int tap_end(const struct tap *tap)
{
    printf("1..%d\n", tap->checks);
    return tap->failures ? 1 : 0;
}

/* Something that a test cannot go on without, and that is not itself the test. */
#define TAP_NEED(condition)                                                                                            \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("Bail out! %s:%d: %s\n", __FILE__, __LINE__, #condition);                                           \
            exit(2);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
