/* Bytes from a file, from standard input or from memory, or out of gzip data in any of them.
 *
 * A read hands out what there is as soon as there is something: it never waits to fill a buffer, so that a
 * pipe can be followed line by line. A failure stays and is reported again by every later read. */
#ifndef KF_SOURCE_H
#define KF_SOURCE_H

#include "base/stopping.h"

/* How much is read at once. A build for fuzzing makes it a few bytes, so that small inputs cross the ends of buffers. */
#ifndef KF_PIECE_BYTES
#define KF_PIECE_BYTES ((size_t)1 << 16)
#endif

/* Bytes that are there already; the caller's, as long as the source is open. */
struct kf_memory {
    const unsigned char *bytes;
    size_t count;
    size_t piece; /* one read gives at most so many, as a pipe might; 0: no such limit */
    bool sized;   /* their number is known beforehand, as a file's is */
};

struct kf_source;

/* Where the stored bytes come from. read: at least one and at most capacity of them, none at the end; a failure goes to
 * source->failure. */
struct kf_origin {
    keepfit_status (*read)(struct kf_source *source, void *buffer, size_t capacity, size_t *got);
    void (*close)(struct kf_source *source);
};

struct kf_source {
    const char *name; /* as messages call it; the caller's */
    const struct kf_origin *origin;
    int file;                /* origin: a descriptor */
    bool owned;              /* which is to be closed */
    struct kf_memory memory; /* origin: memory */
    bool known;              /* whether it is gzip has been found out */
    bool regular;
    const keepfit_stop *stop;       /* reading, and a wait for input, end when this is raised; may be NULL */
    atomic_bool closing;            /* or this, by another thread than the one that reads */
    void (*waiting)(void *context); /* called when a wait for input begins; may be NULL */
    void *waiting_context;
    uint64_t bytes_read;   /* as stored */
    uint64_t bytes;        /* where the size is known (regular), otherwise 0 */
    struct kf_gzip *gzip;  /* NULL: plain */
    unsigned char *stored; /* read but not yet inflated or handed on */
    size_t stored_at, stored_end;
    unsigned char *ahead; /* ready to be handed out */
    size_t ahead_at, ahead_end, ahead_capacity;
    keepfit_error failure;
};

/* path "-" is standard input. */
keepfit_status kf_source_open(struct kf_source *source, const char *path, const char *name, keepfit_error *error);
keepfit_status kf_source_open_memory(struct kf_source *source, const struct kf_memory *memory, const char *name,
                                     keepfit_error *error);
void kf_source_close(struct kf_source *source);

/* At least one byte and at most capacity; *got == 0 at the end. */
keepfit_status kf_source_read(struct kf_source *source, void *buffer, size_t capacity, size_t *got,
                              keepfit_error *error);

/* Shows the bytes that the next read will give, at least `wanted` of them or all that are left. */
keepfit_status kf_source_peek(struct kf_source *source, size_t wanted, const unsigned char **bytes, size_t *count,
                              keepfit_error *error);

/* Puts exactly `count` bytes into *array, or fewer at the end; *array grows only as they arrive, so a lying
 * header cannot exhaust the memory. */
keepfit_status kf_source_take(struct kf_source *source, unsigned char **array, size_t *capacity, size_t count,
                              size_t *got, keepfit_error *error);

#endif
