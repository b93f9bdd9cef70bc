/* The exact optimum of the squared loss at every stage: S = sum w a a' and f = sum w b a are all that the points leave
 * behind, and the optimum solves (S + lambda W I) x = f. 1 FO and O(d^2) work a stage:
 *
 * A Cholesky factor of S + lambda W_0 I follows S by rank-one updates, but the regulariser's lambda W changes on the whole
 * diagonal. So the factor serves as a preconditioner: between W_0 and W <= 1.5 W_0 the preconditioned condition number is at
 * most 1.5, and conjugate gradients from the last optimum gain a digit a round. It is made anew when W or the
 * number of points has grown by half, and when so many points have come at once that this is cheaper than to update it.
 *
 * Inside a domain the quadratic is minimised by projected gradients (optimum/quadratic_solver.h). */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "certificate/goal.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"
#include "method/method.h"
#include "optimum/quadratic_solver.h"
#include "problem/gap.h"

#define SIZE_MOST 8192  /* safety: 512 MB a matrix */
#define GROWTH_MOST 1.5 /* speed: bench/tuning.md */
#define ROUNDS_MOST 100 /* safety: an end; the bound says */
/* What Cholesky is given on the diagonal, as a share of it, where rounding has left S indefinite; and the next tries. */
#define RIDGE_FIRST 1e-15 /* safety: rounding */
#define RIDGE_TIMES 10.0  /* safety: 30 tries at most */
#define RIDGE_MOST 1e15   /* safety: then there is no factor */

struct exact {
    double *second; /* S, lower triangle by columns, leading dimension `stride` */
    double *factor; /* Cholesky factor of S + factor_diagonal */
    size_t stride;
    size_t factor_size;     /* size for which the factor was made; 0: none */
    double factor_diagonal; /* lambda W_0 */
    size_t factor_points;   /* points when it was made */
    size_t behind;          /* newest points that are not in it */
    double *first;          /* f */
    double square;          /* sum w b^2 */
    bool stale;             /* S has not been summed of all points */
    size_t left;            /* points that have left since S was summed, */
    double *peak;           /* the largest that S's diagonal has been since then, */
    double square_peak;     /* and that of `square` */
    double operations;      /* on each number since then */
    double *residual, *direction, *bent, *solved;
    struct kf_quadratic quadratic; /* inside a domain */
};

static keepfit_status exact_create(struct kf_task *task, void *state, keepfit_error *error)
{
    struct exact *exact = state;
    double **vectors[] = {&exact->first,     &exact->peak, &exact->residual,
                          &exact->direction, &exact->bent, &exact->solved};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
        if (!kf_task_vector(task, vectors[k]))
            return kf_fail_memory(error);
    return kf_iterate_prepare(task, 0) ? KEEPFIT_OK : kf_fail_memory(error);
}

/* Moves the matrices to a larger stride; new rows and columns are 0. */
static bool set_stride(struct exact *exact, size_t stride)
{
    assert(stride >= exact->stride);
    double *second = kf_allocate(stride * stride, sizeof *second);
    double *factor = kf_allocate(stride * stride, sizeof *factor);
    if (!second || !factor) {
        free(second);
        free(factor);
        return false;
    }
    for (size_t column = 0; column < exact->stride; column++)
        memcpy(second + column * stride, exact->second + column * exact->stride, exact->stride * sizeof *second);
    free(exact->second);
    free(exact->factor);
    exact->second = second;
    exact->factor = factor;
    exact->stride = stride;
    exact->factor_size = 0;
    return true;
}

static bool grow(struct exact *exact, size_t size)
{
    return size <= exact->stride || set_stride(exact, size < 16 ? 16 : size + size / 2);
}

