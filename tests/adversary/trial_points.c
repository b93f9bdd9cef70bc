/* The points of a problem: columns, then rows, targets, weights, and their order. */
#include "trial.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- columns ---- */

enum column { PLAIN, TIMES, METRES, CONSTANT, FLAGS, COUNTS, OFFSET, DUPLICATE, NEARLY, COLUMNS };

static void fill_column(struct trial *trial, size_t f, double scale)
{
    for (size_t j = 0; j < trial->count; j++)
        trial->value[j][f] = scale * random_normal(&trial->random);
}

/* A large number and a small spread, rising or not. */
static void fill_times(struct trial *trial, size_t f, double base, double spread, bool rising)
{
    for (size_t j = 0; j < trial->count; j++) {
        double at = random_unit(&trial->random);
        if (rising)
            at = ((double)j + at) / (double)trial->count;
        trial->value[j][f] = base + spread * at;
    }
}

static void fill_copy(struct trial *trial, size_t f, size_t from, double factor, double noise)
{
    for (size_t j = 0; j < trial->count; j++) {
        double value = trial->value[j][from];
        trial->value[j][f] = factor * value + noise * fmax(fabs(value), 1e-8) * random_normal(&trial->random);
    }
}

static void fill_flags(struct trial *trial, size_t f, double share)
{
    for (size_t j = 0; j < trial->count; j++)
        trial->value[j][f] = random_chance(&trial->random, share);
}

static void fill_counts(struct trial *trial, size_t f)
{
    double most = random_magnitude(&trial->random, 0.5, 5);
    for (size_t j = 0; j < trial->count; j++)
        trial->value[j][f] = floor(most * random_unit(&trial->random));
}

static void fill_odd(struct trial *trial, size_t f, enum column column)
{
    static const char *const names[COLUMNS] = {"plain",  "times",  "metres",    "constant", "flags",
                                               "counts", "offset", "duplicate", "collinear"};
    struct random *random = &trial->random;
    bool rising = random_chance(random, 0.5);
    double spread;
    if (f == 0 && column >= DUPLICATE)
        column = TIMES;
    trial_note(trial, names[column]);
    switch (column) {
    case TIMES:
        spread = random_magnitude(random, 1, 7);
        fill_times(trial, f, 1.7e9, spread, rising);
        break;
    case METRES:
        spread = random_magnitude(random, -2, 3);
        fill_times(trial, f, 1e6, spread, rising);
        break;
    case CONSTANT:
        spread = random_magnitude(random, -3, 6);
        fill_times(trial, f, spread, 0, rising);
        break;
    case FLAGS:
        fill_flags(trial, f, random_unit(random));
        break;
    case COUNTS:
        fill_counts(trial, f);
        break;
    case OFFSET:
        spread = random_magnitude(random, -3, 8);
        fill_times(trial, f, -spread * random_magnitude(random, 1, 8), spread, rising);
        break;
    case DUPLICATE:
        fill_copy(trial, f, random_below(random, f), random_chance(random, 0.5) ? 1 : random_magnitude(random, -3, 3),
                  0);
        break;
    default:
        fill_copy(trial, f, random_below(random, f), 1, random_magnitude(random, -12, -1));
    }
}

static void draw_columns(struct trial *trial)
{
    struct random *random = &trial->random;
    bool scaled = !trial->mild && !trial->usual && random_chance(random, 0.4);
    double odd = random_chance(random, 0.5) ? 0 : random_unit(random), low = -8, high = 9;
    if (scaled && random_chance(random, 0.5)) {
        low = -3;
        high = 4;
    }
    if (scaled)
        trial_note(trial, "scales");
    for (size_t f = 0; f < trial->features; f++) {
        if (trial->usual && f == 0)
            fill_odd(trial, f, random_chance(random, 0.6) ? TIMES : random_chance(random, 0.5) ? METRES : OFFSET);
        else if (!trial->mild && random_chance(random, odd))
            fill_odd(trial, f, 1 + (enum column)random_below(random, COLUMNS - 1));
        else
            fill_column(trial, f, scaled ? random_magnitude(random, low, high) : 1);
    }
}

