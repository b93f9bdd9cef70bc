/* All of H, for as many coordinates as d^2 numbers can be kept for. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "certificate/internal.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"

#define SIZE_MOST 1500                   /* safety: 18 MB a matrix, 1e9 operations a factor */
#define NAMED_VECTORS 2                  /* safety: room; counted below */
#define WORK_VECTORS (NAMED_VECTORS + 4) /* safety: room; kf_hessian_scratch asserts */
/* Of a term w phi'' a_k a_l: the weight, the root and its square, the products, 1/W and what scaling takes. */
#define TERM_OPERATIONS 12 /* proof: "Theorem 21 (verified factor)" */
/* More of H than that is not given away for rounding: nothing is proved. */
#define SLACK_MOST 0.25 /* proof: "Theorem 22 (verified inverse)" */
#define POWER_STEPS 8   /* speed: bench/tuning.md */

static bool dense_suits(const struct kf_problem *problem)
{
    return kf_size(problem) <= SIZE_MOST;
}

/* ---- room ---- */

/* Moves a matrix to a larger leading dimension; new rows and columns are 0. */
static bool grow_matrix(double **matrix, size_t size, size_t from, size_t to)
{
    assert(size <= from && from <= to);
    double *moved = kf_allocate_numbers(to * to);
    if (!moved)
        return false;
    for (size_t k = 0; k < size; k++)
        memcpy(moved + k * to, *matrix + k * from, size * sizeof *moved);
    free(*matrix);
    *matrix = moved;
    return true;
}

static void dense_free(struct kf_hessian *hessian)
{
    free(hessian->matrix);
    free(hessian->inverse);
    free(hessian->factor);
    free(hessian->excess);
    free(hessian->work);
    free(hessian->columns);
    *hessian = (struct kf_hessian){.type = hessian->type};
}

double *kf_hessian_scratch(const struct kf_hessian *hessian, size_t k)
{
    assert(k < WORK_VECTORS - NAMED_VECTORS);
    return hessian->work + (NAMED_VECTORS + k) * hessian->capacity;
}

static bool dense_room(struct kf_hessian *hessian, size_t capacity)
{
    size_t old = hessian->capacity;
    assert(capacity >= old && hessian->type == &kf_dense_hessian);
    double *work = kf_allocate_numbers(WORK_VECTORS * capacity);
    if (!work || !grow_matrix(&hessian->matrix, hessian->size, old, capacity) ||
        !grow_matrix(&hessian->inverse, hessian->size, old, capacity) ||
        !grow_matrix(&hessian->factor, hessian->size, old, capacity) ||
        !grow_matrix(&hessian->excess, 0, old, capacity) ||
        !KF_RESERVE(hessian->columns, hessian->columns_capacity, 2 * KF_COLUMNS * (capacity + 1))) {
        free(work);
        dense_free(hessian);
        return false;
    }
    for (size_t k = 0; k < WORK_VECTORS && old; k++)
        memcpy(work + k * capacity, hessian->work + k * old, hessian->size * sizeof *work);
    free(hessian->work);
    hessian->work = work;
    hessian->capacity = capacity;
    hessian->width = work;
    hessian->peak = work + capacity;
    return true;
}

static void dense_widen(struct kf_hessian *hessian, size_t size, double ridge, bool gathering)
{
    size_t stride = hessian->capacity;
    assert(size >= hessian->size && size <= stride);
    for (size_t k = hessian->size; k < size; k++) {
        hessian->matrix[k * stride + k] = gathering ? 0 : ridge;
        hessian->inverse[k * stride + k] = 1 / ridge;
        hessian->factor[k * stride + k] = sqrt(ridge);
        for (size_t v = 0; v < WORK_VECTORS; v++)
            hessian->work[v * stride + k] = 0;
        hessian->peak[k] = hessian->matrix[k * stride + k];
        hessian->width[k] = sqrt(hessian->inverse[k * stride + k]) * KF_UPWARD;
    }
    hessian->size = size;
}

/* ---- numbers ---- */

static void copy(const struct kf_hessian *hessian, const double *from, double *to)
{
    for (size_t k = 0; k < hessian->size; k++)
        memcpy(to + k * hessian->capacity, from + k * hessian->capacity, hessian->size * sizeof *to);
}

