#include "stream/kind.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const names[] = {"number", "boolean", "category", "time", "text", "cross", "ignore"};
#define KINDS (sizeof names / sizeof names[0])

/* A whole number of one or two digits at *at, which moves behind it; 0: there is none. */
static unsigned take_number(const char **at, const char *end)
{
    unsigned number = 0, digits = 0;
    while (*at < end && **at >= '0' && **at <= '9' && digits < 2) {
        number = number * 10 + (unsigned)(**at - '0');
        (*at)++;
        digits++;
    }
    return number;
}

static bool take_word(const char **at, const char *end, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(end - *at) < length || memcmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool take_kind(const char **at, const char *end, enum kf_kind *kind)
{
    for (size_t k = 0; k < KINDS; k++)
        if (take_word(at, end, names[k])) {
            *kind = (enum kf_kind)k;
            return true;
        }
    return false;
}

bool kf_type_has_keys(enum kf_kind kind)
{
    return kind == KF_CATEGORY || kind == KF_TEXT || kind == KF_CROSS;
}

bool kf_type_read(const char *text, const char *end, struct kf_type *type)
{
    struct kf_type made = {.kind = KF_NUMBER};
    if (!take_kind(&text, end, &made.kind))
        return false;
    made.words = made.kind == KF_TEXT;
    if (made.kind == KF_TEXT && take_word(&text, end, ":"))
        made.words = take_number(&text, end);
    bool hashed = kf_type_has_keys(made.kind) && take_word(&text, end, "#");
    if (hashed)
        made.bits = take_number(&text, end);
    if (take_word(&text, end, "?zero"))
        made.missing = KF_MISSING_ZERO;
    else if (take_word(&text, end, "?skip"))
        made.missing = KF_MISSING_SKIP;
    if (text != end || (made.kind == KF_TEXT && !made.words) || made.words > KF_WORDS_MOST || (hashed && !made.bits) ||
        made.bits > KF_BITS_MOST)
        return false;
    *type = made;
    return true;
}

const char *kf_type_write(struct kf_type type, char room[KF_TYPE_ROOM])
{
    static const char *const missing[] = {"", "?zero", "?skip"};
    char words[8] = "", bits[8] = "";
    if (type.words > 1)
        snprintf(words, sizeof words, ":%u", type.words % 100);
    if (type.bits)
        snprintf(bits, sizeof bits, "#%u", type.bits % 100);
    snprintf(room, KF_TYPE_ROOM, "%s%s%s%s", names[type.kind], words, bits, missing[type.missing]);
    return room;
}

/* ---- cells ---- */

static bool is_one_of(const char *text, const char *end, const char *const *words, size_t count)
{
    size_t length = (size_t)(end - text);
    for (size_t k = 0; k < count; k++)
        if (strlen(words[k]) == length && strncasecmp(words[k], text, length) == 0)
            return true;
    return false;
}

bool kf_is_missing(const char *text, const char *end)
{
    static const char *const words[] = {"NA", "N/A", "NaN", "null", "None", "?", "<NA>", "#N/A"};
    size_t length = (size_t)(end - text);
    if (length == 0)
        return true;
    /* a quick no for what begins a number or most words */
    if (length > 4 || !(*text == 'N' || *text == 'n' || *text == '?' || *text == '<' || *text == '#'))
        return false;
    return is_one_of(text, end, words, sizeof words / sizeof words[0]);
}

bool kf_read_boolean(const char *text, const char *end, double *value)
{
    size_t length = (size_t)(end - text);
    if ((length == 4 && memcmp(text, "true", 4) == 0) || (length == 5 && memcmp(text, "false", 5) == 0)) {
        *value = length == 4;
        return true;
    }
    static const char *const yes[] = {"true", "yes", "t", "y", "1"}, *const no[] = {"false", "no", "f", "n", "0"};
    if (is_one_of(text, end, yes, sizeof yes / sizeof yes[0]))
        *value = 1;
    else if (is_one_of(text, end, no, sizeof no / sizeof no[0]))
        *value = 0;
    else
        return false;
    return true;
}
