/* complexity.h - how the number of FOs grows with 1/epsilon and with n, against table 1 of the paper. */
#ifndef KEEPFIT_COMPLEXITY_H
#define KEEPFIT_COMPLEXITY_H

#include "experiment.h"

enum growth {
    THEORY_ACCURACY, /* the theorems' own parameters, epsilon smaller and smaller */
    THEORY_POINTS,   /* the same, n larger and larger */
    LEAST_ACCURACY   /* the smallest budget that meets epsilon, epsilon smaller and smaller */
};

enum { COMPLEXITY_VALUES = 5 };

/* One line of a figure: a method, and five values of what grows. */
struct sweep {
    enum growth growth;
    const char *method;
    double exponent;       /* what the paper predicts, logarithms left aside */
    double condition;      /* of the instance */
    uint64_t n;            /* THEORY_POINTS: the smallest */
    double largest, ratio; /* the shares epsilon mu/G^2: the largest, and each over the one before */
    double steps;          /* inner steps of svrg and sarah, times L/mu; 0: none */
};

const struct sweep *sweep_entry(size_t k); /* NULL past the last */
/* The share and the number of points of value v of a sweep. */
double sweep_share(const struct sweep *sweep, size_t v, bool quick);
uint64_t sweep_points(const struct sweep *sweep, size_t v, bool quick);

enum complexity_column {
    COMPLEXITY_EPSILON,
    COMPLEXITY_N,
    COMPLEXITY_FO,
    COMPLEXITY_WORST,
    COMPLEXITY_INNER,
    COMPLEXITY_ALPHA
};

int complexity_plan(struct plan *plan);
void complexity_report(const struct setting *setting, const struct unit *units, struct article *article);

#endif
