/* Softmax with few coordinates: the bound of every stage against the optimum, by Newton's method in long double and in columns of one size,
 * whatever their size is in the data: 1e-8 to 1e8, Unix times, with intercepts, weights, windows and points that leave. */
#include <float.h>
#include <string.h>

#include "elimination.h"
#include "support.h"

#define POINTS 60
#define CLASSES 4
#define FEATURES 3
#define ROWS (FEATURES + 1)
#define SIZE (ROWS * CLASSES)
#define LAMBDA 1e-3

struct problem {
    uint64_t seed;
    size_t features, classes, window;
    bool intercept, weighted, removes;
    double scale[FEATURES], shift[FEATURES];
    double value[POINTS][FEATURES], target[POINTS], weight[POINTS];
    size_t present[POINTS], count;
};

/* What is judged: rows in columns of one size, the 1 of an intercept in front, and the regulariser of each row of x. */
struct task {
    size_t rows, classes, count, own[POINTS];
    long double row[POINTS][ROWS], weight[POINTS], total, ridge[ROWS];
};

static struct problem draw(uint64_t seed)
{
    static const double sizes[] = {1e-8, 1e-3, 1, 1, 1e3, 1e8};
    struct problem problem = {.seed = seed};
    struct kf_random random;
    kf_random_seed(&random, seed);
    problem.features = 1 + kf_random_below(&random, FEATURES);
    problem.classes = 2 + kf_random_below(&random, CLASSES - 1);
    problem.intercept = kf_random_below(&random, 3) > 0;
    problem.weighted = kf_random_below(&random, 3) == 0;
    problem.window = kf_random_below(&random, 3) == 0 ? 20 : 0;
    problem.removes = !problem.window && kf_random_below(&random, 4) == 0;
    double hidden[FEATURES][CLASSES];
    for (size_t f = 0; f < problem.features; f++) {
        problem.scale[f] = sizes[kf_random_below(&random, sizeof sizes / sizeof sizes[0])];
        problem.shift[f] = problem.intercept && kf_random_below(&random, 4) == 0 ? 1.7e9 : 0;
        if (problem.shift[f] != 0)
            problem.scale[f] = 100;
        for (size_t k = 0; k < problem.classes; k++)
            hidden[f][k] = 1.5 * kf_random_normal(&random);
    }
    for (size_t j = 0; j < POINTS; j++) {
        double best = -INFINITY;
        problem.weight[j] = !problem.weighted ? 1 : j % 7 == 3 ? 0 : pow(10, 2 * kf_random_unit(&random) - 1);
        for (size_t f = 0; f < problem.features; f++)
            problem.value[j][f] = kf_random_normal(&random);
        for (size_t k = 0; k < problem.classes; k++) {
            double score = 2 * kf_random_normal(&random);
            for (size_t f = 0; f < problem.features; f++)
                score += hidden[f][k] * problem.value[j][f];
            if (score > best)
                problem.target[j] = (double)k;
            best = fmax(best, score);
        }
        for (size_t f = 0; f < problem.features; f++)
            problem.value[j][f] = problem.shift[f] + floor(problem.value[j][f] * 1024) / 1024 * problem.scale[f];
    }
    return problem;
}

static struct task summon(const struct problem *problem, const keepfit_fit *fit)
{
    struct task task = {.rows = problem->features + 1, .classes = fit->meaning.labels.count, .count = problem->count};
    for (size_t n = 0; n < task.count; n++) {
        size_t j = problem->present[n];
        task.row[n][0] = problem->intercept;
        for (size_t f = 0; f < problem->features; f++)
            task.row[n][f + 1] = ((long double)problem->value[j][f] - problem->shift[f]) / problem->scale[f];
        for (size_t k = 0; k < task.classes; k++)
            if (fit->meaning.labels.label[k] == problem->target[j])
                task.own[n] = k;
        task.weight[n] = problem->weight[j];
        task.total += task.weight[n];
    }
    task.ridge[0] = problem->intercept ? 0 : LAMBDA; /* without one it is 0 */
    for (size_t f = 0; f < problem->features; f++)
        task.ridge[f + 1] = LAMBDA / ((long double)problem->scale[f] * problem->scale[f]);
    return task;
}

static long double value_at(const struct task *task, const long double *x, long double *gradient,
                            long double (*hessian)[SIZE])
{
    size_t classes = task->classes, size = task->rows * classes;
    long double sum = 0;
    for (size_t n = 0; n < task->count; n++) {
        long double z[CLASSES] = {0}, most = -INFINITY, all = 0, share = task->weight[n] / task->total;
        for (size_t k = 0; k < classes; k++) {
            for (size_t r = 0; r < task->rows; r++)
                z[k] += task->row[n][r] * x[r * classes + k];
            most = fmaxl(most, z[k]);
        }
        long double at = z[task->own[n]] - most;
        for (size_t k = 0; k < classes; k++)
            all += z[k] = expl(z[k] - most);
        sum += share * (logl(all) - at);
        for (size_t s = 0; s < size && gradient; s++) {
            long double p = z[s % classes] / all, a = share * task->row[n][s / classes];
            gradient[s] += a * (p - (s % classes == task->own[n]));
            for (size_t t = 0; t < size; t++)
                hessian[s][t] +=
                    a * task->row[n][t / classes] * p * ((s % classes == t % classes) - z[t % classes] / all);
        }
    }
    for (size_t s = 0; s < size; s++) {
        sum += task->ridge[s / classes] * x[s] * x[s];
        for (size_t k = 0; k < classes && gradient; k++)
            hessian[s][s / classes * classes + k] +=
                1e-3L; /* what all classes have in common: the optimum has none of it */
        if (gradient) {
            gradient[s] += 2 * task->ridge[s / classes] * x[s];
            hessian[s][s] += 2 * task->ridge[s / classes] + 1e-15L;
        }
    }
    return sum;
}

