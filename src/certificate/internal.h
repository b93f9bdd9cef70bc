/* Shared by the files of this folder. */
#ifndef KF_CERTIFICATE_INTERNAL_H
#define KF_CERTIFICATE_INTERNAL_H

#include <math.h>

#include "base/logarithm.h"
#include "certificate/curvature.h"
#include "certificate/fall.h"
#include "certificate/verified.h"
#include "problem/costs.h"
#include "problem/gap.h"

/* Of H at most this share is given up for points whose curvature has become much smaller than that of the others. */
#define KF_GIVEN_UP_MOST 0.05 /* speed: bench/tuning.md */

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

/* A matrix as large as H. */
static inline struct kf_square kf_like_hessian(const struct kf_hessian *hessian, double *numbers)
{
    return (struct kf_square){numbers, hessian->size, hessian->capacity};
}

/* Room for so many coordinates. False: out of memory, and nothing is left. */
bool kf_curvature_room(struct kf_curvature *curvature, const struct kf_problem *problem, size_t capacity);
/* How many numbers `leverages` has. */
size_t kf_leverages_listed(const struct kf_curvature *curvature);
/* c: the Hessian at x, now, is at least c H, where scores have moved by up to `stretch`. */
double kf_curvature_shrinkage(const struct kf_curvature *curvature, const struct kf_problem *problem, double stretch);
/* The bound where |g|^2_{H^-1} is `square`: the first, which does not count where t is `most` or more, or, where that is not enough, the
 * smaller of the two. */
double kf_curvature_bound_at(const struct kf_curvature *curvature, const struct kf_problem *problem, double square,
                             double c, double most, double enough);

/* row'H^-1 row, and what rounding may have taken from it */
double kf_leverage_upward(const struct kf_curvature *curvature, const keepfit_row *row, double leverage);
/* The same of point j, from the row. */
double kf_leverage(const struct kf_curvature *curvature, const struct kf_problem *problem, size_t j);
/* Those of all points that are in H, and R. */
void kf_leverages_measure_all(struct kf_curvature *curvature, struct kf_task *task);
/* H again, of the points that are not left out (whose leverage is not negative), from their curvatures. False: no memory. */
bool kf_leverages_assemble(struct kf_curvature *curvature, struct kf_task *task);
/* H's inverse. Where a few points are so large that rounding in what they have made of H hides all others, it is made without them. */
bool kf_leverages_invert(struct kf_curvature *curvature, struct kf_task *task);
/* The same, where curvatures fall as concordance says: in pieces, once all leverages are measured. */
bool kf_leverages_choose(struct kf_curvature *curvature, const struct kf_problem *problem, double target, bool *again);
/* R, and what is left out of H, whose inverse is made. False: there is none. */
bool kf_leverages_find(struct kf_curvature *curvature, struct kf_task *task, double target);
/* K, where it is less than R by as much as matters for the target; H's inverse is there. False: no memory. */
bool kf_dense_find_reach(struct kf_curvature *curvature, struct kf_task *task, double target);
/* What is known of leverages serves for the next H as well: that is at least c times the one before, by the argument that gives c, or as
 * much as a comparison of the two shows, where no point is left out of them. The one before is put by when a new one begins. */
struct kf_heritage {
    double c, slack;
    double
        faint; /* what the next H may be less than c of this one by, as a share of it, since curvatures are lower bounds */
    double margin; /* what its numbers may be off by, as a share of its diagonal */
    size_t size, known;
    bool compares;
};
struct kf_heritage kf_curvature_bequeath(struct kf_curvature *curvature, const struct kf_problem *problem, double c);
keepfit_status kf_curvature_inherit(struct kf_curvature *curvature, struct kf_task *task,
                                    const struct kf_heritage *heritage);
/* Whether measuring all leverages takes longer than a comparison. */
bool kf_leverages_are_dear(const struct kf_curvature *curvature, const struct kf_problem *problem);
/* Whether points are left out of H. */
bool kf_leverages_are_marked(const struct kf_curvature *curvature);
/* max |a_j.delta| over the points in H */
double kf_scores_most(const struct kf_curvature *curvature, const struct kf_problem *problem, const double *delta);

#endif
