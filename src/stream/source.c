#define _GNU_SOURCE /* O_CLOEXEC, S_ISREG */
#include "stream/source.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "stream/gzip.h"

static const char *system_text(char text[128], int number)
{
    /* the GNU function: thread safe, and the text may lie elsewhere */
    return strerror_r(number, text, 128);
}

static keepfit_status make_room_stored(struct kf_source *source, keepfit_error *error)
{
    source->stored = kf_allocate_raw(KF_PIECE_BYTES);
    return source->stored ? KEEPFIT_OK : kf_fail_memory(error);
}

void kf_source_close(struct kf_source *source)
{
    source->origin->close(source);
    kf_gzip_free(source->gzip);
    free(source->stored);
    free(source->ahead);
    *source = (struct kf_source){.file = -1};
}

/* ---- from a descriptor ---- */

/* Waits until there is something to read. False: it is time to stop. A signal may be delivered just before the wait, so
 * that is looked at again every now and then. Where waiting itself fails, reading will report why. */
static bool wait_for_input(const struct kf_source *source)
{
    struct pollfd wait = {.fd = source->file, .events = POLLIN};
    if (source->waiting && poll(&wait, 1, 0) == 0)
        source->waiting(source->waiting_context);
    while (!atomic_load(&source->closing) && !kf_stop_is_raised(source->stop)) {
        int ready = poll(&wait, 1, 100);
        if (ready > 0 || (ready < 0 && errno != EINTR && errno != EAGAIN))
            return true;
    }
    return false;
}

