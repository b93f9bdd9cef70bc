#include "optimum/quadratic_solver.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"
#include "problem/costs.h"
#include "problem/gap.h"

#define VECTORS (sizeof(((struct kf_quadratic *)0)->vector) / sizeof(double *))
/* The stage's work may be over sooner. */
#define ROUNDS_MOST 30000 /* safety: an end */
/* What is added to a diagonal that has no factor: first these shares of its own numbers, so that columns of any size get what they need, and
 * from 1 on of the largest. */
#define RIDGE_FIRST 1e-15  /* safety: rounding */
#define RIDGE_MOST 10      /* safety: then there is no factor */
#define RIDGE_LEAST 1e-300 /* safety: above underflow */

void kf_quadratic_free(struct kf_quadratic *quadratic)
{
    free(quadratic->hessian);
    free(quadratic->factor);
    for (size_t k = 0; k < VECTORS; k++)
        free(quadratic->vector[k]);
    memset(quadratic, 0, sizeof *quadratic);
}

bool kf_quadratic_reserve(struct kf_quadratic *quadratic, size_t size)
{
    assert(size <= INT_MAX);
    if (size > quadratic->capacity || !quadratic->hessian) {
        kf_quadratic_free(quadratic);
        size_t capacity = size + size / 2 + 1;
        quadratic->hessian = kf_allocate(capacity * capacity, sizeof(double));
        quadratic->factor = kf_allocate(capacity * capacity, sizeof(double));
        bool whole = quadratic->hessian && quadratic->factor;
        for (size_t k = 0; k < VECTORS; k++)
            whole = (quadratic->vector[k] = kf_allocate(capacity, sizeof(double))) && whole;
        if (!whole) {
            kf_quadratic_free(quadratic);
            return false;
        }
        quadratic->capacity = capacity;
    }
    quadratic->size = size;
    return true;
}

void kf_quadratic_product(const struct kf_quadratic *quadratic, const double *v, double *out)
{
    kf_symmetric_times(quadratic->size, quadratic->hessian, quadratic->size, v, out);
}

bool kf_quadratic_factorise(struct kf_quadratic *quadratic)
{
    size_t size = quadratic->size;
    double most = 0;
    for (size_t k = 0; k < size; k++)
        most = fmax(most, fabs(quadratic->hessian[k * size + k]));
    if (!isfinite(most))
        return false;
    for (double ridge = 0; ridge <= RIDGE_MOST; ridge = ridge > 0 ? 10 * ridge : RIDGE_FIRST) {
        memcpy(quadratic->factor, quadratic->hessian, size * size * sizeof(double));
        for (size_t k = 0; k < size; k++) {
            double *entry = &quadratic->factor[k * size + k];
            *entry += ridge * (ridge < 1 ? fabs(*entry) : most) + (ridge > 0 ? RIDGE_LEAST : 0);
        }
        if (kf_cholesky(size, quadratic->factor, size))
            return true;
    }
    return false;
}

static void solve(const struct kf_quadratic *quadratic, double *right)
{
    kf_cholesky_solve(quadratic->size, quadratic->factor, quadratic->size, right);
}

/* y -= H^-1 (Hy + c), three times: the first solves, the others refine what rounding (or a ridge) left. */
static void minimise_whole(struct kf_quadratic *quadratic, const double *c, double *y)
{
    double *residual = quadratic->vector[0];
    for (int round = 0; round < 3; round++) {
        kf_quadratic_product(quadratic, y, residual);
        kf_add(quadratic->size, 1, c, residual);
        solve(quadratic, residual);
        kf_add(quadratic->size, -1, residual, y);
    }
}

/* An upper bound on the largest eigenvalue: the smaller of two matrix norms. */
static double largest_eigenvalue_bound(struct kf_quadratic *quadratic)
{
    size_t size = quadratic->size;
    double *row_sum = quadratic->vector[0], frobenius = 0, most = 0;
    memset(row_sum, 0, size * sizeof *row_sum);
    for (size_t column = 0; column < size; column++)
        for (size_t row = column; row < size; row++) {
            double entry = fabs(quadratic->hessian[column * size + row]);
            row_sum[row] += entry;
            if (row != column)
                row_sum[column] += entry;
            frobenius += (row == column ? 1 : 2) * entry * entry;
        }
    for (size_t k = 0; k < size; k++)
        most = fmax(most, row_sum[k]);
    return fmin(most, sqrt(frobenius));
}

