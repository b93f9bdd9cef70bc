/* y'Hy/2 + c'y over a domain by factors of H, so that its condition does not matter.
 *
 * Ball: the minimiser of the quadratic plus v/2 |y|^2 has the radius as its norm for one v, which Newton's method finds from
 * below (More and Sorensen 1983). Box and simplex: the signs of the gradient say which bounds hold y; over the other
 * coordinates the quadratic is minimised as if they had no bounds, and the step is taken whole and projected if that gains,
 * otherwise up to the next bound, which then holds too (an active-set method). */
#include <math.h>
#include <string.h>

#include "kernels/dense.h"
#include "kernels/kernels.h"
#include "optimum/quadratic_solver.h"
#include "problem/costs.h"

#define BALL_ROUNDS_MOST 100 /* safety: an end; then the other way */
#define BALL_NEAR 1e-6       /* safety: the rest is one exact step */
#define FACTORS_MOST 300     /* safety: an end; then the other way */
/* A projected step has to gain this share of what its slope promises. */
#define GAIN_LEAST 0.1 /* safety: any share below a half ends; Armijo's condition */

/* Factor of H with `ridge` on the coordinates that are not free, and those of `held` taken out. */
static bool factorise(struct kf_quadratic *quadratic, size_t free, double ridge, const double *held)
{
    size_t size = quadratic->size;
    memcpy(quadratic->factor, quadratic->hessian, size * size * sizeof(double));
    for (size_t column = 0; column < size; column++) {
        double *line = quadratic->factor + column * size;
        line[column] += column >= free ? ridge : 0;
        for (size_t row = column; held && row < size; row++)
            if (held[row] != 0 || held[column] != 0)
                line[row] = row == column;
    }
    return kf_cholesky(size, quadratic->factor, size);
}

static void solve(const struct kf_quadratic *quadratic, double *right)
{
    kf_cholesky_solve(quadratic->size, quadratic->factor, quadratic->size, right);
}

/* y += (H + ridge)^-1 of the residual */
static void refine(struct kf_quadratic *quadratic, size_t free, double ridge, const double *c, double *residual,
                   double *y)
{
    size_t size = quadratic->size;
    kf_quadratic_product(quadratic, y, residual);
    for (size_t k = 0; k < size; k++)
        residual[k] = -(residual[k] + c[k] + (k >= free ? ridge * y[k] : 0));
    solve(quadratic, residual);
    kf_add(size, 1, residual, y);
}

/* y, whose norm is about the radius, gets it by going along dy/dv = -along. Scaling it would go uphill where H is steep. */
static void meet_radius(size_t size, size_t free, double radius, const double *along, double *y)
{
    for (int round = 0; round < 3; round++) {
        double excess = kf_square(size - free, y + free) - radius * radius;
        kf_add(size, -excess / (2 * kf_dot(size - free, y + free, along + free)), along, y);
    }
}

bool kf_quadratic_in_ball(struct kf_quadratic *quadratic, struct kf_task *task, const double *c, double *y)
{
    size_t size = quadratic->size, free = task->problem.objective.free;
    double *found = quadratic->vector[1], *bent = quadratic->vector[2], radius = task->problem.domain.first, ridge = 0;
    for (int round = 0; round < BALL_ROUNDS_MOST && kf_toil_left(task); round++) {
        kf_spend(&task->stage, kf_cost_factor((double)size));
        if (!factorise(quadratic, free, ridge, NULL))
            return false;
        memset(found, 0, size * sizeof *found);
        refine(quadratic, free, ridge, c, bent, found);
        refine(quadratic, free, ridge, c, bent, found);
        double square = kf_square(size - free, found + free), norm = sqrt(square);
        memcpy(bent, found, size * sizeof *bent);
        memset(bent, 0, free * sizeof *bent);
        solve(quadratic, bent);
        double next = ridge + square / kf_dot(size - free, found + free, bent + free) * (norm - radius) / radius;
        if (!isfinite(next))
            return false;
        if (fabs(norm - radius) <= BALL_NEAR * radius || next <= ridge) {
            meet_radius(size, free, radius, bent, found);
            kf_project(&task->problem, found);
            memcpy(y, found, size * sizeof *y);
            return true;
        }
        ridge = next;
    }
    return false;
}

