/* Values of options as texts, by what a row of the table says of them. */
#ifndef KF_OPTION_TEXT_H
#define KF_OPTION_TEXT_H

#include "base/options.h"

struct kf_option_row {
    keepfit_option shown;
    size_t offset;
    /* CHOICE: where the number after the colon goes; 0 where no choice has one. COUNT: where the seconds go, if it may be a span of
     * time; otherwise 0. */
    size_t number;
};

static inline void *kf_option_field(keepfit_options *options, const struct kf_option_row *row)
{
    return (char *)options + row->offset;
}

/* COUNT: where the seconds go; NULL: it is a whole number alone. */
double *kf_option_span(keepfit_options *options, const struct kf_option_row *row);

/* Says what the value should have been. */
keepfit_status kf_option_refuse(const struct kf_option_row *row, const char *value, keepfit_error *error);
/* Whether the number is within the bounds; NaN is in none. */
bool kf_option_holds(const struct kf_option_row *row, double value);

/* False: the text is no such value. */
bool kf_option_read_real(const struct kf_option_row *row, const char *value, double *field);
bool kf_option_read_count(keepfit_options *options, const struct kf_option_row *row, const char *value);
bool kf_option_read_choice(keepfit_options *options, const struct kf_option_row *row, const char *value);
bool kf_option_read_flag(const char *value, bool *field);

/* Choice number `place`; `number`: what stands behind its colon. */
void kf_option_write_choice(char text[KF_OPTION_TEXT], const struct kf_option_row *row, int place, uint64_t number);

#endif