static void set_zero(const struct kf_hessian *hessian, double *matrix)
{
    for (size_t k = 0; k < hessian->size; k++)
        memset(matrix + k * hessian->capacity, 0, hessian->size * sizeof *matrix);
}

double kf_hessian_trace(const struct kf_hessian *hessian)
{
    double trace = 0;
    for (size_t k = 0; k < hessian->size; k++)
        trace += kf_hessian_diagonal(hessian, k);
    return trace;
}

double kf_hessian_margin(const struct kf_hessian *hessian, size_t k)
{
    return kf_margin(hessian->size, hessian->operations + TERM_OPERATIONS, hessian->peak[k]);
}

void kf_hessian_note_peaks(struct kf_hessian *hessian)
{
    for (size_t k = 0; k < hessian->size; k++)
        hessian->peak[k] = fmax(hessian->peak[k], kf_hessian_diagonal(hessian, k));
}

double kf_hessian_size_of_row(const struct kf_hessian *hessian, const keepfit_row *row)
{
    double sizes = 0;
    if (!row->index)
        return kf_kernels_best()->sized_dot(row->count, row->value, hessian->width).second;
    for (size_t e = 0; e < row->count; e++)
        sizes += fabs(row->value[e]) * hessian->width[row->index[e]];
    return sizes;
}

/* ---- making it ---- */

static void dense_clear(struct kf_hessian *hessian)
{
    set_zero(hessian, hessian->matrix);
    memset(hessian->peak, 0, hessian->size * sizeof *hessian->peak);
    hessian->operations = hessian->slack = 0;
}

static bool dense_gather(struct kf_hessian *hessian, struct kf_curves *curves, struct kf_task *task, const double *x,
                         const double *slopes, size_t from, size_t to)
{
    if (!kf_hessian_add(curves, task, x, slopes, from, to, hessian->matrix, hessian->capacity))
        return false;
    kf_spend(&task->stage, kf_cost_squares(&task->problem, (double)(to - from)));
    hessian->operations += (double)(to - from);
    return true;
}

static bool dense_close(struct kf_hessian *hessian, const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    double mean = kf_inverse_weight(objective);
    for (size_t k = 0; k < hessian->size; k++) {
        double *column = hessian->matrix + k * hessian->capacity;
        hessian->peak[k] *= mean;
        kf_scale(hessian->size - k, mean, column + k);
        column[k] += k < objective->free ? 0 : 2 * objective->lambda;
    }
    kf_hessian_note_peaks(hessian);
    copy(hessian, hessian->matrix, hessian->factor);
    return kf_cholesky(hessian->size, hessian->factor, hessian->capacity);
}

static void dense_reopen(struct kf_hessian *hessian, const struct kf_problem *problem, double weight, double ridge)
{
    for (size_t k = 0; k < hessian->size; k++) {
        double *column = hessian->matrix + k * hessian->capacity;
        column[k] -= k < problem->objective.free ? 0 : ridge;
        kf_scale(hessian->size - k, weight, column + k);
    }
    hessian->operations += 4; /* the mean and the ridge, and back */
}

static bool dense_assemble(struct kf_hessian *hessian, struct kf_curves *curves, const struct kf_problem *problem,
                           const double *of, size_t count, double weight, double ridge)
{
    set_zero(hessian, hessian->matrix);
    memset(hessian->peak, 0, hessian->size * sizeof *hessian->peak);
    if (!kf_hessian_add_known(curves, problem, of, count, 1 / weight, hessian->matrix, hessian->capacity))
        return false;
    for (size_t k = problem->objective.free; k < hessian->size; k++)
        hessian->matrix[k * hessian->capacity + k] += ridge;
    hessian->operations = (double)count;
    return true;
}

static void dense_take_out(struct kf_hessian *hessian, const struct kf_curves *curves, const struct kf_problem *problem,
                           size_t j, double scale)
{
    kf_hessian_take_out(curves, problem, j, scale, hessian->matrix, hessian->capacity);
    hessian->operations += TERM_OPERATIONS; /* its term is made in another way than when it came */
}

/* ---- what is made of it ---- */

static void dense_step(const struct kf_hessian *hessian, double *v)
{
    kf_cholesky_solve(hessian->size, hessian->factor, hessian->capacity, v);
}

