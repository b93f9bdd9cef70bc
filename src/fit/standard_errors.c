/* Standard errors of the weights.
 *
 * With f_j = w_j loss_j and A the Hessian of the regularised sum at x, C = A^-1.
 *
 *   plain    the losses are minus the logarithm of a likelihood: the covariance is C. logistic and softmax are so as they are,
 *            squared with a variance s^2 of the noise: (z-b)^2 = 2 s^2 times minus that logarithm, so it is 2 s^2 C, with
 *            s^2 = sum w_j (z_j-b_j)^2 / (W - trace(C H)), H that of the losses alone. Others have none.
 *   robust   the points are independent, and nothing else is known of them (Huber, White): C J C, J = sum of the outer products
 *            of the gradients of f_j.
 *
 * With a half-life, what is kept of weights is all that many times too large (fade.h), and is taken for what it stands for.
 *
 * An intercept is that of rows as they came: it is the kept one less the centres times the weights (centre.h), so its variance is
 * v'Cv with these numbers for v; and the constant that stands before rows is multiplied in. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "fit/fade.h"
#include "fit/information.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"
#include "model/model.h"

/* v'Cv, C with both triangles. */
static double quadratic(size_t size, const double *matrix, const double *v, double *scratch)
{
    kf_symmetric_times(size, matrix, size, v, scratch);
    return kf_dot(size, v, scratch);
}

/* The roots of the variances of the weights and intercepts, into [intercepts][weights of each feature]. */
static void take_roots(keepfit_fit *fit, const double *covariance, double times, double *v, double *errors)
{
    const struct kf_objective *objective = &fit->task.problem.objective;
    const struct kf_centres *centres = &fit->centring.centres;
    size_t outputs = objective->outputs, size = kf_size(&fit->task.problem);
    size_t lead = kf_lead_width(&fit->meaning.lead);
    for (size_t k = 0; k < outputs && lead; k++) {
        kf_clear(&fit->task.problem, v);
        v[k] = fit->meaning.lead.constant;
        for (size_t c = 0; c < centres->count; c++)
            v[kf_slot_behind_lead(centres->at[c].column) * outputs + k] =
                -v[k] * centres->at[c].value / kf_centres_scale(centres, centres->at[c].column);
        errors[k] = sqrt(times * quadratic(size, covariance, v, v + size));
    }
    for (size_t k = 0; k < (size_t)fit->meaning.features * outputs; k++) {
        size_t place = lead * outputs + k;
        double scale = kf_centres_scale(centres, (uint32_t)(k / outputs));
        errors[outputs + k] = sqrt(times * covariance[place * size + place]) / scale;
    }
}

/* Takes out what held free intercepts together. */
static void let_go(const keepfit_fit *fit, const struct kf_information *information, double *inverse)
{
    size_t count = fit->task.problem.objective.free;
    if (information->held == 0)
        return;
    for (size_t k = 0; k < count; k++)
        for (size_t l = 0; l < count; l++)
            inverse[k * information->size + l] -= 1 / (information->held * (double)count);
}

/* trace(C H), H's lower triangle */
static double freedom(size_t size, const double *inverse, const double *hessian)
{
    double sum = 0;
    for (size_t k = 0; k < size; k++)
        for (size_t l = k; l < size; l++)
            sum += (l == k ? 1 : 2) * inverse[k * size + l] * hessian[k * size + l];
    return sum;
}

/* What C is multiplied by for plain errors; NaN: there are none. */
static double plain_factor(keepfit_fit *fit, const struct kf_information *information, const double *inverse)
{
    struct kf_objective *objective = &fit->task.problem.objective;
    const struct kf_points *points = &fit->task.problem.points;
    struct kf_view view = kf_dense_view(fit->task.iterate.x);
    double sum = 0, unit = kf_fade_weight(fit, 1, fit->arrivals.arrived, fit->arrivals.fading.latest);
    if (objective->loss->likelihood == 1)
        return unit;
    if (objective->loss->likelihood == 0)
        return NAN;
    for (size_t j = 0; j < points->count; j++)
        sum += points->place[j].weight * objective->type->value(objective, &view, j);
    double left = objective->weight_total / unit - freedom(information->size, inverse, information->hessian);
    return left > 0 ? objective->loss->likelihood * sum / left : NAN;
}

/* J, both triangles. False: out of memory. */
static bool add_meat(keepfit_fit *fit, struct kf_information *information, double *meat)
{
    struct kf_objective *objective = &fit->task.problem.objective;
    size_t outputs = objective->outputs, count = fit->task.problem.points.count, size = information->size;
    struct kf_view view = kf_dense_view(fit->task.iterate.x);
    double *factors = kf_allocate_numbers(outputs), *squares = kf_allocate_numbers(count * outputs * outputs);
    bool good = factors && squares;
    for (size_t j = 0; j < count && good; j++) {
        objective->type->factors(objective, &view, j, factors);
        for (size_t k = 0; k < outputs; k++)
            for (size_t l = 0; l < outputs; l++)
                squares[(j * outputs + k) * outputs + l] = factors[k] * factors[l];
    }
    good = good && kf_hessian_add_known(&information->curves, &fit->task.problem, squares, count, 1, meat, size);
    for (size_t k = 0; k < size && good; k++)
        for (size_t l = 0; l < k; l++)
            meat[k * size + l] = meat[l * size + k];
    free(factors);
    free(squares);
    return good;
}

/* Once C is there. */
static bool find_errors(keepfit_fit *fit, struct kf_information *information, const double *inverse,
                        keepfit_model *model)
{
    size_t size = information->size, each = kf_model_errors(model) / 2;
    double *meat = kf_allocate_numbers(size * size), *half = kf_allocate_numbers(size * size);
    double *v = kf_allocate_numbers(2 * size);
    bool good = meat && half && v && add_meat(fit, information, meat);
    if (good) {
        kf_matrix_times_columns(size, meat, size, size, inverse, half);
        kf_matrix_times_columns(size, inverse, size, size, half, meat);
        take_roots(fit, inverse, plain_factor(fit, information, inverse), v, model->errors);
        take_roots(fit, meat, 1, v, model->errors + each);
    }
    free(meat);
    free(half);
    free(v);
    return good;
}

static keepfit_status add_errors(keepfit_fit *fit, struct kf_information *information, keepfit_model *model)
{
    keepfit_status status = kf_information_make(fit, information);
    if (status != KEEPFIT_OK)
        return status;
    if (model->features != fit->meaning.features || model->outputs != fit->task.problem.objective.outputs)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "the model is not that of this fit");
    size_t errors = kf_model_errors(model);
    free(model->errors);
    model->errors = kf_allocate_numbers(errors);
    if (!model->errors)
        return kf_fail_memory(&fit->error);
    kf_cholesky_invert(information->size, information->factor, information->size);
    let_go(fit, information, information->factor);
    if (!find_errors(fit, information, information->factor, model)) {
        free(model->errors);
        model->errors = NULL;
        return kf_fail_memory(&fit->error);
    }
    for (size_t k = 0; k < errors; k++) /* not a number: there is none */
        model->errors[k] = isfinite(model->errors[k]) ? model->errors[k] : KF_MODEL_NO_ERROR;
    return KEEPFIT_OK;
}

keepfit_status keepfit_fit_standard_errors(keepfit_fit *fit, keepfit_model *model)
{
    struct kf_information information;
    uint64_t counted = fit->task.problem.objective.fo;
    keepfit_status status = kf_information_sound(fit, add_errors(fit, &information, model));
    kf_information_free(&information);
    fit->task.problem.objective.fo = counted;
    return status;
}
