/* Writing and syncing that go on while points keep coming: one thread, which does nothing else. */
#ifndef KF_BACKGROUND_H
#define KF_BACKGROUND_H

#include "keepfit.h"

struct kf_background;

/* NULL: there is no memory or no thread to be had, and whoever wants a sync has to wait for it. */
struct kf_background *kf_background_create(const keepfit_disk *disk);
/* Waits for what is going on, if anything. */
void kf_background_free(struct kf_background *background);

/* 0 or -errno, each; what was not written is not synced. */
struct kf_background_end {
    int write, sync;
};

/* Begins to write the bytes at the offset and to sync the file then; what was begun before must have been collected. The file
 * stays open, and the bytes stay as they are, until this has been. */
void kf_background_begin(struct kf_background *background, int file, const void *bytes, size_t count, uint64_t offset);
/* Whether it has ended, or after waiting for that, and how. */
bool kf_background_collect(struct kf_background *background, bool wait, struct kf_background_end *end);

#endif
