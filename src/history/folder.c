#include "history/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

static int take_name(void *argument, const char *name)
{
    struct kf_names *names = argument;
    if (!KF_RESERVE(names->name, names->capacity, names->count + 1))
        return -ENOMEM;
    char *copy = kf_copy_text(name);
    if (!copy)
        return -ENOMEM;
    names->name[names->count++] = copy;
    return 0;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

keepfit_status kf_names_read(struct kf_names *names, const keepfit_disk *disk, const char *folder, keepfit_error *error)
{
    *names = (struct kf_names){0};
    int problem = disk->list(disk->context, folder, take_name, names);
    if (problem < 0) {
        kf_names_free(names);
        return kf_disk_fail(error, folder, "cannot read the folder", problem);
    }
    if (names->count)
        qsort(names->name, names->count, sizeof *names->name, compare_names);
    return KEEPFIT_OK;
}

void kf_names_free(struct kf_names *names)
{
    for (size_t k = 0; k < names->count; k++)
        free(names->name[k]);
    free(names->name);
    *names = (struct kf_names){0};
}

int kf_folder_remove(const keepfit_disk *disk, const char *folder)
{
    struct kf_names names = {0};
    int problem = disk->list(disk->context, folder, take_name, &names);
    for (size_t k = 0; k < names.count && problem == 0; k++) {
        char *path = kf_disk_join(folder, names.name[k]);
        problem = path ? disk->remove(disk->context, path) : -ENOMEM;
        free(path);
    }
    kf_names_free(&names);
    return problem ? problem : disk->remove(disk->context, folder);
}

bool kf_name_number(const char *name, size_t digits, const char *suffix, uint64_t *number)
{
    const char *stop = NULL;
    return strlen(name) > digits - 1 && strcmp(name + digits, suffix) == 0 &&
           kf_read_count(name, name + digits, number, &stop) == KF_NUMBER_OK && stop == name + digits;
}
