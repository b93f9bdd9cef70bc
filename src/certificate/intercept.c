#include "certificate/intercept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/logarithm.h"
#include "base/memory.h"
#include "certificate/internal.h"
#include "kernels/dense.h"
#include "kernels/exponential.h"
#include "kernels/kernels.h"

/* More classes are not worth K^3. */
#define CLASSES_MOST 256 /* safety: K^3 operations for each H */
/* Nor are more features worth the squares of their number. */
#define MOMENT_MOST 512 /* speed: bench/tuning.md */
/* H is made anew when the weight has grown by more. */
#define GROWTH_MOST 1.25 /* speed: bench/tuning.md */
/* Beyond it H has been lost to rounding. */
#define SPREAD_MOST 1e10 /* safety: 6 digits of 16 are left */
/* H is not taken for what rounding may have made more than this share of. */
#define SLACK_MOST 0.25 /* proof: "Theorem 22 (verified inverse)" */
/* What a number of one point's curvature, p(1-p) or p q, may be off by. */
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
    *intercept = (struct kf_intercept){0};
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
    kf_archive_real(archive, &intercept->spread);
    kf_archive_real(archive, &intercept->stretch);
    if (archive->version >= KF_VERSION_WITH_ROUNDING)
        kf_archive_real(archive, &intercept->upward);
    kf_archive_require(archive, intercept->weight >= 0 && intercept->spread >= 0 && intercept->stretch >= 0);
    if (archive->status == KEEPFIT_OK && archive->reading &&
        !KF_RESERVE(intercept->inverse, intercept->capacity, room_for(intercept->outputs)))
        archive->status = KEEPFIT_NO_MEMORY;
    if (archive->status == KEEPFIT_OK)
        kf_archive_reals(archive, intercept->inverse, intercept->outputs * intercept->outputs);
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
           (intercept->known && problem->objective.weight_total <= GROWTH_MOST * intercept->weight);
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
    return !(problem->objective.weight_total * intercept->spread < SPREAD_MOST);
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

static double stretch_of(const struct kf_problem *problem, size_t j, const double *curve)
{
    keepfit_row row = rest_of_row(problem, j);
    double upward = 1 + kf_gamma((double)row.count + 8);
    return largest_curve(&problem->objective, problem->points.place[j].weight, curve) *
           kf_square(row.count, row.value) * upward;
}

/* Point j's curvature at task->iterate.x, times its weight. */
static void curve_at(struct kf_task *task, size_t j, const double *slopes, double *curve)
{
    struct kf_objective *objective = &task->problem.objective;
    struct kf_view view = kf_dense_view(task->iterate.x);
    if (slopes) {
        *curve = kf_curve_recalled(&task->problem, j, slopes[j]);
        return;
    }
    objective->type->curve(objective, &view, j, curve);
    kf_scale(objective->outputs * objective->outputs, task->problem.points.place[j].weight, curve);
}

