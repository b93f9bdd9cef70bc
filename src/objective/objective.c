#include "objective/objective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/far.h"
#include "kernels/kernels.h"
#include "objective/network.h"

static bool grow_zeros(double **array, size_t *capacity, size_t needed)
{
    size_t before = *capacity;
    if (needed <= before)
        return true;
    if (!KF_RESERVE(*array, *capacity, needed))
        return false;
    memset(*array + before, 0, (*capacity - before) * sizeof **array);
    return true;
}

/* One for each slot, or, of user-written objectives, for each number of x. */
static bool grow_columns(struct kf_objective *objective, size_t needed)
{
    return objective->hidden || (grow_zeros(&objective->mass, &objective->mass_capacity, needed) &&
                                 grow_zeros(&objective->most, &objective->most_capacity, needed));
}

static bool grow_scores(struct kf_objective *objective, size_t needed)
{
    size_t capacity = 0, pairs_capacity = 0;
    if (needed <= objective->scores_capacity)
        return true;
    bool room = KF_RESERVE(objective->scores, capacity, needed) &&
                KF_RESERVE(objective->pair_sums, pairs_capacity, 2 * capacity);
    objective->scores_capacity = room ? capacity : 0;
    return room;
}

bool kf_objective_reserve(struct kf_objective *objective, const struct kf_objective *larger)
{
    return grow_scores(objective, larger->type->factor_count(larger)) && grow_columns(objective, larger->slots) &&
           (!larger->hidden || kf_network_reserve(objective, larger->slots, larger->outputs));
}

void kf_objective_free(struct kf_objective *objective)
{
    free(objective->scores);
    free(objective->pair_sums);
    free(objective->mass);
    free(objective->most);
    kf_network_free(objective);
}

void kf_charge(struct kf_objective *objective, uint64_t gradients)
{
    objective->fo += gradients;
}

void kf_factors(struct kf_objective *objective, const struct kf_view *x, size_t j, double *factors)
{
    objective->fo++;
    objective->type->factors(objective, x, j, factors);
}

void kf_complete_gradient(const struct kf_objective *objective, const double *sum, const double *x, double *gradient)
{
    double mean = kf_inverse_weight(objective), shrink = 2 * objective->lambda;
    size_t free = objective->free, dimension = kf_dimension(objective);
    for (size_t k = 0; k < free; k++)
        gradient[k] = mean * sum[k];
    for (size_t k = free; k < dimension; k++)
        gradient[k] = mean * sum[k] + shrink * x[k];
}

double kf_loss_at_zero(struct kf_objective *objective, size_t j)
{
    if (!objective->loss)
        return 0;
    bool classes = objective->loss->targets != KF_NUMBERS;
    if (classes && objective->zero_outputs == objective->outputs)
        return objective->zero_value;
    memset(objective->scores, 0, objective->outputs * sizeof *objective->scores);
    double value = objective->loss->value(objective->scores, objective->outputs, objective->points->place[j].target,
                                          objective->delta);
    if (classes) {
        objective->zero_outputs = objective->outputs;
        objective->zero_value = value;
    }
    return value;
}

/* Its row in the columns. */
static void count_row(struct kf_objective *objective, const keepfit_row *row, double weight)
{
    if (!objective->loss || objective->hidden) /* nothing is proved, or the user's gradients are counted in each pass */
        return;
    if (!row->index)
        objective->kernels->count_sizes(row->count, weight, row->value, objective->mass, objective->most);
    for (size_t e = 0; row->index && e < row->count; e++) {
        double size = fabs(row->value[e]), *most = &objective->most[row->index[e]];
        objective->mass[row->index[e]] += weight * size;
        *most = size > *most ? size : *most;
    }
    objective->longest = row->count > objective->longest ? row->count : objective->longest;
}

void kf_objective_count(struct kf_objective *objective, size_t j)
{
    const struct kf_place *place = &objective->points->place[j];
    keepfit_row row = kf_points_row(objective->points, j);
    size_t lead = objective->free && objective->loss ? 1 : 0;
    double length = sqrt(kf_square(row.count - lead, row.value + lead));
    kf_sum_add(&objective->weights, place->weight);
    kf_sum_add(&objective->zeros, place->weight * kf_loss_at_zero(objective, j));
    objective->weight_total = objective->weights.high;
    objective->curvature_most =
        fmax(objective->curvature_most, place->weight * objective->type->curvature(objective, j));
    objective->row_most = fmax(objective->row_most, length);
    objective->row_masses += place->weight * length;
    objective->target_most = fmax(objective->target_most, fabs(place->target));
    count_row(objective, &row, place->weight);
}

