/* How often the drift alarm is wrong, and how soon it is right (src/fit/drift.h), as a table for bench/drift.md.
 *
 *   bench_drift losses MILLIONS     losses drawn from one distribution, so many million points of each
 *   bench_drift streams RUNS        fits of streams that do not change, RUNS seeds of each, of 200,000 points
 *   bench_drift changes RUNS        the same streams, which change after 20,000 points: how soon there is an alarm */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "fit/drift.h"
#include "keepfit.h"

#define FEATURES_MOST 100
#define CHANGE_AT 20000

/* ---- losses alone ---- */

static double squared_normal(struct kf_random *random)
{
    double z = kf_random_normal(random);
    return z * z;
}

static double heavy(struct kf_random *random)
{
    return pow(1 - kf_random_unit(random), -0.5); /* without a variance */
}

static double rare(struct kf_random *random)
{
    return kf_random_unit(random) < 0.01 ? 4.6 : 0.01;
}

static double coin(struct kf_random *random)
{
    return kf_random_unit(random) < 0.2;
}

static double constant(struct kf_random *random)
{
    (void)random;
    return 0.7;
}

static int losses(double millions)
{
    static const struct {
        const char *name;
        double (*draw)(struct kf_random *random);
    } kinds[] = {{"squares of normal numbers", squared_normal},
                 {"Pareto, without a variance", heavy},
                 {"4.6 in 1 of 100, otherwise 0.01", rare},
                 {"0 or 1, a fifth of them 1", coin},
                 {"always 0.7", constant}};
    printf("| losses | points | false alarms | a million points |\n|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct kf_drift drift = {0};
        struct kf_random random;
        uint64_t points = (uint64_t)(1e6 * millions);
        kf_random_seed(&random, k + 1);
        for (uint64_t i = 1; i <= points; i++)
            kf_drift_take(&drift, kinds[k].draw(&random), i, false);
        printf("| %s | %.0f million | %llu | %.2f |\n", kinds[k].name, millions, (unsigned long long)drift.alarms,
               (double)drift.alarms / millions);
        fflush(stdout);
    }
    return 0;
}

/* ---- fits ---- */

struct kind {
    const char *name, *options;
    size_t features;
    double noise; /* of numbers: its deviation; of classes: the share of labels that are turned round */
    bool numbers;
};

static const struct kind kinds[] = {
    {"logistic, 10 features, lambda 1e-3", "loss=logistic lambda=1e-3 epsilon=1e-3", 10, 0.1, false},
    {"logistic, 100 features, lambda 1e-4", "loss=logistic lambda=1e-4 epsilon=1e-3", 100, 0.1, false},
    {"logistic, 10 features, half of the labels chance", "loss=logistic lambda=1e-3 epsilon=1e-3", 10, 0.5, false},
    {"squared, 10 features, lambda 1e-3", "loss=squared lambda=1e-3 epsilon=1e-3", 10, 1, true},
    {"squared, 100 features, noise 0.1", "loss=squared lambda=1e-4 epsilon=1e-3", 100, 0.1, true},
    {"squared, 10 features, window 5000", "loss=squared lambda=1e-3 epsilon=1e-3 window=5000", 10, 1, true},
};

static keepfit_fit *fit_of(const struct kind *kind)
{
    keepfit_options *options = keepfit_options_create();
    keepfit_fit *fit = NULL;
    char text[200], *word;
    snprintf(text, sizeof text, "%s", kind->options);
    for (word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        if (keepfit_options_set(options, word, value, NULL) != KEEPFIT_OK)
            exit(2);
    }
    if (keepfit_fit_create(options, &fit, NULL) != KEEPFIT_OK)
        exit(2);
    keepfit_options_free(options);
    return fit;
}

struct source {
    struct kf_random random;
    double truth[FEATURES_MOST], row[FEATURES_MOST];
};

