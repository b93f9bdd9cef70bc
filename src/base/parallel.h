/* Work that falls into parts which do not touch each other, done on several threads. */
#ifndef KF_PARALLEL_H
#define KF_PARALLEL_H

#include <stddef.h>

/* Does part `part` of `parts`. */
typedef void kf_share(void *context, size_t part, size_t parts);

/* Calls share(context, part, threads) once for every part, the first one on this thread. Returns when all are done. Where no
 * thread can be had, this one does the part. */
void kf_share_out(size_t threads, kf_share *share, void *context);

/* The first item of a part where `count` items are dealt out evenly; that of part+1 is where the part ends. */
static inline size_t kf_share_begin(size_t count, size_t part, size_t parts)
{
    return count / parts * part + (count % parts < part ? count % parts : part);
}

#endif
