#define _POSIX_C_SOURCE 200809L
#include "stored.h"

#include "explained.h"

#include <string.h>
#include <sys/stat.h>

#include "toolkit/output.h"

enum stored_kind stored_kind(const char *path)
{
    struct stat state;
    char magic[8] = "";
    if (stat(path, &state) != 0)
        return STORED_MODEL;
    if (S_ISDIR(state.st_mode))
        return STORED_JOURNAL;
    FILE *file = S_ISREG(state.st_mode) ? fopen(path, "rb") : NULL;
    bool whole = file && fread(magic, 1, sizeof magic, file) == sizeof magic;
    if (file)
        fclose(file);
    return whole && memcmp(magic, "keepfitC", sizeof magic) == 0 ? STORED_CHECKPOINT : STORED_MODEL;
}

keepfit_status stored_model(const char *path, const keepfit_options *options, keepfit_model **model,
                            keepfit_error *error)
{
    return stored_kind(path) == STORED_JOURNAL ? keepfit_journal_model(path, options, model, error)
                                               : keepfit_model_load(path, model, error);
}

const char *stored_class(const keepfit_schema *schema, double label, char room[32])
{
    const char *name = keepfit_schema_class(schema, label);
    if (name)
        return name;
    snprintf(room, 32, "%.17g", label);
    return room;
}

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

size_t stored_last_inputs(const keepfit_description *model)
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

void stored_classes_json(FILE *file, const char *name, const keepfit_description *model, const keepfit_schema *schema)
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
void stored_types_json(FILE *file, const keepfit_schema *schema)
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
    stored_types_json(file, schema);
    print_text(file, "target", schema->target);
    stored_classes_json(file, "classes", model, schema);
}

void stored_model_json(FILE *file, const keepfit_model *stored, bool weights)
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
        print_array(file, "weights", model->weights, stored_last_inputs(model) * model->outputs);
    if (weights)
        explained_errors_json(file, stored);
    if (model->hidden)
        print_array(file, "hidden_intercepts", model->hidden_intercepts, model->hidden);
    if (weights && model->hidden)
        print_array(file, "hidden_weights", model->hidden_weights, model->features * model->hidden);
    fprintf(file, "\n}\n");
}
