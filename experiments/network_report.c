/* network_report.c - losses and accuracies of the network. */
#include <math.h>
#include <stdio.h>

#include "article.h"
#include "data.h"
#include "network_study.h"
#include "runs.h"

static const char *const names[NETWORK_METHODS] = {[NETWORK_SGD] = "sgd",
                                                   [NETWORK_SVRG] = "svrg",
                                                   [NETWORK_CSVRG] = "csvrg",
                                                   [NETWORK_SGD_SHORT] = "sgd, as many steps as csvrg"};

static const struct frame *frame_of(const struct unit *units, enum network_stream stream, enum network_method method)
{
    return &units[stream * NETWORK_METHODS + method].frame;
}

static double last(const struct frame *frame, enum network_column column)
{
    return frame_at(frame, frame->rows - 1, column);
}

static double mean(const struct frame *frame, enum network_column column)
{
    double sum = 0;
    for (size_t row = 0; row < frame->rows; row++)
        sum += frame_at(frame, row, column) / (double)frame->rows;
    return sum;
}

static void draw(const struct unit *units, enum network_stream stream, enum network_column column, const char *name,
                 const char *title, const char *label, const char *caption, struct article *article)
{
    struct curve curves[NETWORK_METHODS];
    struct plot_series series[NETWORK_METHODS];
    for (size_t m = 0; m < NETWORK_METHODS; m++) {
        curves[m] = curve_of(&units[stream * NETWORK_METHODS + m], 1, NETWORK_STAGE, column);
        series[m] = curve_series(&curves[m], names[m]);
        series[m].low = series[m].high = NULL;
    }
    struct plot plot = {.title = title,
                        .x_label = "stage (images so far)",
                        .y_label = label,
                        .log_y = column == NETWORK_LOSS || column == NETWORK_FO,
                        .count = NETWORK_METHODS,
                        .series = series,
                        .reference = NAN,
                        .caption = caption};
    article_figure(article, name, &plot);
    for (size_t m = 0; m < NETWORK_METHODS; m++)
        curve_free(&curves[m]);
}

static void write_table(const struct unit *units, enum network_stream stream, struct article *article)
{
    article_table(article,
                  "method|FO in all|FO a stage|final training loss|mean training loss|final train accuracy|final test "
                  "accuracy");
    for (size_t m = 0; m < NETWORK_METHODS; m++) {
        const struct frame *frame = frame_of(units, stream, m);
        article_row(article, "%s|%.0f|%.0f|%.4g|%.4g|%.4f|%.4f", names[m], last(frame, NETWORK_FO),
                    last(frame, NETWORK_FO) / last(frame, NETWORK_STAGE), last(frame, NETWORK_LOSS),
                    mean(frame, NETWORK_LOSS), last(frame, NETWORK_TRAIN), last(frame, NETWORK_TEST));
    }
    article_table_end(article);
}

static void find_loss(const struct unit *units, enum network_stream stream, const char *claim, struct article *article)
{
    const struct frame *csvrg = frame_of(units, stream, NETWORK_CSVRG), *sgd = frame_of(units, stream, NETWORK_SGD);
    double fo = last(csvrg, NETWORK_FO) / last(sgd, NETWORK_FO),
           loss = last(csvrg, NETWORK_LOSS) / last(sgd, NETWORK_LOSS);
    bool half = loss <= 0.5 && fabs(fo - 1) <= 0.05;
    article_finding(
        article,
        half       ? AGREES
        : loss < 1 ? AGREES_IN_PART
                   : DISAGREES,
        claim,
        "csvrg's final training loss is %.4g, sgd's %.4g: %.3f times, with %.3f times the FOs. Agreement means at most "
        "half the loss at FOs within 5%%; a smaller loss is agreement in part.",
        last(csvrg, NETWORK_LOSS), last(sgd, NETWORK_LOSS), loss, fo);
}

/* Why one or the other is ahead: equal FOs are not equal steps. */
static void explain(const struct unit *units, struct article *article)
{
    double loss[NETWORK_STREAMS][2];
    for (size_t s = 0; s < NETWORK_STREAMS; s++) {
        double csvrg = last(frame_of(units, s, NETWORK_CSVRG), NETWORK_LOSS);
        loss[s][0] = csvrg / last(frame_of(units, s, NETWORK_SGD), NETWORK_LOSS);
        loss[s][1] = csvrg / last(frame_of(units, s, NETWORK_SGD_SHORT), NETWORK_LOSS);
    }
    article_text(article,
                 "With the same step 0.001, sgd makes 1385 steps a stage for the FOs with which csvrg makes 600. At "
                 "equal FOs csvrg's "
                 "final loss is %.3g (uniform) and %.3g (ascending) times sgd's; at equal steps, with sgd cut to 600 "
                 "as well, it is "
                 "%.3g and %.3g times. So %s.",
                 loss[UNIFORM][0], loss[ASCENDING][0], loss[UNIFORM][1], loss[ASCENDING][1],
                 fabs(loss[UNIFORM][1] - 1) < 0.1 && fabs(loss[ASCENDING][1] - 1) < 0.1
                     ? "what a step achieves is the same for both: the noise that csvrg removes is not what holds sgd "
                       "back here, the "
                       "short step is"
                     : "a step of csvrg is not worth the same as one of sgd here");
}

