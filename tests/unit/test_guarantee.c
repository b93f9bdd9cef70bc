/* The promise itself, on random problems: at every stage the proved bound is not below the gap, and not above what epsilon
 * demands. A problem is drawn from its seed, which also tells its method and the kind of its stream.
 *
 *   test_guarantee           all problems
 *   test_guarantee quick     one in ten of them
 *   test_guarantee few       one in sixty
 *   test_guarantee SEED...   these problems; a single one stage by stage
 */
#include <string.h>

#include "drawn.h"
#include "kernels/kernels.h"
#include "hold/hold.h"

#define GROUPS (METHODS * STREAMS)

struct tally {
    int problems, stages, measured, unsolved, unbounded, by_curvature, by_gradient, modelled, missed, violations;
};

/* ---- what is promised ---- */

/* What the test itself knows of a stage. */
struct stage {
    double weight, squares;  /* sums of w and of w b^2 */
    double bends;            /* sum of w times a point's largest curvature */
    double labels[3], of[3]; /* the classes, and the weight of each */
    size_t known;
    keepfit_report report;
    keepfit_measurement measured;
    uint64_t fo_before, missed_before, classes_before;
    double rounding, floor;
};

static void follow(const struct drawn *drawn, struct stage *stage, const keepfit_point *point)
{
    size_t k = 0;
    double square = drawn->lead * drawn->lead;
    for (size_t e = 0; e < point->row.count; e++)
        square += point->row.value[e] * point->row.value[e];
    stage->bends += point->weight * drawn->bend * square;
    stage->weight += point->weight;
    stage->squares += point->weight * point->target * point->target;
    while (k < stage->known && stage->labels[k] != point->target)
        k++;
    if (k == 3)
        return; /* not a class but a number */
    if (k == stage->known)
        stage->labels[stage->known++] = point->target;
    stage->of[k] += point->weight;
}

/* With a free intercept a class without weight sends the optimum to infinity (for the logistic loss also a class that has not
 * come): there is no gap then. */
static bool has_optimum(const struct drawn *drawn, const struct stage *stage)
{
    if (!drawn->intercept || isfinite(kf_loss_find(drawn->loss)->settled))
        return true;
    for (size_t k = 0; k < stage->known; k++)
        if (stage->of[k] == 0)
            return false;
    return drawn->classes == 3 || stage->known == 2;
}

/* What arithmetic leaves unknown, with u = 1e-16 a rounding, L the curvature of the mean.
 *
 * Of a gap: its two values are sums of numbers as large as the objective, or as at x = 0 where the sums began (b^2 for
 * numbers, about 1 for classes). A score a.x, a sum of d terms, is exact to d u|a||x|, and changes its loss by that times the
 * slope; as slopes are at most about sqrt(2 curvature loss), the mean changes by d u sqrt(L objective)|x| at most.
 *
 * Of a bound: x cannot be better than the nearest numbers there are, u|x| away, and the sums that its gradient is made of
 * have d terms or more. The gradient is then as large as d u L|x|, and the bound its square over 2 mu. */
static void find_rounding(const struct drawn *drawn, keepfit_fit *fit, struct stage *stage)
{
    size_t size;
    const double *x = keepfit_fit_iterate(fit, &size);
    double square = 0, bend = stage->bends / stage->weight, lambda = stage->report.lambda;
    for (size_t k = 0; k < size; k++)
        square += x[k] * x[k];
    double value = fmax(fmax(1, drawn->classes ? 1 : stage->squares / stage->weight), fabs(stage->measured.objective));
    stage->rounding = 1e-12 * value + 1e-15 * (double)size * sqrt(bend * value * square);
    double slope = 1e-16 * (double)size * (bend + 2 * lambda) * sqrt(square);
    stage->floor = slope * slope / (4 * lambda);
    if (drawn->intercept) /* whose gradient, and so its rounding, is multiplied by how far the best one may be */
        stage->floor += 1e-11 * value;
    /* That is a row's length times |x|, and with it its score's rounding; where there are no probabilities nothing else is left to go by. */
    const struct kf_loss *loss = kf_loss_find(drawn->loss);
    if (drawn->intercept && loss->concordance > 0 && !loss->probabilities)
        stage->floor += 1e-14 * (1 + sqrt(bend * square)) * (1 + sqrt(stage->bends * value / lambda));
}

