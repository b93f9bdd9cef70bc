/* What a column of a table holds, and what it makes of a cell: the types, as the option type names them.
 *
 *   number      the value
 *   boolean     true, yes, t, y, 1: 1; false, no, f, n, 0: 0, in any case
 *   category    a feature for each text that comes up, 1 where the cell holds it
 *   time        ISO 8601 or Unix seconds: hour, weekday and day of the year as points of circles, and an age (moment.h)
 *   text:N      how often each word comes up, and each sequence of up to N words (text: words alone)
 *   cross       of two or more columns, A*B: the products of their features
 *   ignore      nothing
 *
 * Behind it may stand #BITS (category, text, cross: texts are hashed to 2^BITS numbers, and each of these is a feature) and what
 * a missing cell does: ?zero (nothing) or ?skip (the row is passed over); otherwise it has a feature of its own. */
#ifndef KF_KIND_H
#define KF_KIND_H

#include <stdbool.h>
#include <stddef.h>

enum kf_kind { KF_NUMBER, KF_BOOLEAN, KF_CATEGORY, KF_TIME, KF_TEXT, KF_CROSS, KF_IGNORE };
enum kf_missing { KF_MISSING_INDICATOR, KF_MISSING_ZERO, KF_MISSING_SKIP };

#define KF_KINDS_FOR_MESSAGES "number, boolean, category, time, text and ignore"
#define KF_BITS_MOST 30
#define KF_WORDS_MOST 9
#define KF_TYPE_ROOM 32

struct kf_type {
    enum kf_kind kind;
    unsigned words; /* text: of a sequence; otherwise 0 */
    unsigned bits;  /* 0: not hashed */
    enum kf_missing missing;
};

/* False: [text, end) is no type. */
bool kf_type_read(const char *text, const char *end, struct kf_type *type);
/* As kf_type_read takes it. Returns room. */
const char *kf_type_write(struct kf_type type, char room[KF_TYPE_ROOM]);
/* Whether its features are found by texts, which may be hashed. */
bool kf_type_has_keys(enum kf_kind kind);

/* Whether the cell says that there is no value: blank, NA, N/A, NaN, null, None, ? */
bool kf_is_missing(const char *text, const char *end);
bool kf_read_boolean(const char *text, const char *end, double *value);

#endif
