#include "optimum/dual.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"
#include "optimum/optimum.h"
#include "problem/costs.h"

#define ROUNDS_MOST 400 /* safety: then the direction is what it is */
/* So many times as many points as coordinates it may be where curvature's bounds do not come in early. */
#define TIMES 2            /* speed: bench/tuning.md */
#define WORK_VECTORS 10    /* safety: room */
#define STRIDE_LEAST 72    /* safety: room */
#define CORNER_TO 1e-12    /* safety: an intercept's equation, squared: far below what is asked of the direction */
#define CURVE_LEAST 1e-300 /* safety: roots of it are numbers */

/* Vectors with a number a point, and one with a number a coordinate. */
struct solve {
    struct kf_dual *dual;
    struct kf_task *task;
    size_t points;
    double shift; /* s */
    double *root; /* of the curvatures */
    double *residual, *search, *bent, *ready, *aside;
    double *right, *solution; /* of the gradient's equation */
    double *lead, *corner;    /* of the intercept's */
    double *row;
};

void kf_dual_free(struct kf_dual *dual)
{
    free(dual->gram);
    free(dual->factor);
    free(dual->of);
    free(dual->work);
    *dual = (struct kf_dual){0};
}

void kf_dual_forget(struct kf_dual *dual)
{
    dual->points = dual->factored = dual->begun = dual->made = 0;
    dual->spent = 0;
}

void kf_dual_leave(struct kf_dual *dual, size_t j)
{
    size_t points = dual->points, stride = dual->stride;
    if (j < dual->factored)
        dual->factored = dual->begun = dual->made = 0;
    if (j >= points)
        return;
    for (size_t column = 0; column < points; column++) {
        double *to = dual->gram + (column > j ? column - 1 : column) * stride;
        const double *from = dual->gram + column * stride;
        memmove(to, from, j * sizeof *to);
        memmove(to + j, from + j + 1, (points - j - 1) * sizeof *to);
    }
    dual->points--;
}

bool kf_dual_suits(const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    size_t points = problem->points.count;
    if (!kf_is_single(objective) || points > KF_DUAL_MOST)
        return false;
    bool bends = objective->loss->concordance > 0 && isfinite(objective->loss->concordance);
    return objective->free <= 1 && objective->lambda > 0 && points < (bends ? 1 : TIMES) * kf_size(problem) &&
           kf_domain_is_whole(&problem->domain) && !kf_is_limited(problem) && !problem->options->window;
}

/* The products are made of the rows again, and the factor of what it was made of. */
void kf_dual_archive(struct kf_dual *dual, const struct kf_task *task, struct kf_archive *archive)
{
    if (archive->reading)
        kf_dual_forget(dual);
    kf_archive_count(archive, &dual->factored, task->problem.points.count);
    kf_archive_count(archive, &dual->begun, dual->factored);
    kf_archive_real(archive, &dual->spent);
    kf_archive_array(archive, &dual->of, &dual->of_capacity, 2 * dual->factored);
}

/* ---- matrices ---- */

static bool widen(double **matrix, size_t *capacity, size_t stride, size_t points, size_t before)
{
    size_t held = *capacity;
    if (!kf_reserve((void **)matrix, &held, stride * stride, sizeof **matrix))
        return false;
    *capacity = held;
    for (size_t column = points; column-- > 0;) /* from the last one: they move apart */
        memmove(*matrix + column * stride, *matrix + column * before, points * sizeof **matrix);
    return true;
}

static bool reserve(struct kf_dual *dual, const struct kf_problem *problem)
{
    size_t points = problem->points.count, stride = dual->stride ? dual->stride : STRIDE_LEAST;
    while (stride < points)
        stride += stride / 2 / 8 * 8; /* no power of two: columns would meet in the caches */
    if (stride != dual->stride) {
        if (!widen(&dual->gram, &dual->gram_capacity, stride, dual->points, dual->stride) ||
            !widen(&dual->factor, &dual->factor_capacity, stride, dual->made, dual->stride))
            return false;
        dual->stride = stride;
    }
    return KF_RESERVE(dual->work, dual->work_capacity, WORK_VECTORS * points + kf_size(problem)) &&
           KF_RESERVE(dual->of, dual->of_capacity, 2 * points);
}

/* The row as a vector, without what an intercept has of it. */
static void spread_row(const struct kf_problem *problem, size_t j, double *out)
{
    keepfit_row row = kf_points_row(&problem->points, j);
    memset(out, 0, kf_size(problem) * sizeof *out);
    for (size_t e = 0; e < row.count; e++)
        out[row.index ? row.index[e] : e] = row.value[e];
    if (problem->objective.free)
        out[0] = 0;
}

static void extend_gram(const struct solve *solve)
{
    struct kf_dual *dual = solve->dual;
    const struct kf_problem *problem = &solve->task->problem;
    for (; dual->points < solve->points; dual->points++) {
        size_t j = dual->points;
        spread_row(problem, j, solve->row);
        kf_single_scores(&problem->objective, solve->row, 0, j + 1, solve->aside);
        for (size_t k = 0; k <= j; k++)
            dual->gram[k * dual->stride + j] = solve->aside[k];
        kf_spend(&solve->task->stage, (double)(j + 1) * kf_cost_entries(problem) / 2);
    }
}

