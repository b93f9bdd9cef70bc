/* Program and library of different versions: structs that are shorter than the library's, as an older program has them, and
 * longer ones, as a newer one has. Neither side touches what the other does not have. */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "support.h"

/* What programs were compiled with: these two come in arrays, and never change. */
#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(keepfit_row) == 24 && offsetof(keepfit_row, index) == 8 && offsetof(keepfit_row, value) == 16,
               "row");
_Static_assert(sizeof(keepfit_point) == 48 && offsetof(keepfit_point, target) == 24, "point");
_Static_assert(offsetof(keepfit_point, weight) == 32 && offsetof(keepfit_point, weightless) == 40, "point");
/* These may grow, but never shrink. */
_Static_assert(sizeof(keepfit_error) >= 592 && sizeof(keepfit_schema) >= 72 && sizeof(keepfit_block) >= 72,
               "sizes of 1.0");
#endif
#define BEGINS_WITH_SIZE(type)                                                                                         \
    _Static_assert(offsetof(type, struct_size) == 0 && sizeof(((type *)0)->struct_size) == sizeof(size_t), #type)
BEGINS_WITH_SIZE(keepfit_error);
BEGINS_WITH_SIZE(keepfit_schema);
BEGINS_WITH_SIZE(keepfit_block);
BEGINS_WITH_SIZE(keepfit_report);
BEGINS_WITH_SIZE(keepfit_measurement);
BEGINS_WITH_SIZE(keepfit_prediction);
BEGINS_WITH_SIZE(keepfit_description);
BEGINS_WITH_SIZE(keepfit_stream_info);
BEGINS_WITH_SIZE(keepfit_objective);
BEGINS_WITH_SIZE(keepfit_durability);
BEGINS_WITH_SIZE(keepfit_journal_info);
BEGINS_WITH_SIZE(keepfit_note);
BEGINS_WITH_SIZE(keepfit_disk);
BEGINS_WITH_SIZE(keepfit_entry);
BEGINS_WITH_SIZE(keepfit_option);
BEGINS_WITH_SIZE(keepfit_guess);

#define MARK 0x5a
#define ROOM 2048

/* A struct in memory that is all marks, so that each byte tells whether it was written. */
union space {
    size_t struct_size;
    unsigned char bytes[ROOM];
    keepfit_error error;
};

static void *prepare(union space *space, size_t size)
{
    memset(space, MARK, sizeof *space);
    space->struct_size = size;
    return space;
}

static bool is_marked(const union space *space, size_t from)
{
    for (size_t k = from; k < ROOM; k++)
        if (space->bytes[k] != MARK)
            return false;
    return true;
}

/* Those who fill in a struct, each with its own kind of it. */
struct source {
    keepfit_fit *fit, *durable;
    keepfit_model *model;
    keepfit_stream *stream;
    keepfit_journal *journal;
};

static void give_report(const struct source *source, void *to)
{
    keepfit_fit_report(source->fit, to);
}

static void give_measurement(const struct source *source, void *to)
{
    /* not the optimum, which is sought from the last one on, and so not the same to the last bit */
    TAP_NEED(keepfit_fit_measure(source->fit, KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_BOUND, to) == KEEPFIT_OK);
}

static void give_prediction(const struct source *source, void *to)
{
    static const double value[] = {1, -2, 3};
    TAP_NEED(keepfit_model_predict(source->model, &(keepfit_row){3, NULL, value}, to, NULL) == KEEPFIT_OK);
}

static void give_description(const struct source *source, void *to)
{
    keepfit_model_describe(source->model, to);
}

static void give_fit_schema(const struct source *source, void *to)
{
    keepfit_fit_schema(source->fit, to);
}

static void give_model_schema(const struct source *source, void *to)
{
    keepfit_model_schema(source->model, to);
}

static void give_stream_schema(const struct source *source, void *to)
{
    keepfit_stream_schema(source->stream, to);
}

static void give_journal_schema(const struct source *source, void *to)
{
    keepfit_journal_schema(source->journal, to);
}

static void give_stream_info(const struct source *source, void *to)
{
    keepfit_stream_describe(source->stream, to);
}

static void give_journal_info(const struct source *source, void *to)
{
    keepfit_journal_describe(source->journal, to);
}

static void give_durability(const struct source *source, void *to)
{
    keepfit_fit_durability(source->durable, to);
}

static void give_entry(const struct source *source, void *to)
{
    (void)source;
    TAP_NEED(keepfit_family_entry(KEEPFIT_FEATURES, 0, to));
}

static void give_format(const struct source *source, void *to)
{
    (void)source;
    TAP_NEED(keepfit_family_entry(KEEPFIT_FORMATS, 0, to));
}

static void give_option(const struct source *source, void *to)
{
    (void)source;
    TAP_NEED(keepfit_option_entry(1, to));
}

static void give_found_option(const struct source *source, void *to)
{
    (void)source;
    TAP_NEED(keepfit_option_find("lambda", to));
}

static void give_error(const struct source *source, void *to)
{
    keepfit_fit *fit = NULL;
    keepfit_options *options = options_from("method=nonsense");
    (void)source;
    TAP_NEED(keepfit_fit_create(options, &fit, to) == KEEPFIT_USAGE);
    keepfit_options_free(options);
}

static void give_error_of_model(const struct source *source, void *to)
{
    keepfit_model *model = NULL;
    (void)source;
    TAP_NEED(keepfit_model_load("/nowhere/at/all", &model, to) == KEEPFIT_IO);
}

static void give_error_of_journal(const struct source *source, void *to)
{
    keepfit_journal *journal = NULL;
    (void)source;
    TAP_NEED(keepfit_failed(keepfit_journal_open("/nowhere/at/all", NULL, &journal, to)));
}

static void give_error_of_stream(const struct source *source, void *to)
{
    keepfit_stream *stream = NULL;
    (void)source;
    TAP_NEED(keepfit_stream_open("/nowhere/at/all", NULL, &stream, to) == KEEPFIT_DATA);
}

static void give_error_of_setting(const struct source *source, void *to)
{
    keepfit_options *options = keepfit_options_create();
    (void)source;
    TAP_NEED(keepfit_options_set(options, "lamda", "1", to) == KEEPFIT_USAGE);
    keepfit_options_free(options);
}

static const struct {
    const char *name;
    void (*give)(const struct source *source, void *to);
    size_t size;
} kinds[] = {{"keepfit_fit_report", give_report, sizeof(keepfit_report)},
             {"keepfit_fit_measure", give_measurement, sizeof(keepfit_measurement)},
             {"keepfit_model_predict", give_prediction, sizeof(keepfit_prediction)},
             {"keepfit_model_describe", give_description, sizeof(keepfit_description)},
             {"keepfit_fit_schema", give_fit_schema, sizeof(keepfit_schema)},
             {"keepfit_model_schema", give_model_schema, sizeof(keepfit_schema)},
             {"keepfit_stream_schema", give_stream_schema, sizeof(keepfit_schema)},
             {"keepfit_journal_schema", give_journal_schema, sizeof(keepfit_schema)},
             {"keepfit_stream_describe", give_stream_info, sizeof(keepfit_stream_info)},
             {"keepfit_journal_describe", give_journal_info, sizeof(keepfit_journal_info)},
             {"keepfit_fit_durability", give_durability, sizeof(keepfit_durability)},
             {"keepfit_family_entry", give_entry, sizeof(keepfit_entry)},
             {"keepfit_family_entry (formats)", give_format, sizeof(keepfit_entry)},
             {"keepfit_option_entry", give_option, sizeof(keepfit_option)},
             {"keepfit_option_find", give_found_option, sizeof(keepfit_option)},
             {"keepfit_fit_create", give_error, sizeof(keepfit_error)},
             {"keepfit_model_load", give_error_of_model, sizeof(keepfit_error)},
             {"keepfit_journal_open", give_error_of_journal, sizeof(keepfit_error)},
             {"keepfit_stream_open", give_error_of_stream, sizeof(keepfit_error)},
             {"keepfit_options_set", give_error_of_setting, sizeof(keepfit_error)}};

/* Every length: the beginning is what it is in full, and nothing behind it is touched. */
static void test_outputs(struct tap *tap, const struct source *source)
{
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        static union space full, other;
        size_t size = kinds[k].size;
        kinds[k].give(source, prepare(&full, size));
        bool shorter = true, marked = is_marked(&full, size) && full.struct_size == size;
        for (size_t length = sizeof(size_t); length < size; length++) {
            kinds[k].give(source, prepare(&other, length));
            shorter = shorter && is_marked(&other, length) && other.struct_size == length &&
                      memcmp(other.bytes + sizeof length, full.bytes + sizeof length, length - sizeof length) == 0;
        }
        tap_check(tap, marked && shorter, "%s: an older program's shorter struct is filled as far as it goes",
                  kinds[k].name);
        kinds[k].give(source, prepare(&other, size + 64));
        bool longer = is_marked(&other, size) && memcmp(other.bytes + 8, full.bytes + 8, size - 8) == 0;
        kinds[k].give(source, prepare(&other, 0));
        bool first = is_marked(&other, size) && memcmp(other.bytes + 8, full.bytes + 8, size - 8) == 0;
        tap_check(tap, longer, "%s: of a newer program's longer struct the rest is left alone", kinds[k].name);
        tap_check(tap, first && other.struct_size == 0, "%s: no size is that of 1.0", kinds[k].name);
    }
}

