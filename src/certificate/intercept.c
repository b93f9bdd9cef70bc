#include "certificate/intercept.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/logarithm.h"
#include "base/memory.h"
#include "certificate/internal.h"
#include "kernels/dense.h"
#include "kernels/exponential.h"
#include "kernels/kernels.h"

/* More classes are not worth C^3. */
#define CLASSES_MOST 256 /* safety: C^3 operations for each H */
/* Nor are more features worth the squares of their number. */
#define MOMENT_MOST 512 /* safety: d^2 numbers and operations a point */
/* Beyond it H has been lost to rounding. */
#define RANGE_MOST 1e10 /* safety: 6 digits of 16 are left */
/* H is not taken for what rounding may have made more than this share of. */
#define SLACK_MOST 0.25 /* proof: "Theorem 22 (verified inverse)" */
/* What a number of one point's curvature, p(1-p) or the product of two, may be off by. */
static double units_of_curve(size_t outputs)
{
    return (4 * (double)outputs + 24) * KF_UNIT;
}

/* Behind the inverse there is room for the curvature of a point, or two numbers a class. */
static size_t room_for(size_t outputs)
{
    return 2 * outputs * outputs + 2 * outputs + 2;
}

void kf_intercept_free(struct kf_intercept *intercept)
{
    free(intercept->inverse);
    free(intercept->centre);
    free(intercept->shifted);
    *intercept = (struct kf_intercept){0};
}

static void archive_centre(struct kf_intercept *intercept, const struct kf_problem *problem, struct kf_archive *archive)
{
    kf_archive_count(archive, &intercept->centre_count, problem->objective.slots);
    if (archive->status == KEEPFIT_OK)
        kf_archive_array(archive, &intercept->centre, &intercept->centre_capacity, intercept->centre_count);
}

void kf_intercept_archive(struct kf_intercept *intercept, const struct kf_problem *problem, struct kf_archive *archive)
{
    kf_archive_flag(archive, &intercept->known);
    if (!intercept->known)
        return;
    intercept->outputs = problem->objective.outputs;
    kf_archive_require(archive, kf_intercept_suits(problem));
    kf_archive_flag(archive, &intercept->hopeless);
    kf_archive_real(archive, &intercept->weight);
    kf_archive_real(archive, &intercept->range);
    kf_archive_real(archive, &intercept->moment_most);
    if (archive->version >= KF_VERSION_WITH_ROUNDING)
        kf_archive_real(archive, &intercept->upward);
    kf_archive_require(archive, intercept->weight >= 0 && intercept->range >= 0 && intercept->moment_most >= 0);
    if (archive->status == KEEPFIT_OK && archive->reading &&
        !KF_RESERVE(intercept->inverse, intercept->capacity, room_for(intercept->outputs)))
        archive->status = KEEPFIT_NO_MEMORY;
    if (archive->status == KEEPFIT_OK)
        kf_archive_reals(archive, intercept->inverse, intercept->outputs * intercept->outputs);
    if (intercept->outputs > 1 && archive->version >= KF_VERSION_WITH_CLASSES)
        archive_centre(intercept, problem, archive);
}

bool kf_intercept_suits(const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    return objective->free && objective->loss && objective->loss->probabilities && !objective->hidden &&
           objective->lambda > 0 && objective->outputs <= CLASSES_MOST;
}

/* Softmax with one class, whose loss is 0. */
static bool is_constant(const struct kf_objective *objective)
{
    return objective->outputs == 1 && objective->loss->targets == KF_MANY_CLASSES;
}

bool kf_intercept_serves(const struct kf_intercept *intercept, const struct kf_problem *problem)
{
    return is_constant(&problem->objective) ||
           (intercept->known && problem->objective.weight_total <= KF_GROWTH_MOST * intercept->weight);
}

/* The weight of each class; for one score, of the two sides of 0. */
static size_t weigh_classes(const struct kf_problem *problem, double *weights)
{
    size_t outputs = problem->objective.outputs, classes = outputs > 1 ? outputs : 2;
    memset(weights, 0, classes * sizeof *weights);
    for (size_t j = 0; j < problem->points.count; j++) {
        double target = problem->points.place[j].target;
        weights[outputs > 1 ? (size_t)target : target > 0] += problem->points.place[j].weight;
    }
    return classes;
}

