/* Small problems for tests: random points, and fits made from a list of options. */
#ifndef KEEPFIT_TESTS_SUPPORT_H
#define KEEPFIT_TESTS_SUPPORT_H

#include "base/random.h"
#include "fit/fit.h"
#include "keepfit.h"
#include "tap.h"

#define POINTS_MOST 4096
#define FEATURES_MOST 64

/* Points that own their rows. */
struct cloud {
    size_t count, features;
    keepfit_point point[POINTS_MOST];
    double value[POINTS_MOST][FEATURES_MOST];
    uint32_t index[POINTS_MOST][FEATURES_MOST];
};

/* Normal rows, a share of the entries left out when sparse; targets fit the loss (numbers, -1/+1, or classes 0..2). */
struct cloud *cloud_make(const char *loss, size_t count, size_t features, bool sparse, bool weighted, uint64_t seed);

/* The losses of linear models, in the order of their table; how many there are. */
#define LOSSES_MOST 16
size_t linear_losses(const char **losses);

bool has_many_classes(const char *loss); /* softmax and networks */

/* "loss=logistic lambda=0.1 method=csvrg": keys and values separated by blanks. Fails the program on a bad option. */
keepfit_options *options_from(const char *text);
keepfit_fit *fit_from(const char *text);
/* Pushes points from .. to-1; fails the program if one is refused. */
void push_range(keepfit_fit *fit, const struct cloud *cloud, size_t from, size_t to);

/* Of two vectors, relative to the second's largest number, absolute below 1. */
double largest_difference(size_t count, const double *a, const double *b);

bool near(double a, double b, double tolerance); /* relative, absolute below 1 */
/* 1, or 2 where long double has no more digits than double, as under valgrind: what is compared with it may then be off twice as far. */
double coarseness(void);

#endif
