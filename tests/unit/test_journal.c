/* Journals: what comes back is what was pushed, and the run goes on bit for bit; every flipped bit and every truncation is noticed, and the
 * points before it are kept; what does not belong together is refused. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include "model/model.h"
#include "support.h"
#include "journals.h"

#define COUNT 60

/* Whether the journal's model has every byte of the fit's, and the disk has seen no call that changes something. */
static bool gives_model(struct world *world, keepfit_fit *fit)
{
    keepfit_options *options = options_from("");
    keepfit_model *model = NULL, *expected = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    size_t size, other;
    uint64_t calls = world->calls;
    keepfit_options_disk(options, &world->disk);
    TAP_NEED(keepfit_fit_model(fit, &expected) == KEEPFIT_OK);
    bool given = keepfit_journal_model(FOLDER, options, &model, &error) == KEEPFIT_OK;
    unsigned char *bytes = given ? kf_model_encode(model, &size) : NULL, *wanted = kf_model_encode(expected, &other);
    bool same = bytes && wanted && size == other && memcmp(bytes, wanted, size) == 0 && world->calls == calls;
    free(bytes);
    free(wanted);
    keepfit_model_free(model);
    keepfit_model_free(expected);
    keepfit_options_free(options);
    return same;
}

/* ---- going on ---- */

/* Broken off and taken up again at every tenth point, with and without checkpoints, for every method. */
static void test_methods(struct tap *tap)
{
    keepfit_entry method = {.struct_size = sizeof method};
    for (size_t k = 0; keepfit_family_entry(KEEPFIT_METHODS, k, &method); k++) {
        char text[256], kept[320];
        snprintf(text, sizeof text, "loss=squared lambda=0.1 epsilon=1e-2 inner=9 outer=2 method=%s", method.name);
        struct cloud *cloud = cloud_make("squared", COUNT, 5, true, true, 11);
        keepfit_fit *whole = fit_from(text);
        push_range(whole, cloud, 0, COUNT);
        bool same = true, all = true, model = true;
        for (int checkpoints = 0; checkpoints < 2; checkpoints++) {
            struct world *world = world_create();
            snprintf(kept, sizeof kept, "%s journal=" FOLDER " segment-bytes=4096%s", text,
                     checkpoints ? " checkpoint-gradients=40" : "");
            for (size_t from = 0; from < COUNT; from += 10) {
                keepfit_fit *part = journal_fit_sound(world, kept);
                keepfit_durability durability = {.struct_size = sizeof durability};
                keepfit_fit_durability(part, &durability);
                all = all && durability.resumed == from && (checkpoints || durability.replayed == from);
                push_range(part, cloud, from, from + 10);
                model = model && gives_model(world, part);
                if (from + 10 == COUNT)
                    same = same && same_iterate(part, whole);
                keepfit_fit_free(part);
            }
            world_free(world);
        }
        tap_check(tap, same && all, "%s: taken up again five times, replayed or from checkpoints: the same bits",
                  method.name);
        tap_check(tap, model, "%s: meanwhile the journal gives the model, and nothing is changed", method.name);
        keepfit_fit_free(whole);
        free(cloud);
    }
}

/* Classes that appear late, or are expected, points and removals in blocks. */
static void run_mixed(keepfit_fit *fit, const struct cloud *cloud, size_t part)
{
    const uint64_t gone[] = {1, 4, 5};
    double value[3 * FEATURES_MOST], target[3];
    for (size_t k = 0; k < 3; k++) {
        const keepfit_point *point = &cloud->point[20 * part + k];
        memcpy(value + k * cloud->features, point->row.value, cloud->features * sizeof *value);
        target[k] = point->target;
    }
    keepfit_block block = {
        .count = 3, .features = cloud->features, .stride = cloud->features, .value = value, .target = target};
    TAP_NEED(keepfit_fit_extend(fit, &block, NULL) == KEEPFIT_OK);
    push_range(fit, cloud, 20 * part + 3, 20 * part + 20);
    TAP_NEED(keepfit_fit_remove_block(fit, gone, 3) == KEEPFIT_OK);
    TAP_NEED(keepfit_fit_remove(fit, 2) == KEEPFIT_OK);
    TAP_NEED(keepfit_fit_expect(fit, (double)(7 + part)) == KEEPFIT_OK);
}

