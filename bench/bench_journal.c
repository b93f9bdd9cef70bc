/* What a journal costs.
 *
 *   bench_journal push FOLDER|- POINTS FEATURES METHOD SYNC   microseconds a point, and the seconds of the checkpoint behind them
 *   bench_journal open FOLDER FEATURES                        seconds from nothing to the first prediction, and the points taken over */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "keepfit.h"

#define FEATURES_MOST 1000

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void must(keepfit_status status, const char *message)
{
    if (status == KEEPFIT_OK)
        return;
    fprintf(stderr, "%s\n", message);
    exit(1);
}

static void set(keepfit_options *options, const char *key, const char *value)
{
    keepfit_error error = {.struct_size = sizeof error};
    must(keepfit_options_set(options, key, value, &error), error.message);
}

static keepfit_fit *create(const keepfit_options *options)
{
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    must(keepfit_fit_create(options, &fit, &error), error.message);
    return fit;
}

/* Normal rows, and targets that follow their sum. */
static void draw(struct kf_random *random, size_t features, double *row, double *target)
{
    double sum = 0;
    for (size_t k = 0; k < features; k++)
        sum += row[k] = kf_random_normal(random);
    *target = sum + kf_random_normal(random) > 0 ? 1 : -1;
}

static int push(char **words)
{
    size_t points = strtoull(words[3], NULL, 10), features = strtoull(words[4], NULL, 10);
    bool journal = strcmp(words[2], "-") != 0;
    double row[FEATURES_MOST];
    struct kf_random random;
    keepfit_options *options = keepfit_options_create();
    set(options, "method", words[5]);
    set(options, "loss", strcmp(words[5], "exact") == 0 ? "squared" : "logistic");
    set(options, "sync", words[6]);
    set(options, "threads", "1");
    if (journal)
        set(options, "journal", words[2]);
    kf_random_seed(&random, 1);
    keepfit_fit *fit = create(options);
    double spent = 0;
    for (size_t k = 0; k < points; k++) {
        keepfit_point point = {.row = {features, NULL, row}, .weight = 1};
        draw(&random, features, row, &point.target);
        double start = now();
        must(keepfit_fit_push(fit, &point), keepfit_fit_error(fit)->message);
        spent += now() - start;
    }
    double start = now();
    if (journal)
        must(keepfit_fit_checkpoint(fit), keepfit_fit_error(fit)->message);
    printf("%.4f,%.4f\n", 1e6 * spent / (double)points, now() - start);
    keepfit_fit_free(fit);
    keepfit_options_free(options);
    return 0;
}

static int open_again(char **words)
{
    double row[FEATURES_MOST] = {1};
    keepfit_options *options = keepfit_options_create();
    keepfit_model *model = NULL;
    keepfit_prediction prediction = {.struct_size = sizeof prediction};
    keepfit_durability durability = {.struct_size = sizeof durability};
    set(options, "journal", words[2]);
    double start = now();
    keepfit_fit *fit = create(options);
    must(keepfit_fit_model(fit, &model), keepfit_fit_error(fit)->message);
    must(keepfit_model_predict(model, &(keepfit_row){strtoull(words[3], NULL, 10), NULL, row}, &prediction, NULL),
         "cannot predict");
    double spent = now() - start;
    keepfit_fit_durability(fit, &durability);
    printf("%.4f,%llu\n", spent, (unsigned long long)durability.resumed);
    keepfit_model_free(model);
    keepfit_fit_free(fit);
    keepfit_options_free(options);
    return 0;
}

int main(int count, char **words)
{
    if (count == 7 && strcmp(words[1], "push") == 0)
        return push(words);
    if (count == 4 && strcmp(words[1], "open") == 0)
        return open_again(words);
    fprintf(stderr, "usage: bench_journal push FOLDER|- POINTS FEATURES METHOD SYNC | open FOLDER FEATURES\n");
    return 2;
}
