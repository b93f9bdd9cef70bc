#include "objective/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "objective/deferred.h"

struct kf_network_scratch {
    uint32_t *unit; /* the active units, and H for the bias */
    double *value;  /* their h, and 1 */
    size_t active;
    double *sums; /* C numbers */
    double space[];
};

struct kf_network_scratch *kf_network_scratch_make(size_t hidden, size_t outputs)
{
    struct kf_network_scratch *scratch =
        kf_allocate_raw(sizeof *scratch + (hidden + 1 + outputs) * sizeof(double) + (hidden + 1) * sizeof(uint32_t));
    if (scratch) {
        scratch->value = scratch->space;
        scratch->sums = scratch->value + hidden + 1;
        scratch->unit = (uint32_t *)(scratch->sums + outputs);
    }
    return scratch;
}

bool kf_network_reserve(struct kf_objective *objective, size_t slots, size_t outputs)
{
    if (slots > objective->full_row_capacity) {
        size_t capacity = slots + slots / 2;
        double *full_row = kf_allocate(capacity, sizeof *full_row);
        if (!full_row)
            return false;
        free(objective->full_row); /* all zero between uses */
        objective->full_row = full_row;
        objective->full_row_capacity = capacity;
    }
    if (outputs > objective->outputs || !objective->scratch) {
        struct kf_network_scratch *scratch = kf_network_scratch_make(objective->hidden, outputs);
        if (!scratch)
            return false;
        free(objective->scratch);
        objective->scratch = scratch;
    }
    return true;
}

void kf_network_free(struct kf_objective *objective)
{
    free(objective->full_row);
    free(objective->scratch);
}

/* A generator of its own for every row of W1 and column of W2. */
static struct kf_random generator_for(uint64_t seed, uint64_t layer, uint64_t number)
{
    struct kf_random random;
    kf_random_seed(&random, seed);
    kf_random_seed(&random, kf_random_bits(&random) + 2 * number + layer);
    return random;
}

void kf_network_initialise(const struct kf_objective *objective, uint64_t seed, size_t old_slots, size_t old_outputs,
                           double *x)
{
    size_t hidden = objective->hidden, outputs = objective->outputs;
    double *second = x + objective->slots * hidden;
    double limit = 1 / sqrt((double)objective->slots);
    for (size_t f = old_slots; f < objective->slots; f++) {
        struct kf_random random = generator_for(seed, 0, f);
        for (size_t k = 0; k < hidden; k++)
            x[f * hidden + k] = limit * (2 * kf_random_unit(&random) - 1);
    }
    limit = 1 / sqrt((double)hidden);
    for (size_t c = old_outputs; c < outputs; c++) {
        struct kf_random random = generator_for(seed, 1, c);
        for (size_t k = 0; k <= hidden; k++)
            second[k * outputs + c] = limit * (2 * kf_random_unit(&random) - 1);
    }
}

struct kf_second_layer kf_second_layer(const struct kf_objective *objective, const struct kf_view *x)
{
    size_t first = objective->slots * objective->hidden;
    if (x->dense)
        return (struct kf_second_layer){.part = {x->dense + first}, .scale = {1}, .parts = 1};
    return (struct kf_second_layer){
        .part = {x->v + first, x->m ? x->m + first : NULL}, .scale = {x->s, x->c}, .parts = x->m && x->c != 0 ? 2 : 1};
}

static double *slopes_of(const struct kf_objective *objective, double *factors)
{
    return factors + objective->hidden;
}

/* h is behind delta and slopes. */
static size_t place_of_h(const struct kf_objective *objective)
{
    return objective->hidden + objective->outputs;
}

/* The units from `from` to `to` whose number is not 0 or below, without a branch that half of them would guess wrong. */
static void list_active(const double *number, size_t from, size_t to, struct kf_network_scratch *scratch)
{
    size_t active = 0;
    for (size_t k = from; k < to; k++) {
        scratch->unit[active] = (uint32_t)k;
        scratch->value[active] = number[k];
        active += !(number[k] <= 0);
    }
    scratch->active = active;
}

static void list_bias(const struct kf_objective *objective, struct kf_network_scratch *scratch)
{
    scratch->unit[scratch->active] = (uint32_t)objective->hidden;
    scratch->value[scratch->active++] = 1;
}

void kf_network_scores(const struct kf_objective *objective, const struct kf_second_layer *second,
                       struct kf_network_scratch *scratch, double *factors)
{
    size_t outputs = objective->outputs;
    double *scores = slopes_of(objective, factors);
    list_active(factors, 0, objective->hidden, scratch);
    list_bias(objective, scratch);
    memset(scores, 0, outputs * sizeof *scores);
    for (size_t p = 0; p < second->parts; p++) {
        memset(scratch->sums, 0, outputs * sizeof *scratch->sums);
        objective->kernels->combine(scratch->active, scratch->unit, scratch->value, second->part[p], outputs, outputs,
                                    scratch->sums);
        for (size_t k = 0; k < outputs; k++)
            scores[k] += second->scale[p] * scratch->sums[k];
    }
}

