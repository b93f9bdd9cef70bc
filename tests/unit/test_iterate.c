/* The scaled iterate follows the dense reference along whole trajectories, for every method that has both; its norms stay right
 * over many steps; every implementation of the kernels gives the bits of the plain one. */
#include <string.h>

#include "base/logarithm.h"
#include "iterate/step.h"
#include "kernels/exponential.h"
#include "kernels/kernels.h"
#include "support.h"

/* Rows that grow, so that new features (and, for softmax, classes) come along. */
static void push_growing(keepfit_fit *fit, const struct cloud *cloud, size_t j, const char *loss)
{
    keepfit_point point = cloud->point[j];
    while (point.row.index && point.row.count && point.row.index[point.row.count - 1] > 2 + j / 4)
        point.row.count--;
    if (strcmp(loss, "softmax") == 0)
        point.target = fmin(point.target, (double)(j / 12));
    if (keepfit_fit_push(fit, &point) != KEEPFIT_OK) {
        printf("Bail out! %s\n", keepfit_fit_error(fit)->message);
        exit(2);
    }
}

enum { DENSE, SCALED, AUTO, KINDS };
static const char *const kinds[KINDS] = {"dense", "scaled", "auto"};

/* The largest difference of the others from the dense iterate over all stages, relative to the iterate's size. */
static double divergence(const char *options, const char *loss, bool sparse, uint64_t seed)
{
    char text[400];
    struct cloud *cloud = cloud_make(loss, 60, 14, sparse, seed % 2, seed);
    keepfit_fit *fit[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        snprintf(text, sizeof text, "loss=%s %s iterate=%s", loss, options, kinds[kind]);
        fit[kind] = fit_from(text);
    }
    double worst = 0;
    for (size_t j = 0; j < cloud->count; j++) {
        size_t size[KINDS];
        const double *x[KINDS];
        double largest = 1e-300, apart = 0;
        for (int kind = 0; kind < KINDS; kind++) {
            push_growing(fit[kind], cloud, j, loss);
            x[kind] = keepfit_fit_iterate(fit[kind], &size[kind]);
            TAP_NEED(size[kind] == size[0]);
            for (size_t k = 0; k < size[0]; k++) {
                largest = fmax(largest, fabs(x[DENSE][k]));
                apart = fmax(apart, fabs(x[DENSE][k] - x[kind][k]));
            }
        }
        worst = fmax(worst, apart / largest);
    }
    TAP_NEED(!fit[DENSE]->task.iterate.scaled && (sparse || !fit[AUTO]->task.iterate.scaled));
    for (int kind = 0; kind < KINDS; kind++) {
        if (fit[kind]->task.problem.objective.fo != fit[DENSE]->task.problem.objective.fo)
            worst = INFINITY;
    }
    for (int kind = 0; kind < KINDS; kind++)
        keepfit_fit_free(fit[kind]);
    free(cloud);
    return worst;
}

/* Full rows at first, then one that shows x to be long: dense, then scaled. */
static void test_change_of_mind(struct tap *tap)
{
    struct cloud *cloud = cloud_make("logistic", 64, 4, false, false, 5);
    keepfit_fit *fit[KINDS];
    double far = 1, apart = 0;
    uint32_t index = 40;
    bool dense_before = false;
    for (int kind = 0; kind < KINDS; kind++) {
        char text[100];
        snprintf(text, sizeof text, "loss=logistic method=csvrg setting=paper lambda=0.02 iterate=%s", kinds[kind]);
        fit[kind] = fit_from(text);
        push_range(fit[kind], cloud, 0, 31);
        dense_before = !fit[kind]->task.iterate.scaled;
        keepfit_point point = {{1, &index, &far}, cloud->point[31].target, 1, false};
        TAP_NEED(keepfit_fit_push(fit[kind], &point) == KEEPFIT_OK);
        push_range(fit[kind], cloud, 32, 64);
        size_t size;
        const double *x = keepfit_fit_iterate(fit[DENSE], &size), *other = keepfit_fit_iterate(fit[kind], &size);
        for (size_t k = 0; k < size; k++)
            apart = fmax(apart, fabs(x[k] - other[k]));
    }
    tap_check(tap, dense_before && fit[AUTO]->task.iterate.scaled && apart < 1e-12,
              "auto changes to the representation that suits the rows, and x stays (%.1e)", apart);
    for (int kind = 0; kind < KINDS; kind++)
        keepfit_fit_free(fit[kind]);
    free(cloud);
}

