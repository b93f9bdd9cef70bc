/* network_study.c - the runs.
 *
 * Two streams of 3000 images: drawn uniformly; and 300 of each digit, 0 and 1 mixed, then 2, 3, ... 9. Pixels are divided by 255.
 * The paper's numbers of FOs are equal for sgd (1385) and csvrg (T 600, alpha 0.01) only if the gradient at x_prev, which is
 * remembered, is not counted: 2*600 + 1 and the full gradients make 1386 a stage. So it is not counted here (in the ridge regressions it
 * is, because there the paper's numbers are equal only if it is).
 *
 * At some stages the model is judged: training loss on the points so far; accuracy on all training images, and on test images,
 * of the digits that have been revealed so far. */
#include "network_study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "toolkit/exit_code.h"
#include "data.h"
#include "images.h"
#include "plain_network.h"
#include "toolkit/output.h"
#include "runs.h"

/* Two cores have 25 minutes for the whole evaluation: what the verdicts need most has three seeds, and what is compared with svrg alone
 * runs on the uniform stream alone, as in the paper. */
static const struct {
    const char *name, *options;
    double cost; /* minutes at full size */
    size_t seeds;
    bool uniform_only;
} methods[NETWORK_METHODS] = {
    [NETWORK_SGD] = {"sgd", "method=sgd step=0.001 inner=1385", 1.6, 3, false},
    [NETWORK_SVRG] = {"svrg", "method=svrg step=0.05 outer=7 inner=40", 8, 1, true},
    [NETWORK_CSVRG] = {"csvrg", "method=csvrg setting=paper count=actual step=0.001 inner=600 alpha=0.01", 1.2, 3,
                       false},
    [NETWORK_SGD_SHORT] = {"sgd-short", "method=sgd step=0.001 inner=600", 0.7, 1, false}, /* csvrg's steps */
    [NETWORK_SGD_DIVIDED] = {"sgd-divided", "method=sgd step=0.001/t inner=1385", 1.6, 1, false},
    [NETWORK_SGD_SCRATCH] = {"sgd-scratch", "judged stages from scratch: sgd step=0.001 inner=1385", 0.2, 3, false},
    [NETWORK_SGD_LAST] = {"sgd-last", "method=sgd stage-output=last step=0.001 inner=1385", 1.5, 1, false},
    [NETWORK_CSVRG_LAST] = {"csvrg-last",
                            "method=csvrg setting=paper stage-output=last count=actual step=0.001 inner=600 alpha=0.01",
                            1.1, 1, false},
    [NETWORK_OWN_SGD] = {"own-sgd", "method=sgd step=0.02 inner=400", 0.5, 3, true},
    [NETWORK_OWN_CSVRG] = {"own-csvrg", "method=csvrg setting=paper count=actual step=0.05 inner=150 alpha=0.05", 0.4,
                           1, true},
    [NETWORK_OWN_LSVRG] = {"own-lsvrg", "method=lsvrg step=0.05 inner=100", 0.3, 1, true},
};

static const char *const stream_names[NETWORK_STREAMS] = {[UNIFORM] = "uniform", [ASCENDING] = "ascending"};
static const char columns[] = "stage,fo,loss,train_accuracy,test_accuracy";

/* What the units read: the two streams, and the test images. */
static struct images streams[NETWORK_STREAMS], test;

/* What a unit does. */
struct network_run {
    enum network_stream stream;
    enum network_method method;
    size_t hidden;
};

struct network_size network_size(const struct setting *setting)
{
    return setting->quick ? (struct network_size){30, 100, 20} : (struct network_size){300, 1000, 200};
}

size_t network_seeds(enum network_stream stream, enum network_method method)
{
    return methods[method].uniform_only && stream != UNIFORM ? 0 : methods[method].seeds;
}

struct score {
    double loss, right, all;
};

