/* Half-lives and windows of time: at every stage the bound covers the gap of the mean in which the weights are what they should be, here
 * computed without the library; who has left is who should have; journals, snapshots, keys and removals go on with the same bits. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "journals.h"
#include "support.h"

#define COUNT 330
#define FEATURES 4

struct trial {
    const char *options, *plain; /* the same problem without half-life and window */
    const char *loss;
    double half_life, span; /* in the unit of the times; 0: none */
    size_t half_life_points, window;
    bool keyed, removes;
};

static const struct trial trials[] = {
    {"half-life=1", "", "logistic", 0, 0, 1, 0, false, false},
    {"half-life=7 intercept=true", "intercept=true", "logistic", 0, 0, 7, 0, true, false},
    {"half-life=40 method=refit", "method=refit", "softmax", 0, 0, 40, 0, false, true},
    {"half-life=3 method=table", "method=table", "hinge", 0, 0, 3, 0, true, true},
    {"half-life=25 method=exact intercept=true", "method=exact intercept=true", "squared", 0, 0, 25, 0, true, true},
    {"half-life=5 method=quadratic window=60", "method=quadratic", "huber", 0, 0, 5, 60, false, true},
    {"half-life=1 method=exact intercept=true", "method=exact intercept=true", "squared", 0, 0, 1, 0, false, true},
    {"half-life=2 method=table", "method=table", "logistic", 0, 0, 2, 0, true, true},
    {"half-life=2 method=refit", "method=refit", "softmax", 0, 0, 2, 0, false, false},
    {"half-life=90s", "", "logistic", 90, 0, 0, 0, true, true},
    {"half-life=2m window=1h domain=ball:0.5", "domain=ball:0.5", "logistic", 120, 3600, 0, 0, false, false},
    {"window=10m", "", "logcosh", 0, 600, 0, 0, true, true},
    {"half-life=11 method=gd", "method=gd", "squared", 0, 0, 11, 0, false, false},
};

#define TRIALS (sizeof trials / sizeof trials[0])
#define COMMON "lambda=0.05 epsilon=1e-3"

struct listed {
    size_t of[COUNT];
    size_t count;
};

/* Times with gaps, two of them long, and points at the same time. */
static double time_of(size_t j)
{
    double time = 1e9 + 13.25 * (double)(j / 2);
    return time + (j > 120 ? 5e5 : 0) + (j > 250 ? 1e7 / 3 : 0);
}

static const char *key_of(const struct trial *trial, size_t j, char room[16])
{
    if (!trial->keyed || j % 4)
        return NULL;
    snprintf(room, 16, "%zu", j * 7 % 60);
    return room;
}

static keepfit_status push(keepfit_fit *fit, const struct trial *trial, const struct cloud *cloud, size_t j)
{
    char room[16];
    const keepfit_mark mark = {.struct_size = sizeof mark, .key = key_of(trial, j, room), .time = time_of(j)};
    keepfit_status status = keepfit_fit_push_marked(fit, &cloud->point[j], &mark);
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    if (status == KEEPFIT_OK && trial->removes && j % 11 == 10 && report.points > 3)
        status = keepfit_fit_remove(fit, report.points / 2);
    return status;
}

static void list_remove(struct listed *list, size_t k)
{
    memmove(list->of + k, list->of + k + 1, (list->count - k - 1) * sizeof list->of[0]);
    list->count--;
}

/* What the point weighs beside one that comes now, and 0 where it should have left: it leaves with others when a multiple of four
 * half-lives is passed, being older than twelve at that time. (Points are numbered from 1 there.) */
static double share_of(const struct trial *trial, size_t j, size_t now)
{
    double each = trial->half_life_points ? (double)trial->half_life_points : trial->half_life;
    double came = trial->half_life_points ? (double)(j + 1) : time_of(j);
    double newest = trial->half_life_points ? (double)(now + 1) : time_of(now);
    bool faded = each > 0 && came < 4 * each * floor(newest / (4 * each)) - 12 * each;
    bool gone = faded || (trial->span > 0 && time_of(now) - time_of(j) >= trial->span);
    return gone ? 0 : each > 0 ? exp2(-(newest - came) / each) : 1;
}

