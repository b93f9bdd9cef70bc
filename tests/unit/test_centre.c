/* Columns that lie far from 0, such as Unix times, beside a free intercept. The judge is a Newton's method in long double on rows that
 * were centred by hand: at every stage the model that is given out, on the rows as they came, is within its bound of that optimum. And
 * the points come back with their bits, stored fits go on bit for bit, and ordinary streams are left alone. */
#include <float.h>
#include <string.h>

#include "fit/centre.h"
#include "fit/snapshot.h"
#include "journals.h"
#include "judge.h"
#include "model/model.h"
#include "support.h"

#define COUNT JUDGE_POINTS
#define FEATURES JUDGE_FEATURES
#define SIZE_MOST JUDGE_SIZE
#define START 1.7e9
#define LAMBDA 1e-3

/* ---- streams ---- */

struct story {
    const char *name, *options;
    double unit;       /* the times vary by so many seconds */
    double step, jump; /* from point to point, and in the middle */
    size_t window;
    bool removes, sparse;
};

static void drop_entry(struct cloud *cloud, size_t j, size_t entry)
{
    keepfit_row *row = &cloud->point[j].row;
    for (size_t k = entry; k + 1 < row->count; k++) {
        cloud->value[j][k] = cloud->value[j][k + 1];
        cloud->index[j][k] = cloud->index[j][k + 1];
    }
    row->count--;
    row->index = cloud->index[j];
}

/* Column 0 becomes a time, whole milliseconds, around one that moves; the others stay. */
static struct cloud *stamped(const char *loss, const struct story *story, double start, uint64_t seed)
{
    struct cloud *cloud = cloud_make(loss, COUNT, FEATURES, false, true, seed);
    for (size_t j = 0; j < COUNT; j++) {
        double time = story->step * (double)j + (j < COUNT / 2 ? 0 : story->jump);
        cloud->value[j][0] = start + time + rint(1000 * story->unit * cloud->value[j][0]) / 1000;
        for (size_t k = 0; k < FEATURES; k++)
            cloud->index[j][k] = (uint32_t)k;
        if (has_many_classes(loss) && j < 3)
            cloud->point[j].target = (double)j;
        if (strcmp(loss, "logistic") == 0 && j < 2)
            cloud->point[j].target = j ? 1 : -1;
        if (story->sparse && j % 3 == 1)
            drop_entry(cloud, j, 1);
        if (story->sparse && j % 50 == 30)
            drop_entry(cloud, j, 0); /* nobody knows when */
    }
    return cloud;
}

/* Pushes point j and takes one out now and then; `present` follows. */
static void advance(keepfit_fit *fit, const struct story *story, const struct cloud *cloud, size_t j, size_t *present,
                    size_t *count)
{
    push_range(fit, cloud, j, j + 1);
    present[(*count)++] = j;
    size_t gone = 0;
    if (story->window && *count > story->window)
        memmove(present, present + 1, --*count * sizeof *present);
    if (!story->removes || j % 4 != 3 || j < 20)
        return;
    gone = (7 * j) % *count;
    TAP_NEED(keepfit_fit_remove(fit, gone) == KEEPFIT_OK);
    memmove(present + gone, present + gone + 1, (--*count - gone) * sizeof *present);
}

/* ---- every stage within its bound ---- */

struct verdict {
    size_t stages, proved, beyond;
    double worst; /* gap over bound */
};

