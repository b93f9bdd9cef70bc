/* Factorisations that prove something, and what certificates make of them (certificate/verified.h, curvature.h). Matrices are nearly
 * singular along a direction of which all coordinates have a part: there what rounding may do adds up. */
#include <string.h>

#include "certificate/internal.h"
#include "rounding_judge.h"

#define MOST 12

/* scale (I - (1-t) qq') scale, q_k = sign_k/sqrt(size): its least eigenvalue beside the scales is t. */
struct nearly {
    size_t size;
    double scale[MOST], sign[MOST], numbers[MOST * MOST];
    quad exact[MOST * MOST];
};

static void draw_matrix(struct nearly *nearly, struct kf_random *random, double t)
{
    nearly->size = 1 + kf_random_below(random, MOST);
    bool scaled = kf_random_below(random, 2);
    for (size_t k = 0; k < nearly->size; k++) {
        nearly->scale[k] = scaled ? draw_scale(random, -8, 9) : 1;
        nearly->sign[k] = kf_random_below(random, 2) ? 1 : -1;
    }
    for (size_t k = 0; k < nearly->size; k++)
        for (size_t l = 0; l < nearly->size; l++) {
            double part = (k == l) - (1 - t) * nearly->sign[k] * nearly->sign[l] / (double)nearly->size;
            nearly->numbers[k * MOST + l] = part * (nearly->scale[k] * nearly->scale[l]);
            nearly->exact[k * MOST + l] = nearly->numbers[k * MOST + l];
        }
}

/* What `operations` may have done at worst: gamma sqrt(m_k m_l) in each number, all to the worse. */
static void disturb(struct nearly *nearly, double operations, double *margin)
{
    for (size_t k = 0; k < nearly->size; k++)
        margin[k] = kf_margin(nearly->size, operations, fabs(nearly->numbers[k * MOST + k]));
    for (size_t k = 0; k < nearly->size; k++)
        for (size_t l = 0; l < nearly->size; l++)
            nearly->exact[k * MOST + l] -= (quad)kf_gamma(operations) / KF_UPWARD * nearly->sign[k] * nearly->sign[l] *
                                           sqrtq((quad)nearly->numbers[k * MOST + k] * nearly->numbers[l * MOST + l]);
}

/* Whether it is positive definite, in 113 bits. */
static bool is_definite(size_t size, size_t stride, const quad *matrix)
{
    quad copy[MOST * MOST];
    for (size_t k = 0; k < size; k++)
        memcpy(copy + k * MOST, matrix + k * stride, size * sizeof *copy);
    return quad_factorise(size, MOST, copy);
}

/* exact - LL', L the lower triangle by columns. */
static void subtract_square(size_t size, const double *factor, quad *matrix)
{
    for (size_t k = 0; k < size; k++)
        for (size_t l = 0; l < size; l++)
            for (size_t i = 0; i <= k && i <= l; i++)
                matrix[k * MOST + l] -= (quad)factor[i * MOST + k] * factor[i * MOST + l];
}

struct verdicts {
    size_t said, wrong, above, singular;
};

static void judge_factor(struct verdicts *verdicts, uint64_t seed)
{
    struct nearly nearly;
    struct kf_random random;
    double margin[MOST] = {0};
    kf_random_seed(&random, seed);
    double operations = seed % 2 ? draw_scale(&random, 1, 5) : 0;
    double unit = (double)MOST * KF_UNIT * (operations + 1);
    draw_matrix(&nearly, &random, unit * (seed % 3 ? draw_range(&random, -0.5, 2) : draw_scale(&random, -1, 3)));
    if (operations > 0)
        disturb(&nearly, operations, margin);
    struct kf_square square = {nearly.numbers, nearly.size, MOST};
    bool definite = is_definite(nearly.size, MOST, nearly.exact);
    verdicts->singular += !definite;
    if (!kf_verified_factor(&square, margin))
        return;
    verdicts->said++;
    verdicts->wrong += !definite;
    subtract_square(nearly.size, nearly.numbers, nearly.exact);
    verdicts->above += !is_definite(nearly.size, MOST, nearly.exact);
}

static void test_verdicts(struct tap *tap)
{
    struct verdicts verdicts = {.said = 0};
    for (uint64_t seed = 0; seed < 20000; seed++)
        judge_factor(&verdicts, seed);
    tap_check(tap, verdicts.wrong == 0 && verdicts.said > 4000 && verdicts.singular > 2000,
              "a verified factor is one of a positive definite matrix (%zu factors, %zu of none; %zu matrices are not)",
              verdicts.said, verdicts.wrong, verdicts.singular);
    tap_check(tap, verdicts.above == 0, "and its square is no more than that matrix (%zu are)", verdicts.above);
}

