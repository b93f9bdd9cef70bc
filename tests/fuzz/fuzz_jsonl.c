#include "fuzz.h"
#include "stream_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const settings[] = {
        "format=jsonl target=y",
        "format=jsonl target=none on-error=skip",
        "format=jsonl target=y loss=softmax on-error=skip missing=zero",
        "format=jsonl target=none hash=3 on-error=skip max-features=9",
        "format=jsonl target=none ignore=a,b.c type=t=text:2 on-error=skip accept-cut=true",
        "format=jsonl target=y weight-column=w columns=a,b",
        "format=jsonl target=y key=a time=t on-error=skip accept-cut=true",
    };
    fuzz_stream(data, size, settings, sizeof settings / sizeof settings[0]);
    return 0;
}
