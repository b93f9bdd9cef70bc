#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "explained.h"
#include "toolkit/model_text.h"
#include "toolkit/output.h"
#include "stored.h"

/* names may be NULL: the rows are numbered; errors: of the model whose weights they are, or NULL. */
static void print_rows(const double *weights, const char *const *names, size_t rows, size_t columns,
                       const keepfit_model *errors)
{
    for (size_t f = 0; f < rows; f++) {
        if (names)
            plain_text(stdout, names[f]);
        else
            printf("%zu", f + 1);
        for (size_t k = 0; k < columns; k++) {
            printf(" %.17g", weights[f * columns + k]);
            if (errors)
                explained_error(errors, f, k);
        }
        putchar('\n');
    }
}

static void print_numbers(const char *name, const double *numbers, size_t count)
{
    fputs(name, stdout);
    for (size_t k = 0; k < count; k++)
        printf(" %.17g", numbers[k]);
}

static void print_name(const char *before, const char *name, const char *behind)
{
    fputs(before, stdout);
    plain_text(stdout, name);
    fputs(behind, stdout);
}

static void print_names(const keepfit_description *model, const keepfit_schema *schema)
{
    char room[32];
    if (schema->target)
        print_name("\n  target    ", schema->target, "");
    for (size_t k = 0; k < schema->columns; k++) {
        print_name(k ? ", " : "\n  types     ", schema->column[k], "=");
        fputs(schema->type[k], stdout);
    }
    for (size_t f = 0; schema->feature && f < schema->features; f++)
        print_name(f ? ", " : schema->columns ? "\n  names     " : "\n  columns   ", schema->feature[f], "");
    for (size_t k = 0; k < model->classes; k++)
        print_name(k ? " " : "\n  labels    ", stored_class(schema, model->labels[k], room), "");
}

static void print_text(const keepfit_model *stored, bool weights)
{
    keepfit_description description = {.struct_size = sizeof description}, *model = &description;
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_model_describe(stored, model);
    keepfit_model_schema(stored, &schema);
    const char *const *names = schema.features >= model->features ? schema.feature : NULL;
    printf("keepfit model (library %s)\n", model->version);
    printf("  loss      %s\n  lambda    %.6g\n  epsilon   %.6g\n  domain    %s\n  method    %s\n", model->loss,
           model->lambda, model->epsilon, model->domain, model->method);
    printf("  stages    %llu\n  gradients %llu\n  features  %llu\n", (unsigned long long)model->stages,
           (unsigned long long)model->fo, (unsigned long long)model->features);
    printf("  scale     %s%s\n", model->scale, model->scale[0] == 'n' ? "" : " (weights are for unscaled rows)");
    if (model->hidden)
        printf("  hidden    %zu units\n", model->hidden);
    print_numbers("  intercept", model->intercepts, model->outputs);
    for (size_t k = 0; weights && k < model->outputs; k++)
        explained_error(stored, KEEPFIT_INTERCEPT, k);
    print_names(model, &schema);
    putchar('\n');
    if (weights && model->hidden) {
        print_numbers("hidden intercepts", model->hidden_intercepts, model->hidden);
        printf("\nhidden weights, a feature a line\n");
        print_rows(model->hidden_weights, names, model->features, model->hidden, NULL);
        printf("weights, a hidden unit a line\n");
    }
    if (weights)
        print_rows(model->weights, model->hidden ? NULL : names, model_last_inputs(model), model->outputs, stored);
}

static void print_model(const struct arguments *arguments, const keepfit_model *model)
{
    if (arguments->csv)
        explained_weights_csv(model);
    else if (arguments->json)
        model_json(stdout, model, arguments->weights);
    else
        print_text(model, arguments->weights);
}

