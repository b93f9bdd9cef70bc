#include "stream/token.h"

#include <assert.h>
#include <stdio.h>

#include "base/error.h"
#include "base/number.h"

#define QUOTED_BYTES 40

/* How many bytes of UTF-8 the character has that begins here, if it is one of more than ASCII that is no control
 * character; otherwise 0. */
static size_t printed_bytes(const char *text, const char *stop)
{
    static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};
    unsigned char first = (unsigned char)*text;
    size_t count = first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : 2;
    uint32_t code = first & (0xffu >> (count + 1));
    if (first < 0xc2 || first >= 0xf8 || (size_t)(stop - text) < count)
        return 0;
    for (size_t k = 1; k < count; k++) {
        unsigned char next = (unsigned char)text[k];
        if ((next & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (next & 0x3f);
    }
    bool good = code >= least[count] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return good ? count : 0;
}

char *kf_quote(char quote[KF_QUOTE_SIZE], const char *text, const char *end)
{
    char *to = quote;
    const char *stop = end - text > QUOTED_BYTES ? text + QUOTED_BYTES : end;
    for (; text < stop; text++) {
        unsigned char c = (unsigned char)*text;
        size_t bytes = printed_bytes(text, stop);
        if (bytes) {
            memcpy(to, text, bytes);
            to += bytes;
            text += bytes - 1;
        } else if (c >= ' ' && c < 0x7f) {
            *to++ = (char)c;
        } else {
            to += snprintf(to, 5, "\\x%02x", c);
        }
    }
    strcpy(to, stop < end ? "..." : "");
    return quote;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool spells(const char *text, const char *end, const char *word)
{
    for (; text < end && *word; text++, word++)
        if (lower(*text) != *word)
            return false;
    return text == end && !*word;
}

bool kf_is_not_finite(const char *text, const char *end)
{
    if (text < end && (*text == '+' || *text == '-'))
        text++;
    return spells(text, end, "nan") || spells(text, end, "inf") || spells(text, end, "infinity");
}

bool kf_read_whole_real(const char *text, const char *end, double *value)
{
    const char *stop;
    return kf_read_real(text, end, value, &stop) == KF_NUMBER_OK && stop == end;
}

const char *kf_blame_real(const char *text, const char *end)
{
    const char *stop;
    double value;
    if (kf_is_not_finite(text, end))
        return "is not finite (" KF_OPTION("on-error=skip") " drops such rows)";
    enum kf_number kind = kf_read_real(text, end, &value, &stop);
    if (kind == KF_NUMBER_HUGE && stop == end)
        return "is too large for a double (" KF_OPTION("on-error=skip") " drops such rows)";
    if (kind == KF_NUMBER_OK && stop < end && *stop == ',')
        return "is not a number (decimals take a point, not a comma)";
    return "is not a number";
}

__extension__ typedef unsigned __int128 wide;

/* Both sides shifted to the full 64 bits, so that the quotient of 128 by 64 bits has at least 62: nine more
 * than a double keeps. A remainder sets the last of them, which makes the one rounding, to double, the right
 * one. */
static double divide_long(uint64_t digits, uint64_t power)
{
    int up = __builtin_clzll(digits), down = __builtin_clzll(power);
    wide dividend = (wide)(digits << up) << 63;
    uint64_t divisor = power << down;
    uint64_t quotient = (uint64_t)(dividend / divisor);
    if ((wide)quotient * divisor != dividend)
        quotient |= 1;
    uint64_t bits = (uint64_t)(1023 + down - up - 63) << 52; /* the power of two, as a double */
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return (double)quotient * scale;
}

const double kf_powers_of_ten[20] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                     1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};

double kf_divide_by_power(uint64_t digits, unsigned places)
{
    static const uint64_t powers[] = {1u,
                                      10u,
                                      100u,
                                      1000u,
                                      10000u,
                                      100000u,
                                      1000000u,
                                      10000000u,
                                      100000000u,
                                      1000000000u,
                                      10000000000u,
                                      100000000000u,
                                      1000000000000u,
                                      10000000000000u,
                                      100000000000000u,
                                      1000000000000000u,
                                      10000000000000000u,
                                      100000000000000000u,
                                      1000000000000000000u,
                                      10000000000000000000u};
    assert(places < sizeof powers / sizeof powers[0]);
    /* both exact as doubles: one division, one rounding */
    if (digits <= UINT64_C(1) << 53)
        return (double)digits / (double)powers[places];
    return divide_long(digits, powers[places]);
}
