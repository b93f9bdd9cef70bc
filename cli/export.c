/* Points and models in the formats of others. A format is one record in one of two tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "toolkit/model_text.h"
#include "toolkit/output.h"
#include "stored.h"

/* What has to be known before the first point is written. */
struct extent {
    uint64_t points, features;
    bool weighted;
    keepfit_schema schema; /* of the journal that is being written */
};

struct point_format {
    const char *name;
    bool weights, names; /* can hold them */
    void (*head)(FILE *file, const struct extent *extent);
    void (*point)(FILE *file, const keepfit_point *point, const struct extent *extent);
};

static uint64_t feature_of(const keepfit_row *row, size_t k)
{
    return row->index ? row->index[k] : k;
}

/* The row in full, number by number. */
static void each_value(FILE *file, const keepfit_row *row, uint64_t features, void (*put)(FILE *file, double value))
{
    size_t at = 0;
    for (uint64_t feature = 0; feature < features; feature++) {
        bool there = at < row->count && feature_of(row, at) == feature;
        put(file, there ? row->value[at] : 0);
        at += there;
    }
}

static void put_text(FILE *file, double value)
{
    fprintf(file, "%.17g,", value);
}

static void put_bytes(FILE *file, double value)
{
    fwrite(&value, sizeof value, 1, file); /* the library runs on little-endian machines alone */
}

static void libsvm_point(FILE *file, const keepfit_point *point, const struct extent *extent)
{
    (void)extent;
    fprintf(file, "%.17g", point->target);
    for (size_t k = 0; k < point->row.count; k++)
        fprintf(file, " %llu:%.17g", (unsigned long long)feature_of(&point->row, k) + 1, point->row.value[k]);
    fputc('\n', file);
}

/* Whether a feature or the target is called "weight" and then so many underscores. */
static bool has_weight(const keepfit_schema *schema, size_t more)
{
    for (size_t k = 0; k <= schema->features; k++) {
        const char *name = k == schema->features ? schema->target : schema->feature ? schema->feature[k] : NULL;
        if (name && strncmp(name, "weight", 6) == 0 && strspn(name + 6, "_") == more && !name[6 + more])
            return true;
    }
    return false;
}

/* The column of weights has a name of its own. */
static void csv_weight(FILE *file, const keepfit_schema *schema)
{
    size_t more = 0;
    csv_text(file, schema->weight ? schema->weight : "weight");
    while (!schema->weight && has_weight(schema, more)) {
        fputc('_', file);
        more++;
    }
    fputc(',', file);
}

static void csv_head(FILE *file, const struct extent *extent)
{
    const keepfit_schema *schema = &extent->schema;
    for (uint64_t k = 1; k <= extent->features; k++) {
        if (schema->feature && k <= schema->features)
            csv_text(file, schema->feature[k - 1]);
        else
            fprintf(file, "x%llu", (unsigned long long)k);
        fputc(',', file);
    }
    csv_weight(file, schema);
    csv_text(file, schema->target ? schema->target : "target");
    fputc('\n', file);
}

static void csv_point(FILE *file, const keepfit_point *point, const struct extent *extent)
{
    const char *name = keepfit_schema_class(&extent->schema, point->target);
    each_value(file, &point->row, extent->features, put_text);
    fprintf(file, "%.17g,", point->weight);
    if (name)
        csv_text(file, name);
    else
        fprintf(file, "%.17g", point->target);
    fputc('\n', file);
}

/* Version 1.0 of the format: the head is padded to a multiple of 64 bytes. */
static void npy_start(FILE *file, uint64_t rows, uint64_t columns)
{
    char head[128];
    int length = snprintf(head, sizeof head, "{'descr': '<f8', 'fortran_order': False, 'shape': (%llu, %llu), }",
                          (unsigned long long)rows, (unsigned long long)columns);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    fwrite("\x93NUMPY\x01\x00", 1, 8, file);
    fputc(padded & 255, file);
    fputc(padded >> 8, file);
    fprintf(file, "%-*s\n", padded - 1, head);
}

static void npy_head(FILE *file, const struct extent *extent)
{
    npy_start(file, extent->points, extent->features + 1);
}

static void npy_point(FILE *file, const keepfit_point *point, const struct extent *extent)
{
    each_value(file, &point->row, extent->features, put_bytes);
    put_bytes(file, point->target);
}

static const struct point_format point_formats[] = {
    {"libsvm", false, false, NULL, libsvm_point},
    {"csv", true, true, csv_head, csv_point},
    {"npy", false, false, npy_head, npy_point},
};

/* ---- models ---- */

struct model_format {
    const char *name;
    bool any;   /* networks too; the others have one weight a feature and output */
    bool names; /* of classes can be held */
    int (*write)(FILE *file, const keepfit_model *model);
};

static int json(FILE *file, const keepfit_model *model)
{
    model_json(file, model, true);
    return EXIT_DONE;
}

static int npy(FILE *file, const keepfit_model *stored)
{
    keepfit_description description = {.struct_size = sizeof description}, *model = &description;
    keepfit_model_describe(stored, model);
    npy_start(file, model->outputs, model->features + 1);
    for (size_t k = 0; k < model->outputs; k++) {
        for (uint64_t f = 0; f < model->features; f++)
            put_bytes(file, model->weights[f * model->outputs + k]);
        put_bytes(file, model->intercepts[k]);
    }
    return EXIT_DONE;
}

/* Before anything is written: whether liblinear has such a model. */
static int liblinear(FILE *file, const keepfit_model *stored)
{
    char reason[MODEL_REASON];
    if (!model_fits_liblinear(stored, reason))
        return fail(EXIT_DATA, "%s", reason);
    model_liblinear(file, stored);
    return EXIT_DONE;
}

