/* Who leaves when one more point comes: as many as a window has too many, those that came too long ago for it, and those whose weight
 * has faded. It depends on who is present and on the newest point alone, so the fit and whoever reads a journal without one agree. */
#ifndef KF_TERMS_H
#define KF_TERMS_H

#include "base/options.h"

/* Half-lives after which a point leaves, at the latest and at the earliest; a point weighs less than 2^-12 of a new one by then. They leave
 * together, when a multiple of the difference is passed: taking out one after the other costs more than going on without them. */
#define KF_HALF_LIVES 16       /* safety: the objective is that of the points that are there */
#define KF_HALF_LIVES_LEAST 12 /* safety: likewise */

/* 0: nobody leaves for that. */
struct kf_terms {
    uint64_t points;
    double seconds;
    uint64_t half_life;
    double half_life_seconds;
};

struct kf_came {
    uint64_t arrival;
    double time;
};

struct kf_terms kf_terms_of(const keepfit_options *options);
/* Whether any point may leave by itself. */
bool kf_terms_end_any(const struct kf_terms *terms);
/* Whether they go by time. */
bool kf_terms_are_timed(const struct kf_terms *terms);
/* Whether the oldest of `present` points leaves the window, the newest being about to come. */
bool kf_terms_end(const struct kf_terms *terms, size_t present, struct kf_came oldest, struct kf_came newest);
/* Whether it leaves since it has faded. */
bool kf_terms_fade(const struct kf_terms *terms, struct kf_came oldest, struct kf_came newest);

#endif