/* The model that is given out, on the rows as they came, against the optimum on rows centred by hand. */
static void judge_stage(struct verdict *verdict, const char *loss, const struct cloud *cloud, keepfit_fit *fit,
                        const size_t *present, size_t count, long double *best)
{
    static struct judge raw, centred;
    long double x[SIZE_MOST];
    size_t size;
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    verdict->stages++;
    if (isnan(report.bound))
        return;
    const double *given = keepfit_fit_iterate(fit, &size);
    long double middle = (long double)cloud->value[present[count - 1]][0]; /* a time, unless that row has none */
    if (middle < START / 2)
        middle = START;
    judge_summon(&raw, loss, cloud, fit, present, count, 0, LAMBDA);
    judge_summon(&centred, loss, cloud, fit, present, count, middle, LAMBDA);
    TAP_NEED(size == raw.size);
    for (size_t k = 0; k < size; k++)
        x[k] = given[k];
    long double gap = judge_value(&raw, x) - judge_least(&centred, best);
    verdict->proved += report.bound <= report.target;
    verdict->beyond += gap > report.bound * (1 + 1e-9) + 1e-16;
    verdict->worst = fmax(verdict->worst, (double)(gap / report.bound));
}

/* The account of the same stream with times from `start`. */
static keepfit_report report_of(const char *options, const struct story *story, const char *loss, double start)
{
    struct cloud *cloud = stamped(loss, story, start, 3);
    keepfit_fit *fit = fit_from(options);
    size_t present[COUNT + 1], count = 0;
    keepfit_report report = {.struct_size = sizeof report};
    for (size_t j = 0; j < COUNT; j++)
        advance(fit, story, cloud, j, present, &count);
    keepfit_fit_report(fit, &report);
    keepfit_fit_free(fit);
    free(cloud);
    return report;
}

static void test_story(struct tap *tap, const struct story *story, const char *loss)
{
    char options[300];
    snprintf(options, sizeof options, "loss=%s lambda=0.001 intercept=true epsilon=1e-3 %s", loss, story->options);
    struct cloud *cloud = stamped(loss, story, START, 3);
    keepfit_fit *fit = fit_from(options);
    struct verdict verdict = {0};
    size_t present[COUNT + 1], count = 0, early = strcmp(loss, "softmax") == 0 ? 2 : 1;
    long double best[SIZE_MOST] = {0}; /* the optimum moves little */
    for (size_t j = 0; j < COUNT; j++) {
        advance(fit, story, cloud, j, present, &count);
        if (j >= early)
            judge_stage(&verdict, loss, cloud, fit, present, count, best);
    }
    keepfit_fit_free(fit);
    free(cloud);
    tap_check(tap, !verdict.beyond && 10 * verdict.proved >= 9 * verdict.stages,
              "%s, %s: the model given out is within its bound (%zu of %zu stages proved, at most %.2g of it)", loss,
              story->name, verdict.proved, verdict.stages, verdict.worst);
    keepfit_report centred = report_of(options, story, loss, START), by_hand = report_of(options, story, loss, 0);
    if (story->sparse) /* by hand, a time that is missing would be another number */
        tap_check(tap, !centred.missed, "%s, %s: no stage is missed", loss, story->name);
    else
        tap_check(tap,
                  centred.fo <= 3 * by_hand.fo && centred.missed <= by_hand.missed &&
                      centred.unproved <= by_hand.unproved,
                  "%s, %s: %llu gradients, %llu where centred by hand, and as much is proved", loss, story->name,
                  (unsigned long long)centred.fo, (unsigned long long)by_hand.fo);
}

static const struct story stories[] = {
    {.name = "times around one", .options = "", .unit = 20},
    {.name = "times that move on by 10^6 s, window 50", .options = "window=50", .unit = 20, .step = 4200, .window = 50},
    {.name = "a gap of 12 days, window 8", .options = "window=8", .unit = 2, .step = 1, .jump = 1e6, .window = 8},
    {.name = "points leave", .options = "", .unit = 20, .step = 1, .removes = true},
    {.name = "sparse rows, some without a time", .options = "", .unit = 20, .sparse = true},
};

/* Another form of the iterate, and domains. */
static void test_forms(struct tap *tap)
{
    static const struct story forms[] = {
        {.name = "a table", .options = "method=table iterate=scaled", .unit = 1, .removes = true},
        {.name = "a table, window 30", .options = "method=table iterate=scaled window=30", .unit = 1, .window = 30},
        {.name = "refit", .options = "method=refit", .unit = 20, .removes = true},
    };
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++)
        test_story(tap, &forms[k], "huber");
}

