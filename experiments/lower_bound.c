/* lower_bound.c - the instance with which the paper proves that o(n^2) gradients are too few.
 *
 * A method that makes at most n/2 queries at the stage of the trap (trap.h) misses f_k with probability 1/2 or more. */
#include "lower_bound.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "toolkit/exit_code.h"
#include "article.h"
#include "ridge_optimum.h"
#include "toolkit/output.h"
#include "toolkit/draw.h"
#include "statistics.h"
#include "trap.h"

enum kind { FEW, ALL_POINTS, CURVATURE, ADAPTIVE };

static const struct contestant {
    const char *name, *label, *options;
    enum kind kind;
    double steps; /* inner steps for each point; 0: as the options say */
} contestants[] = {
    {"sgd", "sgd", "method=sgd inner=20", FEW, 0},
    {"sgd-sparse", "sgd-sparse", "method=sgd-sparse inner=20 alpha=0", FEW, 0},
    {"csvrg", "csvrg", "method=csvrg setting=tuned inner=20 alpha=0.3 count=paper", FEW, 0},
    {"csvrg-long", "csvrg, T = n/8", "method=csvrg setting=tuned alpha=0.3 count=paper", FEW,
     0.125}, /* all that n/2 queries allow */
    {"strsaga", "strsaga", "method=strsaga inner=20", FEW, 0},
    {"dynasaga", "dynasaga", "method=dynasaga inner=20", FEW, 0},
    {"svrg", "svrg", "method=svrg outer=10 inner=100", ALL_POINTS, 0},
    {"katyusha", "katyusha", "method=katyusha outer=20 inner=100", ALL_POINTS, 0},
    {"sarah", "sarah", "method=sarah outer=10 inner=100", ALL_POINTS, 0},
    {"saga", "saga, T = 10n", "method=saga", ALL_POINTS, 10},
    {"gd", "gd", "method=gd", ALL_POINTS, 0},
    {"exact", "exact", "method=exact", CURVATURE, 0},
    {"quadratic", "quadratic", "method=quadratic", CURVATURE, 0},
    {"table", "table", "method=table", ADAPTIVE, 0},
};

enum { methods = sizeof contestants / sizeof contestants[0], sizes_most = 6 };

static const size_t sizes[sizes_most] = {125, 250, 500, 1000, 2000, 4000};
enum column { N, K, STAGE_FO, TOTAL_FO, BEFORE, SECOND, GAP };
static const char columns[] = "n,k,stage_fo,total_fo,before,x2,gap";

static size_t size_count(const struct setting *setting)
{
    return setting->quick ? 3 : sizes_most;
}

static size_t draws_of(const struct setting *setting, enum kind kind)
{
    if (kind == FEW)
        return setting->quick ? 10 : 40;
    return setting->quick ? 1 : 2;
}

/* What a unit does. */
struct gap_run {
    const struct contestant *contestant;
    uint64_t n, draws; /* draws of the hidden point */
};

static int run(struct unit *unit)
{
    const struct gap_run *parameters = unit->parameters;
    const struct contestant *contestant = parameters->contestant;
    uint64_t n = parameters->n, draws = parameters->draws;
    struct source source = {unit->seed};
    char options[256];
    snprintf(options, sizeof options, TRAP_PROBLEM " epsilon=%.17g %s", trap_formula((double)n) / 10,
             contestant->options);
    if (contestant->steps > 0) {
        size_t used = strlen(options);
        snprintf(options + used, sizeof options - used, " inner=%.0f", contestant->steps * (double)n);
    }
    int code = EXIT_DONE;
    for (uint64_t d = 0; d < draws && code == EXIT_DONE; d++) {
        uint64_t k = 1 + draw(&source) % (n - 1);
        struct trap_draw one;
        code = trap_run(unit, n, k, unit->seed + d, options, &one);
        if (code == EXIT_DONE)
            frame_add(&unit->frame,
                      (double[]){(double)n, (double)k, one.stage_fo, one.total_fo, one.before, one.second, one.gap});
        if (!unit_tick(unit, (double)(d + 1) / (double)draws))
            break;
    }
    return code;
}

