/* instance.h - a stream on which the theory can be afforded: two coordinates, condition number of our choice, constants known
 * exactly, and an optimum that never comes to rest.
 *
 *     f_j(x) = (a_j.x - b_j)^2 + |x|^2/2   in the unit ball,   |a_j|^2 = (condition - 1)/2,   b_j = 1 or -1
 *
 * so mu = 1, L = condition, and G = 2|a|(|a| + 1) + 1 bounds every gradient in the ball. a_j points within 60 degrees of the first
 * axis, drawn at random; b_j changes its sign where j passes a power of 2. So the optimum is always on its way to the other
 * side, at the speed of about G/(mu j) a stage that the theory allows for, and never leaves the ball. */
#ifndef KEEPFIT_INSTANCE_H
#define KEEPFIT_INSTANCE_H

#include "experiment.h"
#include "keepfit.h"

#define INSTANCE_LAMBDA 0.5
#define INSTANCE_DIAMETER 2.0

struct instance {
    double convexity, smoothness, lipschitz; /* mu, L, G */
    double length;                           /* |a| */
};

struct instance instance_make(double condition);

/* The theory's own measure of accuracy: epsilon = share * G^2/mu. */
double instance_epsilon(const struct instance *instance, double share);

/* Point j (from 1) of the seed's stream; row takes its two numbers. */
keepfit_point instance_point(const struct instance *instance, uint64_t j, uint64_t seed, double row[2]);

/* One method on n points. */
struct instance_run {
    const struct instance *instance;
    uint64_t n;
    const char *options; /* of the method; problem and constants are added */
    uint64_t seed, seeds;
    uint64_t settled; /* stages before this one are not judged */
    double from, to;  /* the unit's share done before and after, for its progress */
    double enough;    /* the run may end as soon as the mean gap of a judged stage must exceed this */
};

struct instance_result {
    double fo;    /* mean over the seeds */
    double worst; /* largest mean gap over the judged stages; infinite when the run ended early */
};

/* The run's options with the problem and its constants. */
void instance_options(const struct instance_run *run, char *text, size_t room);

/* Returns an exit code. */
int instance_measure(struct unit *unit, const struct instance_run *run, struct instance_result *result);

#endif