static void list_push(struct listed *list, const struct trial *trial, size_t j)
{
    char room[16], other[16];
    const char *key = key_of(trial, j, room);
    for (size_t k = 0; key && k < list->count; k++) {
        const char *same = key_of(trial, list->of[k], other);
        if (same && strcmp(same, key) == 0)
            list_remove(list, k--);
    }
    while (list->count && share_of(trial, list->of[0], j) == 0)
        list_remove(list, 0);
    if (trial->window && list->count == trial->window)
        list_remove(list, 0);
    list->of[list->count++] = j;
    if (trial->removes && j % 11 == 10 && list->count > 3)
        list_remove(list, list->count / 2);
}

static bool is_listed(keepfit_fit *fit, const struct cloud *cloud, const struct listed *list)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    bool same = report.points == list->count;
    for (size_t k = 0; k < list->count && same; k++) {
        keepfit_point point;
        same =
            keepfit_fit_point(fit, k, &point) == KEEPFIT_OK && journal_same_point(&point, &cloud->point[list->of[k]]);
    }
    return same;
}

/* A fit of the listed points that has never heard of half-lives: their weights are what they should be now. */
static keepfit_fit *plain_fit(const struct trial *trial, const struct cloud *cloud, const struct listed *list,
                              size_t now)
{
    char text[200];
    snprintf(text, sizeof text, "loss=%s " COMMON " %s", trial->loss, trial->plain);
    keepfit_fit *fit = fit_from(text);
    for (size_t class = 0; class < 3 && strcmp(trial->loss, "softmax") == 0; class ++)
        TAP_NEED(keepfit_fit_expect(fit, (double)class) == KEEPFIT_OK);
    for (size_t k = 0; k < list->count; k++) {
        keepfit_point point = cloud->point[list->of[k]];
        point.weight *= share_of(trial, list->of[k], now);
        TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
    }
    return fit;
}

/* Objectives of the mean of the plain fit's points, at both models' x: the plain fit's own measure of another's x is its copy. */
static bool is_covered(keepfit_fit *fit, const struct trial *trial, const struct cloud *cloud,
                       const struct listed *list, size_t now)
{
    keepfit_fit *plain = plain_fit(trial, cloud, list, now);
    keepfit_measurement here = {.struct_size = sizeof here}, there = {.struct_size = sizeof there};
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    keepfit_status status = keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE, &here);
    TAP_NEED(status == KEEPFIT_OK);
    status = keepfit_fit_measure(plain, KEEPFIT_MEASURE_OPTIMUM, &there);
    bool covered = isnan(report.bound) || status == KEEPFIT_UNSOLVED ||
                   here.objective - there.optimum <= report.bound * (1 + 1e-9) + 1e-11;
    bool above = status == KEEPFIT_UNSOLVED || here.objective >= there.optimum - 1e-10; /* it is that objective */
    /* The objective that was measured is that of these weights: the plain problem with x held where it is. */
    const struct kf_problem *problem = &fit->task.problem;
    const struct kf_place *place = problem->points.place;
    double newest = place[problem->points.count - 1].weight / cloud->point[list->of[list->count - 1]].weight;
    newest /= share_of(trial, list->of[list->count - 1], now);
    for (size_t k = 0; k < list->count; k++)
        above &=
            near(place[k].weight / newest, cloud->point[list->of[k]].weight * share_of(trial, list->of[k], now), 1e-9);
    bool met = !(report.bound > report.target);
    keepfit_fit_free(plain);
    return covered && above && met;
}

static struct cloud *cloud_for(const struct trial *trial)
{
    return cloud_make(trial->loss, COUNT, FEATURES, false, true, 91);
}

