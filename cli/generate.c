/* Synthetic streams: rows with normal entries; a hidden linear model decides the targets.
 *
 *   losses for numbers       target = row.w + noise * normal
 *   losses for two classes   +1 with probability 1/(1+exp(-4 row.w)), else -1; a share `noise` of the labels is drawn at random
 *   softmax, network         the class with the largest score among `classes` hidden models, likewise
 *
 * w has norm 1 and row entries variance 1/nnz, so scores are of order 1 whatever the size. With drift D the hidden model moves
 * by D in a fixed random direction from the first row to the last. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "generate.h"
#include "toolkit/output.h"

/* Everything a stream is made of. */
struct recipe {
    struct source source;
    uint64_t rows, features, nnz, classes;
    bool many; /* classes, rather than numbers or -1 and +1 */
    double noise, drift;
    bool numbers;
    double *weights, *direction; /* [class][feature] */
    uint64_t *chosen;            /* the row's features, ascending */
    double *values;
};

static void unit_vector(struct source *source, double *v, uint64_t count)
{
    double square = 0;
    for (uint64_t k = 0; k < count; k++) {
        v[k] = normal(source);
        square += v[k] * v[k];
    }
    for (uint64_t k = 0; k < count; k++)
        v[k] /= sqrt(square);
}

/* nnz features out of all, ascending: each is taken with the probability that makes the count come out. */
static void choose_features(struct recipe *recipe)
{
    uint64_t taken = 0;
    if (recipe->nnz * 20 < recipe->features) { /* sparse: one from each of nnz equal strips is near enough and quick */
        for (uint64_t k = 0; k < recipe->nnz; k++) {
            uint64_t low = k * recipe->features / recipe->nnz, high = (k + 1) * recipe->features / recipe->nnz;
            recipe->chosen[taken++] = low + draw(&recipe->source) % (high - low);
        }
        return;
    }
    for (uint64_t f = 0; f < recipe->features && taken < recipe->nnz; f++)
        if ((double)(recipe->nnz - taken) > uniform(&recipe->source) * (double)(recipe->features - f))
            recipe->chosen[taken++] = f;
}

static double score(const struct recipe *recipe, uint64_t class, double progress)
{
    double sum = 0;
    const double *w = recipe->weights + class * recipe->features, *move = recipe->direction + class * recipe->features;
    for (uint64_t k = 0; k < recipe->nnz; k++) {
        uint64_t f = recipe->chosen[k];
        sum += recipe->values[k] * (w[f] + recipe->drift * progress * move[f]);
    }
    /* entries have variance 1/nnz; only the share nnz/features of |w|^2 is met */
    return sum * sqrt((double)recipe->features);
}

static double target_of(struct recipe *recipe, double progress)
{
    struct source *source = &recipe->source;
    if (recipe->numbers)
        return score(recipe, 0, progress) + recipe->noise * normal(source);
    bool random = uniform(source) < recipe->noise;
    if (!recipe->many) {
        double chance = random ? 0.5 : 1 / (1 + exp(-4 * score(recipe, 0, progress)));
        return uniform(source) < chance ? 1 : -1;
    }
    if (random)
        return (double)(1 + draw(source) % recipe->classes);
    uint64_t best = 0;
    double most = -INFINITY;
    for (uint64_t c = 0; c < recipe->classes; c++) {
        double s = score(recipe, c, progress);
        if (s > most) {
            most = s;
            best = c;
        }
    }
    return (double)(best + 1);
}

static double make_row(struct recipe *recipe, uint64_t row)
{
    choose_features(recipe);
    for (uint64_t k = 0; k < recipe->nnz; k++)
        recipe->values[k] = normal(&recipe->source) / sqrt((double)recipe->nnz);
    return target_of(recipe, (double)row / (double)recipe->rows);
}

static size_t format_row(const struct recipe *recipe, double target, char *line, size_t room)
{
    size_t used = (size_t)snprintf(line, room, "%.17g", target);
    for (uint64_t k = 0; k < recipe->nnz; k++)
        used += (size_t)snprintf(line + used, room - used, " %llu:%.9g", (unsigned long long)recipe->chosen[k] + 1,
                                 recipe->values[k]);
    line[used++] = '\n';
    return used;
}

