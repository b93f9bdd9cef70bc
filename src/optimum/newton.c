#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"
#include "optimum/standing.h"

#define ROUNDS_MOST 200 /* safety: an end; the bound says so */
/* Once the model promises less than this share of the scale, the next step is the last: Newton doubles the digits. */
#define LAST_STEP 1e-15 /* safety: rounding */
/* The quadratic model is minimised inside a domain to this share of the target. */
#define MODEL_TO 0.1  /* safety: little beside the target */
#define FLATTEST 1e-6 /* safety: the line search says how far */

/* H[lower] += curve * a a', for a sparse row of a one-output model. */
static void add_square(const keepfit_row *row, double curve, double *hessian, size_t stride)
{
    for (size_t p = 0; p < row->count; p++) {
        double *column = hessian + row->index[p] * stride, share = curve * row->value[p];
        for (size_t q = p; q < row->count; q++)
            column[row->index[q]] += share * row->value[q];
    }
}

/* The same of blocks of outputs x outputs numbers, and of full rows. */
static void add_blocks(const struct kf_objective *objective, const keepfit_row *row, const double *curve, double scale,
                       double *hessian, size_t stride)
{
    size_t outputs = objective->outputs;
    for (size_t p = 0; p < row->count; p++) {
        size_t column = (row->index ? row->index[p] : p) * outputs;
        for (size_t q = p; q < row->count; q++) {
            size_t line = (row->index ? row->index[q] : q) * outputs;
            double product = scale * row->value[p] * row->value[q];
            for (size_t k = 0; k < outputs; k++)
                for (size_t l = 0; l < outputs; l++)
                    if (line + l >= column + k)
                        hessian[(column + k) * stride + line + l] += product * curve[k * outputs + l];
        }
    }
}

static void add_outer(const struct kf_objective *objective, size_t j, const double *curve, double scale,
                      double *hessian, size_t stride)
{
    keepfit_row row = kf_points_row(objective->points, j);
    if (objective->outputs == 1 && row.index)
        add_square(&row, scale * curve[0], hessian, stride);
    else
        add_blocks(objective, &row, curve, scale, hessian, stride);
}

/* Dense rows of a one-output model are added in batches: H += B B', B's columns sqrt(curve) * a. */
struct batch {
    double *columns;
    size_t size, count;
    double *hessian;
    size_t stride;
};

static void batch_flush(struct batch *batch)
{
    kf_add_squares(batch->size, batch->count, batch->columns, batch->size, batch->hessian, batch->stride);
    batch->count = 0;
}

static void batch_add(struct batch *batch, const keepfit_row *row, double curve)
{
    double *column = batch->columns + batch->count * batch->size, root = sqrt(curve);
    for (size_t k = 0; k < row->count; k++)
        column[k] = root * row->value[k];
    memset(column + row->count, 0, (batch->size - row->count) * sizeof *column);
    if (++batch->count == KF_COLUMNS)
        batch_flush(batch);
}

/* Adds scale times the Hessians of the points from .. to-1, which have these curvatures. */
static void add_range(double *columns, const struct kf_problem *problem, const double *curves, size_t from, size_t to,
                      double scale, double *hessian, size_t stride)
{
    const struct kf_objective *objective = &problem->objective;
    size_t each = objective->outputs * objective->outputs;
    struct batch batch = {.columns = columns, .size = kf_size(problem), .hessian = hessian, .stride = stride};
    for (size_t j = from; j < to; j++) {
        const double *curve = curves + j * each;
        if (each == 1 && curve[0] == 0)
            continue;
        keepfit_row row = kf_points_row(&problem->points, j);
        if (objective->outputs == 1 && !row.index)
            batch_add(&batch, &row, curve[0] * scale);
        else
            add_outer(objective, j, curve, scale, hessian, stride);
    }
    batch_flush(&batch);
}

static void assemble(struct kf_optimum *optimum, struct kf_task *task)
{
    const struct kf_objective *objective = &task->problem.objective;
    size_t size = kf_size(&task->problem);
    kf_spend(&task->stage, kf_cost_hessian(&task->problem));
    double *hessian = optimum->quadratic.hessian, mean = kf_inverse_weight(objective);
    memset(hessian, 0, size * size * sizeof *hessian);
    add_range(optimum->curves.columns, &task->problem, optimum->curves.of, 0, task->problem.points.count, mean, hessian,
              size);
    for (size_t k = objective->free; k < size; k++)
        hessian[k * size + k] += 2 * objective->lambda;
    /* Free intercepts of softmax may all move together at no cost: a whiff of curvature keeps Newton's step finite. */
    for (size_t k = 0; k < objective->free && objective->outputs > 1; k++)
        hessian[k * size + k] *= 1 + 1e-9;
    /* Losses with kinks, and losses for numbers far from their targets, may not bend at all in a free intercept: then it is the line search
     * that says how far. */
    bool may_be_flat = objective->free && objective->outputs == 1 &&
                       (isinf(objective->loss->concordance) || objective->loss->targets == KF_NUMBERS);
    if (may_be_flat)
        hessian[0] = fmax(hessian[0], FLATTEST * objective->loss->curve_bound(objective->delta));
}

