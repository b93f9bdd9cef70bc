/* What the model would be without a point: one step of Newton's, from x, on the objective of the others.
 *
 * Let A be the Hessian of the sum of the losses at x, c the second derivative of the point's own loss (times its weight w), a its row, W
 * the sum of all weights, and s the gradient of the sum of the losses. Without the point, these are A - aca', W - w and s - w slope a,
 * and
 *
 *   d = -(A - aca' + 2 lambda (W - w) I)^-1 (s - w slope a + 2 lambda (W - w) x).
 *
 * For squared loss that is the difference of the two optima, if x is the one. The factor is made anew, since the diagonal changes as
 * well. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "fit/centre.h"
#include "fit/durable.h"
#include "fit/fade.h"
#include "fit/information.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"

struct leaving {
    keepfit_fit *fit;
    struct kf_information information;
    size_t point, size, outputs;
    double *own; /* factors of the point's gradient; then its scores without it */
    double *step, *scratch;
};

/* a, in the coordinates of output k; the rest is 0. */
static void spread_row(const struct leaving *leaving, size_t k, double *v)
{
    keepfit_row row = kf_points_row(&leaving->fit->task.problem.points, leaving->point);
    kf_clear(&leaving->fit->task.problem, v);
    for (size_t p = 0; p < row.count; p++)
        v[(row.index ? row.index[p] : p) * leaving->outputs + k] = row.value[p];
}

/* trace(c a'(A + ...)^-1 a) */
static double find_leverage(const struct leaving *leaving)
{
    const double *curve = leaving->information.curves.of + leaving->point * leaving->outputs * leaving->outputs;
    double sum = 0;
    for (size_t k = 0; k < leaving->outputs; k++) {
        spread_row(leaving, k, leaving->scratch);
        kf_cholesky_solve(leaving->size, leaving->information.factor, leaving->size, leaving->scratch);
        for (size_t l = 0; l < leaving->outputs; l++) {
            spread_row(leaving, l, leaving->step);
            sum += curve[k * leaving->outputs + l] * kf_dot(leaving->size, leaving->step, leaving->scratch);
        }
    }
    return sum;
}

/* Minus the gradient of the others' sum. */
static void aim(struct leaving *leaving, double penalty)
{
    struct kf_objective *objective = &leaving->fit->task.problem.objective;
    const double *x = leaving->fit->task.iterate.x;
    struct kf_view view = kf_dense_view(x);
    double *step = leaving->step;
    kf_clear(&leaving->fit->task.problem, step);
    kf_gradient_sum(objective, x, leaving->fit->task.problem.points.count, step, NULL,
                    leaving->fit->task.vectors.factors[0]);
    objective->type->factors(objective, &view, leaving->point, leaving->own);
    objective->type->add(objective, -1, leaving->point, leaving->own, step);
    for (size_t k = objective->free; k < leaving->size; k++)
        step[k] += penalty * x[k];
    kf_scale(leaving->size, -1, step);
}

/* Turns the Hessian of all into the factor of that of the others. False: it is singular. */
static bool leave(struct leaving *leaving, double penalty)
{
    const struct kf_objective *objective = &leaving->fit->task.problem.objective;
    struct kf_information *information = &leaving->information;
    size_t size = leaving->size, each = objective->free;
    kf_hessian_take_out(&information->curves, &leaving->fit->task.problem, leaving->point, 1, information->hessian,
                        size);
    for (size_t k = each; k < size; k++)
        information->hessian[k * size + k] += penalty;
    for (size_t k = 0; k < each && information->held > 0; k++)
        for (size_t l = k; l < each; l++)
            information->hessian[k * size + l] += information->held / (double)each;
    return kf_cholesky(size, information->hessian, size);
}

/* |L'd|, L the factor of all */
static double distance(const struct leaving *leaving)
{
    double sum = 0;
    for (size_t k = 0; k < leaving->size; k++) {
        const double *column = leaving->information.factor + k * leaving->size;
        double part = kf_dot(leaving->size - k, column + k, leaving->step + k);
        sum += part * part;
    }
    return sqrt(sum);
}

