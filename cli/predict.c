#define _POSIX_C_SOURCE 200809L /* st_mtim */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arguments.h"
#include "toolkit/output.h"
#include "explained.h"
#include "predict_columns.h"
#include "stored.h"
#include "taken.h"

/* Sums for --score. */
struct score {
    uint64_t rows, right, unknown; /* unknown: of a class that the model does not have */
    double log_loss, square;
};

struct predicting {
    struct arguments *arguments;
    keepfit_stream *stream;
    struct predictor predictor;
    struct predict_columns columns;
    struct score score;
    struct stat seen; /* the model's file, when it was last read */
    bool warned;      /* the file that is there now cannot be used */
};

/* The row's own label in the model's terms; NAN: it has no such class. */
static double own_label(const struct predicting *predicting, double target)
{
    keepfit_schema rows = {.struct_size = sizeof rows};
    double label;
    keepfit_stream_schema(predicting->stream, &rows);
    const char *name = keepfit_schema_class(&rows, target);
    if (!name)
        return target;
    return keepfit_schema_label(&predicting->predictor.schema, name, &label) ? label : NAN;
}

static void score_row(struct predicting *predicting, double target)
{
    struct score *score = &predicting->score;
    const struct predictor *predictor = &predicting->predictor;
    const keepfit_description *about = &predictor->about;
    score->rows++;
    if (!about->classification) {
        score->square += (predictor->prediction.value - target) * (predictor->prediction.value - target);
        return;
    }
    double own = own_label(predicting, target), probability = 0;
    bool has_class = false;
    score->right += predictor->prediction.value == own;
    for (size_t k = 0; k < about->classes; k++)
        if (about->labels[k] == own) {
            probability = predictor->probabilities[k];
            has_class = true;
        }
    score->unknown += !has_class;
    bool known = !isnan(predictor->prediction.probability);
    score->log_loss -= known ? log(fmax(probability, 1e-300)) : NAN;
}

static void print_score(const struct score *score, const keepfit_description *model)
{
    double rows = (double)score->rows;
    if (!model->classification)
        fprintf(stderr, "rmse %.12g rows %llu\n", sqrt(score->square / rows), (unsigned long long)score->rows);
    else if (isnan(score->log_loss))
        fprintf(stderr, "accuracy %.12g rows %llu\n", (double)score->right / rows, (unsigned long long)score->rows);
    else
        fprintf(stderr, "accuracy %.12g log-loss %.12g rows %llu\n", (double)score->right / rows,
                score->log_loss / rows, (unsigned long long)score->rows);
}

/* ---- another model in the place of the first ---- */

static bool is_replaced(struct predicting *predicting)
{
    struct stat now;
    const struct stat *seen = &predicting->seen;
    if (stat(predicting->arguments->positional[0], &now) != 0)
        return false; /* it is just being replaced, or will be missed by nobody */
    if (now.st_ino == seen->st_ino && now.st_dev == seen->st_dev && now.st_size == seen->st_size &&
        now.st_mtim.tv_sec == seen->st_mtim.tv_sec && now.st_mtim.tv_nsec == seen->st_mtim.tv_nsec)
        return false;
    predicting->seen = now;
    return true;
}

/* One warning, however often an unfinished file is looked at. */
static void keep_old(struct predicting *predicting, const char *message)
{
    if (!predicting->warned && !predicting->arguments->quiet)
        warn("%s: %s; the model before goes on", predicting->arguments->positional[0], message);
    predicting->warned = true;
}

static void follow_model(struct predicting *predicting)
{
    const char *path = predicting->arguments->positional[0];
    keepfit_model *model = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    struct predictor next = {.model = NULL};
    if (!is_replaced(predicting))
        return;
    if (stored_model(path, predicting->arguments->options, &model, &error) != KEEPFIT_OK) {
        keep_old(predicting, "the new model cannot be read");
        return;
    }
    if (!predictor_make(&next, model)) {
        keepfit_model_free(model);
        keep_old(predicting, "there is no memory for the new model");
        return;
    }
    if (!predict_columns_fit(&predicting->columns, &next) ||
        keepfit_stream_suit_model(predicting->stream, model, &error) != KEEPFIT_OK) {
        keep_old(predicting, "the new model has other features or outputs");
        predictor_free(&next);
        return;
    }
    if (!predict_columns_suit(&predicting->columns, &next) && !predicting->arguments->quiet)
        warn("%s: the new model has other classes than the columns of probabilities; start again for theirs", path);
    predictor_free(&predicting->predictor);
    predicting->predictor = next;
    predicting->warned = false;
}

/* ---- row by row ---- */

static int predict_row(struct predicting *predicting, const keepfit_point *point)
{
    keepfit_status status = predictor_run(&predicting->predictor, &point->row);
    if (status != KEEPFIT_OK)
        return fail_status(status, "");
    predict_columns_row(&predicting->columns, &predicting->predictor, &point->row);
    if (predicting->arguments->score)
        score_row(predicting, point->target);
    return EXIT_DONE;
}

