/* What must hold of every stream, whatever the bytes are:
 *
 *   - a point that is given out is finite, its weight is not negative, its indices ascend;
 *   - a failure has a status and a message, and is reported again when one goes on asking;
 *   - the same bytes give the same points and the same end, in however small pieces they arrive;
 *   - the points, written as LIBSVM with 17 digits, are read again as the same points. */
#ifndef KEEPFIT_FUZZ_STREAM_LAWS_H
#define KEEPFIT_FUZZ_STREAM_LAWS_H

#include "keepfit.h"

/* What came out of one reading. */
struct reading {
    uint64_t points;     /* given out */
    uint64_t digest;     /* of all their bits */
    keepfit_status end;  /* KEEPFIT_END, or the failure */
    keepfit_error error; /* of the failure */
    char *text;          /* if asked for: the points as LIBSVM; to be freed */
    size_t text_capacity, text_size;
};

/* Options made from "key=value key=value ..."; they are kept until the program ends. */
keepfit_options *fuzz_options(const char *settings);

/* Reads all points, and checks each. piece: see struct kf_memory. */
struct reading fuzz_read(const uint8_t *data, size_t size, size_t piece, bool sized, const keepfit_options *options,
                         bool as_text);
/* The same points, and the same end. */
void fuzz_expect_same(const struct reading *a, const struct reading *b);

/* All of the above for one input, whose first byte says: the settings (one of `count`), the size of the pieces, whether the
 * number of bytes is known beforehand, whether the points are also written and read again. */
void fuzz_stream(const uint8_t *data, size_t size, const char *const *settings, size_t count);

#endif
