/* The promise itself, on random problems: at every stage the proved bound is not below the gap, and not above what epsilon
 * demands. A problem is drawn from its seed, which also tells its method and the kind of its stream.
 *
 *   test_guarantee           all problems
 *   test_guarantee quick     one in ten of them
 *   test_guarantee few       one in thirty
 *   test_guarantee SEED...   these problems; a single one stage by stage
 */
#include <string.h>

#include "kernels/kernels.h"
#include "method/hold.h"
#include "support.h"

static const char *const methods[] = {"auto", "quadratic", "table", "refit", "exact"};
static const char *const streams[] = {"iid", "sorted", "duplicated", "huge", "growing", "rare", "late"};
static const char *const losses[] = {"logistic", "logistic", "squared", "huber", "hinge", "softmax"};
static const char *const domains[] = {"none",         "none",   "none",         "none",    "ball:0.05",    "ball:0.4",
                                      "box:-0.1:0.3", "ball:5", "box:-100:100", "simplex", "box:0.01:0.5", "none"};
static const char *const kinds[] = {"absolute", "absolute", "relative", "stat"};
#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { AUTO, QUADRATIC, TABLE, REFIT, EXACT };
enum { IID, SORTED, DUPLICATED, HUGE_ROW, GROWING, RARE, LATE };
#define GROUPS (COUNT(methods) * COUNT(streams))
#define UNSEEN 500000     /* seeds from here on are such that steps without a pass are likely, */
#define BUDGETED 1000000  /* have a stage budget, */
#define FLAT 1500000      /* work that is at most a multiple of the mean, */
#define ESTIMATED 2000000 /* and from here on an estimate for a guarantee */

struct drawn {
    uint64_t seed, budget;
    double factor;                                   /* of max-stage-work; 0: none */
    size_t method, stream, count, features, classes; /* classes: 0 for numbers */
    const char *loss, *domain, *kind;
    double epsilon, bend, lead; /* bend: the loss's largest curvature */
    bool intercept;
    struct kf_random random;
    struct cloud *cloud;
    char text[400];
};

struct tally {
    int problems, stages, measured, unsolved, unbounded, by_curvature, by_gradient, modelled, missed, violations;
};

static bool is_unseen(const struct drawn *drawn)
{
    return drawn->seed >= UNSEEN && drawn->seed < BUDGETED;
}

static size_t pick(struct drawn *drawn, size_t count)
{
    return (size_t)kf_random_below(&drawn->random, count);
}

static bool chance(struct drawn *drawn, double share)
{
    return kf_random_unit(&drawn->random) < share;
}

/* 10^low .. 10^high, even in the exponent */
static double magnitude(struct drawn *drawn, double low, double high)
{
    return pow(10, low + (high - low) * kf_random_unit(&drawn->random));
}

/* ---- rows ---- */

struct shape {
    double hidden[FEATURES_MOST], scale[FEATURES_MOST];
    double correlation, kept, empty;
    bool indexed;
    double label[3];
    int weights; /* 0: all 1; 1: from 1/2 to 2; 2: also 0; 3: the first ones 0 or tiny */
};

static struct shape draw_shape(struct drawn *drawn)
{
    static const double label_sets[][3] = {{-1, 1, 4}, {1, 2, 3}, {2, 1, 0}, {0, 1, 2}};
    struct shape shape = {.weights = (int)pick(drawn, 4), .kept = 1};
    size_t powers = chance(drawn, 0.5) ? 1 : 1 + pick(drawn, 4), set = pick(drawn, COUNT(label_sets));
    if (shape.weights == 1 && chance(drawn, 0.5))
        shape.weights = 0;
    shape.correlation = chance(drawn, 0.5) ? 0 : 1 - magnitude(drawn, -3, 0);
    shape.indexed = chance(drawn, 0.5);
    if (shape.indexed) {
        shape.kept = 0.2 + 0.8 * kf_random_unit(&drawn->random);
        shape.empty = chance(drawn, 0.3) ? 0.1 : 0;
    }
    memcpy(shape.label, label_sets[set], sizeof shape.label);
    for (size_t f = 0; f < drawn->features; f++) {
        shape.hidden[f] = kf_random_normal(&drawn->random) / sqrt((double)drawn->features);
        shape.scale[f] = pow(10, (double)pick(drawn, powers)) * (chance(drawn, 0.1) ? 0.1 : 1);
    }
    return shape;
}

