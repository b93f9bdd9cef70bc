/* Columns that are kept less a constant, their centre: a Unix time as the seconds since some time of the stream; and in another unit,
 * their scale, which is a power of two.
 *
 * The subtraction is exact, or it is not made: what is kept is the real number a - c, and a comes back with its bits. So the rows as
 * they came need no memory beside the centred ones. A row that lacks a centred column gets the entry -c, and is marked as filled, so
 * that the entry goes again when the row is read back.
 *
 * The rows that go in and come out are without the constant in front, which stands there in all rows that are kept. */
#ifndef KF_CENTRES_H
#define KF_CENTRES_H

#include "history/points.h"

struct kf_centre {
    uint32_t column;
    double value; /* not 0 */
};

struct kf_centres {
    size_t count, capacity;
    struct kf_centre *at; /* columns ascend */
    double *scale;        /* of the columns 0 .. scales-1; those of the others are 1 */
    size_t scales, scale_capacity;
    double *value; /* of the row that was made last */
    uint32_t *index;
    size_t value_capacity, index_capacity;
};

void kf_centres_free(struct kf_centres *centres);
/* A column that comes behind all others. False: out of memory. */
bool kf_centres_add(struct kf_centres *centres, uint32_t column, double value);

/* Whether rows are kept otherwise than they came. */
static inline bool kf_centres_change(const struct kf_centres *centres)
{
    return centres->count || centres->scales;
}

static inline double kf_centres_scale(const struct kf_centres *centres, uint32_t column)
{
    return column < centres->scales ? centres->scale[column] : 1;
}

/* The scale of a column behind all others that have one, which is 1 for those between. False: out of memory. */
bool kf_centres_add_scale(struct kf_centres *centres, uint32_t column, double scale);

struct kf_centred_row {
    keepfit_row row; /* valid until the next one is made */
    bool filled;     /* it has entries that did not come */
};

enum kf_centred { KF_CENTRED, KF_CENTRED_MEMORY, KF_CENTRED_INEXACT };
/* INEXACT: *column cannot be centred so that this row comes back with its bits. */
enum kf_centred kf_centres_apply(struct kf_centres *centres, const keepfit_row *row, struct kf_centred_row *centred,
                                 uint32_t *column);
/* Point j's row as it came. False: out of memory. */
bool kf_centres_undo(struct kf_centres *centres, const struct kf_points *points, size_t j, keepfit_row *row);

/* A column of a kept row, which has this centre, or 0 for none: its value less that, and whether it came with the row. */
struct kf_cell {
    double value;
    bool came;
};
struct kf_cell kf_centres_cell(const struct kf_points *points, size_t j, struct kf_centre centre, double scale);

#endif