/* Whether something has to be proved. With a free intercept that takes an optimum that can be found, a Hessian and so a pass, which a limit may not
 * allow, and a method that makes one. */
static bool has_bound(const struct drawn *drawn, const struct stage *stage)
{
    bool limited = drawn->budget > 0 || drawn->factor > 0;
    bool found = has_optimum(drawn, stage) && !isnan(stage->measured.gap);
    return !drawn->intercept || (found && !limited && drawn->method != TABLE);
}

/* NULL, or what is wrong with a bound that should hold. */
static const char *judge_bound(const struct drawn *drawn, const struct stage *stage)
{
    const keepfit_report *report = &stage->report;
    if (isnan(report->bound))
        return has_bound(drawn, stage) ? "no bound" : NULL;
    if (!(report->bound >= 0) || isinf(report->bound))
        return "the bound is no number";
    if (report->bound < stage->measured.gap - stage->rounding)
        return "the bound is below the gap";
    if (report->missed - stage->missed_before != (report->bound > report->target))
        return "missed is counted wrongly";
    return NULL;
}

/* NULL, or what is wrong with the target, and with whether it was met. */
static const char *judge_target(const struct drawn *drawn, const struct stage *stage)
{
    const keepfit_report *report = &stage->report;
    bool met = report->bound <= report->target;
    double right = drawn->kind[0] == 's' ? drawn->epsilon / (double)report->stage : drawn->epsilon;
    if (isnan(report->target))
        return "no target";
    if (drawn->kind[0] != 'r' && report->target != right)
        return "the target is not what epsilon says";
    double most = drawn->epsilon * stage->measured.optimum * (1 + 1e-9) + stage->rounding;
    if (drawn->kind[0] == 'r' && met && report->target > most)
        return "the target is above epsilon times the optimum";
    /* kinks, a huge row, a domain and a free intercept together may defeat the solver: then a miss is the honest report */
    bool unsolvable = drawn->intercept && isnan(stage->measured.gap);
    bool limited = drawn->budget > 0 || drawn->factor > 0;
    if (!met && !limited && !unsolvable && report->bound > fmax(report->target, stage->floor))
        return "the bound is above the target";
    return NULL;
}

/* One gradient for the new point, and as many as the budget says, or a multiple of the mean so far; but the first points of any weight, and points whose
 * functions have changed (labels swapped, one class more), are looked at all together. */
static const char *judge_cost(const struct drawn *drawn, const struct stage *stage)
{
    const keepfit_report *report = &stage->report;
    uint64_t spent = report->fo - stage->fo_before;
    uint64_t begun = stage->fo_before == 0 || report->classes != stage->classes_before ? report->stage : 0;
    double mean = report->stage > 1 ? fmax((double)stage->fo_before / (double)(report->stage - 1), 1) : 1;
    if (drawn->factor > 0 && (double)spent > drawn->factor * mean + (double)begun)
        return "the stage costs too many times the mean";
    return drawn->budget && spent > drawn->budget + 1 + begun ? "the budget is exceeded" : NULL;
}

static void count_bound(keepfit_fit *fit, const keepfit_report *report, struct tally *tally)
{
    bool holds = strcmp(report->method, "quadratic") == 0 || strcmp(report->method, "refit") == 0;
    if (isnan(report->bound)) {
        tally->unbounded++;
        return;
    }
    const struct kf_hold *hold = fit->running[fit->running_count - 1].state;
    struct kf_tracked tracked = holds ? kf_certificate_tracked(&hold->certificate) : (struct kf_tracked){NULL, NULL};
    if (holds &&
        (kf_curvature_bound(&hold->certificate.curvature, &fit->task, &tracked, report->target) == report->bound ||
         kf_curvature_bound(&hold->certificate.curvature, &fit->task, &tracked, 0) == report->bound))
        tally->by_curvature++;
    else
        tally->by_gradient++;
}

