/* least.h - the smallest budget with which a method meets epsilon.
 *
 * A budget is T, the inner steps a stage (for methods in epochs: their number), and for sparse methods alpha, which says how
 * rarely the rest of the work is done. For each alpha of a first, half of it, a quarter ... the smallest T is sought, by doubling
 * and then bisection to a tenth, such that the mean gap over the seeds is at most epsilon at every judged stage; of these the
 * cheapest counts. The search over alpha ends when two in a row were dearer. */
#ifndef KEEPFIT_EXPERIMENTS_LEAST_H
#define KEEPFIT_EXPERIMENTS_LEAST_H

#include "experiment.h"

struct budget {
    double inner, alpha, fo, worst; /* fo is infinite when there is none; alpha NaN where the method has none */
};

struct search {
    struct unit *unit;
    void *context;
    double epsilon;
    double first_alpha; /* NaN: the method has none */
    double steps_most;  /* T beyond this is not tried */
    /* Fills the budget's fo and worst, the largest mean gap; that may be infinite as soon as it must exceed epsilon. Returns
     * an exit code. */
    int (*measure)(struct search *search, struct budget *budget);
    int code;
};

struct budget least_budget(struct search *search);

#endif