int lower_bound_plan(struct plan *plan)
{
    for (size_t m = 0; m < methods; m++)
        for (size_t s = 0; s < size_count(plan->setting); s++) {
            size_t draws = draws_of(plan->setting, contestants[m].kind);
            struct gap_run parameters = {&contestants[m], sizes[s], draws};
            struct unit *unit = plan_unit(plan, 0, &parameters, sizeof parameters);
            snprintf(unit->name, sizeof unit->name, "lower-bound-%s-%zu", contestants[m].name, sizes[s]);
            snprintf(unit->key, sizeof unit->key, "lower-bound n=%zu draws=%zu seed=%llu epsilon=formula/10 %s %g",
                     sizes[s], draws, (unsigned long long)unit->seed, contestants[m].options, contestants[m].steps);
            unit->columns = columns;
            unit->run = run;
            double n = (double)sizes[s];
            unit->cost =
                1e-8 * (double)draws * n * (contestants[m].kind == FEW ? 200 : 10 * n * (1 + contestants[m].steps));
        }
    trap_budget_plan(plan);
    natural_plan(plan);
    return EXIT_DONE;
}

/* Means over the draws. */
struct outcome {
    double stage_fo, total_fo, missed, gap; /* missed: share of draws that left x2 at 0 */
};

static struct outcome summarise(const struct frame *frame)
{
    struct outcome outcome = {0};
    double share = 1 / (double)frame->rows;
    for (size_t row = 0; row < frame->rows; row++) {
        outcome.stage_fo += share * frame_at(frame, row, STAGE_FO);
        outcome.total_fo += share * frame_at(frame, row, TOTAL_FO);
        outcome.missed += share * (frame_at(frame, row, SECOND) == 0);
        outcome.gap += share * frame_at(frame, row, GAP);
    }
    return outcome;
}

static void draw_gaps(const struct setting *setting, struct outcome outcomes[][sizes_most], struct article *article)
{
    size_t count = size_count(setting);
    double n[sizes_most], bound[sizes_most], gaps[methods][sizes_most];
    struct plot_series series[methods + 1];
    for (size_t s = 0; s < count; s++) {
        n[s] = (double)sizes[s];
        bound[s] = trap_formula(n[s]) / 2;
        for (size_t m = 0; m < methods; m++)
            gaps[m][s] = fmax(outcomes[m][s].gap, 1e-32);
    }
    series[0] = (struct plot_series){.name = "the lower bound", .count = count, .x = n, .y = bound};
    for (size_t m = 0; m < methods; m++)
        series[m + 1] = (struct plot_series){.name = contestants[m].label, .count = count, .x = n, .y = gaps[m]};
    struct plot plot = {
        .title = "Gap at the trap",
        .x_label = "n, the stage of the trap",
        .y_label = "mean gap at stage n",
        .log_x = true,
        .log_y = true,
        .count = methods + 1,
        .series = series,
        .reference = NAN,
        .caption = "Means over the hidden k. The lower bound is half the formula. Gaps below 1e-32 are drawn there."};
    article_figure(article, "gap", &plot);
}

static void write_table(const struct setting *setting, struct outcome outcomes[][sizes_most], struct article *article)
{
    static const char *const kinds[] = {"few queries", "all points", "curvature", "adaptive"};
    size_t last = size_count(setting) - 1;
    char head[160];
    snprintf(head, sizeof head, "method, n = %zu|kind|FO in stage n|FO in all|draws with x2 = 0|mean gap|gap / formula",
             sizes[last]);
    article_table(article, head);
    for (size_t m = 0; m < methods; m++) {
        const struct outcome *one = &outcomes[m][last];
        article_row(article, "%s|%s|%.0f|%.0f|%.0f%%|%.2e|%.3g", contestants[m].label, kinds[contestants[m].kind],
                    one->stage_fo, one->total_fo, 100 * one->missed, one->gap,
                    one->gap / trap_formula((double)sizes[last]));
    }
    article_table_end(article);
}

