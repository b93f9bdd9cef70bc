#include "fuzz.h"
#include "stream_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const settings[] = {
        "format=libsvm",
        "format=libsvm on-error=skip",
        "format=libsvm on-error=skip zero-based=true max-features=1000",
        "format=auto accept-cut=true",
    };
    fuzz_stream(data, size, settings, sizeof settings / sizeof settings[0]);
    return 0;
}