static void test_mixed(struct tap *tap)
{
    static const char *const methods[] = {"auto", "table", "refit", "saga", "csvrg"};
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
        char text[256], kept[320];
        snprintf(text, sizeof text, "loss=softmax lambda=0.1 epsilon=5e-2 bias=1 method=%s", methods[k]);
        snprintf(kept, sizeof kept, "%s journal=" FOLDER " segment-bytes=4096 sync=batch:9", text);
        struct cloud *cloud = cloud_make("softmax", COUNT, 4, false, false, 12);
        struct world *world = world_create();
        keepfit_fit *whole = fit_from(text), *part = NULL;
        for (size_t p = 0; p < 3; p++) {
            run_mixed(whole, cloud, p);
            part = journal_fit_sound(world, kept);
            run_mixed(part, cloud, p);
            if (p == 1)
                TAP_NEED(keepfit_fit_compact(part) == KEEPFIT_OK);
            if (p < 2)
                keepfit_fit_free(part);
        }
        tap_check(tap, same_iterate(part, whole), "%s: blocks, removals, expected classes, compacted: the same bits",
                  methods[k]);
        keepfit_fit_free(part);
        keepfit_fit_free(whole);
        world_free(world);
        free(cloud);
    }
}

/* Dense rows lie one behind the other in memory, and apart in files: sums over them have the same bits. */
static void test_dense(struct tap *tap)
{
    static const size_t widths[] = {1, 2, 7, 16, 33, 40};
    bool same = true;
    for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++) {
        static const char text[] = "loss=logistic lambda=0.01 epsilon=1e-5 threads=1";
        char kept[320];
        snprintf(kept, sizeof kept, "%s journal=" FOLDER " segment-bytes=65536 sync=none", text);
        struct cloud *cloud = cloud_make("logistic", 240, widths[k], false, false, 18);
        struct world *world = world_create();
        keepfit_fit *whole = fit_from(text), *part = NULL;
        push_range(whole, cloud, 0, 240);
        for (size_t p = 0; p < 3; p++) {
            keepfit_fit_free(part);
            part = journal_fit_sound(world, kept);
            push_range(part, cloud, 80 * p, 80 * (p + 1));
        }
        same = same && same_iterate(part, whole);
        keepfit_fit_free(part);
        keepfit_fit_free(whole);
        world_free(world);
        free(cloud);
    }
    tap_check(tap, same, "dense rows of 1 to 40 features, in memory and in files: the same bits");
}

/* Rows lie in memory, then in files; a journal gives them back without a fit, too. */
static void test_points(struct tap *tap, const char *more)
{
    char text[256];
    snprintf(text, sizeof text, "lambda=0.1 journal=" FOLDER " segment-bytes=4096 %s", more);
    struct world *world = world_create();
    struct cloud *cloud = cloud_make("logistic", 400, 6, true, true, 13);
    keepfit_fit *fit = journal_fit_sound(world, text);
    push_range(fit, cloud, 0, 200);
    keepfit_fit_free(fit);
    fit = journal_fit_sound(world, text);
    push_range(fit, cloud, 200, 400);
    bool same = true;
    keepfit_point point;
    uint64_t arrival = 0;
    for (size_t k = 0; k < 400; k++)
        same = same && keepfit_fit_point(fit, k, &point) == KEEPFIT_OK &&
               journal_same_point(&point, &cloud->point[k]) &&
               keepfit_fit_compare(fit, k + 1, &cloud->point[k]) == KEEPFIT_OK &&
               keepfit_fit_compare(fit, k + 1, &cloud->point[(k + 1) % 400]) == KEEPFIT_DIFFERENT;
    keepfit_fit_free(fit);
    tap_check(tap, same, "%s: the fit's points are those that were pushed, over several segments", more);
    keepfit_journal *journal = NULL;
    keepfit_journal_info info = {.struct_size = sizeof info};
    keepfit_error error = {.struct_size = sizeof error};
    TAP_NEED(journal_look(world, &journal, &error) == KEEPFIT_OK);
    keepfit_journal_describe(journal, &info);
    same = info.segments > 4 && info.present == 400 && !info.damage && !info.torn;
    for (size_t k = 0; k < 400; k++)
        same = same && keepfit_journal_next(journal, &point, &arrival) == KEEPFIT_OK && arrival == k + 1 &&
               journal_same_point(&point, &cloud->point[k]);
    same = same && keepfit_journal_next(journal, &point, NULL) == KEEPFIT_END;
    tap_check(tap, same, "%s: and so are the journal's", more);
    keepfit_journal_close(journal);
    world_free(world);
    free(cloud);
}

