#include "fuzz.h"
#include "stream_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const settings[] = {
        "format=npy",
        "format=npy on-error=skip target=none",
        "format=npy on-error=skip target=1",
        "format=auto target=none max-features=8",
    };
    fuzz_stream(data, size, settings, sizeof settings / sizeof settings[0]);
    return 0;
}
