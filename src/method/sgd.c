/* Stochastic gradient descent, and its sparse variant (the paper's appendix on SGD-sparse).
 *
 *   sgd         at stage i, T steps from the last output: u uniform on 1..i, x <- P(x - grad f_u(x) * step_t);
 *               output: the mean of the T iterates (--stage-output last: the last).
 *   sgd-sparse  the same, but only when prev*(1+alpha) < i; otherwise the last output is repeated.
 *
 * Departures from print: the algorithm box samples from 1..i-1; the objective contains f_i, so we sample from 1..i. In the whole
 * space the printed step 1/(lambda t), which starts at 1/lambda, is capped at 1/L unless --step paper asks for it.
 *
 * --setting theory has the step 1/(mu t), alpha = epsilon/(2 |D| G) (the theorem prints 1/(2|D|G), its proof uses epsilon), and the
 * smallest T with
 *
 *     G^2 (1 + ln(T+1)) / (2 mu T) <= epsilon for sgd, epsilon/2 for sgd-sparse, whose repeated outputs get the other half.
 *
 * The theorem prints T = O(G^2/(epsilon mu)); the mean of all iterates has the logarithm. It is the textbook's proof: after the first
 * step E|x_1 - x*|^2 <= G^2/mu^2, and the steps 1/(mu (t+1)) from x_t, t = 1 .. T, add G^2/(2 mu (t+1)) each. */
#include <assert.h>
#include <math.h>

#include "base/error.h"
#include "base/logarithm.h"
#include "iterate/step.h"
#include "kernels/kernels.h"
#include "method/constants.h"
#include "method/method.h"

struct sgd {
    struct kf_step_size step;
    uint64_t inner;
    bool sparse, theory;
    double alpha;
    size_t previous; /* the stage whose output is being repeated */
    struct kf_lipschitz lipschitz;
};

static keepfit_status create(struct kf_task *task, struct sgd *sgd, keepfit_error *error)
{
    const keepfit_options *options = task->problem.options;
    sgd->theory = options->setting == KF_SETTING_THEORY;
    sgd->inner = kf_given_or(options->inner, sgd->sparse ? 480 : 300);
    sgd->alpha = isnan(options->alpha) ? 0.002 : options->alpha;
    if (sgd->theory && kf_domain_is_whole(&task->problem.domain) && isnan(options->lipschitz))
        return kf_fail(error, KEEPFIT_USAGE, "{setting=theory} needs a bounded {domain} (its constants are |D| and G)");
    if (!kf_iterate_prepare(task, KF_NEEDS_AVERAGE))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(options, kf_step_as_printed(&task->problem), true, false, &sgd->step, error);
}

static keepfit_status sgd_create(struct kf_task *task, void *state, keepfit_error *error)
{
    return create(task, state, error);
}

static keepfit_status sparse_create(struct kf_task *task, void *state, keepfit_error *error)
{
    ((struct sgd *)state)->sparse = true;
    return create(task, state, error);
}

static double step_at(const struct kf_task *task, const struct sgd *sgd, double smoothness, uint64_t t)
{
    double printed = 1 / (task->problem.objective.lambda * (double)t);
    if (sgd->theory && sgd->step.rule >= KF_STEP_PAPER)
        printed = 1 / (kf_constant_convexity(&task->problem) * (double)t);
    switch (sgd->step.rule) {
    case KF_STEP_DIVIDED:
        return sgd->step.value / (double)t;
    case KF_STEP_PAPER:
        return printed;
    case KF_STEP_CAPPED:
        return fmin(printed, 1 / smoothness);
    default:
        return kf_step_fixed(&task->problem, &sgd->step);
    }
}