/* ---- what came, comes back ---- */

static bool same_row(const keepfit_row *a, const keepfit_row *b)
{
    bool same = a->count == b->count;
    for (size_t k = 0; same && k < a->count; k++)
        same = memcmp(&a->value[k], &b->value[k], sizeof *a->value) == 0 &&
               (a->index ? a->index[k] : k) == (b->index ? b->index[k] : k);
    return same;
}

static bool all_come_back(keepfit_fit *fit, const struct cloud *cloud, const size_t *present, size_t count)
{
    bool same = fit->task.problem.points.count == count;
    for (size_t k = 0; k < count && same; k++) {
        const keepfit_point *pushed = &cloud->point[present[k]];
        keepfit_point point;
        TAP_NEED(keepfit_fit_point(fit, k, &point) == KEEPFIT_OK);
        same = same_row(&point.row, &pushed->row) && point.target == pushed->target && point.weight == pushed->weight;
    }
    return same;
}

static void test_points(struct tap *tap)
{
    for (size_t k = 0; k < sizeof stories / sizeof stories[0]; k++) {
        struct cloud *cloud = stamped("huber", &stories[k], START, 5);
        char options[200];
        snprintf(options, sizeof options, "loss=huber lambda=0.001 intercept=true %s", stories[k].options);
        keepfit_fit *fit = fit_from(options);
        size_t present[COUNT + 1], count = 0, centred = 0;
        bool same = true;
        for (size_t j = 0; j < COUNT; j++) {
            advance(fit, &stories[k], cloud, j, present, &count);
            centred += fit->centring.centres.count == 1 && fit->centring.centres.at[0].column == 0;
            same = same && (j % 10 || all_come_back(fit, cloud, present, count));
        }
        tap_check(tap, same && centred == COUNT, "%s: the points come back with their bits", stories[k].name);
        keepfit_fit_free(fit);
        free(cloud);
    }
}

/* A value that loses digits when the centre is subtracted, a zero with a sign, a zero that came beside one that did not. */
static void test_inexact(struct tap *tap)
{
    static const char *const what[] = {"0.1", "-0", "0 beside nothing"};
    static const struct story story = {.name = "", .options = "", .unit = 20};
    for (size_t k = 0; k < 3; k++) {
        struct cloud *cloud = stamped("squared", &story, START, 6);
        keepfit_fit *fit = fit_from("loss=squared lambda=0.001 intercept=true");
        for (size_t j = 0; j < COUNT; j++)
            cloud->value[j][1] += START; /* a second one, which may stay */
        cloud->value[70][0] = k == 0 ? 0.1 : k == 1 ? -0.0 : 0;
        if (k == 2)
            drop_entry(cloud, 70, 1);
        size_t present[COUNT + 1], count = 0, before = 0;
        for (size_t j = 0; j < COUNT; j++) {
            advance(fit, &story, cloud, j, present, &count);
            before = j == 69 ? fit->centring.centres.count : before;
        }
        bool other = fit->centring.centres.count == 1 && fit->centring.centres.at[0].column == 1;
        tap_check(tap, before == 2 && other && all_come_back(fit, cloud, present, count),
                  "%s: that column is as it came again, the other one stays centred", what[k]);
        keepfit_fit_free(fit);
        free(cloud);
    }
}

