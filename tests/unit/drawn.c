#include "drawn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const drawn_methods[METHODS] = {"auto", "quadratic", "table", "refit", "exact"};
const char *const drawn_streams[STREAMS] = {"iid", "sorted", "duplicated", "huge", "growing", "rare", "late"};
static const char *const losses[] = {"logistic", "logistic",      "squared", "huber",  "hinge",
                                     "softmax",  "squared-hinge", "logcosh", "logcosh"};
static const char *const domains[] = {"none",         "none",   "none",         "none",    "ball:0.05",    "ball:0.4",
                                      "box:-0.1:0.3", "ball:5", "box:-100:100", "simplex", "box:0.01:0.5", "none"};
static const char *const kinds[] = {"absolute", "absolute", "relative", "stat"};
static bool is_unseen(const struct drawn *drawn)
{
    return drawn->seed >= UNSEEN && drawn->seed < BUDGETED;
}

static size_t pick(struct drawn *drawn, size_t count)
{
    return (size_t)kf_random_below(&drawn->random, count);
}

static bool chance(struct drawn *drawn, double share)
{
    return kf_random_unit(&drawn->random) < share;
}

/* 10^low .. 10^high, even in the exponent */
static double magnitude(struct drawn *drawn, double low, double high)
{
    return pow(10, low + (high - low) * kf_random_unit(&drawn->random));
}

/* ---- rows ---- */

struct shape {
    double hidden[FEATURES_MOST], scale[FEATURES_MOST];
    double correlation, kept, empty;
    bool indexed;
    double label[3];
    int weights; /* 0: all 1; 1: from 1/2 to 2; 2: also 0; 3: the first ones 0 or tiny */
};

static struct shape draw_shape(struct drawn *drawn)
{
    static const double label_sets[][3] = {{-1, 1, 4}, {1, 2, 3}, {2, 1, 0}, {0, 1, 2}};
    struct shape shape = {.weights = (int)pick(drawn, 4), .kept = 1};
    size_t powers = chance(drawn, 0.5) ? 1 : 1 + pick(drawn, 4), set = pick(drawn, COUNT(label_sets));
    if (shape.weights == 1 && chance(drawn, 0.5))
        shape.weights = 0;
    shape.correlation = chance(drawn, 0.5) ? 0 : 1 - magnitude(drawn, -3, 0);
    shape.indexed = chance(drawn, 0.5);
    if (shape.indexed) {
        shape.kept = 0.2 + 0.8 * kf_random_unit(&drawn->random);
        shape.empty = chance(drawn, 0.3) ? 0.1 : 0;
    }
    memcpy(shape.label, label_sets[set], sizeof shape.label);
    for (size_t f = 0; f < drawn->features; f++) {
        shape.hidden[f] = kf_random_normal(&drawn->random) / sqrt((double)drawn->features);
        shape.scale[f] = pow(10, (double)pick(drawn, powers)) * (chance(drawn, 0.1) ? 0.1 : 1);
    }
    return shape;
}

static double draw_target(struct drawn *drawn, const struct shape *shape, double score)
{
    double noisy = score + 0.5 * kf_random_normal(&drawn->random);
    if (drawn->classes == 0)
        return 2 * noisy;
    if (drawn->classes == 2)
        return shape->label[noisy > 0];
    return shape->label[noisy < -0.4 ? 0 : noisy < 0.4 ? 1 : 2];
}

static double draw_weight(struct drawn *drawn, const struct shape *shape, size_t j)
{
    if (shape->weights == 0)
        return 1;
    if (shape->weights == 3 && j < 4)
        return chance(drawn, 0.5) ? 0 : magnitude(drawn, -6, 0);
    if (shape->weights >= 2 && chance(drawn, 0.1))
        return 0;
    return 0.5 + 1.5 * kf_random_unit(&drawn->random);
}

/* Which features a kind of stream lets row j have. */
static bool has_feature(const struct drawn *drawn, size_t j, size_t f)
{
    if (drawn->stream == GROWING)
        return f <= j * drawn->features / drawn->count;
    if (drawn->stream == RARE && f % 2) /* in one row, or in two */
        return j == (f * 37) % drawn->count || (f % 4 == 1 && j == (f * 53) % drawn->count);
    return true;
}

