#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "kernels/exponential.h"
#include "kernels/kernels.h"
#include "stream/scaling.h"

static double *make_matrix(uint64_t rows, size_t columns)
{
    return columns == 0 || rows <= SIZE_MAX / columns ? kf_allocate(rows * columns, sizeof(double)) : NULL;
}

keepfit_model *kf_model_create(uint64_t features, size_t hidden, size_t outputs, size_t classes)
{
    keepfit_model *model = kf_allocate(1, sizeof *model);
    if (!model)
        return NULL;
    model->features = features;
    model->hidden = hidden;
    model->outputs = outputs;
    model->classes = classes;
    model->labels = kf_allocate(classes, sizeof(double));
    model->intercepts = kf_allocate(outputs, sizeof(double));
    model->weights = make_matrix(kf_model_inputs(model), outputs);
    model->hidden_intercepts = kf_allocate(hidden, sizeof(double));
    model->hidden_weights = make_matrix(features, hidden);
    if (model->labels && model->intercepts && model->weights && model->hidden_intercepts && model->hidden_weights)
        return model;
    keepfit_model_free(model);
    return NULL;
}

void keepfit_model_free(keepfit_model *model)
{
    if (model) {
        free(model->labels);
        free(model->intercepts);
        free(model->weights);
        free(model->hidden_intercepts);
        free(model->hidden_weights);
        free(model->errors);
        kf_schema_free(&model->schema);
        free(model);
    }
}

void keepfit_model_describe(const keepfit_model *model, keepfit_description *description)
{
    const keepfit_description made = {
        .loss = model->loss->name,
        .method = model->method,
        .domain = model->domain,
        .scale = model->scale,
        .version = model->version,
        .lambda = model->lambda,
        .epsilon = model->epsilon,
        .bias = model->bias,
        .delta = model->delta,
        .classification = model->loss->targets != KF_NUMBERS,
        .stages = model->stages,
        .fo = model->fo,
        .features = model->features,
        .hidden = model->hidden,
        .outputs = model->outputs,
        .classes = model->classes,
        .labels = model->labels,
        .intercepts = model->intercepts,
        .weights = model->weights,
        .hidden_intercepts = model->hidden ? model->hidden_intercepts : NULL,
        .hidden_weights = model->hidden ? model->hidden_weights : NULL,
    };
    KF_GIVE(description, &made);
}

void keepfit_model_schema(const keepfit_model *model, keepfit_schema *schema)
{
    const keepfit_schema shown = kf_schema_show(&model->schema);
    KF_GIVE(schema, &shown);
}

bool keepfit_model_standard_errors(const keepfit_model *model, bool robust, uint64_t feature, size_t output,
                                   double *error)
{
    bool intercept = feature == KEEPFIT_INTERCEPT;
    if (!model->errors || output >= model->outputs || (!intercept && feature >= model->features))
        return false;
    size_t row = intercept ? 0 : (size_t)feature + 1;
    const double *errors = model->errors + (robust ? kf_model_errors(model) / 2 : 0);
    double found = errors[row * model->outputs + output];
    *error = found == KF_MODEL_NO_ERROR ? NAN : found;
    return true;
}

/* out = scale * (row . weights) + intercepts */
static void apply_layer(const keepfit_row *row, double scale, const double *weights, uint64_t rows, size_t columns,
                        const double *intercepts, double *out)
{
    kf_row_scores(row, weights, rows, columns, out);
    for (size_t k = 0; k < columns; k++)
        out[k] = scale * out[k] + intercepts[k];
}

/* units: room for the hidden layer, where there is one. */
static void find_scores(const keepfit_model *model, const keepfit_row *row, double *units, double *scores)
{
    double scale = 1;
    keepfit_row active = {.count = model->hidden, .value = units};
    if (model->unit_rows) {
        double norm = kf_norm(row->count, row->value);
        scale = norm > 0 ? 1 / norm : 1;
    }
    if (model->hidden) {
        apply_layer(row, scale, model->hidden_weights, model->features, model->hidden, model->hidden_intercepts, units);
        for (size_t k = 0; k < model->hidden; k++)
            units[k] = units[k] > 0 ? units[k] : 0;
    }
    apply_layer(model->hidden ? &active : row, model->hidden ? 1 : scale, model->weights, kf_model_inputs(model),
                model->outputs, model->intercepts, scores);
}

static void predict_two(const keepfit_model *model, double score, keepfit_prediction *prediction)
{
    size_t chosen = model->classes == 2 ? score > 0 : 0;
    double sure = score > 0 ? score : -score;
    prediction->value = model->classes ? model->labels[chosen] : 0;
    prediction->margin = score;
    if (model->loss->probabilities)
        prediction->probability = model->classes == 2 ? 1 / (1 + kf_exp_any(-sure)) : 1;
}

