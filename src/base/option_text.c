#include "base/option_text.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/span.h"

/* The place of `value` within "a|b|c", or -1. A choice "d:N" is met by "d:" and anything, which *number is set to. */
static int choice_index(const char *choices, const char *value, const char **number)
{
    size_t length = strlen(value);
    int place = 0;
    for (const char *at = choices;; at++, place++) {
        size_t span = strcspn(at, "|"), name = strcspn(at, ":|");
        if (name < span && strncmp(at, value, name + 1) == 0) {
            *number = value + name + 1;
            return place;
        }
        if (span == length && strncmp(at, value, span) == 0)
            return place;
        at += span;
        if (!*at)
            return -1;
    }
}

keepfit_status kf_option_refuse(const struct kf_option_row *row, const char *value, keepfit_error *error)
{
    const char *key = row->shown.key;
    char least[32], most[32];
    keepfit_guess guess = {.word = value};
    if (row->shown.choices)
        keepfit_guess_offer(&guess, row->shown.choices);
    switch (row->shown.type) {
    case KEEPFIT_CHOICE:
        if (row->number)
            return kf_fail(error, KEEPFIT_USAGE,
                           "{%s}: '%s' is none of %s (after the colon a whole number from %.0f to %.0f)%s", key, value,
                           row->shown.choices, row->shown.least, row->shown.most, keepfit_guess_hint(&guess, ""));
        return kf_fail(error, KEEPFIT_USAGE, "{%s}: '%s' is none of %s%s", key, value, row->shown.choices,
                       keepfit_guess_hint(&guess, ""));
    case KEEPFIT_FLAG:
        return kf_fail(error, KEEPFIT_USAGE, "{%s}: '%s' is neither true nor false", key, value);
    case KEEPFIT_COUNT:
        return kf_fail(error, KEEPFIT_USAGE, "{%s}: '%s' is not a whole number from %.0f to %.0f%s", key, value,
                       row->shown.least, row->shown.most,
                       row->number ? ", nor a span of time such as 30d, 12h, 90m or 45s" : "");
    default:
        return kf_fail(error, KEEPFIT_USAGE, "{%s}: '%s' is not a number %s %s and at most %s", key, value,
                       row->shown.above ? "above" : "of at least", kf_write_real(least, row->shown.least),
                       kf_write_real(most, row->shown.most));
    }
}

/* NaN is in no bounds. */
bool kf_option_holds(const struct kf_option_row *row, double value)
{
    return value >= row->shown.least && value <= row->shown.most && !(row->shown.above && value == row->shown.least);
}

bool kf_option_read_real(const struct kf_option_row *row, const char *value, double *field)
{
    const char *end = value + strlen(value), *stop;
    double number;
    if (kf_read_real(value, end, &number, &stop) != KF_NUMBER_OK || stop != end || !kf_option_holds(row, number))
        return false;
    *field = number;
    return true;
}

static bool read_whole(const struct kf_option_row *row, const char *value, uint64_t *field)
{
    const char *end = value + strlen(value), *stop;
    uint64_t number;
    if (kf_read_count(value, end, &number, &stop) != KF_NUMBER_OK || stop != end ||
        !kf_option_holds(row, (double)number))
        return false;
    *field = number;
    return true;
}

/* Where the seconds go; NULL: it is a whole number alone. */
double *kf_option_span(keepfit_options *options, const struct kf_option_row *row)
{
    return row->number ? (double *)((char *)options + row->number) : NULL;
}

bool kf_option_read_count(keepfit_options *options, const struct kf_option_row *row, const char *value)
{
    double *seconds = kf_option_span(options, row), unused = 0;
    uint64_t *count = kf_option_field(options, row);
    if (!seconds)
        return read_whole(row, value, count);
    bool counted = read_whole(row, value, count);
    if (!counted && !kf_span_read(value, &unused))
        return false;
    *seconds = counted ? 0 : unused;
    *count = counted ? *count : 0;
    return true;
}

bool kf_option_read_choice(keepfit_options *options, const struct kf_option_row *row, const char *value)
{
    const char *text = NULL;
    uint64_t number = 0;
    int place = choice_index(row->shown.choices, value, &text);
    if (place < 0 || (text && !read_whole(row, text, &number)))
        return false;
    *(int *)kf_option_field(options, row) = place;
    if (row->number)
        *(uint64_t *)((char *)options + row->number) = number;
    return true;
}

bool kf_option_read_flag(const char *value, bool *field)
{
    *field = strcmp(value, "true") == 0;
    return *field || strcmp(value, "false") == 0;
}

void kf_option_write_choice(char text[KF_OPTION_TEXT], const struct kf_option_row *row, int place, uint64_t number)
{
    const char *at = row->shown.choices;
    for (; place > 0; place--)
        at = strchr(at, '|') + 1;
    size_t span = strcspn(at, "|"), name = strcspn(at, ":|");
    if (name == span)
        snprintf(text, KF_OPTION_TEXT, "%.*s", (int)span, at);
    else
        snprintf(text, KF_OPTION_TEXT, "%.*s:%llu", (int)name, at, (unsigned long long)number);
}
