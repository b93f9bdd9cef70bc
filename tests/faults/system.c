/* The names end in 64 because the library is compiled for large files. A close that fails has closed all the same, as on
 * Linux. */
#define _GNU_SOURCE
#include "system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const system_fault_names[SYSTEM_FAULTS] = {"EIO", "ENOSPC", "EINTR", "one byte at a time"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool armed, for_good;
static enum system_fault fault;
static uint64_t failing, calls, failed;
static int64_t open_files;

void system_arm(enum system_fault kind, uint64_t k, bool all_after)
{
    armed = true;
    fault = kind;
    failing = k;
    for_good = all_after;
    calls = failed = 0;
    open_files = 0;
}

void system_disarm(void)
{
    armed = false;
}

uint64_t system_failed(void)
{
    return failed;
}

int64_t system_open_files(void)
{
    return open_files;
}

/* What a call is like: which faults it can have. */
enum { WRITES = 1, WAITS = 2, MOVES_BYTES = 4 };

static bool concerns(unsigned like)
{
    switch (fault) {
    case SYSTEM_FULL:
        return like & WRITES;
    case SYSTEM_INTERRUPTED:
        return like & WAITS;
    case SYSTEM_SHORT:
        return like & MOVES_BYTES;
    default:
        return true;
    }
}

static bool fails(unsigned like)
{
    pthread_mutex_lock(&lock);
    bool counts = armed && concerns(like);
    calls += counts;
    bool fail = counts && (for_good ? calls >= failing : calls == failing);
    failed += fail;
    pthread_mutex_unlock(&lock);
    if (fail)
        errno = fault == SYSTEM_FULL ? ENOSPC : fault == SYSTEM_INTERRUPTED ? EINTR : EIO;
    return fail;
}

/* A call that returns -1 when it fails. */
#define WRAP(result, name, like, parameters, arguments)                                                                \
    result __real_##name parameters;                                                                                   \
    result __wrap_##name parameters;                                                                                   \
    result __wrap_##name parameters                                                                                    \
    {                                                                                                                  \
        return fails(like) ? -1 : __real_##name arguments;                                                             \
    }

WRAP(int, fstat64, 0, (int file, struct stat64 *state), (file, state))
WRAP(int, stat64, 0, (const char *path, struct stat64 *state), (path, state))
WRAP(off64_t, lseek64, 0, (int file, off64_t offset, int whence), (file, offset, whence))
WRAP(int, ftruncate64, WRITES | WAITS, (int file, off64_t size), (file, size))
WRAP(int, fdatasync, WRITES | WAITS, (int file), (file))
WRAP(int, fsync, WRITES | WAITS, (int file), (file))
WRAP(int, fchmod, 0, (int file, mode_t mode), (file, mode))
WRAP(int, rename, WRITES, (const char *from, const char *to), (from, to))
WRAP(int, unlink, 0, (const char *path), (path))
WRAP(int, rmdir, 0, (const char *path), (path))
WRAP(int, mkdir, WRITES, (const char *path, mode_t mode), (path, mode))
WRAP(int, flock, WAITS, (int file, int operation), (file, operation))
WRAP(int, munmap, 0, (void *address, size_t size), (address, size))
WRAP(int, poll, WAITS, (struct pollfd * files, nfds_t count, int timeout), (files, count, timeout))

/* One that moves bytes: a short one moves one. */
#define WRAP_MOVE(name, like, parameters, arguments)                                                                   \
    ssize_t __real_##name parameters;                                                                                  \
    ssize_t __wrap_##name parameters;                                                                                  \
    ssize_t __wrap_##name parameters                                                                                   \
    {                                                                                                                  \
        if (fails(like | WAITS | MOVES_BYTES)) {                                                                       \
            if (fault != SYSTEM_SHORT)                                                                                 \
                return -1;                                                                                             \
            count = count > 0;                                                                                         \
        }                                                                                                              \
        return __real_##name arguments;                                                                                \
    }

WRAP_MOVE(read, 0, (int file, void *bytes, size_t count), (file, bytes, count))
WRAP_MOVE(pread64, 0, (int file, void *bytes, size_t count, off64_t offset), (file, bytes, count, offset))
WRAP_MOVE(pwrite64, WRITES, (int file, const void *bytes, size_t count, off64_t offset), (file, bytes, count, offset))

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (fails(WAITS | (flags & O_CREAT ? WRITES : 0)))
        return -1;
    int file = __real_open64(path, flags, mode);
    open_files += file >= 0;
    return file;
}

int __real_close(int file);
int __wrap_close(int file);
int __wrap_close(int file)
{
    int result = __real_close(file);
    open_files -= result == 0;
    return fails(WRITES | WAITS) ? -1 : result;
}

void *__real_mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset);
void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset);
void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset)
{
    return fails(0) ? MAP_FAILED : __real_mmap64(address, size, protection, flags, file, offset);
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
    return fails(0) ? NULL : __real_opendir(path);
}

struct dirent64 *__real_readdir64(DIR *folder);
struct dirent64 *__wrap_readdir64(DIR *folder);
struct dirent64 *__wrap_readdir64(DIR *folder)
{
    return fails(0) ? NULL : __real_readdir64(folder);
}

char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved)
{
    return fails(0) ? NULL : __real_realpath(path, resolved);
}
