/* lower_bound.h - the adversary of the paper's theorem 5 (thm:lowerbound) against every method. */
#ifndef KEEPFIT_LOWER_BOUND_H
#define KEEPFIT_LOWER_BOUND_H

#include "experiment.h"

int lower_bound_plan(struct plan *plan);
void lower_bound_report(const struct setting *setting, const struct unit *units, struct article *article);

#endif