/* The first points' M is factorised at once. */
static bool begin_factor(const struct solve *solve)
{
    struct kf_dual *dual = solve->dual;
    size_t points = dual->begun;
    double *root = solve->aside;
    for (size_t k = 0; k < points; k++)
        root[k] = sqrt(dual->of[2 * k]);
    for (size_t column = 0; column < points; column++) {
        const double *from = dual->gram + column * dual->stride;
        double *to = dual->factor + column * dual->stride;
        for (size_t k = column; k < points; k++)
            to[k] = from[k] * root[k] * root[column];
        to[column] += dual->of[2 * column + 1];
    }
    kf_spend(&solve->task->stage, kf_cost_factor((double)points));
    return kf_cholesky(points, dual->factor, dual->stride);
}

/* The next point joins the factor: its row is L^-1 times its products. */
static bool join_factor(const struct solve *solve)
{
    struct kf_dual *dual = solve->dual;
    size_t j = dual->made, stride = dual->stride;
    double *row = solve->aside, own = sqrt(dual->of[2 * j]);
    for (size_t k = 0; k < j; k++)
        row[k] = dual->gram[k * stride + j] * own * sqrt(dual->of[2 * k]);
    solve->task->problem.objective.kernels->solve_lower(j, dual->factor, stride, row);
    double left = dual->gram[j * stride + j] * own * own + dual->of[2 * j + 1] - kf_square(j, row);
    for (size_t k = 0; k < j; k++)
        dual->factor[k * stride + j] = row[k];
    dual->factor[j * stride + j] = sqrt(left);
    kf_spend(&solve->task->stage, kf_cost_solve((double)j) / 2);
    return left > 0;
}

/* All that is to be in the factor, is. */
static bool make_factor(const struct solve *solve)
{
    struct kf_dual *dual = solve->dual;
    if (dual->made < dual->begun) {
        if (!begin_factor(solve))
            return false;
        dual->made = dual->begun;
    }
    for (; dual->made < dual->factored; dual->made++)
        if (!join_factor(solve))
            return false;
    return true;
}

/* The points that are new join; a factor of M as it is, where the old one has cost as much as that. */
static void prepare_factor(const struct solve *solve)
{
    struct kf_dual *dual = solve->dual;
    for (int tries = 0; tries < 2; tries++) {
        bool anew = dual->factored == 0 || tries > 0 || dual->spent > kf_cost_factor((double)solve->points);
        for (size_t k = anew ? 0 : dual->factored; k < solve->points; k++) {
            dual->of[2 * k] = solve->root[k] * solve->root[k];
            dual->of[2 * k + 1] = solve->shift;
        }
        dual->factored = solve->points;
        dual->made = anew ? 0 : dual->made;
        dual->begun = anew ? solve->points : dual->begun;
        dual->spent = anew ? 0 : dual->spent;
        if (make_factor(solve))
            return;
    }
    dual->factored = dual->begun = dual->made = 0;
}

/* ---- conjugate gradients ---- */

/* out = M v */
static void multiply(const struct solve *solve, const double *v, double *out)
{
    size_t points = solve->points;
    for (size_t k = 0; k < points; k++)
        solve->aside[k] = solve->root[k] * v[k];
    kf_symmetric_times(points, solve->dual->gram, solve->dual->stride, solve->aside, out);
    for (size_t k = 0; k < points; k++)
        out[k] = solve->root[k] * out[k] + solve->shift * v[k];
}

/* ready = what the preconditioner makes of the residual. Returns their product. */
static double precondition(const struct solve *solve)
{
    const struct kf_dual *dual = solve->dual;
    memcpy(solve->ready, solve->residual, solve->points * sizeof *solve->ready);
    if (dual->factored)
        kf_cholesky_solve(dual->factored, dual->factor, dual->stride, solve->ready);
    return kf_dot(solve->points, solve->residual, solve->ready);
}

/* The square of what the quadratic model's gradient still has, where M's equation is off by the residual. */
static double remains(const struct solve *solve)
{
    multiply(solve, solve->residual, solve->bent);
    double own = kf_square(solve->points, solve->residual);
    double all = kf_dot(solve->points, solve->residual, solve->bent);
    return fmax(all - solve->shift * own, 0) / (solve->shift * solve->shift);
}

/* Whether a look, which takes a product, is worth its while: the residual has more of what is steep than the direction of the search has. */
static bool may_be_enough(const struct solve *solve, double bend, double enough)
{
    double steep = bend / kf_square(solve->points, solve->search) - solve->shift;
    return kf_square(solve->points, solve->residual) * fmax(steep, 0) / (solve->shift * solve->shift) <= enough;
}

