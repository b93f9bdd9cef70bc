/* Columns that lie far from 0 beside how they vary, as Unix times do, next to a free intercept. [1, column] is then singular in floating
 * point, and nothing can be proved of a model of it. But with z = w.a + b,
 *
 *   z = w.(a - c) + b',     b' = b + w.c
 *
 * is the same z, and neither the regulariser nor the domain sees b. So the history keeps rows a - c (history/centres.h), the
 * iterate is (b', w), and at the fit's boundary rows and x are what they were: the points' bits, and b = b' - w.c rounded once, whose
 * rounding the bound takes in. docs/guarantee.md, Theorem 15 (columns far from 0), derives when a
 * column is centred, and what it costs.
 *
 * When to look follows from the numbers of arrivals and departures and from the points, so a fit that is stored and read again looks at
 * the same stages. */
#ifndef KF_CENTRE_H
#define KF_CENTRE_H

#include "fit/fit.h"

/* Row as the history keeps it. Columns in which it cannot be centred without loss are kept as they come from now on, until a look finds
 * them far from 0 again, when that row has left. False: out of memory. */
bool kf_centre_row(keepfit_fit *fit, const keepfit_row *row, struct kf_centred_row *centred);
/* Point j is about to leave. If it was what kept a column from being far, it is time to look. */
void kf_centre_leaves(keepfit_fit *fit, size_t j);
/* A point has come, or so many have left: centres the columns that need it, if it is time to look. False: out of memory. */
bool kf_centre_arrived(keepfit_fit *fit);
bool kf_centre_removed(keepfit_fit *fit, uint64_t count);

/* Point j's row as it came; valid until the next call that may change the fit, or the next row. False: out of memory. */
bool kf_centre_read_row(keepfit_fit *fit, size_t j, keepfit_row *row);
/* x with the intercepts that belong to rows as they came; problem->x is up to date. */
const double *kf_centre_read_x(keepfit_fit *fit);
/* A bound on the gap of that one, from a bound of problem->x. */
double kf_centre_bound(keepfit_fit *fit, double bound);

/* --standardise (scales.c): scales for the points that are there, into `next`, which has none; *changes is set where they are others than
 * those in force. False: out of memory. */
bool kf_scales_find(keepfit_fit *fit, struct kf_centres *next, bool *changes);
bool kf_scales_copy(struct kf_centres *next, const struct kf_centres *from);
void kf_scales_archive(const keepfit_fit *fit, struct kf_archive *archive, struct kf_centres *next, size_t most);
/* What a column's unit cannot be beside. */
keepfit_status kf_scales_check(const keepfit_options *options, bool own_objective, keepfit_error *error);

/* Where there are centres; reading, the points are there, as they came. */
void kf_centre_archive(keepfit_fit *fit, struct kf_archive *archive);

#endif