static int inspect_model(const struct arguments *arguments)
{
    keepfit_model *model = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    if (arguments->influence || arguments->standard_errors)
        return fail(EXIT_USAGE, "%s: --%s needs a journal, which has the points", arguments->positional[0],
                    arguments->influence ? "influence" : "standard-errors");
    keepfit_status status = stored_model(arguments->positional[0], arguments->options, &model, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    keepfit_description about = {.struct_size = sizeof about};
    keepfit_model_describe(model, &about);
    int code = EXIT_DONE;
    if (arguments->csv && about.hidden)
        code = fail(EXIT_USAGE, "--csv: a network has layers of weights; take --json");
    else
        print_model(arguments, model);
    keepfit_model_free(model);
    return code;
}

/* The model of a journal, with its standard errors. */
static int inspect_errors(const struct arguments *arguments)
{
    keepfit_fit *fit = NULL;
    keepfit_model *model = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_status status = keepfit_journal_fit(arguments->positional[0], arguments->options, &fit, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    status = keepfit_fit_model(fit, &model);
    if (status == KEEPFIT_OK)
        status = keepfit_fit_standard_errors(fit, model);
    int code = status == KEEPFIT_OK ? EXIT_DONE : fail_status(status, message_of(keepfit_fit_error(fit)).text);
    if (code == EXIT_DONE && strcmp(keepfit_options_get(keepfit_fit_options(fit), "scale"), "none") != 0)
        code = fail(EXIT_USAGE,
                    "%s: its rows were scaled (--scale), and the journal alone has no errors of what the "
                    "weights of unscaled rows would be",
                    arguments->positional[0]);
    if (code == EXIT_DONE)
        print_model(arguments, model);
    keepfit_model_free(model);
    keepfit_fit_free(fit);
    return code;
}

static void print_journal_names_json(const keepfit_schema *schema)
{
    printf(",\n  \"feature_names\": %s", schema->feature ? "[" : "null");
    for (size_t f = 0; schema->feature && f < schema->features; f++) {
        fputs(f ? ", " : "", stdout);
        json_text(stdout, schema->feature[f]);
    }
    printf("%s", schema->feature ? "]" : "");
    model_types_json(stdout, schema);
    printf(",\n  \"classes\": {");
    for (size_t k = 0; k < schema->classes; k++) {
        fputs(k ? ", " : "", stdout);
        json_text(stdout, schema->class_name[k]);
        fputs(": ", stdout);
        json_number(stdout, schema->label[k]);
    }
    putchar('}');
}

static void print_journal_json(const keepfit_journal_info *info, const keepfit_schema *schema)
{
    const struct {
        const char *name;
        uint64_t number;
    } numbers[] = {{"generation", info->generation}, {"segments", info->segments}, {"records", info->records},
                   {"bytes", info->bytes},           {"points", info->points},     {"removals", info->removals},
                   {"present", info->present},       {"arrived", info->arrived},   {"checkpoint", info->checkpoint},
                   {"spoilt", info->spoilt},         {"torn", info->torn},         {"notes", info->notes}};
    printf("{\n  \"kind\": \"journal\"");
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        printf(",\n  \"%s\": %llu", numbers[k].name, (unsigned long long)numbers[k].number);
    printf(",\n  \"damage\": ");
    if (info->damage)
        json_text(stdout, info->damage);
    else
        printf("null");
    print_journal_names_json(schema);
    printf(",\n  \"settings\": ");
    json_text(stdout, info->settings);
    printf("\n}\n");
}

static void print_journal_text(const keepfit_journal_info *info, const keepfit_schema *schema)
{
    printf("keepfit journal, generation %llu\n", (unsigned long long)info->generation);
    printf("  records    %llu in %llu segments, %llu bytes\n", (unsigned long long)info->records,
           (unsigned long long)info->segments, (unsigned long long)info->bytes);
    printf("  points     %llu, of which %llu are present\n", (unsigned long long)info->points,
           (unsigned long long)info->present);
    if (info->checkpoint)
        printf("  checkpoint of record %llu\n", (unsigned long long)info->checkpoint);
    if (info->spoilt)
        printf("  spoilt     %llu checkpoints\n", (unsigned long long)info->spoilt);
    if (info->notes)
        printf("  notes      %llu\n", (unsigned long long)info->notes);
    if (info->torn)
        printf("  torn       %llu bytes at the end, never acknowledged\n", (unsigned long long)info->torn);
    if (info->damage)
        printf("  damage     %s\n", info->damage);
    if (schema->target)
        print_name("  target     ", schema->target, "\n");
    for (size_t k = 0; k < schema->columns; k++) {
        print_name(k ? ", " : "  types      ", schema->column[k], "=");
        printf("%s%s", schema->type[k], k + 1 < schema->columns ? "" : "\n");
    }
    for (size_t f = 0; schema->feature && f < schema->features; f++)
        print_name(f                 ? ", "
                   : schema->columns ? "  names      "
                                     : "  columns    ",
                   schema->feature[f], f + 1 < schema->features ? "" : "\n");
    for (size_t k = 0; k < schema->classes; k++) {
        printf("  class %-4.17g", schema->label[k]);
        print_name(" ", schema->class_name[k], "\n");
    }
    for (const char *line = info->settings, *end; (end = strchr(line, '\n')); line = end + 1)
        if (strncmp(line, "set ", 4) == 0)
            printf("  %.*s\n", (int)(end - line - 4), line + 4);
}

static int inspect_journal(const struct arguments *arguments)
{
    keepfit_journal *journal = NULL;
    keepfit_journal_info info = {.struct_size = sizeof info};
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_status status = keepfit_journal_open(arguments->positional[0], NULL, &journal, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    keepfit_journal_describe(journal, &info);
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_journal_schema(journal, &schema);
    (arguments->json ? print_journal_json : print_journal_text)(&info, &schema);
    keepfit_journal_close(journal);
    return EXIT_DONE;
}

static int inspect_checkpoint(const struct arguments *arguments)
{
    keepfit_error error = {.struct_size = sizeof error};
    uint64_t record = 0;
    keepfit_status status = keepfit_checkpoint_check(arguments->positional[0], NULL, &record, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    printf(arguments->json ? "{\n  \"kind\": \"checkpoint\",\n  \"record\": %llu\n}\n"
                           : "keepfit checkpoint: the fit after record %llu of its journal\n",
           (unsigned long long)record);
    return EXIT_DONE;
}

int run_inspect(struct arguments *arguments)
{
    switch (stored_kind(arguments->positional[0])) {
    case STORED_JOURNAL:
        if (arguments->influence)
            return explained_influence(arguments->positional[0], arguments->influence, arguments->json);
        if (arguments->standard_errors)
            return inspect_errors(arguments);
        return arguments->weights || arguments->csv ? inspect_model(arguments) : inspect_journal(arguments);
    case STORED_CHECKPOINT:
        return inspect_checkpoint(arguments);
    default:
        return inspect_model(arguments);
    }
}
