/* Minimise y'Hy/2 + c'y over the problem's domain, for a dense positive definite H: by Cholesky in the whole space, by
 * accelerated projected gradient (Nesterov's, restarted when it turns uphill) inside a domain. The data is not touched. */
#ifndef KF_QUADRATIC_H
#define KF_QUADRATIC_H

#include "iterate/problem.h"

struct kf_quadratic {
    double *hessian; /* size x size, lower triangle */
    double *factor;  /* its Cholesky factor */
    double *vector[4];
    size_t size, capacity;
};

/* Room for matrices of this size; contents are undefined afterwards if the size grew. */
bool kf_quadratic_reserve(struct kf_quadratic *quadratic, size_t size);
void kf_quadratic_free(struct kf_quadratic *quadratic);

/* out = H v */
void kf_quadratic_product(const struct kf_quadratic *quadratic, const double *v, double *out);

/* Factorises H + ridge*I, with the smallest ridge (0 first) that works. False: H holds non-finite numbers. */
bool kf_quadratic_factorise(struct kf_quadratic *quadratic);

/* Moves y, the starting point, to the minimiser. In the whole space H must have been factorised. Inside a domain it stops when
 * a round moves no coordinate by more than `precision`, relative to the largest. */
void kf_quadratic_minimise(struct kf_quadratic *quadratic, const struct kf_problem *problem, const double *c,
                           double precision, double *y);

/* With it the value is exact to rounding: the error of y is squared, and scaled by at most the condition number. */
#define KF_PRECISE 1e-13

#endif
