/* Shared by the files of this folder. */
#ifndef KF_CERTIFICATE_INTERNAL_H
#define KF_CERTIFICATE_INTERNAL_H

#include <math.h>

#include "base/logarithm.h"
#include "certificate/curvature.h"
#include "certificate/verified.h"
#include "problem/gap.h"

/* Of H at most this share is given up for points whose curvature has become much smaller than that of the others. */
#define KF_GIVEN_UP_MOST 0.05

/* M: the loss's third derivative is at most this times its second. */
static inline double kf_concordance(const struct kf_problem *problem)
{
    return problem->objective.loss->concordance;
}

/* 2 (t + (1-t) ln(1-t))/t^2, for 0 <= t < 1: what the gap may be, as a multiple of half the squared decrement. */
static inline double kf_concordant_excess(double t)
{
    if (t < 1e-2) /* 1 + t/3 + t^2/6 + t^3/10 + ..., without its cancellation */
        return 1 + t / 3 + t * t / (6 * (1 - t));
    /* The terms are about t, and cancel to t^2/2: what they are off by is less than 2^-51 t. */
    return 2 * (t + (1 - t) * kf_log1p(-t) + 0x1p-51 * t) / (t * t);
}

/* v = (whole Hessian)^-1 v */
void kf_curvature_solve(const struct kf_curvature *curvature, double *v);
/* H^-1, from H's lower triangle, with its widths and the slack. False: H is not positive definite, as far as rounding lets be seen. */
bool kf_curvature_invert(struct kf_curvature *curvature);

/* A matrix as large as H. */
static inline struct kf_square kf_like_hessian(const struct kf_curvature *curvature, double *numbers)
{
    return (struct kf_square){numbers, curvature->hessian.size, curvature->hessian.capacity};
}
/* What rounding may have done to H, as a matrix: number k of a diagonal one. */
double kf_hessian_margin(const struct kf_curvature *curvature, size_t k);
/* The largest that numbers on H's diagonal have been so far are taken note of, before something is taken out of it. */
void kf_hessian_note_peaks(struct kf_curvature *curvature);
/* No eigenvalue of H is larger. */
double kf_curvature_trace(const struct kf_curvature *curvature);
/* All of one matrix goes to another. */
void kf_curvature_copy(const struct kf_curvature *curvature, const double *from, double *to);
/* One triangle's numbers go to the other. */
void kf_curvature_mirror(const struct kf_curvature *curvature, double *matrix);
/* One of four vectors to work with. */
double *kf_curvature_scratch(const struct kf_curvature *curvature, size_t k);
/* out = matrix v, H or its inverse */
void kf_curvature_times(const struct kf_curvature *curvature, const double *matrix, const double *v, double *out);
/* c: the Hessian at x, now, is at least c H, where scores have moved by up to `stretch`. */
double kf_curvature_shrinkage(const struct kf_curvature *curvature, const struct kf_problem *problem, double stretch);
/* The bound where |g|^2_{H^-1} is `square`: the first, which does not count where t is `most` or more, or, where that is not enough, the
 * smaller of the two. */
double kf_curvature_bound_at(const struct kf_curvature *curvature, const struct kf_problem *problem, double square,
                             double c, double most, double enough);

/* row'H^-1 row; *bent is H^-1 row until the next call that needs such room. */
double kf_curvature_bend(const struct kf_curvature *curvature, const struct kf_problem *problem, const keepfit_row *row,
                         double **bent);
/* row'H^-1 row, and what rounding may have taken from it */
double kf_leverage_upward(const struct kf_curvature *curvature, const keepfit_row *row, double leverage);
/* The same of point j, from the row. */
double kf_leverage(const struct kf_curvature *curvature, const struct kf_problem *problem, size_t j);
/* R, and what is left out of H, whose inverse is made. False: there is none. */
bool kf_leverages_find(struct kf_curvature *curvature, struct kf_task *task, double target);
/* K, where it is less than R by as much as matters for the target; H's inverse is there. False: no memory. */
bool kf_reach_find(struct kf_curvature *curvature, struct kf_task *task, double target);
/* What is known of leverages serves for the next H as well: that is at least c times the one before, by the argument that gives c, or as
 * much as a comparison of the two shows, where no point is left out of them. The one before is put by when a new one begins. */
struct kf_heritage {
    double c, slack;
    double margin; /* what its numbers may be off by, as a share of its diagonal */
    size_t size, known;
    bool compares;
};
struct kf_heritage kf_curvature_bequeath(struct kf_curvature *curvature, double c);
keepfit_status kf_curvature_inherit(struct kf_curvature *curvature, struct kf_task *task,
                                    const struct kf_heritage *heritage);
/* A number that H is at least times the one in `inverse`, which is lost; 0: that is not known. H's factor is there. */
double kf_leverages_compare(struct kf_curvature *curvature, const struct kf_heritage *heritage);
/* Whether measuring all leverages takes longer than a comparison. */
bool kf_leverages_are_dear(const struct kf_curvature *curvature, const struct kf_problem *problem);
/* Whether points are left out of H. */
bool kf_leverages_are_marked(const struct kf_curvature *curvature);
/* max |a_j.delta| over the points in H */
double kf_scores_most(const struct kf_curvature *curvature, const struct kf_problem *problem, const double *delta);

#endif