/* The step as it is for rows as they came, and what it does to the point's own score. */
static void give_out(struct leaving *leaving, keepfit_influence *made)
{
    keepfit_fit *fit = leaving->fit;
    struct kf_objective *objective = &fit->task.problem.objective;
    size_t outputs = leaving->outputs, lead = kf_lead_width(&fit->meaning.lead);
    const struct kf_centres *centres = &fit->centring.centres;
    double *scores = fit->measured.influence, *without = scores + outputs, *change = without + outputs;
    struct kf_view view = kf_dense_view(fit->task.iterate.x);
    made->loss = objective->type->value(objective, &view, leaving->point);
    memcpy(scores, objective->scores, outputs * sizeof *scores);
    for (size_t k = 0; k < leaving->size; k++)
        leaving->scratch[k] = fit->task.iterate.x[k] + leaving->step[k];
    view = kf_dense_view(leaving->scratch);
    made->loss_without = objective->type->value(objective, &view, leaving->point);
    memcpy(without, objective->scores, outputs * sizeof *without);
    for (size_t k = 0; k < outputs; k++) {
        change[k] = lead ? fit->meaning.lead.constant * leaving->step[k] : 0;
        for (size_t c = 0; c < centres->count; c++)
            change[k] -= leaving->step[kf_slot_behind_lead(centres->at[c].column) * outputs + k] *
                         centres->at[c].value / kf_centres_scale(centres, centres->at[c].column);
    }
    memcpy(change + outputs, leaving->step + lead * outputs, (size_t)fit->meaning.features * outputs * sizeof *change);
    for (size_t k = 0; k < (size_t)fit->meaning.features * outputs; k++)
        change[outputs + k] /= kf_centres_scale(centres, (uint32_t)(k / outputs));
    made->scores = scores;
    made->scores_without = without;
    made->intercepts = change;
    made->weights = change + outputs;
}

static keepfit_status find_influence(struct leaving *leaving, keepfit_influence *made)
{
    keepfit_fit *fit = leaving->fit;
    const struct kf_objective *objective = &fit->task.problem.objective;
    double weight = fit->task.problem.points.place[leaving->point].weight;
    double left = fit->task.problem.points.count > 1 ? objective->weight_total - weight : 0;
    bool total = !isnan(fit->options->lambda_total);
    double penalty = total ? kf_information_penalty(fit) : 2 * objective->lambda * left;
    leaving->own = kf_allocate_numbers(leaving->outputs);
    leaving->step = kf_allocate_numbers(leaving->size);
    leaving->scratch = kf_allocate_numbers(leaving->size);
    if (!leaving->own || !leaving->step || !leaving->scratch ||
        !KF_RESERVE(fit->measured.influence, fit->measured.influence_capacity, leaving->size + 3 * leaving->outputs))
        return kf_fail_memory(&fit->error);
    if (!(left > 0))
        return kf_fail(&fit->error, KEEPFIT_USAGE, "without its only point there is no model");
    made->leverage = find_leverage(leaving);
    aim(leaving, penalty);
    if (!leave(leaving, penalty))
        return kf_fail(&fit->error, KEEPFIT_USAGE, "without this point the Hessian is singular, and nothing follows");
    kf_cholesky_solve(leaving->size, leaving->information.hessian, leaving->size, leaving->step);
    made->distance =
        distance(leaving) / sqrt(kf_fade_weight(fit, 1, fit->arrivals.arrived, fit->arrivals.fading.latest));
    give_out(leaving, made);
    return KEEPFIT_OK;
}

keepfit_status keepfit_fit_influence(keepfit_fit *fit, uint64_t index, keepfit_influence *influence)
{
    if (index >= fit->task.problem.points.count)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "there is no point %llu: the last one is %llu",
                       (unsigned long long)index, (unsigned long long)fit->task.problem.points.count - 1);
    struct leaving leaving = {.fit = fit,
                              .point = (size_t)index,
                              .size = kf_size(&fit->task.problem),
                              .outputs = fit->task.problem.objective.outputs};
    keepfit_influence made = {.arrival = kf_fit_arrival(fit, (size_t)index),
                              .features = (size_t)fit->meaning.features,
                              .outputs = leaving.outputs};
    uint64_t counted = fit->task.problem.objective.fo;
    keepfit_status status = kf_information_make(fit, &leaving.information);
    if (status == KEEPFIT_OK)
        status = find_influence(&leaving, &made);
    status = kf_information_sound(fit, status);
    kf_information_free(&leaving.information);
    free(leaving.own);
    free(leaving.step);
    free(leaving.scratch);
    fit->task.problem.objective.fo = counted;
    if (status == KEEPFIT_OK)
        KF_GIVE(influence, &made);
    return status;
}
