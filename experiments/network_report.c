/* network_report.c - losses and accuracies of the network. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "article.h"
#include "data.h"
#include "network_study.h"
#include "runs.h"

static const char *const names[NETWORK_METHODS] = {[NETWORK_SGD] = "sgd",
                                                   [NETWORK_SVRG] = "svrg",
                                                   [NETWORK_CSVRG] = "csvrg",
                                                   [NETWORK_SGD_SHORT] = "sgd, as many steps as csvrg",
                                                   [NETWORK_SGD_DIVIDED] = "sgd, step 0.001/t",
                                                   [NETWORK_SGD_SCRATCH] = "sgd, each stage from scratch",
                                                   [NETWORK_SGD_LAST] = "sgd, last iterate",
                                                   [NETWORK_CSVRG_LAST] = "csvrg, last iterate",
                                                   [NETWORK_OWN_SGD] = "sgd, step 0.02, T 400 (ours)",
                                                   [NETWORK_OWN_CSVRG] = "csvrg, step 0.05, T 150 (ours)",
                                                   [NETWORK_OWN_LSVRG] = "lsvrg, step 0.05, T 100 (ours)"};

/* What is reported of: every unit, by stream, method and seed. */
struct study {
    const struct unit *units;
};

static const struct unit *units_of(const struct study *study, enum network_stream stream, enum network_method method)
{
    const struct unit *units = study->units;
    for (size_t s = 0; s < NETWORK_STREAMS; s++)
        for (size_t m = 0; m < NETWORK_METHODS; m++) {
            if (s == stream && m == method)
                return units;
            units += network_seeds(s, m);
        }
    return NULL;
}

/* The mean over the seeds of what `measure` takes of one. */
static double over_seeds(const struct study *study, enum network_stream stream, enum network_method method,
                         double (*measure)(const struct frame *, enum network_column), enum network_column column)
{
    size_t seeds = network_seeds(stream, method);
    double sum = 0;
    for (size_t k = 0; k < seeds; k++)
        sum += measure(&units_of(study, stream, method)[k].frame, column) / (double)seeds;
    return sum;
}

static double last_of(const struct frame *frame, enum network_column column)
{
    return frame_at(frame, frame->rows - 1, column);
}

static double mean_of(const struct frame *frame, enum network_column column)
{
    double sum = 0;
    for (size_t row = 0; row < frame->rows; row++)
        sum += frame_at(frame, row, column) / (double)frame->rows;
    return sum;
}

static double last(const struct study *study, enum network_stream stream, enum network_method method,
                   enum network_column column)
{
    return over_seeds(study, stream, method, last_of, column);
}

static double mean(const struct study *study, enum network_stream stream, enum network_method method,
                   enum network_column column)
{
    return over_seeds(study, stream, method, mean_of, column);
}

/* At one stage, which must be a judged one; mean over the seeds. */
static double at_stage(const struct study *study, enum network_stream stream, enum network_method method, size_t stage,
                       enum network_column column)
{
    size_t seeds = network_seeds(stream, method);
    double sum = 0;
    for (size_t k = 0; k < seeds; k++) {
        const struct frame *frame = &units_of(study, stream, method)[k].frame;
        double there = NAN;
        for (size_t row = 0; row < frame->rows; row++)
            if (frame_at(frame, row, NETWORK_STAGE) == (double)stage)
                there = frame_at(frame, row, column);
        sum += there / (double)seeds;
    }
    return sum;
}

/* What a figure shows: the paper's methods in all readings, or svrg beside what we would take. */
static bool is_shown(enum network_method method, bool own)
{
    return own ? method == NETWORK_SVRG || method == NETWORK_CSVRG || method >= NETWORK_OWN_SGD
               : method < NETWORK_OWN_SGD;
}

static void draw(const struct study *study, enum network_stream stream, enum network_column column, bool own,
                 const char *name, const char *title, const char *label, const char *caption, struct article *article)
{
    struct curve curves[NETWORK_METHODS];
    struct plot_series series[NETWORK_METHODS];
    size_t count = 0;
    for (size_t m = 0; m < NETWORK_METHODS; m++) {
        size_t seeds = network_seeds(stream, m);
        if (seeds == 0 || !is_shown(m, own))
            continue;
        curves[count] = curve_of(units_of(study, stream, m), seeds, NETWORK_STAGE, column);
        series[count] = curve_series(&curves[count], names[m]);
        if (seeds == 1)
            series[count].low = series[count].high = NULL;
        count++;
    }
    struct plot plot = {.title = title,
                        .x_label = "stage (images so far)",
                        .y_label = label,
                        .log_y = column == NETWORK_LOSS || column == NETWORK_FO,
                        .count = count,
                        .series = series,
                        .reference = NAN,
                        .caption = caption};
    article_figure(article, name, &plot);
    for (size_t c = 0; c < count; c++)
        curve_free(&curves[c]);
}

