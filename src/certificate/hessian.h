/* The Hessian of the mean objective at some x, as numbers, and what is made of it. How it is represented is a family with a record a member:
 *
 *   dense   all of it, with its Cholesky factor and its inverse (dense_hessian.c)
 *
 * Bounds go by the inverse: (1 - slack) times the inverse of exactly what `inverse` holds is no more than H. */
#ifndef KF_HESSIAN_H
#define KF_HESSIAN_H

#include <math.h>

#include "optimum/optimum.h"

/* One is used again while the weight has not grown by more than this, and x not moved too far. */
#define KF_GROWTH_MOST 2 /* speed: bench/tuning.md */

struct kf_hessian {
    const struct kf_hessian_type *type;
    size_t size, capacity; /* leading dimension of the matrices: capacity */
    double *matrix;        /* H, both triangles; while it is gathered the sum, and the lower one */
    double *inverse;
    double *factor;    /* Cholesky factor of the whole Hessian, for steps */
    double *excess;    /* room for one more */
    double *work;      /* the vectors below, and four more */
    double *width;     /* roots of the inverse's diagonal */
    double *peak;      /* the largest that H's diagonal has been since it was 0; */
    double operations; /* and how many there have been on each number of H since then */
    double slack;      /* by which share of it H may be less than what `inverse` is the inverse of */
    double *columns;   /* rows that are multiplied, and what comes out */
    size_t columns_capacity;
};

struct kf_curvature;
struct kf_heritage;

struct kf_hessian_type {
    const char *name;
    bool (*suits)(const struct kf_problem *problem);
    /* Room for so many coordinates, which are more than there was room for; what is there stays. False: out of memory, and nothing is left. */
    bool (*room)(struct kf_hessian *hessian, size_t capacity);
    /* Coordinates that no point of H has: there it is the regulariser's, or 0 while it is gathered. There is room. */
    void (*widen)(struct kf_hessian *hessian, size_t size, double ridge, bool gathering);
    /* H becomes 0. */
    void (*clear)(struct kf_hessian *hessian);
    /* The points from .. to-1 join the sum, with the curvatures that they have at x, or that their slopes say (not NULL). False: out of
     * memory. */
    bool (*gather)(struct kf_hessian *hessian, struct kf_curves *curves, struct kf_task *task, const double *x,
                   const double *slopes, size_t from, size_t to);
    /* The sum becomes the mean, with the regulariser, and is factorised. False: it has no factor. And back. */
    bool (*close)(struct kf_hessian *hessian, const struct kf_problem *problem);
    void (*reopen)(struct kf_hessian *hessian, const struct kf_problem *problem, double weight, double ridge);
    /* H becomes the mean, over `weight`, of points with these curvatures. False: out of memory. */
    bool (*assemble)(struct kf_hessian *hessian, struct kf_curves *curves, const struct kf_problem *problem,
                     const double *of, size_t count, double weight, double ridge);
    /* Takes scale times point j's part out of it. */
    void (*take_out)(struct kf_hessian *hessian, const struct kf_curves *curves, const struct kf_problem *problem,
                     size_t j, double scale);
    /* v = (whole Hessian)^-1 v */
    void (*step)(const struct kf_hessian *hessian, double *v);
    /* The inverse, with its widths and the slack. False: H is not positive definite, as far as rounding lets be seen. */
    bool (*invert)(struct kf_hessian *hessian);
    void (*times)(const struct kf_hessian *hessian, const double *v, double *out);
    void (*times_inverse)(const struct kf_hessian *hessian, const double *v, double *out);
    /* row'H^-1 row; *bent is H^-1 row until the next call that needs such room. */
    double (*bend)(const struct kf_hessian *hessian, const struct kf_kernels *kernels, const keepfit_row *row,
                   double **bent);
    /* row'H^-1 row alone, of one row, or of KF_COLUMNS at most that cover all coordinates, which lie in `columns` one after the other. */
    double (*leverage)(const struct kf_hessian *hessian, const struct kf_kernels *kernels, const keepfit_row *row);
    void (*leverages)(const struct kf_hessian *hessian, size_t count, double *leverages);
    /* All that H has been made of is put by for a comparison; and a number that the new H is at least times the one put by, 0: not known.
     * NULL: the two are not compared. */
    void (*put_by)(struct kf_hessian *hessian);
    double (*compare)(struct kf_hessian *hessian, double margin_before);
    /* K, where it is less than R by as much as matters for the target. False: out of memory. NULL: R it is. */
    bool (*find_reach)(struct kf_curvature *curvature, struct kf_task *task, double target);
    void (*archive)(struct kf_hessian *hessian, bool factor, bool matrix, bool inverse, struct kf_archive *archive);
    void (*free)(struct kf_hessian *hessian);
};

extern const struct kf_hessian_type kf_dense_hessian;

/* What it takes to be worth its while, of those that there are; NULL: none. */
static inline const struct kf_hessian_type *kf_hessian_for(const struct kf_problem *problem)
{
    return kf_dense_hessian.suits(problem) ? &kf_dense_hessian : NULL;
}

/* Number k on H's diagonal. */
static inline double kf_hessian_diagonal(const struct kf_hessian *hessian, size_t k)
{
    return hessian->matrix[k * hessian->capacity + k];
}

/* One of four vectors to work with. */
double *kf_hessian_scratch(const struct kf_hessian *hessian, size_t k);
/* What rounding may have done to H, as a matrix: number k of a diagonal one. */
double kf_hessian_margin(const struct kf_hessian *hessian, size_t k);
/* The largest that numbers on H's diagonal have been so far are taken note of, before something is taken out of it. */
void kf_hessian_note_peaks(struct kf_hessian *hessian);
/* No eigenvalue of H is larger. */
double kf_hessian_trace(const struct kf_hessian *hessian);
/* sum |a_k| width_k */
double kf_hessian_size_of_row(const struct kf_hessian *hessian, const keepfit_row *row);

#endif
