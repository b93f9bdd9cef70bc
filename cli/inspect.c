#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "output.h"
#include "stored.h"

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

static int inspect_model(const struct arguments *arguments)
{
    keepfit_model *model = NULL;
    keepfit_error error;
    keepfit_status status = keepfit_model_load(arguments->positional[0], &model, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, error.message);
    keepfit_description description;
    keepfit_model_describe(model, &description);
    if (arguments->json)
        stored_model_json(stdout, &description, arguments->weights);
    else
        print_text(&description, arguments->weights);
    keepfit_model_free(model);
    return EXIT_DONE;
}

static void print_journal_json(const keepfit_journal_info *info)
{
    const struct {
        const char *name;
        uint64_t number;
    } numbers[] = {{"generation", info->generation}, {"segments", info->segments}, {"records", info->records},
                   {"bytes", info->bytes},           {"points", info->points},     {"removals", info->removals},
                   {"present", info->present},       {"arrived", info->arrived},   {"checkpoint", info->checkpoint},
                   {"spoilt", info->spoilt},         {"torn", info->torn}};
    printf("{\n  \"kind\": \"journal\"");
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        printf(",\n  \"%s\": %llu", numbers[k].name, (unsigned long long)numbers[k].number);
    printf(",\n  \"damage\": ");
    if (info->damage)
        json_text(stdout, info->damage);
    else
        printf("null");
    printf(",\n  \"settings\": ");
    json_text(stdout, info->settings);
    printf("\n}\n");
}

static void print_journal_text(const keepfit_journal_info *info)
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
    if (info->torn)
        printf("  torn       %llu bytes at the end, never acknowledged\n", (unsigned long long)info->torn);
    if (info->damage)
        printf("  damage     %s\n", info->damage);
    for (const char *line = info->settings, *end; (end = strchr(line, '\n')); line = end + 1)
        if (strncmp(line, "set ", 4) == 0)
            printf("  %.*s\n", (int)(end - line - 4), line + 4);
}

static int inspect_journal(const struct arguments *arguments)
{
    keepfit_journal *journal = NULL;
    keepfit_journal_info info;
    keepfit_error error;
    keepfit_status status = keepfit_journal_open(arguments->positional[0], NULL, &journal, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, error.message);
    keepfit_journal_describe(journal, &info);
    (arguments->json ? print_journal_json : print_journal_text)(&info);
    keepfit_journal_close(journal);
    return EXIT_DONE;
}

static int inspect_checkpoint(const struct arguments *arguments)
{
    keepfit_error error;
    uint64_t record = 0;
    keepfit_status status = keepfit_checkpoint_check(arguments->positional[0], NULL, &record, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, error.message);
    printf(arguments->json ? "{\n  \"kind\": \"checkpoint\",\n  \"record\": %llu\n}\n"
                           : "keepfit checkpoint: the fit after record %llu of its journal\n",
           (unsigned long long)record);
    return EXIT_DONE;
}

int run_inspect(struct arguments *arguments)
{
    switch (stored_kind(arguments->positional[0])) {
    case STORED_JOURNAL:
        return inspect_journal(arguments);
    case STORED_CHECKPOINT:
        return inspect_checkpoint(arguments);
    default:
        return inspect_model(arguments);
    }
}