/* Inputs that end before the last fields: as if these were 0. */
static void test_inputs(struct tap *tap)
{
    static const double value[] = {1, 2, 3, 4}, target[] = {1, 2}, weight[] = {5, 7};
    keepfit_block block = {.struct_size = offsetof(keepfit_block, weight), .count = 2, .features = 2, .stride = 2};
    block.value = value;
    block.target = target;
    block.weight = weight;
    keepfit_fit *fit = fit_from("lambda=0.1");
    keepfit_point point;
    TAP_NEED(keepfit_fit_extend(fit, &block, NULL) == KEEPFIT_OK && keepfit_fit_point(fit, 1, &point) == KEEPFIT_OK);
    tap_check(tap, point.weight == 1, "an older program's block has no weights");
    struct {
        keepfit_block block;
        size_t unknown;
    } longer = {block, 99};
    longer.block.struct_size = sizeof longer;
    TAP_NEED(keepfit_fit_extend(fit, &longer.block, NULL) == KEEPFIT_OK &&
             keepfit_fit_point(fit, 3, &point) == KEEPFIT_OK);
    tap_check(tap, point.weight == 7, "what a newer program's block has besides is not looked at");
    static const char *const names[] = {"a", "b"};
    static const double labels[] = {1, 2};
    keepfit_schema schema = {.struct_size = offsetof(keepfit_schema, classes), .features = 2, .feature = names};
    schema.classes = 2;
    schema.label = labels;
    schema.class_name = names;
    keepfit_schema known = {.struct_size = sizeof known};
    keepfit_fit *classes = fit_from("loss=logistic");
    TAP_NEED(keepfit_fit_name(classes, &schema) == KEEPFIT_OK);
    keepfit_fit_schema(classes, &known);
    tap_check(tap, known.features == 2 && strcmp(known.feature[1], "b") == 0 && known.classes == 0,
              "an older program's schema has no classes");
    const keepfit_error *error = keepfit_fit_error(fit);
    tap_check(tap, keepfit_fit_remove(fit, 99) == KEEPFIT_USAGE && error->struct_size == sizeof *error,
              "an error that is shown has the library's size");
    keepfit_fit_free(classes);
    keepfit_fit_free(fit);
}

