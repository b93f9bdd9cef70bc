/* Losses that are made of pieces: huber and both hinges. What their proof goes by, in more digits, and the bound itself beside the gap to an
 * independent optimum. At every stage x goes as far as the proof says that it may, towards the end of each point's piece: no point that H is
 * made of leaves it, and the Hessian there is the share of H that is told. Columns are of any size, or times beside an intercept; points have
 * weights, come beside the ends of pieces on purpose, and leave.
 *
 *   test_pieces [quick]
 */
#include <string.h>

#include "certificate/internal.h"
#include "hold/hold.h"
#include "judge.h"
#include "kernels/kernels.h"

#define COUNT JUDGE_POINTS
#define FEATURES JUDGE_FEATURES
#define START 1.7e9
#define LAMBDA 1e-3
#define DELTA 0.5
#define DIRECTIONS 8

enum kind { PLAIN, SCALES, TIMES };
static const char *const kinds[] = {"columns alike", "columns of 1e8 and 1e-8", "times"};

struct story {
    enum kind kind;
    bool intercept, removes;
    size_t window;
    const char *options;
};

struct findings {
    size_t stages, certified, by_pieces; /* stages whose bound is that of a ball */
    size_t left, below, beyond, missed;
    uint64_t fo;
};

/* ---- streams ---- */

static struct cloud *make_stream(const char *loss, enum kind kind, uint64_t seed)
{
    struct cloud *cloud = cloud_make(loss, COUNT, FEATURES, false, true, seed);
    for (size_t j = 0; j < COUNT; j++) {
        double *value = cloud->value[j];
        if (kind == SCALES) {
            value[0] *= 1e8;
            value[1] *= 1e-8;
        } else if (kind == TIMES) {
            value[0] = START + (double)j + rint(100 * value[0]);
        }
    }
    return cloud;
}

/* Where the model stands, point j comes to lie next to an end of a piece: its target is moved, or, for classes, its row is made longer. */
static void come_close(struct kf_random *random, const char *loss, struct cloud *cloud, size_t j,
                       const struct story *story, keepfit_fit *fit)
{
    size_t size;
    const double *x = keepfit_fit_iterate(fit, &size);
    double *value = cloud->value[j], lead = story->intercept ? x[0] : 0, rest = 0;
    double sign = kf_random_unit(random) < 0.5 ? -1 : 1, beside = sign * pow(10, -16 + 12 * kf_random_unit(random));
    for (size_t k = 0; k < FEATURES && story->intercept + k < size; k++)
        rest += x[story->intercept + k] * value[k];
    if (strcmp(loss, "huber") == 0) {
        cloud->point[j].target = lead + rest + (kf_random_unit(random) < 0.5 ? -1 : 1) * (DELTA + beside);
        return;
    }
    bool inner = strcmp(loss, "hinge") == 0 && kf_random_unit(random) < 0.5;
    double times = (cloud->point[j].target * ((inner ? 1 - DELTA : 1) + beside) - lead) / rest;
    if (story->kind == TIMES || !(fabs(times) < 100))
        return;
    for (size_t k = 0; k < FEATURES; k++)
        value[k] *= times;
}

/* ---- what the proof goes by ---- */

static bool is_curved(const char *loss, long double score, long double target)
{
    long double short_by = 1 - target * score;
    if (strcmp(loss, "huber") == 0)
        return fabsl(score - target) <= (long double)DELTA;
    return short_by >= 0 && (strcmp(loss, "squared-hinge") == 0 || short_by <= (long double)DELTA);
}

static long double score_at(const struct kf_problem *problem, size_t j, const double *x, const double *v)
{
    keepfit_row row = kf_points_row(&problem->points, j);
    long double score = 0;
    for (size_t e = 0; e < row.count; e++) {
        size_t k = row.index ? row.index[e] : e;
        score += (long double)row.value[e] * ((long double)x[k] + (v ? v[k] : 0));
    }
    return score;
}

/* v = M w times `length` over its own; M is the inverse as a matrix of numbers. Returns what v'M^-1 v was. */
static double draw_direction(const struct kf_curvature *curvature, const double *w, double length, double *v)
{
    curvature->hessian.type->times_inverse(&curvature->hessian, w, v);
    double square = kf_dot(curvature->hessian.size, w, v);
    kf_scale(curvature->hessian.size, length / sqrt(square), v);
    return square;
}

/* How many of H's points have left their piece at x + v. */
static size_t gone_at(const char *loss, const struct kf_task *task, const struct kf_curvature *curvature,
                      const double *v)
{
    size_t gone = 0;
    for (size_t j = 0; j < curvature->points; j++)
        gone += curvature->leverages.of[j] >= 0 && curvature->curves.of[j] > 0 &&
                !is_curved(loss, score_at(&task->problem, j, task->iterate.x, v), task->problem.points.place[j].target);
    return gone;
}

