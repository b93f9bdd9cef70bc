/* The table of disk functions that the operating system offers. What a signal interrupts is done again here, and nowhere
 * else. */
#define _GNU_SOURCE /* flock, realpath */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"

/* The most that one read or write is asked for; the system's own limit is a little above. */
#define PIECE ((size_t)1 << 30)

static int outcome(int result)
{
    return result < 0 ? -errno : result;
}

static int open_again(const char *path, int flags)
{
    int file;
    do
        file = open(path, flags | O_CLOEXEC, 0666);
    while (file < 0 && errno == EINTR);
    return file;
}

static int disk_open(void *context, const char *path, unsigned access, unsigned permissions)
{
    (void)context;
    int flags = (access & KEEPFIT_DISK_WRITE ? O_RDWR : O_RDONLY);
    if (access & KEEPFIT_DISK_CREATE)
        flags |= O_CREAT | (access & KEEPFIT_DISK_EXCLUSIVE ? O_EXCL : 0);
    int file = open_again(path, flags);
    if (file < 0 || !permissions || fchmod(file, (mode_t)permissions) == 0)
        return outcome(file);
    int problem = -errno;
    close(file);
    return problem;
}

static int disk_close(void *context, int file)
{
    (void)context;
    /* On Linux the handle is gone even when close was interrupted; what was synced before is not at stake. */
    int result = close(file);
    return result < 0 && errno == EINTR ? 0 : outcome(result);
}

static int64_t disk_read(void *context, int file, void *bytes, size_t count, uint64_t offset)
{
    (void)context;
    ssize_t got;
    if (count > PIECE)
        count = PIECE;
    do {
        got = pread(file, bytes, count, (off_t)offset);
        if (got < 0 && errno == ESPIPE) /* a pipe is read in order, which is how whole files are read anyway */
            got = read(file, bytes, count);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

static int64_t disk_write(void *context, int file, const void *bytes, size_t count, uint64_t offset)
{
    (void)context;
    ssize_t put;
    do
        put = pwrite(file, bytes, count < PIECE ? count : PIECE, (off_t)offset);
    while (put < 0 && errno == EINTR);
    return put < 0 ? -errno : put;
}

static int64_t disk_size(void *context, int file)
{
    (void)context;
    struct stat state;
    return fstat(file, &state) < 0 ? -errno : state.st_size;
}

static int disk_truncate(void *context, int file, uint64_t size)
{
    (void)context;
    int result;
    do
        result = ftruncate(file, (off_t)size);
    while (result < 0 && errno == EINTR);
    return outcome(result);
}

static int disk_sync(void *context, int file)
{
    (void)context;
    int result;
    do
        result = fdatasync(file);
    while (result < 0 && errno == EINTR);
    return outcome(result);
}

static int disk_map(void *context, int file, size_t size, const void **bytes)
{
    (void)context;
    void *address = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    if (address == MAP_FAILED)
        return -errno;
    *bytes = address;
    return 0;
}

static int disk_unmap(void *context, const void *bytes, size_t size)
{
    (void)context;
    return outcome(munmap((void *)(uintptr_t)bytes, size));
}

static int disk_lock(void *context, int file)
{
    (void)context;
    int result;
    do
        result = flock(file, LOCK_EX | LOCK_NB);
    while (result < 0 && errno == EINTR);
    return outcome(result);
}

static int disk_rename(void *context, const char *from, const char *to)
{
    (void)context;
    return outcome(rename(from, to));
}

static int disk_remove(void *context, const char *path)
{
    (void)context;
    if (unlink(path) == 0)
        return 0;
    return errno == EISDIR ? outcome(rmdir(path)) : -errno;
}

static int disk_make_folder(void *context, const char *path)
{
    (void)context;
    return outcome(mkdir(path, 0777));
}

static int disk_sync_folder(void *context, const char *path)
{
    (void)context;
    int folder = open_again(path, O_RDONLY | O_DIRECTORY), result;
    if (folder < 0)
        return -errno;
    do
        result = outcome(fsync(folder));
    while (result == -EINTR);
    close(folder);
    return result == -EINVAL ? 0 : result; /* a file system whose folders cannot be synced keeps them by itself */
}

static int disk_list(void *context, const char *path, int (*visit)(void *argument, const char *name), void *argument)
{
    (void)context;
    DIR *folder = opendir(path);
    int result = 0;
    if (!folder)
        return -errno;
    while (result == 0) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (!entry) {
            result = -errno;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            result = visit(argument, entry->d_name);
    }
    closedir(folder);
    return result;
}

static int disk_examine(void *context, const char *path, keepfit_disk_kind *kind, unsigned *permissions)
{
    (void)context;
    struct stat state;
    if (stat(path, &state) < 0)
        return -errno;
    *kind = S_ISREG(state.st_mode)   ? KEEPFIT_DISK_FILE
            : S_ISDIR(state.st_mode) ? KEEPFIT_DISK_FOLDER
                                     : KEEPFIT_DISK_OTHER;
    if (permissions)
        *permissions = state.st_mode & 0777;
    return 0;
}

static int disk_resolve(void *context, const char *path, char **place)
{
    (void)context;
    *place = realpath(path, NULL);
    return *place ? 0 : -errno;
}

const keepfit_disk *keepfit_disk_system(void)
{
    static const keepfit_disk system = {
        .struct_size = sizeof(keepfit_disk),
        .concurrent = true,
        .open = disk_open,
        .close = disk_close,
        .read = disk_read,
        .write = disk_write,
        .size = disk_size,
        .truncate = disk_truncate,
        .sync = disk_sync,
        .map = disk_map,
        .unmap = disk_unmap,
        .lock = disk_lock,
        .rename = disk_rename,
        .remove = disk_remove,
        .make_folder = disk_make_folder,
        .sync_folder = disk_sync_folder,
        .list = disk_list,
        .examine = disk_examine,
        .resolve = disk_resolve,
    };
    return &system;
}
