#include "optimum/shared_inverse.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"
#include "problem/costs.h"

#define SIZE_MOST 2048 /* safety: 34 MB */
#define COLUMNS 64     /* safety: room; a block of rows */
/* One of other points is made anew when the weight is so many times what it was, or a share of it that is as small; */
#define GROWTH_MOST 2.0 /* safety: it is only what rounds go by */
/* and at the latest when products have taken so many times what making it will: x has moved, or points have come and gone. */
#define RENT_MOST 16.0 /* safety: it costs a sixteenth more at most */
/* No product with it while it takes more than this multiple of one with H: it saves three of four. */
#define DEAR_FROM 2.0 /* safety: three times as much for a quarter of the rounds */
/* Rows with more of the entries than this share go in as full ones, many at a time. */
#define FULL_FROM 0.2 /* speed: bench/costs.md; the pairs of full and of other rows */

void kf_shared_inverse_free(struct kf_shared_inverse *shared)
{
    free(shared->matrix);
    free(shared->columns);
    *shared = (struct kf_shared_inverse){0};
}

void kf_shared_inverse_forget(struct kf_shared_inverse *shared)
{
    shared->made = false;
    shared->rent = 0;
}

void kf_shared_inverse_archive(struct kf_shared_inverse *shared, struct kf_archive *archive)
{
    kf_archive_flag(archive, &shared->made);
    kf_archive_real(archive, &shared->rent);
    kf_archive_require(archive, shared->rent >= 0);
    if (!shared->made || archive->status != KEEPFIT_OK)
        return;
    kf_archive_count(archive, &shared->size, SIZE_MOST);
    kf_archive_real(archive, &shared->weight);
    kf_archive_array(archive, &shared->matrix, &shared->capacity, shared->size * shared->size);
}

/* ---- making it ---- */

static double cost_of_making(const struct kf_problem *problem)
{
    double size = (double)problem->objective.slots, entries = kf_entries_of_row(problem);
    double each = entries > FULL_FROM * size ? KF_COST_PAIR_FULL * size * size : KF_COST_PAIR * entries * entries;
    return (double)problem->points.count * (KF_COST_SQUARE + each) + kf_cost_factor(size) + kf_cost_inverse(size);
}

double kf_shared_inverse_cost(const struct kf_objective *objective)
{
    double size = (double)objective->slots;
    return (KF_COST_PRODUCT * size * size + 2 * size) * (double)objective->outputs;
}

static bool is_outgrown(const struct kf_shared_inverse *shared, const struct kf_objective *objective)
{
    return !shared->made || shared->size != objective->slots ||
           objective->weight_total > GROWTH_MOST * shared->weight ||
           objective->weight_total * GROWTH_MOST < shared->weight;
}

static double mean_curve(const struct kf_objective *objective, const double *slopes, const struct kf_place *place,
                         double *own)
{
    double sum = 0;
    objective->loss->diagonal_of(slopes, objective->outputs, place->target, place->weight, own);
    for (size_t k = 0; k < objective->outputs; k++)
        sum += own[k];
    return sum / (double)objective->outputs;
}

static void add_sparse(const keepfit_row *row, double curve, double *matrix, size_t size)
{
    for (size_t p = 0; p < row->count; p++) {
        double *column = matrix + row->index[p] * size, share = curve * row->value[p];
        for (size_t q = p; q < row->count; q++)
            column[row->index[q]] += share * row->value[q];
    }
}

/* The root of `curve` times the row, as a full one. */
static void spread_row(const keepfit_row *row, double curve, double *column, size_t size)
{
    double root = sqrt(curve);
    memset(column, 0, size * sizeof *column);
    for (size_t e = 0; e < row->count; e++)
        column[row->index ? row->index[e] : e] = root * row->value[e];
}

