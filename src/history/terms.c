#include "history/terms.h"

#include <math.h>

#define TOGETHER (KF_HALF_LIVES - KF_HALF_LIVES_LEAST)

struct kf_terms kf_terms_of(const keepfit_options *options)
{
    return (struct kf_terms){.points = options->window,
                             .seconds = options->window_seconds,
                             .half_life = options->half_life,
                             .half_life_seconds = options->half_life_seconds};
}

bool kf_terms_are_timed(const struct kf_terms *terms)
{
    return terms->seconds > 0 || terms->half_life_seconds > 0;
}

bool kf_terms_end_any(const struct kf_terms *terms)
{
    return terms->points || terms->half_life || kf_terms_are_timed(terms);
}

bool kf_terms_end(const struct kf_terms *terms, size_t present, struct kf_came oldest, struct kf_came newest)
{
    return (terms->points && present >= terms->points) ||
           (terms->seconds > 0 && newest.time - oldest.time >= terms->seconds);
}

bool kf_terms_fade(const struct kf_terms *terms, struct kf_came oldest, struct kf_came newest)
{
    uint64_t each = terms->half_life;
    if (each)
        return oldest.arrival + KF_HALF_LIVES_LEAST * each < newest.arrival - newest.arrival % (TOGETHER * each);
    if (!(terms->half_life_seconds > 0))
        return false;
    double periods = floor(newest.time / (TOGETHER * terms->half_life_seconds));
    return oldest.time < (periods * TOGETHER - KF_HALF_LIVES_LEAST) * terms->half_life_seconds;
}
