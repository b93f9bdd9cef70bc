/* Leverages a_j'H^-1 a_j: how far the scores of the points that H is made of can move with |v|_H. The few points whose
 * leverage would spoil the bound for all others are left out of H. */
#include <math.h>
#include <string.h>

#include "certificate/internal.h"
#include "kernels/kernels.h"
#include "optimum/lapack.h"

/* Points above this multiple of the mean leverage are left out, unless R is small enough for the target with them. */
#define LEVERAGE_TIMES 4.0
/* What is known of a leverage serves, unmeasured, up to this multiple of the largest that was measured. */
#define NEARLY 1.2
#define PAIRS_TIMES 4

/* Few entries of a row are sooner multiplied two by two than with all columns, which takes a quarter as long an entry or less. */
static bool is_short(const struct kf_curvature *curvature, const keepfit_row *row)
{
    return row->index && PAIRS_TIMES * row->count < curvature->size;
}

double kf_leverage(const struct kf_curvature *curvature, const struct kf_problem *problem, size_t j)
{
    keepfit_row row = kf_points_row(&problem->points, j);
    double sum = 0, *unused;
    if (!is_short(curvature, &row))
        return kf_curvature_bend(curvature, problem, &row, &unused);
    for (size_t p = 0; p < row.count; p++) {
        const double *line = curvature->inverse + row.index[p] * curvature->capacity;
        double part = 0;
        for (size_t q = 0; q < row.count; q++)
            part += line[row.index[q]] * row.value[q];
        sum += row.value[p] * part;
    }
    return sum;
}

/* Rows that cover all coordinates go through BLAS, KF_COLUMNS at a time: the columns of B, then of H^-1 B. */
struct batch {
    double *columns;
    size_t count, points[KF_COLUMNS];
};

static void batch_flush(struct kf_curvature *curvature, struct batch *batch)
{
    size_t size = curvature->size;
    int n = (int)size, k = (int)batch->count, stride = (int)curvature->capacity;
    double unit = 1, zero = 0, *bent = batch->columns + KF_COLUMNS * size;
    if (k)
        dsymm_("L", "L", &n, &k, &unit, curvature->inverse, &stride, batch->columns, &n, &zero, bent, &n);
    for (size_t b = 0; b < batch->count; b++)
        curvature->leverages[batch->points[b]] = kf_dot(size, batch->columns + b * size, bent + b * size);
    batch->count = 0;
}

/* Those of the points from .. to-1 that are in H. Returns how many. */
static size_t measure(struct kf_curvature *curvature, const struct kf_problem *problem, size_t from, size_t to)
{
    size_t count = 0, size = curvature->size;
    struct batch batch = {curvature->columns, 0, {0}};
    bool few = to - from < KF_COLUMNS;
    for (size_t j = from; j < to; j++) {
        if (curvature->leverages[j] < 0)
            continue;
        keepfit_row row = kf_points_row(&problem->points, j);
        count++;
        if (few || row.index || row.count < size) {
            curvature->leverages[j] = kf_leverage(curvature, problem, j);
            continue;
        }
        memcpy(batch.columns + batch.count * size, row.value, size * sizeof(double));
        batch.points[batch.count++] = j;
        if (batch.count == KF_COLUMNS)
            batch_flush(curvature, &batch);
    }
    batch_flush(curvature, &batch);
    return count;
}

/* Marks those of the points from .. to-1 whose leverage is too high. R^2 is small enough where t is below a half: |g|_{H^-1} is
 * about sqrt(2 target). */
static void mark(struct kf_curvature *curvature, size_t from, size_t to, double target)
{
    double mean = 0;
    for (size_t j = from; j < to; j++)
        mean += curvature->leverages[j] / (double)(to - from);
    if (from == 0 && curvature->plain)
        curvature->most = INFINITY;
    else if (from == 0)
        curvature->most = fmax(1 / (8 * target), LEVERAGE_TIMES * mean);
    for (size_t j = from; j < to; j++)
        if (curvature->leverages[j] > curvature->most)
            curvature->leverages[j] = -1;
}

