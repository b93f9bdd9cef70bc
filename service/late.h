/* The body of labels that come after their predictions: {"id", "target"} or a list of them. Apart from any transport. */
#ifndef KEEPFIT_SERVICE_LATE_H
#define KEEPFIT_SERVICE_LATE_H

#include "service/request.h"

struct waiting;

struct label {
    char id[ROWS_ID_MOST + 3]; /* "l:" before it */
    char *target;              /* JSON: a number or a text */
    struct waiting *waiting;   /* whoever looks for it sets it; NULL: it has come before */
};

struct labels {
    struct label *label;
    size_t count, capacity;
};

/* At most `most` of them. Freed by labels_free, also where they are refused. */
bool labels_read(struct labels *labels, const char *bytes, size_t count, size_t most, struct trouble *trouble);
void labels_free(struct labels *labels);

#endif
