/* Leverages a_j'H^-1 a_j: how far the scores of the points that H is made of can move with |v|_H. The few points whose
 * leverage would spoil the bound for all others are left out of H. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "certificate/internal.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"

/* Points above this multiple of the mean leverage are left out, unless R is small enough for the target with them: few where the reach in
 * the mean counts, more where R itself does. */
#define LEVERAGE_TIMES 64.0         /* speed: bench/tuning.md */
#define LEVERAGE_TIMES_FARTHEST 4.0 /* speed: bench/tuning.md */
/* What is known of a leverage serves, unmeasured, up to this multiple of the largest that was measured. */
#define NEARLY 1.2 /* speed: bench/tuning.md */
/* All leverages are measured again when they may have grown by this, and, where that takes little time, when the weight has doubled. */
#define INFLATION_MOST 1.5 /* speed: bench/tuning.md */
/* A point that is more than this share of one number on H's diagonal is left out where H cannot be inverted with it; so many times. */
#define DOMINANT_FROM 0.5    /* safety: H may be made of any part of the points */
#define ROUNDS_OF_DOMINANT 4 /* safety: an end; then nothing is proved */
/* Leverages are dear where the products of entries that they ask for are this multiple of those of H's own numbers: a comparison of two
 * Hessians takes less, and loses a little. */
#define COMPARED_TIMES 3.0 /* speed: bench/tuning.md */
/* No more of H is left out for single points. */
#define LEFT_OUT_MOST 0.5 /* safety: half of it stays */
/* Where what is left out was so much of H that rounding in it counts as so many times more for the rest, H is made again without. */
#define WORN_FROM 1024.0 /* safety: 10 digits of 53 */

/* What stands for the leverage of a point that is left out of H: it is to be taken out, or H was made without it. */
#define LEFT_OUT (-1.0) /* safety: no leverage is below 0 */
#define NEVER_IN (-2.0) /* safety: likewise */

double kf_leverage(const struct kf_curvature *curvature, const struct kf_problem *problem, size_t j)
{
    const struct kf_hessian *hessian = &curvature->hessian;
    keepfit_row row = kf_points_row(&problem->points, j);
    return kf_leverage_upward(curvature, &row, hessian->type->leverage(hessian, problem->objective.kernels, &row));
}

/* Rows that cover all coordinates are multiplied KF_COLUMNS at a time. */
struct batch {
    double *columns;
    size_t count, points[KF_COLUMNS];
};

static void batch_flush(struct kf_curvature *curvature, const struct kf_problem *problem, struct batch *batch)
{
    double leverages[KF_COLUMNS];
    curvature->hessian.type->leverages(&curvature->hessian, batch->count, leverages);
    for (size_t b = 0; b < batch->count; b++) {
        keepfit_row row = kf_points_row(&problem->points, batch->points[b]);
        curvature->leverages.of[batch->points[b]] = kf_leverage_upward(curvature, &row, leverages[b]);
    }
    batch->count = 0;
}

/* Those of the points from .. to-1 that are in H. Returns how many. */
static size_t measure(struct kf_curvature *curvature, const struct kf_problem *problem, size_t from, size_t to)
{
    size_t count = 0, size = curvature->hessian.size;
    struct batch batch = {curvature->hessian.columns, 0, {0}};
    bool few = to - from < KF_COLUMNS;
    for (size_t j = from; j < to; j++) {
        if (curvature->leverages.of[j] < 0)
            continue;
        keepfit_row row = kf_points_row(&problem->points, j);
        count++;
        if (few || row.index || row.count < size) {
            curvature->leverages.of[j] = kf_leverage(curvature, problem, j);
            continue;
        }
        memcpy(batch.columns + batch.count * size, row.value, size * sizeof(double));
        batch.points[batch.count++] = j;
        if (batch.count == KF_COLUMNS)
            batch_flush(curvature, problem, &batch);
    }
    batch_flush(curvature, problem, &batch);
    return count;
}

