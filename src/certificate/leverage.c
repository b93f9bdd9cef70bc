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
#define LEVERAGE_TIMES 64.0
#define LEVERAGE_TIMES_FARTHEST 4.0
/* What is known of a leverage serves, unmeasured, up to this multiple of the largest that was measured. */
#define NEARLY 1.2
#define PAIRS_TIMES 4
/* All leverages are measured again when they may have grown by this, and, where that takes little time, when the weight has doubled. */
#define INFLATION_MOST 1.5
/* A point that is more than this share of one number on H's diagonal is left out where H cannot be inverted with it; so many times. */
#define DOMINANT_FROM 0.5
#define ROUNDS_OF_DOMINANT 4
/* What a comparison of two Hessians costs, in products of three sizes. */
#define COMPARED_TIMES 3.0
#define POWER_STEPS 8
/* No more of H is left out for single points. */
#define LEFT_OUT_MOST 0.5
/* Where what is left out was so much of H that rounding in it counts as so many times more for the rest, H is made again without. */
#define WORN_FROM 1024.0

/* What stands for the leverage of a point that is left out of H: it is to be taken out, or H was made without it. */
#define LEFT_OUT (-1.0)
#define NEVER_IN (-2.0)

/* Few entries of a row are sooner multiplied two by two than with all columns, which takes a quarter as long an entry or less. */
static bool is_short(const struct kf_curvature *curvature, const keepfit_row *row)
{
    return row->index && PAIRS_TIMES * row->count < curvature->hessian.size;
}

double kf_leverage(const struct kf_curvature *curvature, const struct kf_problem *problem, size_t j)
{
    keepfit_row row = kf_points_row(&problem->points, j);
    double sum = 0, *unused;
    if (!is_short(curvature, &row))
        return kf_leverage_upward(curvature, &row, kf_curvature_bend(curvature, problem, &row, &unused));
    for (size_t p = 0; p < row.count; p++) {
        const double *line = curvature->hessian.inverse + row.index[p] * curvature->hessian.capacity;
        double part = 0.5 * line[row.index[p]] * row.value[p];
        for (size_t q = p + 1; q < row.count; q++)
            part += line[row.index[q]] * row.value[q];
        sum += 2 * row.value[p] * part;
    }
    return kf_leverage_upward(curvature, &row, sum);
}

/* Rows that cover all coordinates are multiplied KF_COLUMNS at a time: the columns of B, then of H^-1 B. */
struct batch {
    double *columns;
    size_t count, points[KF_COLUMNS];
};

static void batch_flush(struct kf_curvature *curvature, const struct kf_problem *problem, struct batch *batch)
{
    size_t size = curvature->hessian.size;
    double *bent = batch->columns + KF_COLUMNS * size;
    kf_matrix_times_columns(size, curvature->hessian.inverse, curvature->hessian.capacity, batch->count, batch->columns,
                            bent);
    for (size_t b = 0; b < batch->count; b++) {
        keepfit_row row = kf_points_row(&problem->points, batch->points[b]);
        double leverage = kf_dot(size, batch->columns + b * size, bent + b * size);
        curvature->leverages.of[batch->points[b]] = kf_leverage_upward(curvature, &row, leverage);
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
    kf_hessian_note_peaks(curvature);
    for (size_t j = from; j < to; j++)
        if (curvature->leverages.of[j] == LEFT_OUT) {
            curvature->hessian.operations++;
            kf_hessian_take_out(&curvature->curves, problem, j, 1 / curvature->weight, curvature->hessian.matrix,
                                curvature->hessian.capacity);
            count++;
        }
    return count;
}

/* At least the largest leverage of the first `count` points in H, and hardly more. What is known of each is an upper bound once
 * multiplied by `inflation`, so that only those have to be measured that may be larger than the largest by far. */
static double largest_leverage(struct kf_curvature *curvature, const struct kf_problem *problem, size_t count)
{
    double *known = curvature->leverages.of, most = 0, unmeasured = 0;
    size_t first = 0;
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
        double now = kf_leverage(curvature, problem, j);
        known[j] = now / curvature->leverages.inflation;
        most = fmax(most, now);
    }
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
    double entries = (double)problem->points.entries / (double)problem->points.count,
           size = (double)curvature->hessian.size;
    return (double)curvature->leverages.known * entries * entries > COMPARED_TIMES * size * size * size;
}

/* The largest eigenvalue of H^-1 (the one before), or a little less: some steps of the power method. */
static double outgrowth(const struct kf_curvature *curvature)
{
    size_t size = curvature->hessian.size;
    double *v = kf_curvature_scratch(curvature, 0), *bent = kf_curvature_scratch(curvature, 1), length = 0, largest = 0;
    for (size_t k = 0; k < size; k++)
        v[k] = (k * 5 % 8 < 4 ? 1 : -1) / sqrt(curvature->hessian.matrix[k * curvature->hessian.capacity + k]);
    for (int step = 0; step < POWER_STEPS; step++) {
        kf_curvature_times(curvature, curvature->hessian.inverse, v, bent);
        if (step > 0)
            largest = fmax(largest, kf_dot(size, v, bent) / length);
        memcpy(v, bent, size * sizeof *v);
        kf_curvature_solve(curvature, v);
        length = kf_dot(size, v, bent);
    }
    return largest;
}

