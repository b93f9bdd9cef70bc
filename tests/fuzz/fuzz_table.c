/* Tables with types: what is guessed, what is said, and what hashes, crosses and missing values do to rows. */
#include "fuzz.h"
#include "stream_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const settings[] = {
        "format=csv missing=indicator",
        "format=csv missing=zero on-error=skip header=no target=none",
        "format=csv missing=skip on-error=skip type=1=text:3,2=category header=yes",
        "format=csv type=1=time,2=boolean,3=category target=none header=no on-error=skip",
        "format=csv hash=2 type=1=category,2=text target=none header=no cross=1*2 on-error=skip",
        "format=csv loss=softmax target=1 cross=2*3*4 type=2=category,3=text:2,4=number on-error=skip header=yes",
        "format=csv ignore=1 max-features=4 on-error=skip delimiter=,",
        "format=csv columns=2,3 target=1 type=3=time header=yes",
    };
    fuzz_stream(data, size, settings, sizeof settings / sizeof settings[0]);
    return 0;
}
