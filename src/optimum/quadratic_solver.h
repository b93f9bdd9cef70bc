/* Minimise y'Hy/2 + c'y over the problem's domain, for a dense positive definite H: by Cholesky in the whole space, by
 * factors on the faces of a domain (face.c), and where that does not end by accelerated projected gradient (Nesterov's,
 * restarted when it turns uphill). The data is not touched. */
#ifndef KF_QUADRATIC_SOLVER_H
#define KF_QUADRATIC_SOLVER_H

#include "iterate/task.h"

/* So many rounds of a solver are between two looks at whether it is done. */
#define KF_CHECK_EVERY 8 /* safety: a look costs about a round; from half to double nothing moves */

struct kf_quadratic {
    double *hessian; /* size x size, lower triangle */
    double *factor;  /* its Cholesky factor */
    double *vector[5];
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
 * a round moves no coordinate by more than KF_PRECISE, relative to the largest, or when y is proved to be within `enough` of
 * the least value, mu being the convexity of the coordinates that are not free; enough = 0: never. */
void kf_quadratic_minimise(struct kf_quadratic *quadratic, struct kf_task *task, const double *c, double mu,
                           double enough, double *y);

/* The two ways by factors of H (face.c): for the ball, where the minimiser over the whole space lies outside of it; and for
 * domains given by bounds. False: they did not come to an end, or the stage's work did. */
bool kf_quadratic_in_ball(struct kf_quadratic *quadratic, struct kf_task *task, const double *c, double *y);
bool kf_quadratic_on_faces(struct kf_quadratic *quadratic, struct kf_task *task, const double *c, double *y);

/* With it the value is exact to rounding: the error of y is squared, and scaled by at most the condition number. */
#define KF_PRECISE 1e-13 /* safety: squared, below rounding */

#endif
