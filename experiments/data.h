/* data.h - the data sets of the paper: where they come from, how they are recognised, and what stands in for them.
 *
 * Nothing is downloaded. A folder named by the user must hold every file that is needed, plain or as NAME.gz; without a folder
 * files of the same shape are made up (OUT/stand-ins), and everything that is reported says so. */
#ifndef KEEPFIT_DATA_H
#define KEEPFIT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct data_folder {
    const char *path; /* NULL: there is none, stand-ins are made */
    const char *out;
    uint64_t seed; /* of the stand-ins */
};

/* One file, found. */
struct data_file {
    const char *name;
    char path[1024];
    char checksum[65]; /* of its content, unpacked */
    bool stand_in;     /* made up */
    bool expected;     /* the content is the one that the figures in docs/reproduction.md were made from */
};

/* Finds or makes the file of this name, which must be in the table. Returns an exit code; a file that is missing is reported
 * with its origin and checksum. */
int data_find(const struct data_folder *folder, const char *name, struct data_file *file);

/* standin.c: writes a file like `name` with these rows and columns; images and their labels are made together. Returns an
 * exit code. */
int standin_write(const char *name, const char *path, size_t rows, size_t features, uint64_t seed);

#endif
