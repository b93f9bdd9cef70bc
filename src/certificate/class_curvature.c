#include "certificate/class_curvature.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "certificate/internal.h"
#include "kernels/dense.h"
#include "kernels/exponential.h"
#include "kernels/kernels.h"
#include "optimum/products.h"
#include "problem/costs.h"

/* More coordinates are not worth their square a point. */
#define SIZE_MOST 128   /* safety: room on the stack */
#define CLASSES_MOST 32 /* safety: room on the stack */
/* M is made anew, where it does not do, when the weight has grown by more, or as much of it has left. */
#define GROWTH_MOST 1.1 /* speed: bench/tuning.md */
/* Vectors behind M: widths, and two to work with. */
#define VECTORS 3 /* safety: room */

void kf_class_curvature_free(struct kf_class_curvature *classes)
{
    free(classes->inverse);
    *classes = (struct kf_class_curvature){0};
}

bool kf_class_curvature_suit(const struct kf_problem *problem)
{
    return kf_products_suit(problem) && problem->objective.loss->range_concordance > 0 &&
           problem->objective.outputs <= CLASSES_MOST && kf_size(problem) <= SIZE_MOST &&
           problem->options->guarantee == KF_GUARANTEE_PROVED;
}

bool kf_class_curvature_serve(const struct kf_class_curvature *classes, const struct kf_problem *problem)
{
    return classes->made && classes->here && classes->size == kf_size(problem) &&
           problem->objective.weight_total <= GROWTH_MOST * classes->weight && classes->lost <= GROWTH_MOST - 1;
}

static bool reserve(struct kf_class_curvature *classes, size_t size)
{
    bool there = KF_RESERVE(classes->inverse, classes->capacity, (size + VECTORS) * size);
    classes->width = there ? classes->inverse + size * size : NULL;
    return there;
}

void kf_class_curvature_archive(struct kf_class_curvature *classes, const struct kf_problem *problem,
                                struct kf_archive *archive)
{
    double *reals[] = {&classes->weight, &classes->spread, &classes->least, &classes->blur, &classes->lost};
    kf_archive_flag(archive, &classes->made);
    if (!classes->made)
        return;
    kf_archive_flag(archive, &classes->here);
    kf_archive_count(archive, &classes->size, SIZE_MOST);
    kf_archive_count(archive, &classes->points, problem->points.count);
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++) {
        kf_archive_real(archive, reals[k]);
        kf_archive_require(archive, *reals[k] >= 0);
    }
    size_t numbers = (classes->size + 1) * classes->size;
    kf_archive_require(archive, !archive->reading || kf_archive_holds(archive, numbers));
    if (archive->status == KEEPFIT_OK && archive->reading && !reserve(classes, classes->size))
        archive->status = KEEPFIT_NO_MEMORY;
    if (archive->status == KEEPFIT_OK)
        kf_archive_reals(archive, classes->inverse, numbers);
}

/* ---- S ---- */

/* The entries of a row from number e on; without an index its first is that of slot e. */
static keepfit_row rest_from(const keepfit_row *row, size_t e)
{
    return (keepfit_row){row->count - e, row->index ? row->index + e : NULL, row->value + e};
}

/* S += C (x) row row', in its lower triangle; C of outputs^2 numbers. */
static void add_point(const struct kf_objective *objective, const keepfit_row *row, const double *curve, double *matrix,
                      size_t size)
{
    size_t outputs = objective->outputs;
    for (size_t e = 0; e < row->count; e++) {
        keepfit_row rest = rest_from(row, e);
        double *column = matrix + (row->index ? row->index[e] : e) * outputs * size + (row->index ? 0 : e * outputs);
        for (size_t k = 0; k < outputs; k++)
            objective->kernels->outer(rest.count, rest.index, rest.value, row->value[e], curve + k * outputs, outputs,
                                      column + k * size);
    }
}

/* The points' part. squares: sum w a^2 in each coordinate. */
static void sum_points(struct kf_class_curvature *classes, const struct kf_problem *problem, const double *slopes,
                       double *squares)
{
    const struct kf_objective *objective = &problem->objective;
    size_t outputs = objective->outputs, size = classes->size;
    double curve[CLASSES_MOST * CLASSES_MOST];
    memset(classes->inverse, 0, size * size * sizeof *classes->inverse);
    memset(squares, 0, size * sizeof *squares);
    for (size_t j = 0; j < problem->points.count; j++) {
        const struct kf_place *place = &problem->points.place[j];
        keepfit_row row = kf_points_row(&problem->points, j);
        if (!(place->weight > 0))
            continue;
        objective->loss->curve_of(slopes + j * outputs, outputs, place->target, place->weight, curve);
        add_point(objective, &row, curve, classes->inverse, size);
        for (size_t e = 0; e < row.count; e++)
            for (size_t k = 0, at = (row.index ? row.index[e] : e) * outputs; k < outputs; k++)
                squares[at + k] += place->weight * row.value[e] * row.value[e];
    }
}

