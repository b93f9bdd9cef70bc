#include "taken.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/model_text.h"
#include "toolkit/output.h"
#include "stored.h"

#define POINTS_LEAST 10 /* fewer have few values by accident */
#define CLASSES_SHOWN 10

void taken_see(struct taken *taken, double target)
{
    taken->points++;
    for (size_t k = 0; k < taken->distinct; k++)
        if (taken->value[k] == target)
            return;
    if (taken->distinct < sizeof taken->value / sizeof taken->value[0])
        taken->value[taken->distinct++] = target;
}

static bool is_whole(double value)
{
    return value == rint(value);
}

void taken_warn(struct taken *taken, const keepfit_options *options, const char *name)
{
    double low = fmin(taken->value[0], taken->value[1]), high = fmax(taken->value[0], taken->value[1]);
    if (taken->warned || keepfit_options_given(options, "loss") || taken->points < POINTS_LEAST ||
        taken->distinct != 2 || !is_whole(low) || !is_whole(high))
        return;
    taken->warned = true;
    warn("%s: the targets are %g and %g alone, and --loss squared (the default) takes them for numbers; if they are "
         "classes, say --loss logistic (and --intercept, to have what Python's KeepfitClassifier takes)",
         name, low, high);
}

/* ---- tables with types ---- */

/* Names that a list could be taken apart by are in quotes. */
static void say_name(const char *name)
{
    if (*name && !strpbrk(name, " ,=\"\n"))
        plain_text(stderr, name);
    else
        json_text(stderr, name);
}

void taken_say_types(const keepfit_stream *stream)
{
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_stream_schema(stream, &schema);
    keepfit_stream_describe(stream, &info);
    if (!schema.columns)
        return;
    fprintf(stderr, "keepfit: %s: types: ", info.name);
    for (size_t k = 0; k < schema.columns; k++) {
        fputs(k ? "," : "", stderr);
        say_name(schema.column[k]);
        fprintf(stderr, "=%s", schema.type[k]);
    }
    fputs(" (--type says otherwise)\n", stderr);
}

void taken_warn_cells(const keepfit_stream_info *info)
{
    if (info->unseen)
        warn("%s: %llu cell%s what the model does not know, and count%s as 0 (the first is '%.60s', in column '%.60s')",
             info->name, (unsigned long long)info->unseen, info->unseen == 1 ? " holds" : "s hold",
             info->unseen == 1 ? "s" : "", info->unseen_text, info->unseen_column);
    if (info->collisions)
        warn(
            "%s: %llu of the numbers that texts are hashed to stand for more than one text (a larger --hash has fewer)",
            info->name, (unsigned long long)info->collisions);
}

#define LOSS_ROWS "100" /* that are looked at, as many as for the types */

void taken_choose_loss(keepfit_options *options, const char *path)
{
    keepfit_options *looking = keepfit_options_copy(options);
    keepfit_stream *stream = NULL;
    keepfit_schema schema = {.struct_size = sizeof schema};
    bool good = looking && keepfit_options_set(looking, "loss", "softmax", NULL) == KEEPFIT_OK &&
                keepfit_options_set(looking, "limit", LOSS_ROWS, NULL) == KEEPFIT_OK &&
                keepfit_options_set(looking, "shuffle", "false", NULL) == KEEPFIT_OK &&
                keepfit_options_set(looking, "scale", "none", NULL) == KEEPFIT_OK &&
                keepfit_options_set(looking, "threads", "1", NULL) == KEEPFIT_OK &&
                keepfit_stream_open(path, looking, &stream, NULL) == KEEPFIT_OK;
    keepfit_point point;
    while (good && keepfit_stream_next(stream, &point) == KEEPFIT_OK)
        ;
    if (good)
        keepfit_stream_schema(stream, &schema);
    if (schema.classes)
        keepfit_options_set(options, "loss", schema.classes > 2 ? "softmax" : "logistic", NULL);
    keepfit_stream_close(stream);
    keepfit_options_free(looking);
}

/* ---- what the summary says ---- */

static bool is_classification(const keepfit_description *model)
{
    return model && model->classification;
}

static void print_intercept(keepfit_options *options)
{
    if (keepfit_options_given(options, "bias"))
        printf("bias %s\n", keepfit_options_get(options, "bias"));
    else if (is_network(options))
        printf("with biases in both layers\n");
    else if (keepfit_options_get_flag(options, "intercept"))
        printf("with an intercept\n");
    else
        printf("no intercept%s\n", keepfit_options_given(options, "intercept")
                                       ? ""
                                       : " (default; --intercept adds one, as Python does by default)");
}

static void print_target(keepfit_options *options, const struct taken_data *data)
{
    const keepfit_stream_info *stream = data->stream;
    if (stream->target_column && data->names->target) {
        printf("  target       column %llu, ", (unsigned long long)stream->target_column);
        plain_text(stdout, data->names->target);
        putchar('\n');
    } else if (stream->target_column)
        printf("  target       column %llu\n", (unsigned long long)stream->target_column);
    else if (stream->targets)
        printf("  target       from %s\n", stream->targets);
    else if (strcmp(keepfit_options_get(options, "target"), "none") == 0)
        printf("  target       none: 0 for each row\n");
    else if (strcmp(stream->format, "libsvm") == 0)
        printf("  target       the number that begins each line\n");
}

static void print_classes(const struct taken_data *data)
{
    const keepfit_description *model = data->model;
    char room[32];
    printf("  classes      ");
    for (size_t k = 0; k < model->classes && k < CLASSES_SHOWN; k++) {
        fputs(k ? ", " : "", stdout);
        plain_text(stdout, stored_class(data->names, model->labels[k], room));
    }
    if (model->classes > CLASSES_SHOWN)
        printf(", ... (%zu)", model->classes);
    putchar('\n');
}

void taken_print_text(keepfit_options *options, const struct taken_data *data)
{
    printf("  loss         %s%s, ", keepfit_options_get(options, "loss"),
           data->loss_chosen                        ? " (the targets are texts)"
           : keepfit_options_given(options, "loss") ? ""
                                                    : " (default)");
    print_intercept(options);
    if (data->stream)
        print_target(options, data);
    if (is_classification(data->model))
        print_classes(data);
}

static void print_labels_json(const keepfit_description *model)
{
    printf(",\n  \"labels\": [");
    for (size_t k = 0; k < model->classes; k++) {
        fputs(k ? ", " : "", stdout);
        json_number(stdout, model->labels[k]);
    }
    putchar(']');
}

void taken_print_json(keepfit_options *options, const struct taken_data *data)
{
    static const keepfit_description none = {.classes = 0};
    const keepfit_description *model = is_classification(data->model) ? data->model : &none;
    const char *bias = keepfit_options_get(options, "bias");
    printf(",\n  \"bias\": ");
    json_number(stdout, *bias ? strtod(bias, NULL) : NAN);
    printf(",\n  \"intercept\": %s", keepfit_options_get(options, "intercept"));
    bool loss = keepfit_options_given(options, "loss") && !data->loss_chosen;
    bool intercept = keepfit_options_given(options, "bias") || keepfit_options_given(options, "intercept");
    printf(",\n  \"defaults\": [%s%s%s]", loss ? "" : "\"loss\"", loss || intercept ? "" : ", ",
           intercept ? "" : "\"intercept\"");
    uint64_t column = data->stream ? data->stream->target_column : 0;
    printf(",\n  \"target_column\": ");
    if (column && data->names->target)
        json_text(stdout, data->names->target);
    else
        json_number(stdout, column ? (double)column : NAN);
    print_labels_json(model);
    model_classes_json(stdout, "class_names", model, data->names);
}