bool kf_objective_discount(struct kf_objective *objective, size_t j)
{
    const struct kf_place *place = &objective->points->place[j];
    keepfit_row row = kf_points_row(objective->points, j);
    kf_sum_add(&objective->weights, -place->weight);
    kf_sum_add(&objective->zeros, -place->weight * kf_loss_at_zero(objective, j));
    objective->weight_total = fmax(objective->weights.high, 0);
    return place->weight * sqrt(kf_square(row.count, row.value)) > objective->row_masses / 2 ||
           !kf_sum_is_sharp(&objective->weights) || !kf_sum_is_sharp(&objective->zeros);
}

void kf_objective_clear_columns(struct kf_objective *objective)
{
    for (size_t k = 0; k < objective->mass_capacity; k++)
        objective->mass[k] = 0;
    for (size_t k = 0; k < objective->most_capacity; k++)
        objective->most[k] = 0;
}

void kf_objective_recount(struct kf_objective *objective)
{
    objective->weight_total = objective->curvature_most = 0;
    objective->weights = objective->zeros = (struct kf_sum){0};
    objective->row_most = objective->row_masses = objective->target_most = 0;
    objective->longest = 0;
    kf_objective_clear_columns(objective);
    for (size_t j = 0; j < objective->points->count; j++)
        kf_objective_count(objective, j);
}

double kf_regulariser(const struct kf_objective *objective, const double *x)
{
    return objective->lambda * kf_square(kf_dimension(objective) - objective->free, x + objective->free);
}

#define BLOCK 256 /* safety: room on the stack */

/* The losses of points first .. first+count-1, at most BLOCK of them. */
static void find_values(struct kf_objective *objective, const double *x, size_t first, size_t count, double *values)
{
    struct kf_view view = kf_dense_view(x);
    if (objective->type->values && objective->type->values(objective, x, first, count, values))
        return;
    objective->memory_failed |= objective->type->values != NULL;
    for (size_t k = 0; k < count; k++)
        values[k] = objective->type->value(objective, &view, first + k);
}

/* A team's ranks find the losses of their own points. NULL: this process has all, or there is no memory. */
static double *values_together(struct kf_objective *objective, const double *x)
{
    const struct kf_points *points = objective->points;
    double *values = points->far ? kf_allocate_raw((points->count + 1) * sizeof *values) : NULL;
    if (points->far && !values)
        kf_far_fail(points->far, "out of memory");
    if (!values)
        return NULL;
    kf_far_begin_own(objective->points);
    for (struct kf_far_range range = {0}; kf_far_next(points, points->count, &range);)
        for (size_t j = range.from; j < range.to && kf_far_is_own(points->far, &range); j += BLOCK)
            find_values(objective, x, j, range.to - j < BLOCK ? range.to - j : BLOCK, values + j);
    kf_far_end_own(objective->points);
    kf_far_exchange(points, points->count, 1, values);
    return values;
}

double kf_objective_value(struct kf_objective *objective, const double *x)
{
    /* Kahan: gaps are differences of such sums, so their last digits matter. */
    double sum = 0, lost = 0, values[BLOCK], *all = values_together(objective, x);
    for (size_t j = 0; j < objective->points->count; j++) {
        size_t left = objective->points->count - j;
        if (j % BLOCK == 0 && !all)
            find_values(objective, x, j, left < BLOCK ? left : BLOCK, values);
        double term = objective->points->place[j].weight * (all ? all[j] : values[j % BLOCK]) - lost;
        double next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    free(all);
    return sum * kf_inverse_weight(objective) + kf_regulariser(objective, x);
}

double kf_smoothness(const struct kf_objective *objective)
{
    double share = (double)objective->points->count * kf_inverse_weight(objective);
    return objective->curvature_most * share + 2 * objective->lambda;
}

double kf_slope_most(const struct kf_objective *objective, size_t j, double radius)
{
    if (!objective->loss || objective->hidden)
        return INFINITY;
    keepfit_row row = kf_points_row(objective->points, j);
    double norm = sqrt(kf_square(row.count, row.value));
    double slope = objective->loss->slope_bound(norm > 0 ? norm * radius : 0, objective->points->place[j].target,
                                                objective->delta);
    return objective->points->place[j].weight * slope * norm;
}