static const char *const stepping[] = {
    "method=sgd inner=40",
    "method=sgd inner=40 step=0.01",
    "method=sgd-sparse inner=40 alpha=0.1",
    "method=svrg outer=3 inner=30",
    "method=lsvrg inner=60",
    "method=saga inner=60",
    "method=sarah outer=3 inner=30",
    "method=sarah outer=2 inner=10 lambda=50 step=0.01", /* a step of 1/(2 lambda) */
    "method=strsaga inner=20",
    "method=strsaga inner=1",
    "method=dynasaga inner=20",
    "method=dynasaga inner=1",
    "method=ssvrg convexity=20 inner=7 step=0.3/L",
    "method=csvrg inner=40",
    "method=csvrg inner=40 setting=paper",
    "method=csvrg inner=40 setting=theory lipschitz=3",
    "method=csvrg inner=40 setting=paper alpha=0.02",
};
#define STEPPING (sizeof stepping / sizeof stepping[0])

/* Of those that may be scaled; table, which may take no steps at all, is held to its promise in either form elsewhere. */
static void test_every_method_is_there(struct tap *tap)
{
    const struct kf_method *method;
    for (size_t k = 0; (method = kf_method_entry(k)); k++) {
        bool there = !method->scaled || method->holds_epsilon || names_method(STEPPING, stepping, method->name);
        tap_check(tap, there, "%s: where it may be scaled it is among those whose forms are compared", method->name);
    }
}

static void test_trajectories(struct tap *tap)
{
    static const char *const settings[] = {"lambda=0.02",
                                           "lambda=0.02 domain=ball:0.3",
                                           "lambda=0.02 bias=1 domain=ball:1",
                                           "lambda=0.02 intercept=true",
                                           "lambda=0.3 intercept=true domain=ball:0.2",
                                           "lambda-total=0.5"};
    const char *loss;
    for (size_t m = 0; m < STEPPING; m++)
        for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
            char options[300];
            double worst = 0;
            /* Inside a ball the default is the printed step, which starts at 1/lambda: see below. */
            bool printed = strstr(settings[s], "ball") && !strstr(stepping[m], "step=") &&
                           (strstr(stepping[m], "sgd") || strstr(stepping[m], "paper"));
            if (strstr(stepping[m], "lambda") && strcmp(settings[s], settings[0]) != 0)
                continue; /* it has its own lambda */
            const char *setting = strstr(stepping[m], "lambda") ? "" : settings[s];
            snprintf(options, sizeof options, "%s %s%s", stepping[m], setting, printed ? " step=capped" : "");
            for (size_t l = 0; (loss = linear_loss(l)); l++)
                for (int sparse = 0; sparse < 2; sparse++)
                    worst = fmax(worst, divergence(options, loss, sparse, 100 + m + s + l));
            tap_check(tap, worst <= 1e-9, "%s: scaled follows dense (%.1e)", options, worst);
        }
}

/* The printed step overshoots by far at first and is projected back: each such step multiplies rounding, in either
 * representation, so that here they can only be near each other. */
static void test_printed_step(struct tap *tap)
{
    double worst = 0;
    for (uint64_t seed = 1; seed <= 10; seed++)
        worst = fmax(worst, divergence("method=sgd inner=200 lambda=0.3 domain=ball:0.5", "logistic", seed % 2, seed));
    tap_check(tap, worst <= 1e-6, "printed step in a ball: scaled stays near dense (%.1e)", worst);
}