/* Point j joins S and f, or leaves them with sign -1. */
static void add_point(struct kf_task *task, struct exact *exact, size_t j, double sign)
{
    assert(j < task->problem.points.count && (sign == 1 || sign == -1));
    struct kf_objective *objective = &task->problem.objective;
    keepfit_row row = kf_points_row(&task->problem.points, j);
    double weight = sign * task->problem.points.place[j].weight, target = task->problem.points.place[j].target;
    objective->type->add(objective, weight * target, j, &(double){1}, exact->first);
    exact->square += weight * target * target;
    exact->square_peak = fmax(exact->square_peak, exact->square);
    exact->operations++;
    for (size_t p = 0; p < row.count; p++) {
        double *column = exact->second + (row.index ? row.index[p] : p) * exact->stride;
        double scale = weight * row.value[p];
        for (size_t r = p; r < row.count; r++)
            column[row.index ? row.index[r] : r] += scale * row.value[r];
        size_t slot = row.index ? row.index[p] : p;
        exact->peak[slot] = fmax(exact->peak[slot], exact->second[slot * exact->stride + slot]);
    }
}

/* The Cholesky factor of M + v v' from that of M, by Givens rotations; v is destroyed. */
static void update_factor(struct exact *exact, size_t size, double *v)
{
    assert(exact->factor_size == size && size <= exact->stride);
    for (size_t k = 0; k < size; k++) {
        if (v[k] == 0)
            continue;
        double *column = exact->factor + k * exact->stride, diagonal = column[k];
        double length = hypot(diagonal, v[k]), c = length / diagonal, s = v[k] / diagonal;
        column[k] = length;
        for (size_t r = k + 1; r < size; r++) {
            column[r] = (column[r] + s * v[r]) / c;
            v[r] = c * v[r] - s * column[r];
        }
    }
}

/* The Cholesky factor of S + diagonal, with a ridge: the shares of the diagonal's own numbers, so that columns of any size get what
 * they need, and from 1 on of the largest of them, as S may be anything where large points have left. */
static bool factorise(const struct kf_problem *problem, struct exact *exact, double diagonal, double ridge)
{
    size_t size = kf_size(problem);
    double most = 0;
    for (size_t column = 0; column < size; column++) {
        memcpy(exact->factor + column * exact->stride + column, exact->second + column * exact->stride + column,
               (size - column) * sizeof(double));
        most = fmax(most, fabs(exact->second[column * exact->stride + column]) + diagonal);
    }
    for (size_t k = 0; k < size; k++) {
        double *entry = exact->factor + k * exact->stride + k;
        *entry += k < problem->objective.free ? 0 : diagonal;
        *entry += ridge * (ridge < 1 ? fabs(*entry) : most);
    }
    return kf_cholesky(size, exact->factor, exact->stride);
}

/* It is a preconditioner, which a ridge makes worse, and no less sound. */
static bool make_factor(const struct kf_problem *problem, struct exact *exact, double diagonal)
{
    bool found = factorise(problem, exact, diagonal, 0);
    for (double ridge = RIDGE_FIRST; !found && ridge <= RIDGE_MOST; ridge *= RIDGE_TIMES)
        found = factorise(problem, exact, diagonal, ridge);
    exact->factor_size = found ? kf_size(problem) : 0;
    exact->factor_diagonal = diagonal;
    exact->factor_points = problem->points.count;
    exact->behind = 0;
    return found;
}

/* Brings the factor up to date with the newest points, or makes it anew. */
static bool refresh_factor(struct kf_task *task, struct exact *exact, double diagonal)
{
    size_t size = kf_size(&task->problem), count = task->problem.points.count;
    assert(exact->behind <= count);
    bool outgrown = diagonal > GROWTH_MOST * exact->factor_diagonal ||
                    (double)count - 1 > GROWTH_MOST * (double)exact->factor_points;
    if (exact->factor_size != size || (outgrown && exact->behind) || exact->behind > 1 + size / 4)
        return make_factor(&task->problem, exact, diagonal);
    for (; exact->behind; exact->behind--) {
        size_t j = count - exact->behind;
        double root = sqrt(task->problem.points.place[j].weight);
        kf_clear(&task->problem, exact->bent);
        task->problem.objective.type->add(&task->problem.objective, root, j, &(double){1}, exact->bent);
        update_factor(exact, size, exact->bent);
    }
    return true;
}