/* ---- inverses ---- */

/* out = L'ML v - v */
static void deviate(const struct nearly *nearly, const double *factor, const double *inverse, const quad *v, quad *out)
{
    quad first[MOST] = {0}, second[MOST] = {0};
    size_t size = nearly->size;
    for (size_t i = 0; i < size; i++)
        for (size_t k = i; k < size; k++)
            first[k] += factor[i * MOST + k] * v[i];
    for (size_t k = 0; k < size; k++)
        for (size_t l = 0; l < size; l++)
            second[k] += inverse[l * MOST + k] * first[l];
    for (size_t i = 0; i < size; i++) {
        out[i] = -v[i];
        for (size_t k = i; k < size; k++)
            out[i] += factor[i * MOST + k] * second[k];
    }
}

static void judge_inverse(struct worst *worst, uint64_t seed)
{
    struct nearly nearly;
    struct kf_random random;
    double margin[MOST] = {0}, diagonal[MOST], factor[MOST * MOST];
    kf_random_seed(&random, seed);
    draw_matrix(&nearly, &random, draw_scale(&random, -11, 0));
    for (size_t k = 0; k < nearly.size; k++)
        diagonal[k] = nearly.numbers[k * MOST + k];
    struct kf_square square = {nearly.numbers, nearly.size, MOST};
    if (!kf_verified_factor(&square, margin))
        return;
    memcpy(factor, nearly.numbers, sizeof factor);
    double apart = kf_verified_inverse(&square, diagonal);
    if (!isfinite(apart))
        return;
    quad v[MOST], bent[MOST];
    for (size_t k = 0; k < nearly.size; k++)
        v[k] = kf_random_normal(&random);
    for (int round = 0; round < 20; round++) {
        deviate(&nearly, factor, nearly.numbers, v, bent);
        quad square_of_v = quad_dot(nearly.size, v, v), length = sqrtq(quad_dot(nearly.size, bent, bent));
        worst_note(worst, seed, quad_dot(nearly.size, v, bent) / square_of_v, apart);
        for (size_t k = 0; k < nearly.size && length > 0; k++)
            v[k] = bent[k] / length;
    }
}

/* ---- Hessians ---- */

/* C'HC - c I, M = CC' as it is: definite if and only if H is more than c M^-1. c is 1 less the slack, and less what curvatures may be too
 * large by for their scores' sake. */
static bool is_above(const struct kf_curvature *curvature, double concordance, const quad *hessian)
{
    size_t size = curvature->hessian.size;
    quad factor[MOST * MOST] = {0}, bent[MOST * MOST] = {0}, product[MOST * MOST] = {0};
    for (size_t k = 0; k < size; k++)
        for (size_t l = 0; l < size; l++)
            factor[k * MOST + l] = curvature->hessian.inverse[l * curvature->hessian.capacity + k];
    if (!quad_factorise(size, MOST, factor))
        return false;
    for (size_t k = 0; k < size; k++)
        for (size_t l = 0; l < size; l++)
            for (size_t i = l; i < size; i++)
                bent[k * MOST + l] += hessian[k * MOST + i] * factor[i * MOST + l];
    for (size_t k = 0; k < size; k++)
        for (size_t l = 0; l < size; l++)
            for (size_t i = k; i < size; i++)
                product[k * MOST + l] += factor[i * MOST + k] * bent[i * MOST + l];
    for (size_t k = 0; k < size; k++)
        product[k * MOST + k] -=
            (1 - (quad)curvature->hessian.slack) * expq(-concordance * (quad)curvature->since.blur);
    return is_definite(size, MOST, product);
}

/* Of the points that are in it, with curvatures at x in 113 bits. */
static void exact_hessian(const struct kf_curvature *curvature, const struct kf_task *task, quad *hessian)
{
    const struct kf_objective *objective = &task->problem.objective;
    quad weight = exact_weight(objective), z;
    for (size_t k = 0; k < MOST * MOST; k++)
        hessian[k] = k % (MOST + 1) == 0 ? 2 * (quad)objective->lambda : 0;
    for (size_t j = 0; j < task->problem.points.count; j++) {
        keepfit_row row = kf_points_row(&task->problem.points, j);
        exact_scores(objective, j, task->iterate.x, &z);
        quad curve = exact_curve(objective, j, z) * task->problem.points.place[j].weight / weight;
        bool left_out = kf_concordance(&task->problem) > 0 && curvature->leverages.of[j] < 0;
        for (size_t d = 0; d < row.count && !left_out; d++)
            for (size_t e = 0; e < row.count; e++)
                hessian[(row.index ? row.index[d] : d) * MOST + (row.index ? row.index[e] : e)] +=
                    curve * row.value[d] * row.value[e];
    }
}

