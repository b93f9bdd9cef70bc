/* What a method works on: objective, domain, random numbers, the iterate (iterate.h), and the vectors of the model's size,
 * which all grow together when the stream brings new features or classes. */
#ifndef KF_PROBLEM_H
#define KF_PROBLEM_H

#include <math.h>

#include "base/archive.h"
#include "base/options.h"
#include "base/random.h"
#include "domain/domain.h"
#include "iterate/iterate.h"
#include "objective/rounding.h"

#define KF_VECTORS_MOST 48
#define KF_FACTOR_BUFFERS 4

struct kf_problem {
    const keepfit_options *options;
    struct kf_objective objective;
    struct kf_domain domain;
    struct kf_points points;
    struct kf_random random;
    uint64_t steps;

    struct kf_iterate iterate; /* the model: the output of the last stage */
    double *x;                 /* it as a plain vector: itself where dense, otherwise after kf_read */
    double arrival_loss;       /* of the newest point, where the stage that takes it begins; NaN: not computed */
    double bound;              /* proved bound on the gap at x, where the method keeps one; otherwise NaN */
    double target;             /* what it has to be at most at this stage; NaN where nothing is promised */
    uint64_t fo_before;        /* FOs before this stage */
    uint64_t allowance;        /* and how many it may spend; UINT64_MAX: any number */
    double work;               /* dense algebra, in nominal nanoseconds, since it was last looked at (kf_spend) */
    double toil, toil_most;    /* what the stage has done besides FOs, and what it may do with them (kf_toil) */
    uint64_t toil_from;        /* FOs before */
    const volatile int *stop;  /* a flag that ends the stage's work early; may be NULL */
    double *scratch;           /* one vector, for projections; NULL where there are none */
    double *spare;             /* another, for kf_gap_bound inside a domain */
    double *doubt;             /* what the numbers of a gradient may be off by, while a bound is made of them */
    double *factors[KF_FACTOR_BUFFERS]; /* factors of single points */

    double **vectors[KF_VECTORS_MOST]; /* all vectors of the model's size, x and scratch included */
    size_t widths[KF_VECTORS_MOST];    /* numbers a coordinate: 1, or 2 for pairs */
    size_t vector_count;
    size_t vector_capacity; /* numbers allocated for each */
    size_t factor_capacity;
};

keepfit_status kf_problem_create(struct kf_problem *problem, const keepfit_options *options, keepfit_error *error);
void kf_problem_free(struct kf_problem *problem);

/* Registers a vector: *vector is allocated, zero, and from now on follows the model's size. Freed with the problem. */
bool kf_problem_vector(struct kf_problem *problem, double **vector);
/* The same with two numbers a coordinate, side by side. */
bool kf_problem_pairs(struct kf_problem *problem, double **pairs);

/* Makes room for slots x outputs; numbers keep their (slot, output) place, new ones are 0, except that a network's new
 * weights in x are drawn, and that x is put back into the domain. False: out of memory, and the size has not changed. */
bool kf_problem_resize(struct kf_problem *problem, size_t slots, size_t outputs);

/* The whole of it but the points, which have to be there already, and what the options say; reading, it has the size of another
 * problem at first. Vectors whose content does not outlive a stage are only made, as far as they are there. */
void kf_problem_archive(struct kf_problem *problem, struct kf_archive *archive);
/* A registered vector, for those who have some; reading, it is registered if it was and is not yet. */
void kf_problem_archive_vector(struct kf_problem *problem, struct kf_archive *archive, double **vector);

static inline size_t kf_size(const struct kf_problem *problem)
{
    return kf_dimension(&problem->objective);
}

/* What a stage does besides FOs, in nominal nanoseconds: numbers of operations, never a clock. When there is no end to it, it
 * ends as if its gradients were spent (fit/promise.c says when). */
static inline void kf_toil(struct kf_problem *problem, double nanoseconds)
{
    problem->toil += nanoseconds;
}

