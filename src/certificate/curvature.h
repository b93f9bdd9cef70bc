/* A proof of the gap from curvature: the Newton decrement with a self-concordance factor. docs/guarantee.md: Theorem 9 (curvature bound),
 * Theorem 11 (distance bound), Theorem 13 (slopes of an earlier x), Theorem 23 (curvature bound in numbers).
 *
 * At an anchor p, at a stage of weight W0, the Hessian H of the mean objective was factorised. For losses whose third
 * derivative is at most M times their second (M = 1 for logistic, 0 for squared), at a later stage, at x, with gradient g:
 *
 *   the sum of the Hessians only grows with new points, so the Hessian at x is at least c H, c = exp(-M r) min(1, W0/W),
 *   r = max |a_j.(x-p)| <= R |x-p|_H,  R^2 = max a_j' H^-1 a_j over the points that H was made of;
 *   along any v it stays above exp(-M R |v|_H) c H; integrating twice and minimising over v,
 *
 *   gap <= (c/(MR)^2) (t + (1-t) ln(1-t)),   t = M R |g|_{H^-1} / c < 1;     nothing is proved otherwise
 *
 * which is |g|^2_{H^-1}/(2c) for small t. A number K that scores reach in the mean takes R's place there (reach.c). Points of huge
 * leverage would spoil it; they are left out of H, which is a smaller Hessian and proves no less. Steps use the whole one. Points whose
 * curvature has become much smaller than that of the others would spoil r; the shares of H that they have are given up instead.
 *
 * Scores cannot move further than the optimum is away, either. By strong convexity lambda |x*-x|^2 <= gap, so they move by at most
 * A sqrt(gap/lambda) on the way, A the longest row, and the mean curvature along it is c H/(1 + (MA/2) sqrt(gap/lambda)) or more:
 *
 *   gap <= D (1 + (MA/2) sqrt(gap/lambda)),   D = |g|^2_{H^-1}/(2c)
 *
 * a quadratic inequality for sqrt(gap), which proves something for any g; the smaller of the two bounds counts. A free intercept b has
 * no lambda, but moves by no more than sqrt((H^-1)_bb) |v|_H: then D = 2|g|^2_{H^-1}/(c (1 + sqrt(1-t))^2), t = M sqrt((H^-1)_bb) |g|_{H^-1}/c < 1.
 *
 * |g|_{H^-1} is followed in O(d nnz) a new point through H^-1, which is kept as a matrix.
 *
 * The slope of a point, and its curvature k_j, may be those at an earlier x, from which its score has moved by u_j, while H has h_j
 * for its curvature. What the slope is taken to be now, its old value plus h_j u_j, is off by at most
 *
 *   d_j = |k_j - h_j| |u_j| + k_j (exp(M|u_j|) - 1 - M|u_j|)/M
 *
 * so the gradient sum by at most sqrt(W0 sum d_j^2/h_j) in |.|_{H^-1}, since sum h_j a_j a_j' is at most W0 H; a point that is not in
 * H adds d_j sqrt(a_j' H^-1 a_j). And r is max (|u_j| + ln(h_j/k_j)/M).
 *
 * Rounding. What all of this is computed with is `inverse`, a matrix of numbers that is nearly H^-1. (1 - slack) times the inverse of
 * exactly that matrix is no more than H (verified.c); so it takes H's place everywhere, and c takes the factor. A number that is off
 * by e_k in coordinate k is off by no more than sum e_k width_k in |.|_{H^-1}, width_k^2 the k-th number on the inverse's diagonal. */
#ifndef KF_CURVATURE_H
#define KF_CURVATURE_H

#include "certificate/hessian.h"
#include "objective/rounding.h"

/* How far a Hessian has come. */
enum kf_phase {
    KF_PHASE_NONE,
    KF_PHASE_GATHERING, /* in pieces: H is not complete */
    KF_PHASE_ANCHORED,  /* there is a factor for steps */
    KF_PHASE_MEASURING, /* in pieces: and an inverse, but not all leverages */
    KF_PHASE_CERTIFIED  /* and all that bounds need */
};

/* H^-1 times the gradient sum and times x (regularised coordinates), as points come. */
struct kf_followed {
    double *at_sum, *at_x;
    double sum_length, x_length; /* |sum|_{H^-1} and |x|_{H^-1}, or a little more */
    double sum_off, x_off;       /* number k of at_sum and at_x may be off by width_k times this */
};