/* The sum after a step that the curvatures make something of, against what they make of it exactly, where x comes to lie. */
static void judge_step(struct worst *worst, uint64_t seed, const struct kf_curvature *curvature,
                       const struct kf_task *task, const double *slopes, struct kf_random *random)
{
    size_t size = curvature->hessian.size;
    double sum[MOST] = {0}, off[MOST] = {0}, step[MOST], to[MOST];
    quad exact[MOST] = {0}, there, here;
    struct kf_tracked tracked = {sum, off};
    double length = draw_scale(random, -12, 0);
    for (size_t k = 0; k < size; k++) {
        double most = task->problem.objective.most[k];
        step[k] = length * kf_random_normal(random) / (most > 0 ? most : 1);
        to[k] = task->iterate.x[k] + step[k];
    }
    kf_curvature_follow(curvature, task, slopes, step, &tracked);
    for (size_t j = 0; j < task->problem.points.count; j++) {
        keepfit_row row = kf_points_row(&task->problem.points, j);
        exact_scores(&task->problem.objective, j, task->iterate.x, &here);
        exact_scores(&task->problem.objective, j, to, &there);
        quad factor = kf_curvature_of(curvature, &task->problem, slopes, j) * (there - here);
        for (size_t e = 0; e < row.count; e++)
            exact[row.index ? row.index[e] : e] += factor * row.value[e];
    }
    for (size_t k = 0; k < size; k++)
        worst_note(worst, seed, sum[k] - exact[k], off[k]);
}

struct hessians {
    size_t certified, below;
    double slack; /* the largest */
    struct worst steps;
};

static void judge_hessian(struct hessians *hessians, uint64_t seed)
{
    struct kf_random random;
    kf_random_seed(&random, seed);
    struct kind kind = {.loss = seed % 2 ? "logistic" : "squared",
                        .count = 1 + kf_random_below(&random, 60),
                        .slots = 1 + kf_random_below(&random, seed % 3 ? 3 : MOST),
                        .sparse = kf_random_below(&random, 2),
                        .weighted = kf_random_below(&random, 2)};
    keepfit_fit *fit = draw_problem(&kind, &random);
    struct kf_task *task = &fit->task;
    struct kf_curvature curvature = {.phase = KF_PHASE_NONE};
    double sum[MOST], off[MOST], slopes[100], scratch[1];
    struct kf_tracked tracked = {sum, off};
    quad hessian[MOST * MOST];
    task->problem.objective.lambda = draw_scale(&random, -9, 0);
    kf_gradient_sum(&task->problem.objective, task->iterate.x, kind.count, sum, slopes, scratch);
    kf_rounding_of_pass(&task->problem.objective, task->iterate.x, off);
    if (task->problem.objective.weight_total > 0 && kf_curvature_anchor(&curvature, task, slopes) == KEEPFIT_OK &&
        kf_curvature_certify(&curvature, task, &tracked, 1e-3)) {
        exact_hessian(&curvature, task, hessian);
        hessians->certified++;
        hessians->below += !is_above(&curvature, kf_concordance(&task->problem), hessian);
        hessians->slack = fmax(hessians->slack, curvature.hessian.slack);
        judge_step(&hessians->steps, seed, &curvature, task, slopes, &random);
    }
    kf_curvature_free(&curvature);
    keepfit_fit_free(fit);
}

void test_factors(struct tap *tap)
{
    struct worst inverses = {.ratio = 0};
    struct hessians hessians = {.slack = 0};
    test_verdicts(tap);
    for (uint64_t seed = 0; seed < 1000; seed++)
        judge_inverse(&inverses, seed);
    worst_check(tap, &inverses, 1e-4, "no eigenvalue of L'ML is farther from 1 than is said");
    for (uint64_t seed = 0; seed < 2000; seed++)
        judge_hessian(&hessians, seed);
    tap_check(tap, hessians.below == 0 && hessians.certified > 500 && hessians.slack > 0.01,
              "H is no less than its inverse and the slack say (%zu are certified, %zu less; slack up to %.3g)",
              hessians.certified, hessians.below, hessians.slack);
    worst_check(tap, &hessians.steps, 1e-3, "what curvatures make of a step is off by no more than its bound");
}
