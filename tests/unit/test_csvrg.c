/* The paper's laws for CSVRG and SGD-sparse: tracked gradient, unbiased estimator (by enumeration), output weights, number of
 * full-gradient stages, exact count of FOs and its bounds, accuracy with the theory's constants. */
#include <string.h>

#include "kernels/kernels.h"
#include "method/csvrg.h"
#include "support.h"

static struct kf_csvrg *state_of(keepfit_fit *fit)
{
    return fit->running[0].state;
}

/* At every stage: the tracked sum equals the recomputed one, and the mean of the estimator over all u equals the gradient. */
static void test_tracked_and_unbiased(struct tap *tap, const char *loss, const char *setting, bool weighted)
{
    char text[160];
    snprintf(text, sizeof text, "loss=%s lambda=0.05 method=csvrg setting=%s inner=7 domain=ball:3", loss, setting);
    struct cloud *cloud = cloud_make(loss, 60, 5, true, weighted, 21);
    keepfit_fit *fit = fit_from(text);
    struct kf_task *task = &fit->task;
    struct kf_objective *objective = &task->problem.objective;
    double tracked_error = 0, bias = 0, sum[64], gradient[64], mean[64], x[64];
    struct kf_random random;
    kf_random_seed(&random, 9);
    for (size_t i = 1; i <= cloud->count; i++) {
        push_range(fit, cloud, i - 1, i);
        struct kf_csvrg *csvrg = state_of(fit);
        size_t size = kf_size(&task->problem);
        if (i == 1)
            continue;
        double tracked[64];
        kf_drift_read(task, tracked);
        kf_gradient_sum(objective, csvrg->anchor, i, sum, NULL, task->vectors.factors[0]);
        tracked_error = fmax(tracked_error, largest_difference(size, tracked, sum));

        /* As before the inner loop of this stage: the tracked sum without the newest point. */
        struct kf_view anchor = kf_dense_view(csvrg->anchor), here = kf_dense_view(x);
        kf_factors(objective, &anchor, i - 1, task->vectors.factors[3]);
        double older[64];
        memcpy(older, tracked, size * sizeof *older);
        objective->type->add(objective, -1, i - 1, task->vectors.factors[3], older);
        for (size_t k = 0; k < size; k++) {
            x[k] = kf_random_normal(&random);
            mean[k] = kf_inverse_weight(objective) * older[k] + 2 * objective->lambda * x[k];
        }
        for (size_t u = 0; u + 1 < i; u++) {
            struct kf_term terms[2];
            struct kf_estimator estimator = kf_csvrg_estimator(&task->problem, csvrg, u);
            kf_step_terms(task, &here, &estimator, terms);
            for (int k = 0; k < 2; k++)
                objective->type->add(objective, terms[k].scale / (double)(i - 1), terms[k].point, terms[k].factors,
                                     mean);
        }
        kf_gradient_sum(objective, x, i, sum, NULL, task->vectors.factors[0]);
        kf_complete_gradient(objective, sum, x, gradient);
        bias = fmax(bias, largest_difference(size, mean, gradient));
    }
    const char *weights = weighted ? ", weighted" : "";
    tap_check(tap, tracked_error < 1e-12,
              "%s %s%s: the tracked gradient equals the recomputed one at every stage (%.1e)", loss, setting, weights,
              tracked_error);
    tap_check(tap, bias < 1e-11, "%s %s%s: the estimator is unbiased, by enumeration of u (%.1e)", loss, setting,
              weights, bias);
    keepfit_fit_free(fit);
    free(cloud);
}

/* The rule of the algorithm box, run by itself: stages with full gradients, and the FOs of all stages after the first. */
static void count_by_hand(size_t n, double alpha, uint64_t steps, uint64_t *stages, uint64_t *fos)
{
    size_t previous = 0;
    *stages = *fos = 0;
    for (size_t i = 2; i <= n; i++) {
        bool full = (double)(i - previous) >= alpha * (double)i;
        *fos += 3 * steps + (full ? i - 1 + i : 1);
        if (full) {
            previous = i;
            ++*stages;
        }
    }
}

/* --count actual leaves out the gradient that is remembered: two a step. */
static void test_actual_count(struct tap *tap)
{
    struct cloud *cloud = cloud_make("squared", 100, 4, false, false, 3);
    uint64_t fo[2];
    for (int actual = 0; actual < 2; actual++) {
        keepfit_fit *fit = fit_from(actual ? "method=csvrg setting=paper inner=10 count=actual"
                                           : "method=csvrg setting=paper inner=10");
        keepfit_report report = {.struct_size = sizeof report};
        push_range(fit, cloud, 0, 100);
        keepfit_fit_report(fit, &report);
        fo[actual] = report.fo;
        keepfit_fit_free(fit);
    }
    tap_check(tap, fo[0] - fo[1] == 99 * 10, "a remembered gradient is charged by --count paper only");
    free(cloud);
}

