/* regime.h - FOs against n where epsilon = c/n. */
#ifndef KEEPFIT_EXPERIMENTS_REGIME_H
#define KEEPFIT_EXPERIMENTS_REGIME_H

#include "experiment.h"

enum { REGIME_VALUES = 5 };
enum regime_stream { MOVING, NEAR_ONE, SETTLING, REAL, REGIME_STREAMS };
/* What is sought: T and alpha, T, the number of epochs; or nothing, because the method sets its work by itself. */
enum regime_budget { SPARSE, STEPS, EPOCHS, BY_ITSELF };
enum regime_column { REGIME_N, REGIME_EPSILON, REGIME_FO, REGIME_WORST, REGIME_INNER, REGIME_ALPHA };

/* One line of a figure. */
struct regime_sweep {
    enum regime_stream stream;
    const char *name, *options;
    enum regime_budget budget;
    double exponent; /* what the paper predicts for n, logarithms left aside; 1 for our own */
    uint64_t last;   /* the largest n; the smallest is 100 */
};

const struct regime_sweep *regime_entry(size_t k); /* NULL past the last */
uint64_t regime_points(const struct regime_sweep *sweep, size_t v, bool quick);

int regime_plan(struct plan *plan);
void regime_report(const struct setting *setting, const struct unit *units, struct article *article);

#endif
