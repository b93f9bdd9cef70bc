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
    keepfit_error error = {.struct_size = sizeof error};
    bool good = keepfit_model_save(model, path, &error) == KEEPFIT_OK;
    good = good && keepfit_model_load(path, &loaded, &error) == KEEPFIT_OK;
    TAP_NEED(good);
    keepfit_description a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
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

/* Standard errors are kept, missing ones too. */
static void test_errors(struct tap *tap, const char *loss, const char *path)
{
    char text[128];
    snprintf(text, sizeof text, "loss=%s lambda=0.1 intercept=true", loss);
    struct cloud *cloud = cloud_make(loss, 40, 3, true, true, 62);
    keepfit_fit *fit = fit_from(text);
    keepfit_model *model = NULL, *loaded = NULL;
    size_t different = 0, known = 0;
    push_range(fit, cloud, 0, cloud->count);
    TAP_NEED(keepfit_fit_model(fit, &model) == KEEPFIT_OK);
    TAP_NEED(!keepfit_model_standard_errors(model, true, 0, 0, &(double){0}));
    TAP_NEED(keepfit_fit_standard_errors(fit, model) == KEEPFIT_OK);
    TAP_NEED(keepfit_model_save(model, path, NULL) == KEEPFIT_OK);
    TAP_NEED(keepfit_model_load(path, &loaded, NULL) == KEEPFIT_OK);
    for (size_t k = 0; k < 2 * 4; k++) {
        uint64_t feature = k / 2 == 3 ? KEEPFIT_INTERCEPT : k / 2;
        double a, b;
        TAP_NEED(keepfit_model_standard_errors(model, k % 2, feature, 0, &a));
        TAP_NEED(keepfit_model_standard_errors(loaded, k % 2, feature, 0, &b));
        different += isnan(a) != isnan(b) || (!isnan(a) && a != b);
        known += !isnan(a) && a > 0;
    }
    tap_check(tap, different == 0 && known >= 4, "%s: standard errors come back as they were", loss);
    keepfit_model_free(model);
    keepfit_model_free(loaded);
    keepfit_fit_free(fit);
    free(cloud);
}

static const char *const columns[] = {"amount", "", "say \"x\""}, *const classes[] = {"ok", "fraud", "who knows"};

static keepfit_model *named_model(const char *loss)
{
    char text[128];
    snprintf(text, sizeof text, "loss=%s method=auto lambda=0.1 bias=1", loss);
    struct cloud *cloud = cloud_make(loss, 30, 3, true, false, 61);
    keepfit_fit *fit = fit_from(text);
    keepfit_model *model = NULL;
    push_range(fit, cloud, 0, cloud->count);
    TAP_NEED(keepfit_fit_model(fit, &model) == KEEPFIT_OK);
    keepfit_description about = {.struct_size = sizeof about};
    keepfit_model_describe(model, &about);
    const keepfit_schema schema = {.features = 3,
                                   .feature = columns,
                                   .target_at = 2,
                                   .target = "verdict",
                                   .weight = "w",
                                   .classes = about.classes,
                                   .label = about.labels,
                                   .class_name = classes};
    TAP_NEED(keepfit_fit_name(fit, &schema) == KEEPFIT_OK);
    keepfit_model_free(model);
    TAP_NEED(keepfit_fit_model(fit, &model) == KEEPFIT_OK);
    keepfit_fit_free(fit);
    free(cloud);
    return model;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_names(const keepfit_schema *a, const keepfit_schema *b)
{
    bool same = a->features == b->features && a->target_at == b->target_at && same_text(a->target, b->target) &&
                same_text(a->weight, b->weight) && a->classes == b->classes && !a->feature == !b->feature;
    for (size_t f = 0; same && a->feature && f < a->features; f++)
        same = same_text(a->feature[f], b->feature[f]);
    for (size_t k = 0; same && k < a->classes; k++)
        same = a->label[k] == b->label[k] && same_text(a->class_name[k], b->class_name[k]);
    return same;
}

static void test_names(struct tap *tap, const char *loss, const char *path)
{
    keepfit_model *model = named_model(loss), *loaded = NULL, *read = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_schema a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b}, c = {.struct_size = sizeof c};
    unsigned char *bytes = NULL;
    size_t count = 0;
    TAP_NEED(keepfit_model_save(model, path, &error) == KEEPFIT_OK);
    TAP_NEED(keepfit_model_load(path, &loaded, &error) == KEEPFIT_OK);
    TAP_NEED(keepfit_model_write(model, &bytes, &count, &error) == KEEPFIT_OK);
    TAP_NEED(keepfit_model_read(bytes, count, "bytes", &read, &error) == KEEPFIT_OK);
    keepfit_model_schema(model, &a);
    keepfit_model_schema(loaded, &b);
    keepfit_model_schema(read, &c);
    bool named = a.feature && strcmp(a.feature[2], columns[2]) == 0 && strcmp(a.target, "verdict") == 0;
    for (size_t k = 0; named && k < a.classes; k++)
        named = strcmp(keepfit_schema_class(&a, a.label[k]), classes[k]) == 0;
    tap_check(tap, named && same_names(&a, &b) && same_names(&a, &c), "%s: names come back as they were", loss);
    free(bytes);
    keepfit_model_free(model);
    keepfit_model_free(loaded);
    keepfit_model_free(read);
}