static const struct model_format model_formats[] = {
    {"json", true, true, json},
    {"npy", false, true, npy}, /* which has no classes at all */
    {"liblinear", false, false, liblinear},
};

/* Formats whose classes are numbers: which is which is said beside the file. */
static void warn_of_classes(const struct arguments *arguments, const keepfit_schema *schema, const char *format)
{
    for (size_t k = 0; k < schema->classes && !arguments->quiet; k++)
        warn("%s has no names of classes: %.17g stands for '%s'", format, schema->label[k], schema->class_name[k]);
}

static int export_model(const struct arguments *arguments, const struct model_format *format, FILE *file)
{
    keepfit_model *model = NULL;
    keepfit_description description = {.struct_size = sizeof description};
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_status status = stored_model(arguments->positional[0], arguments->options, &model, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    keepfit_model_describe(model, &description);
    keepfit_model_schema(model, &schema);
    int code = description.hidden && !format->any
                   ? fail(EXIT_DATA, "%s: a network is not a linear model; it can be exported only as json (--to json)",
                          arguments->positional[0])
                   : format->write(file, model);
    if (code == EXIT_DONE && !format->names)
        warn_of_classes(arguments, &schema, format->name);
    keepfit_model_free(model);
    return code;
}

/* ---- journals ---- */

static int write_points(const char *folder, const struct point_format *format, struct extent *extent, FILE *file)
{
    keepfit_journal *journal = NULL;
    keepfit_point point;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_status status = keepfit_journal_open(folder, NULL, &journal, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    keepfit_journal_schema(journal, &extent->schema);
    if (format->head)
        format->head(file, extent);
    uint64_t written = 0;
    while (written < extent->points && (status = keepfit_journal_next(journal, &point, NULL)) == KEEPFIT_OK &&
           !ferror(file)) {
        format->point(file, &point, extent);
        written++;
    }
    keepfit_journal_close(journal);
    if (ferror(file))
        return EXIT_DONE; /* reported when the output is closed */
    return written == extent->points ? EXIT_DONE : fail(EXIT_FAILED, "%s: the journal has changed meanwhile", folder);
}

static int measure_points(keepfit_journal *journal, struct extent *extent)
{
    keepfit_point point;
    keepfit_status status;
    while ((status = keepfit_journal_next(journal, &point, NULL)) == KEEPFIT_OK) {
        const keepfit_row *row = &point.row;
        uint64_t width = row->count ? feature_of(row, row->count - 1) + 1 : 0;
        extent->features = width > extent->features ? width : extent->features;
        extent->weighted |= point.weight != 1;
        extent->points++;
    }
    return status == KEEPFIT_END ? EXIT_DONE : fail_status(status, "");
}

static int export_points(const struct arguments *arguments, const struct point_format *format, FILE *file)
{
    const char *folder = arguments->positional[0];
    keepfit_journal *journal = NULL;
    keepfit_journal_info info = {.struct_size = sizeof info};
    keepfit_error error = {.struct_size = sizeof error};
    struct extent extent = {0};
    keepfit_status status = keepfit_journal_open(folder, NULL, &journal, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    int code = measure_points(journal, &extent);
    if (code == EXIT_DONE && extent.weighted && !format->weights)
        code =
            fail(EXIT_DATA, "%s: its points have weights, which %s cannot hold (--to csv can)", folder, format->name);
    if (code == EXIT_DONE)
        code = write_points(folder, format, &extent, file);
    keepfit_journal_describe(journal, &info);
    keepfit_journal_schema(journal, &extent.schema);
    if (code == EXIT_DONE && !format->names)
        warn_of_classes(arguments, &extent.schema, format->name);
    if (code == EXIT_DONE && format->weights && !arguments->quiet)
        /* a reader takes every column but the target for a feature, unless he is told */
        warn("column %llu holds the weights; to read them back, say --weight-column %llu",
             (unsigned long long)extent.features + 1, (unsigned long long)extent.features + 1);
    if (code == EXIT_DONE && info.damage)
        code = fail(EXIT_CORRUPT, "%s", info.damage);
    keepfit_journal_close(journal);
    return code;
}

/* ---- the command ---- */

int run_export(struct arguments *arguments)
{
    bool journal = stored_kind(arguments->positional[0]) == STORED_JOURNAL;
    const char *name = arguments->to ? arguments->to : journal ? "libsvm" : "json";
    const struct point_format *points = NULL;
    const struct model_format *model = NULL;
    for (size_t k = 0; journal && k < sizeof point_formats / sizeof point_formats[0]; k++)
        if (strcmp(point_formats[k].name, name) == 0)
            points = &point_formats[k];
    for (size_t k = 0; !points && k < sizeof model_formats / sizeof model_formats[0]; k++)
        if (strcmp(model_formats[k].name, name) == 0)
            model = &model_formats[k];
    if (!points && !model)
        return fail_choice("--to", name, journal ? "libsvm|csv|npy|json|liblinear" : "json|npy|liblinear");
    struct output output;
    int code = output_open(&output, arguments->positional_count == 2 ? arguments->positional[1] : "-");
    if (code != EXIT_DONE)
        return code;
    code = points ? export_points(arguments, points, output.file) : export_model(arguments, model, output.file);
    int written = EXIT_DONE;
    if (code == EXIT_DONE || (code == EXIT_CORRUPT && points)) /* what is whole is worth having */
        written = output_commit(&output);
    else
        output_discard(&output);
    return code == EXIT_DONE ? written : code;
}