static void test_trial(struct tap *tap, const struct trial *trial)
{
    char text[200];
    snprintf(text, sizeof text, "loss=%s " COMMON " %s", trial->loss, trial->options);
    struct cloud *cloud = cloud_for(trial);
    keepfit_fit *fit = fit_from(text);
    struct listed list = {0};
    bool same = true, covered = true;
    for (size_t class = 0; class < 3 && strcmp(trial->loss, "softmax") == 0; class ++)
        TAP_NEED(keepfit_fit_expect(fit, (double)class) == KEEPFIT_OK);
    for (size_t j = 0; j < COUNT; j++) {
        TAP_NEED(push(fit, trial, cloud, j) == KEEPFIT_OK);
        list_push(&list, trial, j);
        same &= is_listed(fit, cloud, &list);
        if (j % 8 == 7 && list.count)
            covered &= is_covered(fit, trial, cloud, &list, j);
    }
    tap_check(tap, same, "%s, %s: those leave who should, and come back as they were pushed", trial->loss,
              trial->options);
    tap_check(tap, covered, "%s, %s: bounds cover the gap of the mean with the weights that they should have",
              trial->loss, trial->options);
    keepfit_fit_free(fit);
    free(cloud);
}

/* Broken off and taken up, compacted; and once more from a snapshot. */
static void test_going_on(struct tap *tap, const struct trial *trial, bool checkpoints)
{
    char text[200], kept[300];
    snprintf(text, sizeof text, "loss=%s " COMMON " %s", trial->loss, trial->options);
    snprintf(kept, sizeof kept, "%s journal=" FOLDER " segment-bytes=4096 sync=none%s", text,
             checkpoints ? " checkpoint-gradients=400" : "");
    struct cloud *cloud = cloud_for(trial);
    struct world *world = world_create();
    keepfit_fit *whole = fit_from(text);
    struct listed list = {0};
    bool same = true;
    for (size_t from = 0; from < COUNT; from += 30) {
        keepfit_fit *part = journal_fit_sound(world, kept);
        same &= is_listed(part, cloud, &list);
        for (size_t j = from; j < from + 30; j++) {
            TAP_NEED(push(whole, trial, cloud, j) == KEEPFIT_OK && push(part, trial, cloud, j) == KEEPFIT_OK);
            list_push(&list, trial, j);
        }
        if (from % 90 == 60)
            same &= keepfit_fit_compact(part) == KEEPFIT_OK;
        same &= is_listed(part, cloud, &list) && same_iterate(part, whole);
        keepfit_fit_free(part);
    }
    keepfit_journal *journal = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    TAP_NEED(journal_look(world, &journal, &error) == KEEPFIT_OK);
    keepfit_journal_info info = {.struct_size = sizeof info};
    keepfit_journal_describe(journal, &info);
    same &= info.present == list.count;
    keepfit_journal_close(journal);
    tap_check(tap, same, "%s, %s: a journal%s, broken off and compacted: the same points and bits", trial->loss,
              trial->options, checkpoints ? " with checkpoints" : "");
    keepfit_fit_free(whole);
    world_free(world);
    free(cloud);
}

static void test_snapshot(struct tap *tap, const struct trial *trial)
{
    char text[200];
    snprintf(text, sizeof text, "loss=%s " COMMON " %s", trial->loss, trial->options);
    struct cloud *cloud = cloud_for(trial);
    keepfit_fit *fit = fit_from(text), *other = fit_from(text);
    struct listed list = {0};
    static double value[COUNT * FEATURES], target[COUNT], weight[COUNT], time[COUNT];
    const unsigned char *bytes;
    size_t size;
    for (size_t j = 0; j < COUNT / 2; j++) {
        TAP_NEED(push(fit, trial, cloud, j) == KEEPFIT_OK);
        list_push(&list, trial, j);
    }
    for (size_t k = 0; k < list.count; k++) {
        const keepfit_point *point = &cloud->point[list.of[k]];
        memcpy(value + k * FEATURES, point->row.value, FEATURES * sizeof *value);
        target[k] = point->target;
        weight[k] = point->weight;
        time[k] = time_of(list.of[k]);
    }
    keepfit_block block = {.struct_size = sizeof block,
                           .count = list.count,
                           .features = FEATURES,
                           .stride = FEATURES,
                           .value = value,
                           .target = target,
                           .weight = weight,
                           .time = time};
    TAP_NEED(keepfit_fit_snapshot(fit, &bytes, &size) == KEEPFIT_OK);
    bool same = keepfit_fit_restore(other, &block, bytes, size) == KEEPFIT_OK;
    for (size_t j = COUNT / 2; j < COUNT && same; j++)
        same = push(fit, trial, cloud, j) == KEEPFIT_OK && push(other, trial, cloud, j) == KEEPFIT_OK;
    tap_check(tap, same && same_iterate(fit, other), "%s, %s: a snapshot goes on bit for bit", trial->loss,
              trial->options);
    keepfit_fit_free(fit);
    keepfit_fit_free(other);
    free(cloud);
}

