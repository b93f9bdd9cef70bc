#include "toolkit/model_text.h"

#include <math.h>
#include <string.h>

#include "toolkit/output.h"

/* ---- JSON ---- */

static void print_array(FILE *file, const char *name, const double *values, size_t count)
{
    fprintf(file, ",\n  \"%s\": [", name);
    for (size_t k = 0; k < count; k++) {
        if (k)
            fputs(", ", file);
        json_number(file, values[k]);
    }
    fputc(']', file);
}

size_t model_last_inputs(const keepfit_description *model)
{
    return model->hidden ? model->hidden : (size_t)model->features;
}

static void print_text(FILE *file, const char *name, const char *text)
{
    fprintf(file, ",\n  \"%s\": ", name);
    if (text)
        json_text(file, text);
    else
        fputs("null", file);
}

static void print_texts(FILE *file, const char *name, const char *const *texts, size_t count)
{
    fprintf(file, ",\n  \"%s\": ", name);
    for (size_t k = 0; texts && k < count; k++) {
        fputs(k ? ", " : "[", file);
        json_text(file, texts[k]);
    }
    fputs(texts ? count ? "]" : "[]" : "null", file);
}

void model_classes_json(FILE *file, const char *name, const keepfit_description *model, const keepfit_schema *schema)
{
    fprintf(file, ",\n  \"%s\": [", name);
    for (size_t k = 0; k < model->classes; k++) {
        const char *text = keepfit_schema_class(schema, model->labels[k]);
        fputs(k ? ", " : "", file);
        if (text)
            json_text(file, text);
        else
            json_number(file, model->labels[k]);
    }
    fputc(']', file);
}

/* The names of the features and the target, and the classes as people call them. */
void model_types_json(FILE *file, const keepfit_schema *schema)
{
    for (size_t k = 0; k < schema->columns; k++) {
        fputs(k ? ", " : ",\n  \"types\": {", file);
        json_text(file, schema->column[k]);
        fputs(": ", file);
        json_text(file, schema->type[k]);
    }
    if (schema->columns)
        putc('}', file);
}

static void print_names(FILE *file, const keepfit_description *model, const keepfit_schema *schema)
{
    print_texts(file, "feature_names", schema->feature, schema->features);
    model_types_json(file, schema);
    print_text(file, "target", schema->target);
    model_classes_json(file, "classes", model, schema);
}

/* Where the model has errors. */
static void print_errors(FILE *file, const keepfit_model *model)
{
    keepfit_description about = {.struct_size = sizeof about};
    double error;
    keepfit_model_describe(model, &about);
    if (!keepfit_model_standard_errors(model, true, KEEPFIT_INTERCEPT, 0, &error))
        return;
    for (int kind = 0; kind < 4; kind++) {
        static const char *const names[] = {"intercept_errors", "errors", "robust_intercept_errors", "robust_errors"};
        uint64_t rows = kind % 2 ? about.features : 1;
        fprintf(file, ",\n  \"%s\": [", names[kind]);
        for (uint64_t k = 0; k < rows * about.outputs; k++) {
            uint64_t feature = kind % 2 ? k / about.outputs : KEEPFIT_INTERCEPT;
            keepfit_model_standard_errors(model, kind >= 2, feature, k % about.outputs, &error);
            fputs(k ? ", " : "", file);
            json_number(file, error);
        }
        fputc(']', file);
    }
}

