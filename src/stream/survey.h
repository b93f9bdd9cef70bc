/* What the first rows of a table look like, and the types that this suggests.
 *
 * A column most of whose values are numbers holds numbers, and one that is no number there is an error later: a guess that turned
 * out wrong must not turn a thousand amounts into a thousand categories. */
#ifndef KF_SURVEY_H
#define KF_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/kind.h"

#define KF_SURVEY_LINES 100               /* that are looked at */
#define KF_SURVEY_BYTES ((size_t)1 << 20) /* at most */

struct kf_sight {
    size_t present, numbers, booleans, times, spaced, words, distinct, moments;
    uint64_t seen[KF_SURVEY_LINES]; /* hashes of the distinct ones */
    bool known;                     /* whoever has the cells knows what they are: */
    enum kf_kind kind;
};

void kf_sight_see(struct kf_sight *sight, const char *text, const char *end);
/* Whether all that is there are numbers. */
bool kf_sight_is_numeric(const struct kf_sight *sight);
/* Where no value was there, a category. */
enum kf_kind kf_sight_guess(const struct kf_sight *sight, const char *name);

#endif
