/* Model files.
 *
 *   offset  bytes  content, numbers little-endian
 *   0       8      magic "keepfitM"
 *   8       4      version: 1, 2 for a network, 3 for either with names, 4 with the types of columns, too, or 5 with standard errors
 *   12      4      CRC-32C of everything from offset 16 to the end
 *   16      8      length of everything from offset 24 to the end
 *   24             texts, each 2 bytes of length and that many bytes: loss, method, domain, scale, library version
 *                  4 doubles: lambda, epsilon, bias, delta
 *                  1 byte: rows are scaled to unit norm (0 or 1)
 *                  5 x 8 bytes: stages, fo, features, outputs, classes; from version 2 on 8 more: hidden
 *                  from version 3 on: 8 bytes of length, and so many of names (kf_schema_archive in src/base/schema.c);
 *                  only in version 5 may there be none
 *                  doubles: labels[classes], intercepts[outputs], weights[features][outputs]
 *                  a network: weights[hidden][outputs], hidden intercepts[hidden], hidden weights[features][hidden]
 *                  version 5: standard errors, plain and then robust, of intercepts[outputs] and weights[features][outputs],
 *                  -1 for one that there is not
 *
 * Texts hold no NUL and doubles are finite. Anything else, another length, version or checksum, or a leftover is refused, so a
 * damaged file is never half believed, and what is accepted is written again as the same bytes. A model is written whole or
 * not at all (kf_disk_replace). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "model/model.h"

static const char magic[8] = {'k', 'e', 'e', 'p', 'f', 'i', 't', 'M'};
#define VERSION_LINEAR 1
#define VERSION_NETWORK 2
#define VERSION_NAMES 3
#define VERSION_TYPES 4
#define VERSION_ERRORS 5
#define HEAD 24

/* Writing into memory */

struct bytes {
    unsigned char *data;
    size_t count, capacity;
    bool failed;
};

static void put(struct bytes *bytes, const void *data, size_t count)
{
    if (!KF_RESERVE(bytes->data, bytes->capacity, bytes->count + count)) {
        bytes->failed = true;
        return;
    }
    if (count)
        memcpy(bytes->data + bytes->count, data, count);
    bytes->count += count;
}

static void put_number(struct bytes *bytes, uint64_t number, size_t size)
{
    unsigned char little[8];
    for (size_t k = 0; k < size; k++)
        little[k] = (unsigned char)(number >> 8 * k);
    put(bytes, little, size);
}

static void put_text(struct bytes *bytes, const char *text)
{
    put_number(bytes, strlen(text), 2);
    put(bytes, text, strlen(text));
}

static void put_reals(struct bytes *bytes, const double *reals, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        uint64_t word;
        memcpy(&word, &reals[k], sizeof word);
        put_number(bytes, word, 8);
    }
}

static void put_names(struct bytes *bytes, const keepfit_model *model)
{
    struct kf_archive archive = {0};
    if (kf_schema_is_empty(&model->schema)) {
        put_number(bytes, 0, 8);
        return;
    }
    kf_schema_archive((struct kf_schema *)(uintptr_t)&model->schema, &archive); /* which only reads it */
    bytes->failed |= archive.status != KEEPFIT_OK;
    put_number(bytes, archive.count, 8);
    put(bytes, archive.bytes, archive.count);
    kf_archive_free(&archive);
}

static bool has_names(const keepfit_model *model)
{
    return !kf_schema_is_empty(&model->schema);
}

static uint64_t version_of(const keepfit_model *model)
{
    if (model->errors)
        return VERSION_ERRORS;
    if (has_names(model))
        return model->schema.columns ? VERSION_TYPES : VERSION_NAMES;
    return model->hidden ? VERSION_NETWORK : VERSION_LINEAR;
}