/* Millions of steps of a saga-like walk inside a ball: x = s v + c m and its norms against a plain copy. */
static void test_long_walk(struct tap *tap, uint64_t steps)
{
    struct cloud *cloud = cloud_make("squared", 200, 16, true, false, 71);
    keepfit_fit *fit =
        fit_from("loss=squared method=saga inner=1 lambda=0.01 domain=ball:0.5 iterate=scaled step=0.01");
    push_range(fit, cloud, 0, cloud->count);
    struct kf_task *task = &fit->task;
    struct kf_iterate *iterate = &task->iterate;
    size_t size = kf_size(&task->problem);
    double x[64], m[64], worst = 0, worst_norm = 0, *now = task->vectors.factors[0];
    TAP_NEED(iterate->scaled && size <= 64);
    memcpy(x, kf_read(task), size * sizeof *x);
    kf_drift_read(task, m);
    kf_sampler_start(task, cloud->count, steps, NULL);
    for (uint64_t t = 0; t < steps; t++) {
        struct kf_term term = {.scale = 1, .drift = t % 2 ? 0.5 : -0.5, .point = kf_sampler_next(task), .factors = now};
        now[0] = sin((double)t);
        keepfit_row row = kf_points_row(&task->problem.points, term.point);
        double keep = 1 - 2 * task->problem.objective.lambda * 0.01;
        for (size_t k = 0; k < size; k++)
            x[k] = keep * x[k] - 0.01 * 0.005 * m[k];
        kf_row_add(&row, -0.01, now, 1, x);
        kf_row_add(&row, term.drift, now, 1, m);
        double norm = sqrt(kf_square(size, x));
        if (norm > 0.5)
            kf_scale(size, 0.5 / norm, x);
        kf_step_along(task, 0.01, 0.005, &term, 1);
        if (t % 100003 == 0 || t + 1 == steps) {
            const double *own = kf_read(task);
            const struct kf_view *view = &iterate->view;
            for (size_t k = 0; k < size; k++)
                worst = fmax(worst, fabs(own[k] - x[k]));
            double kept = view->s * view->s * iterate->norms.vv + 2 * view->s * view->c * iterate->norms.vm +
                          view->c * view->c * iterate->norms.mm;
            worst_norm = fmax(worst_norm, fabs(kept - kf_square(size, own)));
        }
    }
    tap_check(tap, worst < 1e-9, "after %llu steps the iterate is within %.1e of a plain copy",
              (unsigned long long)steps, worst);
    tap_check(tap, worst_norm < 1e-9, "and its norm, never computed, within %.1e", worst_norm);
    keepfit_fit_free(fit);
    free(cloud);
}

/* The kernels for several rows: sums over them into b and c, and what is added to them. */
static void test_rows(const struct kf_kernels *plain, const struct kf_kernels *kernels, struct kf_random *random,
                      size_t count, const double *a, double *b, double *c, bool *same, bool *right)
{
    /* `count` columns of three rows, in any order and one of them twice */
    static const uint32_t order[] = {2, 0, 1, 0};
    double rows[700], scales[4] = {0.5, -1.5, 0.25, 2}, sums[200];
    for (size_t e = 0; e < 700; e++)
        rows[e] = kf_random_normal(random);
    for (int listed = 0; listed < 2; listed++) {
        memcpy(sums, b, sizeof sums);
        plain->combine(3 + (size_t)listed, listed ? order : NULL, scales, rows, 220, count, b);
        kernels->combine(3 + (size_t)listed, listed ? order : NULL, scales, rows, 220, count, c);
        for (size_t e = 0; e < count; e++) {
            for (size_t r = 0; r < 3 + (size_t)listed; r++)
                sums[e] += scales[r] * rows[(listed ? order[r] : r) * 220 + e];
            *right &= near(c[e], sums[e], 1e-12);
        }
    }
    /* and what is added to them, one share being 0 */
    double others[700], expected[700];
    memcpy(others, rows, sizeof rows);
    memcpy(expected, rows, sizeof rows);
    scales[1] = 0;
    for (int listed = 0; listed < 2; listed++) {
        plain->outer(3 + (size_t)listed, listed ? order : NULL, scales, 0.5, a, count, rows);
        kernels->outer(3 + (size_t)listed, listed ? order : NULL, scales, 0.5, a, count, others);
        for (size_t r = 0; r < 3 + (size_t)listed; r++)
            for (size_t e = 0; e < count; e++)
                expected[(listed ? order[r] : r) * count + e] += 0.5 * scales[r] * a[e];
    }
    for (size_t e = 0; e < 700; e++)
        *right &= near(others[e], expected[e], 1e-12);
    *same &= memcmp(rows, others, sizeof rows) == 0;
}

/* The kernels of steps over full rows; b and c hold x, m and two rows each. */
static void test_strides(const struct kf_kernels *plain, const struct kf_kernels *kernels, size_t count,
                         const double *a, double *b, double *c, bool *same, bool *right)
{
    double dots[2][4], exact[4] = {0};
    for (size_t k = 0; k < 4; k++)
        for (size_t e = 0; e < count; e++)
            exact[k] += a[e] * b[100 * k + e];
    plain->dots(count, a, b, b + 100, b + 200, b + 300, dots[0]);
    kernels->dots(count, a, c, c + 100, c + 200, c + 300, dots[1]);
    double first = plain->stride(count, 0.9, -0.1, b + 200, 0.4, 0.6, b, b + 100, a);
    double ahead = kernels->stride(count, 0.9, -0.1, c + 200, 0.4, 0.6, c, c + 100, a), moved = 0;
    for (size_t k = 0; k < 4; k++)
        *right &= near(dots[1][k], exact[k], 1e-12);
    for (size_t e = 0; e < count; e++)
        moved += a[e] * c[e];
    *right &= near(ahead, moved, 1e-12) && near(ahead, 0.9 * exact[0] - 0.1 * exact[1] + 0.4 * exact[2], 1e-12);
    double x = 0.9 * b[0] - 0.1 * b[100] + 0.4 * b[200] + 0.5 * b[300];
    plain->advance_both(count, 0.9, -0.1, b + 100, 0.4, b + 200, 0.5, b + 300, b);
    kernels->advance_both(count, 0.9, -0.1, c + 100, 0.4, c + 200, 0.5, c + 300, c);
    *right &= count == 0 || near(c[0], x, 1e-12);
    *same &= memcmp(dots[0], dots[1], sizeof dots[0]) == 0 && memcmp(&first, &ahead, sizeof first) == 0;
}

