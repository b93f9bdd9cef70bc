/* A disk of a few files in memory: they can be read, and whatever is written is accepted and forgotten. So the same bytes can be
 * opened again and again. */
#ifndef KEEPFIT_FUZZ_SHELF_H
#define KEEPFIT_FUZZ_SHELF_H

#include "keepfit.h"

#define SHELF_FILES_MOST 8

struct shelf_file {
    char path[96];
    unsigned char *bytes;
    size_t size;
};

struct shelf {
    keepfit_disk disk; /* give it to keepfit_options_disk */
    struct shelf_file files[SHELF_FILES_MOST];
    size_t count;
};

void shelf_open(struct shelf *shelf);
/* A file more, with a copy of these bytes. Folders are there as soon as there is something in them. */
struct shelf_file *shelf_add(struct shelf *shelf, const char *path, const void *bytes, size_t size);

#endif