/* vector[0] = the gradient at y. held[k] = 1 where y lies on a bound that the gradient presses it to; with `one` also on all other
 * bounds but the one that it draws away from most. Gradients are what they are above their common part, which a
 * constant sum makes void. */
static void find_face(struct kf_quadratic *quadratic, const struct kf_problem *problem, const double *c, bool one,
                      const double *y, double *held)
{
    size_t size = quadratic->size, free = problem->objective.free, first = size;
    const struct kf_domain *domain = &problem->domain;
    double low = domain->type->lowest(domain), high = domain->type->highest(domain), most = 0;
    double *gradient = quadratic->vector[0];
    kf_quadratic_product(quadratic, y, gradient);
    kf_add(size, 1, c, gradient);
    double common = domain->type->constant_sum ? kf_dot(size - free, y + free, gradient + free) : 0;
    for (size_t k = 0; k < size; k++) {
        bool below = k >= free && y[k] <= low, above = k >= free && y[k] >= high;
        double inward = below ? common - gradient[k] : gradient[k] - common;
        held[k] = (below || above) && (one || inward <= 0);
        if ((below || above) && inward > most) {
            most = inward;
            first = k;
        }
    }
    if (first < size)
        held[first] = 0;
}

static double entry(const struct kf_quadratic *quadratic, size_t a, size_t b)
{
    return a < b ? quadratic->hessian[a * quadratic->size + b] : quadratic->hessian[b * quadratic->size + a];
}

/* Where the sum is constant, the pivot pays for what the others of the face gain: it is the largest of them. */
static size_t find_pivot(size_t size, size_t free, const double *y, const double *held)
{
    size_t pivot = size;
    for (size_t k = free; k < size; k++)
        if (held[k] == 0 && (pivot == size || y[k] > y[pivot]))
            pivot = k;
    return pivot;
}

/* Factor of H over the moves that keep the sum: one for each coordinate of the face but the pivot. */
static bool factorise_moves(struct kf_quadratic *quadratic, size_t free, size_t pivot, const double *held)
{
    size_t size = quadratic->size;
    for (size_t a = 0; a < size; a++)
        for (size_t b = a; b < size; b++) {
            double *to = quadratic->factor + a * size + b;
            bool out = held[a] != 0 || held[b] != 0 || a == pivot || b == pivot;
            *to = out ? a == b : entry(quadratic, a, b);
            if (!out && a >= free)
                *to -= entry(quadratic, pivot, b);
            if (!out && b >= free)
                *to -= entry(quadratic, a, pivot);
            if (!out && a >= free && b >= free)
                *to += entry(quadratic, pivot, pivot);
        }
    return kf_cholesky(size, quadratic->factor, size);
}

/* The step to the minimiser over the face, in vector[1]; vector[0] is the gradient at y. False: no factor. */
static bool aim(struct kf_quadratic *quadratic, const struct kf_problem *problem, const double *y, const double *held)
{
    size_t size = quadratic->size, free = problem->objective.free, pivot = size;
    double *gradient = quadratic->vector[0], *step = quadratic->vector[1], sum = 0;
    if (problem->domain.type->constant_sum)
        pivot = find_pivot(size, free, y, held);
    if (pivot < size ? !factorise_moves(quadratic, free, pivot, held) : !factorise(quadratic, free, 0, held))
        return false;
    for (size_t k = 0; k < size; k++) {
        bool pays = pivot < size && k >= free;
        step[k] = held[k] != 0 || k == pivot ? 0 : (pays ? gradient[pivot] : 0) - gradient[k];
    }
    solve(quadratic, step);
    for (size_t k = free; k < size && pivot < size; k++)
        sum += step[k];
    if (pivot < size)
        step[pivot] = -sum;
    return true;
}

