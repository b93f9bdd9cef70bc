/* Gzip data (RFC 1952), inflated piece by piece. A file may hold several members one after the other, as `cat
 * a.gz b.gz` makes them; anything else behind a member is a fault, not something to be ignored. */
#ifndef KF_GZIP_H
#define KF_GZIP_H

#include <stdbool.h>
#include <stddef.h>

struct kf_gzip;

enum kf_gzip_fault {
    KF_GZIP_FINE,
    KF_GZIP_DAMAGED,
    KF_GZIP_GARBAGE, /* bytes after the last member that begin no other */
    KF_GZIP_NO_MEMORY
};

struct kf_gzip *kf_gzip_create(void); /* NULL: out of memory */
void kf_gzip_free(struct kf_gzip *gzip);

/* Inflates from [*input, *input + *count), which it advances, into output; *produced says how much came out.
 * A fault stays: it is reported again by every later call. What came out before a fault is good. */
enum kf_gzip_fault kf_gzip_step(struct kf_gzip *gzip, const unsigned char **input, size_t *count, void *output,
                                size_t capacity, size_t *produced);

/* Whether the data may end here: at least one member, and all of them whole. */
bool kf_gzip_is_whole(const struct kf_gzip *gzip);

#endif
