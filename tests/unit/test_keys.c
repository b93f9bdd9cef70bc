/* Points with keys: who is present is what a list says in which the last one of a key counts; the model is good for these; journals,
 * snapshots, blocks, windows and compacting know the keys; and the table of keys is what a list without hashing is. */
#include "history/keys.h"

#include <string.h>

#include "journals.h"
#include "support.h"

#define COUNT 120
#define KEYS 30

/* What should be present, the oldest first. */
struct listed {
    struct {
        size_t point; /* of the cloud */
        uint64_t arrival;
        char key[16]; /* "": none */
    } at[COUNT];
    size_t count;
    uint64_t arrived;
};

static void list_remove(struct listed *list, size_t k)
{
    memmove(list->at + k, list->at + k + 1, (list->count - k - 1) * sizeof list->at[0]);
    list->count--;
}

static size_t list_find(const struct listed *list, const char *key)
{
    for (size_t k = 0; k < list->count; k++)
        if (strcmp(list->at[k].key, key) == 0)
            return k;
    return list->count;
}

static void list_push(struct listed *list, size_t point, const char *key, size_t window)
{
    size_t same = *key ? list_find(list, key) : list->count;
    if (same < list->count)
        list_remove(list, same);
    if (window && list->count == window)
        list_remove(list, 0);
    list->at[list->count].point = point;
    strcpy(list->at[list->count].key, key);
    list->at[list->count++].arrival = ++list->arrived;
}

/* A key for about two of three points, drawn so that many come again. */
static const char *draw_key(struct kf_random *random, char room[16])
{
    uint64_t number = kf_random_below(random, KEYS * 3 / 2);
    if (number >= KEYS)
        return strcpy(room, "");
    snprintf(room, 16, "order %llu", (unsigned long long)number);
    return room;
}

static keepfit_status push_keyed(keepfit_fit *fit, const keepfit_point *point, const char *key)
{
    const keepfit_mark mark = {.struct_size = sizeof mark, .key = *key ? key : NULL};
    return keepfit_fit_push_marked(fit, point, &mark);
}

static bool is_listed(keepfit_fit *fit, const struct cloud *cloud, const struct listed *list)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    bool same = report.points == list->count && report.stage == list->arrived;
    for (size_t k = 0; k < list->count && same; k++) {
        keepfit_point point;
        keepfit_mark mark = {.struct_size = sizeof mark};
        uint64_t index = UINT64_MAX;
        same = keepfit_fit_point(fit, k, &point) == KEEPFIT_OK && keepfit_fit_mark(fit, k, &mark) == KEEPFIT_OK &&
               journal_same_point(&point, &cloud->point[list->at[k].point]) &&
               strcmp(mark.key ? mark.key : "", list->at[k].key) == 0 &&
               keepfit_fit_find(fit, list->at[k].arrival, &index) && index == k;
        if (same && mark.key)
            same = keepfit_fit_find_key(fit, mark.key, &index) && index == k;
    }
    return same;
}

/* The bound covers the gap, and the optimum is that of a fit that has never seen anything but the points that are present. */
static bool is_good(keepfit_fit *fit, const char *text, const struct cloud *cloud, const struct listed *list)
{
    keepfit_fit *fresh = fit_from(text);
    keepfit_measurement here = {.struct_size = sizeof here}, there = {.struct_size = sizeof there};
    keepfit_report report = {.struct_size = sizeof report};
    for (size_t k = 0; k < list->count; k++)
        push_range(fresh, cloud, list->at[k].point, list->at[k].point + 1);
    bool solved = keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &here) == KEEPFIT_OK &&
                  keepfit_fit_measure(fresh, KEEPFIT_MEASURE_OPTIMUM, &there) == KEEPFIT_OK;
    keepfit_fit_report(fit, &report);
    bool proved = isnan(report.bound) ||
                  (here.gap <= report.bound + 1e-12 && (isnan(report.target) || report.bound <= report.target));
    keepfit_fit_free(fresh);
    return solved && proved && near(here.optimum, there.optimum, 1e-7);
}

