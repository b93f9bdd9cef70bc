#include "certificate/curvature.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernels/kernels.h"
#include "optimum/lapack.h"

#define SIZE_MOST 1500
#define WORK_VECTORS 5
/* Points above this multiple of the mean leverage are left out, unless R is small enough for the target with them. */
#define LEVERAGE_TIMES 4.0
/* Above this, how far scores have moved is looked at point by point. */
#define STRETCH_ROUGH 0.1

static double concordance(const struct kf_problem *problem)
{
    return problem->objective.loss->concordance;
}

bool kf_curvature_suits(const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    return kf_is_single(objective) && isfinite(concordance(problem)) && objective->lambda > 0 &&
           kf_size(problem) <= SIZE_MOST && kf_domain_is_whole(&problem->domain);
}

void kf_curvature_free(struct kf_curvature *curvature)
{
    free(curvature->hessian);
    free(curvature->inverse);
    free(curvature->factor);
    free(curvature->work);
    free(curvature->leverages);
    memset(curvature, 0, sizeof *curvature);
}

/* Moves a matrix to a larger leading dimension; new rows and columns are 0. */
static bool grow_matrix(double **matrix, size_t size, size_t from, size_t to)
{
    double *moved = kf_allocate_numbers(to * to);
    if (!moved)
        return false;
    for (size_t k = 0; k < size; k++)
        memcpy(moved + k * to, *matrix + k * from, size * sizeof *moved);
    free(*matrix);
    *matrix = moved;
    return true;
}

static void name_vectors(struct kf_curvature *curvature)
{
    curvature->anchor = curvature->work;
    curvature->at_sum = curvature->work + curvature->capacity;
    curvature->at_x = curvature->work + 2 * curvature->capacity;
}

static double *scratch(const struct kf_curvature *curvature, size_t k)
{
    return curvature->work + (3 + k) * curvature->capacity;
}

/* The matrices and vectors move to this leading dimension. */
static bool make_room(struct kf_curvature *curvature, size_t capacity)
{
    size_t old = curvature->capacity;
    double *work = kf_allocate_numbers(WORK_VECTORS * capacity);
    if (!work || !grow_matrix(&curvature->hessian, curvature->size, old, capacity) ||
        !grow_matrix(&curvature->inverse, curvature->size, old, capacity) ||
        !grow_matrix(&curvature->factor, curvature->size, old, capacity)) {
        free(work);
        kf_curvature_free(curvature);
        return false;
    }
    for (size_t k = 0; k < WORK_VECTORS && old; k++)
        memcpy(work + k * capacity, curvature->work + k * old, curvature->size * sizeof *work);
    free(curvature->work);
    curvature->work = work;
    curvature->capacity = capacity;
    name_vectors(curvature);
    return true;
}

static bool reserve(struct kf_curvature *curvature, size_t size)
{
    return size <= curvature->capacity || make_room(curvature, size < 16 ? 16 : (size + size / 2 + 7) / 8 * 8);
}

static void archive_matrix(struct kf_curvature *curvature, double *matrix, struct kf_archive *archive)
{
    for (size_t k = 0; k < curvature->size && archive->status == KEEPFIT_OK; k++)
        kf_archive_reals(archive, matrix + k * curvature->capacity, curvature->size);
}

static void archive_numbers(struct kf_curvature *curvature, struct kf_archive *archive)
{
    double *reals[] = {&curvature->sum_sum, &curvature->sum_x,     &curvature->x_x,     &curvature->weight,
                       &curvature->lambda,  &curvature->leverage,  &curvature->stretch, &curvature->lost,
                       &curvature->most,    &curvature->inflation, &curvature->measured};
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
        kf_archive_real(archive, reals[k]);
}

