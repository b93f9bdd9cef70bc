/* The model as it is now, copied out of the iterate. */
#include <string.h>

#include "base/error.h"
#include "fit/centre.h"
#include "kernels/kernels.h"
#include "model/model.h"

static void copy_text(char to[KF_MODEL_TEXT], const char *from)
{
    strncpy(to, from, KF_MODEL_TEXT - 1);
}

/* A layer whose first row, where there is a lead, is the bias. */
static void copy_layer(const double *x, const struct kf_lead *lead, size_t rows, size_t columns, double *intercepts,
                       double *weights)
{
    for (size_t k = 0; k < columns && kf_lead_width(lead); k++)
        intercepts[k] = lead->constant * x[k];
    if (rows)
        memcpy(weights, x + kf_lead_width(lead) * columns, rows * columns * sizeof *weights);
}

static void copy_weights(keepfit_fit *fit, keepfit_model *model)
{
    const double *x = kf_centre_read_x(fit);
    size_t outputs = model->outputs, hidden = model->hidden;
    if (!hidden) {
        copy_layer(x, &fit->meaning.lead, fit->meaning.features, outputs, model->intercepts, model->weights);
        return;
    }
    copy_layer(x, &fit->meaning.lead, fit->meaning.features, hidden, model->hidden_intercepts, model->hidden_weights);
    const double *second = x + fit->task.problem.objective.slots * hidden;
    memcpy(model->weights, second, hidden * outputs * sizeof *second);
    memcpy(model->intercepts, second + hidden * outputs, outputs * sizeof *second);
}

/* The names of the columns, and of the classes that the model has. False: out of memory. */
static bool copy_names(const keepfit_fit *fit, keepfit_model *model)
{
    keepfit_schema schema = kf_schema_show(&fit->meaning.schema);
    bool good = kf_schema_set_columns(&model->schema, &schema);
    if (good && schema.columns) /* of a table with types; those of rows that were refused are in no point */
        kf_schema_cut(&model->schema, fit->meaning.features);
    for (size_t k = 0; k < model->classes && good; k++) {
        const char *name = keepfit_schema_class(&schema, model->labels[k]);
        good = !name || kf_schema_add_class(&model->schema, model->labels[k], name);
    }
    return good;
}

keepfit_status keepfit_fit_model(keepfit_fit *fit, keepfit_model **out)
{
    keepfit_status status = kf_fit_read(fit);
    if (status != KEEPFIT_OK)
        return status;
    if (!kf_all_finite(kf_size(&fit->task.problem), kf_read(&fit->task)))
        return kf_fit_overflown(fit);
    const struct kf_objective *objective = &fit->task.problem.objective;
    const keepfit_options *options = fit->options;
    if (!objective->loss)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "a user-written objective has no model; read keepfit_fit_iterate");
    size_t outputs = objective->outputs;
    size_t classes = fit->meaning.labels.kind == KF_NUMBERS ? 0 : fit->meaning.labels.count;
    if (fit->meaning.labels.kind == KF_MANY_CLASSES && classes && classes != outputs)
        return kf_fail(&fit->error, KEEPFIT_NO_MEMORY, "the fit ran out of memory while a class was being added");
    keepfit_model *model = kf_model_create(fit->meaning.features, objective->hidden, outputs, classes);
    if (!model)
        return kf_fail_memory(&fit->error);
    model->loss = objective->loss;
    copy_text(model->method, fit->running[fit->running_count - 1].method->name);
    copy_text(model->domain, options->domain);
    copy_text(model->scale, "none");
    copy_text(model->version, KEEPFIT_VERSION_STRING);
    model->lambda = objective->lambda;
    model->epsilon = options->epsilon;
    model->bias = fit->meaning.lead.constant;
    model->delta = options->delta;
    model->stages = fit->arrivals.arrived;
    model->fo = objective->fo;
    copy_weights(fit, model);
    for (size_t k = 0; k < classes; k++)
        model->labels[k] = fit->meaning.labels.label[k];
    if (!copy_names(fit, model)) {
        keepfit_model_free(model);
        return kf_fail_memory(&fit->error);
    }
    *out = model;
    return KEEPFIT_OK;
}
