/* A fit that is restored from a snapshot goes on bit for bit as the unbroken one: every method, loss, domain and representation,
 * with features and classes that come late, weights, windows and removals. At the end the two fits' own snapshots, which hold
 * all of their state, are the same bytes. Taking snapshots changes nothing; damaged ones are refused or do no harm. */
#include "fit/snapshot.h"

#include <string.h>

#include "support.h"

#define POINTS 90

/* Classes 1 and 2, of which the second proves the guess about the first wrong; late features; a late third class. */
static void make_it_grow(struct cloud *cloud, const char *loss)
{
    for (size_t j = 0; j < cloud->count; j++) {
        keepfit_point *point = &cloud->point[j];
        if (keepfit_loss_traits(loss) & KEEPFIT_LOSS_TWO_CLASSES)
            point->target = j < 7 ? 1 : point->target > 0 ? 2 : 1;
        if (has_many_classes(loss) && j < POINTS / 2)
            point->target = point->target > 0 ? 5 : -3;
        while (j < POINTS / 3 && point->row.count &&
               (point->row.index ? point->row.index[point->row.count - 1] : point->row.count - 1) > 4)
            point->row.count--;
    }
}

/* Pushes point j; now and then another one leaves, or its key comes again. The choice depends on j alone. */
static void advance(keepfit_fit *fit, const struct cloud *cloud, size_t j, bool removes)
{
    char key[24];
    snprintf(key, sizeof key, "%zu", j * j % 17);
    const keepfit_mark mark = {.key = removes && j % 3 == 0 ? key : NULL};
    TAP_NEED(keepfit_fit_push_marked(fit, &cloud->point[j], &mark) == KEEPFIT_OK);
    if (removes && j > 10 && j % 5 == 0)
        TAP_NEED(keepfit_fit_remove(fit, (7 * j) % fit->task.problem.points.count) == KEEPFIT_OK);
}

static struct kf_archive snapshot_of(keepfit_fit *fit)
{
    struct kf_archive archive = {0};
    fit->account.seconds = 0; /* the only thing that is not the same twice */
    TAP_NEED(kf_snapshot_take(fit, &archive) == KEEPFIT_OK);
    return archive;
}

static bool same_bytes(const struct kf_archive *a, const struct kf_archive *b)
{
    return a->count == b->count && memcmp(a->bytes, b->bytes, a->count) == 0;
}

/* The points that are present in `fit` go into a new one. */
static void recall_all(keepfit_fit *to, const keepfit_fit *fit, const struct cloud *cloud)
{
    for (size_t j = 0; j < cloud->count; j++) {
        uint64_t index;
        if (keepfit_fit_find(fit, j + 1, &index))
            TAP_NEED(kf_snapshot_recall(to, &cloud->point[j]));
    }
}

static keepfit_fit *restore(const char *options, const keepfit_fit *from, const struct cloud *cloud,
                            const struct kf_archive *archive)
{
    keepfit_fit *fit = fit_from(options);
    struct kf_archive reading = kf_archive_to_read(archive->bytes, archive->count);
    keepfit_error error = {.struct_size = sizeof error};
    recall_all(fit, from, cloud);
    keepfit_status status = kf_snapshot_restore(fit, &reading, &error);
    if (status != KEEPFIT_OK)
        printf("# %s: %s\n", options, error.message);
    TAP_NEED(status == KEEPFIT_OK && reading.at == reading.count);
    return fit;
}

