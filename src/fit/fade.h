/* Half-lives. The weight of the i-th point is to be w 2^(-(n - i)/N) once n have come. What is kept is w 2^(i/N - base), which is that times
 * a power of two that is the same for all: the mean does not see it, so no weight changes from stage to stage, and a new point is one
 * of a larger weight. Every so many half-lives `base` is moved up, all weights are multiplied by one power of two, exactly, and what
 * was made of them is made anew (docs/guarantee.md, Theorem 29).
 *
 * What is kept follows from w, when the point came, and base, so a fit that is stored and read again has the same bits. */
#ifndef KF_FADE_H
#define KF_FADE_H

#include "fit/fit.h"

/* What a half-life cannot be beside. */
keepfit_status kf_fade_check(const keepfit_options *options, bool own_objective, bool holds, keepfit_error *error);
/* Whether the fit goes by when points came: each needs its time. */
bool kf_fit_is_timed(const keepfit_fit *fit);
/* The point can be taken after the one of time `latest`. */
keepfit_status kf_fade_suits(const keepfit_fit *fit, const struct kf_mark *mark, double weight, double latest,
                             keepfit_error *error);

/* The next point is about to come: those whose terms end leave, and weights are multiplied where it is time. False: out of memory. */
bool kf_fade_begin(keepfit_fit *fit, const struct kf_mark *mark);
/* What is kept of the weight of a point that comes so. */
double kf_fade_weight(const keepfit_fit *fit, double weight, uint64_t arrival, double time);
/* The newest point has come with this weight. False: out of memory. */
bool kf_fade_keep(keepfit_fit *fit, const struct kf_mark *mark, double weight);
/* Point j leaves. */
void kf_fade_drop(keepfit_fit *fit, size_t j);
/* The weight and the time that point j came with. */
double kf_fade_given(const keepfit_fit *fit, size_t j);
double kf_fade_time(const keepfit_fit *fit, size_t j);
/* The largest that what is kept of this weight may be, ever. */
double kf_fade_most(const keepfit_fit *fit, double weight);

/* Reading: the points are there with the weights and, where they are not inside, the times that they came with. */
void kf_fade_archive(keepfit_fit *fit, struct kf_archive *archive, bool inside);

#endif