static void put_model(struct bytes *bytes, const keepfit_model *model)
{
    const char *texts[] = {model->loss->name, model->method, model->domain, model->scale, model->version};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
        put_text(bytes, texts[k]);
    put_reals(bytes, (double[]){model->lambda, model->epsilon, model->bias, model->delta}, 4);
    put_number(bytes, model->unit_rows, 1);
    const uint64_t counts[] = {model->stages, model->fo, model->features, model->outputs, model->classes};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        put_number(bytes, counts[k], 8);
    if (version_of(model) >= VERSION_NETWORK)
        put_number(bytes, model->hidden, 8);
    if (version_of(model) >= VERSION_NAMES)
        put_names(bytes, model);
    put_reals(bytes, model->labels, model->classes);
    put_reals(bytes, model->intercepts, model->outputs);
    put_reals(bytes, model->weights, kf_model_inputs(model) * model->outputs);
    put_reals(bytes, model->hidden_intercepts, model->hidden);
    put_reals(bytes, model->hidden_weights, model->features * model->hidden);
    if (model->errors)
        put_reals(bytes, model->errors, kf_model_errors(model));
}

unsigned char *kf_model_encode(const keepfit_model *model, size_t *count)
{
    struct bytes body = {0}, file = {0};
    put_model(&body, model);
    struct bytes sized = {0};
    put_number(&sized, body.count, 8);
    put(&sized, body.data, body.failed ? 0 : body.count);
    put(&file, magic, sizeof magic);
    put_number(&file, version_of(model), 4);
    put_number(&file, kf_crc32c(0, sized.data, sized.count), 4);
    put(&file, sized.data, sized.count);
    free(body.data);
    free(sized.data);
    if (body.failed || sized.failed || file.failed) {
        free(file.data);
        return NULL;
    }
    *count = file.count;
    return file.data;
}

keepfit_status keepfit_model_write(const keepfit_model *model, unsigned char **bytes, size_t *count,
                                   keepfit_error *error)
{
    size_t length = 0;
    unsigned char *made = kf_model_encode(model, &length);
    if (!made)
        return kf_fail_memory(error);
    *bytes = made;
    *count = length;
    return KEEPFIT_OK;
}

/* Saving */

keepfit_status kf_model_save(const keepfit_disk *disk, const keepfit_model *model, const char *path,
                             keepfit_error *error)
{
    size_t count = 0;
    unsigned char *bytes = kf_model_encode(model, &count);
    keepfit_status status =
        bytes ? kf_disk_replace(disk, path, "the model", bytes, count, error) : kf_fail_memory(error);
    free(bytes);
    return status;
}

keepfit_status keepfit_model_save(const keepfit_model *model, const char *path, keepfit_error *error)
{
    return kf_model_save(keepfit_disk_system(), model, path, error);
}

/* Loading */

struct cursor {
    const unsigned char *at, *end;
    bool failed, memory_failed;
};

static uint64_t take_number(struct cursor *cursor, size_t size)
{
    uint64_t number = 0;
    if ((size_t)(cursor->end - cursor->at) < size) {
        cursor->failed = true;
        return 0;
    }
    for (size_t k = 0; k < size; k++)
        number |= (uint64_t)cursor->at[k] << 8 * k;
    cursor->at += size;
    return number;
}

static double take_real(struct cursor *cursor)
{
    uint64_t word = take_number(cursor, 8);
    double real;
    memcpy(&real, &word, sizeof real);
    cursor->failed |= !isfinite(real);
    return real;
}

static void take_reals(struct cursor *cursor, double *reals, size_t count)
{
    for (size_t k = 0; k < count; k++)
        reals[k] = take_real(cursor);
}

static void take_text(struct cursor *cursor, char text[KF_MODEL_TEXT])
{
    size_t length = take_number(cursor, 2);
    if (length >= KF_MODEL_TEXT || (size_t)(cursor->end - cursor->at) < length) {
        cursor->failed = true;
        length = 0;
    }
    cursor->failed |= memchr(cursor->at, '\0', length) != NULL;
    memcpy(text, cursor->at, length);
    text[length] = '\0';
    cursor->at += length;
}