static int no_loss(void *context, const double *x, const keepfit_point *point, double *value)
{
    (void)context, (void)x, (void)point;
    *value = 0;
    return 0;
}

static int no_gradient(void *context, const double *x, const keepfit_point *point, double *gradient)
{
    (void)context, (void)x, (void)point;
    gradient[0] = 0;
    return 0;
}

/* The name is used long after the fit was made, when a compacted journal gets its settings. */
static void test_callers_name(struct tap *tap)
{
    char name[] = "own";
    struct world *world = world_create();
    struct cloud *cloud = cloud_make("squared", 20, 1, false, false, 47);
    keepfit_options *options = options_from("method=sgd smoothness=1 lambda=0.1 window=5 journal=" FOLDER);
    keepfit_objective objective = {.name = name, .dimension = 1, .value = no_loss, .gradient = no_gradient};
    keepfit_fit *fit = NULL;
    keepfit_error error = {.message = ""};
    keepfit_options_disk(options, &world->disk);
    TAP_NEED(keepfit_fit_create_custom(options, &objective, &fit, NULL) == KEEPFIT_OK);
    memset(name, 'x', sizeof name - 1);
    push_range(fit, cloud, 0, cloud->count);
    TAP_NEED(keepfit_fit_compact(fit) == KEEPFIT_OK);
    keepfit_fit_free(fit);
    objective.name = "own";
    fit = NULL;
    tap_check(tap, keepfit_fit_create_custom(options, &objective, &fit, &error) == KEEPFIT_OK,
              "the journal of an objective whose name the caller overwrites later keeps the name: %s", error.message);
    keepfit_fit_free(fit);
    keepfit_options_free(options);
    world_free(world);
    free(cloud);
}

/* ---- what is refused ---- */

static void test_refusals(struct tap *tap)
{
    struct world *world = world_create();
    struct cloud *cloud = cloud_make("logistic", 20, 3, false, false, 14);
    const char *text = "loss=logistic lambda=0.1 journal=" FOLDER;
    keepfit_fit *fit = journal_fit_sound(world, text), *other = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_report report = {.struct_size = sizeof report};
    push_range(fit, cloud, 0, 10);
    keepfit_point third = cloud->point[0], infinite = cloud->point[0];
    third.target = 5;
    infinite.weight = INFINITY;
    bool refused = keepfit_fit_push(fit, &third) == KEEPFIT_DATA && keepfit_fit_push(fit, &infinite) == KEEPFIT_DATA;
    push_range(fit, cloud, 10, 20);
    char holder[32];
    snprintf(holder, sizeof holder, "process %ld", (long)getpid());
    bool locked = journal_fit(world, text, &other, &error) == KEEPFIT_IO && strstr(error.message, holder);
    tap_check(tap, locked, "a second fit is locked out: %s", error.message);
    keepfit_fit_free(fit);
    fit = journal_fit_sound(world, text);
    keepfit_fit_report(fit, &report);
    tap_check(tap, refused && report.stage == 20, "points that the fit refuses are not recorded");
    keepfit_fit_free(fit);
    static const char *const others[] = {"lambda=0.2", "loss=hinge", "bias=1",    "seed=9",
                                         "method=sgd", "window=5",   "scale=rows"};
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
        char changed[128], key[32];
        snprintf(changed, sizeof changed, "%s journal=" FOLDER, others[k]);
        snprintf(key, sizeof key, "%.*s:", (int)strcspn(others[k], "="), others[k]);
        bool named = journal_fit(world, changed, &other, &error) == KEEPFIT_USAGE && strstr(error.message, key);
        tap_check(tap, named, "another option is refused: %s", error.message);
    }
    fit = journal_fit_sound(world, "threads=2 sync=none max-features=99 journal=" FOLDER);
    const keepfit_options *taken = keepfit_fit_options(fit);
    keepfit_options *copy = keepfit_options_copy(taken);
    tap_check(tap,
              copy && strcmp(keepfit_options_get(copy, "loss"), "logistic") == 0 &&
                  keepfit_options_given(copy, "lambda") && !keepfit_options_given(copy, "epsilon"),
              "what is not given is taken from the journal, and speed may differ");
    keepfit_options_free(copy);
    keepfit_fit_free(fit);
    keepfit_options *wrong = options_from("sync=sometimes");
    tap_check(tap, keepfit_fit_create(wrong, &other, &error) == KEEPFIT_USAGE, "sync has to be one of four: %s",
              error.message);
    keepfit_options_free(wrong);
    world_free(world);
    free(cloud);
}