/* Cross-entropy and accuracy of one image. */
static bool judge(const keepfit_model *model, const keepfit_point *point, struct score *score)
{
    keepfit_prediction prediction = {.struct_size = sizeof prediction};
    keepfit_description description = {.struct_size = sizeof description};
    double scores[16], most = -INFINITY, sum = 0, own = -INFINITY;
    keepfit_model_describe(model, &description);
    if (description.outputs > 16 || keepfit_model_predict(model, &point->row, &prediction, scores) != KEEPFIT_OK)
        return false;
    for (size_t k = 0; k < description.outputs; k++) {
        most = fmax(most, scores[k]);
        own = description.labels[k] == point->target ? scores[k] : own;
    }
    for (size_t k = 0; k < description.outputs; k++)
        sum += exp(scores[k] - most);
    score->loss += log(sum) + most - own;
    score->right += prediction.value == point->target;
    score->all++;
    return true;
}

/* What joins the score: everything in `images` from `first` on whose digit has been revealed. */
static bool judge_revealed(const keepfit_model *model, const struct images *images, size_t first, const bool *revealed,
                           struct score *score)
{
    bool good = true;
    for (size_t k = first; k < images->count && good; k++)
        if (revealed[(size_t)images->points[k].target])
            good = judge(model, &images->points[k], score);
    return good;
}

static int evaluate(struct unit *unit, keepfit_fit *fit, const struct images *stream, size_t stage)
{
    bool revealed[10] = {false};
    struct score seen = {0}, train, tested = {0};
    keepfit_model *model = NULL;
    keepfit_report report = {.struct_size = sizeof report};
    if (keepfit_fit_model(fit, &model) != KEEPFIT_OK)
        return fit_failed(unit, fit);
    bool good = true;
    for (size_t k = 0; k < stage && good; k++) {
        revealed[(size_t)stream->points[k].target] = true;
        good = judge(model, &stream->points[k], &seen);
    }
    train = seen;
    good = good && judge_revealed(model, stream, stage, revealed, &train) &&
           judge_revealed(model, &test, 0, revealed, &tested);
    keepfit_model_free(model);
    if (!good)
        return fail(EXIT_FAILED, "%s: a prediction failed", unit->name);
    keepfit_fit_report(fit, &report);
    frame_add(&unit->frame, (double[]){(double)stage, (double)report.fo, seen.loss / seen.all, train.right / train.all,
                                       tested.right / tested.all});
    return EXIT_DONE;
}

/* Sixty stages evenly, and those just before and after a digit appears in the ascending stream. */
static bool is_judged(size_t stage, size_t each)
{
    size_t count = 10 * each, even = count / 60 ? count / 60 : 1;
    bool border = stage >= 2 * each && (stage % each == 0 || stage % each == 1);
    return stage % even == 0 || border || stage == count;
}

static void write_options(char *text, size_t room, const struct network_run *parameters)
{
    snprintf(text, room, "loss=network:%zu lambda=0 %s", parameters->hidden, methods[parameters->method].options);
}

/* Adds the images from `first` on, of digits that have been revealed. */
static void judge_plain(const struct plain_network *network, const struct images *images, size_t first, size_t end,
                        const bool *revealed, struct score *score)
{
    for (size_t k = first; k < end; k++)
        if (revealed[(size_t)images->points[k].target]) {
            bool right;
            score->loss += plain_network_loss(network, &images->points[k], &right);
            score->right += right;
            score->all++;
        }
}

/* Each judged stage from initial weights; the FOs are those of doing it at every stage. */
static int run_from_scratch(struct unit *unit, const struct images *stream, size_t hidden)
{
    enum { steps = 1385 };
    bool revealed[10] = {false};
    for (size_t stage = 1; stage <= stream->count; stage++) {
        revealed[(size_t)stream->points[stage - 1].target] = true;
        if (!is_judged(stage, stream->count / 10))
            continue;
        struct plain_network network = plain_network_train(stream, stage, hidden, 0.001, steps, unit->seed + stage);
        struct score seen = {0}, train, tested = {0};
        judge_plain(&network, stream, 0, stage, revealed, &seen);
        train = seen;
        judge_plain(&network, stream, stage, stream->count, revealed, &train);
        judge_plain(&network, &test, 0, test.count, revealed, &tested);
        plain_network_free(&network);
        frame_add(&unit->frame, (double[]){(double)stage, (double)(steps * stage), seen.loss / seen.all,
                                           train.right / train.all, tested.right / tested.all});
        if (!unit_tick(unit, (double)stage / (double)stream->count))
            break;
    }
    return EXIT_DONE;
}

