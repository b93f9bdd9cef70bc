#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "certificate/internal.h"
#include "kernels/dense.h"
#include "kernels/exponential.h"
#include "kernels/kernels.h"

#define SIZE_MOST 1500
#define NAMED_VECTORS 5
#define WORK_VECTORS (NAMED_VECTORS + 4)
/* Above this, how far scores have moved is looked at point by point. */
#define STRETCH_ROUGH 0.1

bool kf_curvature_suits(const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    return kf_is_single(objective) && isfinite(kf_concordance(problem)) && objective->lambda > 0 &&
           kf_size(problem) <= SIZE_MOST && kf_domain_is_whole(&problem->domain);
}

void kf_curvature_free(struct kf_curvature *curvature)
{
    free(curvature->hessian.matrix);
    free(curvature->hessian.inverse);
    free(curvature->hessian.factor);
    free(curvature->hessian.work);
    free(curvature->leverages.of);
    free(curvature->hessian.excess);
    free(curvature->excesses);
    free(curvature->hessian.columns);
    kf_curves_free(&curvature->curves);
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
    curvature->anchor = curvature->hessian.work;
    curvature->followed.at_sum = curvature->hessian.work + curvature->hessian.capacity;
    curvature->followed.at_x = curvature->hessian.work + 2 * curvature->hessian.capacity;
    curvature->hessian.width = curvature->hessian.work + 3 * curvature->hessian.capacity;
    curvature->hessian.peak = curvature->hessian.work + 4 * curvature->hessian.capacity;
}

double *kf_curvature_scratch(const struct kf_curvature *curvature, size_t k)
{
    return curvature->hessian.work + (NAMED_VECTORS + k) * curvature->hessian.capacity;
}

/* The matrices and vectors move to this leading dimension. */
static bool make_room(struct kf_curvature *curvature, size_t capacity)
{
    size_t old = curvature->hessian.capacity;
    double *work = kf_allocate_numbers(WORK_VECTORS * capacity);
    if (!work || !grow_matrix(&curvature->hessian.matrix, curvature->hessian.size, old, capacity) ||
        !grow_matrix(&curvature->hessian.inverse, curvature->hessian.size, old, capacity) ||
        !grow_matrix(&curvature->hessian.factor, curvature->hessian.size, old, capacity) ||
        !grow_matrix(&curvature->hessian.excess, 0, old, capacity)) {
        free(work);
        kf_curvature_free(curvature);
        return false;
    }
    for (size_t k = 0; k < WORK_VECTORS && old; k++)
        memcpy(work + k * capacity, curvature->hessian.work + k * old, curvature->hessian.size * sizeof *work);
    free(curvature->hessian.work);
    curvature->hessian.work = work;
    curvature->hessian.capacity = capacity;
    name_vectors(curvature);
    return true;
}

static bool reserve(struct kf_curvature *curvature, size_t size)
{
    return size <= curvature->hessian.capacity || make_room(curvature, size < 16 ? 16 : (size + size / 2 + 7) / 8 * 8);
}

static void archive_matrix(struct kf_curvature *curvature, double *matrix, struct kf_archive *archive)
{
    for (size_t k = 0; k < curvature->hessian.size && archive->status == KEEPFIT_OK; k++)
        kf_archive_reals(archive, matrix + k * curvature->hessian.capacity, curvature->hessian.size);
}