/* A window that such a row, or one without a time, passes through: centred again at once, and proved throughout. */
static void test_passing(struct tap *tap)
{
    static const struct story story = {.name = "", .options = "", .unit = 2, .window = 9};
    static const double odd[] = {0.1, 0, -3e8};
    for (size_t k = 0; k < 3; k++) {
        struct cloud *cloud = stamped("squared", &story, START, 6);
        keepfit_fit *fit = fit_from("loss=squared lambda=0.001 intercept=true window=9");
        size_t present[COUNT + 1], count = 0;
        keepfit_report report = {.struct_size = sizeof report};
        cloud->value[0][0] = cloud->value[60][0] = odd[k];
        bool centred = true;
        for (size_t j = 0; j < COUNT; j++) {
            advance(fit, &story, cloud, j, present, &count);
            centred = centred && (fit->centring.centres.count || j < 9 || (j >= 60 && j < 69));
        }
        keepfit_fit_report(fit, &report);
        tap_check(tap, centred && !report.missed && !report.unproved && all_come_back(fit, cloud, present, count),
                  "%g among the times of a window: centred as soon as it has left", odd[k]);
        keepfit_fit_free(fit);
        free(cloud);
    }
}

/* ---- stored and read again ---- */

static struct kf_archive snapshot_of(keepfit_fit *fit)
{
    struct kf_archive archive = {0};
    fit->account.seconds = 0; /* the only thing that is not the same twice */
    TAP_NEED(kf_snapshot_take(fit, &archive) == KEEPFIT_OK);
    return archive;
}

static bool same_state(keepfit_fit *a, keepfit_fit *b)
{
    struct kf_archive first = snapshot_of(a), second = snapshot_of(b);
    bool same = first.count == second.count && memcmp(first.bytes, second.bytes, first.count) == 0;
    kf_archive_free(&first);
    kf_archive_free(&second);
    return same;
}

/* A new fit from the snapshot and the points that the old one gives. */
static keepfit_fit *move(keepfit_fit *from, const char *options)
{
    keepfit_fit *to = fit_from(options);
    struct kf_archive archive = snapshot_of(from), reading = kf_archive_to_read(archive.bytes, archive.count);
    keepfit_error error = {.struct_size = sizeof error};
    for (size_t k = 0; k < from->task.problem.points.count; k++) {
        keepfit_point point;
        TAP_NEED(keepfit_fit_point(from, k, &point) == KEEPFIT_OK && kf_snapshot_recall(to, &point));
    }
    TAP_NEED(kf_snapshot_restore(to, &reading, &error) == KEEPFIT_OK && reading.at == archive.count);
    kf_archive_free(&archive);
    keepfit_fit_free(from);
    return to;
}

static void test_snapshots(struct tap *tap, const char *method, const char *loss)
{
    for (size_t k = 0; k < sizeof stories / sizeof stories[0]; k++) {
        if (strcmp(method, "table") == 0 && stories[k].step > 0)
            continue; /* its steps take long where a column varies by so much */
        char options[200];
        snprintf(options, sizeof options, "loss=%s lambda=0.001 intercept=true epsilon=1e-2 inner=8 method=%s %s", loss,
                 method, stories[k].options);
        struct cloud *cloud = stamped(loss, &stories[k], START, 7);
        cloud->value[90][0] = 0.1; /* cannot be centred */
        keepfit_fit *whole = fit_from(options), *parts = fit_from(options);
        size_t present[COUNT + 1], same_present[COUNT + 1], count = 0, count_of_parts = 0;
        bool same = true;
        for (size_t j = 0; j < COUNT; j++) {
            advance(whole, &stories[k], cloud, j, present, &count);
            advance(parts, &stories[k], cloud, j, same_present, &count_of_parts);
            if (j % 17 == 5)
                parts = move(parts, options);
            same = same && (j % 30 != 29 || same_state(whole, parts));
        }
        tap_check(tap, same, "%s, %s, %s: restored from snapshots, it goes on bit for bit", method, loss,
                  stories[k].name);
        keepfit_fit_free(whole);
        keepfit_fit_free(parts);
        free(cloud);
    }
}

static bool same_run(keepfit_fit *a, keepfit_fit *b)
{
    return same_iterate(a, b) && a->task.problem.objective.fo == b->task.problem.objective.fo;
}

