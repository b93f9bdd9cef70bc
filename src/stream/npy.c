/* NumPy's npy, versions 1.0 to 3.0: the magic "\x93NUMPY", two bytes of version, the header's length (2
 * bytes, from 2.0 on 4, little endian), and a Python dictionary as text, for example
 *
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (150, 4), }
 *
 * then the elements. Two dimensions are rows and columns; one dimension is a single column. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "stream/array_points.h"
#include "stream/token.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
#define LONGEST_HEADER 65536

/* The dictionary while it is being read. */
struct header {
    const char *at, *end;
    bool has_type, has_order, has_shape;
    struct kf_array *array;
};

bool kf_is_npy(const unsigned char *bytes, size_t count)
{
    return count >= MAGIC_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
}

static void skip_blanks(struct header *header)
{
    while (header->at < header->end && strchr(" \t\n", *header->at) && *header->at)
        header->at++;
}

/* Passes over the text if it stands here. */
static bool take(struct header *header, const char *text)
{
    skip_blanks(header);
    size_t length = strlen(text);
    if ((size_t)(header->end - header->at) < length || memcmp(header->at, text, length) != 0)
        return false;
    header->at += length;
    return true;
}

static bool take_string(struct header *header, const char **text, const char **end)
{
    skip_blanks(header);
    if (header->at == header->end || (*header->at != '\'' && *header->at != '"'))
        return false;
    *text = header->at + 1;
    *end = memchr(*text, *header->at, (size_t)(header->end - *text));
    if (!*end)
        return false;
    header->at = *end + 1;
    return true;
}

