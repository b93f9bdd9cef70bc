/* Linear models: the loss sees the row only through its C scores z = row * x, so the gradient is slope(z) times the row
 * and the Hessian is curve(z) times the row twice. */
#include <assert.h>
#include <string.h>

#include "history/far.h"
#include "kernels/kernels.h"
#include "objective/objective.h"

static size_t linear_factor_count(const struct kf_objective *objective)
{
    return objective->outputs;
}

static void scores_of(const struct kf_objective *objective, const struct kf_view *x, size_t j, double *z)
{
    keepfit_row row = kf_points_row(objective->points, j);
    size_t outputs = objective->outputs;
    if (x->dense && outputs == 1 && !row.index && row.count <= objective->slots) {
        z[0] = objective->kernels->dot(row.count, row.value, x->dense);
        return;
    }
    if (x->dense && outputs > 1 && kf_row_width(&row) <= objective->slots) {
        memset(z, 0, outputs * sizeof *z);
        objective->kernels->combine(row.count, row.index, row.value, x->dense, outputs, outputs, z);
        return;
    }
    if (x->dense) {
        kf_row_scores(&row, x->dense, objective->slots, outputs, z);
        return;
    }
    double *sums = objective->pair_sums;
    kf_pair_scores(objective->kernels, &row, x->pairs, outputs, sums);
    for (size_t k = 0; k < outputs; k++)
        z[k] = x->s * sums[2 * k] + x->c * sums[2 * k + 1];
}

static double linear_value(struct kf_objective *objective, const struct kf_view *x, size_t j)
{
    scores_of(objective, x, j, objective->scores);
    return objective->loss->value(objective->scores, objective->outputs, objective->points->place[j].target,
                                  objective->delta);
}

static void linear_factors(struct kf_objective *objective, const struct kf_view *x, size_t j, double *factors)
{
    scores_of(objective, x, j, factors);
    const struct kf_place *place = &objective->points->place[j];
    kf_loss_slopes(objective->loss, factors, objective->outputs, place->target, objective->delta, factors);
    if (place->weight != 1)
        kf_scale(objective->outputs, place->weight, factors);
}

double kf_single_factor(struct kf_objective *objective, const struct kf_view *x, size_t j)
{
    const struct kf_place *place = &objective->points->place[j];
    keepfit_row row = kf_points_row(objective->points, j);
    double z;
    objective->fo++;
    if (x->dense) {
        scores_of(objective, x, j, &z);
    } else {
        struct kf_pair sums = objective->kernels->pair_dot(&row, x->pairs);
        z = x->s * sums.first + x->c * sums.second;
    }
    return place->weight * objective->loss->slope(z, place->target, objective->delta);
}

/* Four dense rows of one length, which x has as well. */
static bool are_alike(const struct kf_place *place, size_t slots)
{
    if (!place[0].dense || place[0].count > slots)
        return false;
    for (size_t k = 1; k < 4; k++)
        if (!place[k].dense || place[k].count != place[0].count)
            return false;
    return true;
}

/* Each rank of a team finds those of its own rows. */
static void scores_together(const struct kf_objective *objective, const double *x, size_t count, double *z)
{
    const struct kf_points *points = objective->points;
    kf_far_begin_own(objective->points);
    for (struct kf_far_range range = {0}; kf_far_next(points, count, &range);)
        if (kf_far_is_own(points->far, &range))
            kf_single_scores(objective, x, range.from, range.to - range.from, z + range.from);
    kf_far_end_own(objective->points);
    kf_far_exchange(points, count, 1, z);
}

