/* The objective turns point j into f_j: g_i(x) = sum_{j<=i} w_j loss_j(x) / W_i + lambda*|x|^2, W_i the sum of the
 * weights (W_i = i, the paper's mean, when all weights are 1).
 *
 * The gradient of loss_j is handed out as *factors*: a few numbers which, multiplied with the point's row, give the
 * d-vector (one number for linear models, C for softmax; a network has those of two outer products, see network.h; a
 * user-written objective has d factors, the gradient itself). The point's weight is multiplied in.
 * The regulariser is the same in every f_j, so methods apply it exactly and never sample it.
 *
 * The objective counts the gradients it gives out (FO); no method counts its own. */
#ifndef KF_OBJECTIVE_H
#define KF_OBJECTIVE_H

#include "base/sum.h"
#include "history/points.h"
#include "objective/loss.h"
#include "objective/view.h"

struct kf_objective {
    const struct kf_objective_type *type;
    const struct kf_loss *loss;         /* linear models */
    const keepfit_objective *callbacks; /* user-written objectives */
    double delta;
    struct kf_points *points;

    size_t slots;      /* rows of x: features, and the bias in slot 0 where there is one */
    size_t outputs;    /* columns of x; of a network's second layer */
    size_t hidden;     /* units of a network's hidden layer, the columns of its first; 0 for linear models */
    double *scores;    /* scratch for `outputs` numbers */
    double *pair_sums; /* scratch for twice as many */
    size_t scores_capacity;
    const struct kf_kernels *kernels;
    size_t threads; /* for passes over all points */
    struct kf_network_scratch *scratch;
    double *full_row; /* networks: `slots` zeros, between uses */
    size_t full_row_capacity;
    size_t free; /* leading coordinates of x that are neither regularised nor held by the domain */

    double lambda;       /* at this stage */
    double weight_total; /* W_i: weights.high */
    struct kf_sum weights;
    double curvature_most; /* max over j of w_j * (curvature bound of loss_j) */
    struct kf_sum zeros;   /* sum of w_j times the loss where all scores are 0; 0 for user-written objectives */
    double zero_value;     /* the loss where all scores are 0, the same for all of so many classes; */
    size_t zero_outputs;   /* 0: not known yet */
    double row_most;       /* the largest |row|, free coordinates not counted */
    double target_most;    /* the largest |target| */
    double *mass, *most;   /* what all points have in each slot: sum w_j |a_j|, and max |a_j| (rounding.h) */
    size_t mass_capacity, most_capacity;
    size_t longest;    /* entries of the longest row */
    double row_masses; /* sum of w_j |row j| */
    uint64_t fo;
    bool callback_failed;
    bool
        memory_failed; /* something was done in another way for want of memory, so other bits might come out: an error */
};

struct kf_objective_type {
    size_t (*factor_count)(const struct kf_objective *objective);
    double (*value)(struct kf_objective *objective, const struct kf_view *x, size_t j);
    void (*factors)(struct kf_objective *objective, const struct kf_view *x, size_t j, double *factors);
    /* y += scale * (the gradient that the factors stand for) */
    void (*add)(const struct kf_objective *objective, double scale, size_t j, const double *factors, double *y);
    /* v += first * that, m += second * that. NULL where the iterate is dense or changes are
     * deferred. */
    void (*change)(const struct kf_objective *objective, double first, double second, size_t j, const double *factors,
                   const struct kf_lanes *lanes);
    /* Upper bound on the curvature of loss_j anywhere; for a network, what stands for it. */
    double (*curvature)(struct kf_objective *objective, size_t j);
    /* Whether all that a scaled iterate gives for the row is finite; v and m each by itself where the objective knows. */
    bool (*is_finite)(struct kf_objective *objective, const struct kf_view *x, size_t j);
    /* kf_gradient_sum and values in blocks of points; false: no memory, do it point by point. NULL: always so. */
    bool (*sum)(struct kf_objective *objective, const double *x, size_t count, double *sum, double *remembered);
    bool (*values)(struct kf_objective *objective, const double *x, size_t first, size_t count, double *values);
    bool has_hessian;
    /* score curvature at x, kept by the caller (outputs^2 numbers a point), for the two functions below */
    void (*curve)(struct kf_objective *objective, const struct kf_view *x, size_t j, double *curve);
    /* y += scale * Hessian_j * v */
    void (*hessian_product)(const struct kf_objective *objective, double scale, size_t j, const double *curve,
                            const double *v, double *y, double *scratch);
};

