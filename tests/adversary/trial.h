/* A problem drawn from its seed: points, options, and how they reach the fit. Simple ones are among them, and such as people
 * have (a Unix time beside an intercept, a price beside flags), and extremes. */
#ifndef KEEPFIT_ADVERSARY_TRIAL_H
#define KEEPFIT_ADVERSARY_TRIAL_H

#include <stdint.h>

#include "keepfit.h"
#include "reference.h"

struct random {
    uint64_t state;
};

uint64_t random_bits(struct random *random);
size_t random_below(struct random *random, size_t bound);
double random_unit(struct random *random);
double random_normal(struct random *random);
bool random_chance(struct random *random, double share);
/* 10^low .. 10^high, even in the exponent */
double random_magnitude(struct random *random, double low, double high);

enum kind { ABSOLUTE, RELATIVE, STAT };

struct trial {
    uint64_t seed;
    struct random random; /* what is left of it draws the actions */
    enum loss loss;
    enum domain domain;
    enum kind kind;
    double delta, low, high, lambda, epsilon, bias; /* bias 0: none */
    bool total, intercept, estimate, mild, usual, sparse;
    size_t count, features, classes, window;
    size_t half_life; /* arrivals; 0: none */
    bool keyed;       /* points have keys, which come again */
    bool standardise;
    uint64_t budget;
    double factor; /* of max-stage-work; 0: none */
    const char *method;
    char traits[256];  /* what was drawn, in words */
    char options[512]; /* "key=value key=value" */

    double value[POINTS_MOST][FEATURES_MOST];
    size_t width[POINTS_MOST]; /* features that the row has */
    uint32_t index[POINTS_MOST][FEATURES_MOST];
    double packed[POINTS_MOST][FEATURES_MOST]; /* a sparse row's entries */
    keepfit_point point[POINTS_MOST];
    size_t key[POINTS_MOST]; /* 0: it has none */

    double removals, blocks, snapshots, expectations; /* shares of the steps */
    bool largest;                                     /* what is removed are the largest rows and weights */
};

void trial_draw(struct trial *trial, uint64_t seed);
/* What point j weighs, times a power of two that is the same for all, once `arrived` points have come. */
double trial_weight(const struct trial *trial, size_t j, size_t arrived);
/* Whether it has left for its age by then. */
bool trial_has_faded(const struct trial *trial, size_t j, size_t arrived);
/* Adds words to trial->traits. */
void trial_note(struct trial *trial, const char *trait);
/* The points; options are drawn already. */
void trial_draw_points(struct trial *trial);

extern const char *const trial_losses[LOSSES], *const trial_domains[DOMAINS];

#endif