static void archive_numbers(struct kf_curvature *curvature, struct kf_archive *archive)
{
    double products[3] = {0}; /* of older versions */
    double *older[] = {&products[0], &products[1], &products[2]};
    double *reals[] = {&curvature->weight,
                       &curvature->lambda,
                       &curvature->leverages.largest,
                       &curvature->since.stretch,
                       &curvature->since.lost,
                       &curvature->leverages.most,
                       &curvature->leverages.inflation,
                       &curvature->leverages.measured};
    double *rounding[] = {&curvature->hessian.operations, &curvature->hessian.slack,    &curvature->followed.sum_length,
                          &curvature->followed.x_length,  &curvature->followed.sum_off, &curvature->followed.x_off,
                          &curvature->since.blur};
    for (size_t k = 0; k < 3 && archive->version < KF_VERSION_WITH_ROUNDING; k++)
        kf_archive_real(archive, older[k]);
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
        kf_archive_real(archive, reals[k]);
    if (archive->version > 2)
        kf_archive_real(archive, &curvature->leverages.reach);
    else
        curvature->leverages.reach = sqrt(curvature->leverages.largest);
    kf_archive_require(archive, !(curvature->leverages.reach < 0));
    for (size_t k = 0; k < sizeof rounding / sizeof rounding[0] && archive->version >= KF_VERSION_WITH_ROUNDING; k++) {
        kf_archive_real(archive, rounding[k]);
        kf_archive_require(archive, *rounding[k] >= 0);
    }
    kf_archive_require(archive, curvature->hessian.slack < 1);
}

/* How many numbers `leverages` has. */
static size_t listed(const struct kf_curvature *curvature)
{
    return curvature->measuring ? curvature->points : curvature->leverages.known;
}

static bool reserve_columns(struct kf_curvature *curvature)
{
    return KF_RESERVE(curvature->hessian.columns, curvature->hessian.columns_capacity,
                      2 * KF_COLUMNS * (curvature->hessian.size + 1));
}

void kf_curvature_archive(struct kf_curvature *curvature, struct kf_task *task, struct kf_archive *archive)
{
    bool *flags[] = {&curvature->anchored, &curvature->certified, &curvature->gathering, &curvature->measuring,
                     &curvature->since.rough};
    for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++)
        kf_archive_flag(archive, flags[k]);
    kf_archive_require(archive,
                       curvature->anchored ? !curvature->gathering : !curvature->certified && !curvature->measuring);
    kf_archive_require(archive, !curvature->certified || !curvature->measuring);
    archive_numbers(curvature, archive);
    if (!(curvature->anchored || curvature->gathering) || archive->status != KEEPFIT_OK)
        return;
    kf_archive_count(archive, &curvature->points, task->problem.points.count);
    kf_archive_count(archive, &curvature->leverages.known, task->problem.points.count);
    kf_archive_require(archive, curvature->certified || curvature->leverages.known <= curvature->points);
    kf_archive_array(archive, &curvature->leverages.of, &curvature->leverages.capacity, listed(curvature));
    size_t size = curvature->hessian.size, capacity = curvature->hessian.capacity;
    kf_archive_count(archive, &size, kf_size(&task->problem));
    kf_archive_count(archive, &capacity, 2 * SIZE_MOST);
    kf_archive_require(archive, size <= capacity && kf_curvature_suits(&task->problem));
    if (archive->status != KEEPFIT_OK)
        return;
    if (archive->reading && !make_room(curvature, capacity)) {
        archive->status = KEEPFIT_NO_MEMORY;
        return;
    }
    curvature->hessian.size = size;
    kf_archive_array(archive, &curvature->curves.of, &curvature->curves.capacity, curvature->points);
    kf_archive_reals(archive, curvature->anchor, size);
    if (archive->version >= KF_VERSION_WITH_ROUNDING)
        kf_archive_reals(archive, curvature->hessian.peak, size);
    if (curvature->anchored)
        archive_matrix(curvature, curvature->hessian.factor, archive);
    if (archive->version > 2 || curvature->gathering || curvature->measuring || curvature->certified)
        archive_matrix(curvature, curvature->hessian.matrix, archive);
    if (curvature->measuring || curvature->certified) {
        archive_matrix(curvature, curvature->hessian.inverse, archive);
        if (archive->version >= KF_VERSION_WITH_ROUNDING)
            kf_archive_reals(archive, curvature->hessian.width, size);
    }
    if (archive->reading && !reserve_columns(curvature))
        archive->status = KEEPFIT_NO_MEMORY;
    if (!curvature->certified)
        return;
    kf_archive_reals(archive, curvature->followed.at_sum, size);
    kf_archive_reals(archive, curvature->followed.at_x, size);
}