struct kept {
    double target;
    uint64_t row;
    char *line;
    size_t length;
};

static int by_target(const void *a, const void *b)
{
    const struct kept *left = a, *right = b;
    if (left->target != right->target)
        return left->target < right->target ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

static int write_stream(struct recipe *recipe, bool sorted)
{
    size_t room = 64 + 40 * (size_t)recipe->nnz;
    char *line = malloc(room);
    struct kept *kept = sorted ? calloc(recipe->rows, sizeof *kept) : NULL;
    bool whole = line && (!sorted || kept);
    for (uint64_t row = 0; row < recipe->rows && whole && !ferror(stdout); row++) {
        double target = make_row(recipe, row);
        size_t length = format_row(recipe, target, line, room);
        if (!sorted) {
            fwrite(line, 1, length, stdout);
            continue;
        }
        kept[row] = (struct kept){target, row, malloc(length), length};
        whole = kept[row].line != NULL;
        if (whole)
            memcpy(kept[row].line, line, length);
    }
    if (whole && sorted)
        qsort(kept, recipe->rows, sizeof *kept, by_target);
    for (uint64_t row = 0; sorted && kept && row < recipe->rows; row++) {
        if (whole)
            fwrite(kept[row].line, 1, kept[row].length, stdout);
        free(kept[row].line);
    }
    free(kept);
    free(line);
    return whole ? EXIT_DONE : fail(EXIT_FAILED, "out of memory");
}

static int prepare(struct recipe *recipe)
{
    uint64_t models = recipe->classes * recipe->features;
    if (recipe->features > 100000000 || recipe->classes > 10000 || models > 1000000000)
        return fail(EXIT_USAGE, "--features: too many");
    recipe->weights = calloc(models, sizeof(double));
    recipe->direction = calloc(models, sizeof(double));
    recipe->chosen = calloc(recipe->nnz, sizeof *recipe->chosen);
    recipe->values = calloc(recipe->nnz, sizeof(double));
    if (!recipe->weights || !recipe->direction || !recipe->chosen || !recipe->values)
        return fail(EXIT_FAILED, "out of memory");
    for (uint64_t c = 0; c < recipe->classes; c++) {
        unit_vector(&recipe->source, recipe->weights + c * recipe->features, recipe->features);
        unit_vector(&recipe->source, recipe->direction + c * recipe->features, recipe->features);
    }
    return EXIT_DONE;
}

int run_generate(struct arguments *arguments)
{
    unsigned traits = keepfit_loss_traits(keepfit_options_get(arguments->options, "loss"));
    bool many = traits & KEEPFIT_LOSS_MANY_CLASSES;
    struct recipe recipe = {
        .source = {keepfit_options_get_integer(arguments->options, "seed")},
        .rows = arguments->rows,
        .features = arguments->features,
        .nnz = arguments->nnz ? arguments->nnz : arguments->features,
        .many = many,
        .classes = many ? arguments->classes : 1,
        .noise = arguments->noise,
        .drift = arguments->drift,
        .numbers = traits & KEEPFIT_LOSS_NUMBERS,
    };
    if (arguments->log) {
        const struct log log = {arguments->rows, recipe.source.state, arguments->noise, arguments->drift, many};
        generate_log(&log);
        return EXIT_DONE;
    }
    bool sorted = strcmp(arguments->order, "sorted") == 0;
    if (!sorted && strcmp(arguments->order, "iid") != 0)
        return fail_choice("--order", arguments->order, "iid|sorted");
    if (recipe.nnz > recipe.features)
        return fail(EXIT_USAGE, "--nnz: at most the number of features, %llu", (unsigned long long)recipe.features);
    int code = prepare(&recipe);
    if (code == EXIT_DONE)
        code = write_stream(&recipe, sorted);
    free(recipe.weights);
    free(recipe.direction);
    free(recipe.chosen);
    free(recipe.values);
    return code;
}
