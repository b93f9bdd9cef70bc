#include "optimum/products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernels/kernels.h"
#include "problem/costs.h"

/* So many rounds and no more: the step is still one that goes down. */
#define ROUNDS_MOST 1000 /* safety: then the step is what it is */
#define WORK_VECTORS 4   /* safety: room */

struct solve {
    struct kf_task *task;
    const double *slopes;
    double *residual, *search, *bent;
    double *flat;   /* the reciprocals of H's diagonal, rows being less their mean where intercepts are free */
    double *mean;   /* that, a number a slot; 0 where none are free */
    double trace;   /* the trace of H's part of one class, in the same way */
    double *scores; /* of one point */
    const struct kf_shared_inverse *shared; /* what the rounds go by; NULL: the diagonal */
};

void kf_products_free(struct kf_products *products)
{
    kf_shared_inverse_free(&products->shared);
    free(products->work);
    *products = (struct kf_products){0};
}

bool kf_products_suit(const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    return objective->loss && !objective->hidden && objective->outputs > 1 && objective->loss->bend_of &&
           objective->lambda > 0 && kf_domain_is_whole(&problem->domain);
}

/* out = H v. A row's product with V, what C makes of it, and its place in the sum come one after the other, while the row is near. */
static void multiply(const struct solve *solve, const double *v, double *out)
{
    const struct kf_objective *objective = &solve->task->problem.objective;
    const struct kf_points *points = &solve->task->problem.points;
    const struct kf_kernels *kernels = objective->kernels;
    size_t outputs = objective->outputs, size = kf_dimension(objective);
    double mean = kf_inverse_weight(objective), ridge = 2 * objective->lambda, *z = solve->scores;
    for (size_t k = 0; k < size; k++)
        out[k] = k < objective->free ? 0 : ridge * v[k];
    for (size_t j = 0; j < points->count; j++) {
        const struct kf_place *place = &points->place[j];
        keepfit_row row = kf_points_row(points, j);
        if (!(place->weight > 0))
            continue;
        memset(z, 0, outputs * sizeof *z);
        kernels->combine(row.count, row.index, row.value, v, outputs, outputs, z);
        objective->loss->bend_of(solve->slopes + j * outputs, outputs, place->target, place->weight, z);
        kernels->outer(row.count, row.index, row.value, mean, z, outputs, out);
    }
}

/* The sums that H's diagonal is made of, and of the rows. */
static void sum_diagonal(const struct solve *solve)
{
    const struct kf_objective *objective = &solve->task->problem.objective;
    const struct kf_points *points = &solve->task->problem.points;
    size_t outputs = objective->outputs;
    double *own = solve->scores;
    for (size_t j = 0; j < points->count; j++) {
        const struct kf_place *place = &points->place[j];
        keepfit_row row = kf_points_row(points, j);
        double all = 0;
        if (!(place->weight > 0))
            continue;
        objective->loss->diagonal_of(solve->slopes + j * outputs, outputs, place->target, place->weight, own);
        for (size_t k = 0; k < outputs && objective->free; k++)
            all += own[k];
        for (size_t e = 0; e < row.count; e++) {
            size_t slot = row.index ? row.index[e] : e;
            double *to = solve->flat + slot * outputs, square = row.value[e] * row.value[e];
            if (square == 0)
                continue;
            for (size_t k = 0; k < outputs; k++)
                to[k] += square * own[k];
            solve->mean[slot] += all * row.value[e];
        }
    }
}

/* Of the diagonal no more is taken away for the mean than leaves this share of it. */
#define LEFT_LEAST 1e-6 /* safety: it is positive */