/* ---- damage ---- */

/* Whether something is said about the damage, and what was before it is kept. `least`: points that lie before it. */
static bool noticed(struct world *world, const struct cloud *cloud, size_t least)
{
    keepfit_journal *journal = NULL;
    keepfit_journal_info info = {.struct_size = sizeof info};
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_status status = journal_look(world, &journal, &error);
    if (status == KEEPFIT_CORRUPT)
        return least == 0;
    if (status != KEEPFIT_OK)
        return false;
    keepfit_journal_describe(journal, &info);
    bool good = (info.damage || info.torn || info.spoilt) && journal_is_prefix(journal, cloud, least);
    keepfit_journal_close(journal);
    /* And a fit either says no, or tells what it has cut off or not used. */
    keepfit_fit *fit = NULL;
    status = journal_fit(world, "journal=" FOLDER, &fit, &error);
    if (status == KEEPFIT_OK) {
        keepfit_durability durability = {.struct_size = sizeof durability};
        keepfit_fit_durability(fit, &durability);
        good = good && !info.damage && (durability.cut || durability.spoilt);
        keepfit_fit_free(fit);
    }
    return good && (status == KEEPFIT_OK || status == KEEPFIT_CORRUPT);
}

/* How many points' records end before this byte of the first segment. */
static size_t points_before(const unsigned char *bytes, size_t at)
{
    size_t offset = 64, points = 0;
    for (;;) {
        uint32_t words, kind;
        memcpy(&words, bytes + offset + 4, sizeof words);
        memcpy(&kind, bytes + offset + 48, sizeof kind);
        offset += 8 * (size_t)words;
        if (offset > at || words == 0)
            return points;
        points += kind == 2 || kind == 3;
    }
}

static void test_flips(struct tap *tap, const struct cloud *cloud, bool checkpoint, const char *suffix)
{
    struct world *world = journal_small(cloud, checkpoint);
    const char *name = NULL;
    char path[128];
    for (size_t k = 0; !name || !strstr(name, suffix); k++)
        TAP_NEED((name = world_name(world, FOLDER "/000001", k)));
    snprintf(path, sizeof path, FOLDER "/000001/%s", name);
    size_t size, silent = 0;
    TAP_NEED(world_file(world, path, &size));
    bool segment = strcmp(suffix, "segment") == 0;
    world_free(world);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        world = journal_small(cloud, checkpoint);
        size_t unused;
        unsigned char *bytes = world_file(world, path, &unused);
        size_t least = segment ? points_before(bytes, bit / 8) : SMALL;
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        silent += !noticed(world, cloud, bit / 8 < 64 && segment ? 0 : least);
        world_free(world);
    }
    tap_check(tap, silent == 0, "each of %zu flipped bits of a %s is noticed%s, the points before it are kept",
              8 * size, suffix, checkpoint ? "" : " without checkpoints");
}