/* Cut at every `every`-th stage; each piece that goes on ends like the unbroken run. */
static bool goes_on(const char *options, const char *loss, bool sparse, bool removes, size_t every)
{
    struct cloud *cloud = cloud_make(loss, POINTS, 9, sparse, true, 77);
    make_it_grow(cloud, loss);
    keepfit_fit *unbroken = fit_from(options), *watched = fit_from(options);
    keepfit_fit *resumed[POINTS];
    size_t count = 0;
    bool same = true;
    for (size_t j = 0; j < POINTS; j++) {
        advance(unbroken, cloud, j, removes);
        advance(watched, cloud, j, removes);
        for (size_t k = 0; k < count; k++)
            advance(resumed[k], cloud, j, removes);
        if (j % every == every - 1) {
            struct kf_archive archive = snapshot_of(watched);
            resumed[count++] = restore(options, watched, cloud, &archive);
            kf_archive_free(&archive);
        }
    }
    struct kf_archive end = snapshot_of(unbroken), watched_end = snapshot_of(watched);
    same &= same_bytes(&end, &watched_end);
    for (size_t k = 0; k < count; k++) {
        struct kf_archive resumed_end = snapshot_of(resumed[k]);
        same &= same_bytes(&end, &resumed_end);
        kf_archive_free(&resumed_end);
        keepfit_fit_free(resumed[k]);
    }
    kf_archive_free(&end);
    kf_archive_free(&watched_end);
    keepfit_fit_free(unbroken);
    keepfit_fit_free(watched);
    free(cloud);
    return same;
}

/* Every share-th case. */
static void test_method(struct tap *tap, const struct kf_method *method, size_t share)
{
    static const char *const extras[] = {"",
                                         "domain=ball:0.7",
                                         "domain=box:-0.1:0.4 epsilon-kind=relative epsilon=0.1",
                                         "domain=simplex",
                                         "intercept=true",
                                         "bias=2 window=25",
                                         "iterate=dense guarantee=estimate",
                                         "iterate=scaled epsilon-kind=relative epsilon=0.1",
                                         "max-stage-work=4 epsilon-kind=relative epsilon=1e-4",
                                         "stage-budget=9 epsilon=1e-4 window=40"};
    bool fixed = method->needs_convexity;
    const struct kf_loss *loss;
    for (size_t l = 0; (loss = kf_loss_entry(l)) && (l == 0 || !method->squared_only); l++)
        for (size_t e = 0; e < sizeof extras / sizeof extras[0]; e++) {
            if (loss->network && (method->needs_convexity || strstr(extras[e], "intercept")))
                continue; /* they are not convex, and have their own intercepts */
            if ((l + e) % share != 0)
                continue;
            char options[300];
            const char *name = loss->network ? "network:6" : loss->name;
            snprintf(options, sizeof options, "loss=%s method=%s %s epsilon=0.01 %s seed=5 %s", name, method->name,
                     fixed || l % 2 ? "lambda=0.02" : "lambda-total=1",
                     method->holds_epsilon && !loss->network ? "" : "inner=8", extras[e]);
            bool removes = (l + e) % 2;
            tap_check(tap, goes_on(options, name, e != 1, removes, share > 1 ? 40 : 13),
                      "resumed runs end like the unbroken one%s: %s", removes ? ", points leaving" : "", options);
        }
}

/* The theory's constants keep a maximum over all points. */
static void test_theory(struct tap *tap)
{
    static const char *const methods[] = {"csvrg", "sgd", "sgd-sparse"};
    for (size_t k = 0; k < 3; k++) {
        char options[200];
        snprintf(options, sizeof options, "loss=logistic method=%s setting=theory domain=ball:1 lambda=0.1 inner=5",
                 methods[k]);
        tap_check(tap, goes_on(options, "logistic", true, true, 13), "resumed runs end like the unbroken one: %s",
                  options);
    }
}