static bool lacks_class(const struct kf_problem *problem, double *room)
{
    size_t classes = weigh_classes(problem, room);
    for (size_t k = 0; k < classes; k++)
        if (!(room[k] > 0))
            return true;
    return false;
}

static bool is_astray(const struct kf_intercept *intercept, const struct kf_problem *problem)
{
    return !(problem->objective.weight_total * intercept->range < RANGE_MOST);
}

void kf_intercept_bring_back(const struct kf_intercept *intercept, struct kf_task *task)
{
    if (!intercept->known || intercept->hopeless || !is_astray(intercept, &task->problem))
        return;
    double *weights = intercept->inverse + intercept->outputs * intercept->outputs;
    size_t classes = weigh_classes(&task->problem, weights);
    if (intercept->outputs == 1)
        task->iterate.x[0] = kf_log(weights[1] / weights[0]);
    for (size_t k = 0; k < classes && intercept->outputs > 1; k++)
        task->iterate.x[k] = kf_log(weights[k] / task->problem.objective.weight_total);
}

/* What the curvature of a point's loss is at most, rounding included; its weight is in it. */
static double largest_curve(const struct kf_objective *objective, double weight, const double *curve)
{
    size_t outputs = objective->outputs;
    double most = curve[0];
    for (size_t k = 1; k < outputs; k++)
        most = fmax(most, curve[k * outputs + k]);
    double upward = most + (units_of_curve(outputs) + 0x1p-46) * weight;
    return outputs > 1 ? 2 * upward
                       : upward; /* a row of diag(p) - pp' has p(1-p) on the diagonal, and as much beside it */
}

/* The row without the intercept. */
static keepfit_row rest_of_row(const struct kf_problem *problem, size_t j)
{
    keepfit_row row = kf_points_row(&problem->points, j);
    return (keepfit_row){row.count - 1, row.index ? row.index + 1 : NULL, row.value + 1};
}

/* |row - centre|^2, or a little more. */
static double square_of_rest(const struct kf_intercept *intercept, const keepfit_row *row)
{
    double square = kf_square(row->count, row->value), centre = kf_square(intercept->centre_count, intercept->centre);
    double across = 0, sizes = 0, operations = (double)row->count + (double)intercept->centre_count + 16;
    for (size_t e = 0; e < row->count; e++) {
        size_t feature = row->index ? row->index[e] - 1 : e;
        double product = feature < intercept->centre_count ? row->value[e] * intercept->centre[feature] : 0;
        across += product;
        sizes += fabs(product);
    }
    return fmax(square - 2 * across + centre, 0) + kf_gamma(operations) * (square + 2 * sizes + centre);
}

static double moment_of(const struct kf_intercept *intercept, const struct kf_problem *problem, size_t j,
                        const double *curve)
{
    keepfit_row row = rest_of_row(problem, j);
    double upward = 1 + kf_gamma((double)row.count + 8),
           most = largest_curve(&problem->objective, problem->points.place[j].weight, curve);
    return intercept->centre_count ? most * square_of_rest(intercept, &row) * KF_UPWARD
                                   : most * kf_square(row.count, row.value) * upward;
}

/* Point j's curvature at task->iterate.x, times its weight. */
static void curve_at(struct kf_task *task, size_t j, const double *slopes, double *curve)
{
    struct kf_objective *objective = &task->problem.objective;
    struct kf_view view = kf_dense_view(task->iterate.x);
    if (slopes && objective->outputs == 1) {
        *curve = kf_curve_recalled(&task->problem, j, slopes[j]);
        return;
    }
    const struct kf_place *place = &task->problem.points.place[j];
    if (slopes && objective->loss->curve_of && place->weight > 0) {
        objective->loss->curve_of(slopes + j * objective->outputs, objective->outputs, place->target, place->weight,
                                  curve);
        return;
    }
    objective->type->curve(objective, &view, j, curve);
    kf_scale(objective->outputs * objective->outputs, place->weight, curve);
}

/* A number that no eigenvalue of the matrix exceeds, and that is hardly more than the largest: the fourth root of the sum of their fourth
 * powers. `room` is for two such matrices. */
