/* IDX, the format of MNIST: two zero bytes, the type, the number of dimensions, their sizes (4 bytes each,
 * big endian), the elements (big endian). The first dimension counts the rows. Images are mostly zero, so
 * rows go out sparse.
 *
 * The labels are in another file: the one given, or beside x-images-idx3-y the file x-labels-idx1-y. */
#define _POSIX_C_SOURCE 200809L /* access */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/options.h"
#include "stream/array_points.h"

#define MOST_DIMENSIONS 4

struct idx {
    struct kf_table table;
    uint32_t *index;
    double *value;
};

static bool set_type(struct kf_element *element, unsigned char code)
{
    static const struct {
        unsigned char code;
        struct kf_element element;
    } types[] = {
        {0x08, {KF_ELEMENT_UNSIGNED, 1, true}}, {0x09, {KF_ELEMENT_SIGNED, 1, true}},
        {0x0b, {KF_ELEMENT_SIGNED, 2, true}},   {0x0c, {KF_ELEMENT_SIGNED, 4, true}},
        {0x0d, {KF_ELEMENT_FLOAT, 4, true}},    {0x0e, {KF_ELEMENT_FLOAT, 8, true}},
    };
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
        if (types[k].code == code) {
            *element = types[k].element;
            return true;
        }
    return false;
}

bool kf_is_idx(const unsigned char *bytes, size_t count)
{
    struct kf_element element;
    return count >= 4 && bytes[0] == 0 && bytes[1] == 0 && set_type(&element, bytes[2]) && bytes[3] >= 1 &&
           bytes[3] <= MOST_DIMENSIONS;
}

/* Called for what kf_is_idx recognised. */
keepfit_status kf_idx_header(struct kf_array *array, keepfit_error *error)
{
    unsigned char *bytes = NULL;
    size_t capacity = 0, got = 0;
    const unsigned char *first;
    keepfit_status status = kf_source_peek(array->source, 4, &first, &got, error);
    if (status != KEEPFIT_OK)
        return status;
    set_type(&array->element, first[2]);
    array->dimensions = first[3];
    array->header_bytes = 4 + 4 * array->dimensions;
    array->columns = 1;
    status = kf_source_take(array->source, &bytes, &capacity, array->header_bytes, &got, error);
    if (status == KEEPFIT_OK && got < array->header_bytes)
        status = kf_fail_at(error, KEEPFIT_DATA, array->source->name, 0, 0, "the file ends within the idx header");
    for (size_t k = 0; status == KEEPFIT_OK && k < array->dimensions; k++) {
        const unsigned char *four = bytes + 4 + 4 * k;
        size_t size = (size_t)four[0] << 24 | (size_t)four[1] << 16 | (size_t)four[2] << 8 | four[3];
        if (k == 0)
            array->rows = size;
        else if (__builtin_mul_overflow(array->columns, size, &array->columns))
            status = kf_fail_at(error, KEEPFIT_DATA, array->source->name, 0, 0,
                                "the idx header gives more columns than there can be");
    }
    free(bytes);
    return status;
}

/* The path with `part` replaced, as it is, with .gz, or without. *found stays NULL if there is no such file.
 * False: out of memory. */
static bool find_sibling(const char *path, const char *part, const char *other, char **found)
{
    const char *base = strrchr(path, '/'), *at = strstr(base ? base : path, part);
    if (!at || *found)
        return true;
    size_t size = strlen(path) + strlen(other) + 4;
    char *name = kf_allocate_raw(size);
    if (!name)
        return false;
    snprintf(name, size, "%.*s%s%s", (int)(at - path), path, other, at + strlen(part));
    if (access(name, F_OK) != 0) {
        size_t length = strlen(name);
        if (length > 3 && strcmp(name + length - 3, ".gz") == 0)
            name[length - 3] = '\0';
        else
            strcat(name, ".gz");
    }
    if (access(name, F_OK) == 0)
        *found = name;
    else
        free(name);
    return true;
}

static keepfit_status use_sibling(struct kf_table *table, keepfit_error *error)
{
    char *path = NULL;
    if (!find_sibling(table->input->path, "images-idx3", "labels-idx1", &path) ||
        !find_sibling(table->input->path, "images.idx3", "labels.idx1", &path))
        return kf_fail_memory(error);
    if (!path && !table->input->wanted.targets)
        return kf_table_use_column(table, "none", error);
    if (!path)
        return kf_fail_at(error, KEEPFIT_DATA, table->input->name, 0, 0,
                          "where are the labels? ({targets=FILE}; {target=none}: there are none)");
    keepfit_status status = kf_table_use_file(table, path, error);
    free(path);
    return status;
}

static keepfit_status choose_targets(struct kf_table *table, keepfit_error *error)
{
    const keepfit_options *options = table->input->options;
    if (options->targets)
        return kf_table_use_file(table, options->targets, error);
    if (!options->target)
        return use_sibling(table, error);
    if (strcmp(options->target, "none") != 0)
        return kf_fail(error, KEEPFIT_USAGE, "{target}: an idx file has no column of targets, only {targets=FILE}");
    return kf_table_use_column(table, "none", error);
}

static keepfit_status begin(void *state, struct kf_input *input, keepfit_error *error)
{
    struct idx *reader = state;
    input->sparse = true;
    keepfit_status status = kf_table_open(&reader->table, input, &kf_reader_idx, error);
    return status == KEEPFIT_OK ? choose_targets(&reader->table, error) : status;
}

static bool make_room(struct idx *reader, size_t columns)
{
    if (!reader->index)
        reader->index = kf_allocate(columns, sizeof *reader->index);
    if (!reader->value)
        reader->value = kf_allocate(columns, sizeof *reader->value);
    return reader->index && reader->value;
}

static keepfit_status next(void *state, keepfit_point *point, keepfit_error *error)
{
    struct idx *reader = state;
    keepfit_status status = kf_table_next(&reader->table, point, error);
    if (status != KEEPFIT_OK)
        return status;
    if (!make_room(reader, reader->table.array.columns))
        return kf_fail_memory(error);
    size_t count = 0;
    for (size_t k = 0; k < point->row.count; k++) {
        reader->index[count] = (uint32_t)k;
        reader->value[count] = point->row.value[k];
        count += point->row.value[k] != 0;
    }
    point->row = (keepfit_row){.count = count, .index = reader->index, .value = reader->value};
    return KEEPFIT_OK;
}

static void finish(void *state)
{
    struct idx *reader = state;
    kf_table_close(&reader->table);
    free(reader->index);
    free(reader->value);
}

const struct kf_reader kf_reader_idx = {
    .name = "idx",
    .summary = "MNIST's IDX; labels in the file beside it or, with the option targets, in another",
    .extensions = ".idx",
    .name_parts = "idx1-ubyte idx2-ubyte idx3-ubyte",
    .state_size = sizeof(struct idx),
    .binary = true,
    .recognises = kf_is_idx,
    .open = begin,
    .next = next,
    .close = finish,
};
