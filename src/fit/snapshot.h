/* A fit's whole state as bytes: iterate, remembered gradients, anchors, factors of matrices, random numbers, counters. A fit that
 * was restored goes on bit for bit as the one that the snapshot was taken of would have. Taking it changes nothing.
 *
 * Neither the options nor the points are in it: it is restored into a fit that was created with the same options, and whose
 * points have been recalled, in order, those that had left excluded. */
#ifndef KF_SNAPSHOT_H
#define KF_SNAPSHOT_H

#include "fit/fit.h"

/* Of a fit that is not dead. Writes to the archive's end; KEEPFIT_NO_MEMORY. */
keepfit_status kf_snapshot_take(keepfit_fit *fit, struct kf_archive *archive);
/* The same without what a journal's records say of the points. */
keepfit_status kf_snapshot_take_beside_records(keepfit_fit *fit, struct kf_archive *archive);

/* Puts a point into the history with its target as it came, and does nothing else. False: out of memory. */
bool kf_snapshot_recall(keepfit_fit *fit, const keepfit_point *point);

/* KEEPFIT_CORRUPT: the bytes are no snapshot of such a fit. After a failure the fit is only good to be freed. */
keepfit_status kf_snapshot_restore(keepfit_fit *fit, struct kf_archive *archive, keepfit_error *error);

#endif