static void test_counts(struct tap *tap, size_t n, double alpha, uint64_t steps)
{
    char text[160];
    snprintf(text, sizeof text, "loss=squared lambda=0.05 method=csvrg setting=paper inner=%llu alpha=%g",
             (unsigned long long)steps, alpha);
    struct cloud *cloud = cloud_make("squared", n, 4, false, false, 3);
    keepfit_fit *fit = fit_from(text);
    keepfit_report first = {.struct_size = sizeof first}, last = {.struct_size = sizeof last};
    push_range(fit, cloud, 0, 1);
    keepfit_fit_report(fit, &first);
    push_range(fit, cloud, 1, n);
    keepfit_fit_report(fit, &last);
    uint64_t stages, fos;
    count_by_hand(n, alpha, steps, &stages, &fos);
    double most = ceil(log((double)n) / alpha);
    tap_check(tap, last.fo - first.fo == fos, "n %zu alpha %g T %llu: exactly %llu FOs after the first stage", n, alpha,
              (unsigned long long)steps, (unsigned long long)fos);
    tap_check(tap, state_of(fit)->full_stages == stages && (double)stages <= most + 1,
              "n %zu alpha %g: %llu full-gradient stages, the lemma's bound is %g", n, alpha,
              (unsigned long long)stages, most);
    double corollary = 3.0 * (double)steps * (double)n + 2 * (double)n * (most + 1);
    tap_check(tap, (double)fos <= corollary, "n %zu alpha %g: within the corollary's bound %g", n, alpha, corollary);
    keepfit_fit_free(fit);
    free(cloud);
}

/* The weights that the average saw are t+beta-1 over their sum T(T-1)/2 + T(beta-1). */
static void test_output_weights(struct tap *tap)
{
    struct cloud *cloud = cloud_make("squared", 5, 3, false, false, 2);
    keepfit_fit *fit =
        fit_from("loss=squared lambda=0.5 method=csvrg setting=theory domain=ball:1 smoothness=2 inner=40");
    push_range(fit, cloud, 0, cloud->count);
    struct kf_task *task = &fit->task;
    double beta = 72 * 2 * 2 / (1.0 * 1.0), steps = 40, sum = 0;
    bool right = true;
    for (uint64_t t = 0; t < 40; t++) {
        double weight = kf_csvrg_output_weight(&task->problem, t);
        right &= near(weight, (double)t + beta - 1, 1e-14);
        sum += weight;
    }
    tap_check(tap, right && near(sum, steps * (steps - 1) / 2 + steps * (beta - 1), 1e-13),
              "output weights are t+beta-1 and sum to T(T-1)/2 + T(beta-1)");
    tap_check(tap, near(task->iterate.mean.weight, sum, 1e-13), "the average was taken over exactly these weights");

    /* The mean of equal iterates is that iterate: the normaliser is right. */
    double before[3];
    memcpy(before, kf_read(task), sizeof before);
    kf_average_begin(task);
    for (uint64_t t = 0; t < 40; t++)
        kf_average_add(task, kf_csvrg_output_weight(&task->problem, t));
    kf_average_end(task);
    tap_check(tap, largest_difference(3, kf_read(task), before) < 1e-14, "normalised weights sum to one");
    keepfit_fit_free(fit);
    free(cloud);
}

/* Theorem 4 (t:accuracy) on an instance where its constants are affordable: every stage's gap, averaged over seeds, is at most epsilon. */
static void test_theory(struct tap *tap, int seeds)
{
    const double epsilon = 0.05;
    const size_t n = 40;
    double mean[64] = {0};
    uint64_t steps = 0;
    struct cloud *cloud = cloud_make("logistic", n, 3, false, false, 6);
    for (int seed = 1; seed <= seeds; seed++) {
        char text[200];
        snprintf(text, sizeof text,
                 "loss=logistic lambda=1 method=csvrg setting=theory epsilon=%g domain=ball:1 seed=%d", epsilon, seed);
        keepfit_fit *fit = fit_from(text);
        for (size_t i = 1; i <= n; i++) {
            push_range(fit, cloud, i - 1, i);
            keepfit_measurement measured = {.struct_size = sizeof measured};
            TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK);
            mean[i] += measured.gap / seeds;
        }
        steps = fit->task.stage.steps;
        keepfit_fit_free(fit);
    }
    double worst = 0;
    for (size_t i = 1; i <= n; i++)
        worst = fmax(worst, mean[i]);
    tap_check(tap, worst <= epsilon,
              "theory: mean gap over %d seeds at most epsilon %g at every stage (%.2g, %llu steps)", seeds, epsilon,
              worst, (unsigned long long)steps);
    free(cloud);
}