void model_json(FILE *file, const keepfit_model *stored, bool weights)
{
    keepfit_description description = {.struct_size = sizeof description}, *model = &description;
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_model_describe(stored, model);
    keepfit_model_schema(stored, &schema);
    const struct {
        const char *name, *text;
    } texts[] = {{"kind", "model"},         {"version", model->version}, {"loss", model->loss},
                 {"method", model->method}, {"domain", model->domain},   {"scale", model->scale}};
    const struct {
        const char *name;
        double number;
    } numbers[] = {{"lambda", model->lambda},
                   {"epsilon", model->epsilon},
                   {"delta", model->delta},
                   {"bias", model->bias},
                   {"stages", (double)model->stages},
                   {"fo", (double)model->fo},
                   {"features", (double)model->features},
                   {"hidden", (double)model->hidden},
                   {"outputs", (double)model->outputs}};
    fputc('{', file);
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        fprintf(file, "%s\n  \"%s\": ", k ? "," : "", texts[k].name);
        json_text(file, texts[k].text);
    }
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        fprintf(file, ",\n  \"%s\": ", numbers[k].name);
        json_number(file, numbers[k].number);
    }
    print_array(file, "labels", model->labels, model->classes);
    print_names(file, model, &schema);
    print_array(file, "intercepts", model->intercepts, model->outputs);
    if (weights)
        print_array(file, "weights", model->weights, model_last_inputs(model) * model->outputs);
    if (weights)
        print_errors(file, stored);
    if (model->hidden)
        print_array(file, "hidden_intercepts", model->hidden_intercepts, model->hidden);
    if (weights && model->hidden)
        print_array(file, "hidden_weights", model->hidden_weights, model->features * model->hidden);
    fprintf(file, "\n}\n");
}

/* ---- liblinear ---- */

/* liblinear's names of the losses; it predicts by the sign, or the largest score, whatever the name. */
static const char *liblinear_solver(const char *loss)
{
    unsigned traits = keepfit_loss_traits(loss);
    if (traits & KEEPFIT_LOSS_PROBABILITIES)
        return "L2R_LR";
    return traits & KEEPFIT_LOSS_NUMBERS ? "L2R_L2LOSS_SVR" : "L2R_L2LOSS_SVC";
}

bool model_fits_liblinear(const keepfit_model *stored, char reason[MODEL_REASON])
{
    keepfit_description description = {.struct_size = sizeof description}, *model = &description;
    keepfit_model_describe(stored, model);
    reason[0] = '\0';
    if (model->hidden)
        snprintf(reason, MODEL_REASON, "a network is not a linear model, and liblinear has no others");
    else if (strcmp(model->scale, "rows") == 0)
        snprintf(reason, MODEL_REASON, "the model scales each row to unit norm, which liblinear does not");
    else if (model->classification && model->classes < 2)
        snprintf(reason, MODEL_REASON, "liblinear has no model with fewer than two classes");
    for (size_t k = 0; model->classification && k < model->classes; k++)
        if (!reason[0] && (model->labels[k] != rint(model->labels[k]) || fabs(model->labels[k]) > 2147483647))
            snprintf(reason, MODEL_REASON, "liblinear's labels are whole numbers, and %g is not one", model->labels[k]);
    return !reason[0];
}

/* The first label is the positive one there. */
static void liblinear_labels(FILE *file, const keepfit_description *model)
{
    fprintf(file, "nr_class %zu\n", model->classification ? model->classes : 2);
    if (!model->classification)
        return;
    fprintf(file, "label");
    for (size_t k = 0; k < model->classes; k++)
        fprintf(file, " %.0f", model->labels[model->outputs == 1 ? model->classes - 1 - k : k]);
    fputc('\n', file);
}

void model_liblinear(FILE *file, const keepfit_model *stored)
{
    keepfit_description description = {.struct_size = sizeof description}, *model = &description;
    keepfit_model_describe(stored, model);
    fprintf(file, "solver_type %s\n", liblinear_solver(model->loss));
    liblinear_labels(file, model);
    fprintf(file, "nr_feature %llu\nbias 1\nw\n", (unsigned long long)model->features);
    for (uint64_t f = 0; f <= model->features; f++) {
        const double *weights = f < model->features ? model->weights + f * model->outputs : model->intercepts;
        for (size_t k = 0; k < model->outputs; k++)
            fprintf(file, "%.17g ", weights[k]);
        fputc('\n', file);
    }
}
