/* Laws of the methods made for streams, strsaga, dynasaga and ssvrg: what is tracked equals what is recomputed, steps are
 * unbiased (by enumeration), points are used in the order and as often as the rules say, FOs are counted as documented, and
 * what is remembered is dropped when the functions change. */
#include <string.h>

#include "kernels/kernels.h"
#include "method/prefix.h"
#include "method/ssvrg.h"
#include "support.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Classes come one after the other. */
static void push_growing(keepfit_fit *fit, const struct cloud *cloud, size_t j, const char *loss)
{
    keepfit_point point = cloud->point[j];
    if (strcmp(loss, "softmax") == 0)
        point.target = fmin(point.target, (double)(j / 12));
    TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
}

static void sum_of_table(const struct kf_problem *problem, const struct kf_prefix *prefix, double *sum)
{
    const struct kf_objective *objective = &problem->objective;
    size_t each = objective->type->factor_count(objective);
    memset(sum, 0, kf_size(problem) * sizeof *sum);
    for (size_t u = 0; u < prefix->count; u++)
        objective->type->add(objective, 1, u, prefix->table + u * each, sum);
}

/* The difference between the mean of the step's direction over all u in the table and the gradient of their mean, at x. */
static double bias_of_table(struct kf_task *task, const struct kf_prefix *prefix, const double *drift, double *x)
{
    struct kf_objective *objective = &task->problem.objective;
    double mean[64], gradient[64];
    size_t size = kf_size(&task->problem);
    struct kf_view here = kf_dense_view(x);
    for (size_t k = 0; k < size; k++)
        mean[k] = drift[k] / prefix->weight;
    for (size_t u = 0; u < prefix->count; u++) {
        struct kf_term term;
        struct kf_estimator estimator = kf_prefix_estimator(&task->problem, prefix, u);
        estimator.sample[0].renew = false;
        kf_step_terms(task, &here, &estimator, &term);
        objective->type->add(objective, term.scale / (double)prefix->count, u, term.factors, mean);
    }
    kf_gradient_sum(objective, x, prefix->count, gradient, NULL, task->vectors.factors[0]);
    for (size_t k = 0; k < size; k++)
        gradient[k] /= prefix->weight;
    return largest_difference(size, mean, gradient);
}

static void test_table(struct tap *tap, const char *method, const char *loss, const char *iterate, size_t inner)
{
    char text[160];
    snprintf(text, sizeof text, "loss=%s lambda=0.05 method=%s inner=%zu iterate=%s domain=ball:3", loss, method, inner,
             iterate);
    struct cloud *cloud = cloud_make(loss, 60, 5, true, inner > 1, 33);
    keepfit_fit *fit = fit_from(text);
    struct kf_task *task = &fit->task;
    const struct kf_prefix *prefix = fit->running[0].state;
    bool forced = strcmp(method, "strsaga") == 0, grows = true, counts = true;
    double apart = 0, bias = 0, weight = 0, sum[64], drift[64], x[64];
    struct kf_random random;
    kf_random_seed(&random, 5);
    uint64_t fo = 0;
    for (size_t i = 1; i <= cloud->count; i++) {
        push_growing(fit, cloud, i - 1, loss);
        counts &= task->problem.objective.fo - fo == inner;
        grows &= prefix->count == (forced ? i : least(i, (inner * i + 1) / 2));
        kf_drift_read(task, drift);
        sum_of_table(&task->problem, prefix, sum);
        apart = fmax(apart, largest_difference(kf_size(&task->problem), drift, sum));
        for (size_t k = 0; k < kf_size(&task->problem); k++)
            x[k] = kf_random_normal(&random);
        bias = fmax(bias, bias_of_table(task, prefix, drift, x));
        fo = task->problem.objective.fo;
    }
    for (size_t u = 0; u < prefix->count; u++)
        weight += cloud->point[u].weight;
    tap_check(tap, apart < 1e-12 && near(prefix->weight, weight, 1e-14),
              "%s T %zu, %s, %s: the drift is the sum of the table at every stage (%.1e)", method, inner, loss, iterate,
              apart);
    tap_check(tap, bias < 1e-12, "%s T %zu, %s, %s: the step is unbiased, by enumeration of u (%.1e)", method, inner,
              loss, iterate, bias);
    tap_check(tap, counts && grows, "%s T %zu, %s, %s: T FOs a stage, and the sample grows as its rule says", method,
              inner, loss, iterate);
    keepfit_fit_free(fit);
    free(cloud);
}

