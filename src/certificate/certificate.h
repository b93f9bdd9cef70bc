/* What is proved of x. The certificate owns everything that a proof is made of: the gradient sum with what rounding may have done to it, the
 * slopes of the points, the target, and the proofs from curvature (curvature.h) and of free intercepts (intercept.h). It sees every point that
 * comes or leaves and every move of x, and answers with a bound on the gap.
 *
 * A move of x ends with a pass over all points, after which the gradient is exact again, or goes without one: then the slopes are those of
 * an earlier x, and what curvatures make of the moves since says what they are now, and by how much at most that is off. */
#ifndef KF_CERTIFICATE_H
#define KF_CERTIFICATE_H

#include "certificate/class_curvature.h"
#include "certificate/curvature.h"
#include "certificate/goal.h"
#include "certificate/intercept.h"
#include "optimum/products.h"

/* What the gradient sum is, each of these being more than the one before. */
enum kf_gradient {
    KF_GRADIENT_UNKNOWN,
    KF_GRADIENT_EXACT,      /* of x, but for rounding, over all points */
    KF_GRADIENT_REMEMBERED, /* and the slopes are those at x */
    KF_GRADIENT_MODELLED /* the slopes are of an earlier x, from which scores have moved by `moved`; the sum is what H makes of that */
};

/* Of all points, one for each score: what they were when last computed, and how far their scores have moved since. */
struct kf_slopes {
    double *at, *moved, *trial;
    double moved_most, moved_off; /* no number of `moved` is larger in size, nor off by more */
    size_t at_capacity, moved_capacity, trial_capacity;
    bool matching; /* the curvatures in H are those of the slopes, as far as it has points */
};

/* For estimates (--guarantee estimate): Newton's step makes the gradient of the quadratic model 0, and what that is off by is estimated from
 * what passes found it to be off by before. */
struct kf_estimate {
    double *origin;  /* x when its gradient was last computed; NULL: bounds are proved */
    double distance; /* how far it has moved since, */
    double doubt;    /* and the error of the modelled gradient that a unit of it brings */
};

/* Where a step began. */
struct kf_start {
    double *x, *sum, *off;
};

struct kf_certificate {
    enum kf_gradient gradient;
    double *sum, *off; /* of the points' gradients at x, and by how much each number may be off */
    double *complete;  /* the gradient, where it has been asked for */
    double *aside;     /* what `off` was, or room, within one function */
    double square;     /* |x|^2 over the regularised coordinates */
    struct kf_slopes slopes;
    struct kf_start start;
    struct kf_estimate estimate;
    struct kf_outcome now; /* the bound of x as it is, and the target */
    struct kf_goal goal;
    struct kf_curvature curvature;
    struct kf_class_curvature classes; /* where there are several, and few coordinates */
    struct kf_intercept intercept;     /* where an intercept is free */
};

/* plain: bounds go by no Hessian but that of the x at hand. False: out of memory. */
bool kf_certificate_create(struct kf_task *task, struct kf_certificate *certificate, bool plain, bool estimates);
void kf_certificate_free(struct kf_certificate *certificate);
/* The points' losses are others: nothing of what was known is true. */
void kf_certificate_forget(struct kf_certificate *certificate);
void kf_certificate_archive(struct kf_task *task, struct kf_certificate *certificate, struct kf_archive *archive);
/* Asserts all that must hold between two operations. */
void kf_certificate_check(const struct kf_task *task, const struct kf_certificate *certificate);

static inline struct kf_tracked kf_certificate_tracked(const struct kf_certificate *certificate)
{
    return (struct kf_tracked){certificate->sum, certificate->off};
}

static inline bool kf_is_modelled(const struct kf_certificate *certificate)
{
    return certificate->gradient == KF_GRADIENT_MODELLED;
}

/* Whether the slopes of all points are known, of x or an earlier one. */
static inline bool kf_remembers_slopes(const struct kf_certificate *certificate)
{
    return certificate->gradient >= KF_GRADIENT_REMEMBERED;
}

