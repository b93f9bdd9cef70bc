/* An independent reference: the objective of a stage in 113 bits, and an interval that holds its least value.
 *
 * Nothing of the library is used here. Every number that is added up has a bound on its own rounding beside it, from the
 * standard analysis of sums: a score of d terms is off by (d+2) u sum |a_k x_k| at most, u = 2^-113, a mean of n losses by
 * (n+4) u times itself, and so on. So `upper` and `lower` hold the least value for certain, and what is called a violation is
 * one.
 *
 *   upper   the value at a point of the domain
 *   lower   that value less the most that strong convexity lets it fall: with v the gradient and mu = 2 lambda the largest
 *           -v.(y-x) - mu/2 |y-x|^2 over y in the domain, bounded from above by a Lagrangian (lower.c)
 *
 * A slope is taken at a score that is off by some e. It is exact for the score that it was taken at, whose tangent lies below
 * the loss, and above the tangent at the true score less b e^2/2, b the largest curvature: v is off by its summation only.
 *
 * With a free intercept the columns are centred first, x and the intercept with them: an exact change of variables. */
#ifndef KEEPFIT_ADVERSARY_REFERENCE_H
#define KEEPFIT_ADVERSARY_REFERENCE_H

#include "quad.h"

#define POINTS_MOST 100
#define FEATURES_USUAL 10
#define FEATURES_MOST 40 /* of one score a point */
#define SLOTS_MOST (FEATURES_MOST + 1)
#define OUTPUTS_MOST 4
#define SIZE_MOST 44

enum loss { SQUARED, LOGISTIC, HUBER, HINGE, SOFTMAX, LOGCOSH, SQUARED_HINGE, LOSSES };

/* The rest are for classes. */
static inline bool is_for_numbers(enum loss loss)
{
    return loss == SQUARED || loss == HUBER || loss == LOGCOSH;
}

/* A slope that is not smooth. */
static inline bool is_kinked(enum loss loss)
{
    return loss == HUBER || loss == HINGE || loss == SQUARED_HINGE;
}
enum domain { WHOLE, BALL, BOX, SIMPLEX, DOMAINS };

/* x[slot * outputs + output]; slot 0 is the bias or intercept where there is one. */
struct reference {
    enum loss loss;
    enum domain domain;
    quad delta, lambda;
    quad low, high; /* of a box; high: the radius of a ball */
    bool free;      /* slot 0 is neither regularised nor in the domain */
    bool reachable; /* false: a class without weight sends the intercept to infinity */
    size_t count, slots, outputs, size;
    size_t held; /* the first coordinate that is regularised */
    quad row[POINTS_MOST][SLOTS_MOST];
    quad share[POINTS_MOST];   /* weight / sum of the weights; 0 is left out */
    quad target[POINTS_MOST];  /* a number, or -1 and 1 */
    size_t class[POINTS_MOST]; /* softmax */
    quad centre[SLOTS_MOST];   /* what was taken from the rows; 0 for slot 0 */
    bool seen[OUTPUTS_MOST];   /* softmax: the class has weight */
};

/* What is known at a place. */
struct place {
    quad x[SIZE_MOST];
    quad value;
    double value_error;
    double double_error; /* what the same sums in doubles may be off by */
    quad score[POINTS_MOST][OUTPUTS_MOST];
    quad slope[POINTS_MOST][OUTPUTS_MOST];
    quad gradient[SIZE_MOST];
    double gradient_error[SIZE_MOST];    /* of summing, see above */
    quad hessian[SIZE_MOST * SIZE_MOST]; /* the lower triangle */
};

enum look { LOOK_VALUE, LOOK_GRADIENT, LOOK_HESSIAN };

/* Takes the rows' weighted mean from them, if slot 0 is free. */
void reference_centre(struct reference *reference);
/* From the user's coordinates into the centred ones, and back. */
void reference_enter(const struct reference *reference, quad *x);
void reference_leave(const struct reference *reference, quad *x);
/* Fills in place->value, or also the gradient, or also the Hessian, at place->x. */
void reference_look(const struct reference *reference, struct place *place, enum look look);
/* The slope of a loss of one score, at a score. */
quad reference_slope(const struct reference *reference, size_t j, quad score);
/* The largest curvature that a loss has. */
double reference_bend(const struct reference *reference);

/* Into the domain. */
void reference_project(const struct reference *reference, quad *x);
/* With what `threshold` max(x - threshold, 0) sums to 1. */
quad reference_threshold(size_t size, const quad *x);

/* A number that is not above the least value; from the gradient at place. */
quad reference_lower(const struct reference *reference, const struct place *place);

/* The minimiser over the domain of the quadratic that has the place's value, gradient and Hessian. False: none was found. */
bool reference_model(const struct reference *reference, const struct place *place, quad *y);

struct optimum {
    quad x[SIZE_MOST]; /* in the user's coordinates */
    quad upper, lower;
    double upper_error;
    int rounds;
};

/* Newton's method from x (in the user's coordinates) until upper - lower <= enough, or lower >= settled. */
void reference_solve(const struct reference *reference, const quad *x, quad enough, quad settled,
                     struct optimum *optimum);

#endif
