/* The names in a folder, and taking a folder away. */
#ifndef KF_FOLDER_H
#define KF_FOLDER_H

#include "keepfit.h"

struct kf_names {
    char **name; /* sorted */
    size_t count, capacity;
};

keepfit_status kf_names_read(struct kf_names *names, const keepfit_disk *disk, const char *folder,
                             keepfit_error *error);
void kf_names_free(struct kf_names *names);

/* Removes a folder and the files in it; 0 or -errno. */
int kf_folder_remove(const keepfit_disk *disk, const char *folder);

/* Whether the name is `digits` digits and then the suffix; *number is what they say. */
bool kf_name_number(const char *name, size_t digits, const char *suffix, uint64_t *number);

#endif