static double largest_eigenvalue(const double *matrix, size_t size, double *room)
{
    double *both = room, *square = room + size * size, sum = 0;
    for (size_t k = 0; k < size; k++)
        for (size_t l = k; l < size; l++)
            both[k * size + l] = both[l * size + k] = matrix[k * size + l];
    memset(square, 0, size * size * sizeof *square);
    kf_add_squares(size, size, both, size, square, size);
    for (size_t k = 0; k < size; k++)
        for (size_t l = k; l < size; l++)
            sum += (l > k ? 2 : 1) * square[k * size + l] * square[k * size + l];
    return sqrt(sqrt(sum));
}

/* sum |curvature_j| row_j row_j', whose eigenvalues are at most its trace, and mostly much less; made of KF_COLUMNS rows at a time. */
struct moment {
    double *matrix; /* NULL: not asked for; behind it there is room for two such matrices, and the rows */
    double *columns;
    size_t features, count;
    double *mean; /* the rows' sum with the same factors, and theirs */
    double sum;
};

static void add_columns(struct moment *moment)
{
    kf_add_squares(moment->features, moment->count, moment->columns, moment->features, moment->matrix,
                   moment->features);
    moment->count = 0;
}

static void add_to_moment(struct moment *moment, const keepfit_row *row, double curve)
{
    double *column = moment->columns + moment->count * moment->features, root = sqrt(curve);
    if (moment->matrix)
        memset(column, 0, moment->features * sizeof *column);
    for (size_t e = 0; e < row->count; e++) {
        size_t feature = row->index ? row->index[e] - 1 : e;
        moment->mean[feature] += curve * row->value[e];
        if (moment->matrix)
            column[feature] = root * row->value[e];
    }
    moment->sum += curve;
    if (moment->matrix && ++moment->count == KF_COLUMNS)
        add_columns(moment);
}

/* V W where rows are less their mean, which becomes the centre: that of rows as they are, less that of the mean for all of them. What rounding
 * does to the numbers, and the sums made of them, is no more than that share of the trace of rows as they are; nor is what the mean is off
 * by. */
static double centre_moment(struct kf_intercept *intercept, struct moment *moment, double trace, double off)
{
    size_t features = moment->features;
    double square = 0;
    for (size_t k = 0; k < features; k++) {
        intercept->centre[k] = moment->sum > 0 ? moment->mean[k] / moment->sum : 0;
        square += moment->sum * intercept->centre[k] * intercept->centre[k];
    }
    intercept->centre_count = features;
    double most = fmax(trace - square, 0);
    if (moment->matrix) {
        add_columns(moment);
        for (size_t k = 0; k < features; k++)
            for (size_t l = k; l < features; l++)
                moment->matrix[k * features + l] -= moment->sum * intercept->centre[k] * intercept->centre[l];
        most = fmin(most, largest_eigenvalue(moment->matrix, features, moment->matrix + features * features));
    }
    return most + 8 * off;
}

/* The sums over all points; `one` has room for the curvature of one. `moment` is NULL where there is one class. */
static void sum_curves(struct kf_intercept *intercept, struct kf_task *task, const double *slopes, double *one,
                       struct moment *moment)
{
    size_t each = intercept->outputs * intercept->outputs, features = task->problem.objective.slots - 1;
    memset(intercept->inverse, 0, each * sizeof *intercept->inverse);
    intercept->moment_most = 0;
    intercept->centre_count = 0;
    for (size_t j = 0; j < task->problem.points.count; j++) {
        curve_at(task, j, slopes, one);
        kf_add(each, 1, one, intercept->inverse);
        intercept->moment_most += moment_of(intercept, &task->problem, j, one);
        keepfit_row row = rest_of_row(&task->problem, j);
        if (moment)
            add_to_moment(moment, &row,
                          largest_curve(&task->problem.objective, task->problem.points.place[j].weight, one));
    }
    double off = kf_gamma((double)task->problem.points.count + (double)features + 32) * intercept->moment_most;
    intercept->moment_most =
        moment ? centre_moment(intercept, moment, intercept->moment_most, off) : intercept->moment_most + off;
    if (!slopes)
        task->problem.objective.fo += task->problem.points.count;
}