static void test_story(struct tap *tap, const char *method, const char *loss, size_t window)
{
    char text[200];
    snprintf(text, sizeof text, "method=%s loss=%s lambda=0.05 epsilon=1e-2 bias=1 inner=5 outer=2%s", method, loss,
             window ? " window=20" : "");
    struct cloud *cloud = cloud_make(loss, COUNT, 5, true, true, 41);
    keepfit_fit *fit = fit_from(text);
    struct listed list = {0};
    struct kf_random random;
    char key[16];
    bool same = true, good = true;
    kf_random_seed(&random, 5);
    for (size_t j = 0; j < COUNT; j++) {
        draw_key(&random, key);
        TAP_NEED(push_keyed(fit, &cloud->point[j], key) == KEEPFIT_OK);
        list_push(&list, j, key, window);
        if (j % 9 == 8) {
            snprintf(key, sizeof key, "order %d", (int)kf_random_below(&random, KEYS));
            size_t k = list_find(&list, key);
            same &= keepfit_fit_remove_key(fit, key) == (k < list.count ? KEEPFIT_OK : KEEPFIT_END);
            if (k < list.count)
                list_remove(&list, k);
        }
        same &= is_listed(fit, cloud, &list);
        if (j % 10 == 9)
            good &= is_good(fit, text, cloud, &list);
    }
    tap_check(tap, same, "%s, %s%s: those are present that the last of each key leaves", method, loss,
              window ? ", window" : "");
    tap_check(tap, good, "%s, %s%s: the model is good for them, and bounds hold", method, loss,
              window ? ", window" : "");
    keepfit_fit_free(fit);
    free(cloud);
}

/* ---- blocks ---- */

static keepfit_status push_block(keepfit_fit *fit, const struct cloud *cloud, size_t from, size_t count,
                                 const char *const *key)
{
    double value[8 * FEATURES_MOST], target[8];
    for (size_t k = 0; k < count; k++) {
        memcpy(value + k * cloud->features, cloud->point[from + k].row.value, cloud->features * sizeof *value);
        target[k] = cloud->point[from + k].target;
    }
    keepfit_block block = {.struct_size = sizeof block,
                           .count = count,
                           .features = cloud->features,
                           .stride = cloud->features,
                           .value = value,
                           .target = target,
                           .key = key};
    return keepfit_fit_extend(fit, &block, NULL);
}

static void test_blocks(struct tap *tap)
{
    static const char *const keys[] = {"a", "b", NULL, "a", "c", "b", "a", "d"}, *const bad[] = {"x", "", "y"};
    static const char *const methods[] = {"auto", "csvrg", "table", "exact"};
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        char text[120];
        snprintf(text, sizeof text, "method=%s lambda=0.1 epsilon=1e-3", methods[m]);
        struct cloud *cloud = cloud_make("squared", 24, 4, false, false, 3);
        keepfit_fit *fit = fit_from(text);
        struct listed list = {0};
        bool same = true;
        for (size_t part = 0; part < 3; part++) {
            TAP_NEED(push_block(fit, cloud, 8 * part, 8, keys) == KEEPFIT_OK);
            for (size_t k = 0; k < 8; k++)
                list_push(&list, 8 * part + k, keys[k] ? keys[k] : "", 0);
            same &= is_listed(fit, cloud, &list) && is_good(fit, text, cloud, &list);
        }
        same &= push_block(fit, cloud, 0, 3, bad) == KEEPFIT_DATA && keepfit_fit_error(fit)->line == 2;
        tap_check(tap, same && is_listed(fit, cloud, &list),
                  "%s: blocks in which keys come again, and one that is refused", methods[m]);
        keepfit_fit_free(fit);
        free(cloud);
    }
}

/* ---- journals and snapshots ---- */