void kf_network_factors(const struct kf_objective *objective, const struct kf_second_layer *second, size_t j,
                        struct kf_network_scratch *scratch, double *factors)
{
    const struct kf_place *place = &objective->points->place[j];
    size_t hidden = objective->hidden, outputs = objective->outputs;
    double *slopes = slopes_of(objective, factors), *h = factors + place_of_h(objective);
    kf_network_scores(objective, second, scratch, factors);
    objective->loss->slopes(slopes, outputs, place->target, slopes);
    if (place->weight != 1)
        kf_scale(outputs, place->weight, slopes);
    memset(h, 0, (objective->type->factor_count(objective) - place_of_h(objective)) * sizeof *h);
    memset(factors, 0, hidden * sizeof *factors);
    for (size_t a = 0; a + 1 < scratch->active; a++) {
        size_t unit = scratch->unit[a];
        double delta = 0;
        for (size_t p = 0; p < second->parts; p++) {
            const double *weights = second->part[p] + unit * outputs;
            double sum = 0;
            for (size_t k = 0; k < outputs; k++)
                sum += weights[k] * slopes[k];
            delta += second->scale[p] * sum;
        }
        h[unit] = scratch->value[a];
        factors[unit] = delta;
    }
}

void kf_network_add_second(const struct kf_objective *objective, double scale, const double *factors, size_t from,
                           size_t to, struct kf_network_scratch *scratch, double *y2)
{
    size_t hidden = objective->hidden, outputs = objective->outputs;
    const double *slopes = factors + hidden;
    list_active(factors + place_of_h(objective), from, to < hidden ? to : hidden, scratch);
    if (to > hidden)
        list_bias(objective, scratch);
    for (size_t a = 0; a < scratch->active; a++) {
        double share = scale * scratch->value[a], *row = y2 + scratch->unit[a] * outputs;
        for (size_t k = 0; k < outputs; k++)
            row[k] += share * slopes[k];
    }
}

/* z of point j, row after row of W1: alone it is read once, from end to end. */
static void find_hidden(const struct kf_objective *objective, const struct kf_view *x, size_t j, double *z)
{
    if (x->deferred) {
        kf_deferred_multiply(x->deferred, objective, x, j, z);
        return;
    }
    keepfit_row row = kf_points_row(objective->points, j);
    memset(z, 0, objective->hidden * sizeof *z);
    for (size_t e = 0; e < row.count; e++) {
        size_t at = (row.index ? row.index[e] : e) * objective->hidden;
        if (x->dense) {
            objective->kernels->add(objective->hidden, row.value[e], x->dense + at, z);
            continue;
        }
        objective->kernels->add(objective->hidden, x->s * row.value[e], x->v + at, z);
        if (x->m)
            objective->kernels->add(objective->hidden, x->c * row.value[e], x->m + at, z);
    }
}

static size_t network_factor_count(const struct kf_objective *objective)
{
    return (2 * objective->hidden + objective->outputs + 7) / 8 * 8; /* whole cache lines, for tables of them */
}

static void network_factors(struct kf_objective *objective, const struct kf_view *x, size_t j, double *factors)
{
    struct kf_second_layer second = kf_second_layer(objective, x);
    find_hidden(objective, x, j, factors);
    kf_network_factors(objective, &second, j, objective->scratch, factors);
}

static double network_value(struct kf_objective *objective, const struct kf_view *x, size_t j)
{
    struct kf_second_layer second = kf_second_layer(objective, x);
    double *hidden = objective->pair_sums;
    find_hidden(objective, x, j, hidden);
    kf_network_scores(objective, &second, objective->scratch, hidden);
    memcpy(objective->scores, slopes_of(objective, hidden), objective->outputs * sizeof(double));
    return objective->loss->value(objective->scores, objective->outputs, objective->points->place[j].target,
                                  objective->delta);
}

static void network_add(const struct kf_objective *objective, double scale, size_t j, const double *factors, double *y)
{
    keepfit_row row = kf_points_row(objective->points, j);
    size_t hidden = objective->hidden;
    for (size_t e = 0; e < row.count; e++)
        objective->kernels->add(hidden, scale * row.value[e], factors, y + (row.index ? row.index[e] : e) * hidden);
    kf_network_add_second(objective, scale, factors, 0, hidden + 1, objective->scratch, y + objective->slots * hidden);
}

static double network_curvature(struct kf_objective *objective, size_t j)
{
    keepfit_row row = kf_points_row(objective->points, j);
    return kf_square(row.count, row.value);
}

static bool network_is_finite(struct kf_objective *objective, const struct kf_view *x, size_t j)
{
    network_value(objective, x, j);
    return kf_all_finite(objective->hidden + objective->outputs, objective->pair_sums);
}

const struct kf_objective_type kf_network_objective = {
    .factor_count = network_factor_count,
    .value = network_value,
    .factors = network_factors,
    .add = network_add,
    .curvature = network_curvature,
    .is_finite = network_is_finite,
    .sum = kf_network_sum,
    .values = kf_network_values,
    .has_hessian = false,
};