/* T of sgd's theory: the textbook's bound G^2 (1 + ln(T+1))/(2 mu T) is at most epsilon (half of it for sgd-sparse) at T, and not at
 * T-1. */
static void test_sgd_theory_steps(struct tap *tap)
{
    struct cloud *cloud = cloud_make("squared", 2, 3, false, false, 6);
    for (int sparse = 0; sparse < 2; sparse++)
        for (int power = 0; power < 6; power++) {
            double epsilon = 100 * pow(0.1, power), slope = 5, mu = 2, share = sparse ? 0.5 : 1;
            char text[200];
            snprintf(text, sizeof text,
                     "loss=squared lambda=1 domain=ball:1 lipschitz=%g method=%s setting=theory epsilon=%g", slope,
                     sparse ? "sgd-sparse" : "sgd", epsilon);
            keepfit_fit *fit = fit_from(text);
            keepfit_report report = {.struct_size = sizeof report};
            push_range(fit, cloud, 0, 1);
            keepfit_fit_report(fit, &report);
            double steps = (double)report.fo, bound[2];
            for (int before = 0; before < 2; before++)
                bound[before] = slope * slope * (1 + log(steps - before + 1)) / (2 * mu * (steps - before));
            tap_check(tap, bound[0] <= share * epsilon * (1 + 1e-12) && (steps == 1 || bound[1] > share * epsilon),
                      "theory: %s has the least T that the textbook's bound allows at epsilon %g (%g)",
                      sparse ? "sgd-sparse" : "sgd", epsilon, steps);
            keepfit_fit_free(fit);
        }
    free(cloud);
}

/* A step of c/t: with every row 0 a step shrinks x by 1 - 2 lambda c/t, so the iterates are products, and the output is their mean. */
static void test_divided_step(struct tap *tap)
{
    const double row[2] = {0, 0}, first[2] = {3, -4}, c = 0.25;
    keepfit_point points[2] = {{.row = {2, NULL, first}, .target = 1, .weight = 1},
                               {.row = {2, NULL, row}, .target = 0, .weight = 1}};
    keepfit_fit *fit = fit_from("loss=squared lambda=0.5 method=sgd inner=7 step=0.25/t window=1");
    TAP_NEED(keepfit_fit_push(fit, &points[0]) == KEEPFIT_OK);
    size_t size = 0;
    const double *x = keepfit_fit_iterate(fit, &size);
    double start = x[0], mean = 0, factor = 1;
    TAP_NEED(keepfit_fit_push(fit, &points[1]) == KEEPFIT_OK);
    for (int t = 1; t <= 7; t++) {
        factor *= 1 - c / t;
        mean += factor / 7;
    }
    x = keepfit_fit_iterate(fit, &size);
    tap_check(tap, start != 0 && near(x[0], mean * start, 1e-13), "the step c/t is c, c/2, c/3, ... (%g)",
              x[0] / start);
    keepfit_fit_free(fit);
    fit = NULL;
    keepfit_options *options = keepfit_options_create();
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_options_set(options, "method", "svrg", &error);
    keepfit_options_set(options, "step", "0.25/t", &error);
    tap_check(tap, keepfit_fit_create(options, &fit, &error) == KEEPFIT_USAGE,
              "svrg, whose steps are alike, refuses it");
    keepfit_options_free(options);
}

/* Katyusha's own schedule: S epochs at stage i of a full gradient and 2i steps of two FOs, and a gap that 1.5 divides in each. */
static void test_katyusha_schedule(struct tap *tap)
{
    const size_t n = 30;
    const int epochs = 6;
    struct cloud *cloud = cloud_make("squared", n, 3, false, false, 6);
    keepfit_fit *fit = fit_from("loss=squared lambda=0.5 method=katyusha setting=theory outer=6");
    uint64_t expected = 0;
    for (size_t i = 1; i <= n; i++)
        expected += (uint64_t)epochs * 5 * i;
    push_range(fit, cloud, 0, n);
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_measurement measured = {.struct_size = sizeof measured};
    keepfit_fit_report(fit, &report);
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured) == KEEPFIT_OK);
    tap_check(tap, report.fo == expected, "katyusha, theory: 5i FOs an epoch (%llu)", (unsigned long long)report.fo);
    tap_check(tap, measured.gap <= 4 * pow(1.5, -epochs) * measured.objective,
              "katyusha, theory: the gap has been divided by 1.5 in each epoch (%.1e)", measured.gap);
    keepfit_fit_free(fit);
    free(cloud);
}

