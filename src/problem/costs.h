/* What the pieces of a stage are believed to take, in nominal nanoseconds: by this auto compares methods, and by this a stage that gets
 * nowhere is ended. What is counted is operations, never a clock, so the same data give the same bits on any machine. The numbers are those
 * of one processor with its data in the caches; bench/bench_costs.c measures them, and bench/costs.md says how far off each is. */
#ifndef KF_COSTS_H
#define KF_COSTS_H

#include "problem/problem.h"

/* A gradient, for itself, for each output, and for each product of an entry, of full and of sparse rows. */
#define KF_COST_GRADIENT 2.5 /* speed: bench/costs.md */
#define KF_COST_OUTPUT 9.0   /* speed: bench/costs.md; softmax's exponentials */
#define KF_COST_FULL 0.16    /* speed: bench/costs.md */
#define KF_COST_SPARSE 0.33  /* speed: bench/costs.md */
#define KF_COST_FIND 0.7     /* speed: bench/costs.md; an entry of a sparse row, for all outputs */
/* A value, besides half a gradient's entries. */
#define KF_COST_VALUE 15.0 /* speed: bench/costs.md */
/* A sampled step, besides its gradient and half of that's entries; and what a coordinate of a dense iterate takes, which the simplex sorts. */
#define KF_COST_STEP 15.0   /* speed: bench/costs.md */
#define KF_COST_INSIDE 0.75 /* speed: bench/costs.md */
#define KF_COST_SORTED 20.0 /* speed: bench/costs.md */
/* A point's part in a Hessian: for itself, and for a product of two entries, of full rows of a score and of all others. */
#define KF_COST_SQUARE 15.0     /* speed: bench/costs.md */
#define KF_COST_PAIR_FULL 0.012 /* speed: bench/costs.md */
#define KF_COST_PAIR 0.25       /* speed: bench/costs.md */
/* The vectors of a round of conjugate gradients, for each coordinate. */
#define KF_COST_VECTORS 2.0 /* speed: bench/costs.md */
/* Matrices, for each product. */
#define KF_COST_FACTOR 0.0038  /* speed: bench/costs.md */
#define KF_COST_INVERSE 0.0085 /* speed: bench/costs.md */
#define KF_COST_SOLVE 0.055    /* speed: bench/costs.md */
#define KF_COST_PRODUCT 0.045  /* speed: bench/costs.md */
#define KF_COST_COLUMN 0.02    /* speed: bench/costs.md; one of many at once */

/* Rows with fewer entries than this part of all coordinates are sparse. */
#define KF_SPARSE_MOST 0.25 /* speed: bench/auto.md */

static inline double kf_entries_of_row(const struct kf_problem *problem)
{
    const struct kf_points *points = &problem->points;
    return points->count ? (double)points->entries / (double)points->count : 0;
}

/* Whether rows are full: they lie in one piece, without the numbers of columns. */
static inline bool kf_rows_are_full(const struct kf_problem *problem)
{
    return kf_entries_of_row(problem) >= (double)problem->objective.slots;
}

/* Whether they have so little that what costs as much as if they were full (Hessians, the products of all rows) is dear beside a gradient. */
static inline bool kf_rows_are_sparse(const struct kf_problem *problem)
{
    return kf_entries_of_row(problem) < KF_SPARSE_MOST * (double)kf_size(problem);
}

/* The products of a row's entries with x. */
static inline double kf_cost_entries(const struct kf_problem *problem)
{
    double outputs = (double)problem->objective.outputs;
    double each = kf_rows_are_full(problem) ? KF_COST_FULL * outputs : KF_COST_FIND + KF_COST_SPARSE * outputs;
    return each * kf_entries_of_row(problem);
}

static inline double kf_cost_gradient(const struct kf_problem *problem)
{
    double outputs = (double)problem->objective.outputs;
    return KF_COST_GRADIENT + (outputs > 1 ? KF_COST_OUTPUT * outputs : 0) + kf_cost_entries(problem);
}

/* One of every point. */
static inline double kf_cost_pass(const struct kf_problem *problem)
{
    return (double)problem->points.count * kf_cost_gradient(problem);
}

static inline double kf_cost_value(const struct kf_problem *problem)
{
    return KF_COST_VALUE + kf_cost_gradient(problem) - kf_cost_entries(problem) / 2;
}

/* A sampled step besides its gradient, of a scaled iterate or of one that is not inside a domain; and of others. */
static inline double kf_cost_step(const struct kf_problem *problem, bool inside)
{
    double each = problem->domain.type->constant_sum ? KF_COST_SORTED : KF_COST_INSIDE;
    return KF_COST_STEP + kf_cost_entries(problem) / 2 + (inside ? each * (double)kf_size(problem) : 0);
}

/* So many points join a Hessian, once their curvatures are known. */
static inline double kf_cost_squares(const struct kf_problem *problem, double points)
{
    double entries = kf_entries_of_row(problem) * (double)problem->objective.outputs;
    bool full = problem->objective.outputs == 1 && kf_rows_are_full(problem);
    return points * (KF_COST_SQUARE + (full ? KF_COST_PAIR_FULL : KF_COST_PAIR) * entries * entries);
}

/* A Hessian's product with a vector, a point. */
static inline double kf_cost_bend(const struct kf_problem *problem)
{
    return KF_COST_STEP + kf_cost_entries(problem);
}

static inline double kf_cost_factor(double size)
{
    return (KF_COST_FACTOR * size + 0.2) * size * size + 20 * size + 100;
}

static inline double kf_cost_inverse(double size)
{
    return (KF_COST_INVERSE * size + 0.5) * size * size + 40 * size;
}

static inline double kf_cost_solve(double size)
{
    return KF_COST_SOLVE * size * size + 8 * size;
}

static inline double kf_cost_product(double size)
{
    return KF_COST_PRODUCT * size * size + 2 * size;
}

static inline double kf_cost_column(double size)
{
    return KF_COST_COLUMN * size * size + size;
}

/* A dense Hessian of all points and its factor. */
static inline double kf_cost_hessian(const struct kf_problem *problem)
{
    return kf_cost_squares(problem, (double)problem->points.count) + kf_cost_factor((double)kf_size(problem));
}

/* Of two Hessians: some steps of the power method, and one or two tries. */
static inline double kf_cost_comparison(double size)
{
    return 2 * kf_cost_factor(size) + 8 * (kf_cost_product(size) + kf_cost_solve(size));
}

/* The products of so many points' rows with a matrix, one at a time or many at once. */
static inline double kf_cost_leverages(const struct kf_problem *problem, double size, double points)
{
    double one = KF_COST_FULL * kf_entries_of_row(problem) * size;
    return points * (kf_rows_are_full(problem) ? kf_cost_column(size) : one);
}

#endif
