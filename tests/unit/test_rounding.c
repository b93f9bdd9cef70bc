/* What proofs take from arithmetic: every bound on rounding is held against the same numbers in 113 bits (rounding_judge.h), on random data with
 * extremes. A bound that is never approached says little, so each is to be reached to some share as well. */
#include "rounding_judge.h"

int main(void)
{
    struct tap tap = {0};
    test_sums(&tap);
    test_factors(&tap);
    test_gaps(&tap);
    test_losses(&tap);
    return tap_end(&tap);
}