/* out = (S + diagonal) v */
static void product(const struct kf_problem *problem, const struct exact *exact, double diagonal, const double *v,
                    double *out)
{
    size_t size = kf_size(problem);
    kf_symmetric_times(size, exact->second, exact->stride, v, out);
    for (size_t k = problem->objective.free; k < size; k++)
        out[k] += diagonal * v[k];
}

static void precondition(const struct kf_problem *problem, const struct exact *exact, const double *v, double *out)
{
    kf_copy(problem, out, v);
    kf_cholesky_solve(kf_size(problem), exact->factor, exact->stride, out);
}

/* residual = f - (S + diagonal) x */
static void measure_residual(const struct kf_task *task, struct exact *exact, double diagonal)
{
    product(&task->problem, exact, diagonal, task->iterate.x, exact->residual);
    kf_blend(kf_size(&task->problem), -1, exact->residual, 1, exact->first);
}

static void solve(struct kf_task *task, struct exact *exact, double diagonal)
{
    size_t size = kf_size(&task->problem);
    double *r = exact->residual, *p = exact->direction, *z = exact->solved, *bent = exact->bent;
    measure_residual(task, exact, diagonal);
    precondition(&task->problem, exact, r, z);
    kf_copy(&task->problem, p, z);
    double energy = kf_dot(size, r, z), scale = kf_dot(size, exact->first, task->iterate.x);
    double enough = 1e-32 * (fabs(scale) + energy);
    for (int round = 0; round < ROUNDS_MOST && energy > enough; round++) {
        product(&task->problem, exact, diagonal, p, bent);
        double bend = kf_dot(size, p, bent);
        if (!(bend > 0) || !isfinite(energy / bend))
            break;
        kf_add(size, energy / bend, p, task->iterate.x);
        kf_add(size, -energy / bend, bent, r);
        precondition(&task->problem, exact, r, z);
        double next = kf_dot(size, r, z);
        kf_blend(size, next / energy, p, 1, z);
        energy = next;
        task->stage.steps++;
    }
}

/* A free intercept's gradient counts by how far the best one may be, so what rounding has left of it is taken out by itself. */
static void polish_intercept(struct kf_task *task, struct exact *exact, double diagonal)
{
    if (!task->problem.objective.free || !(exact->second[0] > 0))
        return;
    measure_residual(task, exact, diagonal);
    task->iterate.x[0] += exact->residual[0] / exact->second[0];
}

/* Inside a domain: the same quadratic, over D. */
static bool solve_inside(struct kf_task *task, struct exact *exact, double diagonal)
{
    size_t size = kf_size(&task->problem);
    struct kf_quadratic *quadratic = &exact->quadratic;
    if (!kf_quadratic_reserve(quadratic, size))
        return false;
    for (size_t column = 0; column < size; column++) {
        memcpy(quadratic->hessian + column * size, exact->second + column * exact->stride, size * sizeof(double));
        if (column >= task->problem.objective.free)
            quadratic->hessian[column * size + column] += diagonal;
    }
    for (size_t k = 0; k < size; k++)
        exact->direction[k] = -exact->first[k];
    kf_quadratic_minimise(quadratic, task, exact->direction, diagonal, 0, task->iterate.x);
    task->stage.steps++;
    return true;
}

/* S and f from all points: what leaving ones took with them in rounding is made good. */
static void sum_anew(struct kf_task *task, struct exact *exact)
{
    memset(exact->second, 0, exact->stride * exact->stride * sizeof *exact->second);
    kf_clear(&task->problem, exact->first);
    kf_clear(&task->problem, exact->peak);
    exact->square = exact->square_peak = exact->operations = 0;
    exact->left = 0;
    exact->stale = false;
    exact->factor_size = exact->behind = 0;
    for (size_t j = 0; j < task->problem.points.count; j++)
        add_point(task, exact, j, 1);
}

/* Operations that a term of S, f or the squares takes, on its way in. */
#define TERM_OPERATIONS 6 /* proof: "Theorem 25 (exact)" */

/* The gradient -2/W (f - (S + diagonal) x), in residual's place, and what each of its numbers may be off by. By Cauchy and Schwarz number
 * (k, l) of S has terms that add up to sqrt(peak_k peak_l) in size, and number k of f sqrt(peak_k square_peak)
 * (docs/guarantee.md, Theorem 25 (exact)). */