/* A user-written objective that writes down which points it is asked for; a point's target is its number. */
struct asked {
    size_t count;
    double target[4096];
};

static int asked_value(void *context, const double *x, const keepfit_point *point, double *value)
{
    (void)context;
    *value = x[0] * x[0] * point->row.value[0] / 2 - x[0];
    return 0;
}

static int asked_gradient(void *context, const double *x, const keepfit_point *point, double *gradient)
{
    struct asked *asked = context;
    TAP_NEED(asked->count < sizeof asked->target / sizeof asked->target[0]);
    asked->target[asked->count++] = point->target;
    gradient[0] = x[0] * point->row.value[0] - 1;
    return 0;
}

static int asked_curvature(void *context, const keepfit_point *point, double *curvature)
{
    (void)context;
    *curvature = point->row.value[0];
    return 0;
}

static keepfit_fit *asking_fit(const char *text, struct asked *asked)
{
    keepfit_options *options = options_from(text);
    keepfit_objective objective = {.name = "own",
                                   .dimension = 1,
                                   .context = asked,
                                   .value = asked_value,
                                   .gradient = asked_gradient,
                                   .curvature = asked_curvature};
    keepfit_fit *fit = NULL;
    TAP_NEED(keepfit_fit_create_custom(options, &objective, &fit, NULL) == KEEPFIT_OK);
    keepfit_options_free(options);
    return fit;
}

static void push_number(keepfit_fit *fit, size_t number, double weight)
{
    double one = 1;
    keepfit_point point = {{1, NULL, &one}, (double)number, weight, weight == 0};
    TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
}

/* Which points a stage asks for: the newest first (or only), and none that is not in the sample yet. */
static void test_order(struct tap *tap, const char *options, bool newest_first, size_t each, bool only_newest)
{
    struct asked asked = {0};
    keepfit_fit *fit = asking_fit(options, &asked);
    bool right = true, older = false;
    size_t steps = 0;
    for (size_t i = 1; i <= 200; i++) {
        asked.count = 0;
        push_number(fit, i, 1);
        right &= each ? asked.count == each : asked.count == 1 || asked.count == 2;
        right &= !newest_first || asked.target[0] == (double)i;
        for (size_t k = 0; k < asked.count; k++) {
            size_t most = newest_first || only_newest ? i : least(i, (++steps + 1) / 2);
            right &= asked.target[k] <= (double)most && (!only_newest || asked.target[k] == (double)i);
            older |= asked.target[k] < (double)i;
        }
    }
    tap_check(tap, right && older == !only_newest, "%s: a stage uses the points that its rule says", options);
    keepfit_fit_free(fit);
}

/* Points of weight 0 at the beginning have no stage: strsaga takes them in later, one in two steps, in order. */
static void test_catching_up(struct tap *tap)
{
    struct asked asked = {0};
    keepfit_fit *fit = asking_fit("method=strsaga inner=4 lambda=0.1", &asked);
    const struct kf_prefix *prefix = fit->running[0].state;
    for (size_t i = 1; i <= 3; i++)
        push_number(fit, i, 0);
    bool right = asked.count == 0;
    const size_t expected[] = {2, 4, 6, 7};
    for (size_t i = 4; i <= 7; i++) {
        size_t from = asked.count, before = prefix->count;
        push_number(fit, i, 1);
        right &= prefix->count == expected[i - 4] && asked.count == from + 4;
        right &= asked.target[from] == (double)(before + 1);
        right &= prefix->count < before + 2 || asked.target[from + 2] == (double)(before + 2);
    }
    tap_check(tap, right && near(prefix->weight, 4, 0), "strsaga catches up with points that it could not use");
    keepfit_fit_free(fit);
}

/* The first step of all, from x = 0, is -gradient times the documented step. */
static void test_first_step(struct tap *tap, const char *method)
{
    char text[100];
    snprintf(text, sizeof text, "method=%s inner=1 lambda=0.5 smoothness=8", method);
    struct asked asked = {0};
    keepfit_fit *fit = asking_fit(text, &asked);
    size_t size;
    push_number(fit, 1, 2); /* f_1 does not depend on the weight of the only point */
    tap_check(tap, near(keepfit_fit_iterate(fit, &size)[0], 1.0 / 24, 1e-15), "%s: the step is 1/(3L)", method);
    keepfit_fit_free(fit);
}

