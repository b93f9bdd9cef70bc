/* Slopes and curvatures of an earlier x: what a gradient that is made of them may be off by, and a Hessian that goes on from
 * the one before. */
#include <math.h>

#include "certificate/internal.h"
#include "kernels/kernels.h"

/* A doubt that brings t so far would leave no room for what is to come. */
#define FORESEEN_MOST 0.25

/* (exp(Mu) - 1 - Mu)/M = M u^2/2 (1 + Mu/3 + (Mu)^2/12 + ...), where each term is less than Mu/4 of the one before. */
static double excess(double concordance, double moved)
{
    double u = fabs(moved), scaled = concordance * u;
    return scaled < 2 ? scaled * u / 2 * (1 + scaled / 3 / (1 - scaled / 4)) : INFINITY;
}

double kf_curvature_error(const struct kf_curvature *curvature, const struct kf_optimum *optimum,
                          const struct kf_problem *problem, const double *moved, double *most)
{
    double concordance = kf_concordance(problem), squares = 0, apart = 0;
    *most = 0;
    for (size_t j = 0; j < curvature->points && concordance > 0; j++) {
        double off = excess(concordance, moved[j]);
        if (curvature->leverages[j] >= 0) {
            squares += optimum->curve[j] * off * off;
            *most = fmax(*most, fabs(moved[j]));
        } else {
            apart += optimum->curve[j] * off * sqrt(kf_leverage(curvature, problem, j));
        }
    }
    return sqrt(curvature->weight * squares) + apart;
}

void kf_curvature_follow(const struct kf_curvature *curvature, const struct kf_optimum *optimum,
                         const struct kf_problem *problem, const double *step, double *sum)
{
    const struct kf_objective *objective = &problem->objective;
    double *bent = kf_curvature_scratch(curvature, 1);
    kf_curvature_times(curvature, curvature->hessian, step, bent);
    kf_add(curvature->size - objective->free, -2 * curvature->lambda, step + objective->free, bent + objective->free);
    kf_add(curvature->size, curvature->weight, bent, sum);
    for (size_t j = 0; j < curvature->points && kf_concordance(problem) > 0; j++)
        if (curvature->leverages[j] < 0) {
            double factor = optimum->curve[j] * kf_score(problem, j, step);
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
}

keepfit_status kf_curvature_extend(struct kf_curvature *curvature, struct kf_optimum *optimum,
                                   struct kf_problem *problem, const double *slopes)
{
    curvature->inflation *= fmax(problem->objective.weight_total / curvature->weight, 1);
    undo_close(curvature, problem);
    kf_copy(problem, curvature->anchor, problem->x);
    if (!kf_curvature_gather(curvature, optimum, problem, slopes, problem->points.count))
        return KEEPFIT_NO_MEMORY;
    return kf_curvature_close(curvature, problem);
}
