/* The objective of a few points in long double, and its optimum by Newton's method: an independent judge of what a fit claims. */
#ifndef KEEPFIT_TESTS_JUDGE_H
#define KEEPFIT_TESTS_JUDGE_H

#include "support.h"

#define JUDGE_POINTS 120
#define JUDGE_FEATURES 3
#define JUDGE_OUTPUTS 3
#define JUDGE_SIZE (JUDGE_OUTPUTS * (JUDGE_FEATURES + 1))

/* Rows with the 1 of a free intercept in front; all losses but logcosh; delta is 1 unless it is set. */
struct judge {
    const char *loss;
    size_t count, outputs, size;
    long double row[JUDGE_POINTS][JUDGE_FEATURES + 1], target[JUDGE_POINTS], weight[JUDGE_POINTS], total, lambda, delta;
};

/* The cloud's points of these numbers, with column 0 less `centre`. The fit says in which order classes came. */
void judge_summon(struct judge *judge, const char *loss, const struct cloud *cloud, const keepfit_fit *fit,
                  const size_t *present, size_t count, long double centre, double lambda);
/* At x, [slot][output]. */
long double judge_value(const struct judge *judge, const long double *x);
/* The least value, by Newton's steps from x, which is moved there. */
long double judge_least(const struct judge *judge, long double *x);

#endif
