/* Model files: what is saved comes back; every flipped bit and every truncation is noticed; failures leave the old file. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static keepfit_model *small_model(const char *loss)
{
    char text[128];
    snprintf(text, sizeof text, "loss=%s method=auto lambda=0.1 bias=1", loss);
    struct cloud *cloud = cloud_make(loss, 30, 3, true, false, 61);
    keepfit_fit *fit = fit_from(text);
    keepfit_model *model = NULL;
    push_range(fit, cloud, 0, cloud->count);
    TAP_NEED(keepfit_fit_model(fit, &model) == KEEPFIT_OK);
    keepfit_fit_free(fit);
    free(cloud);
    return model;
}

static void test_round_trip(struct tap *tap, const char *loss, const char *path)
{
    keepfit_model *model = small_model(loss), *loaded = NULL;
    keepfit_error error;
    bool good = keepfit_model_save(model, path, &error) == KEEPFIT_OK;
    good = good && keepfit_model_load(path, &loaded, &error) == KEEPFIT_OK;
    TAP_NEED(good);
    keepfit_description a, b;
    keepfit_model_describe(model, &a);
    keepfit_model_describe(loaded, &b);
    good = a.outputs == b.outputs && a.classes == b.classes && a.features == b.features && a.stages == b.stages &&
           a.fo == b.fo && a.lambda == b.lambda && a.bias == b.bias && strcmp(a.loss, b.loss) == 0 &&
           strcmp(a.method, b.method) == 0 &&
           memcmp(a.weights, b.weights, a.features * a.outputs * sizeof(double)) == 0 &&
           memcmp(a.intercepts, b.intercepts, a.outputs * sizeof(double)) == 0 &&
           memcmp(a.labels, b.labels, a.classes * sizeof(double)) == 0;
    tap_check(tap, good, "%s: a model comes back as it was", loss);
    keepfit_model_free(model);
    keepfit_model_free(loaded);
}

static void write_bytes(const char *path, const unsigned char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    TAP_NEED(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

static void test_damage(struct tap *tap, const char *path, const char *other)
{
    unsigned char bytes[4096] = {0};
    FILE *file = fopen(path, "rb");
    TAP_NEED(file);
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    keepfit_model *model = NULL;
    keepfit_error error;
    size_t unnoticed = 0;
    for (size_t bit = 0; bit < 8 * count; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        write_bytes(other, bytes, count);
        unnoticed += keepfit_model_load(other, &model, &error) != KEEPFIT_CORRUPT;
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    tap_check(tap, unnoticed == 0, "each of %zu flipped bits is noticed", 8 * count);
    for (size_t length = 0; length < count; length++) {
        write_bytes(other, bytes, length);
        unnoticed += keepfit_model_load(other, &model, &error) != KEEPFIT_CORRUPT;
    }
    write_bytes(other, bytes, count + 1);
    unnoticed += keepfit_model_load(other, &model, &error) != KEEPFIT_CORRUPT;
    tap_check(tap, unnoticed == 0, "each of %zu truncations and an appended byte is noticed", count);
    unlink(other);
}

int main(void)
{
    struct tap tap = {0};
    char folder[] = "/tmp/keepfit-test-XXXXXX", path[64], other[64];
    TAP_NEED(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/model.kf", folder);
    snprintf(other, sizeof other, "%s/other.kf", folder);
    const char *losses[LOSSES_MOST];
    size_t loss_count = linear_losses(losses);
    for (size_t k = 0; k < loss_count; k++)
        test_round_trip(&tap, losses[k], path);
    test_damage(&tap, path, other);

    keepfit_model *model = small_model("squared"), *loaded = NULL;
    keepfit_error error;
    tap_check(&tap, keepfit_model_save(model, folder, &error) == KEEPFIT_IO, "a folder is not overwritten: %s",
              error.message);
    tap_check(&tap, keepfit_model_save(model, "/dev/null", &error) == KEEPFIT_IO, "nor a device");
    tap_check(&tap, keepfit_model_save(model, "/nonexistent/x.kf", &error) == KEEPFIT_IO,
              "a missing folder is told: %s", error.message);
    tap_check(&tap, keepfit_model_load("/nonexistent/x.kf", &loaded, &error) == KEEPFIT_IO,
              "a missing model is told: %s", error.message);
    tap_check(&tap, keepfit_model_load(path, &loaded, NULL) == KEEPFIT_OK, "errors need not be asked for");
    keepfit_model_free(loaded);
    keepfit_model_free(model);
    unlink(path);
    rmdir(folder);
    return tap_end(&tap);
}