/* The formula against the exact optimum: the best x with x2 = 0 is (1/(n+2), 0). */
static void check_formula(const struct setting *setting, struct article *article)
{
    double worst = 0;
    for (size_t s = 0; s < size_count(setting); s++) {
        struct optimum optimum;
        double n = (double)sizes[s];
        optimum_start(&optimum, 2, 1);
        for (uint64_t j = 1; j <= sizes[s]; j++) {
            keepfit_point point = trap_point(j, 1, sizes[s]);
            optimum_add(&optimum, &point);
        }
        double gap = optimum_gap(&optimum, (double[]){1 / (n + 2), 0}, 2);
        worst = fmax(worst, fabs(gap / trap_formula(n) - 1));
        optimum_free(&optimum);
    }
    article_finding(
        article, worst < 1e-6 ? AGREES : DISAGREES,
        "On the instance a point with x2 = 0 has a gap of at least 1/(n^4 + 5n^3 + 7n^2 + 2n).",
        "The best such point has exactly this gap, to a relative error of %.1e over the sizes tried. Agreement means "
        "1e-6.",
        worst);
}

static void gradient_at(const keepfit_point *point, const double x[2], double out[2])
{
    const double *a = point->row.value;
    double slope = 2 * (a[0] * x[0] + a[1] * x[1] - point->target);
    for (size_t c = 0; c < 2; c++)
        out[c] = slope * a[c] + 2 * x[c];
}

/* Constants of one function, from its gradients at all pairs of points of a grid: its Hessian is the same everywhere and its
 * eigenvectors go along the grid or its diagonals, so these are exact but for rounding. */
static void take_constants(const keepfit_point *point, struct range *curvature, double *slope)
{
    enum { grid = 5 };
    for (size_t p = 0; p < grid * grid; p++)
        for (size_t q = 0; q < grid * grid; q++) {
            double x[2] = {0.5 * (double)(p % grid) - 1, 0.5 * (double)(p / grid) - 1}, gx[2];
            double y[2] = {0.5 * (double)(q % grid) - 1, 0.5 * (double)(q / grid) - 1}, gy[2];
            gradient_at(point, x, gx);
            gradient_at(point, y, gy);
            double off[2] = {x[0] - y[0], x[1] - y[1]}, square = off[0] * off[0] + off[1] * off[1];
            *slope = fmax(*slope, hypot(gx[0], gx[1]));
            if (p == q)
                continue;
            range_widen(curvature, ((gx[0] - gy[0]) * off[0] + (gx[1] - gy[1]) * off[1]) / square);
            range_widen(curvature, hypot(gx[0] - gy[0], gx[1] - gy[1]) / sqrt(square));
        }
}

static void check_constants(struct article *article)
{
    struct range curvature = range_empty();
    double slope = 0;
    for (uint64_t j = 1; j <= 3; j++) { /* one of each kind */
        keepfit_point point = trap_point(j, 2, 3);
        take_constants(&point, &curvature, &slope);
    }
    size_t good =
        (curvature.low >= 2 - 1e-12) + (size_t)(curvature.high <= 6 + 1e-12) + (size_t)(slope <= 6 * sqrt(2) + 1e-12);
    article_finding(article, verdict_of(good, 3),
                    "The instance's functions are 2-strongly convex, 6-smooth and 6 sqrt(2)-Lipschitz (corollary 2).",
                    "By the gradients at all pairs of points of a grid: curvature between %.6g and %.6g, gradients of "
                    "norm at most %.6g = %.6g sqrt(2).",
                    curvature.low, curvature.high, slope, slope / sqrt(2));
}