void kf_curvature_archive(struct kf_curvature *curvature, struct kf_optimum *optimum, struct kf_problem *problem,
                          struct kf_archive *archive)
{
    kf_archive_flag(archive, &curvature->anchored);
    kf_archive_flag(archive, &curvature->certified);
    kf_archive_require(archive, curvature->anchored || !curvature->certified);
    archive_numbers(curvature, archive);
    if (!curvature->anchored || archive->status != KEEPFIT_OK)
        return;
    kf_archive_count(archive, &curvature->points, problem->points.count);
    kf_archive_count(archive, &curvature->known, curvature->points);
    kf_archive_array(archive, &curvature->leverages, &curvature->leverages_capacity, curvature->known);
    size_t size = curvature->size, capacity = curvature->capacity;
    kf_archive_count(archive, &size, kf_size(problem));
    kf_archive_count(archive, &capacity, 2 * SIZE_MOST);
    kf_archive_require(archive, size <= capacity && kf_curvature_suits(problem));
    if (archive->status != KEEPFIT_OK)
        return;
    if (archive->reading && !make_room(curvature, capacity)) {
        archive->status = KEEPFIT_NO_MEMORY;
        return;
    }
    curvature->size = size;
    kf_archive_array(archive, &optimum->curve, &optimum->curve_capacity, curvature->points);
    archive_matrix(curvature, curvature->factor, archive);
    kf_archive_reals(archive, curvature->anchor, size);
    if (!curvature->certified)
        return;
    archive_matrix(curvature, curvature->hessian, archive);
    archive_matrix(curvature, curvature->inverse, archive);
    kf_archive_reals(archive, curvature->at_sum, size);
    kf_archive_reals(archive, curvature->at_x, size);
}

/* The points of the anchor have nothing in new coordinates: there the Hessian is the regulariser's. */
static bool follow_size(struct kf_curvature *curvature, const struct kf_problem *problem)
{
    size_t size = kf_size(problem), stride;
    if (size == curvature->size)
        return true;
    if (!reserve(curvature, size))
        return false;
    stride = curvature->capacity;
    for (size_t k = curvature->size; k < size; k++) {
        curvature->hessian[k * stride + k] = 2 * curvature->lambda;
        curvature->inverse[k * stride + k] = 1 / (2 * curvature->lambda);
        curvature->factor[k * stride + k] = sqrt(2 * curvature->lambda);
        for (size_t v = 0; v < WORK_VECTORS; v++)
            curvature->work[v * stride + k] = 0;
    }
    curvature->size = size;
    return true;
}

static void copy_matrix(const struct kf_curvature *curvature, const double *from, double *to)
{
    for (size_t k = 0; k < curvature->size; k++)
        memcpy(to + k * curvature->capacity, from + k * curvature->capacity, curvature->size * sizeof *to);
}

/* The lower triangle's numbers go to the upper one. */
static void mirror(const struct kf_curvature *curvature, double *matrix)
{
    for (size_t k = 0; k < curvature->size; k++)
        for (size_t l = k + 1; l < curvature->size; l++)
            matrix[l * curvature->capacity + k] = matrix[k * curvature->capacity + l];
}

static bool factorise(const struct kf_curvature *curvature, double *matrix)
{
    int n = (int)curvature->size, stride = (int)curvature->capacity, info = 0;
    if (n)
        dpotrf_("L", &n, matrix, &stride, &info);
    return info == 0;
}

/* Inverse from the Cholesky factor that `inverse` holds. */
static bool invert(struct kf_curvature *curvature)
{
    int n = (int)curvature->size, stride = (int)curvature->capacity, info = 0;
    if (n)
        dpotri_("L", &n, curvature->inverse, &stride, &info);
    mirror(curvature, curvature->inverse);
    return info == 0;
}

/* H is all of the Hessian again. */
static void take_hessian(struct kf_curvature *curvature, const struct kf_optimum *optimum)
{
    size_t size = curvature->size;
    for (size_t k = 0; k < size; k++)
        memcpy(curvature->hessian + k * curvature->capacity, optimum->quadratic.hessian + k * size,
               size * sizeof(double));
}

/* a' H^-1 a */
static double leverage_of(const struct kf_curvature *curvature, const struct kf_kernels *kernels,
                          const keepfit_row *row)
{
    double sum = 0;
    for (size_t p = 0; p < row->count; p++) {
        const double *line = curvature->inverse + (row->index ? row->index[p] : p) * curvature->capacity;
        double part = 0;
        if (!row->index)
            part = kernels->dot(row->count, line, row->value);
        for (size_t q = 0; row->index && q < row->count; q++)
            part += line[row->index[q]] * row->value[q];
        sum += row->value[p] * part;
    }
    return sum;
}

static double measure(const struct kf_curvature *curvature, const struct kf_problem *problem, size_t j)
{
    keepfit_row row = kf_points_row(&problem->points, j);
    return leverage_of(curvature, problem->objective.kernels, &row);
}