/* One triangle's numbers go to the other. */
static void mirror(const struct kf_hessian *hessian, double *matrix)
{
    for (size_t k = 0; k < hessian->size; k++)
        for (size_t l = k + 1; l < hessian->size; l++)
            matrix[l * hessian->capacity + k] = matrix[k * hessian->capacity + l];
}

static bool dense_invert(struct kf_hessian *hessian)
{
    double *margin = kf_hessian_scratch(hessian, 0), *diagonal = kf_hessian_scratch(hessian, 1);
    double share = kf_margin(hessian->size, (double)hessian->size + 8, 1), ratio = share, trace = 0;
    struct kf_square inverse = kf_like_hessian(hessian, hessian->inverse);
    kf_hessian_note_peaks(hessian);
    copy(hessian, hessian->matrix, hessian->inverse);
    for (size_t k = 0; k < hessian->size; k++) {
        diagonal[k] = kf_hessian_diagonal(hessian, k);
        margin[k] = kf_hessian_margin(hessian, k);
        ratio = fmax(ratio, margin[k] / diagonal[k] + share);
    }
    if (!kf_verified_factor(&inverse, margin))
        return false;
    double apart = kf_verified_inverse(&inverse, diagonal);
    if (!(apart < SLACK_MOST))
        return false;
    for (size_t k = 0; k < hessian->size; k++) {
        double own = hessian->inverse[k * hessian->capacity + k];
        hessian->width[k] = sqrt(own) * KF_UPWARD;
        trace += diagonal[k] * own * KF_UPWARD;
    }
    mirror(hessian, hessian->matrix);
    /* LL' is less than H by no more than twice what was taken off the diagonal, ratio diag(H), and diag(H) <= trace LL'. */
    hessian->slack = apart + 2 * ratio * trace / (1 - apart) + 8 * KF_UNIT;
    return hessian->slack < SLACK_MOST;
}

static void dense_times(const struct kf_hessian *hessian, const double *v, double *out)
{
    kf_symmetric_times(hessian->size, hessian->matrix, hessian->capacity, v, out);
}

static void dense_times_inverse(const struct kf_hessian *hessian, const double *v, double *out)
{
    kf_symmetric_times(hessian->size, hessian->inverse, hessian->capacity, v, out);
}

static double dense_bend(const struct kf_hessian *hessian, const struct kf_kernels *kernels, const keepfit_row *row,
                         double **bent)
{
    double *value = kf_hessian_scratch(hessian, 2), *out = kf_hessian_scratch(hessian, 0), sum = 0;
    uint32_t *index = (uint32_t *)kf_hessian_scratch(hessian, 3);
    size_t count = 0, full = 0;
    *bent = memset(out, 0, hessian->size * sizeof *out);
    while (!row->index && full < row->count && row->value[full] != 0)
        full++;
    if (!row->index && full == row->count) {
        kernels->combine(row->count, NULL, row->value, hessian->inverse, hessian->capacity, hessian->size, out);
        return kernels->dot(row->count, row->value, out);
    }
    for (size_t e = 0; e < row->count; e++) { /* without zeros, of which full rows may have many */
        index[count] = row->index ? row->index[e] : (uint32_t)e;
        value[count] = row->value[e];
        count += row->value[e] != 0;
    }
    kernels->combine(count, index, value, hessian->inverse, hessian->capacity, hessian->size, out);
    for (size_t e = 0; e < count; e++)
        sum += value[e] * out[index[e]];
    return sum;
}

static double dense_leverage(const struct kf_hessian *hessian, const struct kf_kernels *kernels, const keepfit_row *row)
{
    double *unused;
    return dense_bend(hessian, kernels, row, &unused);
}

static void dense_leverages(const struct kf_hessian *hessian, size_t count, double *leverages)
{
    size_t size = hessian->size;
    double *columns = hessian->columns, *bent = columns + KF_COLUMNS * size;
    kf_matrix_times_columns(size, hessian->inverse, hessian->capacity, count, columns, bent);
    for (size_t b = 0; b < count; b++)
        leverages[b] = kf_dot(size, columns + b * size, bent + b * size);
}

/* ---- comparing two ---- */

