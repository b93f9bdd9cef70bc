/* Katyusha (Allen-Zhu 2017), run anew at each stage from the last output, regulariser and domain handled as the
 * proximal part: S epochs of T steps, m = T, sigma = mu,
 *
 *     tau2 = 1/2, tau1 = min(sqrt(m sigma/(3L)), 1/2), a = 1/(3 tau1 L)
 *     x = tau1 z + tau2 snapshot + (1-tau1-tau2) y
 *     v = full gradient at the snapshot + grad f_u(x) - grad f_u(snapshot)                    (2 FOs; i an epoch)
 *     z <- argmin |z'-z|^2/(2a) + v.z' + lambda|z'|^2  over D   = P((z - a v)/(1 + a sigma))
 *     y <- the same around x with 1/(3L) for a                  (that paper's option I)
 *     snapshot <- mean of the epoch's y, weighted by (1 + a sigma)^j
 *
 * y, z and x mix every coordinate at every step, and y keeps less than half of itself: there is no lazy form that
 * does not lose its digits within an epoch, so the iterate is dense. The output is the last snapshot. S = 10, T = 100 as in the
 * CSVRG paper. With --step the given step replaces 1/(3L).
 *
 * --setting theory has the epochs of Katyusha's own paper, T = 2i, and its output (tau2 T snapshot + (1-tau1-tau2) y)/(tau2 T +
 * 1-tau1-tau2), y the last one. Its theorem: the gap shrinks by 1.5 an epoch where T sigma/L > 3/4. */
#include <assert.h>
#include <math.h>

#include "kernels/kernels.h"
#include "method/constants.h"
#include "method/method.h"

struct katyusha {
    double *y, *z, *x, *sum, *gradient;
    double *average; /* of the epoch's y; becomes the snapshot, task->iterate.x */
    double average_weight;
    struct kf_step_size step;
    uint64_t outer, inner; /* inner 0: twice as many as there are points */
    bool theory;
};

static keepfit_status katyusha_create(struct kf_task *task, void *state, keepfit_error *error)
{
    struct katyusha *katyusha = state;
    katyusha->outer = kf_given_or(task->problem.options->outer, 10);
    katyusha->theory = task->problem.options->setting == KF_SETTING_THEORY;
    katyusha->inner = kf_given_or(task->problem.options->inner, katyusha->theory ? 0 : 100);
    double **vectors[] = {&katyusha->y,   &katyusha->z,        &katyusha->x,
                          &katyusha->sum, &katyusha->gradient, &katyusha->average};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
        if (!kf_task_vector(task, vectors[k]))
            return KEEPFIT_NO_MEMORY;
    if (!kf_iterate_prepare(task, 0))
        return KEEPFIT_NO_MEMORY;
    return kf_step_read(task->problem.options, (struct kf_step_size){KF_STEP_SHARE, 1.0 / 3}, false, false,
                        &katyusha->step, error);
}

/* out = argmin |p - from|^2/(2a) + gradient.p + lambda|p|^2 over D; out may be from. */
static void proximal_step(const struct kf_task *task, const double *from, double a, const double *gradient, double *out)
{
    size_t size = kf_size(&task->problem), free = task->problem.objective.free;
    double keep = 1 / (1 + 2 * a * task->problem.objective.lambda);
    for (size_t k = 0; k < size; k++)
        out[k] = (from[k] - a * gradient[k]) * (k < free ? 1 : keep);
    kf_project(&task->problem, out);
}

/* The variance-reduced gradient of the loss part at katyusha->x. */
static void estimate(struct kf_task *task, struct katyusha *katyusha, double mean)
{
    struct kf_objective *objective = &task->problem.objective;
    size_t i = task->problem.points.count, u = kf_random_below(&task->stage.random, i);
    double share = (double)i * mean;
    struct kf_view here = kf_dense_view(katyusha->x), snapshot = kf_dense_view(task->iterate.x);
    kf_factors(objective, &here, u, task->vectors.factors[0]);
    kf_factors(objective, &snapshot, u, task->vectors.factors[1]);
    kf_copy(&task->problem, katyusha->gradient, katyusha->sum);
    kf_scale(kf_size(&task->problem), mean, katyusha->gradient);
    objective->type->add(objective, share, u, task->vectors.factors[0], katyusha->gradient);
    objective->type->add(objective, -share, u, task->vectors.factors[1], katyusha->gradient);
}