static bool counts_fit(const struct kf_loss *loss, uint64_t outputs, uint64_t classes)
{
    if (loss->targets == KF_MANY_CLASSES)
        return outputs == classes || (outputs == 1 && classes == 0);
    return outputs == 1 && classes <= (loss->targets == KF_TWO_CLASSES ? 2 : 0);
}

/* Whether rows*columns numbers are at most those left; these are then taken off. */
static bool takes(uint64_t *left, uint64_t rows, uint64_t columns)
{
    if (columns && rows > *left / columns)
        return false;
    *left -= rows * columns;
    return true;
}

/* Whether the arrays of a model with these counts are just what is left of the file. */
static bool sizes_fit(const keepfit_model *model, uint64_t version, const struct cursor *cursor)
{
    uint64_t room = (uint64_t)(cursor->end - cursor->at), left = room / 8;
    return room % 8 == 0 && model->outputs > 0 && takes(&left, model->classes, 1) && takes(&left, model->outputs, 1) &&
           takes(&left, kf_model_inputs(model), model->outputs) && takes(&left, model->hidden, 1) &&
           takes(&left, model->features, model->hidden) &&
           (version != VERSION_ERRORS ||
            (takes(&left, 2, model->outputs) && takes(&left, model->features, 2 * model->outputs))) &&
           left == 0;
}

static keepfit_status fail_damaged(keepfit_error *error, const char *name)
{
    return kf_fail(error, KEEPFIT_CORRUPT, "%s: the model is damaged (its parts do not fit together)", name);
}

static void take_names(struct cursor *cursor, bool may_lack, struct kf_schema *schema)
{
    uint64_t count = take_number(cursor, 8);
    if (count > (uint64_t)(cursor->end - cursor->at)) {
        cursor->failed = true;
        return;
    }
    if (count == 0 && may_lack)
        return;
    struct kf_archive archive = kf_archive_to_read(cursor->at, (size_t)count);
    kf_schema_archive(schema, &archive);
    kf_archive_require(&archive, archive.at == archive.count && !kf_schema_is_empty(schema));
    cursor->failed |= archive.status == KEEPFIT_CORRUPT;
    cursor->memory_failed |= archive.status == KEEPFIT_NO_MEMORY;
    cursor->at += count;
}

/* What comes before the arrays, and so determines their sizes. False: it does not fit together, or not to what is left. */
static bool take_fixed(struct cursor *cursor, uint64_t version, keepfit_model *fixed)
{
    char loss[KF_MODEL_TEXT];
    take_text(cursor, loss);
    take_text(cursor, fixed->method);
    take_text(cursor, fixed->domain);
    take_text(cursor, fixed->scale);
    take_text(cursor, fixed->version);
    fixed->loss = kf_loss_find(loss);
    double *reals[] = {&fixed->lambda, &fixed->epsilon, &fixed->bias, &fixed->delta};
    for (size_t k = 0; k < 4; k++)
        *reals[k] = take_real(cursor);
    uint64_t unit_rows = take_number(cursor, 1);
    fixed->unit_rows = unit_rows == 1;
    fixed->stages = take_number(cursor, 8);
    fixed->fo = take_number(cursor, 8);
    fixed->features = take_number(cursor, 8);
    fixed->outputs = take_number(cursor, 8);
    fixed->classes = take_number(cursor, 8);
    fixed->hidden = version == VERSION_LINEAR ? 0 : take_number(cursor, 8);
    if (version >= VERSION_NAMES)
        take_names(cursor, version == VERSION_ERRORS, &fixed->schema);
    bool typed = fixed->schema.columns > 0;
    cursor->failed |= (version != VERSION_ERRORS && (version == VERSION_TYPES) != typed) || fixed->schema.more ||
                      (typed && fixed->schema.features > fixed->features);
    bool network = version == VERSION_NETWORK || (version >= VERSION_NAMES && fixed->hidden > 0);
    return !cursor->failed && fixed->loss && unit_rows <= 1 && network == (fixed->loss->network != NULL) &&
           network == (fixed->hidden > 0) && counts_fit(fixed->loss, fixed->outputs, fixed->classes) &&
           (version != VERSION_ERRORS || !network) && sizes_fit(fixed, version, cursor);
}