static bool is_word(const char *text, const char *end, const char *word)
{
    return (size_t)(end - text) == strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

static bool set_type(struct kf_array *array, const char *text, const char *end)
{
    static const struct {
        const char *code;
        struct kf_element element;
    } types[] = {
        {"f8", {KF_ELEMENT_FLOAT, 8, false}},    {"f4", {KF_ELEMENT_FLOAT, 4, false}},
        {"f2", {KF_ELEMENT_FLOAT, 2, false}},    {"i1", {KF_ELEMENT_SIGNED, 1, false}},
        {"i2", {KF_ELEMENT_SIGNED, 2, false}},   {"i4", {KF_ELEMENT_SIGNED, 4, false}},
        {"i8", {KF_ELEMENT_SIGNED, 8, false}},   {"u1", {KF_ELEMENT_UNSIGNED, 1, false}},
        {"u2", {KF_ELEMENT_UNSIGNED, 2, false}}, {"u4", {KF_ELEMENT_UNSIGNED, 4, false}},
        {"u8", {KF_ELEMENT_UNSIGNED, 8, false}}, {"b1", {KF_ELEMENT_BOOL, 1, false}},
    };
    if (end - text != 3 || !strchr("<>|", *text))
        return false;
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
        if (is_word(text + 1, end, types[k].code) && (*text != '|' || types[k].element.size == 1)) {
            array->element = types[k].element;
            array->element.big_endian = *text == '>';
            return true;
        }
    return false;
}

/* (), (3,), (3, 4), ...: the dimensions behind the first are multiplied. */
static bool read_shape(struct header *header)
{
    struct kf_array *array = header->array;
    array->dimensions = 0;
    array->rows = array->columns = 1;
    if (!take(header, "("))
        return false;
    while (!take(header, ")")) {
        uint64_t size;
        const char *stop;
        skip_blanks(header);
        if (kf_read_count(header->at, header->end, &size, &stop) != KF_NUMBER_OK || size > SIZE_MAX)
            return false;
        header->at = stop;
        take(header, "L"); /* as Python 2 wrote long integers */
        size_t *into = array->dimensions++ == 0 ? &array->rows : &array->columns;
        if (__builtin_mul_overflow(*into, (size_t)size, into))
            return false;
        if (!take(header, ",")) {
            if (!take(header, ")"))
                return false;
            break;
        }
    }
    return true;
}

static keepfit_status fail_header(const struct kf_array *array, const char *what, keepfit_error *error)
{
    return kf_fail_at(error, KEEPFIT_DATA, array->source->name, 0, 0, "the npy header is wrong: %s", what);
}

static keepfit_status read_type(struct header *header, keepfit_error *error)
{
    const char *text, *end;
    char quote[KF_QUOTE_SIZE];
    if (!take_string(header, &text, &end))
        return fail_header(header->array,
                           "the type of the elements is not a plain one (structured arrays are not read)", error);
    if (!set_type(header->array, text, end))
        return kf_fail_at(error, KEEPFIT_DATA, header->array->source->name, 0, 0,
                          "elements of type '%s' are not read, only f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1",
                          kf_quote(quote, text, end));
    header->has_type = true;
    return KEEPFIT_OK;
}

static keepfit_status read_entry(struct header *header, keepfit_error *error)
{
    const char *text, *end;
    struct kf_array *array = header->array;
    if (!take_string(header, &text, &end) || !take(header, ":"))
        return fail_header(array, "expected a key and a colon", error);
    if (is_word(text, end, "descr"))
        return read_type(header, error);
    if (is_word(text, end, "fortran_order")) {
        array->fortran = take(header, "True");
        header->has_order = array->fortran || take(header, "False");
        return header->has_order ? KEEPFIT_OK : fail_header(array, "fortran_order is neither True nor False", error);
    }
    if (is_word(text, end, "shape")) {
        header->has_shape = read_shape(header);
        return header->has_shape ? KEEPFIT_OK : fail_header(array, "the shape cannot be read", error);
    }
    return fail_header(array, "an unknown key", error);
}

static keepfit_status read_dictionary(struct header *header, keepfit_error *error)
{
    if (!take(header, "{"))
        return fail_header(header->array, "it does not begin with {", error);
    while (!take(header, "}")) {
        keepfit_status status = read_entry(header, error);
        if (status != KEEPFIT_OK)
            return status;
        if (!take(header, ",")) {
            if (!take(header, "}"))
                return fail_header(header->array, "expected , or }", error);
            break;
        }
    }
    skip_blanks(header);
    if (header->at != header->end)
        return fail_header(header->array, "something stands behind the closing }", error);
    if (!header->has_type || !header->has_order || !header->has_shape)
        return fail_header(header->array, "descr, fortran_order or shape is missing", error);
    return KEEPFIT_OK;
}

static keepfit_status check_shape(const struct kf_array *array, keepfit_error *error)
{
    if (array->dimensions != 1 && array->dimensions != 2)
        return kf_fail_at(error, KEEPFIT_DATA, array->source->name, 0, 0,
                          "an array of %zu dimensions; expected rows and columns, or one column", array->dimensions);
    return KEEPFIT_OK;
}

/* Reads the bytes up to the dictionary and finds its length. */
static keepfit_status read_preamble(struct kf_array *array, size_t *length, keepfit_error *error)
{
    const unsigned char *bytes;
    size_t count;
    keepfit_status status = kf_source_peek(array->source, 12, &bytes, &count, error);
    if (status != KEEPFIT_OK)
        return status;
    if (count < 10)
        return fail_header(array, "the file ends within it", error);
    unsigned major = bytes[MAGIC_BYTES], minor = bytes[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor != 0)
        return kf_fail_at(error, KEEPFIT_DATA, array->source->name, 0, 0,
                          "npy version %u.%u; known are 1.0, 2.0 and 3.0", major, minor);
    array->header_bytes = major == 1 ? 10 : 12;
    if (count < array->header_bytes)
        return fail_header(array, "the file ends within it", error);
    *length = bytes[8] + ((size_t)bytes[9] << 8);
    if (major > 1)
        *length += ((size_t)bytes[10] << 16) + ((size_t)bytes[11] << 24);
    if (*length > LONGEST_HEADER)
        return fail_header(array, "it is longer than 65536 bytes", error);
    return KEEPFIT_OK;
}

keepfit_status kf_npy_header(struct kf_array *array, keepfit_error *error)
{
    size_t length = 0, got = 0, capacity = 0;
    keepfit_status status = read_preamble(array, &length, error);
    if (status != KEEPFIT_OK)
        return status;
    array->header_bytes += length;
    unsigned char *text = NULL;
    status = kf_source_take(array->source, &text, &capacity, array->header_bytes, &got, error);
    if (status == KEEPFIT_OK && got < array->header_bytes)
        status = fail_header(array, "the file ends within it", error);
    if (status == KEEPFIT_OK) {
        const char *end = (const char *)text + got;
        struct header header = {.at = end - length, .end = end, .array = array};
        status = read_dictionary(&header, error);
    }
    free(text);
    return status == KEEPFIT_OK ? check_shape(array, error) : status;
}

static keepfit_status begin(void *state, struct kf_input *input, keepfit_error *error)
{
    struct kf_table *table = state;
    keepfit_status status = kf_table_open(table, input, &kf_reader_npy, error);
    if (status != KEEPFIT_OK)
        return status;
    if (input->options->targets)
        return kf_table_use_file(table, input->options->targets, error);
    return kf_table_use_column(table, input->options->target, error);
}

static keepfit_status next(void *state, keepfit_point *point, keepfit_error *error)
{
    return kf_table_next(state, point, error);
}

static void finish(void *state)
{
    kf_table_close(state);
}

const struct kf_reader kf_reader_npy = {
    .name = "npy",
    .summary = "NumPy array: rows and columns; targets in a column or, with the option targets, in another file",
    .extensions = ".npy",
    .name_parts = "",
    .state_size = sizeof(struct kf_table),
    .binary = true,
    .recognises = kf_is_npy,
    .open = begin,
    .next = next,
    .close = finish,
};
