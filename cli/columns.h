/* Notices columns of very different scale, which make every first-order method slow. Looks at the first rows only. */
#ifndef KEEPFIT_CLI_COLUMNS_H
#define KEEPFIT_CLI_COLUMNS_H

#include "keepfit.h"

struct columns {
    double *square; /* sum of squares of the entries that are not 0 */
    uint64_t *entries;
    size_t count;
    uint64_t rows;
    bool done;
};

void columns_see(struct columns *columns, const keepfit_row *row);
/* Warns if it should, once; to be called after the rows were seen. */
void columns_warn(struct columns *columns, const char *name);
void columns_free(struct columns *columns);

#endif