static void find_near_svrg(const struct unit *units, struct article *article)
{
    const struct frame *csvrg = frame_of(units, UNIFORM, NETWORK_CSVRG), *svrg = frame_of(units, UNIFORM, NETWORK_SVRG);
    double fo = last(csvrg, NETWORK_FO) / last(svrg, NETWORK_FO),
           loss = last(csvrg, NETWORK_LOSS) / last(svrg, NETWORK_LOSS);
    /* By the parameters: two FOs a step and one more at each stage; a full gradient an epoch and two FOs a step. */
    double by_count = (2 * 600 + 1) / (7 * ((last(csvrg, NETWORK_STAGE) + 1) / 2 + 2 * 40));
    article_finding(
        article, by_count > 0.5 ? NOT_JUDGED : verdict_of((size_t)(loss <= 2) + (fo <= 0.5), 2),
        "CSVRG and SVRG both reach a small loss, CSVRG with far fewer FOs (uniform stream).",
        "csvrg's final training loss is %.3g times svrg's, with %.3g times the FOs. Agreement means at most twice the "
        "loss, with at most half the FOs; it is judged where the parameters leave csvrg at most half of svrg's FOs.",
        loss, fo);
}

static void find_accuracy(const struct unit *units, struct article *article)
{
    const struct frame *csvrg = frame_of(units, ASCENDING, NETWORK_CSVRG),
                       *sgd = frame_of(units, ASCENDING, NETWORK_SGD);
    double train = mean(csvrg, NETWORK_TRAIN) - mean(sgd, NETWORK_TRAIN),
           test = mean(csvrg, NETWORK_TEST) - mean(sgd, NETWORK_TEST);
    double final_train = last(csvrg, NETWORK_TRAIN) - last(sgd, NETWORK_TRAIN);
    double final_test = last(csvrg, NETWORK_TEST) - last(sgd, NETWORK_TEST);
    article_finding(
        article, verdict_of((size_t)(train > 0.01) + (test > 0.01), 2),
        "With ascending labels CSVRG has a noticeable advantage in train and in test accuracy.",
        "csvrg's accuracy minus sgd's, mean over the judged stages: %+.4f (train), %+.4f (test); at the end %+.4f and "
        "%+.4f. Agreement means more than 0.01 in the mean, in both.",
        train, test, final_train, final_test);
}

static void find_drop(const struct unit *units, size_t each, struct article *article)
{
    const struct frame *frames[] = {frame_of(units, ASCENDING, NETWORK_CSVRG), frame_of(units, ASCENDING, NETWORK_SGD)};
    double at[2] = {NAN, NAN};
    char claim[160];
    for (size_t m = 0; m < 2; m++)
        for (size_t row = 0; row < frames[m]->rows; row++)
            if (frame_at(frames[m], row, NETWORK_STAGE) == (double)(2 * each + 1))
                at[m] = frame_at(frames[m], row, NETWORK_TRAIN);
    snprintf(claim, sizeof claim, "When the third digit appears (stage %zu) the accuracy drops to about 0.667.",
             2 * each + 1);
    double near = fmax(0.02, 1 / (double)each); /* three images */
    article_finding(article, verdict_of((fabs(at[0] - 2.0 / 3) <= near) + (size_t)(fabs(at[1] - 2.0 / 3) <= near), 2),
                    claim,
                    "Train accuracy at that stage: csvrg %.4f, sgd %.4f. Agreement means within 0.02 of 2/3, or three "
                    "of the images.",
                    at[0], at[1]);
}

void network_report(const struct setting *setting, const struct unit *units, struct article *article)
{
    struct network_size size = network_size(setting);
    article_text(
        article,
        "A network 784-%zu-10 with ReLU and cross-entropy on %zu images%s, without a regulariser, with the "
        "paper's parameters: "
        "sgd step 0.001, T 1385; svrg step 0.05, 7 x 40; csvrg step 0.001, T 600, alpha 0.01. Its gradient at "
        "x_prev is "
        "remembered and not counted: only then are the FOs of csvrg and sgd equal, as the paper says they are. "
        "Nothing is convex "
        "here, so there is no gap; the loss is over the images so far. One seed.",
        size.hidden, 10 * size.each, setting->quick ? " (--quick)" : "");
    if (!setting->data->path)
        article_text(
            article,
            "These are NOT MNIST's digits: no folder was given with --data, so made-up images took their places.");
    article_heading(article, "Images drawn uniformly");
    draw(units, UNIFORM, NETWORK_LOSS, "uniform-loss", "Uniform stream: training loss", "mean loss so far",
         "Loss of each stage's model on the images so far.", article);
    find_loss(units, UNIFORM,
              "In the later stages CSVRG's training loss is much smaller than SGD's at the same FOs (uniform stream).",
              article);
    draw(units, UNIFORM, NETWORK_FO, "uniform-fo", "Uniform stream: gradients", "gradients so far (FO)",
         "What the losses cost.", article);
    find_near_svrg(units, article);
    write_table(units, UNIFORM, article);
    article_heading(article, "Ascending labels");
    draw(units, ASCENDING, NETWORK_LOSS, "ascending-loss", "Ascending labels: training loss", "mean loss so far",
         "A bump wherever a new digit appears.", article);
    find_loss(units, ASCENDING,
              "With ascending labels CSVRG's training loss is significantly smaller than SGD's at the same FOs.",
              article);
    explain(units, article);
    draw(units, ASCENDING, NETWORK_TRAIN, "ascending-train", "Ascending labels: train accuracy", "accuracy",
         "On all training images of the digits revealed so far, those still to come included.", article);
    find_drop(units, size.each, article);
    draw(units, ASCENDING, NETWORK_TEST, "ascending-test", "Ascending labels: test accuracy", "accuracy",
         "On test images of the digits revealed so far.", article);
    find_accuracy(units, article);
    write_table(units, ASCENDING, article);
}
