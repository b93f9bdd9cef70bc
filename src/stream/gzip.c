#include "stream/gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/memory.h"

#define GZIP_ONLY (16 + MAX_WBITS) /* zlib's way to say: a gzip header, nothing else */

struct kf_gzip {
    z_stream inflater;
    bool between; /* at the end of a member; not yet in another */
    bool full;    /* the output was full, so more may come without more input */
    enum kf_gzip_fault fault;
};

/* zlib's memory is asked for where all the library's is. */
static voidpf allocate(voidpf unused, uInt count, uInt size)
{
    (void)unused;
    return kf_allocate(count, size);
}

static void give_back(voidpf unused, voidpf memory)
{
    (void)unused;
    free(memory);
}

struct kf_gzip *kf_gzip_create(void)
{
    struct kf_gzip *gzip = kf_allocate(1, sizeof *gzip);
    if (!gzip)
        return NULL;
    gzip->inflater.zalloc = allocate;
    gzip->inflater.zfree = give_back;
    if (inflateInit2(&gzip->inflater, GZIP_ONLY) != Z_OK) {
        free(gzip);
        return NULL;
    }
    return gzip;
}

void kf_gzip_free(struct kf_gzip *gzip)
{
    if (gzip)
        inflateEnd(&gzip->inflater);
    free(gzip);
}

bool kf_gzip_is_whole(const struct kf_gzip *gzip)
{
    return gzip->between && gzip->fault == KF_GZIP_FINE;
}

/* The first two bytes of a member are looked at here, so that garbage is told apart from a damaged member. */
static bool begins_member(struct kf_gzip *gzip, unsigned char byte)
{
    static const unsigned char magic[2] = {0x1f, 0x8b};
    uLong at = gzip->inflater.total_in;
    return at >= sizeof magic || byte == magic[at];
}

static unsigned int as_unsigned(size_t count)
{
    return count < UINT_MAX ? (unsigned int)count : UINT_MAX;
}

/* One call of inflate; in the first two bytes of a member it gets a single byte. */
static int inflate_some(struct kf_gzip *gzip, const unsigned char **input, size_t *count, unsigned char *output,
                        size_t capacity, size_t *produced)
{
    z_stream *inflater = &gzip->inflater;
    size_t offered = inflater->total_in < 2 ? 1 : *count;
    /* zlib reads through next_in but declares it without const unless ZLIB_CONST is set */
    union {
        const unsigned char *in;
        Bytef *out;
    } from = {.in = *input};
    inflater->next_in = from.out;
    inflater->avail_in = as_unsigned(offered);
    inflater->next_out = output;
    inflater->avail_out = as_unsigned(capacity);
    int result = inflate(inflater, Z_NO_FLUSH);
    size_t used = (size_t)(inflater->next_in - from.out);
    *input += used;
    *count -= used;
    *produced += (size_t)(inflater->next_out - output);
    return result;
}

enum kf_gzip_fault kf_gzip_step(struct kf_gzip *gzip, const unsigned char **input, size_t *count, void *output,
                                size_t capacity, size_t *produced)
{
    *produced = 0;
    while (gzip->fault == KF_GZIP_FINE && (*count > 0 || gzip->full) && *produced < capacity) {
        if (gzip->between)
            inflateReset(&gzip->inflater);
        if (*count > 0 && !begins_member(gzip, **input)) {
            gzip->fault = gzip->between ? KF_GZIP_GARBAGE : KF_GZIP_DAMAGED;
            break;
        }
        gzip->between = false;
        int result =
            inflate_some(gzip, input, count, (unsigned char *)output + *produced, capacity - *produced, produced);
        gzip->full = result == Z_OK && *produced == capacity;
        if (result == Z_STREAM_END)
            gzip->between = true;
        else if (result == Z_MEM_ERROR)
            gzip->fault = KF_GZIP_NO_MEMORY;
        else if (result != Z_OK && result != Z_BUF_ERROR)
            gzip->fault = KF_GZIP_DAMAGED;
    }
    return gzip->fault;
}