static void complete(struct kf_task *task, struct exact *exact, double diagonal)
{
    assert(!exact->stale && exact->operations >= 0 && !(exact->square_peak < 0));
    size_t size = kf_size(&task->problem);
    double scale = 2 * kf_inverse_weight(&task->problem.objective), along = sqrt(exact->square_peak),
           *doubt = task->vectors.doubt;
    for (size_t k = 0; k < size; k++)
        along += sqrt(exact->peak[k]) * fabs(task->iterate.x[k]);
    double share = kf_gamma(exact->operations + TERM_OPERATIONS + (double)size + 8) * along * KF_UPWARD;
    for (size_t k = 0; k < size; k++) {
        double ridge = k < task->problem.objective.free ? 0 : diagonal * fabs(task->iterate.x[k]);
        doubt[k] =
            (scale * (share * sqrt(exact->peak[k]) + 8 * KF_UNIT * (ridge + fabs(exact->residual[k])))) * KF_UPWARD;
        exact->residual[k] *= -scale;
    }
}

/* The objective times W: sum w b^2 - 2 f.x + x.(S + diagonal) x = sum w b^2 - f.x - residual.x, and what that may be off by. */
static struct kf_goal losses_of(const struct kf_task *task, const struct exact *exact, double diagonal)
{
    size_t size = kf_size(&task->problem);
    double along = sqrt(exact->square_peak), ridge = 0;
    for (size_t k = 0; k < size; k++) {
        along += sqrt(exact->peak[k]) * fabs(task->iterate.x[k]);
        ridge += k < task->problem.objective.free ? 0 : diagonal * task->iterate.x[k] * task->iterate.x[k];
    }
    double losses =
        exact->square - kf_dot(size, exact->first, task->iterate.x) - kf_dot(size, exact->residual, task->iterate.x);
    double gamma = kf_gamma(exact->operations + TERM_OPERATIONS + 2 * (double)size + 16);
    return (struct kf_goal){.losses = losses, .off = 2 * gamma * (along * along + ridge) * KF_UPWARD};
}

/* Bound and target of x as it is. */
static void judge(struct kf_task *task, struct exact *exact, double diagonal, struct kf_outcome *outcome)
{
    measure_residual(task, exact, diagonal);
    struct kf_goal goal = losses_of(task, exact, diagonal);
    outcome->target = kf_goal_target(&goal, &task->problem, 0);
    complete(task, exact, diagonal);
    outcome->proof = KF_PROOF_GRADIENT;
    outcome->bound = kf_gap_bound(&task->problem, task->iterate.x, exact->residual, task->vectors.doubt, 0);
}

/* x from S and f. False: no memory. */
static bool find_optimum(struct kf_task *task, struct exact *exact, double diagonal)
{
    if (!kf_domain_is_whole(&task->problem.domain)) {
        exact->behind = 0; /* there is no factor to follow */
        return solve_inside(task, exact, diagonal);
    }
    if (refresh_factor(task, exact, diagonal))
        solve(task, exact, diagonal);
    polish_intercept(task, exact, diagonal);
    return true;
}

/* What rounding has left of points that are gone may be what keeps the bound above the target. */
static bool is_worth_summing(const struct exact *exact, const struct kf_outcome *outcome)
{
    return exact->left > 0 && !(outcome->bound <= outcome->target);
}

/* x from S and f, and what it is worth. */
static keepfit_status exact_settle(struct kf_task *task, void *state, struct kf_outcome *outcome, keepfit_error *error)
{
    struct exact *exact = state;
    double diagonal = task->problem.objective.lambda * task->problem.objective.weight_total;
    if (!grow(exact, kf_size(&task->problem)))
        return kf_fail_memory(error);
    if (exact->stale || exact->left > task->problem.points.count)
        sum_anew(task, exact);
    if (!find_optimum(task, exact, diagonal))
        return kf_fail_memory(error);
    judge(task, exact, diagonal, outcome);
    if (!is_worth_summing(exact, outcome) || !kf_affords(task, task->problem.points.count))
        return KEEPFIT_OK;
    kf_charge(&task->problem.objective, task->problem.points.count);
    sum_anew(task, exact);
    if (!find_optimum(task, exact, diagonal))
        return kf_fail_memory(error);
    judge(task, exact, diagonal, outcome);
    return KEEPFIT_OK;
}

