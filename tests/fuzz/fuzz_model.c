/* Model files. The first byte says whether the rest is a whole file, or what follows the head of one (a linear model's, a
 * network's, one with names, or one with standard errors): then the magic, the version, the checksum and the length are put in front of it, without which hardly any input
 * would get far.
 *
 * What is accepted is written again as the same bytes, holds finite numbers only, and predicts. */
#include <math.h>
#include <string.h>

#include "base/crc32c.h"
#include "fuzz.h"
#include "model/model.h"

#define HEAD 24
#define LARGEST 4096

static void put_little(unsigned char *to, uint64_t number, size_t size)
{
    for (size_t k = 0; k < size; k++)
        to[k] = (unsigned char)(number >> 8 * k);
}

static size_t put_head(unsigned char *file, const uint8_t *body, size_t size, uint64_t version)
{
    memcpy(file, "keepfitM", 8);
    put_little(file + 8, version, 4);
    put_little(file + 16, size, 8);
    memcpy(file + HEAD, body, size);
    put_little(file + 12, kf_crc32c(0, file + 16, size + 8), 4);
    return HEAD + size;
}

static void check_finite(const double *numbers, size_t count)
{
    for (size_t k = 0; k < count; k++)
        FUZZ_LAW(isfinite(numbers[k]));
}

/* Names are texts, and a class is found by its own. */
static void check_names(const keepfit_model *model)
{
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_model_schema(model, &schema);
    size_t letters = schema.target ? strlen(schema.target) : 0;
    for (size_t f = 0; schema.feature && f < schema.features; f++)
        letters += strlen(schema.feature[f]);
    FUZZ_LAW(letters <= LARGEST);
    for (size_t k = 0; k < schema.classes; k++) {
        double label;
        FUZZ_LAW(isfinite(schema.label[k]) && keepfit_schema_class(&schema, schema.label[k]) == schema.class_name[k]);
        FUZZ_LAW(keepfit_schema_label(&schema, schema.class_name[k], &label) && label == schema.label[k]);
    }
}

static void check_model(const keepfit_model *model)
{
    keepfit_description about = {.struct_size = sizeof about};
    keepfit_model_describe(model, &about);
    FUZZ_LAW(about.outputs > 0 && about.loss && isfinite(about.lambda) && isfinite(about.bias));
    check_finite(about.labels, about.classes);
    check_finite(about.intercepts, about.outputs);
    check_finite(about.weights, (about.hidden ? about.hidden : about.features) * about.outputs);
    if (about.hidden)
        check_finite(about.hidden_weights, about.features * about.hidden);
    check_names(model);
    double error;
    for (uint64_t f = 0; f < about.features; f++)
        if (keepfit_model_standard_errors(model, f % 2, f, about.outputs - 1, &error))
            FUZZ_LAW(isnan(error) || (isfinite(error) && error >= 0));
    static const uint32_t index[] = {0, 3, 4000000000u};
    static const double value[] = {1, -0.5, 2};
    keepfit_row row = {.count = 3, .index = index, .value = value};
    keepfit_prediction prediction = {.struct_size = sizeof prediction};
    FUZZ_LAW(keepfit_model_predict(model, &row, &prediction, NULL) == KEEPFIT_OK);
    FUZZ_LAW(prediction.outputs == about.outputs);
    if (!about.classification)
        return;
    bool known = about.classes == 0;
    for (size_t k = 0; k < about.classes; k++)
        known |= about.labels[k] == prediction.value;
    FUZZ_LAW(known);
    FUZZ_LAW(!(prediction.probability < 0) && !(prediction.probability > 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char file[HEAD + LARGEST];
    if (size == 0 || size > LARGEST)
        return 0;
    const unsigned char *bytes = data + 1;
    size_t count = size - 1;
    if (*data & 1) {
        count = put_head(file, bytes, count, *data & 8 ? 5 : *data & 4 ? 3 : *data & 2 ? 2 : 1);
        bytes = file;
    }
    keepfit_model *model = NULL;
    keepfit_error error = {0};
    keepfit_status status = kf_model_decode(bytes, count, "input", &model, &error);
    if (status != KEEPFIT_OK) {
        FUZZ_LAW(status == KEEPFIT_CORRUPT && error.status == status && error.message[0] && !model);
        return 0;
    }
    check_model(model);
    size_t written;
    unsigned char *again = kf_model_encode(model, &written);
    FUZZ_LAW(again && written == count && memcmp(again, bytes, count) == 0);
    free(again);
    keepfit_model_free(model);
    return 0;
}