static int no_curvature(void *context, const keepfit_point *point, double *curvature)
{
    (void)context;
    (void)point;
    *curvature = 1;
    return 0;
}

static int no_value(void *context, const double *x, const keepfit_point *point, double *value)
{
    (void)context;
    (void)x;
    (void)point;
    *value = 0;
    return 0;
}

static void test_callbacks(struct tap *tap)
{
    keepfit_objective objective = {.struct_size = offsetof(keepfit_objective, curvature), .dimension = 1};
    objective.value = objective.gradient = no_value;
    objective.curvature = no_curvature;
    keepfit_options *options = keepfit_options_create();
    keepfit_fit *fit = NULL;
    tap_check(tap, keepfit_fit_create_custom(options, &objective, &fit, NULL) == KEEPFIT_USAGE,
              "an older program's objective has no curvature");
    objective.struct_size = sizeof objective;
    tap_check(tap, keepfit_fit_create_custom(options, &objective, &fit, NULL) == KEEPFIT_OK, "one of today has");
    keepfit_fit_free(fit);
    keepfit_disk disk = *keepfit_disk_system();
    disk.struct_size = offsetof(keepfit_disk, resolve);
    keepfit_options_disk(options, &disk);
    tap_check(tap, keepfit_fit_create(options, &fit, NULL) == KEEPFIT_USAGE, "a disk without all functions is refused");
    keepfit_options_free(options);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

int main(void)
{
    struct tap tap = {0};
    char path[] = "/tmp/keepfit-sizes-XXXXXX", folder[] = "/tmp/keepfit-sizes-XXXXXX", setting[64];
    int file = mkstemp(path);
    FILE *table = file >= 0 ? fdopen(file, "w") : NULL;
    TAP_NEED(table && fputs("a,b,c,class\n1,2,3,yes\n-1,2,1,no\n", table) >= 0 && fclose(table) == 0);
    TAP_NEED(mkdtemp(folder));
    snprintf(setting, sizeof setting, "loss=logistic lambda=0.1 journal=%s", folder);
    struct source source = {.fit = fit_from("loss=logistic lambda=0.1"), .durable = fit_from(setting)};
    keepfit_options *options = options_from("loss=logistic");
    TAP_NEED(keepfit_stream_open(path, options, &source.stream, NULL) == KEEPFIT_OK);
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_point point;
    while (keepfit_stream_next(source.stream, &point) == KEEPFIT_OK) {
        keepfit_stream_schema(source.stream, &schema);
        TAP_NEED(keepfit_fit_name(source.fit, &schema) == KEEPFIT_OK &&
                 keepfit_fit_push(source.fit, &point) == KEEPFIT_OK);
        TAP_NEED(keepfit_fit_name(source.durable, &schema) == KEEPFIT_OK &&
                 keepfit_fit_push(source.durable, &point) == KEEPFIT_OK);
    }
    TAP_NEED(keepfit_fit_model(source.fit, &source.model) == KEEPFIT_OK);
    TAP_NEED(keepfit_journal_open(folder, NULL, &source.journal, NULL) == KEEPFIT_OK);
    test_outputs(&tap, &source);
    test_inputs(&tap);
    test_callbacks(&tap);
    keepfit_journal_close(source.journal);
    keepfit_model_free(source.model);
    keepfit_stream_close(source.stream);
    keepfit_fit_free(source.durable);
    keepfit_fit_free(source.fit);
    keepfit_options_free(options);
    unlink(path);
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return tap_end(&tap);
}