static void sum_points(struct kf_shared_inverse *shared, const struct kf_problem *problem, const double *slopes,
                       double *own)
{
    const struct kf_objective *objective = &problem->objective;
    size_t size = shared->size, count = 0;
    double mean = kf_inverse_weight(objective);
    memset(shared->matrix, 0, size * size * sizeof *shared->matrix);
    for (size_t j = 0; j < problem->points.count; j++) {
        const struct kf_place *place = &problem->points.place[j];
        keepfit_row row = kf_points_row(&problem->points, j);
        if (!(place->weight > 0))
            continue;
        double curve = mean * mean_curve(objective, slopes + j * objective->outputs, place, own);
        if (row.index && (double)row.count <= FULL_FROM * (double)size) {
            add_sparse(&row, curve, shared->matrix, size);
            continue;
        }
        spread_row(&row, curve, shared->columns + count * size, size);
        if (++count == COLUMNS) {
            kf_add_squares(size, count, shared->columns, size, shared->matrix, size);
            count = 0;
        }
    }
    kf_add_squares(size, count, shared->columns, size, shared->matrix, size);
}

/* Rows on their way into S, and a point's own numbers; or what the inverse is multiplied with, and what comes out. */
static bool reserve_columns(struct kf_shared_inverse *shared, const struct kf_objective *objective)
{
    size_t rows = COLUMNS * objective->slots + objective->outputs, vectors = 2 * objective->slots * objective->outputs;
    return KF_RESERVE(shared->columns, shared->columns_capacity, rows > vectors ? rows : vectors);
}

static void make(struct kf_shared_inverse *shared, struct kf_task *task, const double *slopes)
{
    const struct kf_objective *objective = &task->problem.objective;
    size_t size = objective->slots;
    shared->made = false;
    shared->rent = 0;
    if (!KF_RESERVE(shared->matrix, shared->capacity, size * size) || !reserve_columns(shared, objective)) {
        task->problem.objective.memory_failed = true;
        return;
    }
    kf_spend(&task->stage, cost_of_making(&task->problem));
    shared->size = size;
    shared->weight = objective->weight_total;
    sum_points(shared, &task->problem, slopes, shared->columns + COLUMNS * size);
    for (size_t k = objective->free ? 1 : 0; k < size; k++)
        shared->matrix[k * size + k] += 2 * objective->lambda;
    shared->made = kf_cholesky(size, shared->matrix, size);
    if (shared->made)
        kf_cholesky_invert(size, shared->matrix, size);
}

bool kf_shared_inverse_ready(struct kf_shared_inverse *shared, struct kf_task *task, const double *slopes)
{
    const struct kf_objective *objective = &task->problem.objective;
    double product = (double)task->problem.points.count * kf_cost_bend(&task->problem);
    if (objective->slots > SIZE_MOST || kf_shared_inverse_cost(objective) > DEAR_FROM * product)
        return false;
    double paid = shared->rent / cost_of_making(&task->problem);
    if (paid > RENT_MOST || (paid > 1 && is_outgrown(shared, objective)))
        make(shared, task, slopes);
    if (!shared->made || shared->size != objective->slots)
        return false;
    bool room = reserve_columns(shared, objective); /* an archive has none, and classes may have come */
    task->problem.objective.memory_failed |= !room;
    return room;
}

/* ---- using it ---- */

void kf_shared_inverse_times(const struct kf_shared_inverse *shared, const struct kf_objective *objective,
                             const double *v, double *out)
{
    size_t size = shared->size, outputs = objective->outputs;
    double *classes = shared->columns, *bent = classes + outputs * size;
    assert(shared->made && size == objective->slots && shared->columns_capacity >= 2 * outputs * size);
    for (size_t s = 0; s < size; s++)
        for (size_t k = 0; k < outputs; k++)
            classes[k * size + s] = v[s * outputs + k];
    kf_matrix_times_columns(size, shared->matrix, size, outputs, classes, bent);
    for (size_t s = 0; s < size; s++)
        for (size_t k = 0; k < outputs; k++)
            out[s * outputs + k] = bent[k * size + s];
}
