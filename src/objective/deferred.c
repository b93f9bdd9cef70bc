#include "objective/deferred.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "objective/network.h"

struct kf_deferred *kf_deferred_make(size_t hidden, bool m, bool t)
{
    const bool wanted[KF_LANE_COUNT] = {true, m, t};
    struct kf_deferred *deferred = kf_allocate(1, sizeof *deferred);
    bool good = deferred && (deferred->product = kf_allocate_unset(KF_PRODUCTS_MOST * 2 * hidden));
    for (size_t k = 0; k < KF_LANE_COUNT && good; k++)
        good = !wanted[k] || (deferred->lane[k].change = kf_allocate_unset(KF_CHANGES_MOST * hidden));
    if (good)
        return deferred;
    kf_deferred_free(deferred);
    return NULL;
}

void kf_deferred_free(struct kf_deferred *deferred)
{
    if (!deferred)
        return;
    for (size_t k = 0; k < KF_LANE_COUNT; k++)
        free(deferred->lane[k].change);
    free(deferred->product);
    kf_turned_free(&deferred->turned);
    free(deferred);
}

void kf_deferred_forget(struct kf_deferred *deferred)
{
    deferred->products = 0;
}

/* The place of `point` in the list, or `count`. */
static size_t place_of(const size_t *list, size_t count, size_t point)
{
    size_t place = 0;
    while (place < count && list[place] != point)
        place++;
    return place;
}

bool kf_deferred_has(const struct kf_deferred *deferred, size_t point)
{
    return place_of(deferred->product_point, deferred->products, point) < deferred->products;
}

void kf_deferred_prepare(struct kf_deferred *deferred, const struct kf_objective *objective, const struct kf_view *x,
                         const size_t *points, size_t count)
{
    if (deferred->products + count > KF_PRODUCTS_MOST)
        kf_deferred_forget(deferred);
    size_t from = deferred->products;
    for (size_t k = 0; k < count; k++)
        if (place_of(deferred->product_point, deferred->products, points[k]) == deferred->products)
            deferred->product_point[deferred->products++] = points[k];
    struct kf_rows rows = {.points = objective->points, .which = deferred->product_point, .count = deferred->products};
    size_t hidden = objective->hidden;
    kf_rows_multiply(&rows, from, rows.count, objective->kernels, x->v, hidden, deferred->product, 2 * hidden);
    if (x->m)
        kf_rows_multiply(&rows, from, rows.count, objective->kernels, x->m, hidden, deferred->product + hidden,
                         2 * hidden);
}

/* dots[k] = the row of point j times that of change k, by way of a vector that holds the one and is 0 elsewhere. */
static void dot_with_changes(const struct kf_deferred *deferred, const struct kf_objective *objective, size_t j,
                             double *dots)
{
    keepfit_row own = kf_points_row(objective->points, j);
    double *full_row = objective->full_row;
    for (size_t e = 0; e < own.count; e++)
        full_row[own.index ? own.index[e] : e] = own.value[e];
    for (size_t k = 0; k < deferred->count; k++) {
        keepfit_row row = kf_points_row(objective->points, deferred->point[k]);
        kf_row_scores(&row, full_row, objective->slots, 1, &dots[k]);
    }
    for (size_t e = 0; e < own.count; e++)
        full_row[own.index ? own.index[e] : e] = 0;
}

void kf_deferred_multiply(struct kf_deferred *deferred, const struct kf_objective *objective, const struct kf_view *x,
                          size_t j, double *z)
{
    size_t hidden = objective->hidden, place = place_of(deferred->product_point, deferred->products, j);
    if (place == deferred->products) {
        kf_deferred_prepare(deferred, objective, x, &j, 1);
        place = deferred->products - 1;
    }
    const double *product = deferred->product + 2 * place * hidden, scales[] = {x->s, x->c};
    double dots[KF_CHANGES_MOST], scaled[KF_CHANGES_MOST];
    dot_with_changes(deferred, objective, j, dots);
    for (size_t k = 0; k < hidden; k++)
        z[k] = x->s * product[k] + (x->m ? x->c * product[hidden + k] : 0);
    for (size_t l = KF_LANE_V; l <= KF_LANE_M; l++) {
        if (!deferred->lane[l].used)
            continue;
        for (size_t k = 0; k < deferred->count; k++)
            scaled[k] = scales[l] * dots[k];
        objective->kernels->combine(deferred->count, NULL, scaled, deferred->lane[l].change, hidden, hidden, z);
    }
}

bool kf_deferred_has_room(const struct kf_deferred *deferred, size_t j)
{
    return place_of(deferred->point, deferred->count, j) < KF_CHANGES_MOST;
}

/* A lane that was not used has nothing in its first `count` places. */
static double *use_lane(struct kf_deferred *deferred, size_t lane, size_t hidden)
{
    if (!deferred->lane[lane].used)
        memset(deferred->lane[lane].change, 0, deferred->count * hidden * sizeof(double));
    deferred->lane[lane].used = true;
    return deferred->lane[lane].change;
}

void kf_deferred_add(struct kf_deferred *deferred, const struct kf_objective *objective, size_t j,
                     const double *factors, const double scale[KF_LANE_COUNT], double *const to[KF_LANE_COUNT])
{
    size_t hidden = objective->hidden, place = place_of(deferred->point, deferred->count, j);
    assert(place < KF_CHANGES_MOST);
    if (place == deferred->count) {
        deferred->point[deferred->count++] = j;
        for (size_t k = 0; k < KF_LANE_COUNT; k++)
            if (deferred->lane[k].used)
                memset(deferred->lane[k].change + place * hidden, 0, hidden * sizeof(double));
    }
    for (size_t k = 0; k < KF_LANE_COUNT; k++) {
        if (scale[k] == 0)
            continue;
        objective->kernels->add(hidden, scale[k], factors, use_lane(deferred, k, hidden) + place * hidden);
        kf_network_add_second(objective, scale[k], factors, 0, hidden + 1, objective->scratch,
                              to[k] + objective->slots * hidden);
    }
}

/* The same without turned rows, for which there was no memory: row by row. */
static void write_rows(const struct kf_deferred *deferred, const struct kf_objective *objective, const double *changes,
                       double *y)
{
    size_t hidden = objective->hidden;
    for (size_t k = 0; k < deferred->count; k++) {
        keepfit_row row = kf_points_row(objective->points, deferred->point[k]);
        kf_row_add(&row, 1, changes + k * hidden, hidden, y);
    }
}

bool kf_deferred_write(struct kf_deferred *deferred, const struct kf_objective *objective,
                       double *const to[KF_LANE_COUNT])
{
    kf_deferred_forget(deferred);
    if (deferred->count == 0)
        return true;
    size_t hidden = objective->hidden, slots = objective->slots;
    struct kf_rows rows = {.points = objective->points, .which = deferred->point, .count = deferred->count};
    bool turned = kf_turned_build(&deferred->turned, &rows, slots);
    for (size_t k = 0; k < KF_LANE_COUNT; k++) {
        const double *changes = deferred->lane[k].change;
        if (deferred->lane[k].used && turned)
            kf_turned_add(&deferred->turned, objective->kernels, 0, slots, changes, hidden, hidden, to[k]);
        else if (deferred->lane[k].used)
            write_rows(deferred, objective, changes, to[k]);
        deferred->lane[k].used = false;
    }
    deferred->count = 0;
    return turned;
}