static void spend(const struct kf_curvature *curvature, struct kf_task *task, size_t points)
{
    kf_spend(&task->stage, kf_cost_leverages(&task->problem, (double)curvature->hessian.size, (double)points));
}

void kf_leverages_measure_all(struct kf_curvature *curvature, struct kf_task *task)
{
    spend(curvature, task, measure(curvature, &task->problem, 0, curvature->points));
    curvature->leverages.largest = 0;
    for (size_t j = 0; j < curvature->points; j++)
        curvature->leverages.largest = fmax(curvature->leverages.largest, curvature->leverages.of[j]);
}

/* Marks those of the points from .. to-1 whose leverage is too high. R^2 is small enough where t is below a half: |g|_{H^-1} is
 * about sqrt(2 target). */
static void mark(struct kf_curvature *curvature, size_t from, size_t to, double target, double times)
{
    double mean = 0;
    for (size_t j = from; j < to; j++)
        mean += fmax(curvature->leverages.of[j], 0) / (double)(to - from);
    if (from == 0 && curvature->plain)
        curvature->leverages.most = INFINITY;
    else if (from == 0)
        curvature->leverages.most = fmax(1 / (8 * target), times * mean);
    for (size_t j = from; j < to; j++)
        if (curvature->leverages.of[j] > curvature->leverages.most)
            curvature->leverages.of[j] = LEFT_OUT;
}

/* Takes those of the points from .. to-1 that are marked out of H. Returns how many. */
static size_t leave_out(struct kf_curvature *curvature, const struct kf_problem *problem, size_t from, size_t to)
{
    size_t count = 0;
    kf_hessian_note_peaks(&curvature->hessian);
    for (size_t j = from; j < to; j++)
        if (curvature->leverages.of[j] == LEFT_OUT) {
            curvature->hessian.type->take_out(&curvature->hessian, &curvature->curves, problem, j,
                                              1 / curvature->weight);
            count++;
        }
    return count;
}

/* At least the largest leverage of the first `count` points in H, and hardly more. What is known of each is an upper bound once
 * multiplied by `inflation`, so that only those have to be measured that may be larger than the largest by far. */
static double largest_leverage(struct kf_curvature *curvature, struct kf_task *task, size_t count)
{
    double *known = curvature->leverages.of, most = 0, unmeasured = 0;
    size_t first = 0, measured = 0;
    for (size_t j = 1; j < count; j++)
        if (known[j] > known[first])
            first = j;
    for (size_t k = 0; k <= count && count; k++) {
        size_t j = k == 0 ? first : k - 1;
        if (known[j] < 0)
            continue;
        if (known[j] * curvature->leverages.inflation <= NEARLY * most) {
            unmeasured = fmax(unmeasured, known[j] * curvature->leverages.inflation);
            continue;
        }
        double now = kf_leverage(curvature, &task->problem, j);
        known[j] = now / curvature->leverages.inflation;
        most = fmax(most, now);
        measured++;
    }
    spend(curvature, task, measured);
    return fmax(most, unmeasured);
}

bool kf_leverages_are_marked(const struct kf_curvature *curvature)
{
    for (size_t j = 0; j < curvature->leverages.known; j++)
        if (curvature->leverages.of[j] < 0)
            return true;
    return false;
}

bool kf_leverages_are_dear(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    double entries = kf_entries_of_row(problem), size = (double)curvature->hessian.size;
    return (double)curvature->leverages.known * entries * entries > COMPARED_TIMES * size * size * size;
}

/* Marks those of the first `count` points, of which upper bounds are known, whose leverage is too high, and takes them out of H. Returns
 * the share of H that is lost with them at most. */