static double draw_target(struct drawn *drawn, const struct shape *shape, double score)
{
    double noisy = score + 0.5 * kf_random_normal(&drawn->random);
    if (drawn->classes == 0)
        return 2 * noisy;
    if (drawn->classes == 2)
        return shape->label[noisy > 0];
    return shape->label[noisy < -0.4 ? 0 : noisy < 0.4 ? 1 : 2];
}

static double draw_weight(struct drawn *drawn, const struct shape *shape, size_t j)
{
    if (shape->weights == 0)
        return 1;
    if (shape->weights == 3 && j < 4)
        return chance(drawn, 0.5) ? 0 : magnitude(drawn, -6, 0);
    if (shape->weights >= 2 && chance(drawn, 0.1))
        return 0;
    return 0.5 + 1.5 * kf_random_unit(&drawn->random);
}

/* Which features a kind of stream lets row j have. */
static bool has_feature(const struct drawn *drawn, size_t j, size_t f)
{
    if (drawn->stream == GROWING)
        return f <= j * drawn->features / drawn->count;
    if (drawn->stream == RARE && f % 2) /* in one row, or in two */
        return j == (f * 37) % drawn->count || (f % 4 == 1 && j == (f * 53) % drawn->count);
    return true;
}

static void draw_row(struct drawn *drawn, const struct shape *shape, size_t j)
{
    struct cloud *cloud = drawn->cloud;
    size_t stored = 0;
    double last = kf_random_normal(&drawn->random), score = 0, rho = shape->correlation;
    double kept = chance(drawn, shape->empty) ? 0 : shape->kept;
    bool indexed = shape->indexed || drawn->stream == RARE;
    for (size_t f = 0; f < drawn->features; f++) {
        last = rho * last + sqrt(1 - rho * rho) * kf_random_normal(&drawn->random);
        bool kept_here = (kept >= 1 || chance(drawn, kept)) && has_feature(drawn, j, f);
        if (!kept_here && (indexed || drawn->stream == GROWING))
            continue;
        score += last * shape->hidden[f];
        cloud->value[j][stored] = last * shape->scale[f];
        cloud->index[j][stored++] = (uint32_t)f;
    }
    cloud->point[j] = (keepfit_point){
        .row = {stored, indexed ? cloud->index[j] : NULL, cloud->value[j]},
        .target = draw_target(drawn, shape, score),
        .weight = draw_weight(drawn, shape, j),
    };
}

static void copy_row(struct cloud *cloud, size_t from, size_t to)
{
    memcpy(cloud->value[to], cloud->value[from], sizeof cloud->value[to]);
    memcpy(cloud->index[to], cloud->index[from], sizeof cloud->index[to]);
    cloud->point[to] = cloud->point[from];
    cloud->point[to].row.value = cloud->value[to];
    cloud->point[to].row.index = cloud->point[from].row.index ? cloud->index[to] : NULL;
}

static void swap_points(struct cloud *cloud, size_t a, size_t b)
{
    keepfit_point held = cloud->point[a]; /* the rows stay where they are: points only refer to them */
    cloud->point[a] = cloud->point[b];
    cloud->point[b] = held;
}

static void sort_by_target(struct cloud *cloud, bool downwards)
{
    for (size_t a = 1; a < cloud->count; a++)
        for (size_t b = a; b > 0; b--)
            if ((cloud->point[b].target < cloud->point[b - 1].target) != downwards &&
                cloud->point[b].target != cloud->point[b - 1].target)
                swap_points(cloud, b, b - 1);
            else
                break;
}

/* All points equal, and one late one that is as good as all of them and says something else: what the lower bound is made
 * of. */