/* Takes those of the points from .. to-1 that are marked out of H (lower triangle). Returns how many. */
static size_t leave_out(struct kf_curvature *curvature, const struct kf_problem *problem, const double *curve,
                        size_t from, size_t to)
{
    size_t count = 0;
    double mean = 1 / curvature->weight;
    for (size_t j = from; j < to; j++) {
        if (!(curvature->leverages[j] < 0))
            continue;
        keepfit_row row = kf_points_row(&problem->points, j);
        for (size_t p = 0; p < row.count; p++) {
            double *column = curvature->hessian + (row.index ? row.index[p] : p) * curvature->capacity;
            for (size_t q = p; q < row.count; q++)
                column[row.index ? row.index[q] : q] -= mean * curve[j] * row.value[p] * row.value[q];
        }
        count++;
    }
    return count;
}

/* H^-1, from H's lower triangle. */
static bool invert_hessian(struct kf_curvature *curvature)
{
    copy_matrix(curvature, curvature->hessian, curvature->inverse);
    return factorise(curvature, curvature->inverse) && invert(curvature);
}

/* Measures the points from `from` on, marks those of too high a leverage and takes them out of H. False: no inverse. */
static bool sort_out(struct kf_curvature *curvature, struct kf_optimum *optimum, struct kf_problem *problem,
                     size_t from, double target)
{
    double mean = 0;
    for (size_t j = from; j < curvature->points; j++)
        mean += (curvature->leverages[j] = measure(curvature, problem, j)) / (double)(curvature->points - from);
    if (from == 0) /* R^2 is small enough where t is below a half: |g|_{H^-1} is about sqrt(2 target) */
        curvature->most = fmax(1 / (8 * target), LEVERAGE_TIMES * mean);
    for (size_t j = from; j < curvature->points; j++)
        if (curvature->leverages[j] > curvature->most)
            curvature->leverages[j] = -1;
    if (leave_out(curvature, problem, optimum->curve, from, curvature->points) == 0)
        return true;
    if (!invert_hessian(curvature))
        return false;
    for (size_t j = from; j < curvature->points; j++)
        if (curvature->leverages[j] >= 0)
            curvature->leverages[j] = measure(curvature, problem, j);
    return true;
}

/* The largest leverage of the first `count` points in H. What is known of each is an upper bound once multiplied by
 * `inflation`, so that only those have to be measured that may be the largest. */
static double largest_leverage(struct kf_curvature *curvature, const struct kf_problem *problem, size_t count)
{
    double *known = curvature->leverages, most = 0;
    size_t first = 0;
    for (size_t j = 1; j < count; j++)
        if (known[j] > known[first])
            first = j;
    for (size_t k = 0; k <= count && count; k++) {
        size_t j = k == 0 ? first : k - 1;
        if (known[j] < 0 || known[j] * curvature->inflation <= most)
            continue;
        double now = measure(curvature, problem, j);
        known[j] = now / curvature->inflation;
        most = fmax(most, now);
    }
    return most;
}

/* R, and what is left out of H. The Hessian of the points that were there at the last anchor has shrunk by at most `inflation`
 * since their leverages were measured, by the same argument as c, so these have grown by no more; until the stream has
 * doubled, only new points are measured. */
static bool find_leverage(struct kf_curvature *curvature, struct kf_optimum *optimum, struct kf_problem *problem,
                          double target)
{
    bool anew = curvature->known == 0 || curvature->weight > 2 * curvature->measured;
    size_t known = anew ? 0 : curvature->known;
    leave_out(curvature, problem, optimum->curve, 0, known);
    if (!invert_hessian(curvature) || !sort_out(curvature, optimum, problem, known, target))
        return false;
    if (anew) {
        curvature->inflation = 1;
        curvature->measured = curvature->weight;
    }
    curvature->leverage = largest_leverage(curvature, problem, known);
    for (size_t j = known; j < curvature->points; j++) {
        curvature->leverage = fmax(curvature->leverage, curvature->leverages[j]);
        if (curvature->leverages[j] > 0)
            curvature->leverages[j] /= curvature->inflation;
    }
    curvature->known = curvature->points;
    return true;
}