/* The inverse, both triangles. Several classes: shifting all their intercepts changes nothing, so that direction is made up for, and what
 * is asked for later has no part in it. What rounding may have done to the sums, `off` in every direction, is taken away first. Returns the
 * share by which the inverse's own inverse may be more than H; infinite: there is none. */
static double invert(double *matrix, size_t outputs, double operations, double off)
{
    double trace = 0, *margin = matrix + outputs * outputs, *diagonal = margin + outputs;
    struct kf_square square = {matrix, outputs, outputs};
    for (size_t k = 0; k < outputs; k++)
        trace += matrix[k * outputs + k];
    for (size_t k = 0; k < outputs * outputs && outputs > 1; k++)
        matrix[k] += trace / (double)(outputs * outputs);
    for (size_t k = 0; k < outputs; k++) {
        diagonal[k] = matrix[k * outputs + k];
        margin[k] = kf_margin(outputs, operations, diagonal[k]) + off;
    }
    return kf_verified_factor(&square, margin) ? kf_verified_inverse(&square, diagonal) : INFINITY;
}

/* The largest squared difference of two entries of d, d'Hd = 1, from H's inverse. */
static double largest_range(const double *inverse, size_t outputs)
{
    double most = outputs > 1 ? 0 : inverse[0];
    for (size_t k = 0; k < outputs; k++)
        for (size_t l = 0; l < k; l++)
            most = fmax(most, inverse[k * outputs + k] + inverse[l * outputs + l] - 2 * inverse[k * outputs + l]);
    return most;
}

/* The sums with what several classes need besides. False: out of memory. */
static bool sum_of_points(struct kf_intercept *intercept, struct kf_task *task, const double *slopes, double *room)
{
    size_t features = task->problem.objective.slots - 1, square = features <= MOMENT_MOST ? features * features : 0;
    if (task->problem.objective.outputs == 1 || features == 0) {
        sum_curves(intercept, task, slopes, room, NULL);
        return true;
    }
    double *numbers = kf_allocate(3 * square + (square ? KF_COLUMNS : 0) * features + features, sizeof *numbers);
    bool there = numbers && KF_RESERVE(intercept->centre, intercept->centre_capacity, features);
    if (there) {
        struct moment moment = {.matrix = square ? numbers + features : NULL,
                                .columns = numbers + features + 3 * square,
                                .features = features,
                                .mean = numbers};
        sum_curves(intercept, task, slopes, room, &moment);
    }
    free(numbers);
    return there;
}

void kf_intercept_gather(struct kf_intercept *intercept, struct kf_task *task, const double *slopes)
{
    size_t outputs = task->problem.objective.outputs, each = outputs * outputs;
    if (!KF_RESERVE(intercept->inverse, intercept->capacity, room_for(outputs))) {
        task->problem.objective.memory_failed = true;
        return;
    }
    double *room = intercept->inverse + each;
    intercept->known = true;
    intercept->outputs = outputs;
    intercept->weight = task->problem.objective.weight_total;
    intercept->range = INFINITY;
    intercept->moment_most = 0;
    intercept->hopeless = lacks_class(&task->problem, room);
    if (intercept->hopeless) {
        memset(intercept->inverse, 0, each * sizeof *intercept->inverse);
        return;
    }
    if (!sum_of_points(intercept, task, slopes, room)) {
        task->problem.objective.memory_failed = true;
        intercept->known = false;
        return;
    }
    /* Each point's curvatures are off by units_of_curve in number; of one score they are lower bounds. And what H is at the scores as they are
     * is at least exp(-2 blur) times what it is at those that were computed. */
    double off = outputs > 1 ? (double)outputs * units_of_curve(outputs) * task->problem.objective.weight_total : 0;
    double blur = kf_score_rounding(&task->problem.objective, kf_score_most(&task->problem.objective, task->iterate.x));
    double apart = invert(intercept->inverse, outputs, (double)task->problem.points.count + 16, off);
    if (!(apart < SLACK_MOST))
        return;
    intercept->upward = kf_exp_any(4 * blur) / (1 - apart) * KF_UPWARD;
    intercept->range = largest_range(intercept->inverse, outputs) * intercept->upward;
}