static void draw_row(struct drawn *drawn, const struct shape *shape, size_t j)
{
    struct cloud *cloud = drawn->cloud;
    size_t stored = 0;
    double last = kf_random_normal(&drawn->random), score = 0, rho = shape->correlation;
    double kept = chance(drawn, shape->empty) ? 0 : shape->kept;
    bool indexed = shape->indexed || drawn->stream == RARE;
    for (size_t f = 0; f < drawn->features; f++) {
        last = rho * last + sqrt(1 - rho * rho) * kf_random_normal(&drawn->random);
        bool kept_here = (kept >= 1 || chance(drawn, kept)) && has_feature(drawn, j, f);
        if (!kept_here && (indexed || drawn->stream == GROWING))
            continue;
        score += last * shape->hidden[f];
        cloud->value[j][stored] = last * shape->scale[f];
        cloud->index[j][stored++] = (uint32_t)f;
    }
    cloud->point[j] = (keepfit_point){
        .row = {stored, indexed ? cloud->index[j] : NULL, cloud->value[j]},
        .target = draw_target(drawn, shape, score),
        .weight = draw_weight(drawn, shape, j),
    };
    cloud->point[j].weightless = cloud->point[j].weight == 0;
}

static void copy_row(struct cloud *cloud, size_t from, size_t to)
{
    memcpy(cloud->value[to], cloud->value[from], sizeof cloud->value[to]);
    memcpy(cloud->index[to], cloud->index[from], sizeof cloud->index[to]);
    cloud->point[to] = cloud->point[from];
    cloud->point[to].row.value = cloud->value[to];
    cloud->point[to].row.index = cloud->point[from].row.index ? cloud->index[to] : NULL;
}

static void swap_points(struct cloud *cloud, size_t a, size_t b)
{
    keepfit_point held = cloud->point[a]; /* the rows stay where they are: points only refer to them */
    cloud->point[a] = cloud->point[b];
    cloud->point[b] = held;
}

static void sort_by_target(struct cloud *cloud, bool downwards)
{
    for (size_t a = 1; a < cloud->count; a++)
        for (size_t b = a; b > 0; b--)
            if ((cloud->point[b].target < cloud->point[b - 1].target) != downwards &&
                cloud->point[b].target != cloud->point[b - 1].target)
                swap_points(cloud, b, b - 1);
            else
                break;
}

/* All points equal, and one late one that is as good as all of them and says something else: what the lower bound is made
 * of. */
static void make_late(struct drawn *drawn, const struct shape *shape)
{
    struct cloud *cloud = drawn->cloud;
    size_t last = cloud->count * 3 / 4;
    double weight = chance(drawn, 0.5) ? (double)cloud->count : 1, factor = chance(drawn, 0.5) ? -1 : 1;
    for (size_t j = 1; j < cloud->count; j++)
        if (j != last)
            copy_row(cloud, 0, j);
    cloud->point[last].weight = weight;
    cloud->point[last].weightless = false;
    cloud->point[last].target =
        drawn->classes ? shape->label[cloud->point[0].target == shape->label[0]] : -10 * cloud->point[0].target;
    for (size_t e = 0; e < cloud->point[last].row.count && factor < 0; e++)
        cloud->value[last][e] *= 30;
}

static void arrange(struct drawn *drawn, const struct shape *shape)
{
    struct cloud *cloud = drawn->cloud;
    size_t middle = cloud->count / 2, run = 2 + pick(drawn, 6);
    double huge = magnitude(drawn, 1, drawn->method == TABLE ? 2 : 5);
    switch (drawn->stream) {
    case SORTED:
        sort_by_target(cloud, chance(drawn, 0.5));
        break;
    case DUPLICATED:
        for (size_t j = 0; j < cloud->count; j++)
            if (j % run)
                copy_row(cloud, j - j % run, j);
        break;
    case HUGE_ROW:
        for (size_t e = 0; e < cloud->point[middle].row.count; e++)
            cloud->value[middle][e] *= huge;
        if (drawn->classes == 0 && chance(drawn, 0.5))
            cloud->point[middle].target *= fmin(huge, 100);
        break;
    case LATE:
        make_late(drawn, shape);
        break;
    default:
        break;
    }
}

/* ---- options ---- */

/* The most that one point's curvature is at any stage, without the regulariser. */
static double largest_curvature(const struct drawn *drawn)
{
    double most = 0, largest = 0, weight = 0;
    for (size_t j = 0; j < drawn->count; j++) {
        const keepfit_point *point = &drawn->cloud->point[j];
        double square = 1;
        for (size_t e = 0; e < point->row.count; e++)
            square += point->row.value[e] * point->row.value[e];
        largest = fmax(largest, 2 * point->weight * square);
        weight += point->weight;
        if (weight > 0)
            most = fmax(most, largest * (double)(j + 1) / weight);
    }
    return most;
}