/* Of the loops over elements: the slopes against the C library's, and what curvatures may be off by against their definitions. */
static void test_elements(const struct kf_kernels *plain, const struct kf_kernels *kernels, struct kf_random *random,
                          size_t count, bool *same, bool *right)
{
    static struct kf_doubts first, second;
    double target[KF_DOUBTS], z[KF_DOUBTS], slope[KF_DOUBTS];
    for (size_t k = 0; k < count; k++) {
        target[k] = kf_random_unit(random) < 0.5 ? -1 : 1;
        z[k] = slope[k] = kf_random_normal(random) * (k % 7 ? 2 : 500);
        first.weight[k] = 0.5 + kf_random_unit(random);
        first.slope[k] = first.weight[k] * (k % 5 ? kf_random_unit(random) : 1);
        first.own[k] = first.slope[k] * (1 - first.slope[k] / first.weight[k]);
        first.used[k] = first.own[k] * (0.5 + kf_random_unit(random)) + 1e-12;
        first.far[k] = kf_random_unit(random);
        first.bent[k] = first.far[k] * first.far[k];
    }
    second = first;
    plain->logistic_slopes(count, target, z);
    for (size_t k = 0; k < count; k++)
        *right &= fabs(z[k] + target[k] / (1 + exp(target[k] * slope[k]))) <= 1e-15;
    kernels->logistic_slopes(count, target, slope);
    *same &= memcmp(z, slope, count * sizeof *z) == 0;
    plain->doubts(count, 1, &first);
    kernels->doubts(count, 1, &second);
    *same &= memcmp(&first, &second, sizeof first) == 0;
    for (size_t k = 0; k < count; k++) {
        double off = fabs(second.own[k] - second.used[k]) * second.far[k] + second.own[k] * second.bent[k];
        *right &= second.off[k] >= off && second.off[k] <= off * (1 + 1e-12) + 1e-13;
        *right &= near(second.square[k], second.off[k] * second.off[k] / second.used[k], 1e-12);
        *right &=
            second.ratio[k] >= second.used[k] * (1 + second.far[k] + second.bent[k]) / second.own[k] * (1 - 1e-12);
    }
}

static void test_kernels(struct tap *tap)
{
    const struct kf_kernels *plain = kf_kernels_entry(0);
    struct kf_random random;
    kf_random_seed(&random, 5);
    for (size_t k = 0; kf_kernels_entry(k); k++) {
        const struct kf_kernels *kernels = kf_kernels_entry(k);
        bool same = true, right = true;
        for (size_t count = 0; count < 200; count++) {
            double a[200], b[400], c[400], exact = 0;
            uint32_t index[200];
            for (size_t e = 0; e < count; e++) {
                a[e] = kf_random_normal(&random);
                index[e] = (uint32_t)e;
            }
            for (size_t e = 0; e < 400; e++)
                b[e] = c[e] = kf_random_normal(&random);
            for (size_t e = 0; e < count; e++)
                exact += a[e] * b[e];
            same &= plain->dot(count, a, b) == kernels->dot(count, a, b);
            right &= near(kernels->dot(count, a, b), exact, 1e-12);
            plain->add(count, 0.3, a, b);
            kernels->add(count, 0.3, a, c);
            double x = 0.9 * b[0] - 0.1 * b[200] + 0.4 * a[0], m = b[200] + 0.6 * a[0];
            plain->advance(count, 0.9, -0.1, a, 0.4, 0.6, b, b + 200);
            kernels->advance(count, 0.9, -0.1, a, 0.4, 0.6, c, c + 200);
            right &= count == 0 || (near(c[0], x, 1e-12) && near(c[200], m, 1e-12));
            for (int sparse = 0; sparse < 2; sparse++) {
                keepfit_row row = {count, sparse ? index : NULL, a};
                struct kf_pair sums = plain->pair_dot(&row, b), others = kernels->pair_dot(&row, c);
                same &= sums.first == others.first && sums.second == others.second;
                plain->pair_add(&row, 0.7, -0.2, b);
                kernels->pair_add(&row, 0.7, -0.2, c);
                double first = 0, second = 0;
                sums = plain->pair_dot(&row, b);
                for (size_t e = 0; e < count; e++) {
                    first += a[e] * b[2 * e];
                    second += a[e] * b[2 * e + 1];
                }
                right &= near(sums.first, first, 1e-12) && near(sums.second, second, 1e-12);
            }
            test_rows(plain, kernels, &random, count, a, b, c, &same, &right);
            if (count <= KF_DOUBTS)
                test_elements(plain, kernels, &random, count, &same, &right);
            if (count <= 100)
                test_strides(plain, kernels, count, a, b, c, &same, &right);
            same &= memcmp(b, c, sizeof b) == 0;
        }
        tap_check(tap, same, "the kernels for %s give the bits of the plain ones", kernels->name);
        tap_check(tap, right, "the kernels for %s are right", kernels->name);
    }
}