/* Broken off every 30 points, replayed or from checkpoints, small segments, compacted once. */
static void test_journal(struct tap *tap, bool checkpoints, bool late)
{
    for (size_t k = 0; k < sizeof stories / sizeof stories[0]; k++) {
        char text[200], kept[320];
        snprintf(text, sizeof text, "loss=huber lambda=0.001 intercept=true epsilon=1e-2 %s", stories[k].options);
        snprintf(kept, sizeof kept, "%s journal=" FOLDER " segment-bytes=4096%s", text,
                 checkpoints ? " checkpoint-gradients=40" : "");
        struct cloud *cloud = stamped("huber", &stories[k], START, 8);
        cloud->value[75][0] = late ? 0.1 : START;
        struct world *world = world_create();
        keepfit_fit *whole = fit_from(text), *part = journal_fit_sound(world, kept);
        size_t present[COUNT + 1], same_present[COUNT + 1], count = 0, count_of_part = 0;
        bool same = true;
        for (size_t j = 0; j < COUNT; j++) {
            advance(whole, &stories[k], cloud, j, present, &count);
            advance(part, &stories[k], cloud, j, same_present, &count_of_part);
            if (j == 50)
                TAP_NEED(keepfit_fit_compact(part) == KEEPFIT_OK);
            if (j % 30 == 29) {
                same = same && same_run(whole, part) && all_come_back(part, cloud, present, count);
                keepfit_fit_free(part);
                part = journal_fit_sound(world, kept);
            }
        }
        tap_check(tap, same && same_run(whole, part), "%s%s: taken up again from a journal%s, bit for bit",
                  stories[k].name, late ? ", not centred any more in the end" : "",
                  checkpoints ? " with checkpoints" : "");
        keepfit_fit_free(whole);
        keepfit_fit_free(part);
        world_free(world);
        free(cloud);
    }
}

/* ---- the boundary ---- */

/* The model is the iterate that is given out, whose scores of rows as they came are those that the history has. */
static void test_boundary(struct tap *tap)
{
    static const struct story story = {.name = "", .options = "", .unit = 20};
    struct cloud *cloud = stamped("softmax", &story, START, 9);
    keepfit_fit *fit = fit_from("loss=softmax lambda=0.001 intercept=true epsilon=1e-4");
    keepfit_model *model = NULL;
    size_t size;
    long double worst = 0;
    push_range(fit, cloud, 0, COUNT);
    const double *x = keepfit_fit_iterate(fit, &size), *inside = fit->task.iterate.x;
    TAP_NEED(keepfit_fit_model(fit, &model) == KEEPFIT_OK && size == 12);
    bool same = memcmp(model->intercepts, x, 3 * sizeof *x) == 0 && memcmp(model->weights, x + 3, 9 * sizeof *x) == 0;
    for (size_t k = 0; k < 3; k++) {
        long double score = x[k], kept = inside[k], centre = fit->centring.centres.at[0].value;
        for (size_t f = 0; f < FEATURES; f++) {
            score += (long double)x[3 * (f + 1) + k] * cloud->value[7][f];
            kept += (long double)inside[3 * (f + 1) + k] * (cloud->value[7][f] - (f ? 0 : centre));
        }
        worst = fmaxl(worst, fabsl(score - kept));
    }
    tap_check(tap, same && worst > 0 && worst < 1e-7L, "the model is the iterate given out; scores agree to %.1Lg",
              worst);
    keepfit_measurement measured = {.struct_size = sizeof measured};
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM | KEEPFIT_MEASURE_OBJECTIVE, &measured) == KEEPFIT_OK);
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    tap_check(tap, measured.gap >= -1e-12 && measured.gap <= report.bound,
              "the measured gap %.3g is within the bound %.3g", measured.gap, report.bound);
    keepfit_model_free(model);
    keepfit_fit_free(fit);
    free(cloud);
}