static void test_sgd_sparse(struct tap *tap)
{
    const double alpha = 0.2;
    struct cloud *cloud = cloud_make("logistic", 120, 4, false, false, 13);
    keepfit_fit *fit = fit_from("loss=logistic lambda=0.1 method=sgd-sparse alpha=0.2 inner=20");
    double before[64] = {0};
    size_t previous = 0, size;
    bool repeats = true, moves = true;
    uint64_t fo = 0;
    for (size_t i = 1; i <= cloud->count; i++) {
        push_range(fit, cloud, i - 1, i);
        const double *x = keepfit_fit_iterate(fit, &size);
        keepfit_report report = {.struct_size = sizeof report};
        keepfit_fit_report(fit, &report);
        bool rerun = (double)previous * (1 + alpha) < (double)i;
        bool same = memcmp(x, before, size * sizeof *x) == 0;
        if (rerun) {
            moves &= !same && report.fo == fo + 20;
            previous = i;
        } else {
            repeats &= same && report.fo == fo;
        }
        fo = report.fo;
        memcpy(before, x, size * sizeof *x);
    }
    tap_check(tap, repeats, "sgd-sparse repeats its output exactly, at no FO, while prev*(1+alpha) >= i");
    tap_check(tap, moves, "and runs anew, with T FOs, when prev*(1+alpha) < i");
    keepfit_fit_free(fit);
    free(cloud);
}

/* With every row 0 a step of 0.25 shrinks x by 0.75: the last iterate is a power, and no mean. */
static void test_last_iterate(struct tap *tap)
{
    const double row[2] = {0, 0}, first[2] = {3, -4};
    keepfit_point points[2] = {{.row = {2, NULL, first}, .target = 1, .weight = 1},
                               {.row = {2, NULL, row}, .target = 0, .weight = 1}};
    keepfit_fit *fit = fit_from("loss=squared lambda=0.5 method=sgd inner=7 step=0.25 stage-output=last window=1");
    TAP_NEED(keepfit_fit_push(fit, &points[0]) == KEEPFIT_OK);
    size_t size = 0;
    double start = keepfit_fit_iterate(fit, &size)[0];
    TAP_NEED(keepfit_fit_push(fit, &points[1]) == KEEPFIT_OK);
    double there = keepfit_fit_iterate(fit, &size)[0];
    tap_check(tap, start != 0 && near(there, pow(0.75, 7) * start, 1e-13),
              "sgd stage-output=last gives the last iterate (%g)", there / start);
    keepfit_fit_free(fit);
}

/* The settings differ in steps, T and output alone: with these given they are one method. */
static void test_csvrg_output(struct tap *tap)
{
    static const char *const outputs[] = {"mean", "last"};
    struct cloud *cloud = cloud_make("logistic", 60, 4, false, false, 19);
    double seen[2][2] = {{0}};
    for (size_t o = 0; o < 2; o++)
        for (size_t paper = 0; paper < 2; paper++) {
            char text[160];
            size_t size = 0;
            snprintf(text, sizeof text,
                     "loss=logistic lambda=0.1 method=csvrg setting=%s stage-output=%s step=0.1 inner=9",
                     paper ? "paper" : "tuned", outputs[o]);
            keepfit_fit *fit = fit_from(text);
            push_range(fit, cloud, 0, cloud->count);
            seen[o][paper] = keepfit_fit_iterate(fit, &size)[0];
            keepfit_fit_free(fit);
        }
    tap_check(tap, near(seen[0][0], seen[0][1], 1e-12) && near(seen[1][0], seen[1][1], 1e-12),
              "csvrg's output is what is asked for, whatever the setting");
    tap_check(tap, !near(seen[0][0], seen[1][0], 1e-6), "and the mean is not the last iterate");
    free(cloud);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    bool quick = count > 1 && strcmp(words[1], "quick") == 0;
    const char *loss;
    for (size_t k = 0; (loss = linear_loss(k)); k++) {
        test_tracked_and_unbiased(&tap, loss, "paper", false);
        test_tracked_and_unbiased(&tap, loss, "tuned", true);
    }
    test_counts(&tap, 100, 0.3, 10);
    test_counts(&tap, 1000, 0.3, 3);
    test_counts(&tap, 500, 0.05, 1);
    test_counts(&tap, 50, 0.9, 2);
    test_actual_count(&tap);
    test_sgd_theory_steps(&tap);
    test_divided_step(&tap);
    test_last_iterate(&tap);
    test_csvrg_output(&tap);
    test_katyusha_schedule(&tap);
    test_output_weights(&tap);
    test_theory(&tap, quick ? 1 : 5);
    test_sgd_sparse(&tap);
    return tap_end(&tap);
}
