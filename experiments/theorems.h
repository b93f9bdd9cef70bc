/* theorems.h - the lemmas of the paper, numerically, on the instance of instance.h. */
#ifndef KEEPFIT_THEOREMS_H
#define KEEPFIT_THEOREMS_H

#include "experiment.h"

/* One line a stage. x_t is the iterate after t steps of that stage, t the same for all seeds. */
enum theorems_column {
    THEOREMS_STAGE,
    THEOREMS_GAP,      /* of the stage's output */
    THEOREMS_START,    /* |x_{i-1} - x*_i|^2 */
    THEOREMS_BIAS,     /* |E e - grad g_i(x_t)|, e the estimator, E over u by enumeration */
    THEOREMS_VARIANCE, /* E |e - grad g_i(x_t)|^2, by enumeration */
    THEOREMS_PATH,     /* 8 L^2 (|x_t - x*_i|^2 + |x*_i - x_prev|^2), the bound that holds on every path */
    THEOREMS_DISTANCE, /* |x_t - x*_i|^2 */
    THEOREMS_ANCHOR,   /* |x_prev - x*_prev|^2 */
    THEOREMS_FULL,     /* whether full gradients were computed */
    THEOREMS_FO,       /* as this program counts them, since stage 1 */
    THEOREMS_LIBRARY_FO,
    THEOREMS_LIBRARY_GAP,
    THEOREMS_NEXT,  /* the largest |x*_{i+j} - x*_i| over its bound 2jG/(mu(2i+j)), over j = 1, 2, 4, ... */
    THEOREMS_LATER, /* the largest |x_j - x*_i|^2 over its bound, x_j the outputs of stages j = i-1, i-2, i-4, ... */
    THEOREMS_STEP,  /* E g_i(x_{t+1}) - g_i(x*_i) over the bound on one projected step, E over u by enumeration */
    THEOREMS_SHARP, /* the same over the bound with 1/(2(1 - step L)) for 9/16 */
    THEOREMS_WIDTH
};

struct theorems_case {
    const char *name;
    double condition, alpha;
    uint64_t inner;
};

enum { THEOREMS_CASES = 2 };

extern const struct theorems_case theorems_cases[THEOREMS_CASES];

uint64_t theorems_points(const struct setting *setting);
size_t theorems_seeds(const struct setting *setting);

int theorems_plan(struct plan *plan);
void theorems_report(const struct setting *setting, const struct unit *units, struct article *article);

#endif
