/* images.h - images of digits in memory, chosen from the idx files. */
#ifndef KEEPFIT_IMAGES_H
#define KEEPFIT_IMAGES_H

#include "data.h"
#include "keepfit.h"

/* Points in an order; pixels are divided by 255, and only those that are not 0 are kept. */
struct images {
    keepfit_point *points;
    size_t count;
    double *values; /* what the points' rows refer to */
    uint32_t *indices;
};

enum image_order {
    IMAGES_MIXED,    /* drawn uniformly without replacement from the whole file */
    IMAGES_ASCENDING /* as many of each digit: 0 and 1 mixed, then 2, 3, ... 9 */
};

/* count: in all, a tenth of each digit where the order is ascending. Returns an exit code. */
int images_read(const struct data_file *pixels, const struct data_file *labels, enum image_order order, size_t count,
                uint64_t seed, struct images *images);

#endif