static void find_flat(struct solve *solve)
{
    const struct kf_objective *objective = &solve->task->problem.objective;
    size_t outputs = objective->outputs, size = kf_dimension(objective), free = objective->free;
    double mean = kf_inverse_weight(objective), ridge = 2 * objective->lambda, *flat = solve->flat, all = 0;
    memset(flat, 0, size * sizeof *flat);
    memset(solve->mean, 0, objective->slots * sizeof *solve->mean);
    sum_diagonal(solve);
    for (size_t k = 0; k < free; k++)
        all += flat[k];
    for (size_t slot = free ? 1 : 0; slot < objective->slots; slot++) {
        double *m = &solve->mean[slot];
        *m = all > 0 ? *m / all : 0;
        for (size_t k = 0; k < outputs; k++) {
            double *at = &flat[slot * outputs + k], taken = free ? flat[k] * *m * *m : 0;
            *at = mean * fmax(*at - taken, LEFT_LEAST * *at);
            solve->trace += *at / (double)outputs;
            *at = 1 / (*at + ridge);
        }
    }
    for (size_t k = 0; k < free; k++)
        flat[k] = 1 / fmax(mean * flat[k], 1e-300);
    solve->mean[0] = free ? 0 : solve->mean[0];
}

/* Each slot's numbers less their mean. */
static void centre(const struct kf_objective *objective, double *v)
{
    size_t outputs = objective->outputs;
    for (size_t slot = 0; slot < objective->slots; slot++, v += outputs) {
        double sum = 0;
        for (size_t k = 0; k < outputs; k++)
            sum += v[k];
        for (size_t k = 0; k < outputs; k++)
            v[k] -= sum / (double)outputs;
    }
}

/* The diagonal's inverse, among vectors whose numbers in each slot add up to 0: flat * (residual - what makes them so). Number k of it. */
static double common_part(const double *flat, const double *residual, size_t outputs)
{
    double sum = 0, flats = 0;
    for (size_t k = 0; k < outputs; k++) {
        sum += flat[k] * residual[k];
        flats += flat[k];
    }
    return sum / flats;
}

/* The numbers of a slot, of a gradient, where rows are less their mean: then an intercept is another one. */
static double centred(const struct solve *solve, const double *gradient, size_t slot, size_t k)
{
    size_t outputs = solve->task->problem.objective.outputs;
    return gradient[slot * outputs + k] - (solve->mean[slot] != 0 ? solve->mean[slot] * gradient[k] : 0);
}

/* bent = what the preconditioner makes of the residual: the inverse that classes share, or that of the diagonal, rows being
 * less their mean. Returns their product. */
static double precondition(const struct solve *solve)
{
    const struct kf_objective *objective = &solve->task->problem.objective;
    if (solve->shared) {
        kf_shared_inverse_times(solve->shared, objective, solve->residual, solve->bent);
        return kf_dot(kf_dimension(objective), solve->residual, solve->bent);
    }
    size_t outputs = objective->outputs, from = objective->free ? 1 : 0;
    double *out = solve->bent, *of_slot = solve->scores;
    for (size_t slot = 0; slot < objective->slots; slot++) {
        const double *flat = solve->flat + slot * outputs;
        for (size_t k = 0; k < outputs; k++)
            of_slot[k] = centred(solve, solve->residual, slot, k);
        double common = common_part(flat, of_slot, outputs);
        for (size_t k = 0; k < outputs; k++)
            out[slot * outputs + k] = flat[k] * (of_slot[k] - common);
    }
    for (size_t slot = from; slot < objective->slots && from; slot++)
        for (size_t k = 0; k < outputs && solve->mean[slot] != 0; k++)
            out[k] -= solve->mean[slot] * out[slot * outputs + k];
    return kf_dot(kf_dimension(objective), solve->residual, out);
}

/* search = (what the preconditioner makes of the residual) + keep * search */
static double turn(const struct solve *solve, double before)
{
    size_t size = kf_size(&solve->task->problem);
    double energy = precondition(solve), keep = before > 0 ? energy / before : 0;
    for (size_t k = 0; k < size; k++)
        solve->search[k] = solve->bent[k] + keep * solve->search[k];
    return energy;
}