/* Where the gradient sum is only modelled, it is off by no more than is told. */
static const char *judge_model(keepfit_fit *fit, const keepfit_report *report, struct tally *tally)
{
    const struct kf_hold *hold = fit->running[fit->running_count - 1].state;
    struct kf_task *task = &fit->task;
    size_t size = kf_size(&task->problem);
    double off[FEATURES_MOST], factor, square = 0;
    if (strcmp(report->method, "quadratic") != 0 || !kf_is_modelled(&hold->certificate) ||
        !kf_is_certified(&hold->certificate.curvature))
        return NULL;
    uint64_t fo = task->problem.objective.fo;
    kf_gradient_sum(&task->problem.objective, task->iterate.x, task->problem.points.count, off, NULL, &factor);
    task->problem.objective.fo = fo;
    kf_add(size, -1, hold->certificate.sum, off);
    for (size_t k = 0; k < size; k++)
        square +=
            off[k] *
            kf_dot(size, hold->certificate.curvature.hessian.inverse + k * hold->certificate.curvature.hessian.capacity,
                   off);
    tally->modelled++;
    return sqrt(fmax(square, 0)) <=
                   hold->certificate.curvature.since.error + 1e-9 * task->problem.objective.weight_total
               ? NULL
               : "the modelled gradient is off by more than is told";
}

static void tell(const struct drawn *drawn, const struct stage *stage, const char *what)
{
    const keepfit_report *report = &stage->report;
    printf("# seed %llu stage %llu of %zu (%zu features, %s): %s; bound %.6e gap %.6e target %.6e (floor %.1e) "
           "objective %.6e fo %llu "
           "[%s]: %s\n",
           (unsigned long long)drawn->seed, (unsigned long long)report->stage, drawn->count, drawn->features,
           drawn_streams[drawn->stream], report->method, report->bound, stage->measured.gap, report->target,
           stage->floor, stage->measured.objective, (unsigned long long)(report->fo - stage->fo_before), drawn->text,
           what);
}

static const char *judge(const struct drawn *drawn, keepfit_fit *fit, struct stage *stage, struct tally *tally)
{
    unsigned what = KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_OPTIMUM;
    stage->measured = (keepfit_measurement){sizeof stage->measured, NAN, NAN, NAN, NAN};
    const char *wrong = judge_cost(drawn, stage);
    wrong = wrong ? wrong : judge_model(fit, &stage->report, tally);
    tally->stages++;
    if (wrong || stage->weight == 0 || !has_optimum(drawn, stage)) /* nothing to fit, or nothing to reach */
        return wrong;
    count_bound(fit, &stage->report, tally);
    if (keepfit_fit_measure(fit, what, &stage->measured) != KEEPFIT_OK)
        tally->unsolved++;
    else
        tally->measured++;
    find_rounding(drawn, fit, stage);
    if (stage->measured.gap < -(stage->rounding + stage->floor))
        return "the optimum is none";
    wrong = judge_bound(drawn, stage);
    return wrong ? wrong : judge_target(drawn, stage);
}

static void remember(struct stage *stage)
{
    stage->fo_before = stage->report.fo;
    stage->missed_before = stage->report.missed;
    stage->classes_before = stage->report.classes;
}

/* Pushes all points and judges every stage; the first few faults are told. Returns the last gap. */
static double try_problem(uint64_t seed, bool aloud, struct tally *tally)
{
    struct drawn drawn;
    struct stage stage = {.weight = 0};
    int faults = 0;
    draw(&drawn, seed);
    keepfit_fit *fit = fit_from(drawn.text);
    tally->problems++;
    for (size_t j = 0; j < drawn.count; j++) {
        keepfit_status status = keepfit_fit_push(fit, &drawn.cloud->point[j]);
        follow(&drawn, &stage, &drawn.cloud->point[j]);
        keepfit_fit_report(fit, &stage.report);
        const char *wrong = status == KEEPFIT_OK ? NULL : keepfit_fit_error(fit)->message;
        if (!wrong && drawn.seed < ESTIMATED)
            wrong = judge(&drawn, fit, &stage, tally);
        if (aloud || (wrong && faults++ == 0))
            tell(&drawn, &stage, wrong ? wrong : "good");
        tally->violations += wrong != NULL;
        remember(&stage);
        if (status != KEEPFIT_OK)
            break;
    }
    tally->missed += (int)stage.report.missed;
    if (drawn.seed >= ESTIMATED && keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &stage.measured) == KEEPFIT_OK &&
        stage.measured.gap > 10 * drawn.epsilon) {
        tell(&drawn, &stage, "the last gap is above 10 epsilon");
        tally->violations++;
    }
    keepfit_fit_free(fit);
    free(drawn.cloud);
    return stage.measured.gap;
}

/* ---- groups ---- */

