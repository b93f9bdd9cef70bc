/* runs.h - what experiments share: fits from a line of options, which stages are recorded, curves over several seeds. */
#ifndef KEEPFIT_RUNS_H
#define KEEPFIT_RUNS_H

#include "experiment.h"
#include "keepfit.h"
#include "toolkit/plot.h"

/* options: "loss=squared lambda=1e-3 ...", in the order in which they are set. The seed is added, and one thread: the units
 * have the others. Returns an exit code. */
int options_start(const char *options, uint64_t seed, keepfit_options **made);
int fit_start(const char *options, uint64_t seed, keepfit_fit **fit);

/* A failure of the fit as an exit code, with its message and the unit's name. */
int fit_failed(const struct unit *unit, const keepfit_fit *fit);

/* Whether the stage is one of those recorded of n: the first few, then one in twenty, always n/2 and n. */
bool stage_is_recorded(uint64_t stage, uint64_t n);

/* A column over several seeds: the mean, and the band that the seeds span. */
struct curve {
    size_t count;
    double *x, *mean, *low, *high;
};

/* units: those of the seeds, one after the other, with the same stages. A seed that ended early counts
 * as far as it went. */
struct curve curve_of(const struct unit *units, size_t seeds, size_t x_column, size_t y_column);
void curve_free(struct curve *curve);
struct plot_series curve_series(const struct curve *curve, const char *name);

#endif