static keepfit_status exact_take(struct kf_task *task, void *state, double loss, keepfit_error *error)
{
    (void)loss;
    struct exact *exact = state;
    size_t size = kf_size(&task->problem);
    if (size > SIZE_MOST)
        return kf_fail(error, KEEPFIT_USAGE, "exact keeps d^2 numbers; %zu features are too many for it (at most %d)",
                       size, SIZE_MOST);
    if (!grow(exact, size))
        return kf_fail_memory(error);
    if (!exact->stale)
        add_point(task, exact, task->problem.points.count - 1, 1);
    kf_charge(&task->problem.objective, 1); /* the point's gradient at 0, which is f's share of it */
    exact->behind++;
    return KEEPFIT_OK;
}

static void exact_leave(struct kf_task *task, void *state, size_t j)
{
    struct exact *exact = state;
    exact->factor_size = exact->behind = 0;
    if (exact->stale)
        return;
    add_point(task, exact, j, -1);
    exact->left++;
}

/* What is known is not of all points, or not of how they are. */
static void exact_forget(struct kf_task *task, void *state)
{
    (void)task;
    ((struct exact *)state)->stale = true;
}

/* The lower triangle of the first `size` columns. */
static void archive_triangle(const struct exact *exact, double *matrix, size_t size, struct kf_archive *archive)
{
    for (size_t column = 0; column < size && archive->status == KEEPFIT_OK; column++)
        kf_archive_reals(archive, matrix + column * exact->stride + column, size - column);
}

static void exact_archive(struct kf_task *task, void *state, struct kf_archive *archive)
{
    struct exact *exact = state;
    size_t size = kf_size(&task->problem), stride = exact->stride;
    kf_task_archive_vector(task, archive, &exact->first);
    kf_archive_real(archive, &exact->square);
    if (archive->version >= KF_VERSION_WITH_ROUNDING) {
        kf_task_archive_vector(task, archive, &exact->peak);
        kf_archive_real(archive, &exact->square_peak);
        kf_archive_real(archive, &exact->operations);
        kf_archive_flag(archive, &exact->stale);
    }
    kf_archive_real(archive, &exact->factor_diagonal);
    kf_archive_count(archive, &exact->left, SIZE_MAX);
    kf_archive_count(archive, &exact->behind, task->problem.points.count);
    kf_archive_count(archive, &stride, 2 * SIZE_MOST);
    size = size < stride ? size : stride; /* until a first point has weight, nothing is summed */
    kf_archive_require(archive, stride <= 16 + 2 * size && kf_archive_holds(archive, size * (size + 1) / 2));
    if (archive->status != KEEPFIT_OK || stride == 0)
        return;
    if (archive->reading && !set_stride(exact, stride)) {
        archive->status = KEEPFIT_NO_MEMORY;
        return;
    }
    kf_archive_count(archive, &exact->factor_size, size);
    kf_archive_count(archive, &exact->factor_points, SIZE_MAX);
    archive_triangle(exact, exact->second, size, archive);
    archive_triangle(exact, exact->factor, exact->factor_size, archive);
}

static void exact_destroy(void *state)
{
    struct exact *exact = state;
    free(exact->second);
    free(exact->factor);
    kf_quadratic_free(&exact->quadratic);
}

const struct kf_method kf_exact = {
    .name = "exact",
    .summary = "squared loss: the exact optimum at every stage, 1 FO and O(d^2) work each",
    .does = "squared loss: solves the normal equations, O(d^2)",
    .gradients = "1",
    .output = "the optimum",
    .squared_only = true,
    .needs_convexity = true,
    .holds_epsilon = true,
    .state_size = sizeof(struct exact),
    .create = exact_create,
    .forget = exact_forget,
    .leave = exact_leave,
    .take = exact_take,
    .settle = exact_settle,
    .archive = exact_archive,
    .destroy = exact_destroy,
};