/* The points of the anchor have nothing in new coordinates: there the Hessian is the regulariser's. */
static bool follow_size(struct kf_curvature *curvature, const struct kf_problem *problem)
{
    size_t size = kf_size(problem), stride;
    if (size == curvature->hessian.size)
        return true;
    if (!reserve(curvature, size))
        return false;
    stride = curvature->hessian.capacity;
    for (size_t k = curvature->hessian.size; k < size; k++) {
        curvature->hessian.matrix[k * stride + k] = curvature->gathering ? 0 : 2 * curvature->lambda;
        curvature->hessian.inverse[k * stride + k] = 1 / (2 * curvature->lambda);
        curvature->hessian.factor[k * stride + k] = sqrt(2 * curvature->lambda);
        for (size_t v = 0; v < WORK_VECTORS; v++)
            curvature->hessian.work[v * stride + k] = 0;
        curvature->hessian.peak[k] = curvature->hessian.matrix[k * stride + k];
        curvature->hessian.width[k] = sqrt(curvature->hessian.inverse[k * stride + k]) * KF_UPWARD;
    }
    curvature->hessian.size = size;
    return true;
}

void kf_curvature_copy(const struct kf_curvature *curvature, const double *from, double *to)
{
    for (size_t k = 0; k < curvature->hessian.size; k++)
        memcpy(to + k * curvature->hessian.capacity, from + k * curvature->hessian.capacity,
               curvature->hessian.size * sizeof *to);
}

void kf_curvature_mirror(const struct kf_curvature *curvature, double *matrix)
{
    for (size_t k = 0; k < curvature->hessian.size; k++)
        for (size_t l = k + 1; l < curvature->hessian.size; l++)
            matrix[l * curvature->hessian.capacity + k] = matrix[k * curvature->hessian.capacity + l];
}

double kf_curvature_trace(const struct kf_curvature *curvature)
{
    double trace = 0;
    for (size_t k = 0; k < curvature->hessian.size; k++)
        trace += curvature->hessian.matrix[k * curvature->hessian.capacity + k];
    return trace;
}

static bool factorise(const struct kf_curvature *curvature, double *matrix)
{
    return kf_cholesky(curvature->hessian.size, matrix, curvature->hessian.capacity);
}

/* What points that have left leave of the rest of H: those that were given up are a part of H, too. (1-L)(1 - lost/(1-L')) is at most
 * 1 - L - lost for all L up to L'. */
static double kept(const struct kf_curvature *curvature)
{
    return fmax(1 - curvature->since.lost / (curvature->plain ? 1 : 1 - KF_GIVEN_UP_MOST), 0);
}

double kf_curvature_shrinkage(const struct kf_curvature *curvature, const struct kf_problem *problem, double stretch)
{
    double weight = fmin(curvature->weight / problem->objective.weight_total, 1);
    double moved = kf_exp_any(-kf_concordance(problem) * (stretch + curvature->since.blur));
    return moved * weight * kept(curvature) * (1 - curvature->hessian.slack) / KF_UPWARD;
}

static double shrinkage(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    return kf_curvature_shrinkage(curvature, problem, curvature->since.stretch);
}

/* ---- making one ---- */

/* What cannot be done for want of memory is an error of the stage. */
static bool has_room(struct kf_task *task, bool room)
{
    task->problem.objective.memory_failed |= !room;
    return room;
}

bool kf_curvature_begin(struct kf_curvature *curvature, struct kf_task *task)
{
    size_t size = kf_size(&task->problem);
    curvature->anchored = curvature->certified = curvature->measuring = curvature->gathering = false;
    if (!has_room(task, reserve(curvature, size)))
        return false;
    curvature->hessian.size = size;
    for (size_t k = 0; k < size; k++)
        memset(curvature->hessian.matrix + k * curvature->hessian.capacity, 0, size * sizeof(double));
    kf_copy(&task->problem, curvature->anchor, task->iterate.x);
    memset(curvature->hessian.peak, 0, size * sizeof *curvature->hessian.peak);
    curvature->hessian.operations = curvature->hessian.slack = 0;
    curvature->since.blur =
        kf_score_rounding(&task->problem.objective, kf_score_most(&task->problem.objective, task->iterate.x));
    curvature->points = curvature->leverages.known = 0;
    curvature->gathering = true;
    return true;
}

