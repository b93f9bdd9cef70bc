/* Gradient sums, losses and their bounds (objective/rounding.h), and sums with twice the digits (base/sum.h). */
#include <string.h>

#include "base/sum.h"
#include "objective/rounding.h"
#include "rounding_judge.h"

static const char *const losses[] = {"squared", "logistic", "huber", "hinge", "softmax"};
#define LOSSES (sizeof losses / sizeof *losses)
#define SEEDS 300
#define STEPS 60

static struct kind kind_of(uint64_t seed, struct kf_random *random)
{
    kf_random_seed(random, seed);
    struct kind kind = {.loss = losses[seed % LOSSES],
                        .count = 1 + kf_random_below(random, seed % 7 ? 40 : 400),
                        .slots = 1 + kf_random_below(random, seed % 11 ? 12 : 80),
                        .sparse = kf_random_below(random, 2),
                        .weighted = kf_random_below(random, 2)};
    if (seed % 9 == 0) {
        kind.absorbing = true;
        kind.slots = 1;
        kind.count = 400;
    }
    return kind;
}

/* What one pass is judged by. */
struct judged {
    struct worst pass, closely, complete, losses;
};

static void judge_sum(struct worst *worst, uint64_t seed, size_t size, const struct kf_tracked *tracked,
                      const quad *exact)
{
    for (size_t k = 0; k < size; k++)
        worst_note(worst, seed, tracked->sum[k] - exact[k], tracked->off[k]);
}

static void judge_complete(struct judged *judged, uint64_t seed, const struct kf_objective *objective, const double *x,
                           const struct kf_tracked *tracked, const quad *exact)
{
    double gradient[EXACT_SIZE], doubt[EXACT_SIZE];
    quad weight = exact_weight(objective);
    if (!(weight > 0))
        return;
    kf_complete_gradient(objective, tracked->sum, x, gradient);
    kf_complete_doubt(objective, tracked, x, doubt);
    for (size_t k = 0; k < kf_dimension(objective); k++)
        worst_note(&judged->complete, seed, gradient[k] - (exact[k] / weight + 2 * (quad)objective->lambda * x[k]),
                   doubt[k]);
}

static void judge_losses(struct judged *judged, uint64_t seed, struct kf_objective *objective, const double *x)
{
    double lambda = objective->lambda;
    objective->lambda = 0;
    double sum = kf_objective_value(objective, x) * objective->weight_total;
    worst_note(&judged->losses, seed, sum - exact_losses(objective, x), kf_rounding_of_losses(objective, x, sum));
    objective->lambda = lambda;
}

static void judge_pass(struct judged *judged, uint64_t seed)
{
    struct kf_random random;
    struct kind kind = kind_of(seed, &random);
    keepfit_fit *fit = draw_problem(&kind, &random);
    struct kf_objective *objective = &fit->task.problem.objective;
    const double *x = fit->task.iterate.x;
    size_t size = kf_dimension(objective);
    quad exact[EXACT_SIZE];
    double sum[EXACT_SIZE], off[EXACT_SIZE], low[EXACT_SIZE], scratch[EXACT_SIZE];
    struct kf_tracked tracked = {sum, off};
    exact_sum(objective, x, exact);
    kf_gradient_sum(objective, x, kind.count, sum, NULL, scratch);
    kf_rounding_of_pass(objective, x, off);
    judge_sum(&judged->pass, seed, size, &tracked, exact);
    judge_complete(judged, seed, objective, x, &tracked, exact);
    kf_gradient_sum_closely(objective, x, &tracked, low, NULL, scratch);
    judge_sum(&judged->closely, seed, size, &tracked, exact);
    judge_complete(judged, seed, objective, x, &tracked, exact);
    judge_losses(judged, seed, objective, x);
    keepfit_fit_free(fit);
}

static void test_passes(struct tap *tap)
{
    struct judged judged = {.pass = {.ratio = 0}};
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        judge_pass(&judged, seed);
    worst_check(tap, &judged.pass, 0.9, "a pass: no number is off by more than its bound");
    worst_check(tap, &judged.closely, 0.1, "a closer look: no number is off by more than its bound");
    worst_check(tap, &judged.complete, 0.1, "the gradient of the mean: no number is off by more than its doubt");
    worst_check(tap, &judged.losses, 0.02, "losses are off by no more than their bound");
}

/* One row of 1e9 among ordinary ones, in column 0 alone, on the right side: a pass cannot say that the others have nothing of it. */
static void test_huge_row(struct tap *tap)
{
    struct kf_random random;
    struct kind kind = {.loss = "logistic", .count = 100, .slots = 5};
    double value = 1e9, sum[5], off[5], low[5], scratch[1], before, most = 0;
    struct kf_tracked tracked = {sum, off};
    struct worst worst = {.ratio = 0};
    quad exact[5];
    kf_random_seed(&random, 1);
    keepfit_fit *fit = draw_problem(&kind, &random);
    struct kf_task *task = &fit->task;
    keepfit_point point = {.row = {1, NULL, &value}, .target = task->iterate.x[0] > 0 ? 1 : -1, .weight = 1};
    TAP_NEED(kf_points_append(&task->problem.points, &point, NULL));
    kf_objective_count(&task->problem.objective, kind.count);
    for (size_t k = 0; k < 5; k++)
        task->iterate.x[k] = k == 0 ? task->iterate.x[0] : 0; /* other columns are far from 0 */
    exact_sum(&task->problem.objective, task->iterate.x, exact);
    for (size_t k = 0; k < 5; k++) {
        kf_rounding_of_pass(&task->problem.objective, task->iterate.x, off);
        before = off[k];
        kf_gradient_sum_closely(&task->problem.objective, task->iterate.x, &tracked, low, NULL, scratch);
        worst_note(&worst, 1, sum[k] - exact[k], off[k]);
        most = fmax(most, off[k] / before);
    }
    tap_check(tap, most < 0.01 && worst.wrong == 0,
              "beside a huge row a closer look's bounds are far less than those of a pass (%.3g of them)", most);
    keepfit_fit_free(fit);
}