/* Random bits of a journal of several segments, of its checkpoints, and of a model. */
static void test_random_flips(struct tap *tap, size_t flips)
{
    struct world *world = world_create();
    struct cloud *cloud = cloud_make("logistic", 1500, 40, true, false, 17);
    keepfit_fit *fit =
        journal_fit_sound(world, "loss=logistic lambda=0.1 journal=" FOLDER " segment-bytes=100000 sync=none");
    keepfit_model *model = NULL, *loaded = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    push_range(fit, cloud, 0, 1500);
    TAP_NEED(keepfit_fit_checkpoint(fit) == KEEPFIT_OK && keepfit_fit_model(fit, &model) == KEEPFIT_OK);
    TAP_NEED(kf_model_save(&world->disk, model, FOLDER "/000001/model.kf", &error) == KEEPFIT_OK);
    keepfit_model_free(model);
    keepfit_fit_free(fit);
    struct kf_random random;
    size_t silent = 0, files = 0;
    kf_random_seed(&random, 18);
    while (world_name(world, FOLDER "/000001", files))
        files++;
    for (size_t k = 0; k < flips; k++) {
        char path[128];
        size_t size;
        snprintf(path, sizeof path, FOLDER "/000001/%s",
                 world_name(world, FOLDER "/000001", (size_t)kf_random_below(&random, files)));
        unsigned char *bytes = world_file(world, path, &size);
        size_t bit = (size_t)kf_random_below(&random, 8 * size);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (strstr(path, "model.kf")) {
            silent += kf_model_load(&world->disk, path, &loaded, &error) != KEEPFIT_CORRUPT;
        } else {
            keepfit_journal *journal = NULL;
            keepfit_journal_info info = {.damage = NULL};
            keepfit_status status = journal_look(world, &journal, &error);
            if (status == KEEPFIT_OK)
                keepfit_journal_describe(journal, &info);
            silent += status == KEEPFIT_OK && !info.damage && !info.spoilt;
            keepfit_journal_close(journal);
        }
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    tap_check(tap, silent == 0 && files > 5, "%zu random flipped bits of %zu larger files are all noticed", flips,
              files);
    world_free(world);
    free(cloud);
}

static void test_truncations(struct tap *tap, const struct cloud *cloud)
{
    const char *path = FOLDER "/000001/00000000000000000001.segment";
    struct world *world = journal_small(cloud, false);
    size_t size, wrong = 0;
    TAP_NEED(world_file(world, path, &size));
    world_free(world);
    for (size_t length = 0; length < size; length++) {
        world = journal_small(cloud, false);
        size_t unused, least = points_before(world_file(world, path, &unused), length);
        bool settings = points_before(world_file(world, path, &unused), length) > 0;
        world_shorten(world, path, length);
        keepfit_journal *journal = NULL;
        keepfit_error error = {.struct_size = sizeof error};
        keepfit_status status = journal_look(world, &journal, &error);
        bool good =
            status == KEEPFIT_OK ? journal_is_prefix(journal, cloud, least) : status == KEEPFIT_CORRUPT && !settings;
        wrong += !good;
        keepfit_journal_close(journal);
        world_free(world);
    }
    tap_check(tap, wrong == 0, "cut short to each of %zu lengths, the whole points before are kept", size);
}

static void test_repair(struct tap *tap, const struct cloud *cloud)
{
    struct world *world = journal_small(cloud, true);
    const char *path = FOLDER "/000001/00000000000000000001.segment";
    size_t size;
    unsigned char *bytes = world_file(world, path, &size);
    keepfit_options *options = options_from("");
    keepfit_options_disk(options, &world->disk);
    keepfit_journal *journal = NULL;
    keepfit_journal_info info = {.struct_size = sizeof info};
    keepfit_error error = {.struct_size = sizeof error};
    bytes[size - 9] ^= 4; /* the last record; the checkpoint does not know it */
    const char *name = NULL;
    char spoilt[128] = "";
    for (size_t k = 0; (name = world_name(world, FOLDER "/000001", k)); k++)
        if (strstr(name, "checkpoint"))
            snprintf(spoilt, sizeof spoilt, FOLDER "/000001/%s", name);
    world_file(world, spoilt, &size)[50] ^= 1;
    TAP_NEED(keepfit_journal_open(FOLDER, options, &journal, &error) == KEEPFIT_OK);
    keepfit_journal_describe(journal, &info);
    bool before = info.torn && info.spoilt == 1 && !info.damage && info.present == SMALL - 1;
    keepfit_journal_close(journal);
    bool repaired = keepfit_journal_repair(FOLDER, options, &error) == KEEPFIT_OK;
    TAP_NEED(keepfit_journal_open(FOLDER, options, &journal, &error) == KEEPFIT_OK);
    keepfit_journal_describe(journal, &info);
    tap_check(tap, before && repaired && !info.torn && !info.spoilt && info.present == SMALL - 1,
              "a repair cuts the torn tail and removes the spoilt checkpoint, and nothing else");
    keepfit_journal_close(journal);
    bytes = world_file(world, path, &size);
    bytes[64 + 60] ^= 1; /* the settings, which were durable */
    tap_check(tap, keepfit_journal_repair(FOLDER, options, &error) == KEEPFIT_CORRUPT,
              "it does not touch a journal that is damaged otherwise: %s", error.message);
    keepfit_options_free(options);
    world_free(world);
}

/* What lay behind a torn record must not come back once another one is written in its place. */
static void test_stale_tail(struct tap *tap, const struct cloud *cloud)
{
    struct world *world = world_create();
    const char *text = "loss=logistic lambda=0.1 sync=none journal=" FOLDER;
    keepfit_fit *fit = journal_fit_sound(world, text);
    push_range(fit, cloud, 0, SMALL);
    keepfit_fit_free(fit);
    size_t size, record = 56 + 8 * cloud->features;
    unsigned char *bytes = world_file(world, FOLDER "/000001/00000000000000000001.segment", &size);
    bytes[size - 3 * record + 60] ^= 1; /* nothing vouches for the last three: they were never synced one by one */
    fit = journal_fit_sound(world, text);
    push_range(fit, cloud, 0, 1);
    keepfit_fit_free(fit);
    keepfit_report report = {.struct_size = sizeof report};
    fit = journal_fit_sound(world, text);
    keepfit_fit_report(fit, &report);
    tap_check(tap, report.stage == SMALL - 2 && keepfit_fit_compare(fit, SMALL - 2, &cloud->point[0]) == KEEPFIT_OK,
              "what lay behind a torn record does not come back behind the one that takes its place");
    keepfit_fit_free(fit);
    world_free(world);
}

/* Damage in the middle is refused, and told with record and place. */
static void test_place(struct tap *tap, const struct cloud *cloud)
{
    struct world *world = journal_small(cloud, false);
    const char *path = FOLDER "/000001/00000000000000000001.segment";
    size_t size, offset = 64;
    unsigned char *bytes = world_file(world, path, &size);
    uint32_t words;
    for (int k = 0; k < 3; k++) { /* settings and two points */
        memcpy(&words, bytes + offset + 4, sizeof words);
        offset += 8 * (size_t)words;
    }
    bytes[offset + 56] ^= 16;
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    char place[64];
    snprintf(place, sizeof place, "record 4 at byte %zu", offset);
    bool told = journal_fit(world, "journal=" FOLDER, &fit, &error) == KEEPFIT_CORRUPT && strstr(error.message, place);
    tap_check(tap, told, "damage in the middle is refused with its place: %s", error.message);
    world_free(world);
}

/* ---- notes ---- */

/* The notes of a fit as one text: "WORD@POINTS ...". */
static const char *told_notes(const keepfit_fit *fit)
{
    static char text[400];
    keepfit_note note = {.struct_size = sizeof note};
    size_t used = 0;
    text[0] = '\0';
    for (size_t k = 0; keepfit_fit_noted(fit, k, &note); k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%.*s@%llu ", (int)note.count,
                                 (const char *)note.bytes, (unsigned long long)note.points);
    return text;
}

static keepfit_status note_word(keepfit_fit *fit, const char *word)
{
    return keepfit_fit_note(fit, word, strlen(word));
}

/* Opened again, with the checkpoints as they are or spoilt. */
static keepfit_fit *reopen(struct world *world, keepfit_fit *fit, const char *text, bool spoil)
{
    keepfit_fit_free(fit);
    const char *name;
    for (size_t k = 0; spoil && (name = world_name(world, FOLDER "/000001", k)); k++) {
        char path[96];
        size_t size;
        snprintf(path, sizeof path, FOLDER "/000001/%s", name);
        unsigned char *bytes = strstr(name, ".checkpoint") ? world_file(world, path, &size) : NULL;
        if (bytes)
            bytes[size / 2] ^= 1;
    }
    return journal_fit_sound(world, text);
}

static void test_notes(struct tap *tap)
{
    static const char text[] = "loss=logistic lambda=0.1 window=9 segment-bytes=4096 journal=" FOLDER;
    static const char wanted[] = "first@0 second@12 @12 third@30 ";
    struct cloud *cloud = cloud_make("logistic", COUNT, 4, false, false, 21);
    struct world *world = world_create();
    keepfit_fit *fit = journal_fit_sound(world, text), *bare = fit_from("loss=logistic");
    TAP_NEED(note_word(fit, "first") == KEEPFIT_OK);
    push_range(fit, cloud, 0, 12);
    TAP_NEED(note_word(fit, "second") == KEEPFIT_OK && keepfit_fit_note(fit, NULL, 0) == KEEPFIT_OK);
    TAP_NEED(keepfit_fit_checkpoint(fit) == KEEPFIT_OK);
    push_range(fit, cloud, 12, 30);
    TAP_NEED(note_word(fit, "third") == KEEPFIT_OK);
    tap_check(tap, strcmp(told_notes(fit), wanted) == 0, "notes are told at once: %s", told_notes(fit));
    fit = reopen(world, fit, text, false);
    tap_check(tap, strcmp(told_notes(fit), wanted) == 0, "and when the fit is created again, over a checkpoint");
    fit = reopen(world, fit, text, true);
    tap_check(tap, strcmp(told_notes(fit), wanted) == 0, "or without it: each once");
    TAP_NEED(keepfit_fit_compact(fit) == KEEPFIT_OK);
    fit = reopen(world, fit, text, false);
    tap_check(tap, strcmp(told_notes(fit), wanted) == 0, "compacting keeps them, though their points have left");
    TAP_NEED(keepfit_fit_note_instead(fit, "all", 3) == KEEPFIT_OK && note_word(fit, "more") == KEEPFIT_OK);
    fit = reopen(world, fit, text, false);
    tap_check(tap, strcmp(told_notes(fit), "all@30 more@30 ") == 0, "one takes the place of all before it");
    TAP_NEED(keepfit_fit_compact(fit) == KEEPFIT_OK);
    fit = reopen(world, fit, text, false);
    tap_check(tap, strcmp(told_notes(fit), "all@30 more@30 ") == 0, "and compacting then leaves those out");
    push_range(fit, cloud, 30, COUNT);
    fit = reopen(world, fit, text, false);
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    tap_check(tap, report.stage == COUNT && strcmp(told_notes(fit), "all@30 more@30 ") == 0, "points follow them");
    tap_check(tap, note_word(bare, "x") == KEEPFIT_USAGE, "without a journal nothing can be noted");
    keepfit_fit_free(fit);
    keepfit_fit_free(bare);
    world_free(world);
    free(cloud);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    bool quick = count > 1 && strcmp(words[1], "quick") == 0;
    test_methods(&tap);
    test_mixed(&tap);
    test_dense(&tap);
    test_points(&tap, "loss=logistic");
    test_points(&tap, "loss=logistic bias=2");
    test_points(&tap, "loss=logistic intercept=true");
    test_points(&tap, "loss=network:2 method=sgd");
    test_points(&tap, "loss=network:2 method=sgd bias=2");
    test_callers_name(&tap);
    test_refusals(&tap);
    test_notes(&tap);
    struct cloud *cloud = cloud_make("logistic", SMALL, quick ? 1 : 3, false, false, 16);
    test_flips(&tap, cloud, true, "segment");
    test_flips(&tap, cloud, false, "segment");
    test_flips(&tap, cloud, true, "checkpoint");
    test_random_flips(&tap, quick ? 200 : 10000);
    test_truncations(&tap, cloud);
    test_repair(&tap, cloud);
    test_place(&tap, cloud);
    test_stale_tail(&tap, cloud);
    free(cloud);
    return tap_end(&tap);
}