/* What one read(2) gives. */
static keepfit_status read_descriptor(struct kf_source *source, void *buffer, size_t capacity, size_t *got)
{
    for (;;) {
        if (source->regular ? kf_stop_is_raised(source->stop) : !wait_for_input(source))
            return kf_fail(&source->failure, KEEPFIT_STOPPED, "stopped on request");
        ssize_t count = read(source->file, buffer, capacity);
        if (count >= 0) {
            *got = (size_t)count;
            return KEEPFIT_OK;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            wait_for_input(source); /* somebody made the descriptor non-blocking */
        else if (errno != EINTR) {
            char text[128];
            return kf_fail_at(&source->failure, KEEPFIT_IO, source->name, 0, 0, "reading failed at byte %llu: %s",
                              (unsigned long long)source->bytes_read, system_text(text, errno));
        }
    }
}

static void close_descriptor(struct kf_source *source)
{
    if (source->owned)
        close(source->file);
}

static const struct kf_origin descriptor = {.read = read_descriptor, .close = close_descriptor};

static keepfit_status fail_opening(const struct kf_source *source, keepfit_error *error)
{
    char text[128];
    return kf_fail_at(error, KEEPFIT_DATA, source->name, 0, 0, "%s", system_text(text, errno));
}

static keepfit_status open_descriptor(struct kf_source *source, const char *path, keepfit_error *error)
{
    if (strcmp(path, "-") != 0) {
        do
            source->file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        while (source->file < 0 && errno == EINTR);
        if (source->file < 0)
            return fail_opening(source, error);
        source->owned = true;
    }
    struct stat about;
    if (fstat(source->file, &about) != 0)
        return fail_opening(source, error);
    if (S_ISDIR(about.st_mode))
        return kf_fail_at(error, KEEPFIT_DATA, source->name, 0, 0, "this is a directory, not a file of points");
    source->regular = S_ISREG(about.st_mode);
    off_t at = source->regular ? lseek(source->file, 0, SEEK_CUR) : 0; /* standard input may begin in the middle */
    source->bytes = source->regular && about.st_size > at ? (uint64_t)(about.st_size - (at > 0 ? at : 0)) : 0;
    return KEEPFIT_OK;
}

keepfit_status kf_source_open(struct kf_source *source, const char *path, const char *name, keepfit_error *error)
{
    *source = (struct kf_source){.name = name, .origin = &descriptor, .file = STDIN_FILENO};
    keepfit_status status = open_descriptor(source, path, error);
    if (status == KEEPFIT_OK)
        status = make_room_stored(source, error);
    if (status != KEEPFIT_OK)
        kf_source_close(source);
    return status;
}

/* ---- from memory ---- */

static keepfit_status read_memory(struct kf_source *source, void *buffer, size_t capacity, size_t *got)
{
    const struct kf_memory *memory = &source->memory;
    size_t left = memory->count - (size_t)source->bytes_read, most = left < capacity ? left : capacity;
    *got = memory->piece && memory->piece < most ? memory->piece : most;
    if (*got)
        memcpy(buffer, memory->bytes + source->bytes_read, *got);
    return KEEPFIT_OK;
}

static void close_memory(struct kf_source *source)
{
    source->memory = (struct kf_memory){0};
}

static const struct kf_origin in_memory = {.read = read_memory, .close = close_memory};

keepfit_status kf_source_open_memory(struct kf_source *source, const struct kf_memory *memory, const char *name,
                                     keepfit_error *error)
{
    *source = (struct kf_source){
        .name = name,
        .origin = &in_memory,
        .file = -1,
        .memory = *memory,
        .regular = memory->sized,
        .bytes = memory->sized ? memory->count : 0,
    };
    return make_room_stored(source, error);
}

/* ---- from either ---- */

static keepfit_status read_stored(struct kf_source *source, void *buffer, size_t capacity, size_t *got)
{
    keepfit_status status = source->origin->read(source, buffer, capacity, got);
    if (status == KEEPFIT_OK)
        source->bytes_read += *got;
    return status;
}

/* A failure is remembered, whoever asked. */
static keepfit_status failed(struct kf_source *source, keepfit_error *error)
{
    if (error)
        kf_error_give(error, &source->failure);
    return source->failure.status;
}

/* Plain or gzip: the first two bytes decide, and the first alone mostly does. */
static keepfit_status find_out(struct kf_source *source)
{
    size_t got;
    do {
        keepfit_status status =
            read_stored(source, source->stored + source->stored_end, KF_PIECE_BYTES - source->stored_end, &got);
        if (status != KEEPFIT_OK)
            return status;
        source->stored_end += got;
    } while (got > 0 && source->stored_end < 2 && source->stored[0] == 0x1f);
    source->known = true;
    if (source->stored_end < 2 || source->stored[0] != 0x1f || source->stored[1] != 0x8b)
        return KEEPFIT_OK;
    source->gzip = kf_gzip_create();
    return source->gzip ? KEEPFIT_OK : kf_fail_memory(&source->failure);
}

static keepfit_status fail_gzip(struct kf_source *source, enum kf_gzip_fault fault)
{
    unsigned long long place = source->bytes_read - (source->stored_end - source->stored_at);
    switch (fault) {
    case KF_GZIP_NO_MEMORY:
        return kf_fail_memory(&source->failure);
    case KF_GZIP_GARBAGE:
        return kf_fail_at(&source->failure, KEEPFIT_DATA, source->name, 0, 0,
                          "the gzip data ends at byte %llu, and what follows is no gzip data", place);
    case KF_GZIP_DAMAGED:
        return kf_fail_at(&source->failure, KEEPFIT_DATA, source->name, 0, 0,
                          "the gzip data is damaged before byte %llu", place + 1);
    default:
        return kf_fail_at(&source->failure, KEEPFIT_DATA, source->name, 0, 0, "the gzip data is cut off at byte %llu",
                          place);
    }
}

static keepfit_status read_gzip(struct kf_source *source, void *buffer, size_t capacity, size_t *got)
{
    for (;;) {
        const unsigned char *input = source->stored + source->stored_at;
        size_t count = source->stored_end - source->stored_at;
        enum kf_gzip_fault fault = kf_gzip_step(source->gzip, &input, &count, buffer, capacity, got);
        source->stored_at = source->stored_end - count;
        if (*got > 0)
            return KEEPFIT_OK; /* a fault is reported by the next call */
        if (fault != KF_GZIP_FINE)
            return fail_gzip(source, fault);
        if (count > 0)
            continue;
        source->stored_at = 0;
        source->stored_end = 0;
        keepfit_status status = read_stored(source, source->stored, KF_PIECE_BYTES, &source->stored_end);
        if (status != KEEPFIT_OK)
            return status;
        if (source->stored_end == 0)
            return kf_gzip_is_whole(source->gzip) ? KEEPFIT_OK : fail_gzip(source, KF_GZIP_FINE);
    }
}

static size_t hand_on(void *buffer, size_t capacity, const unsigned char *from, size_t *at, size_t end)
{
    size_t count = end - *at < capacity ? end - *at : capacity;
    memcpy(buffer, from + *at, count);
    *at += count;
    return count;
}

/* Past whatever lies ahead. */
static keepfit_status read_behind(struct kf_source *source, void *buffer, size_t capacity, size_t *got)
{
    *got = 0;
    if (source->failure.status != KEEPFIT_OK)
        return source->failure.status;
    if (!source->known) {
        keepfit_status status = find_out(source);
        if (status != KEEPFIT_OK)
            return status;
    }
    if (source->gzip)
        return read_gzip(source, buffer, capacity, got);
    if (source->stored_at < source->stored_end) {
        *got = hand_on(buffer, capacity, source->stored, &source->stored_at, source->stored_end);
        return KEEPFIT_OK;
    }
    return read_stored(source, buffer, capacity, got);
}

static bool make_room_ahead(struct kf_source *source, size_t wanted)
{
    size_t held = source->ahead_end - source->ahead_at;
    if (held)
        memmove(source->ahead, source->ahead + source->ahead_at, held);
    source->ahead_at = 0;
    source->ahead_end = held;
    size_t needed = wanted > KF_PIECE_BYTES ? wanted : KF_PIECE_BYTES;
    return KF_RESERVE(source->ahead, source->ahead_capacity, needed);
}

keepfit_status kf_source_peek(struct kf_source *source, size_t wanted, const unsigned char **bytes, size_t *count,
                              keepfit_error *error)
{
    if (source->ahead_end - source->ahead_at < wanted && !make_room_ahead(source, wanted))
        return kf_fail_memory(error);
    while (source->ahead_end - source->ahead_at < wanted) {
        size_t got;
        if (read_behind(source, source->ahead + source->ahead_end, source->ahead_capacity - source->ahead_end, &got) !=
            KEEPFIT_OK)
            return failed(source, error);
        if (got == 0)
            break;
        source->ahead_end += got;
    }
    *bytes = source->ahead + source->ahead_at;
    *count = source->ahead_end - source->ahead_at;
    return KEEPFIT_OK;
}

keepfit_status kf_source_read(struct kf_source *source, void *buffer, size_t capacity, size_t *got,
                              keepfit_error *error)
{
    assert(capacity > 0);
    if (source->ahead_at == source->ahead_end && capacity >= KF_PIECE_BYTES)
        return read_behind(source, buffer, capacity, got) == KEEPFIT_OK ? KEEPFIT_OK : failed(source, error);
    const unsigned char *bytes;
    size_t count;
    keepfit_status status = kf_source_peek(source, 1, &bytes, &count, error);
    if (status != KEEPFIT_OK)
        return status;
    *got = count ? hand_on(buffer, capacity, source->ahead, &source->ahead_at, source->ahead_end) : 0;
    return KEEPFIT_OK;
}

keepfit_status kf_source_take(struct kf_source *source, unsigned char **array, size_t *capacity, size_t count,
                              size_t *got, keepfit_error *error)
{
    size_t held = 0;
    while (held < count) {
        size_t step = count - held < KF_PIECE_BYTES ? count - held : KF_PIECE_BYTES, part;
        if (!KF_RESERVE(*array, *capacity, held + step))
            return kf_fail_memory(error);
        size_t room = *capacity < count ? *capacity - held : count - held;
        keepfit_status status = kf_source_read(source, *array + held, room, &part, error);
        if (status != KEEPFIT_OK)
            return status;
        if (part == 0)
            break;
        held += part;
    }
    *got = held;
    return KEEPFIT_OK;
}