/* The regulariser's part; and something in the directions that are the same for all classes, as much as the others have in the mean. */
static void add_rest(struct kf_class_curvature *classes, const struct kf_objective *objective)
{
    size_t size = classes->size, outputs = objective->outputs;
    for (size_t k = objective->free; k < size; k++)
        classes->inverse[k * size + k] += 2 * objective->lambda * objective->weight_total;
    for (size_t slot = 0; slot < size; slot += outputs) {
        double *block = classes->inverse + slot * size + slot, trace = 0;
        for (size_t k = 0; k < outputs; k++)
            trace += block[k * size + k];
        for (size_t k = 0; k < outputs; k++)
            for (size_t l = k; l < outputs; l++)
                block[k * size + l] += trace / (double)(outputs * outputs);
    }
}

/* M from S. What rounding may have done to S is taken off it first: to the sums; and to the curvatures, whose numbers are off by so many units
 * times the weight, which a row with n entries makes n times the squares of these of, in the direction of each. False: there is none. */
static bool invert(struct kf_class_curvature *classes, const struct kf_problem *problem, const double *squares)
{
    const struct kf_objective *objective = &problem->objective;
    size_t size = classes->size;
    double *diagonal = classes->width + size, *margin = classes->width + 2 * size;
    double outputs = (double)objective->outputs, points = (double)problem->points.count;
    double units =
        outputs * (4 * outputs + 24) * KF_UNIT * (double)(objective->longest + 1) * (1 + kf_gamma(points + 16));
    struct kf_square square = {classes->inverse, size, size};
    for (size_t k = 0; k < size; k++) {
        diagonal[k] = classes->inverse[k * size + k];
        if (!(diagonal[k] > 0 && isfinite(diagonal[k] + squares[k])))
            return false;
        margin[k] = kf_margin(size, points + 16, diagonal[k]) + units * squares[k] * KF_UPWARD;
    }
    if (!kf_verified_factor(&square, margin))
        return false;
    classes->least = 1 - kf_verified_inverse(&square, diagonal);
    for (size_t k = 0; k < size; k++)
        classes->width[k] = sqrt(classes->inverse[k * size + k]) * KF_UPWARD;
    return classes->least > 0;
}

/* ---- how far scores move ---- */

/* |(e_k - e_l) (x) row|^2_M for all k > l, at apart[k * outputs + l], or a little more. Entries that M has no place for have no part. */
static void measure_row(const struct kf_class_curvature *classes, const struct kf_objective *objective,
                        const keepfit_row *row, double *apart)
{
    const struct kf_kernels *kernels = objective->kernels;
    size_t outputs = objective->outputs, size = classes->size;
    double bent[SIZE_MOST], sizes[CLASSES_MOST] = {0},
                            gamma = kf_gamma((double)row->count * (double)row->count + 16) * KF_UPWARD;
    memset(apart, 0, outputs * outputs * sizeof *apart);
    for (size_t e = 0; e < row->count; e++)
        for (size_t k = 0, from = (row->index ? row->index[e] : e) * outputs; k < outputs; k++)
            sizes[k] += fabs(row->value[e]) * classes->width[from + k];
    for (size_t k = 0; k < outputs; k++) {
        memset(bent, 0, size * sizeof *bent);
        kernels->combine(row->count, row->index, row->value, classes->inverse + k * size, outputs * size, size, bent);
        kernels->combine(row->count, row->index, row->value, bent, outputs, outputs, apart + k * outputs);
    }
    for (size_t k = 0; k < outputs; k++)
        for (size_t l = 0; l < k; l++) {
            double own =
                apart[k * outputs + k] + apart[l * outputs + l] - apart[k * outputs + l] - apart[l * outputs + k];
            apart[k * outputs + l] = fmax(own, 0) + gamma * (sizes[k] + sizes[l]) * (sizes[k] + sizes[l]);
        }
}

static double find_spread(const struct kf_class_curvature *classes, const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    size_t outputs = objective->outputs;
    double apart[CLASSES_MOST * CLASSES_MOST], most = 0;
    for (size_t j = 0; j < problem->points.count; j++) {
        keepfit_row row = kf_points_row(&problem->points, j);
        if (!(problem->points.place[j].weight > 0))
            continue;
        measure_row(classes, objective, &row, apart);
        for (size_t k = 0; k < outputs; k++)
            for (size_t l = 0; l < k; l++)
                most = fmax(most, apart[k * outputs + l]);
    }
    return most * KF_UPWARD;
}

/* A point's part of S, and how far its scores move; a factor and its inverse. */
static double cost_of_gathering(const struct kf_problem *problem)
{
    double size = (double)kf_size(problem), entries = kf_entries_of_row(problem) * (double)problem->objective.outputs;
    return (double)problem->points.count * (KF_COST_SQUARE + KF_COST_FULL * entries * entries) + kf_cost_factor(size) +
           kf_cost_inverse(size);
}