static void write_table(const struct study *study, enum network_stream stream, struct article *article)
{
    article_table(article, "method|seeds|FO in all|FO a stage|final training loss|mean training loss|final train "
                           "accuracy|final test accuracy");
    for (size_t m = 0; m < NETWORK_METHODS; m++) {
        if (network_seeds(stream, m) == 0)
            continue;
        double fo = last(study, stream, m, NETWORK_FO);
        article_row(article, "%s|%zu|%.0f|%.0f|%.4g|%.4g|%.4f|%.4f", names[m], network_seeds(stream, m), fo,
                    fo / last(study, stream, m, NETWORK_STAGE), last(study, stream, m, NETWORK_LOSS),
                    mean(study, stream, m, NETWORK_LOSS), last(study, stream, m, NETWORK_TRAIN),
                    last(study, stream, m, NETWORK_TEST));
    }
    article_table_end(article);
}

/* How the paper may be read, the plain reading first: the step of its table, from the last stage's output, its number of steps, the
 * mean of the iterates. */
enum { READINGS = 5 };
static const struct reading {
    enum network_method csvrg, sgd;
    const char *name;
} readings[READINGS] = {{NETWORK_CSVRG, NETWORK_SGD, "step 0.001 from the last output"},
                        {NETWORK_CSVRG, NETWORK_SGD_DIVIDED, "step 0.001/t"},
                        {NETWORK_CSVRG, NETWORK_SGD_SCRATCH, "each stage from scratch"},
                        {NETWORK_CSVRG, NETWORK_SGD_SHORT, "as many steps as csvrg"},
                        {NETWORK_CSVRG_LAST, NETWORK_SGD_LAST, "last iterates of both"}};

/* What the paper says of the network. */
enum { SENTENCES = 6 };
static const char *const sentences[SENTENCES] = {
    "small at first",      "uniform: half the loss",     "ascending: half the loss",
    "bumps at new digits", "from 1 to 2/3 at the third", "advantage in accuracy"};

static double loss_ratio(const struct study *study, enum network_stream stream, const struct reading *reading)
{
    return last(study, stream, reading->csvrg, NETWORK_LOSS) / last(study, stream, reading->sgd, NETWORK_LOSS);
}

/* The mean of csvrg's accuracy minus that of sgd, over the judged stages of the ascending stream. */
static double advantage(const struct study *study, const struct reading *reading, enum network_column column)
{
    return mean(study, ASCENDING, reading->csvrg, column) - mean(study, ASCENDING, reading->sgd, column);
}

/* Whether the loss rises at most new digits (from the third on), for csvrg and for sgd. */
static bool has_bumps(const struct study *study, const struct reading *reading, size_t each)
{
    enum network_method both[] = {reading->csvrg, reading->sgd};
    bool most = true;
    for (size_t m = 0; m < 2; m++) {
        size_t bumps = 0;
        for (size_t digit = 2; digit < 10; digit++)
            bumps += at_stage(study, ASCENDING, both[m], digit * each + 1, NETWORK_LOSS) >
                     at_stage(study, ASCENDING, both[m], digit * each, NETWORK_LOSS);
        most &= bumps >= 6;
    }
    return most;
}

/* Accuracy 1 before and 2/3 after the third digit's first image, up to three images, for both. */
static bool drops(const struct study *study, const struct reading *reading, size_t each)
{
    enum network_method both[] = {reading->csvrg, reading->sgd};
    double near = fmax(0.02, 1 / (double)each);
    bool good = true;
    for (size_t m = 0; m < 2; m++)
        good &= at_stage(study, ASCENDING, both[m], 2 * each, NETWORK_TRAIN) >= 1 - near &&
                fabs(at_stage(study, ASCENDING, both[m], 2 * each + 1, NETWORK_TRAIN) - 2.0 / 3) <= near;
    return good;
}

