#define _POSIX_C_SOURCE 200809L
#include "stored.h"

#include <string.h>
#include <sys/stat.h>

#include "output.h"

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

int stored_open_model(const char *path, keepfit_options *options, keepfit_model **model)
{
    keepfit_error error;
    keepfit_status status = stored_kind(path) == STORED_JOURNAL ? keepfit_journal_model(path, options, model, &error)
                                                                : keepfit_model_load(path, model, &error);
    return status == KEEPFIT_OK ? 0 : fail_status(status, error.message);
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

void stored_model_json(FILE *file, const keepfit_description *model, bool weights)
{
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
    print_array(file, "intercepts", model->intercepts, model->outputs);
    if (weights)
        print_array(file, "weights", model->weights, stored_last_inputs(model) * model->outputs);
    if (model->hidden)
        print_array(file, "hidden_intercepts", model->hidden_intercepts, model->hidden);
    if (weights && model->hidden)
        print_array(file, "hidden_weights", model->hidden_weights, model->features * model->hidden);
    fprintf(file, "\n}\n");
}