static void predict_many(const keepfit_model *model, const double *scores, keepfit_prediction *prediction)
{
    size_t chosen = 0;
    for (size_t k = 1; k < model->outputs; k++)
        if (scores[k] > scores[chosen])
            chosen = k;
    double sum = 0;
    for (size_t k = 0; k < model->outputs; k++)
        sum += kf_exp_any(scores[k] - scores[chosen]);
    prediction->value = model->classes ? model->labels[chosen] : 0;
    prediction->margin = scores[chosen];
    prediction->probability = 1 / sum;
}

keepfit_status keepfit_model_predict(const keepfit_model *model, const keepfit_row *row, keepfit_prediction *prediction,
                                     double *scores)
{
    double few[16], *space = NULL;
    if (model->hidden + model->outputs > sizeof few / sizeof few[0] &&
        !(space = kf_allocate(model->hidden + model->outputs, sizeof *space)))
        return KEEPFIT_NO_MEMORY;
    double *units = space ? space : few, *own = scores ? scores : units + model->hidden;
    find_scores(model, row, units, own);
    keepfit_prediction made = {.probability = NAN, .outputs = model->outputs};
    if (model->loss->targets == KF_NUMBERS)
        made.value = made.margin = own[0];
    else if (model->loss->targets == KF_TWO_CLASSES)
        predict_two(model, own[0], &made);
    else
        predict_many(model, own, &made);
    KF_GIVE(prediction, &made);
    free(space);
    return KEEPFIT_OK;
}

keepfit_status keepfit_model_probabilities(const keepfit_model *model, const double *scores, double *probabilities)
{
    size_t top = 0;
    double sum = 0;
    if (!model->loss->probabilities)
        return KEEPFIT_USAGE;
    if (model->loss->targets == KF_TWO_CLASSES && model->classes == 2) {
        probabilities[0] = kf_logistic_tail(scores[0], 1);
        probabilities[1] = kf_logistic_tail(-scores[0], 1);
        return KEEPFIT_OK;
    }
    if (model->classes == 1)
        probabilities[0] = 1;
    if (model->classes < 2)
        return KEEPFIT_OK;
    for (size_t k = 1; k < model->classes; k++)
        top = scores[k] > scores[top] ? k : top;
    for (size_t k = 0; k < model->classes; k++)
        sum += probabilities[k] = kf_exp_any(scores[k] - scores[top]);
    for (size_t k = 0; k < model->classes; k++)
        probabilities[k] /= sum;
    return KEEPFIT_OK;
}

/* What shifts add to an intercept has errors that belong together with its own: of the sum nothing is known. */
static void unscale_errors(keepfit_model *model, const struct kf_scaling *scaling)
{
    size_t half = kf_model_errors(model) / 2, columns = model->outputs;
    for (size_t f = 0; f < model->features && f < scaling->features; f++)
        for (size_t k = 0; k < 2 * columns; k++) {
            double *errors = model->errors + k / columns * half, *own = &errors[(f + 1) * columns + k % columns];
            if (scaling->shift[f] != 0)
                errors[k % columns] = KF_MODEL_NO_ERROR;
            if (*own != KF_MODEL_NO_ERROR)
                *own *= fabs(scaling->factor[f]);
        }
}

keepfit_status keepfit_model_unscale(keepfit_model *model, const keepfit_stream *stream, keepfit_error *error)
{
    const struct kf_scaling *scaling = kf_stream_scaling(stream);
    if (!scaling || scaling->kind == KF_SCALE_NONE)
        return KEEPFIT_OK;
    if (strcmp(model->scale, "none") != 0)
        return kf_fail(error, KEEPFIT_USAGE, "the model has been unscaled already");
    static const char *const names[] = {"none", "columns", "rows", "minmax"};
    strcpy(model->scale, names[scaling->kind]);
    if (scaling->kind == KF_SCALE_ROWS) {
        model->unit_rows = true;
        return KEEPFIT_OK;
    }
    size_t columns = model->hidden ? model->hidden : model->outputs;
    double *weights = model->hidden ? model->hidden_weights : model->weights;
    double *intercepts = model->hidden ? model->hidden_intercepts : model->intercepts;
    for (size_t f = 0; f < model->features && f < scaling->features; f++)
        for (size_t k = 0; k < columns; k++) {
            double *weight = &weights[f * columns + k];
            intercepts[k] += *weight * scaling->shift[f];
            *weight *= scaling->factor[f];
        }
    if (model->errors)
        unscale_errors(model, scaling);
    return KEEPFIT_OK;
}