static void push_drawn(keepfit_fit *fit, const struct cloud *cloud, size_t j, struct listed *list)
{
    struct kf_random random;
    char key[16];
    kf_random_seed(&random, 1000 + j);
    TAP_NEED(push_keyed(fit, &cloud->point[j], draw_key(&random, key)) == KEEPFIT_OK);
    if (list)
        list_push(list, j, key, 0);
}

static bool journal_tells(struct world *world, const struct cloud *cloud, const struct listed *list)
{
    keepfit_journal *journal = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_point point;
    size_t k = 0;
    uint64_t arrival;
    TAP_NEED(journal_look(world, &journal, &error) == KEEPFIT_OK);
    bool same = true;
    for (; keepfit_journal_next(journal, &point, &arrival) == KEEPFIT_OK && same; k++) {
        keepfit_mark mark = {.struct_size = sizeof mark};
        keepfit_journal_mark(journal, &mark);
        same = k < list->count && arrival == list->at[k].arrival &&
               journal_same_point(&point, &cloud->point[list->at[k].point]) &&
               strcmp(mark.key ? mark.key : "", list->at[k].key) == 0;
    }
    keepfit_journal_close(journal);
    return same && k == list->count;
}

static void test_journal(struct tap *tap, bool checkpoints)
{
    static const char text[] = "loss=logistic lambda=0.05 epsilon=1e-2 intercept=true";
    char kept[200];
    snprintf(kept, sizeof kept, "%s journal=" FOLDER " segment-bytes=4096%s", text,
             checkpoints ? " checkpoint-gradients=100" : "");
    struct cloud *cloud = cloud_make("logistic", COUNT, 5, true, true, 42);
    struct world *world = world_create();
    keepfit_fit *whole = fit_from(text);
    struct listed list = {0};
    bool same = true;
    for (size_t from = 0; from < COUNT; from += 10) {
        keepfit_fit *part = journal_fit_sound(world, kept);
        same &= is_listed(part, cloud, &list);
        for (size_t j = from; j < from + 10; j++) {
            push_drawn(whole, cloud, j, &list);
            push_drawn(part, cloud, j, NULL);
        }
        same &= is_listed(part, cloud, &list) && journal_tells(world, cloud, &list);
        if (from % 40 == 30)
            same &= keepfit_fit_compact(part) == KEEPFIT_OK && journal_tells(world, cloud, &list);
        same &= same_iterate(part, whole);
        keepfit_fit_free(part);
    }
    tap_check(tap, same, "a journal%s: broken off and taken up, compacted: the same points, keys and bits",
              checkpoints ? " with checkpoints" : "");
    keepfit_fit_free(whole);
    world_free(world);
    free(cloud);
}

static void test_snapshot(struct tap *tap)
{
    static const char text[] = "loss=logistic lambda=0.05 epsilon=1e-2 method=quadratic";
    struct cloud *cloud = cloud_make("logistic", COUNT, 5, false, false, 43);
    keepfit_fit *fit = fit_from(text), *other = fit_from(text);
    struct listed list = {0};
    const unsigned char *bytes;
    double value[COUNT * FEATURES_MOST], target[COUNT];
    size_t count;
    for (size_t j = 0; j < COUNT / 2; j++)
        push_drawn(fit, cloud, j, &list);
    for (size_t k = 0; k < list.count; k++) {
        const keepfit_point *point = &cloud->point[list.at[k].point];
        memcpy(value + k * cloud->features, point->row.value, cloud->features * sizeof *value);
        target[k] = point->target;
    }
    keepfit_block block = {.struct_size = sizeof block,
                           .count = list.count,
                           .features = cloud->features,
                           .stride = cloud->features,
                           .value = value,
                           .target = target};
    TAP_NEED(keepfit_fit_snapshot(fit, &bytes, &count) == KEEPFIT_OK);
    bool same = keepfit_fit_restore(other, &block, bytes, count) == KEEPFIT_OK && is_listed(other, cloud, &list);
    for (size_t j = COUNT / 2; j < COUNT; j++) {
        push_drawn(fit, cloud, j, &list);
        push_drawn(other, cloud, j, NULL);
    }
    same &= is_listed(other, cloud, &list) && same_iterate(fit, other);
    tap_check(tap, same, "a snapshot has the keys, and goes on bit for bit");
    keepfit_fit_free(fit);
    keepfit_fit_free(other);
    free(cloud);
}