/* What has become of H since it was made. */
struct kf_since {
    double stretch; /* r, or how much of the radius is used up, or */
    bool rough;     /* an upper bound of it that may be far too large */
    double before;  /* r at the anchor */
    double lost;    /* share of H that has left with its points */
    double error;   /* |.|_{H^-1} of what the gradient sum may be off by */
    double blur;    /* what the scores that curvatures were computed of may be off by */
};

/* How far scores move with |v|_H. */
struct kf_leverages {
    double *of; /* of the points, when measured; negative: left out of H */
    size_t capacity;
    size_t known;           /* points that are in `of`, new ones included; 0: none */
    double largest;         /* R^2 */
    double reach;           /* K, at most R */
    double later;           /* the largest of a point that has come since */
    double most, inflation; /* the largest that is let in; what they may have grown by since */
    double measured;        /* weight when all were measured */
};

/* Where losses have pieces (fall.h). */
struct kf_rooms {
    double *
        of; /* how far at most a score may move from where it was at the anchor, with the point's curvature staying; while H is
                 * gathered, of the points that are being added, their slopes */
    size_t capacity;
    double radius; /* so far in |.|_H may x move from the anchor with all the curvatures that H is made of staying */
};

struct kf_curvature {
    enum kf_phase phase;
    bool plain;              /* nothing is left out of H, and all leverages are measured at every anchor */
    double *anchor;          /* p; at_sum and at_x lie behind it */
    size_t anchor_capacity;  /* of each of the three */
    double weight, lambda;   /* W0, lambda then */
    size_t points;           /* that H was made of, */
    struct kf_curves curves; /* and their score curvatures */
    struct kf_hessian hessian;
    struct kf_followed followed;
    struct kf_since since;
    struct kf_leverages leverages;
    struct kf_rooms rooms;
    double *excesses; /* what K is found with: numbers of the points */
    size_t excesses_capacity;
};

static inline bool kf_has_factor(const struct kf_curvature *curvature)
{
    return curvature->phase >= KF_PHASE_ANCHORED;
}

static inline bool kf_is_certified(const struct kf_curvature *curvature)
{
    return curvature->phase == KF_PHASE_CERTIFIED;
}

void kf_curvature_archive(struct kf_curvature *curvature, struct kf_task *task, struct kf_archive *archive);
/* What has become of the gradient and the scores since; older versions had it not. */
void kf_curvature_archive_since(struct kf_curvature *curvature, struct kf_archive *archive);
/* Asserts what must hold of it between two operations. */
void kf_curvature_check(const struct kf_curvature *curvature, const struct kf_problem *problem);

/* Whether it knows this problem's loss, and the size is one to keep d^2 numbers for. */
bool kf_curvature_suits(const struct kf_problem *problem);
void kf_curvature_free(struct kf_curvature *curvature);

/* Nothing is known; there is room. */
void kf_curvature_clear(struct kf_curvature *curvature);

/* Anchors at task->iterate.x, with all points so far: the Hessian for steps, i FOs, or none where the slopes at task->iterate.x are
 * remembered (not NULL). KEEPFIT_DIVERGED: it has no factor; KEEPFIT_NO_MEMORY. Neither anchors. */
keepfit_status kf_curvature_anchor(struct kf_curvature *curvature, struct kf_task *task, const double *slopes);
/* The same where H was certified, no point has left nor is left out, and slopes are those that it was made of, but for the points
 * that have come since: only these are looked at. */
keepfit_status kf_curvature_extend(struct kf_curvature *curvature, struct kf_task *task, const double *slopes);
bool kf_curvature_may_extend(const struct kf_curvature *curvature, const struct kf_problem *problem);
/* Makes what bounds need at the anchor, before any other point comes; `sum` is the gradient sum at task->iterate.x, target the
 * bound that is aimed at. False: no memory, or no inverse. */
bool kf_curvature_certify(struct kf_curvature *curvature, struct kf_task *task, const struct kf_tracked *tracked,
                          double target);
/* The same in pieces, for stages that may not do it at once. H is gathered at task->iterate.x as it is at the beginning, closed when
 * it has all points (KEEPFIT_DIVERGED: it has no factor), and measured: some `most` points at a time, until all `points` are
 * known; then some may be left out, and all measured again. */