double kf_curve_recalled(const struct kf_problem *problem, size_t j, double slope)
{
    double weight = problem->points.place[j].weight, own = weight == 1 ? slope : slope / weight, curve;
    if (!(weight > 0))
        return 0;
    kf_loss_curves(problem->objective.loss, 1, &own, problem->objective.delta, &curve);
    return weight * curve;
}

void kf_curves_recall(const struct kf_problem *problem, size_t from, size_t to, const double *slopes, double *curves)
{
    bool plain = true;
    for (size_t j = from; j < to; j++)
        plain &= problem->points.place[j].weight == 1;
    if (plain)
        kf_loss_curves(problem->objective.loss, to - from, slopes + from, problem->objective.delta, curves);
    for (size_t j = from; j < to && !plain; j++)
        curves[j - from] = kf_curve_recalled(problem, j, slopes[j]);
}

static bool reserve_columns(struct kf_curves *curves, const struct kf_problem *problem)
{
    return KF_RESERVE(curves->columns, curves->columns_capacity, KF_COLUMNS * (kf_size(problem) + 1));
}

bool kf_hessian_add(struct kf_curves *curves, struct kf_task *task, const double *x, const double *slopes, size_t from,
                    size_t to, double *hessian, size_t stride)
{
    size_t each = task->problem.objective.outputs * task->problem.objective.outputs;
    if (!reserve_columns(curves, &task->problem) || !KF_RESERVE(curves->of, curves->capacity, to * each))
        return false;
    if (slopes)
        kf_curves_recall(&task->problem, from, to, slopes, curves->of + from);
    else
        kf_curves(curves, task, x, from, to);
    add_range(curves->columns, &task->problem, curves->of, from, to, 1, hessian, stride);
    return true;
}

bool kf_hessian_add_known(struct kf_curves *curves, const struct kf_problem *problem, const double *others,
                          size_t count, double scale, double *hessian, size_t stride)
{
    if (!reserve_columns(curves, problem))
        return false;
    add_range(curves->columns, problem, others, 0, count, scale, hessian, stride);
    return true;
}

void kf_hessian_take_out(const struct kf_curves *curves, const struct kf_problem *problem, size_t j, double scale,
                         double *hessian, size_t stride)
{
    size_t each = problem->objective.outputs * problem->objective.outputs;
    add_outer(&problem->objective, j, curves->of + j * each, -scale, hessian, stride);
}

/* Newton's direction in spare[0], and how much the quadratic model falls along it; NaN: no direction. */
static double model_direction(struct kf_optimum *optimum, struct kf_task *task, const struct kf_standing *at,
                              double enough, double **spare)
{
    struct kf_quadratic *quadratic = &optimum->quadratic;
    size_t size = kf_size(&task->problem);
    double *target = spare[0], *linear = spare[1], *bent = spare[2];
    kf_curves(&optimum->curves, task, at->x, 0, task->problem.points.count);
    assemble(optimum, task);
    if (kf_domain_is_whole(&task->problem.domain) && !kf_quadratic_factorise(quadratic))
        return NAN;
    kf_quadratic_product(quadratic, at->x, bent);
    for (size_t k = 0; k < size; k++)
        linear[k] = at->gradient[k] - bent[k];
    memcpy(target, at->x, size * sizeof *target);
    kf_quadratic_minimise(quadratic, task, linear, 2 * task->problem.objective.lambda, enough, target);
    kf_add(size, -1, at->x, target);
    kf_quadratic_product(quadratic, target, bent);
    return -(kf_dot(size, at->gradient, target) + kf_dot(size, target, bent) / 2);
}

bool kf_newton_dense(struct kf_optimum *optimum, struct kf_task *task, double target, struct kf_standing *at,
                     double **spare)
{
    size_t size = kf_size(&task->problem);
    for (int round = 0; round < ROUNDS_MOST; round++) {
        if (kf_standing_good(at, target) || kf_standing_spent(task, target, 2))
            return target > 0;
        double fall = model_direction(optimum, task, at, MODEL_TO * target, spare);
        double little = LAST_STEP * kf_standing_scale(at);
        bool last = fall <= little;
        /* A fall that is lost in rounding may still bring the gradient down, which is what a target asks for. */
        if (!(fall > (target > 0 ? -little : 0)))
            return last;
        double slope = kf_dot(size, at->gradient, spare[0]);
        if (!kf_line_search(task, at, spare[0], slope, spare[1]) || last)
            return last || fall <= 1e-10 * kf_standing_scale(at);
    }
    return false;
}