static void add_up(struct tally *all, const struct tally *one)
{
    all->problems += one->problems;
    all->stages += one->stages;
    all->measured += one->measured;
    all->unsolved += one->unsolved;
    all->unbounded += one->unbounded;
    all->by_curvature += one->by_curvature;
    all->by_gradient += one->by_gradient;
    all->modelled += one->modelled;
    all->missed += one->missed;
    all->violations += one->violations;
}

static void tell_tally(const char *what, const struct tally *tally)
{
    printf(
        "# %s: %d problems, %d stages, %d optima (%d not found); bounds: %d by curvature, %d by the gradient, %d none; "
        "%d missed\n",
        what, tally->problems, tally->stages, tally->measured, tally->unsolved, tally->by_curvature, tally->by_gradient,
        tally->unbounded, tally->missed);
}

static void test_group(struct tap *tap, size_t method, size_t stream, int problems, struct tally *all)
{
    struct tally tally = {0};
    for (int k = 0; k < problems; k++)
        try_problem((uint64_t)k * GROUPS + stream * METHODS + method, false, &tally);
    tap_check(tap, tally.violations == 0,
              "%s, %s: the bound is above the gap and within epsilon (%d problems, %d stages)", drawn_methods[method],
              drawn_streams[stream], tally.problems, tally.stages);
    add_up(all, &tally);
}

static void test_unseen(struct tap *tap, int problems)
{
    struct tally tally = {0};
    for (int k = 0; k < problems; k++)
        try_problem(UNSEEN + (uint64_t)k * METHODS + QUADRATIC, false, &tally);
    tap_check(tap, tally.violations == 0 && tally.modelled > tally.stages / 5,
              "quadratic: steps without a pass are off by no more than is told, and the bound holds (%d problems, %d "
              "stages, %d of them modelled)",
              tally.problems, tally.stages, tally.modelled);
}

static void test_budget(struct tap *tap, size_t method, int problems, struct tally *all)
{
    struct tally tally = {0};
    for (int k = 0; k < problems; k++)
        try_problem(BUDGETED + (uint64_t)k * METHODS + method, false, &tally);
    tap_check(tap, tally.violations == 0,
              "%s: a stage budget is kept, and the bound says what it left (%d problems, %d stages)",
              drawn_methods[method], tally.problems, tally.stages);
    add_up(all, &tally);
}

static void test_flat(struct tap *tap, size_t method, int problems, struct tally *all)
{
    struct tally tally = {0};
    for (int k = 0; k < problems; k++)
        try_problem(FLAT + (uint64_t)k * METHODS + method, false, &tally);
    tap_check(tap, tally.violations == 0,
              "%s: no stage costs more than its multiple of the mean, and the bound says what that left (%d problems, "
              "%d stages)",
              drawn_methods[method], tally.problems, tally.stages);
    add_up(all, &tally);
}

static void test_estimate(struct tap *tap, int problems)
{
    struct tally tally = {0};
    for (int k = 0; k < problems; k++)
        try_problem(ESTIMATED + (uint64_t)k * METHODS + TABLE, false, &tally);
    tap_check(tap, tally.violations == 0, "table: an estimate ends within 10 epsilon (%d problems)", tally.problems);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    struct tally proved = {0}, budgeted = {0}, flat = {0};
    const char *word = count > 1 ? words[1] : "";
    int share = strcmp(word, "few") == 0 ? 60 : strcmp(word, "quick") == 0 ? 10 : 1;
    for (int k = 1; k < count && share == 1; k++) {
        struct tally tally = {0};
        try_problem(strtoull(words[k], NULL, 10), count == 2, &tally);
        tap_check(&tap, tally.violations == 0, "problem %s (%d violations)", words[k], tally.violations);
    }
    if (tap.checks)
        return tap_end(&tap);
    for (size_t method = 0; method < METHODS; method++)
        for (size_t stream = 0; stream < STREAMS; stream++)
            test_group(&tap, method, stream, 60 / share, &proved);
    test_unseen(&tap, 150 / share);
    for (size_t method = 0; method < METHODS; method++)
        test_budget(&tap, method, 70 / share, &budgeted);
    for (size_t method = 0; method < METHODS; method++)
        test_flat(&tap, method, 70 / share, &flat);
    test_estimate(&tap, 30 / share);
    tell_tally("proved", &proved);
    tell_tally("with a stage budget", &budgeted);
    tell_tally("with flat latency", &flat);
    return tap_end(&tap);
}