/* A value that is no less than the least one, from x, which is moved there. Any such makes the test no stricter than it may be. */
static long double least(const struct task *task, long double *x)
{
    size_t size = task->rows * task->classes;
    long double now = value_at(task, x, NULL, NULL);
    for (int round = 0; round < 100; round++) {
        long double gradient[SIZE] = {0}, hessian[SIZE][SIZE] = {{0}}, step[SIZE], trial[SIZE], after = INFINITY,
                    length;
        value_at(task, x, gradient, hessian);
        memcpy(step, gradient, sizeof step);
        eliminate(size, SIZE, &hessian[0][0], step);
        for (length = 1; length > 1e-9L; length /= 2) {
            for (size_t s = 0; s < size; s++)
                trial[s] = x[s] - length * step[s];
            after = value_at(task, trial, NULL, NULL);
            if (after < now)
                break;
        }
        if (!(after < now - 1e-18L))
            break;
        memcpy(x, trial, sizeof trial);
        now = after;
    }
    return now;
}

/* Under valgrind they have the digits of a double, and nothing can be judged by them. */
static bool has_long_doubles(void)
{
    volatile long double one = 1, less = LDBL_EPSILON;
    return one + less != one;
}

struct verdict {
    size_t stages, proved, curved, beyond;
    double worst;
};

static void judge_stage(struct verdict *verdict, const struct problem *problem, keepfit_fit *fit)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    verdict->stages++;
    if (!isfinite(report.bound))
        return;
    struct task task = summon(problem, fit);
    size_t classes = task.classes, size = task.rows * classes;
    const struct kf_task *own = &fit->task;
    long double here[SIZE] = {0}, best[SIZE];
    /* The fit's own x, of rows that are less its own centres. */
    for (size_t s = problem->intercept ? 0 : classes; s < size; s++)
        here[s] = own->iterate.x[problem->intercept ? s : s - classes] *
                  (s < classes ? 1 : (long double)problem->scale[s / classes - 1]);
    for (size_t c = 0; c < fit->centring.centres.count; c++) {
        size_t f = fit->centring.centres.at[c].column;
        for (size_t k = 0; k < classes; k++)
            here[k] += (problem->shift[f] - (long double)fit->centring.centres.at[c].value) / problem->scale[f] *
                       here[(f + 1) * classes + k];
    }
    for (size_t f = 0; f < problem->features; f++) /* a shift that is no centre is in the scores */
        for (size_t k = 0, c = 0; k < classes; k++, c = 0) {
            while (c < fit->centring.centres.count && fit->centring.centres.at[c].column != f)
                c++;
            if (c == fit->centring.centres.count)
                here[k] += (long double)problem->shift[f] / problem->scale[f] * here[(f + 1) * classes + k];
        }
    memcpy(best, here, sizeof best);
    long double gap = value_at(&task, here, NULL, NULL) - least(&task, best);
    verdict->proved += report.bound <= report.target;
    verdict->curved += fit->outcome.proof == KF_PROOF_CURVATURE;
    verdict->beyond += gap > report.bound * (1 + 1e-9) + 1e-16;
    verdict->worst = fmax(verdict->worst, (double)(gap / report.bound));
}

static void push(struct problem *problem, keepfit_fit *fit, size_t j)
{
    keepfit_point point = {.row = {problem->features, NULL, problem->value[j]},
                           .target = problem->target[j],
                           .weight = problem->weight[j],
                           .weightless = problem->weight[j] == 0};
    TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
    problem->present[problem->count++] = j;
    size_t leaves = problem->window && problem->count > problem->window ? 0
                    : problem->removes && j % 5 == 4                    ? (3 * j) % problem->count
                                                                        : problem->count;
    if (leaves == problem->count)
        return;
    if (!problem->window)
        TAP_NEED(keepfit_fit_remove(fit, leaves) == KEEPFIT_OK);
    memmove(problem->present + leaves, problem->present + leaves + 1,
            (--problem->count - leaves) * sizeof *problem->present);
}

static void try_problem(struct verdict *verdict, uint64_t seed)
{
    struct problem problem = draw(seed);
    char options[200];
    snprintf(options, sizeof options, "loss=softmax lambda=%g epsilon=%g intercept=%s threads=1", LAMBDA,
             seed % 2 ? 1e-2 : 1e-3, problem.intercept ? "true" : "false");
    if (problem.window)
        snprintf(options + strlen(options), 30, " window=%u", (unsigned)problem.window);
    keepfit_fit *fit = fit_from(options);
    for (size_t j = 0; j < POINTS; j++) {
        push(&problem, fit, j);
        if (j >= 2 * CLASSES)
            judge_stage(verdict, &problem, fit);
    }
    keepfit_fit_free(fit);
}

int main(int count, char **arguments)
{
    struct tap tap = {0};
    struct verdict verdict = {0};
    uint64_t seeds = count > 1 && strcmp(arguments[1], "quick") == 0 ? 20 : 300;
    for (uint64_t seed = 1; seed <= seeds && has_long_doubles(); seed++)
        try_problem(&verdict, seed);
    tap_check(&tap, verdict.beyond == 0, "no gap is above its bound (%zu of %zu stages; at most %.3g of it)",
              verdict.beyond, verdict.stages, verdict.worst);
    tap_check(&tap, !has_long_doubles() || 10 * verdict.proved > 9 * verdict.stages, "%zu of %zu stages are proved",
              verdict.proved, verdict.stages);
    tap_check(&tap, !has_long_doubles() || 4 * verdict.curved > verdict.stages, "%zu of them by curvature",
              verdict.curved);
    return tap_end(&tap);
}
