/* The gradient bound, domains and losses, as proofs rest on them (iterate/gap.c, domain/domain.h, objective/loss.h). */
#include <string.h>

#include "rounding_judge.h"
#include "kernels/exponential.h"
#include "kernels/kernels.h"
#include "problem/gap.h"

#define MOST 12

/* ---- domains ---- */

static int falling(const void *a, const void *b)
{
    const quad *left = a, *right = b;
    return (*left < *right) - (*left > *right);
}

static void project_on_simplex(size_t count, quad *y)
{
    quad sorted[MOST], sum = -1, threshold = 0;
    memcpy(sorted, y, count * sizeof *y);
    qsort(sorted, count, sizeof *sorted, falling);
    for (size_t k = 0; k < count; k++) {
        sum += sorted[k];
        if (sorted[k] * (k + 1) > sum)
            threshold = sum / (k + 1);
    }
    for (size_t k = 0; k < count; k++)
        y[k] = y[k] > threshold ? y[k] - threshold : 0;
}

/* To the nearest point of the domain, or one of it that is next to that. */
static void project_exactly(const struct kf_domain *domain, size_t count, quad *y)
{
    quad low = domain->first, high = domain->second, length = sqrtq(quad_dot(count, y, y)), sum = 0;
    if (domain->type->name[0] == 's')
        project_on_simplex(count, y);
    for (size_t k = 0; k < count; k++)
        sum += y[k];
    for (size_t k = 0; k < count; k++)
        switch (domain->type->name[2]) {
        case 'l': /* ball */
            y[k] = length > low ? y[k] * (low / length) * (1 - 16 * (quad)QUAD_ROUNDING) : y[k];
            break;
        case 'x': /* box */
            y[k] = y[k] < low ? low : y[k] > high ? high : y[k];
            break;
        case 'm': /* simplex */
            y[k] /= sum;
            break;
        }
}

static void judge_projection(struct worst *worst, uint64_t seed, const struct kf_task *task, struct kf_random *random)
{
    size_t count = kf_size(&task->problem);
    double x[MOST], size = draw_scale(random, -3, 6);
    quad y[MOST], apart = 0;
    for (size_t k = 0; k < count; k++)
        y[k] = x[k] = size * kf_random_normal(random) + (seed % 5 == 0 ? 1e3 * size : 0);
    kf_project(&task->problem, x);
    project_exactly(&task->problem.domain, count, y);
    for (size_t k = 0; k < count; k++)
        apart += (x[k] - y[k]) * (x[k] - y[k]);
    worst_note(worst, seed, sqrtq(apart), task->problem.domain.type->rounding(&task->problem.domain, count) + 1e-25);
}

/* The largest -v.y. */
static quad exact_support(const struct kf_domain *domain, size_t count, const double *v)
{
    quad sum = 0, most = -(quad)v[0], square = 0;
    for (size_t k = 0; k < count; k++) {
        sum += quad_most(-v[k] * (quad)domain->first, -v[k] * (quad)domain->second);
        most = quad_most(most, -(quad)v[k]);
        square += (quad)v[k] * v[k];
    }
    return domain->type->name[0] == 's' ? most : domain->type->name[2] == 'x' ? sum : domain->first * sqrtq(square);
}

/* ---- the gradient bound ---- */

/* The largest -v.(y-x) - mu/2 |y-x|^2, or a little less. */
static quad exact_gap(const struct kf_problem *problem, double mu, const double *x, const quad *v)
{
    size_t count = kf_size(problem);
    quad y[MOST], most = 0;
    for (size_t k = 0; k < count; k++)
        y[k] = x[k] - v[k] / mu;
    if (!kf_domain_is_whole(&problem->domain))
        project_exactly(&problem->domain, count, y);
    for (size_t k = 0; k < count; k++)
        most += v[k] * (x[k] - y[k]) - (quad)mu / 2 * (x[k] - y[k]) * (x[k] - y[k]);
    return most;
}

struct gaps {
    struct worst projections, supports, known, doubted;
};

/* The true gradient is off by all that it may be, away from or towards what is seen of it. */
static void doubt_gradient(struct kf_random *random, size_t count, const double *seen, double *doubt, double *more,
                           quad *true_one)
{
    double size = draw_scale(random, -12, 1), direction[MOST], square = 0;
    for (size_t k = 0; k < count; k++) {
        direction[k] = kf_random_normal(random);
        square += direction[k] * direction[k];
        doubt[k] = size * fabs(seen[k]) * kf_random_unit(random);
    }
    *more = kf_random_below(random, 2) ? size * draw_scale(random, -3, 3) : 0;
    bool up = kf_random_below(random, 2);
    for (size_t k = 0; k < count; k++) {
        double sign = up ? (seen[k] > 0 ? 1 : -1) : (kf_random_below(random, 2) ? 1 : -1);
        true_one[k] = seen[k] + sign * (quad)doubt[k] + *more * (1 - 1e-15) * direction[k] / sqrt(square);
    }
}