/* Takes those of the points from .. to-1 that are marked out of H. Returns how many. */
static size_t leave_out(struct kf_curvature *curvature, const struct kf_optimum *optimum,
                        const struct kf_problem *problem, size_t from, size_t to)
{
    size_t count = 0;
    for (size_t j = from; j < to; j++)
        if (curvature->leverages[j] < 0) {
            kf_hessian_take_out(optimum, problem, j, 1 / curvature->weight, curvature->hessian, curvature->capacity);
            count++;
        }
    return count;
}

/* At least the largest leverage of the first `count` points in H, and hardly more. What is known of each is an upper bound once
 * multiplied by `inflation`, so that only those have to be measured that may be larger than the largest by far. */
static double largest_leverage(struct kf_curvature *curvature, const struct kf_problem *problem, size_t count)
{
    double *known = curvature->leverages, most = 0, unmeasured = 0;
    size_t first = 0;
    for (size_t j = 1; j < count; j++)
        if (known[j] > known[first])
            first = j;
    for (size_t k = 0; k <= count && count; k++) {
        size_t j = k == 0 ? first : k - 1;
        if (known[j] < 0)
            continue;
        if (known[j] * curvature->inflation <= NEARLY * most) {
            unmeasured = fmax(unmeasured, known[j] * curvature->inflation);
            continue;
        }
        double now = kf_leverage(curvature, problem, j);
        known[j] = now / curvature->inflation;
        most = fmax(most, now);
    }
    return fmax(most, unmeasured);
}

/* The Hessian of the points that were there at the last anchor has shrunk by at most `inflation` since their leverages were
 * measured, by the same argument as c, so these have grown by no more; until the stream has doubled, only new points are
 * measured. */
bool kf_leverages_find(struct kf_curvature *curvature, struct kf_optimum *optimum, struct kf_problem *problem,
                       double target)
{
    bool anew = curvature->plain || curvature->known == 0 || curvature->weight > 2 * curvature->measured;
    size_t known = anew ? 0 : curvature->known, points = curvature->points;
    leave_out(curvature, optimum, problem, 0, known);
    if (!kf_curvature_invert(curvature))
        return false;
    memset(curvature->leverages + known, 0, (points - known) * sizeof *curvature->leverages);
    measure(curvature, problem, known, points);
    mark(curvature, known, points, target);
    if (leave_out(curvature, optimum, problem, known, points) > 0) {
        if (!kf_curvature_invert(curvature))
            return false;
        measure(curvature, problem, known, points);
    }
    if (anew) {
        curvature->inflation = 1;
        curvature->measured = curvature->weight;
    }
    curvature->leverage = largest_leverage(curvature, problem, known);
    for (size_t j = known; j < points; j++) {
        curvature->leverage = fmax(curvature->leverage, curvature->leverages[j]);
        if (curvature->leverages[j] > 0)
            curvature->leverages[j] /= curvature->inflation;
    }
    curvature->known = points;
    return true;
}

/* ---- the same in pieces ---- */

size_t kf_leverages_measure(struct kf_curvature *curvature, const struct kf_problem *problem, size_t most)
{
    size_t from = curvature->known, to = from;
    for (size_t done = 0; to < curvature->points && done < most; to++)
        done += measure(curvature, problem, to, to + 1);
    curvature->known = to;
    return to - from;
}

bool kf_leverages_choose(struct kf_curvature *curvature, const struct kf_optimum *optimum,
                         const struct kf_problem *problem, double target, bool *again)
{
    mark(curvature, 0, curvature->points, target);
    *again = leave_out(curvature, optimum, problem, 0, curvature->points) > 0;
    if (*again)
        curvature->known = 0;
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
        if (curvature->leverages[j] >= 0)
            most = fmax(most, fabs(kf_score(problem, j, delta)));
    return most;
}
