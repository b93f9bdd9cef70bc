#include <stdio.h>

#include "arguments.h"
#include "output.h"

static void print_array(const char *name, const double *values, size_t count)
{
    printf(",\n  \"%s\": [", name);
    for (size_t k = 0; k < count; k++) {
        if (k)
            fputs(", ", stdout);
        json_number(stdout, values[k]);
    }
    putchar(']');
}

static void print_json(const keepfit_description *model, bool weights)
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
                   {"outputs", (double)model->outputs}};
    putchar('{');
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        printf("%s\n  \"%s\": ", k ? "," : "", texts[k].name);
        json_text(stdout, texts[k].text);
    }
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        printf(",\n  \"%s\": ", numbers[k].name);
        json_number(stdout, numbers[k].number);
    }
    print_array("labels", model->labels, model->classes);
    print_array("intercepts", model->intercepts, model->outputs);
    if (weights)
        print_array("weights", model->weights, model->features * model->outputs);
    printf("\n}\n");
}

static void print_text(const keepfit_description *model, bool weights)
{
    printf("keepfit model (library %s)\n", model->version);
    printf("  loss      %s\n  lambda    %.6g\n  epsilon   %.6g\n  domain    %s\n  method    %s\n", model->loss,
           model->lambda, model->epsilon, model->domain, model->method);
    printf("  stages    %llu\n  gradients %llu\n  features  %llu\n", (unsigned long long)model->stages,
           (unsigned long long)model->fo, (unsigned long long)model->features);
    printf("  scale     %s%s\n", model->scale, model->scale[0] == 'n' ? "" : " (weights are for unscaled rows)");
    printf("  intercept");
    for (size_t k = 0; k < model->outputs; k++)
        printf(" %.17g", model->intercepts[k]);
    if (model->classes) {
        printf("\n  labels   ");
        for (size_t k = 0; k < model->classes; k++)
            printf(" %.17g", model->labels[k]);
    }
    putchar('\n');
    for (size_t f = 0; weights && f < model->features; f++) {
        printf("%zu", f + 1);
        for (size_t k = 0; k < model->outputs; k++)
            printf(" %.17g", model->weights[f * model->outputs + k]);
        putchar('\n');
    }
}

int run_inspect(struct arguments *arguments)
{
    keepfit_model *model = NULL;
    keepfit_error error;
    keepfit_status status = keepfit_model_load(arguments->positional[0], &model, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, error.message);
    keepfit_description description;
    keepfit_model_describe(model, &description);
    (arguments->json ? print_json : print_text)(&description, arguments->weights);
    keepfit_model_free(model);
    return EXIT_DONE;
}
