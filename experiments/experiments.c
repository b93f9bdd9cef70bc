/* The table of experiments. */
#include "experiment.h"

#include "complexity.h"
#include "lower_bound.h"
#include "network_study.h"
#include "regime.h"
#include "ridge.h"
#include "theorems.h"

static const struct experiment experiments[] = {
    {"ridge", "Ridge regression on five data sets", "gap and gradients of each method on the paper's five data sets",
     true, ridge_plan, ridge_report},
    {"network", "A network on MNIST", "losses and accuracies of a network, images drawn uniformly or digit by digit",
     true, network_plan, network_report},
    {"lower-bound", "The lower bound", "the adversary of the lower bound against every method", false, lower_bound_plan,
     lower_bound_report},
    {"complexity", "How the work grows", "gradients against accuracy and number of points, with fitted exponents",
     false, complexity_plan, complexity_report},
    {"regime", "Accuracy in proportion to 1/n", "gradients against the number of points where epsilon = c/n", true,
     regime_plan, regime_report},
    {"theorems", "The lemmas, numerically", "the paper's lemmas against what is measured inside the method", false,
     theorems_plan, theorems_report},
};

const struct experiment *experiment_entry(size_t k)
{
    return k < sizeof experiments / sizeof experiments[0] ? &experiments[k] : NULL;
}