/* The mean loss over the first thirtieth of the stages. */
static double early_loss(const struct study *study, enum network_method method, size_t each)
{
    const struct frame *frame = &units_of(study, UNIFORM, method)[0].frame;
    double sum = 0;
    size_t count = 0;
    for (size_t row = 0; row < frame->rows && frame_at(frame, row, NETWORK_STAGE) <= (double)each / 3; row++, count++)
        sum += at_stage(study, UNIFORM, method, (size_t)frame_at(frame, row, NETWORK_STAGE), NETWORK_LOSS);
    return sum / (double)count;
}

static void judge_reading(const struct study *study, const struct reading *reading, size_t each, bool holds[SENTENCES])
{
    holds[0] = early_loss(study, reading->sgd, each) <= 0.1 && early_loss(study, reading->csvrg, each) <= 0.1;
    holds[1] = loss_ratio(study, UNIFORM, reading) <= 0.5;
    holds[2] = loss_ratio(study, ASCENDING, reading) <= 0.5;
    holds[3] = has_bumps(study, reading, each);
    holds[4] = drops(study, reading, each);
    holds[5] = advantage(study, reading, NETWORK_TRAIN) > 0.01 && advantage(study, reading, NETWORK_TEST) > 0.01;
}

/* Appends to a list, with a comma where it is not the first. */
PRINTF_LIKE(3, 4) static void append(char *list, size_t room, const char *format, ...)
{
    va_list arguments;
    size_t used = strlen(list);
    used += (size_t)snprintf(list + used, room - used, "%s", used ? ", " : "");
    va_start(arguments, format);
    vsnprintf(list + used, room - used, format, arguments);
    va_end(arguments);
}

/* The readings under which something holds, in words. */
static void name_readings(const bool *holds, char *text, size_t room)
{
    text[0] = '\0';
    for (size_t r = 0; r < READINGS; r++)
        if (holds[r])
            append(text, room, "\"%s\"", readings[r].name);
    if (!text[0])
        snprintf(text, room, "none");
}

/* Agreement is under the plain reading; agreement in part, under another one. */
static enum verdict verdict_over(const bool *holds)
{
    size_t others = 0;
    for (size_t r = 1; r < READINGS; r++)
        others += holds[r];
    return holds[0] ? AGREES : others > 0 ? AGREES_IN_PART : DISAGREES;
}

static void find_loss(const struct study *study, enum network_stream stream, const char *claim, struct article *article)
{
    double fo = last(study, stream, NETWORK_CSVRG, NETWORK_FO) / last(study, stream, NETWORK_SGD, NETWORK_FO);
    bool holds[READINGS];
    char ratios[320] = "", under[320];
    for (size_t r = 0; r < READINGS; r++) {
        double ratio = loss_ratio(study, stream, &readings[r]);
        holds[r] = ratio <= 0.5;
        append(ratios, sizeof ratios, "%.3f with \"%s\"", ratio, readings[r].name);
    }
    name_readings(holds, under, sizeof under);
    article_finding(article, verdict_over(holds), claim,
                    "csvrg's final training loss is %.4g; over sgd's: %s. The FOs of the first are %.3f times sgd's. "
                    "The claim holds under these readings of sgd: %s. Agreement means at most half the loss under the "
                    "first reading; under another one it is agreement in part.",
                    last(study, stream, NETWORK_CSVRG, NETWORK_LOSS), ratios, fo, under);
}

/* Which sentences each reading fits, and which it contradicts. */
static void write_readings(const struct study *study, size_t each, struct article *article)
{
    bool holds[READINGS][SENTENCES];
    size_t best = 0, fits[READINGS] = {0};
    char head[256] = "the paper, read as", row[256];
    for (size_t s = 0; s < SENTENCES; s++)
        snprintf(head + strlen(head), sizeof head - strlen(head), "|%s", sentences[s]);
    article_table(article, head);
    for (size_t r = 0; r < READINGS; r++) {
        judge_reading(study, &readings[r], each, holds[r]);
        snprintf(row, sizeof row, "%s", readings[r].name);
        for (size_t s = 0; s < SENTENCES; s++) {
            fits[r] += holds[r][s];
            snprintf(row + strlen(row), sizeof row - strlen(row), "|%s", holds[r][s] ? "yes" : "no");
        }
        article_row(article, "%s", row);
        best = fits[r] > fits[best] ? r : best;
    }
    article_table_end(article);
    article_text(article,
                 "What the paper says of the network, sentence by sentence, under each reading of it. %s The one that "
                 "fits most, \"%s\", fits %zu of %d.",
                 fits[best] == SENTENCES ? "One reading fits all of them." : "No reading fits all of them.",
                 readings[best].name, fits[best], SENTENCES);
    for (size_t r = 0; r < READINGS; r++) {
        char against[256] = "";
        for (size_t s = 0; s < SENTENCES; s++)
            if (!holds[r][s])
                append(against, sizeof against, "\"%s\"", sentences[s]);
        if (against[0])
            article_text(article, "\"%s\" contradicts: %s.", readings[r].name, against);
    }
}

