/* A number for each point that is present, in the points' order, kept along as they come and leave. */
#ifndef KF_ALONG_H
#define KF_ALONG_H

#include <stdbool.h>
#include <stddef.h>

struct kf_along {
    double *value; /* of the oldest; the memory begins `gone` numbers before it */
    size_t count, capacity, gone;
};

void kf_along_free(struct kf_along *along);
/* False: out of memory, and nothing has changed. */
bool kf_along_append(struct kf_along *along, double number);
/* Point j leaves. O(1) for the oldest. */
void kf_along_remove(struct kf_along *along, size_t j);

#endif