/* Fits that differ from the one the snapshot was taken of, and bytes that were changed: refused, or harmless. */
static void test_damage(struct tap *tap, const char *options, const char *other)
{
    struct cloud *cloud = cloud_make("logistic", 40, 6, true, false, 3);
    keepfit_fit *fit = fit_from(options);
    push_range(fit, cloud, 0, 30);
    struct kf_archive archive = snapshot_of(fit);
    size_t refused = 0, cuts = 0, changes = 0;
    for (size_t count = 0; count < archive.count; count += count < 200 ? 1 : 97) {
        keepfit_fit *victim = fit_from(options);
        recall_all(victim, fit, cloud);
        struct kf_archive cut = kf_archive_to_read(archive.bytes, count);
        refused += kf_snapshot_restore(victim, &cut, NULL) == KEEPFIT_CORRUPT;
        cuts++;
        keepfit_fit_free(victim);
    }
    tap_check(tap, refused == cuts, "%s: a snapshot that is cut is refused (%zu places)", options, cuts);
    struct kf_random random;
    kf_random_seed(&random, 8);
    for (size_t k = 0; k < 500; k++, changes++) {
        keepfit_fit *victim = fit_from(options);
        recall_all(victim, fit, cloud);
        size_t at = kf_random_below(&random, k % 2 ? archive.count : 400);
        unsigned char before = archive.bytes[at];
        archive.bytes[at] ^= (unsigned char)(1 + kf_random_below(&random, 255));
        struct kf_archive changed = kf_archive_to_read(archive.bytes, archive.count);
        if (kf_snapshot_restore(victim, &changed, NULL) == KEEPFIT_OK)
            keepfit_fit_push(victim, &cloud->point[30]);
        archive.bytes[at] = before;
        keepfit_fit_free(victim);
    }
    tap_check(tap, changes == 500, "%s: %zu changed ones do no harm", options, changes);
    keepfit_fit *victim = fit_from(other);
    recall_all(victim, fit, cloud);
    struct kf_archive reading = kf_archive_to_read(archive.bytes, archive.count);
    keepfit_error error = {.struct_size = sizeof error};
    tap_check(tap, kf_snapshot_restore(victim, &reading, &error) == KEEPFIT_CORRUPT, "%s: is none of %s (%s)", options,
              other, error.message);
    keepfit_fit_free(victim);
    kf_archive_free(&archive);
    keepfit_fit_free(fit);
    free(cloud);
}

/* A table that estimates were enough for is partly of an earlier x: where the fit that goes on proves its bounds, it may not be taken for
 * the gradient at x. */
static void test_from_estimates(struct tap *tap)
{
    static const char *const common = "loss=logistic method=table lambda=0.01 epsilon=1e-3 guarantee=";
    char estimating[128], proving[128];
    snprintf(estimating, sizeof estimating, "%sestimate", common);
    snprintf(proving, sizeof proving, "%sproved", common);
    struct cloud *cloud = cloud_make("logistic", 60, 6, true, false, 12);
    keepfit_fit *first = fit_from(estimating);
    bool proved = true, stale = false;
    for (size_t j = 0; j + 1 < cloud->count; j++) {
        push_range(first, cloud, j, j + 1);
        struct kf_archive archive = snapshot_of(first);
        keepfit_fit *second = restore(proving, first, cloud, &archive);
        keepfit_measurement measured = {.struct_size = sizeof measured};
        push_range(second, cloud, j + 1, j + 2);
        TAP_NEED(keepfit_fit_measure(second, KEEPFIT_MEASURE_OPTIMUM | KEEPFIT_MEASURE_BOUND, &measured) == KEEPFIT_OK);
        /* the bound that the stage had, and the one that is measured at the same x */
        proved &= second->outcome.bound >= measured.bound * (1 - 1e-6) - 1e-14;
        stale |= second->task.problem.objective.fo > first->task.problem.objective.fo + 1;
        kf_archive_free(&archive);
        keepfit_fit_free(second);
    }
    tap_check(tap, proved && stale, "table: what goes on from estimates, and has to prove, looks at all gradients");
    keepfit_fit_free(first);
    free(cloud);
}