void kf_intercept_take(struct kf_intercept *intercept, struct kf_task *task, size_t j, double blur)
{
    const struct kf_place *place = &task->problem.points.place[j];
    if (intercept->hopeless && !(j && place[-1].target == place->target && place[-1].weight > 0))
        intercept->known = false; /* it may be of the class that was missing */
    if (!intercept->known || intercept->hopeless)
        return;
    double *one = intercept->inverse + intercept->outputs * intercept->outputs;
    assert(intercept->outputs == task->problem.objective.outputs);
    curve_at(task, j, NULL, one);
    double own = kf_exp_any(2 * blur) * moment_of(intercept, &task->problem, j, one);
    intercept->moment_most = (intercept->moment_most + own) * (1 + 8 * KF_UNIT);
}

/* |v_b|_{H^-1}/sqrt(W), or a little more, where each number of v may be off by that of `doubt`. */
static double length_of(const struct kf_intercept *intercept, const double *v, const double *doubt)
{
    size_t outputs = intercept->outputs;
    assert(intercept->known && !intercept->hopeless);
    double square = 0, sizes = 0, off = 0;
    for (size_t k = 0; k < outputs; k++) {
        double width = sqrt(intercept->inverse[k * outputs + k]);
        square += v[k] * kf_dot(outputs, intercept->inverse + k * outputs, v);
        sizes += width * fabs(v[k]);
        off += width * doubt[k];
    }
    double length = sqrt(fmax(square, 0) + kf_gamma(2 * (double)outputs + 8) * sizes * sizes) + off;
    return length * sqrt(intercept->upward) * (1 + kf_gamma((double)outputs + 8));
}

/* The gradient, and its doubt, where rows are less the centre: v_w - m v_b. False: no memory. */
static bool shift_gradient(struct kf_intercept *intercept, struct kf_task *task, const double **gradient,
                           const double **doubt)
{
    size_t outputs = intercept->outputs, size = kf_size(&task->problem);
    if (intercept->centre_count == 0)
        return true;
    if (!KF_RESERVE(intercept->shifted, intercept->shifted_capacity, 2 * size)) {
        task->problem.objective.memory_failed = true;
        return false;
    }
    double *v = intercept->shifted, *off = v + size;
    kf_copy(&task->problem, v, *gradient);
    kf_copy(&task->problem, off, *doubt);
    for (size_t slot = 1; slot <= intercept->centre_count; slot++)
        for (size_t k = 0; k < outputs; k++) {
            double taken = intercept->centre[slot - 1] * v[k], *at = &v[slot * outputs + k];
            off[slot * outputs + k] +=
                (fabs(intercept->centre[slot - 1]) * off[k] + 4 * KF_UNIT * (fabs(*at) + fabs(taken))) * KF_UPWARD +
                KF_UNDERFLOW;
            *at -= taken;
        }
    *gradient = v;
    *doubt = off;
    return true;
}

double kf_intercept_bound(struct kf_intercept *intercept, struct kf_task *task, const double *gradient,
                          const double *doubt)
{
    const struct kf_objective *objective = &task->problem.objective;
    double weight = objective->weight_total, range = weight * intercept->range, mu = 2 * objective->lambda;
    if (is_constant(objective)) /* nothing depends on the intercept */
        return kf_held_bound(&task->problem, mu, task->iterate.x, gradient, doubt, 0);
    if (!intercept->known || intercept->hopeless)
        return NAN;
    if (is_astray(intercept, &task->problem))
        return INFINITY;
    double length = length_of(intercept, gradient, doubt), square = weight * length * length * KF_UPWARD,
           t = sqrt(range * square) * KF_UPWARD;
    if (!(t < 1))
        return INFINITY;
    double error = sqrt(intercept->moment_most / weight / range) * t / (1 - t);
    if (objective->outputs == 1)
        error = fmin(error, objective->row_most * (1 + kf_gamma((double)objective->longest + 8)) *
                                (fabs(gradient[0]) + doubt[0]));
    if (!shift_gradient(intercept, task, &gradient, &doubt))
        return NAN;
    double rest = kf_held_bound(&task->problem, mu, task->iterate.x, gradient, doubt, error * KF_UPWARD);
    return (square / 2 * kf_concordant_excess(t) + rest) * KF_UPWARD;
}