/* The inverse is not needed while a new H is made: the one before takes its place. */
static void dense_put_by(struct kf_hessian *hessian)
{
    copy(hessian, hessian->matrix, hessian->inverse);
}

/* The largest eigenvalue of H^-1 (the one before), or a little less: some steps of the power method. */
static double outgrowth(const struct kf_hessian *hessian)
{
    size_t size = hessian->size;
    double *v = kf_hessian_scratch(hessian, 0), *bent = kf_hessian_scratch(hessian, 1), length = 0, largest = 0;
    for (size_t k = 0; k < size; k++)
        v[k] = (k * 5 % 8 < 4 ? 1 : -1) / sqrt(kf_hessian_diagonal(hessian, k));
    for (int step = 0; step < POWER_STEPS; step++) {
        dense_times_inverse(hessian, v, bent);
        if (step > 0)
            largest = fmax(largest, kf_dot(size, v, bent) / length);
        memcpy(v, bent, size * sizeof *v);
        dense_step(hessian, v);
        length = kf_dot(size, v, bent);
    }
    return largest;
}

/* Whether `times` H is more than the one before. */
static bool outweighs(struct kf_hessian *hessian, double margin_before, double times)
{
    double *margin = kf_hessian_scratch(hessian, 0);
    for (size_t k = 0; k < hessian->size; k++) {
        const double *here = hessian->matrix + k * hessian->capacity,
                     *before = hessian->inverse + k * hessian->capacity;
        double *column = hessian->excess + k * hessian->capacity;
        for (size_t l = k; l < hessian->size; l++)
            column[l] = times * here[l] - before[l];
        margin[k] = times * kf_hessian_margin(hessian, k) + margin_before * before[k];
    }
    struct kf_square difference = kf_like_hessian(hessian, hessian->excess);
    return kf_verified_factor(&difference, margin);
}

static double dense_compare(struct kf_hessian *hessian, double margin_before)
{
    /* A try takes a fraction of what the power method does. */
    static const double margins[] = {1.03, 1.08, 1.2}; /* speed: bench/tuning.md */
    double times = outgrowth(hessian);
    for (size_t k = 0; k < sizeof margins / sizeof margins[0]; k++)
        if (outweighs(hessian, margin_before, margins[k] * times))
            return 1 / (margins[k] * times * KF_UPWARD);
    return 0;
}

/* ---- as bytes ---- */

static void archive_matrix(struct kf_hessian *hessian, double *matrix, struct kf_archive *archive)
{
    for (size_t k = 0; k < hessian->size && archive->status == KEEPFIT_OK; k++)
        kf_archive_reals(archive, matrix + k * hessian->capacity, hessian->size);
}

static void dense_archive(struct kf_hessian *hessian, bool factor, bool matrix, bool inverse,
                          struct kf_archive *archive)
{
    if (archive->version >= KF_VERSION_WITH_ROUNDING)
        kf_archive_reals(archive, hessian->peak, hessian->size);
    for (size_t k = 0; k < hessian->size && archive->status == KEEPFIT_OK; k++)
        kf_archive_require(archive, !(hessian->peak[k] < 0));
    if (factor)
        archive_matrix(hessian, hessian->factor, archive);
    if (matrix)
        archive_matrix(hessian, hessian->matrix, archive);
    if (inverse) {
        archive_matrix(hessian, hessian->inverse, archive);
        if (archive->version >= KF_VERSION_WITH_ROUNDING)
            kf_archive_reals(archive, hessian->width, hessian->size);
    }
}

const struct kf_hessian_type kf_dense_hessian = {
    .name = "dense",
    .suits = dense_suits,
    .room = dense_room,
    .widen = dense_widen,
    .clear = dense_clear,
    .gather = dense_gather,
    .close = dense_close,
    .reopen = dense_reopen,
    .assemble = dense_assemble,
    .take_out = dense_take_out,
    .step = dense_step,
    .invert = dense_invert,
    .times = dense_times,
    .times_inverse = dense_times_inverse,
    .bend = dense_bend,
    .leverage = dense_leverage,
    .leverages = dense_leverages,
    .put_by = dense_put_by,
    .compare = dense_compare,
    .find_reach = kf_dense_find_reach,
    .archive = dense_archive,
    .free = dense_free,
};
