#define _POSIX_C_SOURCE 200809L
#include "base/disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"

/* Files are loaded by pieces of so many bytes. */
#ifndef KF_LOAD_BYTES
#define KF_LOAD_BYTES 65536
#endif

const keepfit_disk *kf_disk_of(const keepfit_options *options)
{
    return options && options->disk ? options->disk : keepfit_disk_system();
}

static const char *advice(int64_t problem)
{
    switch (-problem) {
    case ENOSPC:
    case EDQUOT:
        return "; make room, then start again";
    case EROFS:
        return "; the medium is read-only: give a place that can be written";
    case EIO:
        return "; the disk may be failing: copy what it holds to another one";
    default:
        return "";
    }
}

keepfit_status kf_disk_fail(keepfit_error *error, const char *path, const char *doing, int64_t problem)
{
    if (problem == -ENOMEM)
        return kf_fail_memory(error);
    return kf_fail(error, KEEPFIT_IO, "%s: %s: %s%s", path, doing, strerror((int)-problem), advice(problem));
}

int kf_disk_write(const keepfit_disk *disk, int file, const void *bytes, size_t count, uint64_t offset)
{
    const unsigned char *at = bytes;
    while (count > 0) {
        int64_t put = disk->write(disk->context, file, at, count, offset);
        if (put <= 0)
            return put < 0 ? (int)put : -EIO;
        at += put;
        offset += (uint64_t)put;
        count -= (size_t)put;
    }
    return 0;
}

int64_t kf_disk_read(const keepfit_disk *disk, int file, void *bytes, size_t count, uint64_t offset)
{
    size_t done = 0;
    while (done < count) {
        int64_t got = disk->read(disk->context, file, (unsigned char *)bytes + done, count - done, offset + done);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (int64_t)done;
}

keepfit_status kf_disk_load(const keepfit_disk *disk, const char *path, const char *kind, unsigned char **bytes,
                            size_t *count, keepfit_error *error)
{
    char doing[64];
    snprintf(doing, sizeof doing, "cannot open %s", kind);
    int file = disk->open(disk->context, path, KEEPFIT_DISK_READ, 0);
    if (file < 0)
        return kf_disk_fail(error, path, doing, file);
    unsigned char *all = NULL;
    size_t used = 0, capacity = 0;
    int64_t got = 1;
    bool room = true;
    /* By pieces, not by size: a pipe has none, and a file may grow. */
    while (got > 0 && (room = KF_RESERVE(all, capacity, used + KF_LOAD_BYTES))) {
        got = kf_disk_read(disk, file, all + used, capacity - used, used);
        used += got > 0 ? (size_t)got : 0;
    }
    disk->close(disk->context, file);
    if (room && got == 0) {
        *bytes = all;
        *count = used;
        return KEEPFIT_OK;
    }
    free(all);
    snprintf(doing, sizeof doing, "cannot read %s", kind);
    return room ? kf_disk_fail(error, path, doing, got) : kf_fail_memory(error);
}

char *kf_disk_folder_of(const char *path)
{
    char *folder = kf_copy_text(strchr(path, '/') ? path : ".");
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[slash == folder] = '\0';
    return folder;
}

char *kf_disk_join(const char *folder, const char *name)
{
    size_t room = strlen(folder) + strlen(name) + 2;
    char *path = kf_allocate_raw(room);
    if (path)
        snprintf(path, room, "%s/%s", folder, name);
    return path;
}

/* Writes and syncs the temporary file; 0 or -errno. */
static int write_whole(const keepfit_disk *disk, const char *temporary, unsigned permissions, const void *bytes,
                       size_t count)
{
    /* Whoever left a file of this very name, with our process number in it, is gone. */
    disk->remove(disk->context, temporary);
    int file = disk->open(disk->context, temporary, KEEPFIT_DISK_WRITE | KEEPFIT_DISK_CREATE | KEEPFIT_DISK_EXCLUSIVE,
                          permissions);
    if (file < 0)
        return file;
    int problem = kf_disk_write(disk, file, bytes, count, 0);
    if (problem == 0)
        problem = disk->sync(disk->context, file);
    int closed = disk->close(disk->context, file);
    return problem ? problem : closed;
}

/* place: where the file really lies; 0 or -errno. */
static int write_and_rename(const keepfit_disk *disk, const char *place, const char *temporary, const char *folder,
                            const void *bytes, size_t count)
{
    keepfit_disk_kind kind;
    unsigned permissions = 0;
    int problem = disk->examine(disk->context, place, &kind, &permissions);
    if (problem == 0 || problem == -ENOENT)
        problem = write_whole(disk, temporary, permissions, bytes, count);
    if (problem == 0)
        problem = disk->rename(disk->context, temporary, place);
    if (problem == 0)
        return disk->sync_folder(disk->context, folder);
    disk->remove(disk->context, temporary);
    return problem;
}

keepfit_status kf_disk_replace(const keepfit_disk *disk, const char *path, const char *kind, const void *bytes,
                               size_t count, keepfit_error *error)
{
    keepfit_disk_kind old;
    if (disk->examine(disk->context, path, &old, NULL) == 0 && old != KEEPFIT_DISK_FILE)
        return kf_fail(error, KEEPFIT_IO, "%s: is not a regular file, so %s is not written there", path, kind);
    char *target = NULL, doing[64];
    const char *place = disk->resolve(disk->context, path, &target) == 0 ? target : path;
    size_t room = strlen(place) + 40;
    char *temporary = kf_allocate_raw(room), *folder = kf_disk_folder_of(place);
    int problem = -ENOMEM;
    if (temporary && folder) {
        snprintf(temporary, room, "%s.new-%ld", place, (long)getpid());
        problem = write_and_rename(disk, place, temporary, folder, bytes, count);
    }
    free(folder);
    free(temporary);
    free(target);
    snprintf(doing, sizeof doing, "cannot write %s", kind);
    return problem ? kf_disk_fail(error, path, doing, problem) : KEEPFIT_OK;
}