bool kf_curvature_gather(struct kf_curvature *curvature, struct kf_task *task, const double *slopes, size_t to)
{
    if (!has_room(task, follow_size(curvature, &task->problem) &&
                            kf_hessian_add(&curvature->curves, task, curvature->anchor, slopes, curvature->points, to,
                                           curvature->hessian.matrix, curvature->hessian.capacity)))
        return false;
    double entries = (double)task->problem.points.entries / (double)task->problem.points.count;
    kf_spend(&task->stage, 0.3 * (double)(to - curvature->points) * entries * entries);
    curvature->hessian.operations += (double)(to - curvature->points);
    curvature->points = to;
    return true;
}

keepfit_status kf_curvature_close(struct kf_curvature *curvature, struct kf_task *task)
{
    const struct kf_objective *objective = &task->problem.objective;
    size_t size = curvature->hessian.size;
    double mean = kf_inverse_weight(objective);
    curvature->gathering = false;
    kf_spend(&task->stage, (0.05 * (double)size + 2) * (double)(size * size));
    for (size_t k = 0; k < size; k++) {
        double *column = curvature->hessian.matrix + k * curvature->hessian.capacity;
        curvature->hessian.peak[k] *= mean;
        kf_scale(size - k, mean, column + k);
        column[k] += k < objective->free ? 0 : 2 * objective->lambda;
    }
    kf_hessian_note_peaks(curvature);
    kf_curvature_copy(curvature, curvature->hessian.matrix, curvature->hessian.factor);
    if (!factorise(curvature, curvature->hessian.factor))
        return KEEPFIT_DIVERGED;
    curvature->weight = objective->weight_total;
    curvature->lambda = objective->lambda;
    curvature->since.lost = curvature->since.stretch = curvature->since.before = curvature->leverages.later = 0;
    curvature->anchored = true;
    return KEEPFIT_OK;
}

struct kf_heritage kf_curvature_bequeath(struct kf_curvature *curvature, double c)
{
    struct kf_heritage heritage = {.c = c,
                                   .slack = curvature->hessian.slack,
                                   .size = curvature->hessian.size,
                                   .known = curvature->certified ? curvature->leverages.known : 0};
    if (heritage.known && !curvature->plain && !kf_leverages_are_marked(curvature)) {
        for (size_t k = 0; k < curvature->hessian.size; k++)
            heritage.margin = fmax(heritage.margin, kf_hessian_margin(curvature, k) /
                                                        curvature->hessian.matrix[k * curvature->hessian.capacity + k]);
        kf_curvature_copy(curvature, curvature->hessian.matrix, curvature->hessian.inverse);
        heritage.compares = true;
    }
    return heritage;
}

keepfit_status kf_curvature_inherit(struct kf_curvature *curvature, struct kf_task *task,
                                    const struct kf_heritage *heritage)
{
    double least = heritage->c;
    curvature->leverages.known = heritage->known;
    if (heritage->compares && heritage->size == curvature->hessian.size &&
        kf_leverages_are_dear(curvature, &task->problem)) {
        if (!has_room(task, reserve_columns(curvature)))
            return KEEPFIT_NO_MEMORY;
        kf_spend(&task->stage,
                 0.3 * (double)curvature->hessian.size * (double)(curvature->hessian.size * curvature->hessian.size));
        least = fmax(least, kf_leverages_compare(curvature, heritage) * (1 - heritage->slack));
    }
    if (heritage->known)
        curvature->leverages.inflation *= KF_UPWARD / least;
    return KEEPFIT_OK;
}

keepfit_status kf_curvature_anchor(struct kf_curvature *curvature, struct kf_task *task, const double *slopes)
{
    struct kf_heritage heritage = kf_curvature_bequeath(curvature, shrinkage(curvature, &task->problem));
    if (!kf_curvature_begin(curvature, task) ||
        !kf_curvature_gather(curvature, task, slopes, task->problem.points.count))
        return KEEPFIT_NO_MEMORY;
    keepfit_status status = kf_curvature_close(curvature, task);
    return status == KEEPFIT_OK ? kf_curvature_inherit(curvature, task, &heritage) : status;
}