static double leave_out_more(struct kf_curvature *curvature, const struct kf_problem *problem, size_t count)
{
    double lost = 0;
    for (size_t j = 0; j < count; j++) {
        if (!(curvature->leverages.of[j] * curvature->leverages.inflation > curvature->leverages.most))
            continue;
        double now = kf_leverage(curvature, problem, j);
        double share = curvature->curves.of[j] / curvature->weight * now / (1 - curvature->hessian.slack) * KF_UPWARD;
        if (now <= curvature->leverages.most || lost + share > LEFT_OUT_MOST)
            continue;
        lost += share;
        curvature->leverages.of[j] = LEFT_OUT;
        leave_out(curvature, problem, j, j + 1);
    }
    return lost;
}

static bool is_worn(const struct kf_curvature *curvature)
{
    const struct kf_hessian *hessian = &curvature->hessian;
    bool worn = false;
    for (size_t k = 0; k < hessian->size; k++)
        worn |= !(hessian->peak[k] < WORN_FROM * kf_hessian_diagonal(hessian, k));
    return worn;
}

/* H again, of the points that are not left out, from their curvatures. False: no memory. */
bool kf_leverages_assemble(struct kf_curvature *curvature, struct kf_task *task)
{
    if (!KF_RESERVE(curvature->excesses, curvature->excesses_capacity, curvature->points))
        return false;
    for (size_t j = 0; j < curvature->points; j++)
        curvature->excesses[j] = curvature->leverages.of[j] < 0 ? 0 : curvature->curves.of[j];
    return curvature->hessian.type->assemble(&curvature->hessian, &curvature->curves, &task->problem,
                                             curvature->excesses, curvature->points, curvature->weight,
                                             2 * curvature->lambda);
}

/* Marks points that are by themselves most of what H has in some coordinate. Returns how many. */
static size_t mark_dominant(struct kf_curvature *curvature, const struct kf_problem *problem)
{
    size_t marked = 0;
    for (size_t j = 0; j < curvature->points; j++) {
        keepfit_row row = kf_points_row(&problem->points, j);
        double share = curvature->curves.of[j] / curvature->weight;
        bool dominant = false;
        for (size_t e = 0; e < row.count; e++) {
            size_t slot = row.index ? row.index[e] : e;
            double own = share * row.value[e] * row.value[e];
            dominant |= own > DOMINANT_FROM * kf_hessian_diagonal(&curvature->hessian, slot);
        }
        if (dominant && curvature->leverages.of[j] >= 0) {
            curvature->leverages.of[j] = NEVER_IN;
            marked++;
        }
    }
    return marked;
}

/* H's inverse. Where a few points are so large that rounding in what they have made of H hides all others, it is made without them. */
bool kf_leverages_invert(struct kf_curvature *curvature, struct kf_task *task)
{
    bool inverted = curvature->hessian.type->invert(&curvature->hessian);
    for (int round = 0; round < ROUNDS_OF_DOMINANT && !inverted && !curvature->plain; round++) {
        if (!mark_dominant(curvature, &task->problem))
            return false;
        if (!kf_leverages_assemble(curvature, task)) {
            task->problem.objective.memory_failed = true;
            return false;
        }
        inverted = curvature->hessian.type->invert(&curvature->hessian);
    }
    return inverted;
}

static bool measure_anew(struct kf_curvature *curvature, struct kf_task *task, double target)
{
    size_t points = curvature->points;
    memset(curvature->leverages.of, 0, points * sizeof *curvature->leverages.of);
    if (!kf_leverages_invert(curvature, task))
        return false;
    spend(curvature, task, measure(curvature, &task->problem, 0, points));
    mark(curvature, 0, points, target, LEVERAGE_TIMES);
    if (leave_out(curvature, &task->problem, 0, points) > 0) {
        if (is_worn(curvature) && !kf_leverages_assemble(curvature, task)) {
            task->problem.objective.memory_failed = true;
            return false;
        }
        if (!curvature->hessian.type->invert(&curvature->hessian))
            return false;
        spend(curvature, task, measure(curvature, &task->problem, 0, points));
    }
    curvature->leverages.inflation = 1;
    curvature->leverages.measured = curvature->weight;
    curvature->leverages.largest = 0;
    for (size_t j = 0; j < points; j++)
        if (curvature->leverages.of[j] == NEVER_IN)
            curvature->leverages.of[j] = LEFT_OUT; /* of the next H, which is made with all */
    for (size_t j = 0; j < points; j++)
        curvature->leverages.largest = fmax(curvature->leverages.largest, curvature->leverages.of[j]);
    return true;
}