/* Why one or the other is ahead: equal FOs are not equal steps. */
static void explain(const struct study *study, struct article *article)
{
    const struct reading *plain = &readings[0], *equal = &readings[3];
    double alike[] = {loss_ratio(study, UNIFORM, equal), loss_ratio(study, ASCENDING, equal)};
    article_text(article,
                 "With the same step 0.001, sgd makes 1385 steps a stage for the FOs with which csvrg makes 600. At "
                 "equal FOs csvrg's final loss is %.3g (uniform) and %.3g (ascending) times sgd's; at equal steps, "
                 "with sgd cut to 600 as well, it is %.3g and %.3g times. So %s.",
                 loss_ratio(study, UNIFORM, plain), loss_ratio(study, ASCENDING, plain), alike[0], alike[1],
                 fabs(alike[0] - 1) < 0.1 && fabs(alike[1] - 1) < 0.1
                     ? "what a step achieves is the same for both: the noise that csvrg removes is not what holds sgd "
                       "back here, the short step is"
                     : "a step of csvrg is not worth the same as one of sgd here");
}

static void find_near_svrg(const struct study *study, struct article *article)
{
    double fo = last(study, UNIFORM, NETWORK_CSVRG, NETWORK_FO) / last(study, UNIFORM, NETWORK_SVRG, NETWORK_FO),
           loss = last(study, UNIFORM, NETWORK_CSVRG, NETWORK_LOSS) / last(study, UNIFORM, NETWORK_SVRG, NETWORK_LOSS);
    /* By the parameters: two FOs a step and one more at each stage; a full gradient an epoch and two FOs a step. */
    double by_count = (2 * 600 + 1) / (7 * ((last(study, UNIFORM, NETWORK_CSVRG, NETWORK_STAGE) + 1) / 2 + 2 * 40));
    article_finding(
        article, by_count > 0.5 ? NOT_JUDGED : verdict_of((size_t)(loss <= 2) + (fo <= 0.5), 2),
        "CSVRG and SVRG both reach a small loss, CSVRG with far fewer FOs (uniform stream).",
        "csvrg's final training loss is %.3g times svrg's, with %.3g times the FOs. Agreement means at most twice the "
        "loss, with at most half the FOs; it is judged where the parameters leave csvrg at most half of svrg's FOs.",
        loss, fo);
}

/* What we would do instead: who is at svrg's loss for the fewest FOs. */
static void write_own(const struct study *study, struct article *article)
{
    double goal = last(study, UNIFORM, NETWORK_SVRG, NETWORK_LOSS),
           dear = last(study, UNIFORM, NETWORK_SVRG, NETWORK_FO), fewest = INFINITY;
    enum network_method best = NETWORK_SVRG;
    for (size_t m = 0; m < NETWORK_METHODS; m++)
        if (last(study, UNIFORM, m, NETWORK_LOSS) <= 2 * goal && last(study, UNIFORM, m, NETWORK_FO) < fewest) {
            best = m;
            fewest = last(study, UNIFORM, m, NETWORK_FO);
        }
    article_text(article,
                 "What we would do instead: nothing can be proved of a network, so auto is of no use here. svrg's loss "
                 "at the end of the uniform stream (%.3g) is reached within a factor of 2 with the fewest FOs by "
                 "\"%s\": %.3g times svrg's FOs, at a loss of %.3g. %s",
                 goal, names[best], fewest / dear, last(study, UNIFORM, best, NETWORK_LOSS),
                 best == NETWORK_OWN_SGD ? "So a long step does it, not full gradients."
                 : best == NETWORK_SVRG  ? "No method that was tried comes so near for fewer FOs."
                                         : "");
}

static void find_accuracy(const struct study *study, struct article *article)
{
    bool holds[READINGS];
    char texts[400] = "", under[320];
    for (size_t r = 0; r < READINGS; r++) {
        double train = advantage(study, &readings[r], NETWORK_TRAIN),
               tested = advantage(study, &readings[r], NETWORK_TEST);
        holds[r] = train > 0.01 && tested > 0.01;
        append(texts, sizeof texts, "%+.4f and %+.4f with \"%s\"", train, tested, readings[r].name);
    }
    name_readings(holds, under, sizeof under);
    article_finding(article, verdict_over(holds),
                    "With ascending labels CSVRG has a noticeable advantage in train and in test accuracy.",
                    "csvrg's accuracy minus sgd's, mean over the judged stages, train and test: %s. The claim holds "
                    "under these readings: %s. Agreement means more than 0.01 in both under the first reading; under "
                    "another one, in part.",
                    texts, under);
}