/* c: the Hessian at x, now, is at least c H. */
static double shrinkage(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    double weight = fmin(curvature->weight / problem->objective.weight_total, 1);
    return exp(-concordance(problem) * curvature->stretch) * weight * (1 - curvature->lost);
}

keepfit_status kf_curvature_anchor(struct kf_curvature *curvature, struct kf_optimum *optimum,
                                   struct kf_problem *problem)
{
    size_t size = kf_size(problem);
    if (curvature->certified) /* what is known of leverages is passed on */
        curvature->inflation /= shrinkage(curvature, problem);
    else
        curvature->known = 0;
    curvature->anchored = curvature->certified = false;
    if (!reserve(curvature, size) || !kf_hessian_assemble(optimum, problem, problem->x)) {
        problem->objective.memory_failed = true;
        return KEEPFIT_NO_MEMORY;
    }
    curvature->size = size;
    take_hessian(curvature, optimum);
    copy_matrix(curvature, curvature->hessian, curvature->factor);
    if (!factorise(curvature, curvature->factor))
        return KEEPFIT_DIVERGED;
    kf_copy(problem, curvature->anchor, problem->x);
    curvature->weight = problem->objective.weight_total;
    curvature->lambda = problem->objective.lambda;
    curvature->points = problem->points.count;
    curvature->lost = 0;
    curvature->anchored = true;
    return KEEPFIT_OK;
}

bool kf_curvature_certify(struct kf_curvature *curvature, struct kf_optimum *optimum, struct kf_problem *problem,
                          const double *sum, double target)
{
    if (!KF_RESERVE(curvature->leverages, curvature->leverages_capacity, curvature->points)) {
        problem->objective.memory_failed = true;
        return false;
    }
    if (concordance(problem) > 0) {
        if (!find_leverage(curvature, optimum, problem, target)) {
            curvature->known = 0;
            return false;
        }
    } else {
        curvature->leverage = 0;
        if (!invert_hessian(curvature))
            return false;
    }
    mirror(curvature, curvature->hessian);
    curvature->certified = true;
    kf_curvature_move(curvature, problem, sum);
    return true;
}

static void times(const struct kf_curvature *curvature, const double *matrix, const double *v, double *out)
{
    int n = (int)curvature->size, stride = (int)curvature->capacity, one = 1;
    double unit = 1, zero = 0;
    if (n)
        dsymv_("L", &n, &unit, matrix, &stride, v, &one, &zero, out, &one);
}

double kf_curvature_length(const struct kf_curvature *curvature, const double *v)
{
    double *bent = scratch(curvature, 1);
    times(curvature, curvature->hessian, v, bent);
    return sqrt(fmax(kf_dot(curvature->size, v, bent), 0));
}

/* max |a_j.delta| over the points in H. */
static double largest_score(const struct kf_curvature *curvature, const struct kf_problem *problem, const double *delta)
{
    double most = 0;
    for (size_t j = 0; j < curvature->points; j++) {
        if (curvature->leverages[j] < 0)
            continue;
        keepfit_row row = kf_points_row(&problem->points, j);
        double score;
        if (row.index)
            kf_row_scores(&row, delta, curvature->size, 1, &score);
        else
            score = problem->objective.kernels->dot(row.count, row.value, delta);
        most = fmax(most, fabs(score));
    }
    return most;
}

void kf_curvature_move(struct kf_curvature *curvature, const struct kf_problem *problem, const double *sum)
{
    if (!curvature->certified)
        return;
    size_t size = curvature->size, free = problem->objective.free;
    double *delta = scratch(curvature, 0);
    for (size_t k = 0; k < size; k++)
        delta[k] = problem->x[k] - curvature->anchor[k];
    curvature->stretch = sqrt(curvature->leverage) * kf_curvature_length(curvature, delta);
    if (curvature->stretch > STRETCH_ROUGH)
        curvature->stretch = fmin(curvature->stretch, largest_score(curvature, problem, delta));
    kf_copy(problem, delta, problem->x);
    memset(delta, 0, free * sizeof *delta);
    times(curvature, curvature->inverse, delta, curvature->at_x);
    times(curvature, curvature->inverse, sum, curvature->at_sum);
    curvature->x_x = kf_dot(size, delta, curvature->at_x);
    curvature->sum_x = kf_dot(size, sum, curvature->at_x);
    curvature->sum_sum = kf_dot(size, sum, curvature->at_sum);
}