/* M solution = right, until what remains of the gradient is `enough`, squared; 0: until the residual's energy is CORNER_TO of what it was. */
static void conjugate_gradients(const struct solve *solve, const double *right, double enough, double *solution)
{
    size_t points = solve->points;
    double round_cost = 2 * kf_cost_product((double)points) + kf_cost_solve((double)solve->dual->factored);
    memset(solution, 0, points * sizeof *solution);
    memcpy(solve->residual, right, points * sizeof *right);
    double energy = precondition(solve), first = energy;
    memcpy(solve->search, solve->ready, points * sizeof *solve->search);
    for (int round = 0; round < ROUNDS_MOST && energy > 0 && kf_toil_left(solve->task); round++) {
        solve->dual->spent += round > 0 ? round_cost : 0;
        kf_spend(&solve->task->stage, round_cost);
        multiply(solve, solve->search, solve->bent);
        double bend = kf_dot(points, solve->search, solve->bent);
        if (!(bend > 0))
            return;
        kf_add(points, energy / bend, solve->search, solution);
        kf_add(points, -energy / bend, solve->bent, solve->residual);
        if (enough > 0 && may_be_enough(solve, bend, enough) && remains(solve) <= enough)
            return;
        double next = precondition(solve);
        if (next <= CORNER_TO * CORNER_TO * first || (enough == 0 && next <= CORNER_TO * first))
            return;
        kf_blend(points, next / energy, solve->search, 1, solve->ready);
        energy = next;
    }
}

/* ---- the direction ---- */

static void lay_out(struct solve *solve)
{
    double **vectors[WORK_VECTORS] = {&solve->root,  &solve->residual, &solve->search,   &solve->bent, &solve->ready,
                                      &solve->aside, &solve->right,    &solve->solution, &solve->lead, &solve->corner};
    for (size_t k = 0; k < WORK_VECTORS; k++)
        *vectors[k] = solve->dual->work + k * solve->points;
    solve->row = solve->dual->work + WORK_VECTORS * solve->points;
}

static void find_roots(const struct solve *solve, const double *slopes)
{
    const struct kf_problem *problem = &solve->task->problem;
    kf_curves_recall(problem, 0, solve->points, slopes, solve->root);
    for (size_t j = 0; j < solve->points; j++) {
        keepfit_row row = kf_points_row(&problem->points, j);
        double curve = solve->root[j];
        bool leads = problem->objective.free && row.count && (!row.index || row.index[0] == 0);
        solve->root[j] = curve > CURVE_LEAST ? sqrt(curve) : 0;
        solve->lead[j] = leads ? solve->root[j] * row.value[0] : 0;
    }
}

/* How far the intercept goes; 0 where there is none. Its equation's solution stays in `corner`. */
static double move_of_intercept(const struct solve *solve, const double *gradient)
{
    const struct kf_objective *objective = &solve->task->problem.objective;
    if (!objective->free)
        return 0;
    conjugate_gradients(solve, solve->lead, 0, solve->corner);
    double bend = 2 * objective->lambda * kf_dot(solve->points, solve->lead, solve->corner);
    return bend > 0 ? -(gradient[0] - kf_dot(solve->points, solve->corner, solve->right)) / bend : 0;
}

/* direction = -(gradient - A' (root * solution))/(2 lambda) - move A' (root * corner) */
static void compose(const struct solve *solve, const double *gradient, double move, double *direction)
{
    const struct kf_problem *problem = &solve->task->problem;
    size_t size = kf_size(problem), free = problem->objective.free;
    double ridge = 2 * problem->objective.lambda;
    for (size_t k = 0; k < size; k++)
        direction[k] = -gradient[k] / ridge;
    for (size_t j = 0; j < solve->points; j++) {
        double factor = solve->root[j] * (solve->solution[j] / ridge - (free ? move * solve->corner[j] : 0));
        if (factor != 0)
            problem->objective.type->add(&problem->objective, 1, j, &factor, direction);
    }
    if (free)
        direction[0] = move;
}

double kf_dual_aim(struct kf_dual *dual, struct kf_task *task, const double *slopes, const double *gradient,
                   double share, double *direction)
{
    const struct kf_problem *problem = &task->problem;
    size_t size = kf_size(problem);
    assert(kf_dual_suits(problem) && dual->points <= problem->points.count);
    if (!reserve(dual, problem)) {
        task->problem.objective.memory_failed = true;
        return NAN;
    }
    struct solve solve = {.dual = dual,
                          .task = task,
                          .points = problem->points.count,
                          .shift = 2 * problem->objective.lambda * problem->objective.weight_total};
    lay_out(&solve);
    find_roots(&solve, slopes);
    extend_gram(&solve);
    prepare_factor(&solve);
    memcpy(solve.row, gradient, size * sizeof *gradient);
    if (problem->objective.free)
        solve.row[0] = 0;
    kf_single_scores(&problem->objective, solve.row, 0, solve.points, solve.right);
    for (size_t j = 0; j < solve.points; j++)
        solve.right[j] *= solve.root[j];
    kf_spend(&task->stage, kf_cost_pass(problem));
    double move = move_of_intercept(&solve, gradient);
    conjugate_gradients(&solve, solve.right, share * share * kf_square(size, solve.row), solve.solution);
    compose(&solve, gradient, move, direction);
    return -kf_dot(size, gradient, direction);
}
