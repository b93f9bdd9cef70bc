#include "rounding_judge.h"

#include <string.h>

void worst_note(struct worst *worst, uint64_t seed, quad off, double bound)
{
    off = quad_size(off);
    worst->judged++;
    if (!(off <= (quad)bound)) {
        if (worst->wrong++ < 3)
            printf("# seed %llu: off by %.6g at a bound of %.6g\n", (unsigned long long)seed, (double)off, bound);
        worst->seed = seed;
    }
    double ratio = bound > 0 ? (double)(off / (quad)bound) : off > 0 ? INFINITY : 0;
    if (ratio > worst->ratio) {
        worst->ratio = ratio;
        worst->seed = seed;
    }
}

void worst_check(struct tap *tap, const struct worst *worst, double sharp, const char *what)
{
    tap_check(tap, worst->judged > 0 && worst->wrong == 0 && worst->ratio >= sharp,
              "%s (%zu judged, %zu beyond their bound, at most %.3g of it, seed %llu; at least %.3g is asked for)",
              what, worst->judged, worst->wrong, worst->ratio, (unsigned long long)worst->seed, sharp);
}

/* ---- problems ---- */

double draw_range(struct kf_random *random, double low, double high)
{
    return low + (high - low) * kf_random_unit(random);
}

double draw_scale(struct kf_random *random, double low, double high)
{
    return pow(10, draw_range(random, low, high));
}

/* Columns by number: 0 is ordinary, the others in turn of some scale, far from 0, as good as collinear with the one before, a flag. */
static double draw_entry(const struct kind *kind, struct kf_random *random, size_t k, double before)
{
    double normal = kf_random_normal(random);
    if (kind->absorbing)
        return 1;
    switch (k % 5) {
    case 1:
        return normal * pow(10, (double)(k * 7 % 18) - 8);
    case 2:
        return 1.7e9 + 1e4 * normal;
    case 3:
        return before * (1 + 1e-9 * normal);
    case 4:
        return normal > 0;
    default:
        return normal;
    }
}

static double draw_target(const struct kind *kind, struct kf_random *random)
{
    if (strcmp(kind->loss, "softmax") == 0)
        return (double)kf_random_below(random, EXACT_OUTPUTS);
    if (strcmp(kind->loss, "logistic") == 0 || strcmp(kind->loss, "hinge") == 0)
        return kind->absorbing || kf_random_below(random, 2) ? 1 : -1;
    return kind->absorbing ? 1 : kf_random_normal(random) * draw_scale(random, -3, 6);
}

static double draw_weight(const struct kind *kind, struct kf_random *random, size_t j)
{
    if (kind->absorbing)
        return j == 0 ? 1 : 0x1p-53 * 0.999;
    if (!kind->weighted)
        return 1;
    return kf_random_below(random, 20) == 0 ? 0 : draw_scale(random, -8, kf_random_below(random, 8) ? 3 : 17);
}

void draw_point(const struct kind *kind, struct kf_random *random, struct kf_task *task)
{
    double value[EXACT_SIZE], before = 1, size = kf_random_below(random, 40) || kind->absorbing ? 1 : 1e6;
    uint32_t index[EXACT_SIZE];
    size_t stored = 0;
    for (size_t k = 0; k < kind->slots; k++) {
        before = draw_entry(kind, random, k, before);
        if (kind->sparse && !kind->absorbing && kf_random_below(random, 3))
            continue;
        index[stored] = (uint32_t)k;
        value[stored++] = size * before;
    }
    keepfit_point point = {.row = {stored, kind->sparse ? index : NULL, value},
                           .target = draw_target(kind, random),
                           .weight = draw_weight(kind, random, task->problem.points.count)};
    TAP_NEED(kf_points_append(&task->problem.points, &point, NULL));
    kf_objective_count(&task->problem.objective, task->problem.points.count - 1);
}

/* Scores are about 1 or much more or less; columns that are nearly the same may take each other's part away. */
static void draw_x(const struct kind *kind, struct kf_random *random, struct kf_task *task)
{
    size_t outputs = task->problem.objective.outputs;
    double size = kf_random_below(random, 2) ? 1 : draw_scale(random, -4, 2);
    for (size_t k = 0; k < kind->slots; k++)
        for (size_t l = 0; l < outputs; l++) {
            double *number = &task->iterate.x[k * outputs + l];
            double most = task->problem.objective.most[k];
            *number = kind->absorbing ? 0 : size * kf_random_normal(random) / (most > 0 ? most : 1);
            if (k % 5 == 3 && !kind->absorbing)
                *number = -task->iterate.x[(k - 1) * outputs + l];
        }
}

keepfit_fit *draw_problem(const struct kind *kind, struct kf_random *random)
{
    char text[200];
    bool single = strcmp(kind->loss, "squared") == 0 || strcmp(kind->loss, "logistic") == 0;
    snprintf(text, sizeof text, "loss=%s domain=%s method=%s lambda=1e-3 intercept=false", kind->loss,
             kind->domain ? kind->domain : "none", single && !kind->domain ? "quadratic" : "refit");
    keepfit_fit *fit = fit_from(text);
    struct kf_task *task = &fit->task;
    bool many = has_many_classes(kind->loss);
    TAP_NEED(kind->slots * (many ? EXACT_OUTPUTS : 1) <= EXACT_SIZE);
    TAP_NEED(kf_task_resize(task, kind->slots, many ? EXACT_OUTPUTS : 1));
    task->problem.objective.lambda = 1e-3;
    for (size_t j = 0; j < kind->count; j++)
        draw_point(kind, random, task);
    draw_x(kind, random, task);
    return fit;
}