extern const struct kf_objective_type kf_linear_objective;
extern const struct kf_objective_type kf_network_objective;
extern const struct kf_objective_type kf_callback_objective;

static inline size_t kf_dimension(const struct kf_objective *objective)
{
    return objective->hidden ? objective->slots * objective->hidden + (objective->hidden + 1) * objective->outputs
                             : objective->slots * objective->outputs;
}

static inline double kf_inverse_weight(const struct kf_objective *objective)
{
    return objective->weight_total > 0 ? 1 / objective->weight_total : 0;
}

/* The memory for an objective that is about to be so large, and its release. False: out of memory. */
bool kf_objective_reserve(struct kf_objective *objective, const struct kf_objective *larger);
void kf_objective_free(struct kf_objective *objective);

/* Point j's share in W, the columns and the maxima. */
void kf_objective_count(struct kf_objective *objective, size_t j);
/* It is about to leave W. What is no sum cannot be taken back, and stays an upper bound. Returns whether all had better be counted anew
 * without it: it was most of what there was, or W has lost digits. */
bool kf_objective_discount(struct kf_objective *objective, size_t j);
void kf_objective_recount(struct kf_objective *objective);
void kf_objective_clear_columns(struct kf_objective *objective);
/* Its loss where all scores are 0. */
double kf_loss_at_zero(struct kf_objective *objective, size_t j);

/* w_j times the factors of point j at x. Counts one FO. */
void kf_factors(struct kf_objective *objective, const struct kf_view *x, size_t j, double *factors);

/* The same for linear models with one score a point: what steps are made of. */
static inline bool kf_is_single(const struct kf_objective *objective)
{
    return objective->loss && objective->loss->slope;
}
#define KF_SINGLES 32 /* speed: bench/tuning.md */
double kf_single_factor(struct kf_objective *objective, const struct kf_view *x, size_t j);
/* Those of points from .. from+count-1, at most KF_SINGLES, not counted: first all scores, then all slopes, none of which waits for another. */
void kf_single_factors(struct kf_objective *objective, const double *x, size_t from, size_t count, double *factors);
/* Their scores alone, of any number of points. */
void kf_single_scores(const struct kf_objective *objective, const double *x, size_t from, size_t count, double *z);

/* Charges gradients that were remembered, not computed: for counts as published (--count paper). */
void kf_charge(struct kf_objective *objective, uint64_t gradients);

/* sum = sum_{j<count} w_j grad loss_j(x), without the regulariser. Keeps the factors of all points if remembered is not
 * NULL; otherwise scratch takes those of one. Counts count FOs. Runs on objective->threads threads, with the same bits for
 * any number of them (pass.c). */
void kf_gradient_sum(struct kf_objective *objective, const double *x, size_t count, double *sum, double *remembered,
                     double *scratch);
/* So many additions, one after the other, does a number of that sum come from. */
double kf_pass_depth(const struct kf_objective *objective);

/* gradient = sum/W + 2*lambda*x: the gradient of g_i where sum is as above. */
void kf_complete_gradient(const struct kf_objective *objective, const double *sum, const double *x, double *gradient);

/* g_i(x), summed with compensation. */
double kf_objective_value(struct kf_objective *objective, const double *x);

/* lambda*|x|^2 over the regularised coordinates */
double kf_regulariser(const struct kf_objective *objective, const double *x);

/* L: the largest curvature of a function f_j = (i/W) w_j loss_j + lambda*|x|^2 so far. */
double kf_smoothness(const struct kf_objective *objective);

/* The largest gradient of one loss_j with its weight, for |x| <= radius (infinite for networks and user-written objectives). */
double kf_slope_most(const struct kf_objective *objective, size_t j, double radius);

#endif