bool kf_curvature_begin(struct kf_curvature *curvature, struct kf_task *task);
bool kf_curvature_gather(struct kf_curvature *curvature, struct kf_task *task, const double *slopes, size_t to);
keepfit_status kf_curvature_close(struct kf_curvature *curvature, struct kf_task *task);
bool kf_curvature_begin_measuring(struct kf_curvature *curvature, struct kf_task *task);
size_t kf_leverages_measure(struct kf_curvature *curvature, const struct kf_problem *problem, size_t most);
bool kf_curvature_choose(struct kf_curvature *curvature, struct kf_task *task, double target, bool *again);
void kf_curvature_end_measuring(struct kf_curvature *curvature, const struct kf_task *task,
                                const struct kf_tracked *tracked);

/* Follows the newest point, whose factor at task->iterate.x is given; new features have been made room for. False: no memory. */
bool kf_curvature_take(struct kf_curvature *curvature, struct kf_task *task, size_t j, double factor);
/* Point j leaves, whose factor at task->iterate.x is given. By H - sum k a a' >= (1 - sum k a'H^-1 a) H the share of H that is lost
 * is known. */
void kf_curvature_leave(struct kf_curvature *curvature, struct kf_task *task, size_t j, double factor);
/* x has moved, or the sum is not what it was. */
void kf_curvature_move(struct kf_curvature *curvature, const struct kf_task *task, const struct kf_tracked *tracked);
/* Looks at the points one by one where r is rough: at their curvatures, where the slopes at task->iterate.x are remembered (not NULL),
 * otherwise at how far their scores have moved. False: it was not. */
bool kf_curvature_refine(struct kf_curvature *curvature, const struct kf_task *task, const double *slopes);
/* How far the scores of all points have moved since their slopes were computed; each number may be off by `off`. */
struct kf_moves {
    const double *by;
    double off;
};
/* Whether scores have moved so far that a Hessian at this x would serve a bound of that much better. */
bool kf_curvature_is_far(const struct kf_curvature *curvature, const struct kf_problem *problem, double target);
/* Whether bounds go farthest from an H at the very x. */
bool kf_curvature_recentres(const struct kf_problem *problem);
/* Whether what a step without a pass is off by can be known. */
bool kf_curvature_foretells(const struct kf_problem *problem);
/* What the gradient sum is off by where the slopes are those of all points, and their scores have moved since (NULL: not
 * at all); *most is r. The curvatures of later points are their own. */
double kf_curvature_error(const struct kf_curvature *curvature, const struct kf_problem *problem, const double *slopes,
                          const struct kf_moves *moves, double *most);
/* The curvature that the sum is followed by for point j: H's, or its own. */
double kf_curvature_of(const struct kf_curvature *curvature, const struct kf_problem *problem, const double *slopes,
                       size_t j);
/* The sum takes in what the points' curvatures make of a step, and what rounding has done to that. */
void kf_curvature_follow(const struct kf_curvature *curvature, const struct kf_task *task, const double *slopes,
                         const double *step, const struct kf_tracked *tracked);
/* The sum is off by so much, and r is `most`. */
void kf_curvature_doubt(struct kf_curvature *curvature, double error, double most);
/* What the gradient is off by, as a plain length. */
double kf_curvature_error_norm(const struct kf_curvature *curvature, const struct kf_problem *problem);
/* The bound where the gradient of the model is 0, and such a doubt all there is; infinite where it would not last. */
double kf_curvature_foresee(const struct kf_curvature *curvature, const struct kf_problem *problem, double error,
                            double most);
/* The bound at task->iterate.x, or one that is no more than `enough`; infinite where nothing is proved. */
double kf_curvature_bound(const struct kf_curvature *curvature, const struct kf_task *task,
                          const struct kf_tracked *tracked, double enough);
/* |g|^2_{H^-1}, or a little more */
double kf_curvature_decrement(const struct kf_curvature *curvature, const struct kf_task *task,
                              const struct kf_tracked *tracked);
/* a_j.delta */
double kf_score(const struct kf_problem *problem, size_t j, const double *delta);
/* |v|_H */
double kf_curvature_length(const struct kf_curvature *curvature, const double *v);
/* direction = -(whole Hessian at the anchor)^-1 gradient */
void kf_curvature_step(const struct kf_curvature *curvature, const double *gradient, double *direction);

#endif