/* What is said twice must be the same both times; what is refused changes nothing. */
static void test_contradictions(struct tap *tap)
{
    static const char *const one[] = {"a", "b"}, *const other[] = {"b", "a"}, *const names[] = {"x", "y"},
                             *const twice[] = {"x", "x"};
    static const double labels[] = {0, 1}, turned[] = {1, 0};
    const keepfit_schema said = {.features = 2, .feature = one, .classes = 2, .label = labels, .class_name = names};
    const struct {
        const char *what;
        keepfit_schema schema;
        keepfit_status status;
    } cases[] = {
        {"the same", said, KEEPFIT_OK},
        {"nothing", {0}, KEEPFIT_OK},
        {"a count alone", {.features = 2}, KEEPFIT_OK},
        {"other features", {.features = 2, .feature = other}, KEEPFIT_DATA},
        {"fewer features", {.features = 1, .feature = one}, KEEPFIT_DATA},
        {"other classes", {.classes = 2, .label = turned, .class_name = names}, KEEPFIT_DATA},
        {"one name for two", {.classes = 2, .label = (const double[]){7, 8}, .class_name = twice}, KEEPFIT_DATA},
        {"a label that is not finite",
         {.classes = 1, .label = (const double[]){1.0 / 0.0}, .class_name = (const char *const[]){"z"}},
         KEEPFIT_DATA},
    };
    keepfit_fit *fit = fit_from("loss=logistic");
    keepfit_schema known = {.struct_size = sizeof known};
    TAP_NEED(keepfit_fit_name(fit, &said) == KEEPFIT_OK);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        keepfit_status status = keepfit_fit_name(fit, &cases[k].schema);
        keepfit_fit_schema(fit, &known);
        tap_check(tap, status == cases[k].status && same_names(&known, &said), "names said again: %s", cases[k].what);
    }
    keepfit_fit_free(fit);
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
    keepfit_error error = {.struct_size = sizeof error};
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
    const char *loss;
    for (size_t l = 0; (loss = linear_loss(l)); l++)
        test_round_trip(&tap, loss, path);
    test_round_trip(&tap, "logistic", path); /* the one that is damaged next */
    test_damage(&tap, path, other);
    for (size_t l = 0; (loss = linear_loss(l)); l++)
        test_names(&tap, loss, path);
    test_names(&tap, "logistic", path);
    test_damage(&tap, path, other);
    for (size_t l = 0; (loss = linear_loss(l)); l++)
        test_errors(&tap, loss, path);
    test_errors(&tap, "logistic", path);
    test_damage(&tap, path, other);
    test_contradictions(&tap);

    keepfit_model *model = small_model("squared"), *loaded = NULL;
    keepfit_error error = {.struct_size = sizeof error};
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
