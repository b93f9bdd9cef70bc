/* An array of rows and columns out of a binary file, row by row. npy and idx differ in the header alone; what
 * follows it is read here. An array in Fortran order (columns one after the other) is read whole before its
 * first row. */
#ifndef KF_ARRAY_H
#define KF_ARRAY_H

#include "stream/element.h"
#include "stream/source.h"

struct kf_array {
    struct kf_source *source;
    /* set by the header: */
    struct kf_element element;
    size_t dimensions; /* as the file gives them; what lies behind the first makes up the columns */
    size_t rows, columns;
    bool fortran;
    size_t header_bytes;
    /* while reading: */
    size_t row; /* rows read */
    unsigned char *raw;
    size_t raw_capacity;
    double *value; /* the row handed out */
};

/* The headers; each reads just that from array->source, and fills in what it says. */
keepfit_status kf_npy_header(struct kf_array *array, keepfit_error *error);
keepfit_status kf_idx_header(struct kf_array *array, keepfit_error *error);
bool kf_is_npy(const unsigned char *bytes, size_t count);
bool kf_is_idx(const unsigned char *bytes, size_t count);

/* Reads the header that the first bytes announce, and checks it against the size of the file where that is
 * known. */
keepfit_status kf_array_open(struct kf_array *array, struct kf_source *source, keepfit_error *error);
void kf_array_close(struct kf_array *array);

/* The next row's values, array->columns of them; KEEPFIT_END after the last, if the file ends there too. */
keepfit_status kf_array_next(struct kf_array *array, const double **value, keepfit_error *error);

#endif