static void add_to_average(struct kf_task *task, struct katyusha *katyusha, double weight)
{
    katyusha->average_weight += weight;
    assert(!(weight < 0));
    double share = weight / katyusha->average_weight;
    if (share == 1)
        kf_copy(&task->problem, katyusha->average, katyusha->y);
    else
        kf_blend(kf_size(&task->problem), 1 - share, katyusha->average, share, katyusha->y);
}

static uint64_t steps_of(const struct kf_task *task, const struct katyusha *katyusha)
{
    return kf_given_or(katyusha->inner, 2 * (uint64_t)task->problem.points.count);
}

static double momentum(const struct kf_task *task, const struct katyusha *katyusha, uint64_t steps)
{
    double sigma = kf_constant_convexity(&task->problem), step = kf_step_fixed(&task->problem, &katyusha->step);
    double tau1 = fmin(sqrt((double)steps * sigma * step), 0.5);
    return tau1 > 0 ? tau1 : 0.5; /* nothing strongly convex: Katyusha with the largest momentum that is stable */
}

static void epoch(struct kf_task *task, struct katyusha *katyusha)
{
    struct kf_objective *objective = &task->problem.objective;
    double short_step = kf_step_fixed(&task->problem, &katyusha->step), mean = kf_inverse_weight(objective);
    double sigma = kf_constant_convexity(&task->problem);
    uint64_t steps = steps_of(task, katyusha);
    double tau1 = momentum(task, katyusha, steps);
    double long_step = short_step / tau1, weight = 1;
    assert(tau1 > 0 && tau1 <= 0.5); /* x is a convex combination */
    size_t size = kf_size(&task->problem);
    kf_gradient_sum(objective, task->iterate.x, task->problem.points.count, katyusha->sum, NULL,
                    task->vectors.factors[0]);
    katyusha->average_weight = 0;
    for (uint64_t t = 0; t < steps; t++) {
        for (size_t k = 0; k < size; k++)
            katyusha->x[k] = tau1 * katyusha->z[k] + 0.5 * task->iterate.x[k] + (0.5 - tau1) * katyusha->y[k];
        estimate(task, katyusha, mean);
        proximal_step(task, katyusha->z, long_step, katyusha->gradient, katyusha->z);
        proximal_step(task, katyusha->x, short_step, katyusha->gradient, katyusha->y);
        add_to_average(task, katyusha, weight);
        weight *= 1 + long_step * sigma;
        if (weight > 1e100) { /* only ratios of weights count */
            weight *= 1e-100;
            katyusha->average_weight *= 1e-100;
        }
        task->stage.steps++;
    }
    kf_copy(&task->problem, task->iterate.x, katyusha->average);
}

static keepfit_status katyusha_stage(struct kf_task *task, void *state, keepfit_error *error)
{
    (void)error;
    struct katyusha *katyusha = state;
    kf_copy(&task->problem, katyusha->y, task->iterate.x);
    kf_copy(&task->problem, katyusha->z, task->iterate.x);
    for (uint64_t s = 0; s < katyusha->outer; s++)
        epoch(task, katyusha);
    if (katyusha->theory) {
        uint64_t steps = steps_of(task, katyusha);
        double of_y = 0.5 - momentum(task, katyusha, steps), share = of_y / (0.5 * (double)steps + of_y);
        kf_blend(kf_size(&task->problem), 1 - share, task->iterate.x, share, katyusha->y);
    }
    return KEEPFIT_OK;
}

const struct kf_method kf_katyusha = {
    .name = "katyusha",
    .summary = "accelerated variance reduction: S epochs (10) of T steps (100) a stage",
    .does = "S epochs of accelerated variance-reduced steps",
    .gradients = "S(i + 2T)",
    .output = "weighted mean of the last epoch",
    .state_size = sizeof(struct katyusha),
    .create = katyusha_create,
    .stage = katyusha_stage,
};