static void find_few(const struct setting *setting, struct outcome outcomes[][sizes_most], struct article *article)
{
    size_t good = 0, all = 0;
    double least = INFINITY, least_missed = INFINITY;
    for (size_t m = 0; m < methods; m++)
        for (size_t s = 0; s < size_count(setting) && contestants[m].kind == FEW; s++) {
            double ratio = outcomes[m][s].gap / trap_formula((double)sizes[s]);
            all++;
            good += ratio >= 0.5 && outcomes[m][s].stage_fo <= (double)sizes[s] / 2;
            least = fmin(least, ratio);
            least_missed = fmin(least_missed, outcomes[m][s].missed);
        }
    article_finding(
        article, verdict_of(good, all),
        "A natural method with o(n^2) FOs has a stage whose expected gap is at least half the formula, so "
        "Omega(1/n^4).",
        "In %zu of %zu cases (%zu methods, all sizes, at most n/2 queries in the stage) "
        "the mean gap is at least half the formula; the smallest is %.3g times the formula. The hidden function "
        "was missed in at least %.0f%% of the draws.",
        good, all, all / size_count(setting), least, 100 * least_missed);
}

static void find_others(const struct setting *setting, struct outcome outcomes[][sizes_most], struct article *article)
{
    size_t good[4] = {0}, all[4] = {0};
    double most[4] = {0}, fo[4] = {0};
    for (size_t m = 0; m < methods; m++)
        for (size_t s = 0; s < size_count(setting); s++) {
            enum kind kind = contestants[m].kind;
            double ratio = outcomes[m][s].gap / trap_formula((double)sizes[s]), n = (double)sizes[s];
            all[kind]++;
            good[kind] += ratio < 0.5;
            most[kind] = fmax(most[kind], ratio);
            fo[kind] = fmax(fo[kind], outcomes[m][s].total_fo / (n * n));
        }
    article_finding(
        article, verdict_of(good[ALL_POINTS], all[ALL_POINTS]),
        "The bound does not hold for methods that spend n^2 FOs.",
        "svrg, katyusha, sarah, saga and gd: the gap is below half the formula in %zu of %zu cases; the largest is "
        "%.1e times the formula.",
        good[ALL_POINTS], all[ALL_POINTS], most[ALL_POINTS]);
    article_finding(article, verdict_of(good[CURVATURE], all[CURVATURE]),
                    "The bound is for natural first-order methods; methods that use curvature are not bound by it.",
                    "exact and quadratic: gap at most %.1e times the formula, with at most %.2g n^2 FOs.",
                    most[CURVATURE], fo[CURVATURE]);
    article_text(
        article,
        "A remark on the proof: it chooses the stage of the trap by how many queries the method makes there before the "
        "trap is "
        "set. A method that decides by what it sees, such as table, makes few queries while nothing happens and %s at "
        "the trap: its gap is at most %.1e times the formula with at most %.2g n^2 FOs in all. This is no "
        "counterexample to "
        "the theorem's idea (a stream of traps would cost it n FOs at each), but one trap is not enough for such "
        "methods.",
        "looks at all points", most[ADAPTIVE], fo[ADAPTIVE]);
}

void lower_bound_report(const struct setting *setting, const struct unit *units, struct article *article)
{
    struct outcome outcomes[methods][sizes_most] = {{{0}}};
    for (size_t m = 0; m < methods; m++)
        for (size_t s = 0; s < size_count(setting); s++)
            outcomes[m][s] = summarise(&units[m * size_count(setting) + s].frame);
    article_text(
        article,
        "The instance with which the paper proves its lower bound: in [-1,1]^2 all functions are x1^2 + x2^2, but for "
        "one "
        "hidden f_k, which adds (x1-x2)^2, and the last, which adds (x1-1)^2. Who does not ask f_k in the last stage "
        "cannot know that x2 must move. k is drawn %zu times for methods with few queries, %zu for the others.",
        draws_of(setting, FEW), draws_of(setting, ALL_POINTS));
    draw_gaps(setting, outcomes, article);
    write_table(setting, outcomes, article);
    check_constants(article);
    check_formula(setting, article);
    find_few(setting, outcomes, article);
    find_others(setting, outcomes, article);
    units += methods * size_count(setting);
    units += trap_budget_report(units, article);
    natural_report(units, article);
}
