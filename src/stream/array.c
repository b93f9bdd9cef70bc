#include "stream/array.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define MAGIC_BYTES 8

/* bytes = rows * columns * size, or failure where that is more than there can be. */
static keepfit_status count_bytes(const struct kf_array *array, size_t *bytes, keepfit_error *error)
{
    size_t cells;
    if (__builtin_mul_overflow(array->rows, array->columns, &cells) ||
        __builtin_mul_overflow(cells, (size_t)array->element.size, bytes))
        return kf_fail_at(error, KEEPFIT_DATA, array->source->name, 0, 0,
                          "the header gives %zu rows and %zu columns, more than there can be", array->rows,
                          array->columns);
    return KEEPFIT_OK;
}

/* A plain file's size is known, so a header that does not fit is found before the first row. */
static keepfit_status check_size(const struct kf_array *array, keepfit_error *error)
{
    size_t bytes = 0, all;
    keepfit_status status = count_bytes(array, &bytes, error);
    const struct kf_source *source = array->source;
    if (status != KEEPFIT_OK || !source->regular || source->gzip)
        return status;
    if (!__builtin_add_overflow(bytes, array->header_bytes, &all) && all == source->bytes)
        return KEEPFIT_OK;
    return kf_fail_at(error, KEEPFIT_DATA, source->name, 0, 0,
                      "the header gives %zu rows and %zu columns, which take %zu bytes, but %llu follow it",
                      array->rows, array->columns, bytes, (unsigned long long)(source->bytes - array->header_bytes));
}

keepfit_status kf_array_open(struct kf_array *array, struct kf_source *source, keepfit_error *error)
{
    *array = (struct kf_array){.source = source};
    const unsigned char *bytes;
    size_t count;
    keepfit_status status = kf_source_peek(source, MAGIC_BYTES, &bytes, &count, error);
    if (status != KEEPFIT_OK)
        return status;
    if (kf_is_npy(bytes, count))
        status = kf_npy_header(array, error);
    else if (kf_is_idx(bytes, count))
        status = kf_idx_header(array, error);
    else
        status =
            kf_fail_at(error, KEEPFIT_DATA, source->name, 0, 0, "neither an npy nor an idx file, by its first bytes");
    return status == KEEPFIT_OK ? check_size(array, error) : status;
}

void kf_array_close(struct kf_array *array)
{
    free(array->raw);
    free(array->value);
    *array = (struct kf_array){0};
}

static keepfit_status fail_short(const struct kf_array *array, keepfit_error *error)
{
    return kf_fail_at(error, KEEPFIT_DATA, array->source->name, array->row + 1, 0,
                      "the file ends here, but its header gives %zu rows", array->rows);
}

static keepfit_status check_end(struct kf_array *array, keepfit_error *error)
{
    const unsigned char *bytes;
    size_t count;
    keepfit_status status = kf_source_peek(array->source, 1, &bytes, &count, error);
    if (status != KEEPFIT_OK)
        return status;
    if (count > 0)
        return kf_fail_at(error, KEEPFIT_DATA, array->source->name, 0, 0,
                          "there are bytes behind the last of the %zu rows that the header gives", array->rows);
    return KEEPFIT_END;
}

/* One row of the file's bytes; in Fortran order all of them, once. */
static keepfit_status read_raw(struct kf_array *array, keepfit_error *error)
{
    size_t needed = array->columns * array->element.size, got = 0;
    if (array->fortran) {
        if (array->row > 0)
            return KEEPFIT_OK;
        needed *= array->rows;
    }
    keepfit_status status = kf_source_take(array->source, &array->raw, &array->raw_capacity, needed, &got, error);
    if (status == KEEPFIT_OK && got < needed)
        status = fail_short(array, error);
    if (status == KEEPFIT_OK && !array->value && !(array->value = kf_allocate(array->columns, sizeof *array->value)))
        status = kf_fail_memory(error);
    return status;
}

keepfit_status kf_array_next(struct kf_array *array, const double **value, keepfit_error *error)
{
    if (array->row == array->rows)
        return check_end(array, error);
    keepfit_status status = read_raw(array, error);
    if (status != KEEPFIT_OK)
        return status;
    size_t size = array->element.size;
    if (array->fortran)
        kf_elements_read(array->element, array->raw + array->row * size, array->rows * size, array->columns,
                         array->value);
    else
        kf_elements_read(array->element, array->raw, size, array->columns, array->value);
    array->row++;
    *value = array->value;
    return KEEPFIT_OK;
}
