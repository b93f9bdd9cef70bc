/* The options of a problem. */
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/exponential.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *const trial_losses[LOSSES] = {"squared", "logistic", "huber",        "hinge",
                                          "softmax", "logcosh",  "squared-hinge"};
const char *const trial_domains[DOMAINS] = {"none", "ball", "box", "simplex"};

/* splitmix64 */
uint64_t random_bits(struct random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

size_t random_below(struct random *random, size_t bound)
{
    return (size_t)(random_bits(random) % bound);
}

double random_unit(struct random *random)
{
    return (double)(random_bits(random) >> 11) * 0x1p-53;
}

double random_normal(struct random *random)
{
    double u = 1 - random_unit(random), v = random_unit(random);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

bool random_chance(struct random *random, double share)
{
    return random_unit(random) < share;
}

double random_magnitude(struct random *random, double low, double high)
{
    return pow(10, low + (high - low) * random_unit(random));
}

void trial_note(struct trial *trial, const char *trait)
{
    size_t used = strlen(trial->traits);
    if (!strstr(trial->traits, trait))
        snprintf(trial->traits + used, sizeof trial->traits - used, "%s%s", used ? " " : "", trait);
}

static void draw_sizes(struct trial *trial)
{
    struct random *random = &trial->random;
    double size = random_unit(random);
    trial->count = size < 0.5    ? 1 + random_below(random, 30)
                   : size < 0.85 ? 20 + random_below(random, 41)
                                 : 61 + random_below(random, 40);
    trial->features =
        random_chance(random, 0.5) ? 1 + random_below(random, 3) : 1 + random_below(random, FEATURES_USUAL);
    trial->classes = trial->loss == SOFTMAX ? 2 + random_below(random, OUTPUTS_MOST - 1) : 2;
    if (trial->loss == SOFTMAX && trial->features > 4 && random_chance(random, 0.8))
        trial->features = 1 + trial->features / 3; /* the reference takes the square of both for long */
    if (trial->loss == SOFTMAX && trial->count > 40 && random_chance(random, 0.8))
        trial->count /= 2;
}

static void draw_loss(struct trial *trial)
{
    static const enum loss losses[] = {SQUARED, SQUARED, SQUARED, LOGISTIC, LOGISTIC, LOGISTIC,
                                       HUBER,   HINGE,   SOFTMAX, LOGCOSH,  LOGCOSH,  SQUARED_HINGE};
    struct random *random = &trial->random;
    trial->loss = losses[random_below(random, COUNT(losses))];
    trial->delta = random_chance(random, 0.6) ? 1 : random_magnitude(random, trial->mild ? -1 : -3, 1);
}

static void draw_method(struct trial *trial)
{
    static const char *const methods[] = {"auto",  "auto",      "auto",      "auto",  "auto",
                                          "auto",  "quadratic", "quadratic", "refit", "refit",
                                          "table", "exact",     "exact",     "csvrg", "gd"};
    struct random *random = &trial->random;
    trial->method = methods[random_below(random, COUNT(methods))];
    if (strcmp(trial->method, "exact") == 0 && trial->loss != SQUARED)
        trial->method = "auto";
    if (strcmp(trial->method, "gd") == 0 && random_chance(random, 0.7))
        trial->method = "auto";
}

static void draw_domain(struct trial *trial)
{
    struct random *random = &trial->random;
    double share = random_unit(random);
    trial->domain = share < 0.7 ? WHOLE : share < 0.8 ? BALL : share < 0.93 ? BOX : SIMPLEX;
    trial->low = 0;
    trial->high = 1;
    if (trial->domain == BALL)
        trial->high = random_magnitude(random, -3, trial->mild ? 1 : 3);
    if (trial->domain == BOX) {
        trial->high = random_magnitude(random, -2, trial->mild ? 1 : 3);
        trial->low = random_chance(random, 0.6) ? -trial->high : random_chance(random, 0.5) ? 0 : trial->high / 10;
    }
}

static void draw_goal(struct trial *trial)
{
    static const enum kind kinds[] = {ABSOLUTE, ABSOLUTE, RELATIVE, STAT};
    struct random *random = &trial->random;
    trial->kind = kinds[random_below(random, COUNT(kinds))];
    trial->epsilon = random_chance(random, 0.3) ? 1e-3 : random_magnitude(random, trial->mild ? -7 : -16, -1);
    trial->lambda =
        random_chance(random, 0.3) ? 1e-3 : random_magnitude(random, trial->mild ? -5 : -12, trial->mild ? 0 : 2);
    trial->total = random_chance(random, 0.2);
    if (trial->total)
        trial->lambda *= (double)trial->count;
    trial->intercept = random_chance(random, 0.4);
    trial->bias = 0;
    if (!trial->intercept && random_chance(random, 0.3)) {
        static const double biases[] = {1, 1, 1, 10, 0.3, 1e3};
        trial->bias = biases[random_below(random, trial->mild ? 4 : COUNT(biases))];
    }
}

/* A column of times or lengths beside an intercept, and everything else as it comes: what a new user has. */
static void draw_usual(struct trial *trial)
{
    static const enum loss losses[] = {SQUARED, LOGISTIC, LOGISTIC, HUBER, HINGE, SOFTMAX, LOGCOSH, SQUARED_HINGE};
    struct random *random = &trial->random;
    trial_note(trial, "usual");
    trial->loss = losses[random_below(random, COUNT(losses))];
    trial->delta = 1;
    draw_sizes(trial);
    trial->features = 1 + random_below(random, 3);
    trial->method = "auto";
    trial->domain = WHOLE;
    trial->kind = ABSOLUTE;
    trial->epsilon = trial->lambda = 1e-3;
    trial->total = false;
    trial->bias = 0;
    trial->intercept = random_chance(random, 0.8);
    trial->usual = true;
}

/* Nothing can be proved then, and nothing may crash. */
static void draw_unregularised(struct trial *trial)
{
    trial->lambda = 0;
    trial->method = random_chance(&trial->random, 0.5) ? "auto" : "csvrg";
}

static void draw_limits(struct trial *trial)
{
    static const size_t half_lives[] = {1, 2, 3, 5, 10, 30, 1000};
    struct random *random = &trial->random;
    if (random_chance(random, 0.1))
        trial->budget = (uint64_t)random_magnitude(random, 0, 3);
    else if (random_chance(random, 0.07))
        trial->factor = random_magnitude(random, 0.5, 2);
    if (random_chance(random, 0.2))
        trial->window = 2 + random_below(random, trial->count);
    trial->estimate = random_chance(random, 0.03);
    bool holds = strcmp(trial->method, "csvrg") != 0 && trial->lambda > 0 && !trial->total;
    trial->standardise = trial->intercept && trial->domain == WHOLE && random_chance(random, 0.3);
    if (random_chance(random, 0.15) && holds)
        trial->half_life = half_lives[random_below(random, COUNT(half_lives))];
}

/* Points are numbered from 1. 2^share, share = (arrival mod N)/N, is rounded in one way alone: it is a part of the problem. */
double trial_weight(const struct trial *trial, size_t j, size_t arrived)
{
    double weight = trial->point[j].weight;
    size_t each = trial->half_life, came = j + 1;
    if (!each)
        return weight;
    double share = (double)(came % each) / (double)each;
    return ldexp(weight * kf_exp(share * 0.69314718055994530942), (int)(came / each) - (int)(arrived / each));
}

bool trial_has_faded(const struct trial *trial, size_t j, size_t arrived)
{
    size_t each = trial->half_life;
    return each && j + 1 + 12 * each < arrived - arrived % (4 * each);
}

static void draw_keys(struct trial *trial)
{
    struct random *random = &trial->random;
    trial->keyed = random_chance(random, 0.15);
    size_t keys = 1 + random_below(random, trial->count);
    for (size_t j = 0; j < trial->count && trial->keyed; j++)
        trial->key[j] = random_chance(random, 0.2) ? 0 : 1 + random_below(random, keys);
    if (trial->keyed)
        trial_note(trial, "keyed");
}

static void draw_actions(struct trial *trial)
{
    struct random *random = &trial->random;
    if (random_chance(random, 0.3))
        trial->removals = random_unit(random) * 0.5;
    trial->largest = random_chance(random, 0.5);
    if (random_chance(random, 0.3))
        trial->blocks = random_unit(random) * 0.6;
    if (random_chance(random, 0.3))
        trial->snapshots = random_unit(random) * 0.2;
    if (!is_for_numbers(trial->loss) && random_chance(random, 0.1))
        trial->expectations = 0.1;
}

static void add_option(struct trial *trial, const char *key, const char *value)
{
    size_t used = strlen(trial->options);
    snprintf(trial->options + used, sizeof trial->options - used, "%s%s=%s", used ? " " : "", key, value);
}

static void add_real(struct trial *trial, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    add_option(trial, key, text);
}

static void add_domain(struct trial *trial)
{
    char text[80];
    if (trial->domain == BALL)
        snprintf(text, sizeof text, "ball:%.17g", trial->high);
    else if (trial->domain == BOX)
        snprintf(text, sizeof text, "box:%.17g:%.17g", trial->low, trial->high);
    else
        snprintf(text, sizeof text, "%s", trial_domains[trial->domain]);
    add_option(trial, "domain", text);
}

static void write_options(struct trial *trial)
{
    static const char *const kinds[] = {"absolute", "relative", "stat"};
    add_option(trial, "loss", trial_losses[trial->loss]);
    add_option(trial, "method", trial->method);
    add_real(trial, trial->total ? "lambda-total" : "lambda", trial->lambda);
    add_real(trial, "epsilon", trial->epsilon);
    add_option(trial, "epsilon-kind", kinds[trial->kind]);
    if (trial->domain != WHOLE)
        add_domain(trial);
    if (trial->loss == HUBER || trial->loss == HINGE)
        add_real(trial, "delta", trial->delta);
    if (trial->intercept)
        add_option(trial, "intercept", "true");
    if (trial->bias != 0)
        add_real(trial, "bias", trial->bias);
    if (trial->window)
        add_real(trial, "window", (double)trial->window);
    if (trial->standardise)
        add_option(trial, "standardise", "true");
    if (trial->half_life)
        add_real(trial, "half-life", (double)trial->half_life);
    if (trial->budget)
        add_real(trial, "stage-budget", (double)trial->budget);
    if (trial->factor > 0)
        add_real(trial, "max-stage-work", trial->factor);
    if (trial->estimate)
        add_option(trial, "guarantee", "estimate");
    if (strcmp(trial->method, "gd") == 0)
        add_option(trial, "inner", "30");
    add_option(trial, "threads", "1");
}

/* More coordinates than those for which Hessians cost next to nothing: by the seed, so that all else is drawn as without. */
static void widen(struct trial *trial)
{
    if (trial->seed % 25 != 7 || trial->loss == SOFTMAX || trial->domain != WHOLE)
        return;
    trial_note(trial, "wide");
    trial->features = FEATURES_MOST - (size_t)(trial->seed / 25 % 8);
    trial->count = trial->count < 45 ? trial->count : 45; /* the reference takes its time */
}

void trial_draw(struct trial *trial, uint64_t seed)
{
    memset(trial, 0, sizeof *trial);
    trial->seed = seed;
    trial->random.state = seed * 0x2545f4914f6cdd1d + 0x1234567;
    random_bits(&trial->random);
    trial->mild = random_chance(&trial->random, 0.25);
    draw_loss(trial);
    draw_sizes(trial);
    draw_method(trial);
    draw_domain(trial);
    draw_goal(trial);
    if (random_chance(&trial->random, 0.08))
        draw_usual(trial);
    else if (random_chance(&trial->random, 0.02))
        draw_unregularised(trial);
    widen(trial);
    draw_limits(trial);
    draw_actions(trial);
    if (trial->mild && !trial->usual)
        trial_note(trial, "mild");
    trial_draw_points(trial);
    draw_keys(trial);
    write_options(trial);
}
