/* The table of experiments. */
#include "experiment.h"

#include "ridge.h"

static const struct experiment experiments[] = {
    {"ridge", "Ridge regression on five data sets", "gap and gradients of each method on the paper's five data sets",
     ridge_plan, ridge_report},
};

const struct experiment *experiment_entry(size_t k)
{
    return k < sizeof experiments / sizeof experiments[0] ? &experiments[k] : NULL;
}