/* Rounding of b counts: where epsilon is finer than that, nothing is claimed. */
static void test_rounding(struct tap *tap)
{
    static const struct story story = {.name = "", .options = "", .unit = 20};
    struct cloud *cloud = stamped("squared", &story, START, 10);
    keepfit_fit *fit = fit_from("loss=squared lambda=0.001 intercept=true epsilon=1e-30");
    keepfit_report report = {.struct_size = sizeof report};
    push_range(fit, cloud, 0, COUNT);
    keepfit_fit_report(fit, &report);
    tap_check(tap, report.bound > report.target && report.bound > 1e-30 && report.bound < 1e-10 && report.missed,
              "rounding the intercept that is given out is in the bound (%.2g)", report.bound);
    keepfit_fit_free(fit);
    free(cloud);
}

/* ---- ordinary streams ---- */

static bool is_left_alone(const char *loss, bool sparse, const char *more)
{
    char options[200];
    snprintf(options, sizeof options, "loss=%s intercept=true %s", loss, more);
    struct cloud *cloud = cloud_make(loss, COUNT, 9, sparse, true, 11);
    keepfit_fit *fit = fit_from(options);
    bool alone = true;
    for (size_t j = 0; j < COUNT; j++) {
        cloud->value[j][0] = j % 3; /* flags and years */
        if (!sparse)
            cloud->value[j][8] = (double)(1990 + j % 7);
        push_range(fit, cloud, j, j + 1);
        alone = alone && !fit->centring.centres.count;
    }
    keepfit_fit_free(fit);
    free(cloud);
    return alone;
}

static void test_ordinary(struct tap *tap)
{
    static const char *const losses[] = {"squared", "logistic", "huber", "softmax", "logcosh"};
    bool alone = true;
    for (size_t k = 0; k < 10; k++)
        alone = alone && is_left_alone(losses[k / 2], k % 2, "") &&
                is_left_alone(losses[k / 2], k % 2, "window=20 method=csvrg inner=5");
    tap_check(tap, alone, "columns near 0, and years, are not centred");
    keepfit_fit *fit = fit_from("loss=squared");
    keepfit_fit *scarce = fit_from("loss=squared lambda=1e-12 intercept=true");
    static const uint32_t index[][2] = {{3, 70}, {4, 71}};
    static const double value[][2] = {{5, 6}, {7, 8}};
    for (size_t j = 0; j < 40; j++) {
        keepfit_point point = {.row = {2, index[j % 2], value[j % 2]}, .target = (double)(j % 5), .weight = 1};
        keepfit_point stamp = {.row = {1, NULL, (double[]){START}}, .target = 1, .weight = 1};
        TAP_NEED(keepfit_fit_push(scarce, &point) == KEEPFIT_OK && keepfit_fit_push(fit, &stamp) == KEEPFIT_OK);
    }
    tap_check(tap, !fit->centring.centres.count, "without an intercept nothing is centred");
    tap_check(tap, scarce->task.problem.points.place[39].count == 3, "columns that most rows lack are not filled in");
    keepfit_fit_free(fit);
    keepfit_fit_free(scarce);
}

int main(void)
{
    struct tap tap = {0};
    static const char *const losses[] = {"squared", "logistic", "huber", "softmax"};
    for (size_t k = 0; k < sizeof stories / sizeof stories[0]; k++)
        for (size_t l = 0; l < sizeof losses / sizeof losses[0]; l++)
            if (l < 3 ||
                !stories[k].sparse) /* three classes and numbers from 0 to 10^9 in a column are hard by themselves */
                test_story(&tap, &stories[k], losses[l]);
    test_forms(&tap);
    test_points(&tap);
    test_inexact(&tap);
    test_passing(&tap);
    test_snapshots(&tap, "auto", "softmax");
    test_snapshots(&tap, "exact", "squared");
    test_snapshots(&tap, "table", "squared");
    test_snapshots(&tap, "csvrg", "logistic");
    test_snapshots(&tap, "sgd", "logistic");
    for (int k = 0; k < 4; k++)
        test_journal(&tap, k / 2, k % 2);
    test_boundary(&tap);
    test_rounding(&tap);
    test_ordinary(&tap);
    return tap_end(&tap);
}
