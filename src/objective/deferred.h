/* Changes of a network's first layer that are not written yet, into v, m and t (iterate.h).
 *
 * A step changes W1 by an outer product of a row with H numbers. Writing it, and reading W1 for the next point, would move all of the
 * row's blocks of W1 through memory at every step. Instead the last changes are kept as they are, a row and H numbers each, and a
 * product of W1 with a row is
 *
 *     a W1 = s (a V) + c (a M) + sum over the changes of (a . row_k) (s * change of v_k + c * change of m_k),
 *
 * where V and M stand still. So a V and a M of the points that will be drawn next are computed together, V and M going through the
 * cache once for all of them; and when the list is full, the changes are written together, once a slot. Changes of the same point
 * are one. */
#ifndef KF_DEFERRED_H
#define KF_DEFERRED_H

#include "objective/objective.h"
#include "objective/rows.h"

#define KF_CHANGES_MOST 64 /* speed: bench/tuning.md */
#define KF_PRODUCTS_MOST                                                                                               \
    72 /* safety: room; what comes unannounced is computed at once; those drawn ahead, and some that come unannounced */

enum kf_lane { KF_LANE_V, KF_LANE_M, KF_LANE_T, KF_LANE_COUNT };

struct kf_deferred {
    size_t count;
    size_t point[KF_CHANGES_MOST];
    struct {
        double *change; /* [KF_CHANGES_MOST][H]; NULL where it is never used */
        bool used;      /* otherwise there is no change of it */
    } lane[KF_LANE_COUNT];

    size_t products;
    size_t product_point[KF_PRODUCTS_MOST];
    double *product; /* [products][2][H]: a V and a M */

    struct kf_turned turned;
};

/* For which of m and t there will be changes. NULL: out of memory. */
struct kf_deferred *kf_deferred_make(size_t hidden, bool m, bool t);
void kf_deferred_free(struct kf_deferred *deferred);

/* V or M has been written to: products with them are void. */
void kf_deferred_forget(struct kf_deferred *deferred);
bool kf_deferred_has(const struct kf_deferred *deferred, size_t point); /* its products */
/* The products of these points, of which those missing are computed together. */
void kf_deferred_prepare(struct kf_deferred *deferred, const struct kf_objective *objective, const struct kf_view *x,
                         const size_t *points, size_t count);
/* z = the row of point j times W1, as the view has it */
void kf_deferred_multiply(struct kf_deferred *deferred, const struct kf_objective *objective, const struct kf_view *x,
                          size_t j, double *z);

/* to[lane] += scale[lane] * the gradient that the factors stand for: the second layer at once, the first in the end, for which
 * the list must have room. */
void kf_deferred_add(struct kf_deferred *deferred, const struct kf_objective *objective, size_t j,
                     const double *factors, const double scale[KF_LANE_COUNT], double *const to[KF_LANE_COUNT]);
bool kf_deferred_has_room(const struct kf_deferred *deferred, size_t j);
/* Writes all changes; the list is empty then, and the products are void. False: for want of memory, row by row. */
bool kf_deferred_write(struct kf_deferred *deferred, const struct kf_objective *objective,
                       double *const to[KF_LANE_COUNT]);

#endif