/* matrix += scale row row', of size x size numbers, in its lower triangle by columns */
static void add_square(const keepfit_row *row, double scale, double *matrix, size_t size)
{
    for (size_t k = 0; k < row->count; k++) {
        size_t column = row->index ? row->index[k] - 1 : k;
        for (size_t l = k; l < row->count; l++)
            matrix[column * size + (row->index ? row->index[l] - 1 : l)] += scale * row->value[k] * row->value[l];
    }
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

/* The sums over all points; `one` has room for the curvature of one. `moment`, unless it is NULL, is zeros, and room for two such matrices
 * behind it: for sum |curvature_j| row_j row_j', whose eigenvalues are at most its trace, and mostly much less. */
static void sum_curves(struct kf_intercept *intercept, struct kf_task *task, const double *slopes, double *one,
                       double *moment)
{
    size_t each = intercept->outputs * intercept->outputs, features = task->problem.objective.slots - 1;
    memset(intercept->inverse, 0, each * sizeof *intercept->inverse);
    intercept->stretch = 0;
    for (size_t j = 0; j < task->problem.points.count; j++) {
        curve_at(task, j, slopes, one);
        kf_add(each, 1, one, intercept->inverse);
        intercept->stretch += stretch_of(&task->problem, j, one);
        keepfit_row row = rest_of_row(&task->problem, j);
        if (moment)
            add_square(&row, largest_curve(&task->problem.objective, task->problem.points.place[j].weight, one), moment,
                       features);
    }
    double off = kf_gamma((double)task->problem.points.count + (double)features + 32) * intercept->stretch;
    intercept->stretch += off;
    if (moment) /* whose numbers, and the sums made of them, are off by no more than that share of its trace */
        intercept->stretch =
            fmin(intercept->stretch, largest_eigenvalue(moment, features, moment + features * features) + 4 * off);
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
static double largest_spread(const double *inverse, size_t outputs)
{
    double most = outputs > 1 ? 0 : inverse[0];
    for (size_t k = 0; k < outputs; k++)
        for (size_t l = 0; l < k; l++)
            most = fmax(most, inverse[k * outputs + k] + inverse[l * outputs + l] - 2 * inverse[k * outputs + l]);
    return most;
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
    intercept->spread = INFINITY;
    intercept->stretch = 0;
    intercept->hopeless = lacks_class(&task->problem, room);
    if (intercept->hopeless) {
        memset(intercept->inverse, 0, each * sizeof *intercept->inverse);
        return;
    }
    size_t features = task->problem.objective.slots - 1;
    bool has_moment = outputs > 1 && features > 0 && features <= MOMENT_MOST;
    double *moment = has_moment ? kf_allocate(3 * features * features, sizeof *moment) : NULL;
    task->problem.objective.memory_failed |= has_moment && !moment;
    sum_curves(intercept, task, slopes, room, moment);
    free(moment);
    /* Each point's curvatures are off by units_of_curve in number; of one score they are lower bounds. And what H is at the scores as they are
     * is at least exp(-2 blur) times what it is at those that were computed. */
    double off = outputs > 1 ? (double)outputs * units_of_curve(outputs) * task->problem.objective.weight_total : 0;
    double blur = kf_score_rounding(&task->problem.objective, kf_score_most(&task->problem.objective, task->iterate.x));
    double apart = invert(intercept->inverse, outputs, (double)task->problem.points.count + 16, off);
    if (!(apart < SLACK_MOST))
        return;
    intercept->upward = kf_exp_any(4 * blur) / (1 - apart) * KF_UPWARD;
    intercept->spread = largest_spread(intercept->inverse, outputs) * intercept->upward;
}

void kf_intercept_take(struct kf_intercept *intercept, struct kf_task *task, size_t j, double blur)
{
    const struct kf_place *place = &task->problem.points.place[j];
    if (intercept->hopeless && !(j && place[-1].target == place->target && place[-1].weight > 0))
        intercept->known = false; /* it may be of the class that was missing */
    if (!intercept->known || intercept->hopeless)
        return;
    double *one = intercept->inverse + intercept->outputs * intercept->outputs;
    curve_at(task, j, NULL, one);
    double own = kf_exp_any(2 * blur) * stretch_of(&task->problem, j, one);
    intercept->stretch = (intercept->stretch + own) * (1 + 8 * KF_UNIT);
}

/* |v_b|_{H^-1}/sqrt(W), or a little more, where each number of v may be off by that of `doubt`. */
static double length_of(const struct kf_intercept *intercept, const double *v, const double *doubt)
{
    size_t outputs = intercept->outputs;
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

double kf_intercept_bound(const struct kf_intercept *intercept, const struct kf_task *task, const double *gradient,
                          const double *doubt)
{
    const struct kf_objective *objective = &task->problem.objective;
    double weight = objective->weight_total, spread = weight * intercept->spread, mu = 2 * objective->lambda;
    if (is_constant(objective)) /* nothing depends on the intercept */
        return kf_held_bound(&task->problem, mu, task->iterate.x, gradient, doubt, 0);
    if (!intercept->known || intercept->hopeless)
        return NAN;
    if (is_astray(intercept, &task->problem))
        return INFINITY;
    double length = length_of(intercept, gradient, doubt), square = weight * length * length * KF_UPWARD,
           t = sqrt(spread * square) * KF_UPWARD;
    if (!(t < 1))
        return INFINITY;
    double error = sqrt(intercept->stretch / weight / spread) * t / (1 - t);
    if (objective->outputs == 1)
        error = fmin(error, objective->row_most * (1 + kf_gamma((double)objective->longest + 8)) *
                                (fabs(gradient[0]) + doubt[0]));
    double rest = kf_held_bound(&task->problem, mu, task->iterate.x, gradient, doubt, error * KF_UPWARD);
    return (square / 2 * kf_concordant_excess(t) + rest) * KF_UPWARD;
}