/* ---- targets ---- */

/* Columns of any scale weigh alike in what the targets follow. */
static void find_spreads(const struct trial *trial, double *mean, double *spread)
{
    for (size_t f = 0; f < trial->features; f++) {
        double sum = 0, square = 0;
        for (size_t j = 0; j < trial->count; j++)
            sum += trial->value[j][f] / (double)trial->count;
        for (size_t j = 0; j < trial->count; j++)
            square += (trial->value[j][f] - sum) * (trial->value[j][f] - sum) / (double)trial->count;
        mean[f] = sum;
        spread[f] = square > 0 ? sqrt(square) : 1;
    }
}

static double class_label(const struct trial *trial, double score, const double *labels)
{
    size_t k = 0;
    while (k + 1 < trial->classes && score > -0.8 + 1.6 * (double)(k + 1) / (double)trial->classes)
        k++;
    return labels[k];
}

static double draw_factor(struct trial *trial)
{
    struct random *random = &trial->random;
    if (trial->mild || random_chance(random, 0.7))
        return 1;
    trial_note(trial, "targets");
    return random_magnitude(random, -6, 9);
}

static void draw_targets(struct trial *trial)
{
    static const double sets[][OUTPUTS_MOST] = {{-1, 1, 2, 3}, {0, 1, 2, 3}, {1, 2, 3, 4}, {2, 1, 0, -1}, {5, 3, 9, 7}};
    struct random *random = &trial->random;
    double mean[FEATURES_MOST], spread[FEATURES_MOST], hidden[FEATURES_MOST];
    bool numbers = is_for_numbers(trial->loss);
    const double *labels = sets[random_below(random, COUNT(sets))];
    double noise = random_chance(random, 0.2) ? 0 : random_magnitude(random, -2, 0.3);
    double factor = numbers ? draw_factor(trial) : 1,
           offset = random_chance(random, 0.3) ? factor * random_normal(random) : 0;
    if (noise == 0)
        trial_note(trial, "separable");
    find_spreads(trial, mean, spread);
    for (size_t f = 0; f < trial->features; f++)
        hidden[f] = random_normal(random) / sqrt((double)trial->features);
    for (size_t j = 0; j < trial->count; j++) {
        double score = noise * random_normal(random);
        for (size_t f = 0; f < trial->features; f++)
            score += hidden[f] * (trial->value[j][f] - mean[f]) / spread[f];
        trial->point[j].target = numbers ? factor * score + offset : class_label(trial, score, labels);
    }
    if (!numbers && random_chance(random, 0.1)) { /* one class for long, or for good */
        size_t until = random_chance(random, 0.5) ? trial->count : trial->count * 3 / 4;
        trial_note(trial, "single-class");
        for (size_t j = 0; j < until; j++)
            trial->point[j].target = labels[0];
    }
}

/* ---- rows and weights ---- */

static void make_huge(struct trial *trial)
{
    struct random *random = &trial->random;
    double factor = random_magnitude(random, 1, 8), share = random_chance(random, 0.5) ? 0.03 : 0.2;
    size_t sure = random_below(random, trial->count);
    trial_note(trial, "huge-rows");
    for (size_t j = 0; j < trial->count; j++)
        if (j == sure || random_chance(random, share))
            for (size_t f = 0; f < trial->features; f++)
                trial->value[j][f] *= factor;
}

static void make_zeros(struct trial *trial)
{
    struct random *random = &trial->random;
    double rows = random_chance(random, 0.5) ? 0.15 : 0, entries = random_unit(random);
    trial_note(trial, "zeros");
    for (size_t j = 0; j < trial->count; j++) {
        bool empty = random_chance(random, rows);
        for (size_t f = 0; f < trial->features; f++)
            if (empty || random_chance(random, entries))
                trial->value[j][f] = 0;
    }
}

