/* Memory that runs out on demand. The test is linked with --wrap for malloc and its relatives, so that everything the library
 * asks for comes through here; the library itself is what is released. */
#ifndef KEEPFIT_FAULTS_FAILING_MEMORY_H
#define KEEPFIT_FAULTS_FAILING_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* From here on, allocation number k (from 1) fails, and with for_good all after it. k == 0: none does. */
void memory_arm(uint64_t k, bool for_good);
/* No more failures. */
void memory_disarm(void);
/* Allocations since memory_arm, and how many of them failed. */
uint64_t memory_asked(void);
uint64_t memory_refused(void);
/* Blocks asked for since memory_arm and not yet given back. */
uint64_t memory_held(void);

#endif