static int run(struct unit *unit)
{
    const struct network_run *parameters = unit->parameters;
    if (parameters->method == NETWORK_SGD_SCRATCH)
        return run_from_scratch(unit, &streams[parameters->stream], parameters->hidden);
    const struct images *stream = &streams[parameters->stream];
    char options[200];
    keepfit_fit *fit = NULL;
    write_options(options, sizeof options, parameters);
    int code = fit_start(options, unit->seed, &fit);
    for (size_t k = 0; k < stream->count && code == EXIT_DONE; k++) {
        if (keepfit_fit_push(fit, &stream->points[k]) != KEEPFIT_OK)
            code = fit_failed(unit, fit);
        else if (is_judged(k + 1, stream->count / 10))
            code = evaluate(unit, fit, stream, k + 1);
        double share = (double)(k + 1) / (double)stream->count;
        if (!unit_tick(unit, parameters->method == NETWORK_SVRG ? share * share : share))
            break;
    }
    keepfit_fit_free(fit);
    return code;
}

static int read_all(const struct setting *setting, struct data_file files[4])
{
    static const char *const names[4] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                         "t10k-labels-idx1-ubyte"};
    struct network_size size = network_size(setting);
    int code = EXIT_DONE;
    for (size_t k = 0; k < 4 && code == EXIT_DONE; k++)
        code = data_find(setting->data, names[k], &files[k]);
    if (code == EXIT_DONE)
        code = images_read(&files[0], &files[1], IMAGES_MIXED, 10 * size.each, setting->seed, &streams[UNIFORM]);
    if (code == EXIT_DONE)
        code = images_read(&files[0], &files[1], IMAGES_ASCENDING, 10 * size.each, setting->seed, &streams[ASCENDING]);
    if (code == EXIT_DONE)
        code = images_read(&files[2], &files[3], IMAGES_ASCENDING, 10 * size.test, setting->seed, &test);
    return code;
}

static void plan_run(struct plan *plan, const struct data_file files[4], const struct network_run *work, size_t seed)
{
    struct unit *unit = plan_unit(plan, seed, work, sizeof *work);
    struct network_size size = network_size(plan->setting);
    char options[200], number[24] = "";
    write_options(options, sizeof options, work);
    if (seed > 0)
        snprintf(number, sizeof number, "-%zu", seed + 1);
    snprintf(unit->name, sizeof unit->name, "network-%s-%s%s", stream_names[work->stream], methods[work->method].name,
             number);
    snprintf(unit->key, sizeof unit->key, "%s sha256=%.16s,%.16s each=%zu test=%zu seed=%llu %s",
             stream_names[work->stream], files[0].checksum, files[2].checksum, size.each, size.test,
             (unsigned long long)unit->seed, options);
    unit->columns = columns;
    unit->run = run;
    unit->cost = (plan->setting->quick ? 1 : 60) * methods[work->method].cost;
}

int network_plan(struct plan *plan)
{
    struct data_file files[4];
    struct network_size size = network_size(plan->setting);
    int code = read_all(plan->setting, files);
    for (size_t s = 0; s < NETWORK_STREAMS && code == EXIT_DONE; s++)
        for (size_t m = 0; m < NETWORK_METHODS; m++)
            for (size_t seed = 0; seed < network_seeds(s, m); seed++)
                plan_run(plan, files, &(struct network_run){s, m, size.hidden}, seed);
    return code;
}