/* The sum changes by factor*row: so do the products with it. Returns row'H^-1 row. */
static double change_sum(struct kf_curvature *curvature, const struct kf_problem *problem, const keepfit_row *row,
                         double factor)
{
    const struct kf_kernels *kernels = problem->objective.kernels;
    size_t size = curvature->size;
    double *bent = scratch(curvature, 0), on_sum = 0, on_x = 0, on_row = 0;
    memset(bent, 0, size * sizeof *bent);
    for (size_t e = 0; e < row->count; e++) {
        size_t k = row->index ? row->index[e] : e;
        on_sum += row->value[e] * curvature->at_sum[k];
        on_x += row->value[e] * curvature->at_x[k];
        if (row->value[e] != 0)
            kernels->add(size, row->value[e], curvature->inverse + k * curvature->capacity, bent);
    }
    for (size_t e = 0; e < row->count; e++)
        on_row += row->value[e] * bent[row->index ? row->index[e] : e];
    curvature->sum_sum += factor * (2 * on_sum + factor * on_row);
    curvature->sum_x += factor * on_x;
    kernels->add(size, factor, bent, curvature->at_sum);
    return on_row;
}

void kf_curvature_leave(struct kf_curvature *curvature, struct kf_optimum *optimum, struct kf_problem *problem,
                        size_t j, double factor)
{
    bool inside = j < curvature->points;
    if (!curvature->anchored)
        return;
    if (curvature->certified) {
        keepfit_row row = kf_points_row(&problem->points, j);
        double leverage = change_sum(curvature, problem, &row, -factor);
        bool in_hessian = inside && !(concordance(problem) > 0 && curvature->leverages[j] < 0);
        if (in_hessian)
            curvature->lost += optimum->curve[j] / curvature->weight * leverage;
        if (!(curvature->lost < 1))
            curvature->certified = false;
    }
    if (!inside)
        return;
    kf_points_close_gap(optimum->curve, curvature->points, 1, j);
    if (j < curvature->known)
        kf_points_close_gap(curvature->leverages, curvature->known--, 1, j);
    curvature->points--;
    curvature->anchored = curvature->anchored && curvature->certified; /* what is not certified can no longer be */
}

bool kf_curvature_take(struct kf_curvature *curvature, struct kf_problem *problem, size_t j, double factor)
{
    if (curvature->anchored && !follow_size(curvature, problem))
        return false;
    if (!curvature->certified)
        return true;
    keepfit_row row = kf_points_row(&problem->points, j);
    change_sum(curvature, problem, &row, factor);
    return true;
}

double kf_curvature_decrement(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    double mean = kf_inverse_weight(objective), ridge = 2 * objective->lambda;
    double sum_sum = mean * mean * curvature->sum_sum, x_x = ridge * ridge * curvature->x_x;
    double square = sum_sum + 2 * mean * ridge * curvature->sum_x + x_x;
    /* The three terms nearly cancel: what rounding may have left out is added. */
    return fmax(square, 0) + 1e-14 * (sum_sum + x_x);
}

double kf_curvature_reach(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    double square = kf_curvature_decrement(curvature, problem);
    return concordance(problem) * sqrt(curvature->leverage * square) / shrinkage(curvature, problem);
}

double kf_curvature_bound(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    if (!curvature->certified)
        return INFINITY;
    double square = kf_curvature_decrement(curvature, problem), c = shrinkage(curvature, problem);
    double t = kf_curvature_reach(curvature, problem), root = concordance(problem) * sqrt(curvature->leverage);
    if (!(t < 1))
        return INFINITY;
    if (t < 1e-4) /* t + (1-t) ln(1-t) = t^2/2 + t^3/6 + ..., without its cancellation */
        return square / (2 * c) * (1 + t);
    return c / (root * root) * (t + (1 - t) * log1p(-t));
}

void kf_curvature_step(const struct kf_curvature *curvature, const struct kf_problem *problem, const double *gradient,
                       double *direction)
{
    int n = (int)curvature->size, stride = (int)curvature->capacity, one = 1, info;
    for (size_t k = 0; k < curvature->size; k++)
        direction[k] = -gradient[k];
    (void)problem;
    if (n)
        dpotrs_("L", &n, &one, curvature->factor, &stride, direction, &n, &info);
}
