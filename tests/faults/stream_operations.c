/* Streams of every format, model files, and a file in and a model out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operations.h"
#include "tap.h"

static void digest_point(struct outcome *outcome, const keepfit_point *point)
{
    const keepfit_row *row = &point->row;
    add_to_digest(outcome, &point->target, sizeof point->target);
    for (size_t k = 0; k < row->count; k++) {
        uint32_t index = row->index ? row->index[k] : (uint32_t)k;
        add_to_digest(outcome, &index, sizeof index);
        add_to_digest(outcome, &row->value[k], sizeof row->value[k]);
    }
}

/* To the end; a failure is told again by the next call. */
static void read_stream(keepfit_stream *stream, struct outcome *outcome)
{
    keepfit_point point;
    while ((outcome->status = keepfit_stream_next(stream, &point)) == KEEPFIT_OK)
        digest_point(outcome, &point);
    if (outcome->status == KEEPFIT_END) {
        outcome->status = KEEPFIT_OK;
        return;
    }
    operations_calm();
    outcome->error = *keepfit_stream_error(stream);
    if (keepfit_stream_next(stream, &point) != outcome->status)
        outcome->breach = "a stream that has failed goes on";
}

static void run_stream(const struct operation *operation, struct outcome *outcome)
{
    keepfit_options *options = NULL;
    keepfit_stream *stream = NULL;
    outcome->status = make_options(operation->settings, &options, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        outcome->status = keepfit_stream_open(operation->path, options, &stream, &outcome->error);
    keepfit_options_free(options);
    if (outcome->status == KEEPFIT_OK)
        read_stream(stream, outcome);
    keepfit_stream_close(stream);
}

/* From a pipe that stays open, so that each line is waited for. */
static void run_pipe(const struct operation *operation, struct outcome *outcome)
{
    static const char rows[] = "1 1:0.5 3:-2\n-1 2:1\n1 1:1 2:-1 7:3\n";
    FILE *writer = fopen(operation->path, "r+");
    TAP_NEED(writer && fwrite(rows, 1, sizeof rows - 1, writer) == sizeof rows - 1 && fflush(writer) == 0);
    run_stream(operation, outcome);
    fclose(writer);
}

/* Read, kept, and given out a second time in another order. */
static void run_reorder(const struct operation *operation, struct outcome *outcome)
{
    keepfit_options *options = NULL;
    keepfit_stream *stream = NULL, *other = NULL;
    outcome->status = make_options(operation->settings, &options, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        outcome->status = keepfit_stream_open(operation->path, options, &stream, &outcome->error);
    keepfit_options_free(options);
    if (outcome->status == KEEPFIT_OK) {
        outcome->status = keepfit_stream_read_all(stream);
        outcome->error = *keepfit_stream_error(stream);
    }
    if (outcome->status == KEEPFIT_OK)
        outcome->status = keepfit_stream_reorder(stream, 7, &other, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        read_stream(other, outcome);
    keepfit_stream_close(other);
    keepfit_stream_close(stream);
}

/* Cells of a program, twice: the second time nothing is new. */
static void run_table(const struct operation *operation, struct outcome *outcome)
{
    static const char *const names[] = {"t", "c"}, *const times[] = {"2024-01-02", NULL, "2024-01-09"};
    static const char *const towns[] = {"Ulm", "Kiel", "Ulm"};
    const keepfit_cells cells[] = {{.text = times}, {.text = towns, .type = "category"}};
    keepfit_options *options = NULL;
    keepfit_table *table = NULL;
    keepfit_block block = {.struct_size = sizeof block};
    outcome->status = make_options(operation->settings, &options, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        outcome->status = keepfit_table_open(names, cells, 2, 3, NULL, false, options, &table, &outcome->error);
    keepfit_options_free(options);
    for (int turn = 0; turn < 2 && outcome->status == KEEPFIT_OK; turn++) {
        outcome->status = keepfit_table_rows(table, cells, 3, turn == 0, &block);
        if (outcome->status != KEEPFIT_OK)
            outcome->error = *keepfit_table_error(table);
        else
            add_to_digest(outcome, block.value, (size_t)block.start[3] * sizeof *block.value);
    }
    keepfit_table_close(table);
}

static void digest_model(struct outcome *outcome, const keepfit_model *model)
{
    keepfit_description about = {.struct_size = sizeof about};
    keepfit_model_describe(model, &about);
    add_to_digest(outcome, about.weights, about.features * about.outputs * sizeof *about.weights);
    add_to_digest(outcome, about.intercepts, about.outputs * sizeof *about.intercepts);
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_model_schema(model, &schema);
    for (size_t f = 0; schema.feature && f < schema.features; f++)
        add_to_digest(outcome, schema.feature[f], strlen(schema.feature[f]));
    for (size_t k = 0; k < schema.classes; k++)
        add_to_digest(outcome, schema.class_name[k], strlen(schema.class_name[k]));
}

static void run_train(const struct operation *operation, struct outcome *outcome)
{
    keepfit_options *options = NULL;
    keepfit_model *model = NULL;
    outcome->status = make_options(operation->settings, &options, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        outcome->status = keepfit_train_file(operation->path, options, &model, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        digest_model(outcome, model);
    keepfit_model_free(model);
    keepfit_options_free(options);
}

static keepfit_model *trained(const struct operation *operation)
{
    struct outcome outcome = {0};
    keepfit_options *options = NULL;
    keepfit_model *model = NULL;
    TAP_NEED(make_options(operation->settings, &options, &outcome.error) == KEEPFIT_OK);
    TAP_NEED(keepfit_train_file(operations_path("named.csv"), options, &model, &outcome.error) == KEEPFIT_OK);
    keepfit_options_free(options);
    return model;
}

/* A model over an older one. Whatever fails, a whole model is there afterwards: the new one, or the old one. */
static void run_save(const struct operation *operation, struct outcome *outcome)
{
    static keepfit_model *model;
    static uint64_t whole;
    if (!model) { /* made before anything fails; kept for all runs */
        model = trained(operation);
        TAP_NEED(keepfit_model_save(model, operation->path, NULL) == KEEPFIT_OK);
        digest_model(outcome, model);
        whole = outcome->digest;
        outcome->digest = 0;
    }
    outcome->status = keepfit_model_save(model, operation->path, &outcome->error);
    operations_calm();
    keepfit_model *found = NULL;
    if (keepfit_model_load(operation->path, &found, NULL) == KEEPFIT_OK)
        digest_model(outcome, found);
    keepfit_model_free(found);
    if (outcome->digest != whole)
        outcome->breach = "there is no whole model left";
}

static void run_load(const struct operation *operation, struct outcome *outcome)
{
    keepfit_model *model = NULL;
    outcome->status = keepfit_model_load(operation->path, &model, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        digest_model(outcome, model);
    keepfit_model_free(model);
}

/* Rows for a model, row by row. */
static void predict_rows(const keepfit_model *model, keepfit_stream *stream, struct outcome *outcome)
{
    keepfit_point point;
    keepfit_prediction prediction = {.struct_size = sizeof prediction};
    double chance[2];
    bool skipped;
    while ((outcome->status = keepfit_stream_next_row(stream, &point, &skipped)) == KEEPFIT_OK &&
           (outcome->status = keepfit_model_predict(model, &point.row, &prediction, NULL)) == KEEPFIT_OK &&
           keepfit_model_probabilities(model, &prediction.margin, chance) == KEEPFIT_OK) {
        digest_point(outcome, &point);
        add_to_digest(outcome, chance, sizeof chance);
    }
    outcome->error = *keepfit_stream_error(stream);
    if (outcome->status == KEEPFIT_END)
        outcome->status = KEEPFIT_OK;
}

static void run_predict(const struct operation *operation, struct outcome *outcome)
{
    static keepfit_model *model;
    keepfit_options *options = NULL;
    keepfit_stream *stream = NULL;
    if (!model) /* made before anything fails; kept for all runs */
        model = trained(operation);
    outcome->status = make_options(operation->settings, &options, &outcome->error);
    if (outcome->status == KEEPFIT_OK)
        outcome->status =
            keepfit_stream_open_for_model(operation->path, options, model, true, &stream, &outcome->error);
    keepfit_options_free(options);
    if (outcome->status == KEEPFIT_OK)
        predict_rows(model, stream, outcome);
    keepfit_stream_close(stream);
}

size_t stream_operations(struct operation *list, size_t most)
{
    static const struct {
        const char *name, *file, *settings;
        void (*run)(const struct operation *, struct outcome *);
    } all[] = {
        {"LIBSVM", "rows.svm", "threads=1", run_stream},
        {"LIBSVM, recognised", "rows.svm", "threads=1 format=auto limit=3", run_stream},
        {"LIBSVM, read by a thread", "rows.svm", "threads=2", run_stream},
        {"LIBSVM from a pipe", "pipe", "threads=1 limit=3", run_pipe},
        {"gzip", "rows.svm.gz", "threads=1", run_stream},
        {"CSV", "table.csv", "threads=1", run_stream},
        {"CSV, rows scaled", "table.csv", "threads=1 scale=rows header=yes weight-column=2", run_stream},
        {"CSV, classes with names", "named.csv", "threads=1 loss=logistic", run_stream},
        {"CSV, classes with names, by a thread", "named.csv", "threads=2 loss=softmax", run_stream},
        {"CSV, types", "typed.csv", "threads=1 loss=logistic", run_stream},
        {"CSV, types that are said", "typed.csv", "threads=1 loss=logistic type=c=text:2 hash=4 cross=n*c ignore=id",
         run_stream},
        {"CSV, types, by a thread", "typed.csv", "threads=2 loss=logistic", run_stream},
        {"CSV, keys", "typed.csv", "threads=1 loss=logistic key=id", run_stream},
        {"CSV, keys, by a thread", "typed.csv", "threads=2 loss=logistic key=id", run_stream},
        {"CSV, keys, shuffled", "typed.csv", "threads=1 loss=logistic key=id shuffle=true", run_stream},
        {"JSON lines", "lines.jsonl", "threads=1", run_stream},
        {"cells of a program", "", "threads=1 cross=t*c", run_table},
        {"npy", "rows.npy", "threads=1 target=1", run_stream},
        {"npy, targets elsewhere", "rows.npy", "threads=1 targets=%s", run_stream},
        {"idx", "x-images-idx3-ubyte", "threads=1", run_stream},
        {"shuffled, columns scaled", "rows.svm", "threads=1 shuffle=true scale=columns", run_stream},
        {"scaled to [-1, 1]", "rows.svm", "threads=1 scale=minmax", run_stream},
        {"kept and reordered", "rows.svm.gz", "threads=1 shuffle=true", run_reorder},
        {"train", "rows.svm", "threads=1 loss=logistic lambda=0.1 scale=columns bias=1", run_train},
        {"train, with a thread", "rows.svm.gz", "threads=2 loss=hinge lambda=0.1", run_train},
        {"train, with names", "named.csv", "threads=1 loss=logistic lambda=0.1", run_train},
        {"train, with types", "typed.csv", "threads=1 loss=logistic lambda=0.1", run_train},
        {"predict by name", "named.csv", "threads=1 loss=logistic lambda=0.1", run_predict},
        {"save a model", "model.kf", "threads=1 loss=logistic lambda=0.1", run_save},
        {"load a model", "model.kf", "threads=1", run_load},
    };
    size_t count = sizeof all / sizeof all[0];
    TAP_NEED(count <= most);
    for (size_t k = 0; k < count; k++) {
        list[k] = (struct operation){.run = all[k].run};
        list[k].path = strcpy(malloc(320), *all[k].file ? operations_path(all[k].file) : "");
        snprintf(list[k].name, sizeof list[k].name, "%s", all[k].name);
        const char *blank = strstr(all[k].settings, "%s");
        snprintf(list[k].settings, sizeof list[k].settings, "%.*s%s",
                 (int)(blank ? blank - all[k].settings : (long)strlen(all[k].settings)), all[k].settings,
                 blank ? operations_path("targets.npy") : "");
    }
    return count;
}
