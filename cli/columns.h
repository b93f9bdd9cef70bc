/* Notices columns of very different scale, which make every first-order method slow. Looks at the first rows only. */
#ifndef KEEPFIT_CLI_COLUMNS_H
#define KEEPFIT_CLI_COLUMNS_H

#include "keepfit.h"

/* Of a column's entries that are not 0. */
struct column_sizes {
    double square;        /* the sum of their squares, */
    double first, varied; /* and of those less the first */
    uint64_t entries;
};

struct columns {
    struct column_sizes *sizes;
    size_t count;
    uint64_t rows;
    bool done;
    bool centred; /* an intercept is free: columns far from 0 count by how they vary */
};

void columns_see(struct columns *columns, const keepfit_row *row);
/* Warns if it should, once; to be called after the rows were seen. The schema may have names of features. */
void columns_warn(struct columns *columns, const char *name, const keepfit_schema *schema);
void columns_free(struct columns *columns);

#endif