/* All is known that bounds at the anchor need. Points may have come since. */
static void be_certified(struct kf_curvature *curvature, const struct kf_task *task, const struct kf_tracked *tracked)
{
    kf_curvature_mirror(curvature, curvature->hessian.matrix);
    curvature->leverages.later = 0;
    for (size_t j = curvature->points; j < task->problem.points.count; j++)
        curvature->leverages.later = fmax(curvature->leverages.later, kf_leverage(curvature, &task->problem, j));
    curvature->measuring = false;
    curvature->certified = true;
    kf_curvature_move(curvature, task, tracked);
}

static bool reserve_leverages(struct kf_curvature *curvature)
{
    return reserve_columns(curvature) &&
           KF_RESERVE(curvature->leverages.of, curvature->leverages.capacity, curvature->points);
}

bool kf_curvature_certify(struct kf_curvature *curvature, struct kf_task *task, const struct kf_tracked *tracked,
                          double target)
{
    if (!has_room(task, reserve_leverages(curvature)))
        return false;
    curvature->leverages.largest = 0;
    kf_spend(&task->stage, (0.15 * (double)curvature->hessian.size + 5) *
                               (double)(curvature->hessian.size * curvature->hessian.size));
    bool found = kf_concordance(&task->problem) > 0 ? kf_leverages_find(curvature, task, target)
                                                    : kf_curvature_invert(curvature);
    if (found && !has_room(task, kf_reach_find(curvature, task, target)))
        found = false;
    if (found)
        be_certified(curvature, task, tracked);
    else
        curvature->leverages.known = 0;
    return found;
}

bool kf_curvature_begin_measuring(struct kf_curvature *curvature, struct kf_task *task)
{
    if (!has_room(task, reserve_leverages(curvature)) || !kf_curvature_invert(curvature))
        return false;
    memset(curvature->leverages.of, 0, curvature->points * sizeof *curvature->leverages.of);
    curvature->leverages.known = 0;
    curvature->measuring = true;
    return true;
}

void kf_curvature_end_measuring(struct kf_curvature *curvature, const struct kf_task *task,
                                const struct kf_tracked *tracked)
{
    curvature->leverages.largest = 0;
    for (size_t j = 0; j < curvature->points; j++)
        curvature->leverages.largest = fmax(curvature->leverages.largest, curvature->leverages.of[j]);
    curvature->leverages.reach = sqrt(curvature->leverages.largest);
    curvature->leverages.inflation = 1;
    curvature->leverages.measured = curvature->weight;
    be_certified(curvature, task, tracked);
}

/* ---- using it ---- */

void kf_curvature_times(const struct kf_curvature *curvature, const double *matrix, const double *v, double *out)
{
    kf_symmetric_times(curvature->hessian.size, matrix, curvature->hessian.capacity, v, out);
}

/* Both the product's rounding and H's own are at most gamma (sum |v_k| sqrt(H_kk))^2. */
double kf_curvature_length(const struct kf_curvature *curvature, const double *v)
{
    double *bent = kf_curvature_scratch(curvature, 1), sizes = 0;
    kf_curvature_times(curvature, curvature->hessian.matrix, v, bent);
    for (size_t k = 0; k < curvature->hessian.size; k++)
        sizes += fabs(v[k]) * sqrt(curvature->hessian.peak[k]);
    double off = kf_gamma(curvature->hessian.operations + 2 * (double)curvature->hessian.size + 32) * sizes * sizes;
    return sqrt((fmax(kf_dot(curvature->hessian.size, v, bent), 0) + off) / (1 - curvature->hessian.slack)) * KF_UPWARD;
}

/* out = H^-1 v, and by how much times its width each number may be off: gamma sum |M_kl| |v_l|, |M_kl| <= width_k width_l. Returns |v|_{H^-1}. */
static double bend_vector(const struct kf_curvature *curvature, const double *v, double *out, double *off)
{
    double sizes = 0, gamma = kf_gamma((double)curvature->hessian.size + 8);
    kf_curvature_times(curvature, curvature->hessian.inverse, v, out);
    for (size_t k = 0; k < curvature->hessian.size; k++)
        sizes += curvature->hessian.width[k] * fabs(v[k]);
    *off = gamma * sizes * KF_UPWARD;
    return sqrt(fmax(kf_dot(curvature->hessian.size, v, out), 0) + 2 * gamma * sizes * sizes) * KF_UPWARD;
}