/* From what is known of the points, which the H before has left to this one. */
static bool measure_rest(struct kf_curvature *curvature, struct kf_task *task)
{
    size_t points = curvature->points,
           known = curvature->leverages.known < points ? curvature->leverages.known : points;
    leave_out(curvature, &task->problem, 0, known);
    if (!curvature->hessian.type->invert(&curvature->hessian))
        return false;
    curvature->leverages.inflation *= 1 + 2 * curvature->hessian.slack;
    memset(curvature->leverages.of + known, 0, (points - known) * sizeof *curvature->leverages.of);
    spend(curvature, task, measure(curvature, &task->problem, known, points));
    for (size_t j = known; j < points; j++)
        curvature->leverages.of[j] /= curvature->leverages.inflation;
    double before = curvature->hessian.slack, lost = leave_out_more(curvature, &task->problem, points);
    if (lost > 0 && !curvature->hessian.type->invert(&curvature->hessian))
        return false;
    curvature->leverages.inflation *= (1 + 2 * curvature->hessian.slack) / ((1 - before) * (1 - lost));
    curvature->leverages.largest = largest_leverage(curvature, task, points);
    return true;
}

bool kf_leverages_find(struct kf_curvature *curvature, struct kf_task *task, double target)
{
    bool grown =
        curvature->leverages.inflation > INFLATION_MOST ||
        (!kf_leverages_are_dear(curvature, &task->problem) && curvature->weight > 2 * curvature->leverages.measured);
    bool anew = curvature->plain || curvature->leverages.known == 0 || grown;
    if (!(anew ? measure_anew(curvature, task, target) : measure_rest(curvature, task)))
        return false;
    curvature->leverages.known = curvature->points;
    return true;
}

/* ---- the same in pieces ---- */

size_t kf_leverages_measure(struct kf_curvature *curvature, const struct kf_problem *problem, size_t most)
{
    size_t from = curvature->leverages.known, to = from;
    for (size_t done = 0; to < curvature->points && done < most; to++)
        done += measure(curvature, problem, to, to + 1);
    curvature->leverages.known = to;
    return to - from;
}

bool kf_leverages_choose(struct kf_curvature *curvature, const struct kf_problem *problem, double target, bool *again)
{
    /* What has left is a share of H as it is; of a smaller one it would be more. */
    mark(curvature, 0, curvature->points, target, curvature->since.lost > 0 ? INFINITY : LEVERAGE_TIMES_FARTHEST);
    *again = leave_out(curvature, problem, 0, curvature->points) > 0;
    if (*again)
        curvature->leverages.known = 0;
    return !*again || curvature->hessian.type->invert(&curvature->hessian);
}

/* ---- scores ---- */

double kf_score(const struct kf_problem *problem, size_t j, const double *delta)
{
    keepfit_row row = kf_points_row(&problem->points, j);
    double score;
    if (!row.index)
        return problem->objective.kernels->dot(row.count, row.value, delta);
    kf_row_scores(&row, delta, kf_size(problem), 1, &score);
    return score;
}

double kf_scores_most(const struct kf_curvature *curvature, const struct kf_problem *problem, const double *delta)
{
    double most = 0;
    for (size_t j = 0; j < curvature->points; j++)
        if (curvature->leverages.of[j] >= 0)
            most = fmax(most, fabs(kf_score(problem, j, delta)));
    return most;
}