static double largest_size(size_t count, const double *v)
{
    double most = 0;
    for (size_t k = 0; k < count; k++)
        most = fmax(most, fabs(v[k]));
    return most;
}

/* The minimiser over the whole space, if it lies in the domain. */
static bool minimise_if_inside(struct kf_quadratic *quadratic, const struct kf_task *task, const double *c, double *y)
{
    size_t size = quadratic->size;
    double *found = quadratic->vector[1], *projected = quadratic->vector[2];
    memcpy(found, y, size * sizeof *y);
    if (!kf_quadratic_factorise(quadratic))
        return false;
    minimise_whole(quadratic, c, found);
    memcpy(projected, found, size * sizeof *y);
    kf_project(&task->problem, projected);
    for (size_t k = 0; k < size; k++)
        if (!(fabs(projected[k] - found[k]) <= KF_PRECISE * fabs(found[k])))
            return false;
    memcpy(y, projected, size * sizeof *y);
    return true;
}

/* By how much y can be improved, at most; with free coordinates an estimate. */
static double bound_at(struct kf_quadratic *quadratic, const struct kf_task *task, const double *c, double mu,
                       const double *y)
{
    double *gradient = quadratic->vector[3];
    kf_quadratic_product(quadratic, y, gradient);
    kf_add(quadratic->size, 1, c, gradient);
    double bound = kf_held_bound(&task->problem, mu, y, gradient, NULL, 0);
    for (size_t k = 0; k < task->problem.objective.free; k++) {
        double curve = quadratic->hessian[k * quadratic->size + k];
        bound += curve > 0 ? gradient[k] * gradient[k] / (2 * curve) : 0;
    }
    return bound;
}

/* By factors of H; false where they do not come to an end. */
static bool minimise_by_factors(struct kf_quadratic *quadratic, struct kf_task *task, const double *c, double *y)
{
    if (minimise_if_inside(quadratic, task, c, y))
        return true;
    if (task->problem.domain.type->lowest)
        return kf_quadratic_on_faces(quadratic, task, c, y);
    return kf_quadratic_in_ball(quadratic, task, c, y);
}

static void minimise_inside(struct kf_quadratic *quadratic, struct kf_task *task, const double *c, double mu,
                            double enough, double *y)
{
    size_t size = quadratic->size;
    double top = largest_eigenvalue_bound(quadratic);
    double *gradient = quadratic->vector[0], *ahead = quadratic->vector[1], *next = quadratic->vector[2];
    double momentum = 1;
    int still = 0;
    if (!(top > 0))
        top = 1;
    if (minimise_by_factors(quadratic, task, c, y))
        return;
    kf_project(&task->problem, y);
    memcpy(ahead, y, size * sizeof *y);
    for (long round = 0; round < ROUNDS_MOST && still < 5 && kf_toil_left(task); round++) {
        kf_spend(&task->stage, kf_cost_product((double)size));
        if (enough > 0 && round % KF_CHECK_EVERY == 0 && bound_at(quadratic, task, c, mu, y) <= enough)
            return;
        kf_quadratic_product(quadratic, ahead, gradient);
        kf_add(size, 1, c, gradient);
        memcpy(next, ahead, size * sizeof *y);
        kf_add(size, -1 / top, gradient, next);
        kf_project(&task->problem, next);
        double uphill = 0, moved = 0;
        for (size_t k = 0; k < size; k++) {
            uphill += (ahead[k] - next[k]) * (next[k] - y[k]);
            moved = fmax(moved, fabs(next[k] - y[k]));
        }
        double following = uphill > 0 ? 1 : (1 + sqrt(1 + 4 * momentum * momentum)) / 2;
        double push = uphill > 0 ? 0 : (momentum - 1) / following;
        for (size_t k = 0; k < size; k++) {
            ahead[k] = next[k] + push * (next[k] - y[k]);
            y[k] = next[k];
        }
        momentum = following;
        still = moved <= KF_PRECISE * largest_size(size, y) ? still + 1 : 0;
    }
}

void kf_quadratic_minimise(struct kf_quadratic *quadratic, struct kf_task *task, const double *c, double mu,
                           double enough, double *y)
{
    if (kf_domain_is_whole(&task->problem.domain))
        minimise_whole(quadratic, c, y);
    else
        minimise_inside(quadratic, task, c, mu, enough, y);
}