static void make_late(struct drawn *drawn, const struct shape *shape)
{
    struct cloud *cloud = drawn->cloud;
    size_t last = cloud->count * 3 / 4;
    double weight = chance(drawn, 0.5) ? (double)cloud->count : 1, factor = chance(drawn, 0.5) ? -1 : 1;
    for (size_t j = 1; j < cloud->count; j++)
        if (j != last)
            copy_row(cloud, 0, j);
    cloud->point[last].weight = weight;
    cloud->point[last].target =
        drawn->classes ? shape->label[cloud->point[0].target == shape->label[0]] : -10 * cloud->point[0].target;
    for (size_t e = 0; e < cloud->point[last].row.count && factor < 0; e++)
        cloud->value[last][e] *= 30;
}

static void arrange(struct drawn *drawn, const struct shape *shape)
{
    struct cloud *cloud = drawn->cloud;
    size_t middle = cloud->count / 2, run = 2 + pick(drawn, 6);
    double huge = magnitude(drawn, 1, drawn->method == TABLE ? 2 : 5);
    switch (drawn->stream) {
    case SORTED:
        sort_by_target(cloud, chance(drawn, 0.5));
        break;
    case DUPLICATED:
        for (size_t j = 0; j < cloud->count; j++)
            if (j % run)
                copy_row(cloud, j - j % run, j);
        break;
    case HUGE_ROW:
        for (size_t e = 0; e < cloud->point[middle].row.count; e++)
            cloud->value[middle][e] *= huge;
        if (drawn->classes == 0 && chance(drawn, 0.5))
            cloud->point[middle].target *= fmin(huge, 100);
        break;
    case LATE:
        make_late(drawn, shape);
        break;
    default:
        break;
    }
}

/* ---- options ---- */

/* The most that one point's curvature is at any stage, without the regulariser. */
static double largest_curvature(const struct drawn *drawn)
{
    double most = 0, largest = 0, weight = 0;
    for (size_t j = 0; j < drawn->count; j++) {
        const keepfit_point *point = &drawn->cloud->point[j];
        double square = 1;
        for (size_t e = 0; e < point->row.count; e++)
            square += point->row.value[e] * point->row.value[e];
        largest = fmax(largest, 2 * point->weight * square);
        weight += point->weight;
        if (weight > 0)
            most = fmax(most, largest * (double)(j + 1) / weight);
    }
    return most;
}

static void write_options(struct drawn *drawn)
{
    static const char *const leads[] = {"", "", "bias=1", "bias=10", "intercept=true"};
    static const char *const widths[] = {"1", "1", "0.1"};
    double lambda = magnitude(drawn, -5, 0);
    bool total = chance(drawn, 0.25);
    const char *lead = leads[pick(drawn, COUNT(leads))], *kind = kinds[pick(drawn, COUNT(kinds))];
    const char *width = widths[pick(drawn, COUNT(widths))], *domain = domains[pick(drawn, COUNT(domains))];
    int used;
    drawn->epsilon = magnitude(drawn, -6, -1);
    drawn->intercept = strncmp(lead, "intercept", 9) == 0;
    drawn->kind = drawn->seed >= ESTIMATED ? "absolute" : kind;
    drawn->domain = domain = is_unseen(drawn) ? "none" : domain;
    drawn->lead = !*lead ? 0 : strcmp(lead, "bias=10") == 0 ? 10 : 1;
    drawn->bend = strcmp(drawn->loss, "hinge") == 0 ? 1 / atof(width) : 2;
    /* Sampled steps need about L/mu of them a digit, and an intercept, of which nothing is proved with them, has no mu. Where
     * that is more than a test can wait for, a budget ends the stage. */
    double hardest = drawn->seed >= ESTIMATED ? 1e2 : 2e3;
    if (drawn->method == TABLE && drawn->budget == 0) {
        lambda = fmax(lambda, largest_curvature(drawn) / hardest);
        lead = drawn->intercept ? "bias=1" : lead;
        drawn->intercept = false;
    }
    if (total)
        lambda *= (double)drawn->count;
    used = snprintf(drawn->text, sizeof drawn->text,
                    "loss=%s method=%s %s=%.17g epsilon=%.17g epsilon-kind=%s domain=%s delta=%s threads=1 seed=%llu",
                    drawn->loss, methods[drawn->method], total ? "lambda-total" : "lambda", lambda, drawn->epsilon,
                    drawn->kind, domain, width, (unsigned long long)drawn->seed);
    if (*lead)
        used += snprintf(drawn->text + used, sizeof drawn->text - (size_t)used, " %s", lead);
    if (drawn->budget)
        used += snprintf(drawn->text + used, sizeof drawn->text - (size_t)used, " stage-budget=%llu",
                         (unsigned long long)drawn->budget);
    if (drawn->factor > 0)
        used += snprintf(drawn->text + used, sizeof drawn->text - (size_t)used, " max-stage-work=%.17g", drawn->factor);
    if (drawn->seed >= ESTIMATED)
        snprintf(drawn->text + used, sizeof drawn->text - (size_t)used, " guarantee=estimate");
}