/* How much a gradient counts in bounds: the intercepts' part by what its error does to the rest's (certificate/intercept.h). */
static double measure(const struct solve *solve, const double *gradient)
{
    const struct kf_objective *objective = &solve->task->problem.objective;
    size_t outputs = objective->outputs, free = objective->free;
    double sum = 0, rest = 0;
    if (!free)
        return kf_square(kf_dimension(objective), gradient);
    for (size_t slot = 1; slot < objective->slots; slot++)
        for (size_t k = 0; k < outputs; k++) {
            double own = centred(solve, gradient, slot, k);
            sum += own * own;
        }
    for (size_t k = 0; k < free; k++)
        rest += solve->flat[k] * gradient[k] * gradient[k];
    double length = sqrt(sum) + sqrt(solve->trace * rest);
    return length * length;
}

static void spend(struct kf_products *products, struct kf_task *task, bool shared)
{
    const struct kf_objective *objective = &task->problem.objective;
    double work = (double)task->problem.points.count * kf_cost_bend(&task->problem) +
                  KF_COST_VECTORS * (double)kf_size(&task->problem) + (shared ? kf_shared_inverse_cost(objective) : 0);
    products->spent += work;
    products->shared.rent += work;
    kf_spend(&task->stage, work);
}

static void conjugate_gradients(struct kf_products *products, const struct solve *solve, double enough,
                                double *direction)
{
    struct kf_task *task = solve->task;
    size_t size = kf_size(&task->problem);
    double energy = turn(solve, 0);
    for (int round = 0; round < ROUNDS_MOST && energy > 0 && kf_toil_left(task); round++) {
        spend(products, task, solve->shared);
        task->stage.products += task->problem.points.count;
        multiply(solve, solve->search, solve->bent);
        double bend = kf_dot(size, solve->search, solve->bent);
        if (!(bend > 0))
            return;
        kf_add(size, energy / bend, solve->search, direction);
        kf_add(size, -energy / bend, solve->bent, solve->residual);
        if (!(measure(solve, solve->residual) > enough))
            return;
        centre(&task->problem.objective, solve->residual); /* of what rounding has left outside */
        energy = turn(solve, energy);
    }
}

void kf_products_gauge(const struct kf_objective *objective, const double *x, double *direction)
{
    size_t outputs = objective->outputs, size = kf_dimension(objective);
    centre(objective, direction);
    for (size_t at = objective->free; at < size; at += outputs) {
        double sum = 0;
        for (size_t k = 0; k < outputs; k++)
            sum += x[at + k];
        for (size_t k = 0; k < outputs; k++)
            direction[at + k] -= sum / (double)outputs;
    }
}

double kf_products_aim(struct kf_products *products, struct kf_task *task, const double *slopes, const double *gradient,
                       double share, double *direction)
{
    const struct kf_objective *objective = &task->problem.objective;
    size_t size = kf_size(&task->problem);
    if (!KF_RESERVE(products->work, products->capacity, WORK_VECTORS * size + objective->slots + objective->outputs)) {
        task->problem.objective.memory_failed = true;
        return NAN;
    }
    double *work = products->work;
    struct solve solve = {.task = task,
                          .slopes = slopes,
                          .residual = work,
                          .search = work + size,
                          .bent = work + 2 * size,
                          .flat = work + 3 * size,
                          .mean = work + 4 * size,
                          .scores = work + 4 * size + objective->slots};
    solve.shared = kf_shared_inverse_ready(&products->shared, task, slopes) ? &products->shared : NULL;
    if (!solve.shared || objective->free) {
        find_flat(&solve);
        spend(products, task, false);
    }
    memset(direction, 0, size * sizeof *direction);
    memset(solve.search, 0, size * sizeof *direction);
    for (size_t k = 0; k < size; k++)
        solve.residual[k] = -gradient[k];
    centre(objective, solve.residual);
    conjugate_gradients(products, &solve, share * share * measure(&solve, gradient), direction);
    kf_products_gauge(objective, task->iterate.x, direction);
    return -kf_dot(size, gradient, direction);
}