/* Everything that a product with the Hessian needs. */
struct curvature {
    const struct kf_objective *objective;
    const double *curve;
    double *scratch; /* 2 * outputs numbers */
};

static void hessian_times(const struct curvature *here, const double *v, double *out)
{
    const struct kf_objective *objective = here->objective;
    size_t size = kf_dimension(objective), each = objective->outputs * objective->outputs;
    double mean = kf_inverse_weight(objective), ridge = 2 * objective->lambda;
    for (size_t k = 0; k < size; k++)
        out[k] = k < objective->free ? 0 : ridge * v[k];
    for (size_t j = 0; j < objective->points->count; j++)
        objective->type->hessian_product(objective, mean, j, here->curve + j * each, v, out, here->scratch);
}

/* The Hessian's diagonal, the preconditioner; never 0. */
static void hessian_diagonal(const struct curvature *here, double *out)
{
    const struct kf_objective *objective = here->objective;
    size_t size = kf_dimension(objective), outputs = objective->outputs;
    double mean = kf_inverse_weight(objective);
    for (size_t k = 0; k < size; k++)
        out[k] = k < objective->free ? 1e-12 : fmax(2 * objective->lambda, 1e-12);
    for (size_t j = 0; j < objective->points->count; j++) {
        keepfit_row row = kf_points_row(objective->points, j);
        const double *curve = here->curve + j * outputs * outputs;
        for (size_t e = 0; e < row.count; e++) {
            size_t feature = row.index ? row.index[e] : e;
            for (size_t k = 0; k < outputs; k++)
                out[feature * outputs + k] += mean * row.value[e] * row.value[e] * curve[k * outputs + k];
        }
    }
}

/* Preconditioned conjugate gradients for H step = -gradient, until the residual has fallen by `tolerance`. */
static void conjugate_gradients(struct kf_task *task, const struct curvature *here, const double *gradient,
                                double tolerance, double **spare)
{
    size_t size = kf_dimension(here->objective);
    double *step = spare[0], *residual = spare[1], *direction = spare[2], *bent = spare[3], *diagonal = spare[4];
    hessian_diagonal(here, diagonal);
    memset(step, 0, size * sizeof *step);
    double energy = 0;
    for (size_t k = 0; k < size; k++) {
        residual[k] = -gradient[k];
        direction[k] = residual[k] / diagonal[k];
        energy += residual[k] * direction[k];
    }
    double enough = tolerance * tolerance * energy;
    for (size_t round = 0; round < 2 * size + 100 && energy > enough && kf_toil_left(task); round++) {
        size_t points = task->problem.points.count;
        kf_spend_products(&task->stage, points, (double)points * kf_cost_bend(&task->problem));
        hessian_times(here, direction, bent);
        double bend = kf_dot(size, direction, bent);
        if (!(bend > 0))
            break;
        kf_add(size, energy / bend, direction, step);
        kf_add(size, -energy / bend, bent, residual);
        double next = 0;
        for (size_t k = 0; k < size; k++)
            next += residual[k] * residual[k] / diagonal[k];
        for (size_t k = 0; k < size; k++)
            direction[k] = residual[k] / diagonal[k] + next / energy * direction[k];
        energy = next;
    }
}

bool kf_newton_cg(struct kf_optimum *optimum, struct kf_task *task, double target, struct kf_standing *at,
                  double **spare)
{
    size_t size = kf_size(&task->problem);
    struct curvature here = {&task->problem.objective, optimum->curves.of, optimum->curves.columns};
    double tolerance = 0.1;
    for (int round = 0; round < ROUNDS_MOST; round++) {
        if (kf_standing_good(at, target) || kf_standing_spent(task, target, 2))
            return target > 0;
        kf_curves(&optimum->curves, task, at->x, 0, task->problem.points.count);
        conjugate_gradients(task, &here, at->gradient, tolerance, spare);
        double slope = kf_dot(size, at->gradient, spare[0]);
        bool last = -slope <= LAST_STEP * kf_standing_scale(at);
        if (!(slope < 0))
            return last;
        if (!kf_line_search(task, at, spare[0], slope, spare[1]) || last)
            return last || -slope <= 1e-10 * kf_standing_scale(at);
        tolerance = fmax(tolerance / 4, 1e-4);
    }
    return false;
}
