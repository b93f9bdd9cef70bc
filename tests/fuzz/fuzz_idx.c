#include "fuzz.h"
#include "stream_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const settings[] = {
        "format=idx target=none", "format=idx on-error=skip target=none", "format=auto target=none max-features=8",
        "format=idx", /* the labels are nowhere to be found */
    };
    fuzz_stream(data, size, settings, sizeof settings / sizeof settings[0]);
    return 0;
}