static void draw_widths(struct trial *trial)
{
    struct random *random = &trial->random;
    bool late = random_chance(random, 0.2);
    size_t from = random_below(random, trial->count);
    bool growing = random_chance(random, 0.5);
    if (late)
        trial_note(trial, "late-features");
    for (size_t j = 0; j < trial->count; j++) {
        size_t width = trial->features;
        if (late && growing)
            width = 1 + j * trial->features / trial->count;
        else if (late && j < from)
            width = 1 + trial->features / 2;
        trial->width[j] = width < trial->features ? width : trial->features;
    }
}

static void draw_weights(struct trial *trial)
{
    struct random *random = &trial->random;
    size_t kind = random_below(random, trial->usual ? 1 : trial->mild ? 3 : 8);
    static const char *const names[] = {
        "", "", "", "zero-weights", "tiny-weights", "spread-weights", "huge-weight", "late-weight"};
    double most = random_magnitude(random, 3, 17);
    trial_note(trial, names[kind]);
    for (size_t j = 0; j < trial->count; j++) {
        double weight = 1;
        if (kind == 2)
            weight = 0.5 + 1.5 * random_unit(random);
        if (kind == 3 && (j < 3 || random_chance(random, 0.2)))
            weight = 0;
        if (kind == 4)
            weight = random_magnitude(random, -8, -7);
        if (kind == 5)
            weight = random_magnitude(random, -8, 3);
        if (kind >= 6 && (random_chance(random, 0.03) || j == trial->count / (kind == 6 ? 4 : 2)))
            weight = most;
        trial->point[j].weight = weight;
        trial->point[j].weightless = weight == 0;
    }
}

/* ---- the order ---- */

static void swap_rows(struct trial *trial, size_t a, size_t b)
{
    double held[FEATURES_MOST], target = trial->point[a].target;
    memcpy(held, trial->value[a], sizeof held);
    memcpy(trial->value[a], trial->value[b], sizeof held);
    memcpy(trial->value[b], held, sizeof held);
    trial->point[a].target = trial->point[b].target;
    trial->point[b].target = target;
}

static void sort_rows(struct trial *trial, bool down)
{
    trial_note(trial, "sorted");
    for (size_t a = 1; a < trial->count; a++)
        for (size_t b = a; b > 0; b--) {
            double before = trial->point[b - 1].target, after = trial->point[b].target;
            if (down ? after <= before : after >= before)
                break;
            swap_rows(trial, b, b - 1);
        }
}

static void repeat_rows(struct trial *trial)
{
    size_t run = 2 + random_below(&trial->random, 6);
    trial_note(trial, "repeated");
    for (size_t j = 0; j < trial->count; j++)
        if (j % run) {
            memcpy(trial->value[j], trial->value[j - j % run], sizeof trial->value[j]);
            trial->point[j].target = trial->point[j - j % run].target;
        }
}

static void link_row(struct trial *trial, size_t j)
{
    keepfit_row *row = &trial->point[j].row;
    size_t stored = 0;
    if (!trial->sparse) {
        *row = (keepfit_row){trial->width[j], NULL, trial->value[j]};
    } else {
        for (size_t f = 0; f < trial->width[j]; f++)
            if (trial->value[j][f] != 0) {
                trial->index[j][stored] = (uint32_t)f;
                trial->packed[j][stored++] = trial->value[j][f];
            }
        *row = (keepfit_row){stored, trial->index[j], trial->packed[j]};
        trial->width[j] = stored ? trial->index[j][stored - 1] + 1 : 0;
    }
    for (size_t f = trial->width[j]; f < FEATURES_MOST; f++)
        trial->value[j][f] = 0;
}

void trial_draw_points(struct trial *trial)
{
    struct random *random = &trial->random;
    draw_columns(trial);
    draw_targets(trial);
    if (!trial->mild && random_chance(random, 0.2))
        make_huge(trial);
    trial->sparse = random_chance(random, 0.4);
    if (random_chance(random, trial->sparse ? 0.7 : 0.1))
        make_zeros(trial);
    if (random_chance(random, 0.15))
        sort_rows(trial, random_chance(random, 0.5));
    else if (random_chance(random, 0.1))
        repeat_rows(trial);
    draw_widths(trial);
    draw_weights(trial);
    for (size_t j = 0; j < trial->count; j++)
        link_row(trial, j);
}
