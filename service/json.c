#define _GNU_SOURCE /* strtod_l */
#include "service/json.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_begin(struct json *json, const char *bytes, size_t count)
{
    struct text room = json->string; /* used again */
    *json = (struct json){.begin = bytes, .at = bytes, .end = bytes + count, .string = room};
}

void json_free(struct json *json)
{
    text_free(&json->string);
}

bool json_wrong(struct json *json, const char *at, const char *format, ...)
{
    va_list list;
    if (json->wrong[0])
        return false;
    va_start(list, format);
    vsnprintf(json->wrong, sizeof json->wrong, format, list);
    va_end(list);
    json->wrong_at = at;
    return false;
}

static void skip_blanks(struct json *json)
{
    while (json->at < json->end && (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r'))
        json->at++;
}

/* What stands there, for messages. */
static bool refuse(struct json *json, const char *wanted)
{
    if (json->at >= json->end)
        return json_wrong(json, json->end, "expected %s, but the text ends", wanted);
    unsigned char sign = (unsigned char)*json->at;
    if (sign > 0x20 && sign < 0x7f)
        return json_wrong(json, json->at, "expected %s, found '%c'", wanted, sign);
    return json_wrong(json, json->at, "expected %s, found the byte 0x%02x", wanted, sign);
}

static bool is_digit(const struct json *json)
{
    return json->at < json->end && *json->at >= '0' && *json->at <= '9';
}

char json_next(struct json *json)
{
    skip_blanks(json);
    if (json->wrong[0] || json->at >= json->end) {
        refuse(json, "a value");
        return 0;
    }
    char sign = *json->at;
    if (sign == '-' || is_digit(json))
        return '0';
    if (strchr("{[\"tfn", sign) && sign)
        return sign;
    refuse(json, "a value");
    return 0;
}

bool json_open(struct json *json, char bracket)
{
    skip_blanks(json);
    if (json->wrong[0])
        return false;
    if (json->at >= json->end || *json->at != bracket)
        return refuse(json, bracket == '{' ? "an object" : "an array");
    if (json->depth == JSON_DEPTH_MOST)
        return json_wrong(json, json->at, "objects and arrays lie more than %d deep", JSON_DEPTH_MOST);
    json->at++;
    json->first[++json->depth] = true;
    return true;
}

static bool next_in(struct json *json, char closing)
{
    skip_blanks(json);
    if (json->wrong[0])
        return false;
    bool first = json->first[json->depth];
    json->first[json->depth] = false;
    if (json->at < json->end && *json->at == closing) {
        json->at++;
        json->depth--;
        return false;
    }
    if (first)
        return true;
    if (json->at >= json->end || *json->at != ',')
        return refuse(json, closing == ']' ? "',' or ']'" : "',' or '}'");
    json->at++;
    return true;
}

bool json_element(struct json *json)
{
    return next_in(json, ']');
}

bool json_member(struct json *json)
{
    if (!next_in(json, '}'))
        return false;
    skip_blanks(json);
    if (json->at >= json->end || *json->at != '"')
        return refuse(json, "a name in quotes");
    if (!json_string(json))
        return false;
    skip_blanks(json);
    if (json->at >= json->end || *json->at != ':')
        return refuse(json, "':'");
    json->at++;
    return true;
}

bool json_name_is(const struct json *json, const char *name)
{
    return json->string.count == strlen(name) && memcmp(json->string.at, name, json->string.count) == 0;
}

static locale_t plain_locale;
static pthread_once_t locale_once = PTHREAD_ONCE_INIT;

static void make_locale(void)
{
    plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* What the fast way below does not read: up to `end`, which no digit follows. */
static double read_slowly(const char *begin, const char *end)
{
    char room[64], *copy = room;
    size_t length = (size_t)(end - begin);
    pthread_once(&locale_once, make_locale);
    if (length >= sizeof room && !(copy = malloc(length + 1)))
        return NAN;
    memcpy(copy, begin, length);
    copy[length] = '\0';
    double number = plain_locale ? strtod_l(copy, NULL, plain_locale) : NAN;
    if (copy != room)
        free(copy);
    return number;
}

struct digits {
    uint64_t number;
    int count, power;
};

static void take_digits(struct json *json, struct digits *digits, bool fraction)
{
    for (; is_digit(json); json->at++) {
        if (digits->count < 19)
            digits->number = 10 * digits->number + (uint64_t)(*json->at - '0');
        digits->count += digits->count > 0 || *json->at != '0';
        digits->power -= fraction;
    }
}

static bool take_exponent(struct json *json, struct digits *digits)
{
    json->at++;
    bool down = json->at < json->end && *json->at == '-';
    json->at += json->at < json->end && (*json->at == '-' || *json->at == '+');
    int power = 0;
    if (!is_digit(json))
        return refuse(json, "a digit");
    for (; is_digit(json); json->at++)
        power = power < 100000 ? 10 * power + (*json->at - '0') : power;
    digits->power += down ? -power : power;
    return true;
}

bool json_real(struct json *json, double *number)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    skip_blanks(json);
    const char *begin = json->at;
    if (json->wrong[0])
        return false;
    bool negative = json->at < json->end && *json->at == '-';
    json->at += negative;
    if (!is_digit(json))
        return refuse(json, "a number");
    struct digits digits = {0};
    bool zero = *json->at == '0';
    if (zero)
        json->at++;
    else
        take_digits(json, &digits, false);
    if (zero && is_digit(json))
        return json_wrong(json, begin, "a number begins with 0");
    if (json->at < json->end && *json->at == '.') {
        json->at++;
        if (!is_digit(json))
            return refuse(json, "a digit");
        take_digits(json, &digits, true);
    }
    if (json->at < json->end && (*json->at == 'e' || *json->at == 'E') && !take_exponent(json, &digits))
        return false;
    /* Both factors are exact, so the product or quotient is rounded once. */
    if (digits.count <= 19 && digits.number < (uint64_t)1 << 53 && abs(digits.power) <= 22) {
        double value = (double)digits.number;
        value = digits.power < 0 ? value / tens[-digits.power] : value * tens[digits.power];
        *number = negative ? -value : value;
        return true;
    }
    *number = read_slowly(begin, json->at);
    return isfinite(*number) || json_wrong(json, begin, "the number is too large");
}

/* Four digits behind \u. */
static bool take_code(struct json *json, unsigned *code)
{
    *code = 0;
    for (int k = 0; k < 4; k++, json->at++) {
        char c = json->at < json->end ? *json->at : 0;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return refuse(json, "four hexadecimal digits");
        *code = *code << 4 | (unsigned)digit;
    }
    return true;
}

static void add_character(struct text *text, unsigned code)
{
    unsigned char bytes[4];
    size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t k = count; k-- > 1; code >>= 6)
        bytes[k] = (unsigned char)(0x80 | (code & 0x3f));
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (unsigned char)(lead[count] | code);
    text_add(text, bytes, count);
}

static bool take_escape(struct json *json)
{
    static const char signs[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *begin = json->at++;
    unsigned code, low;
    if (json->at >= json->end)
        return refuse(json, "the end of the string");
    const char *which = *json->at ? strchr(signs, *json->at) : NULL;
    if (which) {
        json->at++;
        text_add(&json->string, meant + (which - signs), 1);
        return true;
    }
    if (*json->at != 'u')
        return json_wrong(json, begin, "there is no such escape");
    json->at++;
    if (!take_code(json, &code))
        return false;
    if (code >> 10 == 0x36) { /* the first half of a pair */
        if (json->end - json->at < 2 || json->at[0] != '\\' || json->at[1] != 'u')
            return json_wrong(json, begin, "half of a surrogate pair stands alone");
        json->at += 2;
        if (!take_code(json, &low))
            return false;
        if (low >> 10 != 0x37)
            return json_wrong(json, begin, "half of a surrogate pair stands alone");
        code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
    } else if (code >> 10 == 0x37 || code == 0) {
        return json_wrong(json, begin, code ? "half of a surrogate pair stands alone" : "a character 0 in a string");
    }
    add_character(&json->string, code);
    return true;
}

bool json_string(struct json *json)
{
    skip_blanks(json);
    json->string.count = 0;
    if (json->wrong[0])
        return false;
    if (json->at >= json->end || *json->at != '"')
        return refuse(json, "a string");
    json->at++;
    for (;;) {
        const char *from = json->at;
        while (json->at < json->end && (unsigned char)*json->at >= 0x20 && *json->at != '"' && *json->at != '\\')
            json->at++;
        if (!text_is_utf8(from, (size_t)(json->at - from)))
            return json_wrong(json, from, "bytes that are no UTF-8");
        text_add(&json->string, from, (size_t)(json->at - from));
        if (json->at >= json->end || (unsigned char)*json->at < 0x20)
            return refuse(json, "the end of the string");
        if (*json->at == '"')
            break;
        if (!take_escape(json))
            return false;
    }
    json->at++;
    text_add(&json->string, "", 1);
    json->string.count -= !json->string.failed;
    return !json->string.failed || json_wrong(json, json->at, "out of memory");
}

static bool take_word(struct json *json, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(json);
    if (json->wrong[0])
        return false;
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0)
        return refuse(json, word);
    json->at += length;
    return true;
}

bool json_boolean(struct json *json, bool *truth)
{
    char sign = json_next(json);
    *truth = sign == 't';
    if (sign != 't' && sign != 'f')
        return refuse(json, "true or false");
    return take_word(json, *truth ? "true" : "false");
}

static bool skip_one(struct json *json)
{
    double unused;
    switch (json_next(json)) {
    case '0':
        return json_real(json, &unused);
    case '"':
        return json_string(json);
    case 't':
        return take_word(json, "true");
    case 'f':
        return take_word(json, "false");
    case 'n':
        return take_word(json, "null");
    default:
        return false;
    }
}

/* No recursion: what is open is remembered as a bit each. */
bool json_skip(struct json *json)
{
    uint64_t objects = 0;
    size_t depth = json->depth;
    do {
        char sign = json_next(json);
        if (sign == '{' || sign == '[') {
            if (!json_open(json, sign))
                return false;
            objects = objects << 1 | (sign == '{');
        } else if (!skip_one(json)) {
            return false;
        }
        while (json->depth > depth && !(objects & 1 ? json_member(json) : json_element(json))) {
            if (json->wrong[0])
                return false;
            objects >>= 1;
        }
    } while (json->depth > depth);
    return true;
}

bool json_end(struct json *json)
{
    skip_blanks(json);
    if (json->wrong[0])
        return false;
    return json->at == json->end || refuse(json, "the end of the text");
}
