#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/kernels.h"
#include "stream/scaling.h"

keepfit_model *kf_model_create(uint64_t features, size_t outputs, size_t classes)
{
    keepfit_model *model = kf_allocate(1, sizeof *model);
    if (!model)
        return NULL;
    model->features = features;
    model->outputs = outputs;
    model->classes = classes;
    model->labels = kf_allocate(classes, sizeof(double));
    model->intercepts = kf_allocate(outputs, sizeof(double));
    if (features <= SIZE_MAX / outputs)
        model->weights = kf_allocate(features * outputs, sizeof(double));
    if (model->labels && model->intercepts && model->weights)
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
        free(model);
    }
}

void keepfit_model_describe(const keepfit_model *model, keepfit_description *description)
{
    *description = (keepfit_description){
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
        .outputs = model->outputs,
        .classes = model->classes,
        .labels = model->labels,
        .intercepts = model->intercepts,
        .weights = model->weights,
    };
}

static void find_scores(const keepfit_model *model, const keepfit_row *row, double *scores)
{
    double scale = 1;
    if (model->unit_rows) {
        double norm = kf_norm(row->count, row->value);
        scale = norm > 0 ? 1 / norm : 1;
    }
    kf_row_scores(row, model->weights, model->features, model->outputs, scores);
    for (size_t k = 0; k < model->outputs; k++)
        scores[k] = scale * scores[k] + model->intercepts[k];
}

static void predict_two(const keepfit_model *model, double score, keepfit_prediction *prediction)
{
    size_t chosen = model->classes == 2 ? score > 0 : 0;
    double sure = score > 0 ? score : -score;
    prediction->value = model->classes ? model->labels[chosen] : 0;
    prediction->margin = score;
    if (model->loss->probabilities)
        prediction->probability = model->classes == 2 ? 1 / (1 + exp(-sure)) : 1;
}

static void predict_many(const keepfit_model *model, const double *scores, keepfit_prediction *prediction)
{
    size_t chosen = 0;
    for (size_t k = 1; k < model->outputs; k++)
        if (scores[k] > scores[chosen])
            chosen = k;
    double sum = 0;
    for (size_t k = 0; k < model->outputs; k++)
        sum += exp(scores[k] - scores[chosen]);
    prediction->value = model->classes ? model->labels[chosen] : 0;
    prediction->margin = scores[chosen];
    prediction->probability = 1 / sum;
}

keepfit_status keepfit_model_predict(const keepfit_model *model, const keepfit_row *row, keepfit_prediction *prediction,
                                     double *scores)
{
    double few[16], *own = scores ? scores : few;
    if (!scores && model->outputs > sizeof few / sizeof few[0] && !(own = kf_allocate(model->outputs, sizeof *own)))
        return KEEPFIT_NO_MEMORY;
    find_scores(model, row, own);
    *prediction = (keepfit_prediction){.probability = NAN, .outputs = model->outputs};
    if (model->loss->targets == KF_NUMBERS)
        prediction->value = prediction->margin = own[0];
    else if (model->loss->targets == KF_TWO_CLASSES)
        predict_two(model, own[0], prediction);
    else
        predict_many(model, own, prediction);
    if (own != scores && own != few)
        free(own);
    return KEEPFIT_OK;
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
    for (size_t f = 0; f < model->features && f < scaling->features; f++)
        for (size_t k = 0; k < model->outputs; k++) {
            double *weight = &model->weights[f * model->outputs + k];
            model->intercepts[k] += *weight * scaling->shift[f];
            *weight *= scaling->factor[f];
        }
    return KEEPFIT_OK;
}