static uint64_t steps_needed(struct kf_task *task, struct sgd *sgd)
{
    if (!sgd->theory || task->problem.options->inner)
        return sgd->inner;
    double slope = kf_constant_lipschitz(&task->problem, &sgd->lipschitz), mu = kf_constant_convexity(&task->problem);
    double ratio = slope * slope / (2 * mu * task->problem.options->epsilon * (sgd->sparse ? 0.5 : 1));
    double steps = 0, next = 1;
    while (next > steps) { /* ascends to the smallest T >= ratio * (1 + ln(T+1)) */
        steps = next;
        next = ceil(ratio * (1 + kf_log1p(steps)));
    }
    return steps < 1e15 ? (uint64_t)steps : (uint64_t)1e15;
}

static double alpha_of(struct kf_task *task, struct sgd *sgd)
{
    if (!sgd->theory || !isnan(task->problem.options->alpha))
        return sgd->alpha;
    double diameter = task->problem.domain.type->diameter(&task->problem.domain, kf_size(&task->problem));
    return task->problem.options->epsilon / (2 * diameter * kf_constant_lipschitz(&task->problem, &sgd->lipschitz));
}

static keepfit_status stage(struct kf_task *task, void *state, keepfit_error *error)
{
    (void)error;
    struct sgd *sgd = state;
    size_t i = task->problem.points.count;
    if (sgd->sparse && !((double)sgd->previous * (1 + alpha_of(task, sgd)) < (double)i))
        return KEEPFIT_OK;
    double smoothness = kf_constant_smoothness(&task->problem);
    struct kf_estimator estimator = kf_estimate_plainly(i, kf_inverse_weight(&task->problem.objective));
    uint64_t steps = steps_needed(task, sgd);
    kf_sampler_start(task, i, steps, NULL);
    bool several =
        steps > 1 && task->problem.options->stage_output != KF_OUTPUT_LAST; /* the mean of one iterate is itself */
    assert(steps > 0 && sgd->previous <= i);
    if (several)
        kf_average_begin(task);
    for (uint64_t t = 1; t <= steps; t++) {
        estimator.sample[0].point = kf_sampler_next(task);
        kf_step(task, step_at(task, sgd, smoothness, t), &estimator);
        if (several)
            kf_average_add(task, 1);
    }
    if (several)
        kf_average_end(task);
    sgd->previous = i;
    return KEEPFIT_OK;
}

static void forget(struct kf_task *task, void *state)
{
    (void)task;
    ((struct sgd *)state)->previous = 0; /* the repeated output was for another objective */
}

static void leave(struct kf_task *task, void *state, size_t j)
{
    (void)task, (void)j;
    struct sgd *sgd = state;
    kf_lipschitz_leave(&sgd->lipschitz);
    sgd->previous -= sgd->previous > 0; /* so that arrivals count as growth where as many leave */
}

static void archive(struct kf_task *task, void *state, struct kf_archive *archive)
{
    struct sgd *sgd = state;
    kf_archive_count(archive, &sgd->previous, task->problem.points.count);
    kf_lipschitz_archive(&sgd->lipschitz, &task->problem, archive);
}

static size_t draws_among(size_t count)
{
    return count;
}

const struct kf_method kf_sgd = {
    .name = "sgd",
    .summary = "stochastic gradient descent: T steps a stage (300), the mean of the iterates",
    .does = "T steps on points drawn from 1..i",
    .gradients = "T",
    .output = "mean of the iterates",
    .scaled = true,
    .state_size = sizeof(struct sgd),
    .create = sgd_create,
    .stage = stage,
    .draws_among = draws_among,
    .leave = leave,
    .archive = archive,
};

const struct kf_method kf_sgd_sparse = {
    .name = "sgd-sparse",
    .summary = "sgd (T 480) run anew only when the stream has grown by the share alpha (0.002), else its last output",
    .does = "`sgd` when the stream has grown by the share alpha, otherwise nothing",
    .gradients = "T or 0",
    .output = "mean, or the last output again",
    .scaled = true,
    .state_size = sizeof(struct sgd),
    .create = sparse_create,
    .stage = stage,
    .draws_among = draws_among,
    .forget = forget,
    .leave = leave,
    .archive = archive,
};