/* After the stage at which a class appears, no entry is older than that stage. */
static void test_forgetting(struct tap *tap, const char *method, const char *loss, double first, double second)
{
    char text[100];
    snprintf(text, sizeof text, "loss=%s method=%s inner=3 lambda=0.1", loss, method);
    struct cloud *cloud = cloud_make("logistic", 40, 4, false, false, 12);
    keepfit_fit *fit = fit_from(text);
    for (size_t j = 0; j < cloud->count; j++) {
        cloud->point[j].target = j < 30 ? first : second;
        push_range(fit, cloud, j, j + 1);
        if (j == 30)
            break;
    }
    size_t filled = 0, each = fit->task.problem.objective.outputs;
    if (strcmp(method, "ssvrg") == 0) {
        const struct kf_ssvrg *ssvrg = fit->running[0].state;
        filled = ssvrg->gathered;
    } else {
        const struct kf_prefix *prefix = fit->running[0].state;
        TAP_NEED(prefix->count == 31);
        for (size_t u = 0; u < prefix->count; u++)
            filled += kf_square(each, prefix->table + u * each) > 0;
    }
    tap_check(tap, filled >= 1 && filled <= 3, "%s %s: class %g after %g, and nothing older is remembered (%zu)",
              method, loss, second, first, filled);
    keepfit_fit_free(fit);
    free(cloud);
}

/* The gradient sum at x of the points that the round has gathered. */
static void sum_of_round(struct kf_task *task, const struct kf_ssvrg *ssvrg, const double *x, double *sum)
{
    double older[64];
    size_t i = task->problem.points.count;
    kf_gradient_sum(&task->problem.objective, x, i, sum, NULL, task->vectors.factors[0]);
    kf_gradient_sum(&task->problem.objective, x, i - ssvrg->gathered, older, NULL, task->vectors.factors[0]);
    kf_add(kf_size(&task->problem), -1, older, sum);
}

/* The difference between the mean of the step's direction over the round's points and the gradient of their mean, at some x. The
 * points of a first round are all there are. */
static double bias_of_round(struct kf_task *task, const struct kf_ssvrg *ssvrg, const double *drift)
{
    struct kf_objective *objective = &task->problem.objective;
    size_t size = kf_size(&task->problem), i = task->problem.points.count;
    double mean[64], gradient[64], sum[64], x[64];
    double scale = kf_ssvrg_estimator(task, ssvrg, i - 1, task->vectors.factors[3]).drift_scale;
    for (size_t k = 0; k < size; k++) {
        x[k] = sin((double)k + 1);
        mean[k] = scale * drift[k] + 2 * objective->lambda * x[k];
    }
    struct kf_view here = kf_dense_view(x);
    for (size_t u = i - ssvrg->gathered; u < i; u++) {
        struct kf_term term;
        struct kf_estimator estimator = kf_ssvrg_estimator(task, ssvrg, u, task->vectors.factors[3]);
        kf_step_terms(task, &here, &estimator, &term);
        objective->type->add(objective, term.scale / (double)ssvrg->gathered, u, term.factors, mean);
    }
    sum_of_round(task, ssvrg, x, sum);
    for (size_t k = 0; k < size; k++)
        gradient[k] = scale * sum[k] + 2 * objective->lambda * x[k];
    if (ssvrg->gathered == i)
        kf_complete_gradient(objective, sum, x, gradient);
    return largest_difference(size, mean, gradient);
}

/* While a round gathers, the drift is the gradient sum at the anchor of exactly the points since it began; when it has gathered,
 * the step is unbiased over these points. */
static void test_anchor(struct tap *tap, const char *loss, const char *iterate)
{
    char text[200];
    snprintf(text, sizeof text,
             "loss=%s lambda=0.05 method=ssvrg inner=9 step=0.1/L smoothness=30 convexity=3 iterate=%s domain=ball:3",
             loss, iterate);
    struct cloud *cloud = cloud_make(loss, 300, 5, true, true, 35);
    keepfit_fit *fit = fit_from(text);
    struct kf_task *task = &fit->task;
    const struct kf_ssvrg *ssvrg = fit->running[0].state;
    double apart = 0, bias = 0, sum[64], drift[64];
    for (size_t i = 1; i <= cloud->count; i++) {
        bool gathering = ssvrg->left == 0;
        push_range(fit, cloud, i - 1, i);
        kf_drift_read(task, drift);
        if (gathering) {
            sum_of_round(task, ssvrg, ssvrg->anchor, sum);
            apart = fmax(apart, largest_difference(kf_size(&task->problem), drift, sum));
        }
        if (gathering && ssvrg->left > 0)
            bias = fmax(bias, bias_of_round(task, ssvrg, drift));
    }
    tap_check(tap, ssvrg->round >= 3 && apart < 1e-12,
              "ssvrg %s, %s: the drift is the gradient sum of the round's points at the anchor (%.1e)", loss, iterate,
              apart);
    tap_check(tap, bias < 1e-12, "ssvrg %s, %s: the step is unbiased, by enumeration of u (%.1e)", loss, iterate, bias);
    keepfit_fit_free(fit);
    free(cloud);
}

