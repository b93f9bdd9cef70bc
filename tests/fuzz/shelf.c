#include "shelf.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "fuzz.h"

#define FORGOTTEN SHELF_FILES_MOST /* the handle of what is written */

static const struct shelf_file *find(const struct shelf *shelf, const char *path)
{
    for (size_t k = 0; k < shelf->count; k++)
        if (strcmp(shelf->files[k].path, path) == 0)
            return &shelf->files[k];
    return NULL;
}

/* What follows "folder/" in a path; NULL: it lies elsewhere. */
static const char *within(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

static bool is_folder(const struct shelf *shelf, const char *path)
{
    for (size_t k = 0; k < shelf->count; k++)
        if (within(shelf->files[k].path, path))
            return true;
    return false;
}

static int shelf_open_file(void *context, const char *path, unsigned access, unsigned permissions)
{
    const struct shelf *shelf = context;
    const struct shelf_file *file = find(shelf, path);
    (void)permissions;
    if (file)
        return access & KEEPFIT_DISK_EXCLUSIVE ? -EEXIST : (int)(file - shelf->files);
    return access & KEEPFIT_DISK_CREATE ? FORGOTTEN : -ENOENT;
}

static int64_t shelf_read(void *context, int file, void *bytes, size_t count, uint64_t offset)
{
    const struct shelf *shelf = context;
    if (file == FORGOTTEN || offset >= shelf->files[file].size)
        return 0;
    size_t left = shelf->files[file].size - (size_t)offset;
    count = count < left ? count : left;
    memcpy(bytes, shelf->files[file].bytes + offset, count);
    return (int64_t)count;
}

static int64_t shelf_write(void *context, int file, const void *bytes, size_t count, uint64_t offset)
{
    (void)context, (void)file, (void)bytes, (void)offset;
    return (int64_t)count;
}

static int64_t shelf_size(void *context, int file)
{
    const struct shelf *shelf = context;
    return file == FORGOTTEN ? 0 : (int64_t)shelf->files[file].size;
}

static int shelf_map(void *context, int file, size_t size, const void **bytes)
{
    const struct shelf *shelf = context;
    if (file == FORGOTTEN || size > shelf->files[file].size)
        return -EINVAL;
    *bytes = shelf->files[file].bytes;
    return 0;
}

static int shelf_unmap(void *context, const void *bytes, size_t size)
{
    (void)context, (void)bytes, (void)size;
    return 0;
}

static int shelf_list(void *context, const char *path, int (*visit)(void *argument, const char *name), void *argument)
{
    const struct shelf *shelf = context;
    int result = is_folder(shelf, path) ? 0 : -ENOENT;
    for (size_t k = 0; k < shelf->count && result == 0; k++) {
        const char *rest = within(shelf->files[k].path, path), *before;
        if (!rest)
            continue;
        size_t length = strcspn(rest, "/");
        before = k ? within(shelf->files[k - 1].path, path) : NULL; /* files of a folder follow one another */
        if (before && strncmp(before, rest, length + 1) == 0)
            continue;
        char name[96];
        memcpy(name, rest, length);
        name[length] = '\0';
        result = visit(argument, name);
    }
    return result;
}

static int shelf_examine(void *context, const char *path, keepfit_disk_kind *kind, unsigned *permissions)
{
    const struct shelf *shelf = context;
    bool file = find(shelf, path);
    if (!file && !is_folder(shelf, path))
        return -ENOENT;
    *kind = file ? KEEPFIT_DISK_FILE : KEEPFIT_DISK_FOLDER;
    if (permissions)
        *permissions = 0;
    return 0;
}

static int shelf_resolve(void *context, const char *path, char **place)
{
    (void)context, (void)path, (void)place;
    return -ENOENT;
}

/* What changes something, and is forgotten. */
static int forget_file(void *context, int file)
{
    (void)context, (void)file;
    return 0;
}

static int forget_size(void *context, int file, uint64_t size)
{
    (void)context, (void)file, (void)size;
    return 0;
}

static int forget_path(void *context, const char *path)
{
    (void)context, (void)path;
    return 0;
}

static int forget_paths(void *context, const char *from, const char *to)
{
    (void)context, (void)from, (void)to;
    return 0;
}

void shelf_open(struct shelf *shelf)
{
    *shelf = (struct shelf){.disk = {
                                .struct_size = sizeof(keepfit_disk),
                                .context = shelf,
                                .open = shelf_open_file,
                                .close = forget_file,
                                .read = shelf_read,
                                .write = shelf_write,
                                .size = shelf_size,
                                .truncate = forget_size,
                                .sync = forget_file,
                                .map = shelf_map,
                                .unmap = shelf_unmap,
                                .lock = forget_file,
                                .rename = forget_paths,
                                .remove = forget_path,
                                .make_folder = forget_path,
                                .sync_folder = forget_path,
                                .list = shelf_list,
                                .examine = shelf_examine,
                                .resolve = shelf_resolve,
                            }};
}

struct shelf_file *shelf_add(struct shelf *shelf, const char *path, const void *bytes, size_t size)
{
    FUZZ_LAW(shelf->count < SHELF_FILES_MOST && strlen(path) < sizeof shelf->files[0].path);
    struct shelf_file *file = &shelf->files[shelf->count++];
    strcpy(file->path, path);
    file->bytes = malloc(size ? size : 1);
    FUZZ_LAW(file->bytes);
    memcpy(file->bytes, bytes, size);
    file->size = size;
    return file;
}
