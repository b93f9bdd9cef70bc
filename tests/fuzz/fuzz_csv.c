#include "fuzz.h"
#include "stream_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const settings[] = {
        "format=csv",
        "format=csv on-error=skip accept-cut=true",
        "format=csv on-error=skip header=no target=none delimiter=tab",
        "format=csv header=yes weight-column=2 target=1",
        "format=csv delimiter=, target=y weight-column=w max-features=3",
        "format=csv loss=softmax",
        "format=csv loss=logistic on-error=skip accept-cut=true",
        "format=csv target=1 key=2 time=3 header=no on-error=skip accept-cut=true",
    };
    fuzz_stream(data, size, settings, sizeof settings / sizeof settings[0]);
    return 0;
}
