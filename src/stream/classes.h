/* Classes that a file names by texts: which number stands for which. The thread that reads finds new ones while others look, so there
 * is a lock. A name keeps its number; a new one gets the next whole number that no class has. */
#ifndef KF_CLASSES_H
#define KF_CLASSES_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/schema.h"

struct kf_classes {
    pthread_mutex_t lock;
    struct kf_schema known;
    atomic_size_t count; /* of the known ones, for those who only want to know whether there are new ones */
    double next;
};

/* Begins with those of the schema, which may be NULL. False: out of memory; it has to be closed all the same. */
bool kf_classes_open(struct kf_classes *classes, const keepfit_schema *schema);
void kf_classes_close(struct kf_classes *classes);
static inline size_t kf_classes_count(struct kf_classes *classes)
{
    return atomic_load(&classes->count);
}

/* The number of a name that is known. For the thread that reads, which alone adds names. */
bool kf_classes_know(const struct kf_classes *classes, const char *name, size_t length, double *label);
/* The number that stands for the name, which may be new. False: out of memory. */
bool kf_classes_find(struct kf_classes *classes, const char *name, double *label);
/* Adds what `schema` does not have yet. False: out of memory. */
bool kf_classes_copy(struct kf_classes *classes, struct kf_schema *schema);

#endif