static keepfit_point next(struct source *source, const struct kind *kind, double turned)
{
    double score = 0;
    for (size_t f = 0; f < kind->features; f++)
        score += source->truth[f] * (source->row[f] = kf_random_normal(&source->random));
    keepfit_point point = {.row = {.count = kind->features, .value = source->row}, .weight = 1};
    if (kind->numbers)
        point.target = score + (kind->noise + turned) * kf_random_normal(&source->random);
    else
        point.target = (score > 0) != (kf_random_unit(&source->random) < kind->noise + turned) ? 1 : -1;
    return point;
}

/* Pushes `count` points; returns those until the first alarm, or count. */
static uint64_t run(const struct kind *kind, uint64_t seed, uint64_t count, double turned, keepfit_validation *found)
{
    keepfit_fit *fit = fit_of(kind);
    struct source source = {.random = {{0}}};
    uint64_t first = 0;
    kf_random_seed(&source.random, seed);
    for (size_t f = 0; f < kind->features; f++)
        source.truth[f] = kf_random_normal(&source.random);
    for (uint64_t i = 1; i <= count && !(turned > 0 && first); i++) {
        keepfit_point point = next(&source, kind, i > CHANGE_AT ? turned : 0);
        if (keepfit_fit_push(fit, &point) != KEEPFIT_OK)
            exit(1);
        if (i % KF_DRIFT_BLOCK != 0 || turned == 0)
            continue;
        keepfit_fit_validation(fit, found);
        if (found->drift_alarms && found->drift_last > CHANGE_AT)
            first = i;
    }
    keepfit_fit_validation(fit, found);
    keepfit_fit_free(fit);
    return first;
}

static int streams(uint64_t runs)
{
    printf("| stream | points | false alarms | of these: falling | a million points |\n|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        uint64_t alarms = 0, falling = 0, count = 200000;
        for (uint64_t seed = 1; seed <= runs; seed++) {
            keepfit_validation found = {.struct_size = sizeof found};
            run(&kinds[k], seed, count, 0, &found);
            alarms += found.drift_alarms;
            falling += found.drift == KEEPFIT_DRIFT_BETTER;
        }
        printf("| %s | %.1f million | %llu | %llu | %.2f |\n", kinds[k].name, 1e-6 * (double)(runs * count),
               (unsigned long long)alarms, (unsigned long long)falling, 1e6 * (double)alarms / (double)(runs * count));
        fflush(stdout);
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int changes(uint64_t runs)
{
    static const double sizes[] = {0.05, 0.1, 0.2};
    uint64_t *delay = calloc(runs, sizeof *delay);
    printf("| stream | change | found | points until then: median |\n|---|---|---|---|\n");
    for (size_t k = 0; k < 4 && delay; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            uint64_t found = 0;
            if (kinds[k].noise == 0.5)
                continue;
            for (uint64_t seed = 1; seed <= runs; seed++) {
                keepfit_validation said = {.struct_size = sizeof said};
                uint64_t first = run(&kinds[k], seed, CHANGE_AT + 30000, sizes[s], &said);
                delay[seed - 1] = first ? first - CHANGE_AT : 30000;
                found += first > 0;
            }
            qsort(delay, runs, sizeof *delay, compare);
            printf("| %s | noise + %g | %llu of %llu | %llu |\n", kinds[k].name, sizes[s], (unsigned long long)found,
                   (unsigned long long)runs, (unsigned long long)delay[runs / 2]);
            fflush(stdout);
        }
    free(delay);
    return 0;
}

int main(int count, char **words)
{
    double number = count == 3 ? atof(words[2]) : 0;
    if (number > 0 && strcmp(words[1], "losses") == 0)
        return losses(number);
    if (number > 0 && strcmp(words[1], "streams") == 0)
        return streams((uint64_t)number);
    if (number > 0 && strcmp(words[1], "changes") == 0)
        return changes((uint64_t)number);
    fprintf(stderr, "bench_drift losses MILLIONS | streams RUNS | changes RUNS\n");
    return 2;
}