/* Four at a time where they are alike. One that is not is taken four times: its bits do not depend on its neighbours. */
void kf_single_scores(const struct kf_objective *objective, const double *x, size_t from, size_t count, double *z)
{
    const struct kf_points *points = objective->points;
    const struct kf_place *place = points->place + from;
    if (!kf_far_at_hand(points) && from == 0 && count > KF_SINGLES) {
        scores_together(objective, x, count, z);
        return;
    }
    for (size_t k = 0; k < count;) {
        keepfit_row row = kf_points_row(points, from + k);
        if (k + 4 <= count && are_alike(place + k, objective->slots)) {
            objective->kernels->dots(row.count, x, row.value, kf_points_row(points, from + k + 1).value,
                                     kf_points_row(points, from + k + 2).value,
                                     kf_points_row(points, from + k + 3).value, z + k);
            k += 4;
            continue;
        }
        if (!row.index && row.count <= objective->slots) {
            double same[4];
            objective->kernels->dots(row.count, x, row.value, row.value, row.value, row.value, same);
            z[k] = same[0];
        } else {
            kf_row_scores(&row, x, objective->slots, 1, z + k);
        }
        k++;
    }
}

void kf_single_factors(struct kf_objective *objective, const double *x, size_t from, size_t count, double *factors)
{
    const struct kf_place *place = objective->points->place + from;
    const struct kf_loss *loss = objective->loss;
    double target[KF_SINGLES] = {0};
    assert(count <= KF_SINGLES);
    kf_single_scores(objective, x, from, count, factors);
    for (size_t k = 0; k < count; k++)
        target[k] = place[k].target;
    if (loss->slopes_of)
        loss->slopes_of(objective->kernels, count, target, factors);
    for (size_t k = 0; k < count && !loss->slopes_of; k++)
        factors[k] = loss->slope(factors[k], target[k], objective->delta);
    for (size_t k = 0; k < count; k++)
        factors[k] *= place[k].weight;
}

static void linear_add(const struct kf_objective *objective, double scale, size_t j, const double *factors, double *y)
{
    keepfit_row row = kf_points_row(objective->points, j);
    if (objective->outputs > 1)
        objective->kernels->outer(row.count, row.index, row.value, scale, factors, objective->outputs, y);
    else if (!row.index)
        objective->kernels->add(row.count, scale * factors[0], row.value, y);
    else
        kf_row_add(&row, scale, factors, objective->outputs, y);
}

static void linear_change(const struct kf_objective *objective, double first, double second, size_t j,
                          const double *factors, const struct kf_lanes *lanes)
{
    keepfit_row row = kf_points_row(objective->points, j);
    kf_pair_update(objective->kernels, &row, first, second, factors, objective->outputs, objective->pair_sums,
                   lanes->v);
}

/* For pairs that have overflown in opposite ways the sums are looked at, not the scores. */
static bool linear_is_finite(struct kf_objective *objective, const struct kf_view *x, size_t j)
{
    keepfit_row row = kf_points_row(objective->points, j);
    kf_pair_scores(objective->kernels, &row, x->pairs, objective->outputs, objective->pair_sums);
    return kf_all_finite(2 * objective->outputs, objective->pair_sums);
}

static double linear_curvature(struct kf_objective *objective, size_t j)
{
    keepfit_row row = kf_points_row(objective->points, j);
    return objective->loss->curve_bound(objective->delta) * kf_square(row.count, row.value);
}

static void linear_curve(struct kf_objective *objective, const struct kf_view *x, size_t j, double *curve)
{
    scores_of(objective, x, j, objective->scores);
    objective->loss->curve(objective->scores, objective->outputs, objective->points->place[j].target, objective->delta,
                           curve);
}

static void linear_hessian_product(const struct kf_objective *objective, double scale, size_t j, const double *curve,
                                   const double *v, double *y, double *scratch)
{
    size_t outputs = objective->outputs;
    double *z = scratch, *bent = scratch + outputs;
    struct kf_view view = kf_dense_view(v);
    scores_of(objective, &view, j, z);
    for (size_t k = 0; k < outputs; k++)
        bent[k] = kf_dot(outputs, curve + k * outputs, z);
    linear_add(objective, scale, j, bent, y);
}

const struct kf_objective_type kf_linear_objective = {
    .factor_count = linear_factor_count,
    .value = linear_value,
    .factors = linear_factors,
    .add = linear_add,
    .change = linear_change,
    .curvature = linear_curvature,
    .is_finite = linear_is_finite,
    .has_hessian = true,
    .curve = linear_curve,
    .hessian_product = linear_hessian_product,
};