/* One of an older version, taken after 40 points, goes on, and keeps its promise. */
static void test_version(struct tap *tap, int version, const char *path)
{
    struct cloud *cloud = cloud_make("logistic", 60, 3, false, false, 5);
    keepfit_fit *fit = fit_from("loss=logistic method=quadratic lambda=0.01 epsilon=1e-4 threads=1");
    unsigned char bytes[4096];
    keepfit_error error = {0};
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_measurement measured = {.struct_size = sizeof measured};
    FILE *file = fopen(path, "rb");
    TAP_NEED(file);
    struct kf_archive archive = kf_archive_to_read(bytes, fread(bytes, 1, sizeof bytes, file));
    fclose(file);
    for (size_t j = 0; j < 40; j++)
        TAP_NEED(kf_snapshot_recall(fit, &cloud->point[j]));
    keepfit_status status = kf_snapshot_restore(fit, &archive, &error);
    tap_check(tap, status == KEEPFIT_OK && archive.at == archive.count, "a snapshot of version %d is read (%s)",
              version, error.message);
    push_range(fit, cloud, 40, 60);
    keepfit_fit_report(fit, &report);
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK);
    tap_check(tap, report.points == 60 && report.missed == 0 && measured.gap <= report.bound,
              "and goes on: gap %.3g, bound %.3g", measured.gap, report.bound);
    keepfit_fit_free(fit);
    free(cloud);
}

/* Beyond 32 coordinates a Hessian waits long for its bounds, and features come meanwhile: what goes on from there ends like the unbroken run. */
static void test_wide(struct tap *tap, size_t first, size_t every)
{
    const char *options = "loss=logistic method=quadratic lambda=1e-4 epsilon=1e-3 epsilon-kind=relative threads=1";
    struct cloud *cloud = cloud_make("logistic", 275, 40, false, false, 3);
    keepfit_fit *unbroken = fit_from(options), *watched = fit_from(options);
    size_t count = 0, same = 0, late = 235; /* when 34 features become 40, and bounds are ready a few points later */
    for (size_t j = 0; j < late; j++)
        cloud->point[j].row.count = 34;
    push_range(unbroken, cloud, 0, cloud->count);
    struct kf_archive end = snapshot_of(unbroken);
    for (size_t j = 0; j < cloud->count; j++) {
        push_range(watched, cloud, j, j + 1);
        if (j < first || j % every)
            continue;
        struct kf_archive archive = snapshot_of(watched);
        keepfit_fit *resumed = restore(options, watched, cloud, &archive);
        kf_archive_free(&archive);
        push_range(resumed, cloud, j + 1, cloud->count);
        archive = snapshot_of(resumed);
        same += same_bytes(&end, &archive);
        count++;
        kf_archive_free(&archive);
        keepfit_fit_free(resumed);
    }
    tap_check(tap, same == count, "34 features and 6 more: resumed runs end like the unbroken one (%zu of %zu)", same,
              count);
    kf_archive_free(&end);
    keepfit_fit_free(unbroken);
    keepfit_fit_free(watched);
    free(cloud);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    TAP_NEED(count > 2);
    bool quick = count > 3 && strcmp(words[3], "quick") == 0, few = count > 3 && strcmp(words[3], "few") == 0;
    for (int version = 1; version <= 2; version++)
        test_version(&tap, version, words[version]);
    test_wide(&tap, few ? 225 : 60, few ? 9 : 3);
    test_from_estimates(&tap);
    for (size_t k = 0; kf_method_entry(k); k++)
        test_method(&tap, kf_method_entry(k), few ? 14 : quick ? 5 : 1);
    if (few)
        return tap_end(&tap);
    test_theory(&tap);
    test_damage(&tap, "loss=logistic method=quadratic lambda=0.05", "loss=logistic method=table lambda=0.05");
    test_damage(&tap, "loss=logistic method=table lambda=0.05", "loss=softmax method=table lambda=0.05");
    test_damage(&tap, "loss=logistic method=csvrg lambda=0.05 iterate=scaled",
                "loss=logistic method=csvrg lambda=0.05 iterate=dense");
    test_damage(&tap, "loss=network:3 method=csvrg lambda=0.05", "loss=network:4 method=csvrg lambda=0.05");
    test_damage(&tap, "loss=squared method=exact lambda=0.05", "loss=squared method=sgd lambda=0.05");
    return tap_end(&tap);
}