/* Against the C library's, in units of the last place; what is not a number stays so. */
static void test_exponential(struct tap *tap)
{
    struct kf_random random;
    double worst = 0;
    kf_random_seed(&random, 8);
    for (size_t k = 0; k < 1000000; k++) {
        double t = (kf_random_unit(&random) - 0.5) * (k % 2 ? 1400 : 20), exact = exp(t);
        worst = fmax(worst, fabs(kf_exp(t) - exact) / (nextafter(exact, INFINITY) - exact));
    }
    tap_check(tap, worst <= 2 && kf_exp(0) == 1, "exp is within %.0f units in the last place", worst);
    tap_check(tap, isnan(kf_exp(NAN)), "and what is not a number stays so");
}

/* By how much `found` is off, in units of the last place. */
static double units(double found, long double exact)
{
    double size = fabs((double)exact);
    return fabs((double)(found - exact)) / (nextafter(size, INFINITY) - size);
}

/* Against the C library's in long double, of numbers of all sizes. */
static void test_elementary(struct tap *tap)
{
    struct kf_random random;
    double worst[4] = {0};
    kf_random_seed(&random, 9);
    for (int k = 0; k < 200000; k++) {
        double any = ldexp(0.5 + kf_random_unit(&random), k % 2000 - 1000), share = 2 * kf_random_unit(&random) - 1;
        double small = ldexp(share, -(k % 60)), exponent = 700 * share;
        worst[0] =
            fmax(worst[0], fmax(units(kf_log(any), logl(any)), units(kf_log(1 + small / 2), logl(1 + small / 2))));
        worst[1] = fmax(worst[1], fmax(units(kf_log1p(any), log1pl(any)), units(kf_log1p(small), log1pl(small))));
        worst[2] = fmax(worst[2],
                        fmax(units(kf_expm1(20 * share), expm1l(20 * share)), units(kf_expm1(small), expm1l(small))));
        worst[3] = fmax(worst[3], units(kf_exp_any(exponent), expl(exponent)));
    }
    double most = coarseness();
    tap_check(tap, worst[0] <= most && worst[1] <= most,
              "log and log1p are within %.2f and %.2f units in the last place", worst[0], worst[1]);
    tap_check(tap, worst[2] <= 4 * most && worst[3] <= 2 * most, "expm1 and exp are within %.1f and %.1f", worst[2],
              worst[3]);
    bool ends = kf_log(0) == -INFINITY && isnan(kf_log(-1)) && kf_log(INFINITY) == INFINITY && isnan(kf_log(NAN)) &&
                kf_log(1) == 0 && kf_log1p(-1) == -INFINITY && isnan(kf_log1p(-2)) && isnan(kf_log1p(NAN)) &&
                kf_log1p(0) == 0 && kf_exp_any(-INFINITY) == 0 && kf_exp_any(800) == INFINITY &&
                isnan(kf_exp_any(NAN)) && kf_exp_any(-800) == 0 && kf_expm1(-INFINITY) == -1 && kf_expm1(0) == 0 &&
                isnan(kf_expm1(NAN));
    tap_check(tap, ends, "and what they are at their ends is what it should be");
}

int main(int count, char **words)
{
    struct tap tap = {0};
    const char *word = count > 1 ? words[1] : "";
    test_kernels(&tap);
    test_exponential(&tap);
    test_elementary(&tap);
    test_every_method_is_there(&tap);
    test_trajectories(&tap);
    test_printed_step(&tap);
    test_change_of_mind(&tap);
    test_long_walk(&tap, strcmp(word, "few") == 0 ? 20000 : strcmp(word, "quick") == 0 ? 200000 : 10000000);
    return tap_end(&tap);
}
