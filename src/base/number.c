#define _GNU_SOURCE /* strtod_l, newlocale */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define LARGEST_EXACT_POWER 22
/* No text is so long that its digits could make up for such an exponent. */
#define DECISIVE_EXPONENT 1000000000000
/* The digits that decide how a decimal is rounded to a double; of what follows it only matters whether all are zeros. */
#define DECISIVE_DIGITS 768

/* What a scan of the digits found: the number is mantissa * 10^exponent when exact. */
struct scan {
    const char *stop;
    uint64_t mantissa;
    long exponent;
    long written_exponent; /* what follows the e */
    int digits;            /* significant ones */
    int any;               /* at least one digit seen */
};

static void take_digit(struct scan *scan, char c)
{
    scan->any = 1;
    if (scan->digits < 19) {
        scan->mantissa = scan->mantissa * 10 + (uint64_t)(c - '0');
        scan->digits += scan->mantissa != 0;
    } else {
        scan->digits = 20; /* more than the mantissa holds: not exact */
    }
}

static const char *scan_exponent(struct scan *scan, const char *at, const char *end)
{
    const char *p = at + 1;
    int negative = 0;
    if (p < end && (*p == '+' || *p == '-'))
        negative = *p++ == '-';
    if (p == end || !is_digit(*p))
        return at; /* an 'e' that begins something else */
    long exponent = 0;
    for (; p < end && is_digit(*p); p++)
        if (exponent < DECISIVE_EXPONENT)
            exponent = exponent * 10 + (*p - '0');
    scan->written_exponent = negative ? -exponent : exponent;
    scan->exponent += scan->written_exponent;
    return p;
}

static void scan_decimal(struct scan *scan, const char *p, const char *end)
{
    for (; p < end && is_digit(*p); p++)
        take_digit(scan, *p);
    if (p < end && *p == '.') {
        const char *point = p++;
        for (; p < end && is_digit(*p); p++) {
            take_digit(scan, *p);
            scan->exponent--;
        }
        if (!scan->any)
            p = point;
    }
    if (scan->any && p < end && (*p == 'e' || *p == 'E'))
        p = scan_exponent(scan, p, end);
    scan->stop = p;
}

/* The digits that count as one whole number, and the power of ten that it is to be multiplied by. */
static char *gather_digits(const struct scan *scan, const char *text, char digits[DECISIVE_DIGITS + 2], long *exponent)
{
    char *to = digits;
    int behind_point = 0, more = 0;
    *exponent = scan->written_exponent;
    for (; text < scan->stop && (is_digit(*text) || *text == '.'); text++) {
        if (*text == '.') {
            behind_point = 1;
        } else if (to - digits < DECISIVE_DIGITS) {
            *exponent -= behind_point;
            if (to > digits || *text != '0')
                *to++ = *text;
        } else {
            *exponent += !behind_point;
            more |= *text != '0';
        }
    }
    if (more) {
        *to++ = '1';
        --*exponent;
    }
    return to;
}

/* The correctly rounded value of what was scanned from text, however long it is. */
static double convert_slowly(const struct scan *scan, const char *text)
{
    char plain[DECISIVE_DIGITS + 32];
    long exponent;
    char *end = gather_digits(scan, text, plain, &exponent);
    if (end == plain)
        return 0;
    if (exponent > 400 || exponent < -2 * DECISIVE_DIGITS)
        exponent = exponent > 0 ? 400 : -2 * DECISIVE_DIGITS;
    snprintf(end, sizeof plain - (size_t)(end - plain), "e%ld", exponent);
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = c ? strtod_l(plain, NULL, c) : NAN;
    if (c)
        freelocale(c);
    return value;
}

enum kf_number kf_read_real(const char *text, const char *end, double *value, const char **stop)
{
    const char *p = text;
    int negative = 0;
    if (p < end && (*p == '+' || *p == '-'))
        negative = *p++ == '-';
    struct scan scan = {0};
    scan_decimal(&scan, p, end);
    if (!scan.any) {
        *stop = text;
        return KF_NUMBER_NONE;
    }
    *stop = scan.stop;
    double size;
    if (scan.mantissa <= (UINT64_C(1) << 53) && scan.digits <= 19 && scan.exponent <= LARGEST_EXACT_POWER &&
        scan.exponent >= -LARGEST_EXACT_POWER)
        size = scan.exponent < 0 ? (double)scan.mantissa / exact_powers[-scan.exponent]
                                 : (double)scan.mantissa * exact_powers[scan.exponent];
    else
        size = convert_slowly(&scan, p);
    if (!isfinite(size))
        return KF_NUMBER_HUGE;
    *value = negative ? -size : size;
    return KF_NUMBER_OK;
}

enum kf_number kf_read_count(const char *text, const char *end, uint64_t *value, const char **stop)
{
    const char *p = text;
    uint64_t number = 0;
    int overflow = 0;
    for (; p < end && is_digit(*p); p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (number > (UINT64_MAX - digit) / 10)
            overflow = 1;
        else
            number = number * 10 + digit;
    }
    *stop = p;
    if (p == text)
        return KF_NUMBER_NONE;
    if (overflow)
        return KF_NUMBER_HUGE;
    *value = number;
    return KF_NUMBER_OK;
}

char *kf_write_real(char text[32], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        const char *stop;
        double back;
        snprintf(text, 32, "%.*g", digits, value);
        for (char *p = text; *p; p++)
            if (*p == ',')
                *p = '.'; /* whatever the locale prints */
        if (kf_read_real(text, text + strlen(text), &back, &stop) == KF_NUMBER_OK && back == value)
            break;
    }
    return text;
}
