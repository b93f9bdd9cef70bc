/* What shuffle, limit and scale do to rows that have been read.
 *
 * The rows are kept once, as they stood in the file; a plan says which of them are used, in what order, and
 * how they are scaled. Several plans may share the rows, so another seed costs an order and a scaling but no
 * second copy.
 *
 * shuffle: Fisher and Yates over all rows, drawn from the seed. Then limit takes the first of that order.
 * Then the scaling is made from the rows taken. */
#ifndef KF_PREPARE_H
#define KF_PREPARE_H

#include "stream/marks.h"
#include "stream/scaling.h"

struct kf_kept {
    struct kf_points points;
    uint64_t *line; /* where each stood */
    size_t line_capacity;
    struct kf_marks marks; /* where they have any */
};

bool kf_kept_append(struct kf_kept *kept, const keepfit_point *point, uint64_t line);
void kf_kept_free(struct kf_kept *kept);

struct kf_plan {
    size_t used;
    size_t *order; /* NULL: as they stood */
    struct kf_scaling scaling;
    double *value; /* room for one scaled row */
};

/* From the options shuffle, limit and scale, but the seed given here. */
keepfit_status kf_plan_make(struct kf_plan *plan, const struct kf_kept *kept, const keepfit_options *options,
                            uint64_t seed, keepfit_error *error);
void kf_plan_free(struct kf_plan *plan);

/* Which of the rows kept is point j of the plan. */
size_t kf_plan_row(const struct kf_plan *plan, size_t j);
/* Point j of the plan, scaled, valid until the next call; *line is where it stood. */
void kf_plan_point(const struct kf_plan *plan, const struct kf_kept *kept, size_t j, keepfit_point *point,
                   uint64_t *line);

#endif