/* v'(the Hessian at x + v)v over v'M^-1 v = 1. */
static long double bend_at(const char *loss, const struct kf_task *task, const double *v, double length)
{
    const struct kf_problem *problem = &task->problem;
    long double sum = 0, weight = 0, ridge = 0, curve = strcmp(loss, "hinge") == 0 ? 1 / (long double)DELTA : 2;
    for (size_t j = 0; j < problem->points.count; j++) {
        const struct kf_place *place = &problem->points.place[j];
        long double along = score_at(problem, j, v, NULL);
        weight += place->weight;
        if (is_curved(loss, score_at(problem, j, task->iterate.x, v), place->target))
            sum += place->weight * curve * along * along;
    }
    for (size_t k = problem->objective.free; k < kf_size(problem); k++)
        ridge += 2 * (long double)problem->objective.lambda * v[k] * v[k];
    return (sum / weight + ridge) / ((long double)length * length);
}

/* As far as the bound lets x go, towards and away from each point's end, and anywhere. */
static void look_at_ball(struct kf_random *random, const char *loss, keepfit_fit *fit, struct findings *found)
{
    struct kf_task *task = &fit->task;
    const struct kf_hold *hold = fit->running[fit->running_count - 1].state;
    const struct kf_curvature *curvature = &hold->certificate.curvature;
    size_t size = curvature->hessian.size;
    double w[FEATURES_MOST], v[FEATURES_MOST];
    if (!kf_is_certified(curvature) || !isfinite(curvature->rooms.radius) ||
        curvature->hessian.size != kf_size(&task->problem))
        return;
    double length = (curvature->rooms.radius - curvature->since.stretch) * (1 - 1e-9);
    double c = kf_curvature_shrinkage(curvature, &task->problem, curvature->since.stretch);
    if (!(length > 0))
        return;
    found->certified++;
    for (size_t j = 0; j < curvature->points + DIRECTIONS; j++) {
        keepfit_row row = kf_points_row(&task->problem.points, j < curvature->points ? j : 0);
        memset(w, 0, sizeof w);
        for (size_t e = 0; e < row.count && j < curvature->points; e++)
            w[row.index ? row.index[e] : e] = row.value[e];
        for (size_t k = 0; k < size && j >= curvature->points; k++)
            w[k] = kf_random_normal(random) / curvature->hessian.width[k];
        for (int sign = -1; sign <= 1; sign += 2) {
            if (!(draw_direction(curvature, w, sign * length, v) > 0))
                continue;
            found->left += gone_at(loss, task, curvature, v);
            found->below += !(bend_at(loss, task, v, length) >= c * (1 - 1e-9L));
        }
    }
}

/* ---- the bound ---- */

static void judge_stage(const char *loss, const struct story *story, const struct cloud *cloud, keepfit_fit *fit,
                        const size_t *present, size_t count, long double *best, struct findings *found)
{
    static struct judge judge;
    long double x[JUDGE_SIZE] = {0}, middle = story->kind == TIMES ? START : 0;
    size_t size;
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    const double *given = keepfit_fit_iterate(fit, &size);
    judge_summon(&judge, loss, cloud, fit, present, count, middle, LAMBDA);
    judge.delta = DELTA;
    for (size_t j = 0; j < count && !story->intercept; j++)
        judge.row[j][0] = 0;
    for (size_t k = 0; k < size; k++)
        x[k + !story->intercept] = given[k];
    x[0] += middle * x[1];
    long double gap = judge_value(&judge, x) - judge_least(&judge, best);
    found->stages++;
    found->beyond += !(gap <= report.bound * (1 + 1e-9) + 1e-16);
    found->missed += !(report.bound <= report.target);
    found->fo = report.fo;
}

static void count_proof(keepfit_fit *fit, struct findings *found)
{
    const struct kf_hold *hold = fit->running[fit->running_count - 1].state;
    found->by_pieces += hold->certificate.now.proof == KF_PROOF_CURVATURE;
}

/* ---- stories ---- */

static void advance(struct kf_random *random, keepfit_fit *fit, const struct story *story, const struct cloud *cloud,
                    size_t j, size_t *present, size_t *count)
{
    push_range(fit, cloud, j, j + 1);
    present[(*count)++] = j;
    if (story->window && *count > story->window)
        memmove(present, present + 1, --*count * sizeof *present);
    if (!story->removes || j % 4 != 3 || j < 20)
        return;
    size_t gone = kf_random_below(random, *count);
    TAP_NEED(keepfit_fit_remove(fit, gone) == KEEPFIT_OK);
    memmove(present + gone, present + gone + 1, (--*count - gone) * sizeof *present);
}

