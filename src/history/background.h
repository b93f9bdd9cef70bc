/* A sync that goes on while points keep coming: one thread, which does nothing else. */
#ifndef KF_BACKGROUND_H
#define KF_BACKGROUND_H

#include "keepfit.h"

struct kf_background;

/* NULL: there is no memory or no thread to be had, and whoever wants a sync has to wait for it. */
struct kf_background *kf_background_create(const keepfit_disk *disk);
/* Waits for the sync that is going on, if any. */
void kf_background_free(struct kf_background *background);

/* Begins a sync of the file; the one before must have been collected. The file stays open until then. */
void kf_background_begin(struct kf_background *background, int file);
/* Whether it has ended, or after waiting for that; *result: 0 or -errno. */
bool kf_background_collect(struct kf_background *background, bool wait, int *result);

#endif