/* y moves all of the step, projected, if that gains; which may change many bounds at once. */
static bool leap(struct kf_quadratic *quadratic, const struct kf_task *task, double *y)
{
    size_t size = quadratic->size;
    const double *gradient = quadratic->vector[0], *step = quadratic->vector[1];
    double *move = quadratic->vector[2], *bent = quadratic->vector[4];
    memcpy(move, y, size * sizeof *move);
    kf_add(size, 1, step, move);
    kf_project(&task->problem, move);
    memcpy(bent, move, size * sizeof *bent);
    kf_add(size, -1, y, move);
    double slope = kf_dot(size, gradient, move);
    memcpy(y, bent, size * sizeof *y); /* for now */
    kf_quadratic_product(quadratic, move, bent);
    if (slope + kf_dot(size, move, bent) / 2 <= GAIN_LEAST * kf_dot(size, gradient, step))
        return true;
    kf_add(size, -1, move, y);
    return false;
}

/* The length at which coordinate k meets a bound. */
static double room(const struct kf_domain *domain, double y, double step)
{
    if (step == 0)
        return INFINITY;
    double bound = step < 0 ? domain->type->lowest(domain) : domain->type->highest(domain);
    return fmax((bound - y) / step, 0);
}

/* y moves straight along the step, up to the first bounds in its way, which hold it from now on. False: nothing is in its way. */
static bool walk(struct kf_quadratic *quadratic, const struct kf_problem *problem, double *y, double *held, bool *moved)
{
    const struct kf_domain *domain = &problem->domain;
    const double *step = quadratic->vector[1];
    size_t size = quadratic->size, free = problem->objective.free;
    double length = 1;
    for (size_t k = free; k < size; k++)
        if (held[k] == 0)
            length = fmin(length, room(domain, y[k], step[k]));
    bool blocked = false;
    for (size_t k = 0; k < size; k++) {
        double from = y[k];
        bool meets = k >= free && held[k] == 0 && length < 1 && room(domain, from, step[k]) <= length;
        if (meets) {
            y[k] = step[k] < 0 ? domain->type->lowest(domain) : domain->type->highest(domain);
            held[k] = 1;
        } else {
            y[k] += length * step[k];
        }
        blocked |= meets;
        *moved |= y[k] != from;
    }
    return blocked;
}

static double largest_size(size_t count, const double *v)
{
    double most = 0;
    for (size_t k = 0; k < count; k++)
        most = fmax(most, fabs(v[k]));
    return most;
}

bool kf_quadratic_on_faces(struct kf_quadratic *quadratic, struct kf_task *task, const double *c, double *y)
{
    size_t size = quadratic->size;
    double *gradient = quadratic->vector[0], *held = quadratic->vector[3];
    bool one = false;
    kf_project(&task->problem, y);
    for (int factors = 0; factors < FACTORS_MOST && kf_toil_left(task);) {
        bool moved = false, first = true;
        find_face(quadratic, &task->problem, c, one, y, held);
        do {
            if (!aim(quadratic, &task->problem, y, held))
                return false;
            factors++;
            kf_spend(&task->stage, kf_cost_factor((double)size));
            if (first && largest_size(size, quadratic->vector[1]) <= KF_PRECISE * largest_size(size, y)) {
                walk(quadratic, &task->problem, y, held, &moved);
                kf_project(&task->problem, y);
                return true;
            }
            if (first && !one && leap(quadratic, task, y)) {
                moved = true;
                break;
            }
            first = false;
            bool blocked = walk(quadratic, &task->problem, y, held, &moved);
            kf_project(&task->problem, y); /* rounding */
            kf_quadratic_product(quadratic, y, gradient);
            kf_add(size, 1, c, gradient);
            if (!blocked)
                break;
        } while (factors < FACTORS_MOST && kf_toil_left(task));
        if (!moved && one)
            return true; /* not even one bound can be left */
        one = !moved;
    }
    return false;
}