/* ---- points that come and go ---- */

struct followed {
    struct worst numbers, length, losses;
};

/* Point j is added to what is followed, or taken from it. */
static void follow_point(struct followed *followed, uint64_t seed, struct kf_objective *objective, const double *x,
                         size_t j, double share, const struct kf_tracked *tracked, quad *exact, double *length)
{
    double factors[EXACT_OUTPUTS], blur, blur_of_length;
    struct kf_view view = kf_dense_view(x);
    size_t size = kf_dimension(objective);
    quad z[EXACT_OUTPUTS], apart = 0;
    double loss = objective->points->place[j].weight * objective->type->value(objective, &view, j);
    kf_factors(objective, &view, j, factors);
    objective->type->add(objective, share, j, factors, tracked->sum);
    blur = kf_rounding_of_point(objective, x, j, factors, 0, tracked);
    exact_add(objective, j, x, share, exact);
    *length += kf_rounding_length(objective, x, j, factors, sqrt(kf_square(size, tracked->sum)) * (1 + 1e-14),
                                  &blur_of_length);
    judge_sum(&followed->numbers, seed, size, tracked, exact);
    for (size_t k = 0; k < size; k++)
        apart += (tracked->sum[k] - exact[k]) * (tracked->sum[k] - exact[k]);
    worst_note(&followed->length, seed, sqrtq(apart), *length);
    exact_scores(objective, j, x, z);
    worst_note(&followed->losses, seed, loss - objective->points->place[j].weight * exact_value(objective, j, z),
               kf_rounding_of_loss(objective, j, loss, blur));
}

/* From 0: half of the points come, then others come and leave in any order. */
static void judge_following(struct followed *followed, uint64_t seed)
{
    struct kf_random random;
    struct kind kind = kind_of(seed, &random);
    keepfit_fit *fit = draw_problem(&kind, &random);
    struct kf_objective *objective = &fit->task.problem.objective;
    double sum[EXACT_SIZE] = {0}, off[EXACT_SIZE] = {0}, length = 0;
    quad exact[EXACT_SIZE] = {0};
    bool present[400] = {false};
    struct kf_tracked tracked = {sum, off};
    for (size_t k = 0; k < (kind.absorbing ? kind.count : STEPS); k++) {
        size_t j = kind.absorbing || 2 * k < STEPS ? k % kind.count : kf_random_below(&random, kind.count);
        follow_point(followed, seed, objective, fit->task.iterate.x, j, present[j] ? -1 : 1, &tracked, exact, &length);
        present[j] = !present[j];
    }
    keepfit_fit_free(fit);
}

static void test_following(struct tap *tap)
{
    struct followed followed = {.numbers = {.ratio = 0}};
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        judge_following(&followed, seed);
    worst_check(tap, &followed.numbers, 0.9, "points that come and go: no number is off by more than what is followed");
    worst_check(tap, &followed.length, 0.9, "the same for the sum's length");
    worst_check(tap, &followed.losses, 0.1, "the same for a point's loss");
}

/* ---- base/sum.h ---- */

static void judge_doubled(struct worst *worst, uint64_t seed, size_t *blunt)
{
    struct kf_random random;
    struct kf_sum sum = {0};
    double kept[200];
    quad exact = 0;
    size_t count = 2 + kf_random_below((kf_random_seed(&random, seed), &random), 199);
    for (size_t k = 0; k < count; k++) {
        kept[k] = seed % 4 == 0 ? draw_range(&random, 0, 1) * (k ? 0x1p-50 : 1)
                                : draw_scale(&random, -8, seed % 2 ? 17 : 3) * (1 + kf_random_unit(&random));
        kf_sum_add(&sum, kept[k]);
        exact += kept[k];
        worst_note(worst, seed, (quad)sum.high + sum.low - exact, sum.error);
    }
    for (size_t k = seed % 3 ? 0 : count - 1; k < count; k++) {
        kf_sum_add(&sum, -kept[k]);
        exact -= kept[k];
        worst_note(worst, seed, (quad)sum.high + sum.low - exact, sum.error);
        bool near = quad_size(sum.high - exact) <= 0x1p-52 * fabs(sum.high);
        *blunt += kf_sum_is_sharp(&sum) && !near;
    }
}

static void test_doubled(struct tap *tap)
{
    struct worst worst = {0};
    size_t blunt = 0;
    for (uint64_t seed = 0; seed < 2000; seed++)
        judge_doubled(&worst, seed, &blunt);
    worst_check(tap, &worst, 0.05, "sums that are followed with twice the digits are off by no more than they say");
    tap_check(tap, blunt == 0, "those that call themselves sharp are right to a unit (%zu are not)", blunt);
}

void test_sums(struct tap *tap)
{
    test_passes(tap);
    test_huge_row(tap);
    test_following(tap);
    test_doubled(tap);
}
