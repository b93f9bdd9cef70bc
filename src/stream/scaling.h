/* Scaling of features: scaled value = factor[k]*raw + shift[k].
 *
 *   columns  factor = 1 / Euclidean norm of the column; a zero column keeps 1
 *   minmax   [least, largest] of the column goes to [-1, 1]; a constant column goes to 0
 *   rows     each row is divided by its own norm, so there are no factors
 *
 * Entries that a sparse row leaves out count as zeros. Nothing here overflows, whatever finite values come
 * in. */
#ifndef KF_SCALING_H
#define KF_SCALING_H

#include "base/options.h"
#include "history/points.h"

struct kf_scaling {
    enum kf_scale kind;
    size_t features;        /* beyond these, factor 1 and shift 0 */
    double *factor, *shift; /* NULL for none and rows */
};

/* The scaling of the points that the stream hands out. Lives as long as the stream. */
const struct kf_scaling *kf_stream_scaling(const keepfit_stream *stream);

/* From the rows order[0 .. used-1] (order NULL: 0 .. used-1). */
keepfit_status kf_scaling_make(struct kf_scaling *scaling, enum kf_scale kind, const struct kf_points *points,
                               const size_t *order, size_t used, keepfit_error *error);
void kf_scaling_free(struct kf_scaling *scaling);

/* How many values a scaled row takes. */
size_t kf_scaling_room(const struct kf_scaling *scaling, const keepfit_row *row);

/* The row scaled into value, which has that much room; the result's index may be the row's own. */
keepfit_row kf_scaling_apply(const struct kf_scaling *scaling, const keepfit_row *row, double *value);

#endif