void kf_curvature_move(struct kf_curvature *curvature, const struct kf_task *task, const struct kf_tracked *tracked)
{
    if (!curvature->certified)
        return;
    size_t size = curvature->hessian.size, free = task->problem.objective.free;
    double *delta = kf_curvature_scratch(curvature, 0);
    for (size_t k = 0; k < size; k++)
        delta[k] = task->iterate.x[k] - curvature->anchor[k];
    double moved = sqrt(curvature->leverages.largest) * kf_curvature_length(curvature, delta);
    curvature->since.stretch = curvature->since.before + moved;
    curvature->since.rough = moved > STRETCH_ROUGH;
    kf_copy(&task->problem, delta, task->iterate.x);
    memset(delta, 0, free * sizeof *delta);
    curvature->followed.x_length = bend_vector(curvature, delta, curvature->followed.at_x, &curvature->followed.x_off);
    curvature->followed.sum_length =
        bend_vector(curvature, tracked->sum, curvature->followed.at_sum, &curvature->followed.sum_off);
    double blur = kf_score_rounding(&task->problem.objective, kf_score_most(&task->problem.objective, task->iterate.x));
    curvature->since.blur = fmax(curvature->since.blur, blur);
}

bool kf_curvature_refine(struct kf_curvature *curvature, const struct kf_task *task, const double *slopes)
{
    double most;
    if (!curvature->certified || !curvature->since.rough)
        return false;
    if (slopes) {
        kf_curvature_error(curvature, &task->problem, slopes, NULL, &most);
    } else {
        double *delta = kf_curvature_scratch(curvature, 0);
        for (size_t k = 0; k < curvature->hessian.size; k++)
            delta[k] = task->iterate.x[k] - curvature->anchor[k];
        most = curvature->since.before + kf_scores_most(curvature, &task->problem, delta);
    }
    curvature->since.stretch = fmin(curvature->since.stretch, most);
    curvature->since.rough = false;
    return true;
}

double kf_curvature_bend(const struct kf_curvature *curvature, const struct kf_problem *problem, const keepfit_row *row,
                         double **bent)
{
    const struct kf_kernels *kernels = problem->objective.kernels;
    double *value = kf_curvature_scratch(curvature, 2), *out = kf_curvature_scratch(curvature, 0), sum = 0;
    uint32_t *index = (uint32_t *)kf_curvature_scratch(curvature, 3);
    size_t count = 0, full = 0;
    *bent = memset(out, 0, curvature->hessian.size * sizeof *out);
    while (!row->index && full < row->count && row->value[full] != 0)
        full++;
    if (!row->index && full == row->count) {
        kernels->combine(row->count, NULL, row->value, curvature->hessian.inverse, curvature->hessian.capacity,
                         curvature->hessian.size, out);
        return kernels->dot(row->count, row->value, out);
    }
    for (size_t e = 0; e < row->count; e++) { /* without zeros, of which full rows may have many */
        index[count] = row->index ? row->index[e] : (uint32_t)e;
        value[count] = row->value[e];
        count += row->value[e] != 0;
    }
    kernels->combine(count, index, value, curvature->hessian.inverse, curvature->hessian.capacity,
                     curvature->hessian.size, out);
    for (size_t e = 0; e < count; e++)
        sum += value[e] * out[index[e]];
    return sum;
}

/* sum |a_k| width_k */
static double size_of_row(const struct kf_curvature *curvature, const keepfit_row *row)
{
    double sizes = 0;
    if (!row->index)
        return kf_kernels_best()->sized_dot(row->count, row->value, curvature->hessian.width).second;
    for (size_t e = 0; e < row->count; e++)
        sizes += fabs(row->value[e]) * curvature->hessian.width[row->index ? row->index[e] : e];
    return sizes;
}