/* The same, and for auto, which compares methods by their work. */
static inline void kf_spend(struct kf_problem *problem, double nanoseconds)
{
    problem->work += nanoseconds;
    kf_toil(problem, nanoseconds);
}

/* A gradient, in the same nanoseconds. */
#define KF_GRADIENT_ITSELF 20.0
static inline double kf_gradient_toil(const struct kf_problem *problem)
{
    const struct kf_points *points = &problem->points;
    double entries = points->count ? (double)points->entries / (double)points->count : 0;
    return KF_GRADIENT_ITSELF + entries * (double)problem->objective.outputs;
}

static inline double kf_pass_toil(const struct kf_problem *problem)
{
    return (double)problem->points.count * kf_gradient_toil(problem);
}

/* All that the stage has done so far, and how many gradients it may still compute by that. */
static inline double kf_toil_done(const struct kf_problem *problem)
{
    return problem->toil + (double)(problem->objective.fo - problem->toil_from) * kf_gradient_toil(problem);
}

static inline uint64_t kf_toil_left(const struct kf_problem *problem)
{
    double left = (problem->toil_most - kf_toil_done(problem)) / kf_gradient_toil(problem);
    return left >= 1e18 ? UINT64_MAX : left > 0 ? (uint64_t)left : 0;
}

/* Whether there is a limit to what a stage may spend. */
static inline bool kf_is_limited(const struct kf_problem *problem)
{
    return problem->options->stage_budget || !isnan(problem->options->max_stage_work);
}

/* Gradients that the stage may still compute; none when it was asked to stop. */
static inline uint64_t kf_left(const struct kf_problem *problem)
{
    uint64_t spent = problem->objective.fo - problem->fo_before, toil = kf_toil_left(problem);
    if (problem->stop && *problem->stop)
        return 0;
    uint64_t left = spent < problem->allowance ? problem->allowance - spent : 0;
    return left < toil ? left : toil;
}

/* Whether the stage may compute so many gradients more. */
static inline bool kf_affords(const struct kf_problem *problem, uint64_t gradients)
{
    return gradients <= kf_left(problem);
}

void kf_copy(const struct kf_problem *problem, double *to, const double *from);
void kf_clear(const struct kf_problem *problem, double *vector);

/* The nearest point of the domain (free coordinates stay). */
void kf_project(const struct kf_problem *problem, double *x);

/* max over y in D of -gradient.(y-x) - mu/2 |y-x|^2, attained at y = P(x - gradient/mu): by strong convexity no point of D
 * is better than x by more. In the whole space it is |gradient|^2/(2 mu). A free intercept b adds |its gradient| |b - b*|, where
 * b* is known to lie within bounds (squared, huber, hinge). The gradient's numbers may be off by those of `doubt` (kf_complete_doubt; may be
 * NULL), and all of it by a vector no longer than `more`; rounding is taken into account. NaN where nothing is proved: mu = 0, other free coordinates, or a network, which is not convex. */
double kf_gap_bound(const struct kf_problem *problem, const double *x, const double *gradient, const double *doubt,
                    double more);
/* The same after a pass at x, whose sum is given; gradient receives what it makes (and may be the sum itself). */
double kf_gap_bound_of_pass(struct kf_problem *problem, const double *x, double *sum, double *gradient);

/* Whether kf_gap_bound is a number, lambda being above 0. */
bool kf_bounds_gap(const struct kf_problem *problem);

/* The same over the coordinates that are not free, for any function of convexity mu; `more` is how far the gradient may be off besides, as
 * a length. */
double kf_held_bound(const struct kf_problem *problem, double mu, const double *x, const double *gradient,
                     const double *doubt, double more);

/* About as much, without looking at rounding. With free coordinates that have no bound: that of the others, plus the gain of the free ones
 * if their curvature were a tenth of the largest possible. */
double kf_gap_estimate(const struct kf_problem *problem, const double *x, const double *gradient);

#endif