static void draw(struct drawn *drawn, uint64_t seed)
{
    memset(drawn, 0, sizeof *drawn);
    drawn->seed = seed;
    kf_random_seed(&drawn->random, seed);
    drawn->method = (size_t)(seed % COUNT(methods));
    drawn->stream = seed >= ESTIMATED ? IID : (size_t)(seed / COUNT(methods) % COUNT(streams));
    drawn->loss = drawn->method == EXACT ? "squared" : losses[pick(drawn, COUNT(losses))];
    drawn->classes = strcmp(drawn->loss, "softmax") == 0 ? 3 : drawn->loss[0] == 'l' || drawn->loss[1] == 'i' ? 2 : 0;
    drawn->count = 20 + pick(drawn, chance(drawn, 0.3) ? 131 : 40);
    drawn->features = 1 + pick(drawn, drawn->classes == 3 ? 10 : chance(drawn, 0.2) ? 30 : 12);
    if (is_unseen(drawn)) {
        drawn->loss = "logistic";
        drawn->classes = 2;
        drawn->count += 20 * drawn->features;
    }
    if (seed >= BUDGETED && seed < FLAT)
        drawn->budget = (uint64_t)magnitude(drawn, 0, 3.5);
    if (seed >= FLAT && seed < ESTIMATED)
        drawn->factor = magnitude(drawn, 0.5, 2);
    drawn->cloud = calloc(1, sizeof *drawn->cloud);
    TAP_NEED(drawn->cloud);
    drawn->cloud->count = drawn->count;
    drawn->cloud->features = drawn->features;
    struct shape shape = draw_shape(drawn);
    for (size_t j = 0; j < drawn->count; j++)
        draw_row(drawn, &shape, j);
    arrange(drawn, &shape);
    write_options(drawn);
}

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
    if (!drawn->intercept || drawn->classes == 0 || strcmp(drawn->loss, "hinge") == 0)
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
}

/* NULL, or what is wrong with a bound that should hold. */
static const char *judge_bound(const struct drawn *drawn, const struct stage *stage)
{
    const keepfit_report *report = &stage->report;
    if (isnan(report->bound))
        return drawn->intercept ? NULL : "no bound";
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
    if (holds && kf_curvature_bound(&hold->curvature, &fit->problem) == report->bound)
        tally->by_curvature++;
    else
        tally->by_gradient++;
}

/* Where the gradient sum is only modelled, it is off by no more than is told. */
static const char *judge_model(keepfit_fit *fit, const keepfit_report *report, struct tally *tally)
{
    const struct kf_hold *hold = fit->running[fit->running_count - 1].state;
    struct kf_problem *problem = &fit->problem;
    size_t size = kf_size(problem);
    double off[FEATURES_MOST], factor, square = 0;
    if (strcmp(report->method, "quadratic") != 0 || !hold->modelled || !hold->curvature.certified)
        return NULL;
    uint64_t fo = problem->objective.fo;
    kf_gradient_sum(&problem->objective, problem->x, problem->points.count, off, NULL, &factor);
    problem->objective.fo = fo;
    kf_add(size, -1, hold->sum, off);
    for (size_t k = 0; k < size; k++)
        square += off[k] * kf_dot(size, hold->curvature.inverse + k * hold->curvature.capacity, off);
    tally->modelled++;
    return sqrt(fmax(square, 0)) <= hold->curvature.error + 1e-9 * problem->objective.weight_total
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
           streams[drawn->stream], report->method, report->bound, stage->measured.gap, report->target, stage->floor,
           stage->measured.objective, (unsigned long long)(report->fo - stage->fo_before), drawn->text, what);
}