/* Rounds as printed: kappa 3^s points at 1 FO, during which x stands still, then 1..m at 2 FOs and a step each. */
static void test_rounds(struct tap *tap)
{
    struct cloud *cloud = cloud_make("squared", 300, 3, false, false, 8);
    bool lengths = true, still = true, moved = true, seen[6] = {0};
    size_t rounds = 0, size;
    for (int seed = 1; seed <= 30; seed++) {
        char text[160];
        snprintf(text, sizeof text,
                 "loss=squared lambda=0.1 method=ssvrg inner=5 smoothness=6 convexity=2.4 step=0.001 seed=%d", seed);
        keepfit_fit *fit = fit_from(text);
        size_t gathered = 0, stepped = 0, round = 0;
        uint64_t fo = 0, steps = 0;
        double before[3] = {0};
        for (size_t i = 1; i <= cloud->count; i++) {
            push_range(fit, cloud, i - 1, i);
            const double *x = keepfit_fit_iterate(fit, &size);
            keepfit_report report = {.struct_size = sizeof report};
            keepfit_fit_report(fit, &report);
            bool same = memcmp(x, before, sizeof before) == 0, gathers = report.fo - fo == 1;
            if (gathers && stepped) { /* a round has ended */
                lengths &= gathered == (size_t)ceil(2.5 * pow(3, (double)round)) && stepped <= 5;
                seen[least(stepped, 5)] = true;
                gathered = stepped = 0;
                round++;
                rounds++;
            }
            still &= !gathers || (same && report.steps == steps);
            moved &= gathers || (!same && report.steps == steps + 1 && report.fo - fo == 2);
            gathered += gathers;
            stepped += !gathers;
            fo = report.fo;
            steps = report.steps;
            memcpy(before, x, sizeof before);
        }
        keepfit_fit_free(fit);
    }
    tap_check(tap, lengths && rounds >= 90, "ssvrg gathers ceil(kappa 3^s) points and makes at most m steps");
    tap_check(tap, seen[1] && seen[2] && seen[3] && seen[4] && seen[5], "ssvrg makes any number of steps from 1 to m");
    tap_check(tap, still, "ssvrg: 1 FO where it gathers, and x stands still");
    tap_check(tap, moved, "ssvrg: 2 FOs where it steps");
    free(cloud);
}

/* lsvrg's snapshot moves after each of a stage's steps with probability 1/i: FOs beyond 2 a step and 1 a point come in moves of i, and
 * there are about as many as that says; and a stage of one point moves it at every step. */
static void test_loopless(struct tap *tap)
{
    enum { STEPS = 20, POINTS = 400 };
    struct cloud *cloud = cloud_make("logistic", POINTS, 3, false, false, 6);
    keepfit_fit *fit = fit_from("loss=logistic lambda=0.1 method=lsvrg inner=20 seed=4");
    double moves = 0, expected = 0, variance = 0;
    bool whole = true;
    uint64_t fo = 0;
    for (size_t i = 1; i <= POINTS; i++) {
        push_range(fit, cloud, i - 1, i);
        keepfit_report report = {.struct_size = sizeof report};
        keepfit_fit_report(fit, &report);
        uint64_t beyond = report.fo - fo - 2 * STEPS - 1; /* the first stage has a move in place of its point */
        whole &= report.steps == STEPS * i && beyond % i == 0 && (i > 1 || beyond == STEPS);
        moves += (double)(beyond / i);
        expected += STEPS / (double)i;
        variance += STEPS / (double)i * (1 - 1 / (double)i);
        fo = report.fo;
    }
    tap_check(tap, whole, "lsvrg: 2 FOs a step, 1 a point, and i for each move of the snapshot");
    tap_check(tap, fabs(moves - expected) < 4 * sqrt(variance),
              "lsvrg: the snapshot moves as often as 1/i says (%g of %.1f)", moves, expected);
    keepfit_fit_free(fit);
    free(cloud);
}

