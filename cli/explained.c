#include "explained.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "stored.h"
#include "toolkit/output.h"

#define LARGEST 10 /* changes of weights that text shows */

static const char *name_of(const keepfit_schema *schema, uint64_t feature, char room[32])
{
    if (feature == KEEPFIT_INTERCEPT)
        return "(intercept)";
    if (schema->feature && feature < schema->features)
        return schema->feature[feature];
    snprintf(room, 32, "%" PRIu64, feature + 1);
    return room;
}

/* ---- weights ---- */

static void csv_number(double number)
{
    putchar(',');
    if (!isnan(number))
        printf("%.17g", number);
}

static void csv_weight(const keepfit_model *model, const keepfit_description *about, const keepfit_schema *schema,
                       uint64_t feature)
{
    char room[32], label[32];
    const double *row = feature == KEEPFIT_INTERCEPT ? about->intercepts : about->weights + feature * about->outputs;
    for (size_t k = 0; k < about->outputs; k++) {
        double error = NAN, robust = NAN;
        keepfit_model_standard_errors(model, false, feature, k, &error);
        keepfit_model_standard_errors(model, true, feature, k, &robust);
        csv_text(stdout, name_of(schema, feature, room));
        putchar(',');
        if (about->outputs > 1 && k < about->classes)
            csv_text(stdout, stored_class(schema, about->labels[k], label));
        csv_number(row[k]);
        csv_number(error);
        csv_number(robust);
        putchar('\n');
    }
}

void explained_weights_csv(const keepfit_model *model)
{
    keepfit_description about = {.struct_size = sizeof about};
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_model_describe(model, &about);
    keepfit_model_schema(model, &schema);
    printf("name,class,weight,error,robust_error\n");
    csv_weight(model, &about, &schema, KEEPFIT_INTERCEPT);
    for (uint64_t f = 0; f < about.features; f++)
        csv_weight(model, &about, &schema, f);
}

void explained_error(const keepfit_model *model, uint64_t feature, size_t output)
{
    double error = NAN, robust = NAN;
    if (!keepfit_model_standard_errors(model, false, feature, output, &error) ||
        !keepfit_model_standard_errors(model, true, feature, output, &robust))
        return;
    fputs(" (", stdout);
    if (!isnan(error))
        printf("%.4g", error);
    if (!isnan(robust))
        printf("%srobust %.4g", isnan(error) ? "" : ", ", robust);
    putchar(')');
}

/* ---- predictions ---- */

int explained_check(const struct predictor *predictor, uint64_t most)
{
    if (most && predictor->about.hidden)
        return fail(EXIT_USAGE, "--explain: the scores of a network are no sums of what its features contribute");
    return EXIT_DONE;
}

void explained_head(uint64_t most)
{
    for (uint64_t k = 1; k <= most; k++)
        printf(",feature_%" PRIu64 ",contribution_%" PRIu64, k, k);
    fputs(",intercept,rest", stdout);
}

void explained_row(const struct predictor *predictor, const keepfit_row *row, uint64_t most)
{
    keepfit_contribution *found = calloc(most + 1, sizeof *found);
    size_t count = 0, output = 0;
    double intercept = NAN, rest = NAN;
    char room[32];
    if (!found)
        return; /* a row that is too short says so, if nothing else does */
    for (size_t k = 0; predictor && predictor->about.outputs > 1 && k < predictor->about.classes; k++)
        if (predictor->about.labels[k] == predictor->prediction.value)
            output = k;
    if (predictor)
        keepfit_model_explain(predictor->model, row, output, most, found, &count, &intercept, &rest);
    for (size_t k = 0; k < most; k++) {
        putchar(',');
        if (k < count)
            csv_text(stdout, name_of(&predictor->schema, found[k].feature, room));
        csv_number(k < count ? found[k].contribution : NAN);
    }
    csv_number(intercept);
    csv_number(rest);
    free(found);
}

/* ---- influence ---- */

struct change {
    uint64_t feature;
    size_t output;
    double by;
};

static int compare(const void *a, const void *b)
{
    double x = fabs(((const struct change *)a)->by), y = fabs(((const struct change *)b)->by);
    return x < y ? 1 : x > y ? -1 : 0;
}

