/* Fuzz targets: each fuzz_NAME.c defines LLVMFuzzerTestOneInput, which is either linked with libFuzzer (scripts/fuzz) or with
 * replay.c, which runs it over the files of a folder.
 *
 * A target looks for more than crashes: it states what must hold of anything that a reader accepts, and ends the program
 * where it does not. The first byte of an input chooses how the rest is read. */
#ifndef KEEPFIT_FUZZ_H
#define KEEPFIT_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether to go into what takes many times as long as the rest: in a replay always, in fuzzing the first time and every
 * so-many-th after it. */
static inline bool fuzz_takes_time(void)
{
#ifdef FUZZ_SELDOM
    static unsigned calls;
    return calls++ % FUZZ_SELDOM == 0;
#else
    return true;
#endif
}

#define FUZZ_LAW(condition)                                                                                            \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
