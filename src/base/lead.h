/* The lead: a constant that stands in front of a row as it is kept, so that a bias or an intercept is a weight like any other. All
 * rules about it are here: which fits have one, where the features stand then, a row with it and a row without. Journals made by any
 * version hold their rows with it. */
#ifndef KF_LEAD_H
#define KF_LEAD_H

#include "base/options.h"

struct kf_lead {
    bool there;
    double constant; /* 0 where there is none */
};

/* The bias, or the 1 of an intercept or of a network's biases. A user-written objective gets its points as they came. */
struct kf_lead kf_lead_of(const keepfit_options *options, bool user_written);

/* The numbers that a lead takes in front of a row, and the slots that it takes in front of the features': 1 or 0. NULL is no lead, here
 * and wherever a lead is asked for. */
static inline uint32_t kf_lead_width(const struct kf_lead *lead)
{
    return lead && lead->there;
}

/* Where the weight of a feature stands in a model with a lead. */
static inline size_t kf_slot_behind_lead(uint32_t feature)
{
    return (size_t)feature + 1;
}

/* A row as it came, from one that is kept. The new indices go to `index`, which has room for those of the row (and may be NULL where
 * the row has none). */
keepfit_row kf_lead_strip(const struct kf_lead *lead, const keepfit_row *kept, uint32_t *index);

/* How a row is kept: how many entries with the lead, whether without indices, and how many doubles of room. */
struct kf_shape {
    size_t count, room;
    bool dense;
};
struct kf_shape kf_row_shape(const keepfit_row *row, const struct kf_lead *lead);
/* Writes the row, lead first, into `room` doubles; what indices leave of the last one is 0. */
void kf_row_lay(const keepfit_row *row, const struct kf_lead *lead, const struct kf_shape *shape, double *to);

#endif
