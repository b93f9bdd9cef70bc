/* plot_text.c - one walk over the characters of a string serves counting, cutting and escaping.
 *
 * XML is stricter than HTML: a single stray byte or control character makes a viewer refuse the whole file.
 * A file name may hold any byte, so every character is decoded and what is not allowed is replaced.
 */
#include "toolkit/plot_text.h"

#include <stdbool.h>
#include <stdint.h>

/* The smallest code point that needs this many bytes; a smaller one in that length is a forgery. */
static const uint32_t smallest_of_length[5] = {0, 0, 0x80, 0x800, 0x10000};

static size_t sequence_length(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead < 0xE0)
        return 2;
    if (lead >= 0xE0 && lead < 0xF0)
        return 3;
    if (lead >= 0xF0 && lead < 0xF5)
        return 4;
    return 0;
}

static bool allowed_in_xml(uint32_t code)
{
    if (code < 0x20)
        return code == '\t' || code == '\n' || code == '\r';
    return code != 0x7F && !(code >= 0xD800 && code <= 0xDFFF) && code != 0xFFFE && code != 0xFFFF && code <= 0x10FFFF;
}

/* The length in bytes of the character at text, which is not at its end. *valid: it can be written as it is;
 * otherwise the length says how many bytes the replacement stands for. */
static size_t next_character(const char *text, bool *valid)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = sequence_length(bytes[0]);
    *valid = false;
    if (length == 0)
        return 1;
    uint32_t code = length == 1 ? bytes[0] : bytes[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return i;
        code = code << 6 | (bytes[i] & 0x3Fu);
    }
    *valid = code >= smallest_of_length[length] && allowed_in_xml(code);
    return length;
}

static void write_character(FILE *out, const char *text, size_t length, bool valid)
{
    if (!valid) {
        fputs("\xEF\xBF\xBD", out);
        return;
    }
    switch (text[0]) {
    case '&':
        fputs("&amp;", out);
        break;
    case '<':
        fputs("&lt;", out);
        break;
    case '>':
        fputs("&gt;", out);
        break;
    case '"':
        fputs("&quot;", out);
        break;
    case '\'':
        fputs("&#39;", out);
        break;
    default:
        fwrite(text, 1, length, out);
    }
}

size_t plot_text_length(const char *text)
{
    size_t count = 0;
    bool valid;
    for (; text != NULL && *text != '\0'; count++)
        text += next_character(text, &valid);
    return count;
}

void plot_text_write(FILE *out, const char *text)
{
    plot_text_write_cut(out, text, SIZE_MAX);
}

void plot_text_write_cut(FILE *out, const char *text, size_t limit)
{
    size_t characters = plot_text_length(text);
    bool cut = characters > limit;
    size_t whole = !cut ? characters : limit > 0 ? limit - 1 : 0;
    for (size_t i = 0; i < whole; i++) {
        bool valid;
        size_t length = next_character(text, &valid);
        write_character(out, text, length, valid);
        text += length;
    }
    if (cut && limit > 0)
        fputs("\xE2\x80\xA6", out);
}