static void tell_stream(const char *loss, const struct story *story, uint64_t seed, struct findings *found)
{
    char options[300];
    long double best[JUDGE_SIZE] = {0};
    size_t present[COUNT + 1], count = 0;
    struct kf_random random;
    kf_random_seed(&random, seed);
    snprintf(options, sizeof options, "loss=%s lambda=%g delta=%g epsilon=%g epsilon-kind=relative%s %s", loss, LAMBDA,
             DELTA, pow(10, -2 - (double)(seed % 4)), story->intercept ? " intercept=true" : "", story->options);
    if (story->window)
        snprintf(options + strlen(options), sizeof options - strlen(options), " window=%zu", story->window);
    struct cloud *cloud = make_stream(loss, story->kind, seed);
    keepfit_fit *fit = fit_from(options);
    for (size_t j = 0; j < COUNT; j++) {
        if (j > 20 && j % 3 == 0)
            come_close(&random, loss, cloud, j, story, fit);
        advance(&random, fit, story, cloud, j, present, &count);
        count_proof(fit, found);
        look_at_ball(&random, loss, fit, found);
        judge_stage(loss, story, cloud, fit, present, count, best, found);
    }
    keepfit_fit_free(fit);
    free(cloud);
}

static void test_story(struct tap *tap, const char *loss, const struct story *story, uint64_t streams)
{
    struct findings found = {0};
    bool limited = strstr(story->options, "budget") != NULL; /* stages may be missed */
    for (uint64_t seed = 1; seed <= streams; seed++)
        tell_stream(loss, story, seed, &found);
    tap_check(
        tap, found.left == 0 && found.below == 0 && found.certified > (limited ? 0 : found.stages / 2),
        "%s, %s, %s: as far as x may go no point leaves its piece (%zu), and the Hessian is the share that is told "
        "(%zu), in %zu balls of %zu stages",
        loss, kinds[story->kind], story->options, found.left, found.below, found.certified, found.stages);
    tap_check(tap, found.beyond == 0 && (limited || found.missed <= found.stages / 10),
              "%s, %s, %s: no gap is above its bound (%zu), nor the bound above the target (%zu of %zu; %zu by "
              "curvature)",
              loss, kinds[story->kind], story->options, found.beyond, found.missed, found.stages, found.by_pieces);
}

/* ---- what it costs ---- */

/* Gradients a stage; with the gradient's norm alone it was thousands. */
static void test_cost(struct tap *tap, const char *loss, bool wide, double most)
{
    char options[200];
    struct cloud *cloud = cloud_make(loss, 2000, 10, false, false, 5);
    keepfit_report report = {.struct_size = sizeof report};
    for (size_t j = 0; j < cloud->count && wide; j++)
        cloud->value[j][0] *= 1e8;
    snprintf(options, sizeof options, "loss=%s lambda=1e-3 epsilon=1e-3 epsilon-kind=relative", loss);
    keepfit_fit *fit = fit_from(options);
    push_range(fit, cloud, 0, cloud->count);
    keepfit_fit_report(fit, &report);
    double each = (double)report.fo / (double)report.stage;
    tap_check(tap, each < most, "%s%s: %.1f gradients a stage", loss, wide ? ", a column of 1e8" : "", each);
    keepfit_fit_free(fit);
    free(cloud);
}

int main(int count, char **words)
{
    static const char *const losses[] = {"huber", "hinge", "squared-hinge"};
    static const struct story stories[] = {
        {PLAIN, false, false, 0, "method=quadratic"}, {PLAIN, true, true, 0, "method=quadratic"},
        {SCALES, false, true, 0, "method=auto"},      {SCALES, true, false, 41, "method=quadratic"},
        {TIMES, true, false, 0, "method=auto"},       {TIMES, true, true, 50, "method=refit"},
        {PLAIN, false, false, 37, "stage-budget=20"},
    };
    struct tap tap = {0};
    uint64_t streams = count > 1 && strcmp(words[1], "quick") == 0 ? 4 : 12;
    for (size_t l = 0; l < sizeof losses / sizeof losses[0]; l++) {
        for (size_t k = 0; k < sizeof stories / sizeof stories[0]; k++)
            test_story(&tap, losses[l], &stories[k], streams);
        for (int wide = 0; wide < 2; wide++)
            test_cost(&tap, losses[l], wide, 60);
    }
    return tap_end(&tap);
}