/* Whether `times` H is more than the one before. */
static bool outweighs(struct kf_curvature *curvature, const struct kf_heritage *heritage, double times)
{
    double *margin = kf_curvature_scratch(curvature, 0);
    for (size_t k = 0; k < curvature->hessian.size; k++) {
        const double *here = curvature->hessian.matrix + k * curvature->hessian.capacity,
                     *before = curvature->hessian.inverse + k * curvature->hessian.capacity;
        double *column = curvature->hessian.excess + k * curvature->hessian.capacity;
        for (size_t l = k; l < curvature->hessian.size; l++)
            column[l] = times * here[l] - before[l];
        margin[k] = times * kf_hessian_margin(curvature, k) + heritage->margin * before[k];
    }
    struct kf_square difference = kf_like_hessian(curvature, curvature->hessian.excess);
    return kf_verified_factor(&difference, margin);
}

double kf_leverages_compare(struct kf_curvature *curvature, const struct kf_heritage *heritage)
{
    static const double margins[] = {1.03, 1.08, 1.2}; /* a try takes a fraction of what the power method does */
    double times = outgrowth(curvature);
    for (size_t k = 0; k < sizeof margins / sizeof margins[0]; k++)
        if (outweighs(curvature, heritage, margins[k] * times))
            return 1 / (margins[k] * times * KF_UPWARD);
    return 0;
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
    bool worn = false;
    for (size_t k = 0; k < curvature->hessian.size; k++)
        worn |=
            !(curvature->hessian.peak[k] < WORN_FROM * curvature->hessian.matrix[k * curvature->hessian.capacity + k]);
    return worn;
}

/* H again, of the points that are not left out, from their curvatures. False: no memory. */
static bool assemble_anew(struct kf_curvature *curvature, struct kf_task *task)
{
    if (!KF_RESERVE(curvature->excesses, curvature->excesses_capacity, curvature->points))
        return false;
    for (size_t j = 0; j < curvature->points; j++)
        curvature->excesses[j] = curvature->leverages.of[j] < 0 ? 0 : curvature->curves.of[j];
    for (size_t k = 0; k < curvature->hessian.size; k++)
        memset(curvature->hessian.matrix + k * curvature->hessian.capacity, 0,
               curvature->hessian.size * sizeof(double));
    memset(curvature->hessian.peak, 0, curvature->hessian.size * sizeof *curvature->hessian.peak);
    if (!kf_hessian_add_known(&curvature->curves, &task->problem, curvature->excesses, curvature->points,
                              1 / curvature->weight, curvature->hessian.matrix, curvature->hessian.capacity))
        return false;
    for (size_t k = task->problem.objective.free; k < curvature->hessian.size; k++)
        curvature->hessian.matrix[k * curvature->hessian.capacity + k] += 2 * curvature->lambda;
    curvature->hessian.operations = (double)curvature->points;
    return true;
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
            dominant |= own > DOMINANT_FROM * curvature->hessian.matrix[slot * curvature->hessian.capacity + slot];
        }
        if (dominant && curvature->leverages.of[j] >= 0) {
            curvature->leverages.of[j] = NEVER_IN;
            marked++;
        }
    }
    return marked;
}

/* H's inverse. Where a few points are so large that rounding in what they have made of H hides all others, it is made without them. */
static bool invert_somehow(struct kf_curvature *curvature, struct kf_task *task)
{
    bool inverted = kf_curvature_invert(curvature);
    for (int round = 0; round < ROUNDS_OF_DOMINANT && !inverted && !curvature->plain; round++) {
        if (!mark_dominant(curvature, &task->problem))
            return false;
        if (!assemble_anew(curvature, task)) {
            task->problem.objective.memory_failed = true;
            return false;
        }
        inverted = kf_curvature_invert(curvature);
    }
    return inverted;
}

static bool measure_anew(struct kf_curvature *curvature, struct kf_task *task, double target)
{
    size_t points = curvature->points;
    memset(curvature->leverages.of, 0, points * sizeof *curvature->leverages.of);
    if (!invert_somehow(curvature, task))
        return false;
    measure(curvature, &task->problem, 0, points);
    mark(curvature, 0, points, target, LEVERAGE_TIMES);
    if (leave_out(curvature, &task->problem, 0, points) > 0) {
        if (is_worn(curvature) && !assemble_anew(curvature, task)) {
            task->problem.objective.memory_failed = true;
            return false;
        }
        if (!kf_curvature_invert(curvature))
            return false;
        measure(curvature, &task->problem, 0, points);
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
    if (!kf_curvature_invert(curvature))
        return false;
    curvature->leverages.inflation *= 1 + 2 * curvature->hessian.slack;
    memset(curvature->leverages.of + known, 0, (points - known) * sizeof *curvature->leverages.of);
    measure(curvature, &task->problem, known, points);
    for (size_t j = known; j < points; j++)
        curvature->leverages.of[j] /= curvature->leverages.inflation;
    double lost = leave_out_more(curvature, &task->problem, points);
    if (lost > 0 && !kf_curvature_invert(curvature))
        return false;
    curvature->leverages.inflation *= (1 + 2 * curvature->hessian.slack) / (1 - lost);
    curvature->leverages.largest = largest_leverage(curvature, &task->problem, points);
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
    return !*again || kf_curvature_invert(curvature);
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
