/* Slopes and curvatures of an earlier x: what a gradient that is made of them may be off by, and a Hessian that goes on from
 * the one before. */
#include <math.h>

#include "certificate/internal.h"
#include "kernels/kernels.h"

/* A doubt that brings t so far would leave no room for what is to come. */
#define FORESEEN_MOST 0.25
/* A curvature below this share of the weight does not tell of its slope. */
#define FAINT 1e-9

/* (exp(Mu) - 1 - Mu)/M = M u^2/2 (1 + Mu/3 + (Mu)^2/12 + (Mu)^3/60 + ...), or a little more: for Mu < 1 what follows the square is
 * less than (Mu)^2/36. Without a division, since all points are looked at. */
static double excess(double concordance, double u)
{
    double scaled = concordance * u;
    return scaled < 1 ? scaled * u * (0.5 + scaled * (1.0 / 6) + scaled * scaled * (1.0 / 18))
                      : (expm1(scaled) - scaled) / concordance;
}

double kf_curvature_of(const struct kf_curvature *curvature, const struct kf_optimum *optimum,
                       const struct kf_problem *problem, const double *slopes, size_t j)
{
    return j < curvature->points ? optimum->curve[j] : kf_curve_recalled(problem, j, slopes[j]);
}

/* sqrt(a_j'H^-1 a_j) of a point that is not in H, or more. */
static double reach_of(const struct kf_curvature *curvature, const struct kf_problem *problem, size_t j)
{
    return sqrt(j < curvature->points ? kf_leverage(curvature, problem, j) : curvature->later);
}

static bool is_inside(const struct kf_curvature *curvature, size_t j)
{
    return j < curvature->points && curvature->leverages[j] >= 0;
}

/* The curvature that the sum is followed by for a point, what the point's slope may be off by, and what its own curvature was at
 * least when the slope was computed, since when it may have become so many times smaller. */
struct doubt {
    double used, off, least, shrunk;
};

static struct doubt doubt_of(const struct kf_curvature *curvature, const struct kf_optimum *optimum,
                             const struct kf_problem *problem, const double *slopes, const double *moved, size_t j)
{
    double concordance = kf_concordance(problem), weight = problem->points.place[j].weight;
    double u = moved ? fabs(moved[j]) : 0;
    double bent = excess(concordance, u), own = kf_curve_recalled(problem, j, slopes[j]);
    struct doubt doubt = {.used = kf_curvature_of(curvature, optimum, problem, slopes, j)};
    /* A slope near its limit has lost what it is away from it. */
    double rounding = fabs(slopes[j]) > weight / 2 ? 0x1p-52 * weight : 0x1p-50 * own;
    doubt.off = (fabs(own - doubt.used) + rounding) * u + (own + rounding) * bent;
    doubt.least = own > rounding ? own - rounding : 0;
    doubt.shrunk = 1 + concordance * (u + bent); /* exp(Mu) */
    return doubt;
}

double kf_curvature_error(const struct kf_curvature *curvature, const struct kf_optimum *optimum,
                          const struct kf_problem *problem, const double *slopes, const double *moved, double *most)
{
    double squares = 0, apart = 0, shrunk = 1;
    *most = 0;
    if (kf_concordance(problem) == 0)
        return 0;
    for (size_t j = 0; j < problem->points.count; j++) {
        if (problem->points.place[j].weight == 0)
            continue;
        struct doubt doubt = doubt_of(curvature, optimum, problem, slopes, moved, j);
        bool inside = is_inside(curvature, j);
        if (inside && doubt.used * doubt.shrunk > shrunk * doubt.least)
            shrunk = doubt.used * doubt.shrunk / doubt.least;
        if (inside && doubt.used > FAINT * problem->points.place[j].weight)
            squares += doubt.off * doubt.off / doubt.used;
        else
            apart += doubt.off * (inside ? sqrt(curvature->leverage) : reach_of(curvature, problem, j));
    }
    *most = log(shrunk) / kf_concordance(problem);
    return sqrt(curvature->weight * squares) + apart;
}

void kf_curvature_follow(const struct kf_curvature *curvature, const struct kf_optimum *optimum,
                         const struct kf_problem *problem, const double *slopes, const double *step, double *sum)
{
    const struct kf_objective *objective = &problem->objective;
    double *bent = kf_curvature_scratch(curvature, 1);
    bool complete = kf_concordance(problem) == 0; /* then nothing is left out */
    bool by_points = curvature->lost != 0;        /* H has points that are no longer there */
    if (!by_points) {
        kf_curvature_times(curvature, curvature->hessian, step, bent);
        kf_add(curvature->size - objective->free, -2 * curvature->lambda, step + objective->free,
               bent + objective->free);
        kf_add(curvature->size, curvature->weight, bent, sum);
    }
    for (size_t j = complete && !by_points ? curvature->points : 0; j < problem->points.count; j++)
        if (by_points || complete || !is_inside(curvature, j)) {
            double curve = kf_curvature_of(curvature, optimum, problem, slopes, j);
            double factor = curve * kf_score(problem, j, step);
            objective->type->add(objective, 1, j, &factor, sum);
        }
}

void kf_curvature_doubt(struct kf_curvature *curvature, double error, double most)
{
    curvature->error = error;
    curvature->stretch = most;
    curvature->rough = false;
}

double kf_curvature_foresee(const struct kf_curvature *curvature, const struct kf_problem *problem, double error,
                            double most)
{
    double off = kf_inverse_weight(&problem->objective) * error;
    return kf_curvature_bound_at(curvature, problem, off * off, kf_curvature_shrinkage(curvature, problem, most),
                                 FORESEEN_MOST);
}

/* A point that was left out may have been so large that rounding adds up when it comes and goes. */
bool kf_curvature_may_extend(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    if (!curvature->certified || curvature->lost != 0)
        return false;
    for (size_t j = 0; j < curvature->points && kf_concordance(problem) > 0; j++)
        if (curvature->leverages[j] < 0)
            return false;
    return true;
}

/* From the mean Hessian that bounds are made of to the sum that it was before. */
static void undo_close(struct kf_curvature *curvature, const struct kf_problem *problem)
{
    for (size_t k = 0; k < curvature->size; k++) {
        double *column = curvature->hessian + k * curvature->capacity;
        column[k] -= k < problem->objective.free ? 0 : 2 * curvature->lambda;
        kf_scale(curvature->size - k, curvature->weight, column + k);
    }
    curvature->certified = curvature->anchored = false;
    curvature->gathering = true;
    curvature->known = 0; /* until it is inherited */
}

keepfit_status kf_curvature_extend(struct kf_curvature *curvature, struct kf_optimum *optimum,
                                   struct kf_problem *problem, const double *slopes)
{
    double c = fmin(curvature->weight / problem->objective.weight_total, 1);
    struct kf_heritage heritage = kf_curvature_bequeath(curvature, c);
    undo_close(curvature, problem);
    kf_copy(problem, curvature->anchor, problem->x);
    if (!kf_curvature_gather(curvature, optimum, problem, slopes, problem->points.count))
        return KEEPFIT_NO_MEMORY;
    keepfit_status status = kf_curvature_close(curvature, problem);
    return status == KEEPFIT_OK ? kf_curvature_inherit(curvature, problem, &heritage) : status;
}

double kf_curvature_error_norm(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    double trace = 0; /* no eigenvalue of H is larger */
    for (size_t k = 0; k < curvature->size; k++)
        trace += curvature->hessian[k * curvature->capacity + k];
    return curvature->error * kf_inverse_weight(&problem->objective) * sqrt(trace);
}
