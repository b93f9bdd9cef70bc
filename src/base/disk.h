/* Files that have to last: what journals, checkpoints and models do with the table of functions keepfit_disk, so that short
 * writes, replacing and messages are dealt with in one place. The system's own table, which retries what a signal
 * interrupted, is in disk_system.c. */
#ifndef KF_DISK_H
#define KF_DISK_H

#include "keepfit.h"

/* The disk that the options name, or the system's. */
const keepfit_disk *kf_disk_of(const keepfit_options *options);

/* "path: doing: reason" with status KEEPFIT_IO, and what to do about it where that is known. problem: -errno. */
keepfit_status kf_disk_fail(keepfit_error *error, const char *path, const char *doing, int64_t problem);

/* All of it, in as many writes as it takes; 0 or -errno. */
int kf_disk_write(const keepfit_disk *disk, int file, const void *bytes, size_t count, uint64_t offset);
/* As much as there is up to count: the number read, or -errno. */
int64_t kf_disk_read(const keepfit_disk *disk, int file, void *bytes, size_t count, uint64_t offset);

/* The whole file, to be freed. kind: what messages call it ("the model"). */
keepfit_status kf_disk_load(const keepfit_disk *disk, const char *path, const char *kind, unsigned char **bytes,
                            size_t *count, keepfit_error *error);

/* Puts a file of these bytes in the place of the old one, if any: path names the whole old or the whole new file, whatever
 * happens, and the new one for good once this has returned KEEPFIT_OK. A temporary file beside it is written, synced and
 * renamed, and the folder is synced. Only regular files are replaced; links keep pointing to theirs. */
keepfit_status kf_disk_replace(const keepfit_disk *disk, const char *path, const char *kind, const void *bytes,
                               size_t count, keepfit_error *error);

/* The folder that a path's name stands in, to be freed; NULL: out of memory. */
char *kf_disk_folder_of(const char *path);
/* "folder/name", to be freed; NULL: out of memory. */
char *kf_disk_join(const char *folder, const char *name);

#endif
