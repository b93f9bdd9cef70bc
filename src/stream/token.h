/* Numbers as they stand in text files: the quick way for the usual ones, the strict way for the others, and
 * the words for what is no number. */
#ifndef KF_TOKEN_H
#define KF_TOKEN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "keepfit.h"

#define KF_QUOTE_SIZE 176 /* 40 bytes at 4 characters each, dots, NUL */

/* [text, end) made fit for a message: at most 40 bytes of it, what is neither printed ASCII nor UTF-8
 * as \xNN. Returns quote.
 */
char *kf_quote(char quote[KF_QUOTE_SIZE], const char *text, const char *end);

/* Whether it spells nan, inf or infinity, in any case, with or without a sign. */
bool kf_is_not_finite(const char *text, const char *end);

/* The whole of [text, end) as one finite number. */
bool kf_read_whole_real(const char *text, const char *end, double *value);

/* Why it is none, as the end of a sentence: "is not finite (...)". */
const char *kf_blame_real(const char *text, const char *end);

/* digits / 10^places, correctly rounded, for places <= 19 and any digits. */
double kf_divide_by_power(uint64_t digits, unsigned places);

/* The first `c` in [at, end), or end. Eight bytes at a time: one of them is c where its difference from c is 0, and of the lowest that
 * is, the borrow tells for sure. */
static inline const char *kf_find(const char *at, const char *end, char c)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t ones = UINT64_C(0x0101010101010101), all = ones * (unsigned char)c;
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        word ^= all;
        word = (word - ones) & ~word & ones << 7;
        if (word)
            return at + __builtin_ctzll(word) / 8;
    }
#endif
    while (at < end && *at != c)
        at++;
    return at;
}

static inline bool kf_is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

extern const double kf_powers_of_ten[20];

/* Reads [+-]digits[.digits] of at most 19 digits; NULL if that is not what stands there. What follows is the
 * caller's business. Needs a byte that is neither digit nor point at the end of the text. */
static inline const char *kf_quick_real(const char *at, double *value)
{
    bool negative = *at == '-';
    at += negative || *at == '+';
    uint64_t mantissa = 0;
    const char *first = at, *point = NULL;
    while (kf_is_digit(*at))
        mantissa = mantissa * 10 + (uint64_t)(*at++ - '0');
    ptrdiff_t digits = at - first, places = 0;
    if (*at == '.') {
        point = ++at;
        while (kf_is_digit(*at))
            mantissa = mantissa * 10 + (uint64_t)(*at++ - '0');
        places = at - point;
        digits += places;
    }
    if (digits == 0 || digits > 19)
        return NULL;
    double size = (double)mantissa;
    if (places && mantissa <= UINT64_C(1) << 53)
        size /= kf_powers_of_ten[places]; /* both exact as doubles: one division, one rounding */
    else if (places)
        size = kf_divide_by_power(mantissa, (unsigned)places);
    *value = negative ? -size : size;
    return at;
}

#endif
