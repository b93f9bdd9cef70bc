#include "service/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct text *text, size_t more)
{
    if (text->failed || more > SIZE_MAX / 4 - text->count) {
        text->failed = true;
        return false;
    }
    if (text->count + more <= text->capacity)
        return true;
    size_t capacity = text->capacity < 128 ? 256 : 2 * text->capacity;
    while (capacity < text->count + more)
        capacity *= 2;
    char *grown = realloc(text->at, capacity);
    if (!grown) {
        text->failed = true;
        return false;
    }
    text->at = grown;
    text->capacity = capacity;
    return true;
}

void text_add(struct text *text, const void *bytes, size_t count)
{
    if (count == 0 || !make_room(text, count))
        return;
    memcpy(text->at + text->count, bytes, count);
    text->count += count;
}

void text_put(struct text *text, const char *words)
{
    text_add(text, words, strlen(words));
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length >= 0 && make_room(text, (size_t)length + 1)) {
        vsnprintf(text->at + text->count, (size_t)length + 1, format, again);
        text->count += (size_t)length;
    }
    va_end(again);
}

void text_free(struct text *text)
{
    free(text->at);
    *text = (struct text){0};
}

void text_count(struct text *text, uint64_t number)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    text_add(text, digits, (size_t)length);
}

void text_number(struct text *text, double number)
{
    char digits[40];
    if (!isfinite(number)) {
        text_put(text, "null");
        return;
    }
    if (number == floor(number) && fabs(number) < 1e15 && !(number == 0 && signbit(number))) {
        int length = snprintf(digits, sizeof digits, "%" PRId64, (int64_t)number);
        text_add(text, digits, (size_t)length);
        return;
    }
    int length = snprintf(digits, sizeof digits, "%.17g", number);
    text_add(text, digits, (size_t)length);
}

/* The bytes of the character of UTF-8 at `at`; 0: it is none. */
static size_t character(const unsigned char *at, size_t left)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    if (length <= 1)
        return length;
    if (length > left)
        return 0;
    unsigned code = at[0] & (0x7fu >> length);
    for (size_t k = 1; k < length; k++) {
        if (at[k] >> 6 != 2)
            return 0;
        code = code << 6 | (at[k] & 0x3f);
    }
    return code >= least[length] && code <= 0x10ffff && code >> 11 != 27 ? length : 0;
}

bool text_is_utf8(const char *bytes, size_t count)
{
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t k = 0, length; k < count; k += length)
        if ((length = character(at + k, count - k)) == 0)
            return false;
    return true;
}

void text_string_of(struct text *text, const char *bytes, size_t count)
{
    const unsigned char *at = (const unsigned char *)bytes;
    text_put(text, "\"");
    for (size_t k = 0, length; k < count; k += length ? length : 1) {
        length = character(at + k, count - k);
        if (length == 0)
            text_put(text, "\xEF\xBF\xBD");
        else if (at[k] == '"' || at[k] == '\\')
            text_printf(text, "\\%c", at[k]);
        else if (at[k] < 0x20 || at[k] == 0x7f)
            text_printf(text, "\\u%04x", at[k]);
        else
            text_add(text, at + k, length);
    }
    text_put(text, "\"");
}

void text_string(struct text *text, const char *words)
{
    text_string_of(text, words, strlen(words));
}