static int predict_all(struct predicting *predicting)
{
    keepfit_point point;
    keepfit_status status;
    bool skipped;
    int code = EXIT_DONE;
    predict_columns_head(&predicting->columns);
    while (code == EXIT_DONE &&
           (status = keepfit_stream_next_row(predicting->stream, &point, &skipped)) == KEEPFIT_OK) {
        if (predicting->arguments->follow_model)
            follow_model(predicting);
        if (skipped)
            predict_columns_row(&predicting->columns, NULL, NULL);
        else
            code = predict_row(predicting, &point);
        if (code == EXIT_DONE && ferror(stdout))
            return fail(EXIT_FAILED, "standard output: cannot write: %s", strerror(errno));
    }
    if (code == EXIT_DONE && status != KEEPFIT_END)
        return fail_status(status, message_of(keepfit_stream_error(predicting->stream)).text);
    return code;
}

static int finish(const struct predicting *predicting)
{
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_stream_describe(predicting->stream, &info);
    if (info.skipped && !predicting->arguments->quiet)
        warn("%s: %llu bad rows were skipped", info.name, (unsigned long long)info.skipped);
    if (!predicting->arguments->quiet)
        warn_cut(&info);
    if (!predicting->arguments->quiet)
        taken_warn_cells(&info);
    if (predicting->score.unknown && !predicting->arguments->quiet)
        warn("%s: %llu row%s a class that the model does not have, and count%s as wrong, with a probability of 1e-300",
             info.name, (unsigned long long)predicting->score.unknown,
             predicting->score.unknown == 1 ? " has" : "s have", predicting->score.unknown == 1 ? "s" : "");
    if (predicting->arguments->score)
        print_score(&predicting->score, &predicting->predictor.about);
    return EXIT_DONE;
}

/* What waits for an answer gets it before more is waited for. */
static void flush_output(void *unused)
{
    (void)unused;
    fflush(stdout);
}

static int open_model(struct predicting *predicting)
{
    const char *path = predicting->arguments->positional[0];
    keepfit_model *model = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    if (predicting->arguments->follow_model && stored_kind(path) == STORED_JOURNAL)
        return fail(EXIT_USAGE,
                    "%s: --follow-model is for a model file that is replaced ('keepfit train --model FILE "
                    "--save-every N' does so beside its --journal), and this is a journal's folder",
                    path);
    if (stat(path, &predicting->seen) != 0)
        memset(&predicting->seen, 0, sizeof predicting->seen); /* which reading it will explain */
    keepfit_status status = stored_model(path, predicting->arguments->options, &model, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    if (predictor_make(&predicting->predictor, model))
        return EXIT_DONE;
    keepfit_model_free(model);
    return fail(EXIT_FAILED, "out of memory");
}

static bool is_set(const struct arguments *arguments, const char *option, const char *value)
{
    return strcmp(keepfit_options_get(arguments->options, option), value) == 0;
}

/* Rows without names, of a table that could have had some, are taken in the model's order; unless that was said. */
static void warn_of_order(const struct predicting *predicting, const keepfit_stream_info *info)
{
    const keepfit_schema *model = &predicting->predictor.schema;
    keepfit_schema rows = {.struct_size = sizeof rows};
    keepfit_stream_schema(predicting->stream, &rows);
    if (!model->feature || rows.feature || strcmp(info->format, "csv") != 0 ||
        is_set(predicting->arguments, "header", "no") || predicting->arguments->quiet)
        return;
    warn("%s: its columns have no names; they are taken in the order of the model's features ('%s' is the first), as "
         "--header no says",
         info->name, model->feature[0]);
}

static int open_rows(struct predicting *predicting)
{
    struct arguments *arguments = predicting->arguments;
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_error error = {.struct_size = sizeof error};
    if (is_set(arguments, "shuffle", "true") && is_set(arguments, "on-error", "skip"))
        return fail(EXIT_USAGE,
                    "--shuffle with --on-error skip: a row that is skipped has no place among the shuffled, "
                    "so lines would be missing; leave one of them out");
    keepfit_options_set(arguments->options, "scale", "none", NULL); /* the model has the scaling built in */
    keepfit_status status =
        keepfit_stream_open_for_model(arguments->positional[1], arguments->options, predicting->predictor.model,
                                      arguments->score, &predicting->stream, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    keepfit_stream_describe(predicting->stream, &info);
    const char *target = predicting->predictor.schema.target;
    if (arguments->score && !info.labelled)
        return fail(EXIT_DATA, "%s: --score needs the target, and there is no column%s%s%s of it", info.name,
                    target ? " '" : "", target ? target : "", target ? "'" : "");
    warn_of_order(predicting, &info);
    keepfit_stream_before_waiting(predicting->stream, flush_output, NULL);
    return EXIT_DONE;
}

int run_predict(struct arguments *arguments)
{
    struct predicting predicting = {.arguments = arguments};
    int code = open_model(&predicting);
    if (code == EXIT_DONE)
        code =
            predict_columns_make(&predicting.columns, arguments->output, arguments->class_name, &predicting.predictor);
    predicting.columns.explain = arguments->explain;
    if (code == EXIT_DONE)
        code = explained_check(&predicting.predictor, arguments->explain);
    if (code == EXIT_DONE)
        code = open_rows(&predicting);
    if (code == EXIT_DONE)
        code = predict_all(&predicting);
    if (code == EXIT_DONE)
        code = finish(&predicting);
    keepfit_stream_close(predicting.stream);
    predict_columns_free(&predicting.columns);
    predictor_free(&predicting.predictor);
    return code;
}
