#include "stream/survey.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "stream/dictionary.h"
#include "stream/moment.h"
#include "stream/token.h"

#define NAMES_LEAST 20   /* values that all differ are taken for names of rows only if there are so many */
#define MOMENT_LEAST 5e8 /* Unix seconds: 1985 to 2128 */
#define MOMENT_MOST 5e9

static void note_distinct(struct kf_sight *sight, const char *text, const char *end)
{
    uint64_t hash = kf_dictionary_hash(0, text, (size_t)(end - text));
    for (size_t k = 0; k < sight->distinct; k++)
        if (sight->seen[k] == hash)
            return;
    if (sight->distinct < KF_SURVEY_LINES)
        sight->seen[sight->distinct++] = hash;
}

/* A number, or one gone wrong (1e999; 1,5; inf), which is to be an error, not a category. */
static bool is_meant_as_number(const char *text, const char *end)
{
    const char *stop;
    double value;
    if (kf_is_not_finite(text, end))
        return true;
    enum kf_number kind = kf_read_real(text, end, &value, &stop);
    return kind != KF_NUMBER_NONE && (stop == end || *stop == ',');
}

void kf_sight_see(struct kf_sight *sight, const char *text, const char *end)
{
    double value;
    if (kf_is_missing(text, end))
        return;
    bool whole = kf_read_whole_real(text, end, &value);
    size_t words = 1;
    for (const char *at = text; at < end; at++)
        words += *at == ' ' || *at == '\n';
    sight->present++;
    sight->numbers += whole || is_meant_as_number(text, end);
    sight->moments += whole && value == rint(value) && value >= MOMENT_LEAST && value < MOMENT_MOST;
    sight->times += kf_read_iso(text, end, &value);
    sight->booleans += kf_read_boolean(text, end, &value);
    sight->spaced += words > 1;
    sight->words += words;
    note_distinct(sight, text, end);
}

bool kf_sight_is_numeric(const struct kf_sight *sight)
{
    return sight->known ? sight->kind == KF_NUMBER : 2 * sight->numbers >= sight->present;
}

static bool is_called_time(const char *name)
{
    static const char *const names[] = {"ts", "time", "timestamp", "date", "datetime", "unixtime", "epoch"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (strcasecmp(names[k], name) == 0)
            return true;
    return false;
}

enum kf_kind kf_sight_guess(const struct kf_sight *sight, const char *name)
{
    size_t present = sight->present;
    bool various = 2 * sight->distinct > present;
    if (sight->known)
        return sight->kind;
    if (present == 0)
        return KF_CATEGORY;
    if (sight->moments == present && is_called_time(name))
        return KF_TIME;
    if (kf_sight_is_numeric(sight))
        return KF_NUMBER;
    if (sight->times == present)
        return KF_TIME;
    if (sight->booleans == present)
        return KF_BOOLEAN;
    if (2 * sight->spaced > present && (various || sight->words >= 3 * present))
        return KF_TEXT;
    if (sight->distinct == present && present >= NAMES_LEAST)
        return KF_IGNORE;
    return KF_CATEGORY;
}