static bool is_refused(const char *text)
{
    keepfit_options *options = options_from(text);
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    bool refused = keepfit_fit_create(options, &fit, &error) == KEEPFIT_USAGE && error.message[0];
    keepfit_options_free(options);
    keepfit_fit_free(fit);
    return refused;
}

static void test_refused(struct tap *tap)
{
    struct cloud *cloud = cloud_make("squared", 3, FEATURES, false, false, 1);
    bool good = is_refused("half-life=9 lambda-total=1") && is_refused("half-life=9 loss=network:3 method=sgd") &&
                is_refused("half-life=9 method=sgd") && is_refused("half-life=9 lambda=0");
    keepfit_fit *fit = fit_from("half-life=1h lambda=0.1");
    keepfit_mark mark = {.struct_size = sizeof mark, .time = 100};
    good &= keepfit_fit_push(fit, &cloud->point[0]) == KEEPFIT_DATA;
    good &= keepfit_fit_push_marked(fit, &cloud->point[0], &mark) == KEEPFIT_OK;
    mark.time = 99.5;
    good &= keepfit_fit_push_marked(fit, &cloud->point[1], &mark) == KEEPFIT_DATA;
    mark.time = NAN;
    good &= keepfit_fit_push_marked(fit, &cloud->point[1], &mark) == KEEPFIT_DATA;
    mark.time = 100;
    cloud->point[1].weight = 1e-300;
    good &= keepfit_fit_push_marked(fit, &cloud->point[1], &mark) == KEEPFIT_DATA;
    tap_check(tap, good, "what does not go together is refused, and points without a time, or before the last");
    keepfit_fit_free(fit);
    free(cloud);
}

/* Spans as options read and write them. */
static void test_spans(struct tap *tap)
{
    static const char *const spans[][2] = {{"30d", "30d"},  {"168h", "1w"},   {"90m", "90m"},
                                           {"0.5h", "30m"}, {"1.5s", "1.5s"}, {"400", "400"}};
    static const char *const bad[] = {"0d", "-3h", "3 d", "d", "7y", "1e300d", "0", "2.5"};
    keepfit_options *options = keepfit_options_create();
    bool good = true;
    for (size_t k = 0; k < sizeof spans / sizeof spans[0]; k++)
        good &= keepfit_options_set(options, "half-life", spans[k][0], NULL) == KEEPFIT_OK &&
                strcmp(keepfit_options_get(options, "half-life"), spans[k][1]) == 0;
    good &= keepfit_options_get_integer(options, "half-life") == 400;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        good &= keepfit_options_set(options, "window", bad[k], NULL) == KEEPFIT_USAGE;
    good &= keepfit_options_set(options, "window", "7d", NULL) == KEEPFIT_OK &&
            keepfit_options_set_integer(options, "window", 5, NULL) == KEEPFIT_OK &&
            strcmp(keepfit_options_get(options, "window"), "5") == 0 &&
            keepfit_options_set(options, "window", "", NULL) == KEEPFIT_OK && !*keepfit_options_get(options, "window");
    tap_check(tap, good, "spans of time are read and written, and nonsense is refused");
    keepfit_options_free(options);
}

/* "quick": few of them. */
int main(int count, char **words)
{
    struct tap tap = {0};
    size_t each = count > 1 && strcmp(words[1], "quick") == 0 ? 4 : 1;
    for (size_t k = 0; k < TRIALS; k += each) {
        test_trial(&tap, &trials[k]);
        test_going_on(&tap, &trials[k], k % 2 == 0);
        test_snapshot(&tap, &trials[k]);
    }
    test_refused(&tap);
    test_spans(&tap);
    return tap_end(&tap);
}
