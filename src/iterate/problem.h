/* What a method works on: objective, domain, random numbers, and the vectors of the model's size, which all grow
 * together when the stream brings new features or classes.
 *
 * Methods move an iterate by one primitive, kf_step. It is written for a dense iterate here; everything that a method
 * does to an iterate goes through the functions below, so that another representation can take their place. */
#ifndef KF_PROBLEM_H
#define KF_PROBLEM_H

#include "base/options.h"
#include "base/random.h"
#include "domain/domain.h"
#include "objective/objective.h"

#define KF_VECTORS_MOST 32
#define KF_FACTOR_BUFFERS 4

struct kf_problem {
    const keepfit_options *options;
    struct kf_objective objective;
    struct kf_domain domain;
    struct kf_points points;
    struct kf_random random;
    uint64_t steps;

    double *x;                          /* the model: the output of the last stage */
    double bound;                       /* proved bound on the gap at x, where the method keeps one; otherwise NaN */
    double *scratch;                    /* one vector, for projections */
    double *spare;                      /* another, for kf_gap_bound */
    double *factors[KF_FACTOR_BUFFERS]; /* factors of single points */

    double **vectors[KF_VECTORS_MOST]; /* all vectors of the model's size, x and scratch included */
    size_t vector_count;
    size_t vector_capacity; /* numbers allocated for each */
    size_t factor_capacity;
};

keepfit_status kf_problem_create(struct kf_problem *problem, const keepfit_options *options, keepfit_error *error);
void kf_problem_free(struct kf_problem *problem);

/* Registers a vector: *vector is allocated, zero, and from now on follows the model's size. Freed with the problem. */
bool kf_problem_vector(struct kf_problem *problem, double **vector);

/* Makes room for slots x outputs; numbers keep their (slot, output) place, new ones are 0, except that x is put back into
 * the domain. False: out of memory, and the size has not changed. */
bool kf_problem_resize(struct kf_problem *problem, size_t slots, size_t outputs);

static inline size_t kf_size(const struct kf_problem *problem)
{
    return kf_dimension(&problem->objective);
}

void kf_copy(const struct kf_problem *problem, double *to, const double *from);
void kf_clear(const struct kf_problem *problem, double *vector);

/* The nearest point of the domain (free coordinates stay). */
void kf_project(const struct kf_problem *problem, double *x);

/* One sampled gradient in a step: scale times the gradient that the factors of point j stand for. */
struct kf_term {
    double scale;
    size_t point;
    const double *factors;
};

/* x <- P( x - step * (2 lambda x + drift_scale * drift + sum of terms) ); drift may be NULL. Counts one step. */
void kf_step(struct kf_problem *problem, double *x, double step, const double *drift, double drift_scale,
             const struct kf_term *terms, size_t count);

/* A weighted mean of iterates, kept as the mean so far. */
struct kf_average {
    double *mean;
    double weight;
};

void kf_average_start(struct kf_average *average);
void kf_average_add(const struct kf_problem *problem, struct kf_average *average, double weight, const double *x);

/* max over y in D of -gradient.(y-x) - mu/2 |y-x|^2, attained at y = P(x - gradient/mu): by strong convexity no point of D
 * is better than x by more. In the whole space it is |gradient|^2/(2 mu). NaN where nothing is proved (mu = 0, or free
 * coordinates). */
double kf_gap_bound(const struct kf_problem *problem, const double *x, const double *gradient);

#endif
