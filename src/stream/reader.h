/* What a format is: a const record of functions, and the state they share. The stream opens the source,
 * allocates the state (zeroed), counts, skips bad rows and applies limit; a reader turns bytes into points.
 */
#ifndef KF_READER_H
#define KF_READER_H

#include "base/error.h"
#include "stream/lines.h"

#define KF_TARGET_SIZE 128

/* What a reader is given, and what it tells besides the points. */
struct kf_input {
    const char *path; /* "-": standard input */
    const char *name; /* as messages call it */
    const keepfit_options *options;
    struct kf_source *source;
    uint64_t line;               /* set by next: where the point or the failure stood */
    struct kf_cut cut;           /* likewise: a last line without a newline */
    char target[KF_TARGET_SIZE]; /* set by open: what the target column, or the file of targets, is called */
    uint64_t target_column;      /* likewise: its number, from 1; 0: none */
    uint64_t total;              /* set by open, where the format tells the number of rows */
    uint64_t skipped;            /* set by open: bad rows passed over already */
    bool bad_row;                /* set by next: the failure concerns this row alone, the next one can still be read */
};

struct kf_reader {
    const char *name, *summary;
    const char *extensions; /* separated by blanks */
    const char *name_parts; /* what a file's name may hold instead of an extension; likewise */
    size_t state_size;
    bool binary;
    /* Binary: by the first bytes of the file. Text: by the first line of data, which `bytes` begins with. */
    bool (*recognises)(const unsigned char *bytes, size_t count);
    /* On failure, close is called all the same. */
    keepfit_status (*open)(void *state, struct kf_input *input, keepfit_error *error);
    /* The point is valid until the next call. KEEPFIT_END after the last. */
    keepfit_status (*next)(void *state, keepfit_point *point, keepfit_error *error);
    void (*close)(void *state);
};

extern const struct kf_reader kf_reader_libsvm, kf_reader_csv, kf_reader_npy, kf_reader_idx;

/* A failure of one row, at the byte `at` of a line. */
#define KF_FAIL_ROW(input, place, at, error, ...)                                                                      \
    ((input)->bad_row = true, kf_fail_at((error), KEEPFIT_DATA, (input)->name, (place)->number,                        \
                                         (uint64_t)((at) - (place)->text) + 1, __VA_ARGS__))

#endif