double kf_leverage_upward(const struct kf_curvature *curvature, const keepfit_row *row, double leverage)
{
    double sizes = size_of_row(curvature, row);
    return fmax(leverage, 0) + kf_gamma(2 * (double)row->count + 8) * sizes * sizes;
}

/* The sum changes by factor*a_j: so does what H^-1 makes of it. Returns a_j'H^-1 a_j. */
static double change_sum(struct kf_curvature *curvature, const struct kf_problem *problem, size_t j, double factor)
{
    keepfit_row row = kf_points_row(&problem->points, j);
    double *bent, on_row = kf_curvature_bend(curvature, problem, &row, &bent), sizes = size_of_row(curvature, &row);
    problem->objective.kernels->add(curvature->hessian.size, factor, bent, curvature->followed.at_sum);
    on_row = fmax(on_row, 0) + kf_gamma(2 * (double)row.count + 8) * sizes * sizes;
    curvature->followed.sum_length += fabs(factor) * sqrt(on_row) * KF_UPWARD;
    curvature->followed.sum_off += fabs(factor) * kf_gamma((double)row.count + 8) * sizes * KF_UPWARD +
                                   2 * KF_UNIT * curvature->followed.sum_length;
    return on_row;
}

void kf_curvature_leave(struct kf_curvature *curvature, struct kf_task *task, size_t j, double factor)
{
    if (!curvature->anchored && !curvature->gathering)
        return; /* as it is for objectives without a loss, whose curvature is not known */
    bool inside = j < curvature->points;
    bool has_marks = kf_concordance(&task->problem) > 0;
    if (curvature->certified || curvature->measuring) {
        double leverage = curvature->certified ? change_sum(curvature, &task->problem, j, -factor)
                                               : kf_leverage(curvature, &task->problem, j);
        if (inside && !(has_marks && curvature->leverages.of[j] < 0))
            curvature->since.lost +=
                curvature->curves.of[j] / curvature->weight * leverage / (1 - curvature->hessian.slack) * KF_UPWARD;
        if (!(curvature->since.lost < 1))
            curvature->certified = curvature->measuring = false;
    }
    if (j < listed(curvature))
        kf_points_close_gap(curvature->leverages.of, listed(curvature), 1, j);
    curvature->leverages.known -= j < curvature->leverages.known;
    if (!inside)
        return;
    if (curvature->gathering) {
        kf_hessian_note_peaks(curvature);
        kf_hessian_take_out(&curvature->curves, &task->problem, j, 1, curvature->hessian.matrix,
                            curvature->hessian.capacity);
        curvature->hessian.operations++;
    }
    kf_points_close_gap(curvature->curves.of, curvature->points, 1, j);
    curvature->points--;
    curvature->anchored &= curvature->certified || curvature->measuring; /* what is neither can no longer be */
}

bool kf_curvature_take(struct kf_curvature *curvature, struct kf_task *task, size_t j, double factor)
{
    if ((curvature->anchored || curvature->gathering) && !follow_size(curvature, &task->problem))
        return false;
    if (!curvature->certified)
        return true;
    kf_spend(&task->stage, 0.3 * (double)(curvature->hessian.size * task->problem.points.place[j].count));
    double leverage = change_sum(curvature, &task->problem, j, factor);
    curvature->leverages.later = fmax(curvature->leverages.later, leverage);
    if (curvature->plain || kf_concordance(&task->problem) == 0 || curvature->leverages.known != j)
        return true;
    if (!KF_RESERVE(curvature->leverages.of, curvature->leverages.capacity, j + 1))
        return false;
    curvature->leverages.of[curvature->leverages.known++] = leverage / curvature->leverages.inflation;
    return true;
}

void kf_curvature_solve(const struct kf_curvature *curvature, double *v)
{
    kf_cholesky_solve(curvature->hessian.size, curvature->hessian.factor, curvature->hessian.capacity, v);
}

void kf_curvature_step(const struct kf_curvature *curvature, const double *gradient, double *direction)
{
    for (size_t k = 0; k < curvature->hessian.size; k++)
        direction[k] = -gradient[k];
    kf_curvature_solve(curvature, direction);
}