/* The constants without options: kappa, the step 1/(135 L), and m = 135 kappa, seen from the largest of many draws. */
static void test_constants(struct tap *tap)
{
    uint64_t most = 0;
    bool steps = true;
    size_t size;
    for (int seed = 1; seed <= 200; seed++) {
        char text[100];
        snprintf(text, sizeof text, "method=ssvrg lambda=0.5 smoothness=3 seed=%d", seed);
        struct asked asked = {0};
        keepfit_fit *fit = asking_fit(text, &asked);
        const struct kf_ssvrg *ssvrg = fit->running[0].state;
        for (size_t i = 1; i <= 3; i++)
            push_number(fit, i, 1);
        TAP_NEED(ssvrg->gathered == 3);
        most = ssvrg->left > most ? ssvrg->left : most;
        push_number(fit, 4, 1); /* every gradient at 0 is -1, so is their mean */
        steps &= near(keepfit_fit_iterate(fit, &size)[0], 1 / (135 * 3.0), 1e-15);
        keepfit_fit_free(fit);
    }
    tap_check(tap, steps, "ssvrg: the step is 1/(135 L)");
    tap_check(tap, most <= 405 && most > 380, "ssvrg: m is 135 kappa (largest of 200 draws: %llu of 405)",
              (unsigned long long)most);
}

/* Where one x suits all points, there is no noise at the optimum, and every round comes nearer by a factor. */
static void test_single_pass(struct tap *tap)
{
    struct cloud *cloud = cloud_make("squared", 4000, 4, false, false, 3);
    for (size_t j = 0; j < cloud->count; j++)
        cloud->point[j].target = cloud->value[j][0] - 2 * cloud->value[j][1] + 0.5 * cloud->value[j][3];
    double start = 0, mean = 0;
    for (int seed = 1; seed <= 10; seed++) {
        char text[120];
        snprintf(text, sizeof text, "loss=squared lambda=1e-9 method=ssvrg convexity=2 inner=400 step=0.3/L seed=%d",
                 seed);
        keepfit_fit *fit = fit_from(text);
        keepfit_measurement measured = {.struct_size = sizeof measured};
        push_range(fit, cloud, 0, 20); /* kappa is larger: it gathers, and x is 0 */
        TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK);
        start = measured.gap;
        push_range(fit, cloud, 20, cloud->count);
        TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK);
        mean += measured.gap / 10;
        keepfit_fit_free(fit);
    }
    tap_check(tap, start > 3 && mean < 1e-3,
              "ssvrg: one pass over points without noise comes near to the optimum (from %.1e to %.1e)", start, mean);
    free(cloud);

    keepfit_fit *fit = NULL;
    keepfit_options *options = options_from("method=ssvrg lambda=0");
    keepfit_error error = {.message = ""};
    keepfit_status status = keepfit_fit_create(options, &fit, &error);
    tap_check(tap, status == KEEPFIT_USAGE && strstr(error.message, "convexity"),
              "ssvrg without a regulariser asks for convexity: %s", error.message);
    keepfit_options_set(options, "convexity", "0.1", NULL);
    tap_check(tap, keepfit_fit_create(options, &fit, &error) == KEEPFIT_OK, "and takes it");
    keepfit_fit_free(fit);
    keepfit_options_free(options);
}

int main(void)
{
    struct tap tap = {0};
    static const char *const methods[] = {"strsaga", "dynasaga"};
    const char *loss;
    for (size_t l = 0; (loss = linear_loss(l)); l++) {
        for (size_t m = 0; m < 2; m++) {
            test_table(&tap, methods[m], loss, "scaled", 4);
            test_table(&tap, methods[m], loss, "dense", 1);
        }
        test_anchor(&tap, loss, l % 2 ? "scaled" : "dense");
    }
    test_order(&tap, "method=strsaga lambda=0.1", true, 10, false);
    test_order(&tap, "method=strsaga lambda=0.1 inner=1", true, 1, true);
    test_order(&tap, "method=dynasaga lambda=0.1", false, 10, false);
    test_order(&tap, "method=dynasaga lambda=0.1 inner=1", false, 1, false);
    test_order(&tap, "method=ssvrg lambda=0.1 inner=6", true, 0, true);
    test_catching_up(&tap);
    for (size_t m = 0; m < 2; m++)
        test_first_step(&tap, methods[m]);
    static const char *const all[] = {"strsaga", "dynasaga", "ssvrg"};
    for (size_t m = 0; m < 3; m++) {
        test_forgetting(&tap, all[m], "logistic", 1, 2); /* 1 alone was the positive class: they change places */
        test_forgetting(&tap, all[m], "softmax", 0, 1);
    }
    test_rounds(&tap);
    test_loopless(&tap);
    test_constants(&tap);
    test_single_pass(&tap);
    return tap_end(&tap);
}
