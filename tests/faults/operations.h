/* What is done while something fails: everything that the library offers, each as one operation from nothing to nothing. */
#ifndef KEEPFIT_FAULTS_OPERATIONS_H
#define KEEPFIT_FAULTS_OPERATIONS_H

#include "keepfit.h"

/* What came out. */
struct outcome {
    keepfit_status status;
    keepfit_error error;
    uint64_t digest;    /* of all results, where the status is KEEPFIT_OK */
    const char *breach; /* a promise that was broken; NULL: none */
};

struct operation {
    char name[160];
    char settings[512];
    const char *path;                                   /* where it takes a file */
    void (*prepare)(const struct operation *operation); /* before each run, while nothing fails; may be NULL */
    void (*run)(const struct operation *operation, struct outcome *outcome);
};

/* Called by an operation once it has met a failure, before it looks at what is left: nothing fails any more. */
extern void (*operations_calm)(void);

/* Options from "key=value ...". */
keepfit_status make_options(const char *settings, keepfit_options **options, keepfit_error *error);
void add_to_digest(struct outcome *outcome, const void *bytes, size_t count);

/* Files that operations read, in a folder of their own; removed by operations_end. */
void operations_begin(void);
void operations_end(void);
const char *operations_path(const char *name);
/* Removes a folder and all that is in it; not by calls that are made to fail. */
void operations_wipe(const char *path);

struct tap;
/* Checks that the operation works while nothing fails, and tells what comes out then. */
bool operation_works(struct tap *tap, const struct operation *operation, struct outcome *expected);

/* Each fills in its part of the list and gives the number. Of methods with losses, only every share-th pair. */
size_t fit_operations(struct operation *list, size_t most, size_t share);
size_t stream_operations(struct operation *list, size_t most);
size_t journal_operations(struct operation *list, size_t most);

#endif