static void judge_bound(struct gaps *gaps, uint64_t seed)
{
    static const char *const domains[] = {"none", "ball:3", "box:-1:0.5", "simplex", "ball:1e-4", "box:0:1e6"};
    struct kf_random random;
    kf_random_seed(&random, seed);
    struct kind kind = {.loss = "hinge", .domain = domains[seed % 6], .slots = 1 + kf_random_below(&random, MOST)};
    keepfit_fit *fit = draw_problem(&kind, &random);
    struct kf_task *task = &fit->task;
    double v[MOST], doubt[MOST], more, mu = draw_scale(&random, -14, 3), size = draw_scale(&random, -8, 9);
    quad exact[MOST];
    for (size_t k = 0; k < kind.slots; k++) {
        task->iterate.x[k] = draw_scale(&random, -4, 1) * kf_random_normal(&random);
        v[k] = size * kf_random_normal(&random);
        exact[k] = v[k];
    }
    kf_project(&task->problem, task->iterate.x);
    worst_note(&gaps->known, seed, quad_most(exact_gap(&task->problem, mu, task->iterate.x, exact), 0),
               kf_held_bound(&task->problem, mu, task->iterate.x, v, NULL, 0));
    doubt_gradient(&random, kind.slots, v, doubt, &more, exact);
    worst_note(&gaps->doubted, seed, quad_most(exact_gap(&task->problem, mu, task->iterate.x, exact), 0),
               kf_held_bound(&task->problem, mu, task->iterate.x, v, doubt, more));
    if (!kf_domain_is_whole(&task->problem.domain)) {
        double support = task->problem.domain.type->support(&task->problem.domain, kind.slots, v), most = 0;
        for (size_t k = 0; k < kind.slots; k++)
            most += fabs(v[k]);
        double edge = task->problem.domain.type->radius(&task->problem.domain, 1);
        judge_projection(&gaps->projections, seed, task, &random);
        worst_note(&gaps->supports, seed, support - exact_support(&task->problem.domain, kind.slots, v),
                   kf_gamma((double)kind.slots + 8) * most * edge);
    }
    keepfit_fit_free(fit);
}

/* ---- losses ---- */

static const double within_units = 8 * KF_UNIT;

static void judge_logistic(struct worst *slopes, struct worst *curves, const struct kf_loss *loss, uint64_t seed)
{
    struct kf_random random;
    kf_random_seed(&random, seed);
    double b = kf_random_below(&random, 2) ? 1 : -1, z[8], target[8], scores[8], least[8];
    for (size_t k = 0; k < 8; k++) {
        scores[k] = z[k] = draw_range(&random, -1, 1) * (seed % 3 ? 690 : seed % 2 ? 40 : 2);
        target[k] = b;
    }
    loss->slopes_of(kf_kernels_best(), 8, target, z);
    loss->curves_of(8, z, least);
    for (size_t k = 0; k < 8; k++) {
        quad slope = -b / (1 + expq(b * (quad)scores[k])), own = loss->slope(scores[k], b, 0);
        quad curve = 1 / (1 + expq(scores[k])) / (1 + expq(-(quad)scores[k]));
        worst_note(slopes, seed, z[k] - slope, within_units * (double)quad_size(slope));
        worst_note(slopes, seed, own - slope, within_units * (double)quad_size(slope));
        worst_note(curves, seed, least[k], (double)curve * (1 + 0x1p-53));
    }
}

/* Scores within `blur` of z, kinks among them: no curvature there is more. */
static void judge_bend(struct worst *worst, struct kf_objective *objective, uint64_t seed)
{
    struct kf_random random;
    kf_random_seed(&random, seed);
    const struct kf_loss *loss = objective->loss;
    double b = objective->points->place[0].target, blur = draw_scale(&random, -17, 1), delta = objective->delta;
    double edge = loss->targets == KF_NUMBERS ? b + (seed % 2 ? delta : -delta) : seed % 2 ? b : b * (1 - delta);
    double z = seed % 3 ? edge + blur * draw_range(&random, -1.5, 1.5) : 30 * kf_random_normal(&random);
    double bend = loss->bend(z, b, delta, loss->slope(z, b, delta), blur);
    for (int k = -4; k <= 4; k++)
        worst_note(worst, seed, exact_curve(objective, 0, z + (quad)blur * k / 4), bend * (1 + 0x1p-50));
}

static void test_bends(struct tap *tap)
{
    static const char *const bending[] = {"logistic", "huber", "hinge"};
    struct kf_random random;
    for (size_t l = 0; l < sizeof bending / sizeof *bending; l++) {
        struct worst worst = {.ratio = 0};
        char what[100];
        struct kind kind = {.loss = bending[l], .count = 1, .slots = 1};
        for (uint64_t seed = 0; seed < 4000; seed++) {
            kf_random_seed(&random, seed % 16);
            keepfit_fit *fit = draw_problem(&kind, &random);
            judge_bend(&worst, &fit->task.problem.objective, seed);
            keepfit_fit_free(fit);
        }
        snprintf(what, sizeof what, "%s: no curvature near a score is above its bend", bending[l]);
        worst_check(tap, &worst, 0.9, what);
    }
}

void test_losses(struct tap *tap)
{
    struct worst slopes = {.ratio = 0}, curves = {.ratio = 0};
    const struct kf_loss *logistic = kf_loss_entry(0);
    for (size_t k = 0; strcmp(logistic->name, "logistic") != 0; k++)
        logistic = kf_loss_entry(k);
    for (uint64_t seed = 0; seed < 4000; seed++)
        judge_logistic(&slopes, &curves, logistic, seed);
    worst_check(tap, &slopes, 0.2, "logistic slopes are within 8 units of themselves");
    worst_check(tap, &curves, 0.99, "and curvatures that are made of them are no more than the true ones");
    test_bends(tap);
}

void test_gaps(struct tap *tap)
{
    struct gaps gaps = {.known = {.ratio = 0}};
    for (uint64_t seed = 0; seed < 12000; seed++)
        judge_bound(&gaps, seed);
    worst_check(tap, &gaps.projections, 0.02, "projections are as near as they say");
    worst_check(tap, &gaps.supports, 0.02, "supports are off by what their terms may be");
    worst_check(tap, &gaps.known, 0.99, "the gradient bound is no less than the exact one");
    worst_check(tap, &gaps.doubted, 0.99, "also where the gradient is off by all that it may be");
}