/* All changes, the largest first, to be freed; NULL: out of memory. */
static struct change *sort_changes(const keepfit_influence *influence, size_t *count)
{
    size_t outputs = influence->outputs;
    *count = (influence->features + 1) * outputs;
    struct change *all = calloc(*count + 1, sizeof *all);
    for (size_t k = 0; k < *count && all; k++) {
        bool intercept = k < outputs;
        all[k] = (struct change){intercept ? KEEPFIT_INTERCEPT : (k - outputs) / outputs, k % outputs,
                                 intercept ? influence->intercepts[k] : influence->weights[k - outputs]};
    }
    if (all)
        qsort(all, *count, sizeof *all, compare);
    return all;
}

static void print_changes(const keepfit_schema *schema, const keepfit_influence *influence, const struct change *all,
                          size_t count, bool json)
{
    char room[32];
    for (size_t k = 0; k < count && (json || k < LARGEST); k++) {
        const char *name = name_of(schema, all[k].feature, room);
        if (json) {
            printf("%s\n    {\"name\": ", k ? "," : "");
            json_text(stdout, name);
            printf(", \"output\": %zu, \"change\": ", all[k].output);
            json_number(stdout, all[k].by);
            putchar('}');
        } else if (all[k].by != 0) {
            fputs("    ", stdout);
            plain_text(stdout, name);
            if (influence->outputs > 1)
                printf(" (output %zu)", all[k].output + 1);
            printf(" %+.4g\n", all[k].by);
        }
    }
}

static void print_scores(const char *name, const double *scores, size_t outputs)
{
    printf(",\n  \"%s\": [", name);
    for (size_t k = 0; k < outputs; k++) {
        fputs(k ? ", " : "", stdout);
        json_number(stdout, scores[k]);
    }
    putchar(']');
}

static void print_influence(const keepfit_schema *schema, const keepfit_influence *influence, const struct change *all,
                            size_t count, bool json)
{
    unsigned long long number = influence->arrival;
    if (!json) {
        printf("point %llu\n  leverage  %.4g of its own score\n  loss      %.4g, %.4g without it\n", number,
               influence->leverage, influence->loss, influence->loss_without);
        for (size_t k = 0; k < influence->outputs; k++)
            printf("  score     %.4g, %.4g without it\n", influence->scores[k], influence->scores_without[k]);
        printf("  distance  %.4g standard errors\n  without it weights change, most of all\n", influence->distance);
        print_changes(schema, influence, all, count, json);
        return;
    }
    printf("{\n  \"kind\": \"influence\",\n  \"number\": %llu", number);
    const struct {
        const char *name;
        double number;
    } numbers[] = {{"leverage", influence->leverage},
                   {"distance", influence->distance},
                   {"loss", influence->loss},
                   {"loss_without", influence->loss_without}};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        printf(",\n  \"%s\": ", numbers[k].name);
        json_number(stdout, numbers[k].number);
    }
    print_scores("scores", influence->scores, influence->outputs);
    print_scores("scores_without", influence->scores_without, influence->outputs);
    fputs(",\n  \"changes\": [", stdout);
    print_changes(schema, influence, all, count, json);
    fputs("\n  ]\n}\n", stdout);
}

/* A key comes before a number that looks the same. */
static int find_point(keepfit_fit *fit, const char *folder, const char *point, uint64_t *index)
{
    char *end;
    unsigned long long number = strtoull(point, &end, 10);
    if (keepfit_fit_find_key(fit, point, index))
        return EXIT_DONE;
    if (*point < '0' || *point > '9' || *end || !keepfit_fit_find(fit, number, index))
        return fail(EXIT_DATA, "%s: no point with the key or number '%s' is present; numbers count arrivals, from 1",
                    folder, point);
    return EXIT_DONE;
}

int explained_influence(const char *folder, const char *point, bool json)
{
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_influence influence = {.struct_size = sizeof influence};
    keepfit_schema schema = {.struct_size = sizeof schema};
    uint64_t index = 0;
    size_t count = 0;
    keepfit_status status = keepfit_journal_fit(folder, NULL, &fit, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    int code = find_point(fit, folder, point, &index);
    if (code == EXIT_DONE && (status = keepfit_fit_influence(fit, index, &influence)) != KEEPFIT_OK)
        code = fail_status(status, message_of(keepfit_fit_error(fit)).text);
    if (code == EXIT_DONE) {
        struct change *all = sort_changes(&influence, &count);
        keepfit_fit_schema(fit, &schema);
        if (all)
            print_influence(&schema, &influence, all, count, json);
        else
            code = fail(EXIT_FAILED, "out of memory");
        free(all);
    }
    keepfit_fit_free(fit);
    return code;
}