static const char *judge(const struct drawn *drawn, keepfit_fit *fit, struct stage *stage, struct tally *tally)
{
    unsigned what = KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_OPTIMUM;
    stage->measured = (keepfit_measurement){NAN, NAN, NAN, NAN};
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
        try_problem((uint64_t)k * GROUPS + stream * COUNT(methods) + method, false, &tally);
    tap_check(tap, tally.violations == 0,
              "%s, %s: the bound is above the gap and within epsilon (%d problems, %d stages)", methods[method],
              streams[stream], tally.problems, tally.stages);
    add_up(all, &tally);
}

static void test_unseen(struct tap *tap, int problems)
{
    struct tally tally = {0};
    for (int k = 0; k < problems; k++)
        try_problem(UNSEEN + (uint64_t)k * COUNT(methods) + QUADRATIC, false, &tally);
    tap_check(tap, tally.violations == 0 && tally.modelled > tally.stages / 5,
              "quadratic: steps without a pass are off by no more than is told, and the bound holds (%d problems, %d "
              "stages, %d of them modelled)",
              tally.problems, tally.stages, tally.modelled);
}

static void test_budget(struct tap *tap, size_t method, int problems, struct tally *all)
{
    struct tally tally = {0};
    for (int k = 0; k < problems; k++)
        try_problem(BUDGETED + (uint64_t)k * COUNT(methods) + method, false, &tally);
    tap_check(tap, tally.violations == 0,
              "%s: a stage budget is kept, and the bound says what it left (%d problems, %d stages)", methods[method],
              tally.problems, tally.stages);
    add_up(all, &tally);
}

static void test_flat(struct tap *tap, size_t method, int problems, struct tally *all)
{
    struct tally tally = {0};
    for (int k = 0; k < problems; k++)
        try_problem(FLAT + (uint64_t)k * COUNT(methods) + method, false, &tally);
    tap_check(tap, tally.violations == 0,
              "%s: no stage costs more than its multiple of the mean, and the bound says what that left (%d problems, "
              "%d stages)",
              methods[method], tally.problems, tally.stages);
    add_up(all, &tally);
}

static void test_estimate(struct tap *tap, int problems)
{
    struct tally tally = {0};
    for (int k = 0; k < problems; k++)
        try_problem(ESTIMATED + (uint64_t)k * COUNT(methods) + TABLE, false, &tally);
    tap_check(tap, tally.violations == 0, "table: an estimate ends within 10 epsilon (%d problems)", tally.problems);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    struct tally proved = {0}, budgeted = {0}, flat = {0};
    const char *word = count > 1 ? words[1] : "";
    int share = strcmp(word, "few") == 0 ? 30 : strcmp(word, "quick") == 0 ? 10 : 1;
    for (int k = 1; k < count && share == 1; k++) {
        struct tally tally = {0};
        try_problem(strtoull(words[k], NULL, 10), count == 2, &tally);
        tap_check(&tap, tally.violations == 0, "problem %s (%d violations)", words[k], tally.violations);
    }
    if (tap.checks)
        return tap_end(&tap);
    for (size_t method = 0; method < COUNT(methods); method++)
        for (size_t stream = 0; stream < COUNT(streams); stream++)
            test_group(&tap, method, stream, 60 / share, &proved);
    test_unseen(&tap, 150 / share);
    for (size_t method = 0; method < COUNT(methods); method++)
        test_budget(&tap, method, 70 / share, &budgeted);
    for (size_t method = 0; method < COUNT(methods); method++)
        test_flat(&tap, method, 70 / share, &flat);
    test_estimate(&tap, 30 / share);
    tell_tally("proved", &proved);
    tell_tally("with a stage budget", &budgeted);
    tell_tally("with flat latency", &flat);
    return tap_end(&tap);
}