static void find_drop(const struct study *study, size_t each, struct article *article)
{
    double csvrg = at_stage(study, ASCENDING, NETWORK_CSVRG, 2 * each + 1, NETWORK_TRAIN),
           sgd = at_stage(study, ASCENDING, NETWORK_SGD, 2 * each + 1, NETWORK_TRAIN);
    char claim[160];
    snprintf(claim, sizeof claim, "When the third digit appears (stage %zu) the accuracy drops to about 0.667.",
             2 * each + 1);
    double near = fmax(0.02, 1 / (double)each); /* three images */
    article_finding(article, verdict_of((fabs(csvrg - 2.0 / 3) <= near) + (size_t)(fabs(sgd - 2.0 / 3) <= near), 2),
                    claim,
                    "Train accuracy at that stage: csvrg %.4f, sgd %.4f. Agreement means within 0.02 of 2/3, or three "
                    "of the images.",
                    csvrg, sgd);
}

static void report_uniform(const struct study *study, struct article *article)
{
    article_heading(article, "Images drawn uniformly");
    draw(study, UNIFORM, NETWORK_LOSS, false, "uniform-loss", "Uniform stream: training loss", "mean loss so far",
         "Loss of each stage's model on the images so far.", article);
    find_loss(study, UNIFORM,
              "In the later stages CSVRG's training loss is much smaller than SGD's at the same FOs (uniform stream).",
              article);
    draw(study, UNIFORM, NETWORK_FO, false, "uniform-fo", "Uniform stream: gradients", "gradients so far (FO)",
         "What the losses cost; from scratch, if it were done at every stage.", article);
    find_near_svrg(study, article);
    draw(study, UNIFORM, NETWORK_LOSS, true, "uniform-own", "Uniform stream: who reaches svrg's loss",
         "mean loss so far", "The paper's svrg and csvrg, and what we would take.", article);
    write_own(study, article);
    write_table(study, UNIFORM, article);
}

static void report_ascending(const struct study *study, size_t each, struct article *article)
{
    article_heading(article, "Ascending labels");
    draw(study, ASCENDING, NETWORK_LOSS, false, "ascending-loss", "Ascending labels: training loss", "mean loss so far",
         "A bump wherever a new digit appears.", article);
    find_loss(study, ASCENDING,
              "With ascending labels CSVRG's training loss is significantly smaller than SGD's at the same FOs.",
              article);
    explain(study, article);
    draw(study, ASCENDING, NETWORK_TRAIN, false, "ascending-train", "Ascending labels: train accuracy", "accuracy",
         "On all training images of the digits revealed so far, those still to come included.", article);
    find_drop(study, each, article);
    draw(study, ASCENDING, NETWORK_TEST, false, "ascending-test", "Ascending labels: test accuracy", "accuracy",
         "On test images of the digits revealed so far.", article);
    find_accuracy(study, article);
    write_table(study, ASCENDING, article);
    article_heading(article, "Which reading fits");
    write_readings(study, each, article);
}

void network_report(const struct setting *setting, const struct unit *units, struct article *article)
{
    struct network_size size = network_size(setting);
    struct study study = {units};
    article_text(
        article,
        "A network 784-%zu-10 with ReLU and cross-entropy on %zu images%s, without a regulariser, with the "
        "paper's parameters: sgd step 0.001, T 1385; svrg step 0.05, 7 x 40; csvrg step 0.001, T 600, alpha 0.01. Its "
        "gradient at x_prev is remembered and not counted: only then are the FOs of csvrg and sgd equal, as the paper "
        "says they are. Nothing is convex here, so there is no gap; the loss is over the images so far. The paper does "
        "not say all of what its methods do, so it is read in %d ways. Bands are over the seeds, where there is more "
        "than one.",
        size.hidden, 10 * size.each, setting->quick ? " (--quick)" : "", READINGS);
    if (!setting->data->path)
        article_text(
            article,
            "These are NOT MNIST's digits: no folder was given with --data, so made-up images took their places.");
    report_uniform(&study, article);
    report_ascending(&study, size.each, article);
}