/* ---- what is so ---- */

void exact_scores(const struct kf_objective *objective, size_t j, const double *x, quad *z)
{
    keepfit_row row = kf_points_row(objective->points, j);
    for (size_t l = 0; l < objective->outputs; l++)
        z[l] = 0;
    for (size_t e = 0; e < row.count; e++)
        for (size_t l = 0; l < objective->outputs; l++)
            z[l] += (quad)row.value[e] * x[(row.index ? row.index[e] : e) * objective->outputs + l];
}

static void softmax_slopes(size_t outputs, size_t own, const quad *z, quad *slopes)
{
    quad top = z[0], sum = 0, others = 0;
    for (size_t l = 1; l < outputs; l++)
        top = quad_most(top, z[l]);
    for (size_t l = 0; l < outputs; l++) {
        slopes[l] = expq(z[l] - top);
        sum += slopes[l];
        others += l == own ? 0 : slopes[l];
    }
    for (size_t l = 0; l < outputs; l++)
        slopes[l] = (l == own ? -others : slopes[l]) / sum;
}

void exact_slopes(const struct kf_objective *objective, size_t j, const quad *z, quad *slopes)
{
    const char *loss = objective->loss->name;
    double b = objective->points->place[j].target, delta = objective->delta;
    quad r = z[0] - b, shortfall = 1 - b * z[0];
    if (strcmp(loss, "softmax") == 0)
        softmax_slopes(objective->outputs, (size_t)b, z, slopes);
    else if (strcmp(loss, "logistic") == 0)
        slopes[0] = -b / (1 + expq(b * z[0]));
    else if (strcmp(loss, "hinge") == 0)
        slopes[0] = shortfall <= 0 ? 0 : shortfall < delta ? -b * shortfall / delta : -b;
    else if (strcmp(loss, "huber") == 0 && quad_size(r) > delta)
        slopes[0] = r > 0 ? 2 * (quad)delta : -2 * (quad)delta;
    else
        slopes[0] = 2 * r;
}

static quad softmax_value(size_t outputs, size_t own, const quad *z)
{
    quad top = z[0], others = 0;
    size_t first = 0;
    for (size_t l = 1; l < outputs; l++)
        first = z[l] > z[first] ? l : first;
    top = z[first];
    for (size_t l = 0; l < outputs; l++)
        others += l == first ? 0 : expq(z[l] - top);
    return log1pq(others) + (top - z[own]);
}

quad exact_value(const struct kf_objective *objective, size_t j, const quad *z)
{
    const char *loss = objective->loss->name;
    quad b = objective->points->place[j].target, delta = objective->delta;
    quad r = quad_size(z[0] - b), shortfall = 1 - b * z[0];
    if (strcmp(loss, "softmax") == 0)
        return softmax_value(objective->outputs, (size_t)b, z);
    if (strcmp(loss, "logistic") == 0)
        return log1pq(expq(-quad_size(z[0]))) + (b * z[0] > 0 ? 0 : -b * z[0]);
    if (strcmp(loss, "hinge") == 0)
        return shortfall <= 0 ? 0 : shortfall < delta ? shortfall * shortfall / (2 * delta) : shortfall - delta / 2;
    if (strcmp(loss, "huber") == 0 && r > delta)
        return delta * (2 * r - delta);
    return r * r;
}

quad exact_curve(const struct kf_objective *objective, size_t j, quad z)
{
    const char *loss = objective->loss->name;
    quad b = objective->points->place[j].target, delta = objective->delta, shortfall = 1 - b * z;
    if (strcmp(loss, "logistic") == 0)
        return 1 / (1 + expq(z)) / (1 + expq(-z));
    if (strcmp(loss, "hinge") == 0)
        return shortfall > 0 && shortfall < delta ? 1 / delta : 0;
    return strcmp(loss, "huber") == 0 && quad_size(z - b) > delta ? 0 : 2;
}

void exact_add(const struct kf_objective *objective, size_t j, const double *x, quad share, quad *sum)
{
    quad z[EXACT_OUTPUTS], slopes[EXACT_OUTPUTS];
    keepfit_row row = kf_points_row(objective->points, j);
    exact_scores(objective, j, x, z);
    exact_slopes(objective, j, z, slopes);
    for (size_t e = 0; e < row.count; e++)
        for (size_t l = 0; l < objective->outputs; l++)
            sum[(row.index ? row.index[e] : e) * objective->outputs + l] +=
                share * objective->points->place[j].weight * slopes[l] * row.value[e];
}

void exact_sum(const struct kf_objective *objective, const double *x, quad *sum)
{
    for (size_t k = 0; k < kf_dimension(objective); k++)
        sum[k] = 0;
    for (size_t j = 0; j < objective->points->count; j++)
        exact_add(objective, j, x, 1, sum);
}

quad exact_losses(const struct kf_objective *objective, const double *x)
{
    quad sum = 0, z[EXACT_OUTPUTS];
    for (size_t j = 0; j < objective->points->count; j++) {
        exact_scores(objective, j, x, z);
        sum += objective->points->place[j].weight * exact_value(objective, j, z);
    }
    return sum;
}

quad exact_weight(const struct kf_objective *objective)
{
    quad sum = 0;
    for (size_t j = 0; j < objective->points->count; j++)
        sum += objective->points->place[j].weight;
    return sum;
}
