#include "fit/information.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"

static keepfit_status check(keepfit_fit *fit)
{
    const struct kf_problem *problem = &fit->task.problem;
    if (!problem->objective.loss || problem->objective.hidden)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "a %s has no standard errors of weights, and no influence of points",
                       problem->objective.hidden ? "network" : "user-written objective");
    if (strcmp(fit->options->domain, "none") != 0)
        return kf_fail(&fit->error, KEEPFIT_USAGE,
                       "in a domain ({domain}) weights have no standard errors, and points no influence, that a "
                       "Hessian could tell");
    if (problem->points.count == 0)
        return kf_fail(&fit->error, KEEPFIT_USAGE, "there are no points yet");
    if (kf_size(problem) > KF_DENSE_MOST)
        return kf_fail(&fit->error, KEEPFIT_USAGE,
                       "%zu coordinates are too many: standard errors and influence take a matrix of their square, and "
                       "are there up to %d",
                       kf_size(problem), KF_DENSE_MOST);
    return KEEPFIT_OK;
}

double kf_information_penalty(const keepfit_fit *fit)
{
    const struct kf_objective *objective = &fit->task.problem.objective;
    return 2 * objective->lambda * objective->weight_total;
}

/* Free intercepts of several outputs may all move together at no cost. That direction is held, and taken out again of what
 * is made of the inverse. */
static void hold_together(const struct kf_objective *objective, struct kf_information *information)
{
    double mean = 0;
    size_t free_count = objective->free, size = information->size;
    if (free_count == 0 || objective->outputs == 1)
        return;
    assert(free_count == objective->outputs);
    for (size_t k = 0; k < free_count; k++)
        mean += information->hessian[k * size + k] / (double)free_count;
    information->held = mean > 0 ? mean : 1;
    for (size_t k = 0; k < free_count; k++)
        for (size_t l = k; l < free_count; l++)
            information->factor[k * size + l] += information->held / (double)free_count;
}

static bool has_room(struct kf_information *information)
{
    size_t numbers = information->size * information->size;
    information->hessian = kf_allocate_numbers(numbers);
    information->factor = kf_allocate_numbers(numbers);
    return information->hessian && information->factor;
}

keepfit_status kf_information_make(keepfit_fit *fit, struct kf_information *information)
{
    struct kf_task *task = &fit->task;
    const struct kf_objective *objective = &task->problem.objective;
    *information = (struct kf_information){.size = kf_size(&task->problem)};
    keepfit_status status = check(fit);
    if (status == KEEPFIT_OK)
        status = kf_fit_read(fit);
    if (status != KEEPFIT_OK)
        return status;
    size_t size = information->size;
    if (!has_room(information) || !kf_hessian_add(&information->curves, task, task->iterate.x, NULL, 0,
                                                  task->problem.points.count, information->hessian, size))
        return kf_fail_memory(&fit->error);
    memcpy(information->factor, information->hessian, size * size * sizeof *information->factor);
    for (size_t k = objective->free; k < size; k++)
        information->factor[k * size + k] += kf_information_penalty(fit);
    hold_together(objective, information);
    if (!kf_cholesky(size, information->factor, size))
        return kf_fail(&fit->error, KEEPFIT_USAGE,
                       "the Hessian is singular, so weights have no standard errors and points no influence (a larger "
                       "{lambda} helps)");
    return KEEPFIT_OK;
}

void kf_information_free(struct kf_information *information)
{
    free(information->hessian);
    free(information->factor);
    kf_curves_free(&information->curves);
    *information = (struct kf_information){.size = 0};
}

keepfit_status kf_information_sound(keepfit_fit *fit, keepfit_status status)
{
    if (!fit->task.problem.objective.memory_failed || fit->death.status != KEEPFIT_OK)
        return status;
    fit->task.problem.objective.memory_failed = false;
    return kf_fail_memory(&fit->error);
}