/* These; NULL: they are not remembered. */
static inline double *kf_slopes_known(const struct kf_certificate *certificate)
{
    return kf_remembers_slopes(certificate) ? certificate->slopes.at : NULL;
}

/* ---- points ---- */

/* The newest point has come, which costs `loss` at x (NaN: not known). 1 FO. */
keepfit_status kf_certificate_take(struct kf_task *task, struct kf_certificate *certificate, double loss,
                                   keepfit_error *error);
/* Point j leaves. */
void kf_certificate_leave(struct kf_task *task, struct kf_certificate *certificate, size_t j);

/* ---- moves ---- */

/* x has moved: a pass at it. `change`, at most what the losses have changed by, or NaN (kf_goal_move). */
void kf_certificate_pass(struct kf_task *task, struct kf_certificate *certificate, double change);
/* x has moved; the sum there is known, and the losses, which are summed only where epsilon is relative. */
void kf_certificate_moved(struct kf_task *task, struct kf_certificate *certificate, double losses);
/* A solver has moved x, and made the sum. */
void kf_certificate_solved(struct kf_task *task, struct kf_certificate *certificate);
/* A step is about to begin; and x is where it began again, what was only modelled (`from` says what was known) being made sure of. */
void kf_certificate_set_out(const struct kf_task *task, struct kf_certificate *certificate);
void kf_certificate_go_back(struct kf_task *task, struct kf_certificate *certificate, enum kf_gradient from);
/* x moves along the direction without a pass. No FO. False: it cannot be known to be good enough, and x has not moved. */
bool kf_certificate_step_unseen(struct kf_task *task, struct kf_certificate *certificate, const double *direction);
/* For an estimate: Newton's step, after which the gradient of the model is 0, and so it is taken to be. No FO. */
void kf_certificate_step_estimated(struct kf_task *task, struct kf_certificate *certificate, double *direction);
/* What the losses at least change by from x along so much of the direction, backwards too, as far as the sum says; both ends lie within 1
 * of it from where the step began. NaN: not known, or nobody asks. */
double kf_certificate_foresee_change(const struct kf_task *task, const struct kf_certificate *certificate,
                                     const double *direction, double length);

/* x is another: what is known of it alone. Shared by the files of this folder. */
void kf_certificate_measure_anew(struct kf_task *task, struct kf_certificate *certificate);

/* ---- Hessians ---- */

/* The Hessian at x, or, of points whose slopes are older, where these were computed. */
keepfit_status kf_certificate_anchor(struct kf_task *task, struct kf_certificate *certificate);
/* Makes ready what bounds from it need. */
void kf_certificate_certify(struct kf_task *task, struct kf_certificate *certificate);
/* A closer look at what has become of its curvatures. False: nothing new. */
bool kf_certificate_refine(const struct kf_task *task, struct kf_certificate *certificate);
/* Whether it is only for want of room around x that the Hessian proves too little. */
bool kf_certificate_is_cramped(const struct kf_task *task, const struct kf_certificate *certificate);
/* Newton's direction at x with the Hessian at hand. Returns the squared decrement, what it promises twice. */
double kf_certificate_aim(struct kf_task *task, struct kf_certificate *certificate, double *direction);
/* How many times more the gradient's norm alone would allow the gap to be than what bounds go by. */
double kf_certificate_advantage(struct kf_task *task, struct kf_certificate *certificate);

/* ---- bounds ---- */

/* certificate->now becomes the target and the smallest bound, or one that is no more than this share of the target. */
void kf_certificate_judge(struct kf_task *task, struct kf_certificate *certificate, double share);
/* Where rounding in the sum is all that keeps the bound above the target, the sum is made anew, with all that can be known of it. */
void kf_certificate_look_closely(struct kf_task *task, struct kf_certificate *certificate);
/* Whether the bound is at most that share of the target, or would be if there were no rounding in the sum. */
bool kf_certificate_reaches(struct kf_task *task, struct kf_certificate *certificate, double share);
/* Whether x is good enough as it was judged: where nothing proves anything an estimate decides. */
bool kf_certificate_is_good(const struct kf_task *task, const struct kf_certificate *certificate);

#endif