/* ---- the table ---- */

static void test_table(struct tap *tap)
{
    static uint64_t arrival[400]; /* of each key; 0: none */
    struct kf_keys keys = {0};
    struct kf_random random;
    size_t count = 0;
    bool same = true;
    kf_random_seed(&random, 8);
    for (uint64_t step = 1; step <= 20000; step++) {
        size_t k = (size_t)kf_random_below(&random, sizeof arrival / sizeof arrival[0]);
        char text[16];
        size_t length = (size_t)snprintf(text, sizeof text, "%zx", k * 7919);
        const struct kf_key *key = kf_keys_find(&keys, text, length);
        same &= (key ? key->arrival : 0) == arrival[k];
        if (key) {
            same &= kf_keys_of(&keys, arrival[k]) == key;
            kf_keys_remove(&keys, arrival[k]);
        } else {
            TAP_NEED(kf_keys_add(&keys, text, length, step));
        }
        count = key ? count - 1 : count + 1;
        arrival[k] = key ? 0 : step;
        same &= keys.count == count && !kf_keys_of(&keys, step + 1);
    }
    tap_check(tap, same, "the table of keys: 20000 keys added and removed are found where a list has them");
    kf_keys_free(&keys);
}

static void test_refused(struct tap *tap)
{
    struct cloud *cloud = cloud_make("squared", 3, 2, false, false, 1);
    keepfit_fit *fit = fit_from("lambda=0.1");
    char key[KEEPFIT_KEY_MOST + 2] = "";
    keepfit_report report = {.struct_size = sizeof report};
    memset(key, 'k', KEEPFIT_KEY_MOST);
    keepfit_mark mark = {.struct_size = sizeof mark, .key = key};
    bool good = keepfit_fit_push_marked(fit, &cloud->point[0], &mark) == KEEPFIT_OK;
    key[KEEPFIT_KEY_MOST] = 'k';
    good &= keepfit_fit_push_marked(fit, &cloud->point[1], &mark) == KEEPFIT_DATA;
    mark.key = "";
    good &= keepfit_fit_push_marked(fit, &cloud->point[1], &mark) == KEEPFIT_DATA;
    mark = (keepfit_mark){.struct_size = sizeof mark, .key = "a", .removes = true};
    good &= keepfit_fit_push_marked(fit, &cloud->point[1], &mark) == KEEPFIT_USAGE;
    good &= keepfit_fit_remove_key(fit, "a") == KEEPFIT_END && keepfit_fit_mark(fit, 1, &mark) == KEEPFIT_USAGE;
    keepfit_fit_report(fit, &report);
    tap_check(tap, good && report.points == 1, "keys that are empty or too long are refused, the longest is taken");
    keepfit_fit_free(fit);
    free(cloud);
}

int main(void)
{
    struct tap tap = {0};
    keepfit_entry method = {.struct_size = sizeof method};
    for (size_t k = 0; keepfit_family_entry(KEEPFIT_METHODS, k, &method); k++)
        if (strcmp(method.name, "exact") != 0)
            test_story(&tap, method.name, "logistic", k % 3 == 0 ? 20 : 0);
    test_story(&tap, "exact", "squared", 0);
    test_story(&tap, "auto", "softmax", 0);
    test_story(&tap, "quadratic", "huber", 0);
    test_blocks(&tap);
    test_journal(&tap, false);
    test_journal(&tap, true);
    test_snapshot(&tap);
    test_table(&tap);
    test_refused(&tap);
    return tap_end(&tap);
}