void kf_class_curvature_gather(struct kf_class_curvature *classes, struct kf_task *task, const double *slopes)
{
    const struct kf_problem *problem = &task->problem;
    const struct kf_objective *objective = &problem->objective;
    double squares[SIZE_MOST];
    classes->made = classes->here = false;
    if (!reserve(classes, kf_size(problem))) {
        task->problem.objective.memory_failed = true;
        return;
    }
    kf_spend(&task->stage, cost_of_gathering(problem));
    classes->size = kf_size(problem);
    classes->points = problem->points.count;
    classes->weight = objective->weight_total;
    classes->lost = 0;
    sum_points(classes, problem, slopes, squares);
    add_rest(classes, objective);
    if (!invert(classes, problem, squares))
        return;
    double blur = kf_score_rounding(objective, kf_score_most(objective, task->iterate.x));
    classes->blur = kf_exp_any(2 * blur) * KF_UPWARD;
    classes->spread = find_spread(classes, problem);
    classes->made = classes->here = true;
}

void kf_class_curvature_leave(struct kf_class_curvature *classes, const struct kf_problem *problem, size_t j,
                              const double *slopes)
{
    const struct kf_objective *objective = &problem->objective;
    const struct kf_place *place = &problem->points.place[j];
    size_t outputs = objective->outputs;
    double curve[CLASSES_MOST * CLASSES_MOST], apart[CLASSES_MOST * CLASSES_MOST];
    if (!classes->made || j >= classes->points)
        return;
    classes->points--;
    if (!classes->here || !(place->weight > 0))
        return;
    if (classes->size != kf_size(problem) || !slopes) {
        classes->here = false;
        return;
    }
    /* C = sum over k > l of p_k p_l (e_k - e_l)(e_k - e_l)', so a trace is a sum of these. */
    keepfit_row row = kf_points_row(&problem->points, j);
    double units = (4 * (double)outputs + 24) * KF_UNIT * place->weight, share = 0;
    objective->loss->curve_of(slopes + j * outputs, outputs, place->target, place->weight, curve);
    measure_row(classes, objective, &row, apart);
    for (size_t k = 0; k < outputs; k++)
        for (size_t l = 0; l < k; l++)
            share += (fmax(-curve[k * outputs + l], 0) + units) * apart[k * outputs + l];
    classes->lost += share * classes->blur * KF_UPWARD;
}

/* ---- using it ---- */

/* |gradient|^2_M, or a little more, where each number may be off by that of `doubt`. */
static double length_of(struct kf_class_curvature *classes, const double *gradient, const double *doubt)
{
    size_t size = classes->size;
    double *bent = classes->width + size, sizes = 0, off = 0;
    kf_symmetric_times(size, classes->inverse, size, gradient, bent);
    for (size_t k = 0; k < size; k++) {
        sizes += classes->width[k] * fabs(gradient[k]);
        off += classes->width[k] * doubt[k];
    }
    double square = fmax(kf_dot(size, gradient, bent), 0) + kf_gamma(2 * (double)size + 8) * sizes * sizes;
    return (sqrt(square) + off) * (1 + kf_gamma((double)size + 16));
}

/* lambda |.|^2 of what x has the same for all classes, or a little more: that much better is x without it. */
static double gauge_of(const struct kf_problem *problem, const double *x)
{
    const struct kf_objective *objective = &problem->objective;
    size_t outputs = objective->outputs, size = kf_size(problem);
    double square = 0;
    for (size_t at = objective->free; at < size; at += outputs) {
        double sum = 0, sizes = 0;
        for (size_t k = 0; k < outputs; k++) {
            sum += x[at + k];
            sizes += fabs(x[at + k]);
        }
        double most = fabs(sum) + kf_gamma((double)outputs + 8) * sizes;
        square += most * most / (double)outputs;
    }
    return objective->lambda * square * (1 + kf_gamma((double)size + 16));
}

double kf_class_curvature_bound(struct kf_class_curvature *classes, const struct kf_problem *problem, const double *x,
                                const double *gradient, const double *doubt)
{
    if (!classes->made || !classes->here || classes->size != kf_size(problem))
        return INFINITY;
    double concordance = problem->objective.loss->range_concordance, weight = problem->objective.weight_total;
    double c = (classes->least / classes->blur - classes->lost) / fmax(weight, classes->weight) / KF_UPWARD;
    double length = length_of(classes, gradient, doubt);
    double t = c > 0 ? concordance * sqrt(classes->spread) * length / c * KF_UPWARD : INFINITY;
    if (!(t < 1))
        return INFINITY;
    double bound = length * length / (2 * c) * kf_concordant_excess(t);
    return (bound + gauge_of(problem, x)) * KF_UPWARD + KF_UNDERFLOW;
}

double kf_class_curvature_aim(const struct kf_class_curvature *classes, const struct kf_problem *problem,
                              const double *x, const double *gradient, double *direction)
{
    size_t size = kf_size(problem);
    if (!classes->made || classes->size != size)
        return NAN;
    kf_symmetric_times(size, classes->inverse, size, gradient, direction);
    kf_scale(size, -fmax(classes->weight, problem->objective.weight_total), direction);
    kf_products_gauge(&problem->objective, x, direction);
    return -kf_dot(size, gradient, direction);
}
