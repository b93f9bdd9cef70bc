/* Calls of the system that fail on demand. The test is linked with --wrap for those that the library makes. */
#ifndef KEEPFIT_FAULTS_SYSTEM_H
#define KEEPFIT_FAULTS_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

enum system_fault {
    SYSTEM_BROKEN,      /* EIO */
    SYSTEM_FULL,        /* ENOSPC, from calls that write; the others work */
    SYSTEM_INTERRUPTED, /* EINTR, from calls that may be told so */
    SYSTEM_SHORT,       /* one byte at a time, from reads and writes */
    SYSTEM_FAULTS
};

extern const char *const system_fault_names[SYSTEM_FAULTS];

/* From here on, the k-th call (from 1) that can fail in this way does, and with for_good all such calls after it. */
void system_arm(enum system_fault fault, uint64_t k, bool for_good);
void system_disarm(void);
/* How many calls have failed since system_arm. */
uint64_t system_failed(void);
/* Files opened since system_arm and not closed. */
int64_t system_open_files(void);

#endif