static void take_errors(struct cursor *cursor, keepfit_model *model)
{
    size_t count = kf_model_errors(model);
    model->errors = kf_allocate_numbers(count);
    cursor->memory_failed |= !model->errors;
    for (size_t k = 0; k < count && model->errors; k++) {
        model->errors[k] = take_real(cursor);
        cursor->failed |= model->errors[k] < 0 && model->errors[k] != KF_MODEL_NO_ERROR;
    }
}

static keepfit_status take_model(struct cursor *cursor, uint64_t version, const char *name, keepfit_model **model,
                                 keepfit_error *error)
{
    keepfit_model fixed = {0};
    bool fits = take_fixed(cursor, version, &fixed);
    keepfit_model *made = fits && !cursor->memory_failed
                              ? kf_model_create(fixed.features, fixed.hidden, fixed.outputs, fixed.classes)
                              : NULL;
    if (!made) {
        kf_schema_free(&fixed.schema);
        return fits || cursor->memory_failed ? kf_fail_memory(error) : fail_damaged(error, name);
    }
    fixed.labels = made->labels;
    fixed.intercepts = made->intercepts;
    fixed.weights = made->weights;
    fixed.hidden_intercepts = made->hidden_intercepts;
    fixed.hidden_weights = made->hidden_weights;
    *made = fixed;
    take_reals(cursor, made->labels, made->classes);
    take_reals(cursor, made->intercepts, made->outputs);
    take_reals(cursor, made->weights, kf_model_inputs(made) * made->outputs);
    take_reals(cursor, made->hidden_intercepts, made->hidden);
    take_reals(cursor, made->hidden_weights, made->features * made->hidden);
    if (version == VERSION_ERRORS)
        take_errors(cursor, made);
    if (cursor->memory_failed) {
        keepfit_model_free(made);
        return kf_fail_memory(error);
    }
    if (cursor->failed) {
        keepfit_model_free(made);
        return fail_damaged(error, name);
    }
    *model = made;
    return KEEPFIT_OK;
}

keepfit_status kf_model_decode(const unsigned char *bytes, size_t count, const char *name, keepfit_model **model,
                               keepfit_error *error)
{
    if (count < HEAD || memcmp(bytes, magic, sizeof magic) != 0)
        return kf_fail(error, KEEPFIT_CORRUPT, "%s: is not a keepfit model", name);
    struct cursor cursor = {.at = bytes + sizeof magic, .end = bytes + count};
    uint64_t version = take_number(&cursor, 4), checksum = take_number(&cursor, 4);
    if (version < VERSION_LINEAR || version > VERSION_ERRORS)
        return kf_fail(error, KEEPFIT_CORRUPT, "%s: model format %llu is not known to this version", name,
                       (unsigned long long)version);
    if (checksum != kf_crc32c(0, cursor.at, (size_t)(cursor.end - cursor.at)) ||
        take_number(&cursor, 8) != count - HEAD)
        return kf_fail(error, KEEPFIT_CORRUPT, "%s: the model is damaged (its checksum does not match)", name);
    return take_model(&cursor, version, name, model, error);
}

keepfit_status keepfit_model_read(const unsigned char *bytes, size_t count, const char *name, keepfit_model **model,
                                  keepfit_error *error)
{
    return kf_model_decode(bytes, count, name, model, error);
}

keepfit_status kf_model_load(const keepfit_disk *disk, const char *path, keepfit_model **model, keepfit_error *error)
{
    unsigned char *bytes = NULL;
    size_t count = 0;
    keepfit_status status = kf_disk_load(disk, path, "the model", &bytes, &count, error);
    if (status == KEEPFIT_OK)
        status = kf_model_decode(bytes, count, path, model, error);
    free(bytes);
    return status;
}

keepfit_status keepfit_model_load(const char *path, keepfit_model **model, keepfit_error *error)
{
    return kf_model_load(keepfit_disk_system(), path, model, error);
}
