#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "output.h"
#include "stored.h"

enum shown { SHOW_VALUE, SHOW_PROBABILITY, SHOW_MARGIN, SHOW_SCORES };

static int read_shown(const char *text, enum shown *shown)
{
    static const char *const names[] = {"value", "probability", "margin", "scores"};
    for (int k = 0; k < 4; k++)
        if (strcmp(names[k], text) == 0) {
            *shown = (enum shown)k;
            return EXIT_DONE;
        }
    return fail(EXIT_USAGE, "--output: '%s' is none of value|probability|margin|scores", text);
}

/* Sums for --score. */
struct score {
    uint64_t rows, right;
    double log_loss, square;
};

/* The probability that the model gives to the row's own label. */
static double probability_of(const keepfit_description *model, const double *scores, double label)
{
    if (model->outputs == 1) {
        if (model->classes < 2)
            return model->classes == 1 && model->labels[0] == label;
        double sign = label == model->labels[1] ? 1 : label == model->labels[0] ? -1 : 0;
        return sign == 0 ? 0 : 1 / (1 + exp(-sign * scores[0]));
    }
    double top = scores[0], sum = 0, own = 0;
    for (size_t k = 1; k < model->outputs; k++)
        top = fmax(top, scores[k]);
    for (size_t k = 0; k < model->outputs; k++) {
        sum += exp(scores[k] - top);
        if (k < model->classes && model->labels[k] == label)
            own = exp(scores[k] - top);
    }
    return own / sum;
}

static void score_row(struct score *score, const keepfit_description *model, const keepfit_prediction *prediction,
                      const double *scores, double target)
{
    score->rows++;
    if (!model->classification) {
        score->square += (prediction->value - target) * (prediction->value - target);
        return;
    }
    score->right += prediction->value == target;
    if (!isnan(prediction->probability))
        score->log_loss -= log(fmax(probability_of(model, scores, target), 1e-300));
    else
        score->log_loss = NAN;
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

static void print_row(enum shown shown, const keepfit_prediction *prediction, const double *scores)
{
    switch (shown) {
    case SHOW_VALUE:
        printf("%.17g\n", prediction->value);
        break;
    case SHOW_PROBABILITY:
        printf("%.17g\n", prediction->probability);
        break;
    case SHOW_MARGIN:
        printf("%.17g\n", prediction->margin);
        break;
    case SHOW_SCORES:
        for (size_t k = 0; k < prediction->outputs; k++)
            printf("%s%.17g", k ? " " : "", scores[k]);
        putchar('\n');
        break;
    }
}

static int predict_all(const struct arguments *arguments, const keepfit_model *model,
                       const keepfit_description *described, keepfit_stream *stream, enum shown shown, double *scores)
{
    struct score score = {0};
    keepfit_point point;
    keepfit_status status;
    while ((status = keepfit_stream_next(stream, &point)) == KEEPFIT_OK) {
        keepfit_prediction prediction;
        if ((status = keepfit_model_predict(model, &point.row, &prediction, scores)) != KEEPFIT_OK)
            return fail_status(status, "");
        print_row(shown, &prediction, scores);
        if (ferror(stdout))
            return fail(EXIT_FAILED, "standard output: cannot write: %s", strerror(errno));
        score_row(&score, described, &prediction, scores, point.target);
    }
    if (status != KEEPFIT_END)
        return fail_status(status, keepfit_stream_error(stream)->message);
    keepfit_stream_info info;
    keepfit_stream_describe(stream, &info);
    if (info.skipped && !arguments->quiet)
        warn("%s: %llu bad rows were skipped", info.name, (unsigned long long)info.skipped);
    if (!arguments->quiet)
        warn_cut(&info);
    if (arguments->score)
        print_score(&score, described);
    return EXIT_DONE;
}

int run_predict(struct arguments *arguments)
{
    enum shown shown = SHOW_VALUE;
    keepfit_model *model = NULL;
    keepfit_stream *stream = NULL;
    keepfit_error error;
    int code = read_shown(arguments->output, &shown);
    if (code != EXIT_DONE)
        return code;
    keepfit_options_set(arguments->options, "scale", "none", NULL); /* the model has the scaling built in */
    code = stored_open_model(arguments->positional[0], arguments->options, &model);
    if (code != EXIT_DONE)
        return code;
    keepfit_status status = keepfit_stream_open(arguments->positional[1], arguments->options, &stream, &error);
    if (status == KEEPFIT_OK) {
        keepfit_description described;
        keepfit_model_describe(model, &described);
        double *scores = calloc(described.outputs, sizeof *scores);
        if (shown == SHOW_PROBABILITY && strcmp(described.loss, "logistic") != 0 &&
            strcmp(described.loss, "softmax") != 0 && strcmp(described.loss, "network") != 0)
            code = fail(EXIT_USAGE, "--output: a model with loss %s has no probabilities", described.loss);
        else
            code = scores ? predict_all(arguments, model, &described, stream, shown, scores)
                          : fail(EXIT_FAILED, "out of memory");
        free(scores);
    } else {
        code = fail_status(status, error.message);
    }
    keepfit_stream_close(stream);
    keepfit_model_free(model);
    return code;
}