static void write_options(struct drawn *drawn)
{
    static const char *const leads[] = {"", "", "bias=1", "bias=10", "intercept=true"};
    static const char *const widths[] = {"1", "1", "0.1"};
    double lambda = magnitude(drawn, -5, 0);
    bool total = chance(drawn, 0.25);
    const char *lead = leads[pick(drawn, COUNT(leads))], *kind = kinds[pick(drawn, COUNT(kinds))];
    const char *width = widths[pick(drawn, COUNT(widths))], *domain = domains[pick(drawn, COUNT(domains))];
    int used;
    drawn->epsilon = magnitude(drawn, -6, -1);
    drawn->intercept = strncmp(lead, "intercept", 9) == 0;
    drawn->kind = drawn->seed >= ESTIMATED ? "absolute" : kind;
    drawn->domain = domain = is_unseen(drawn) ? "none" : domain;
    drawn->lead = !*lead ? 0 : strcmp(lead, "bias=10") == 0 ? 10 : 1;
    drawn->bend = strcmp(drawn->loss, "hinge") == 0 ? 1 / atof(width) : 2;
    /* Sampled steps need about L/mu of them a digit, and an intercept, of which nothing is proved with them, has no mu. Where
     * that is more than a test can wait for, a budget ends the stage. */
    double hardest = drawn->seed >= ESTIMATED ? 1e2 : 2e3;
    if (drawn->method == TABLE && drawn->budget == 0) {
        lambda = fmax(lambda, largest_curvature(drawn) / hardest);
        lead = drawn->intercept ? "bias=1" : lead;
        drawn->intercept = false;
    }
    if (total)
        lambda *= (double)drawn->count;
    used = snprintf(drawn->text, sizeof drawn->text,
                    "loss=%s method=%s %s=%.17g epsilon=%.17g epsilon-kind=%s domain=%s delta=%s threads=1 seed=%llu",
                    drawn->loss, drawn_methods[drawn->method], total ? "lambda-total" : "lambda", lambda,
                    drawn->epsilon, drawn->kind, domain, width, (unsigned long long)drawn->seed);
    if (*lead)
        used += snprintf(drawn->text + used, sizeof drawn->text - (size_t)used, " %s", lead);
    if (drawn->budget)
        used += snprintf(drawn->text + used, sizeof drawn->text - (size_t)used, " stage-budget=%llu",
                         (unsigned long long)drawn->budget);
    if (drawn->factor > 0)
        used += snprintf(drawn->text + used, sizeof drawn->text - (size_t)used, " max-stage-work=%.17g", drawn->factor);
    if (drawn->seed >= ESTIMATED)
        snprintf(drawn->text + used, sizeof drawn->text - (size_t)used, " guarantee=estimate");
}

static size_t classes_of(const char *loss)
{
    unsigned traits = keepfit_loss_traits(loss);
    return traits & KEEPFIT_LOSS_NUMBERS ? 0 : traits & KEEPFIT_LOSS_TWO_CLASSES ? 2 : 3;
}

void draw(struct drawn *drawn, uint64_t seed)
{
    memset(drawn, 0, sizeof *drawn);
    drawn->seed = seed;
    kf_random_seed(&drawn->random, seed);
    drawn->method = (size_t)(seed % METHODS);
    drawn->stream = seed >= ESTIMATED ? IID : (size_t)(seed / METHODS % STREAMS);
    drawn->loss = drawn->method == EXACT ? "squared" : losses[pick(drawn, COUNT(losses))];
    drawn->classes = classes_of(drawn->loss);
    drawn->count = 20 + pick(drawn, chance(drawn, 0.3) ? 131 : 40);
    drawn->features = 1 + pick(drawn, drawn->classes == 3 ? 10 : chance(drawn, 0.2) ? 30 : 12);
    if (is_unseen(drawn)) {
        drawn->loss = chance(drawn, 0.6) ? "logistic" : "logcosh";
        drawn->classes = classes_of(drawn->loss);
        drawn->features += chance(drawn, 0.5) ? 30 : 0; /* beyond some 32 coordinates Hessians are older than slopes */
        drawn->count += (drawn->features > 30 ? 4 : 20) * drawn->features;
    }
    if (seed >= BUDGETED && seed < FLAT)
        drawn->budget = (uint64_t)magnitude(drawn, 0, 3.5);
    if (seed >= FLAT && seed < ESTIMATED)
        drawn->factor = magnitude(drawn, 0.5, 2);
    drawn->cloud = calloc(1, sizeof *drawn->cloud);
    TAP_NEED(drawn->cloud);
    drawn->cloud->count = drawn->count;
    drawn->cloud->features = drawn->features;
    struct shape shape = draw_shape(drawn);
    for (size_t j = 0; j < drawn->count; j++)
        draw_row(drawn, &shape, j);
    arrange(drawn, &shape);
    write_options(drawn);
}
