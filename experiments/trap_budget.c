/* trap_budget.c - how many FOs a natural method needs to meet epsilon = formula/8 at the trap.
 *
 * The budget is the same at every stage, since a method with a fixed schedule does not know where the trap is. For each n the
 * smallest one is sought, by doubling and then bisection to a twentieth, whose mean gap over the draws of the hidden point is at
 * most epsilon. The methods' other parameters are such that little is wasted: csvrg's beta belongs to L/mu = 1, epochs are short. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "article.h"
#include "statistics.h"
#include "toolkit/draw.h"
#include "toolkit/exit_code.h"
#include "trap.h"

#define BUDGET_MOST 4e6
#define NEAR 0.15 /* exponents that are no more than this below the bound are not below it */

enum { SIZES = 4 };

static const struct contender {
    const char *name, *options;                /* the budget's option comes last */
    uint64_t sizes[SIZES], small_sizes[SIZES]; /* n; the second with --quick */
    uint64_t draws;
    bool stops; /* as soon as nothing is to be done, so that stages before the trap cost it one look */
} contenders[] = {
    {"sgd", "method=sgd setting=theory inner", {4, 6, 8, 12}, {3, 4, 5, 6}, 48, false},
    {"csvrg",
     "method=csvrg setting=theory smoothness=2 alpha=0.3 count=paper inner",
     {16, 32, 64, 128},
     {8, 12, 16, 24},
     48,
     false},
    {"saga", "method=saga inner", {16, 32, 64, 128}, {8, 12, 16, 24}, 48, false},
    {"svrg", "method=svrg inner=2 outer", {64, 128, 256, 512}, {32, 64, 128, 256}, 4, false},
    {"sarah", "method=sarah inner=2 outer", {64, 128, 256, 512}, {32, 64, 128, 256}, 4, false},
    {"katyusha", "method=katyusha inner=2 outer", {64, 128, 256, 512}, {32, 64, 128, 256}, 4, false},
    {"gd", "method=gd inner", {64, 128, 256, 512}, {32, 64, 128, 256}, 2, true},
};

enum { CONTENDERS = sizeof contenders / sizeof contenders[0] };
enum column { N, EPSILON, BUDGET, FO, GAP };

/* What a unit does. */
struct budget_run {
    const struct contender *contender;
    uint64_t n, draws;
};

/* In all stages. Who stops where nothing is to be done is charged as if it had not known: a stage's share of the last one's. */
static double fos_of(const struct budget_run *work, const struct trap_draw *draw)
{
    return work->contender->stops ? draw->stage_fo * ((double)work->n + 1) / 2 : draw->total_fo;
}

/* Mean FOs and gap over the draws; the gap is infinite as soon as its mean must exceed `enough`. Returns an exit code. */
static int measure(struct unit *unit, double budget, double enough, double *fo, double *gap)
{
    const struct budget_run *work = unit->parameters;
    struct source source = {unit->seed};
    char options[256];
    int code = EXIT_DONE;
    /* The accuracy is the budget's alone: a method that stops by itself goes on as far as the budget lets it. */
    snprintf(options, sizeof options, TRAP_PROBLEM " epsilon=%.17g %s=%.0f", 1e-3 * enough, work->contender->options,
             budget);
    *fo = *gap = 0;
    for (uint64_t d = 0; d < work->draws && isfinite(*gap) && code == EXIT_DONE; d++) {
        struct trap_draw one;
        uint64_t k = 1 + draw(&source) % (work->n - 1);
        code = trap_run(unit, work->n, k, unit->seed + d, options, &one);
        *fo += fos_of(work, &one) / (double)work->draws;
        *gap += one.gap / (double)work->draws;
        if (*gap > enough || !unit_tick(unit, unit->share))
            *gap = INFINITY;
    }
    return code;
}

static int run(struct unit *unit)
{
    const struct budget_run *work = unit->parameters;
    double epsilon = trap_formula((double)work->n) / 8, low = 0, high = 1, fo, gap;
    double best_fo, best_gap;
    int code = measure(unit, high, epsilon, &best_fo, &best_gap);
    while (code == EXIT_DONE && !isfinite(best_gap) && high < BUDGET_MOST &&
           unit_tick(unit, fmin(unit->share + 0.04, 0.9))) {
        low = high;
        high *= 2;
        code = measure(unit, high, epsilon, &best_fo, &best_gap);
    }
    while (code == EXIT_DONE && high - low > fmax(1, 0.05 * low) && unit_tick(unit, unit->share)) {
        double middle = floor((low + high) / 2);
        code = measure(unit, middle, epsilon, &fo, &gap);
        if (isfinite(gap)) {
            high = middle;
            best_fo = fo;
            best_gap = gap;
        } else {
            low = middle;
        }
    }
    if (code == EXIT_DONE) {
        double row[] = {(double)work->n, epsilon, high, isfinite(best_gap) ? best_fo : NAN, best_gap};
        frame_add(&unit->frame, row);
    }
    return code;
}

void trap_budget_plan(struct plan *plan)
{
    for (size_t m = 0; m < CONTENDERS; m++)
        for (size_t s = 0; s < SIZES; s++) {
            const struct contender *contender = &contenders[m];
            bool quick = plan->setting->quick;
            struct budget_run work = {contender, (quick ? contender->small_sizes : contender->sizes)[s],
                                      contender->draws};
            struct unit *unit = plan_unit(plan, 0, &work, sizeof work);
            snprintf(unit->name, sizeof unit->name, "lower-bound-least-%s-%zu", contender->name, s);
            snprintf(unit->key, sizeof unit->key, "lower-bound least n=%llu draws=%llu seed=%llu epsilon=formula/8 %s",
                     (unsigned long long)work.n, (unsigned long long)work.draws, (unsigned long long)unit->seed,
                     contender->options);
            unit->columns = "n,epsilon,budget,fo,gap";
            unit->run = run;
            unit->cost = 1e-6 * (double)work.draws * pow((double)work.n, strcmp(contender->name, "sgd") ? 2 : 4);
        }
}

/* One contender's measurements. */
struct growth {
    double n[SIZES], accuracy[SIZES]; /* 1/epsilon */
    double fo[SIZES], share[SIZES];   /* FOs, and FOs over n */
    double points, accuracies;        /* exponents: of FO in n, of FO/n in 1/epsilon */
};

static struct growth growth_of(const struct unit *units)
{
    struct growth growth;
    for (size_t s = 0; s < SIZES; s++) {
        const struct frame *frame = &units[s].frame;
        growth.n[s] = frame_at(frame, 0, N);
        growth.accuracy[s] = 1 / frame_at(frame, 0, EPSILON);
        growth.fo[s] = frame_at(frame, 0, FO);
        growth.share[s] = growth.fo[s] / growth.n[s];
    }
    growth.points = fitted_exponent(growth.n, growth.fo, SIZES);
    growth.accuracies = fitted_exponent(growth.accuracy, growth.share, SIZES);
    return growth;
}

static void draw_growths(const struct growth *growths, bool by_accuracy, struct article *article)
{
    struct plot_series series[CONTENDERS];
    char names[CONTENDERS][48];
    for (size_t m = 0; m < CONTENDERS; m++) {
        const struct growth *one = &growths[m];
        snprintf(names[m], sizeof names[m], "%s: exponent %.2f", contenders[m].name,
                 by_accuracy ? one->accuracies : one->points);
        series[m] = by_accuracy ? (struct plot_series){names[m], SIZES, one->accuracy, one->share, NULL, NULL}
                                : (struct plot_series){names[m], SIZES, one->n, one->fo, NULL, NULL};
    }
    struct plot plot = {
        .title = by_accuracy ? "FOs a point against accuracy, n = n(epsilon)" : "The least FOs that meet formula/8",
        .x_label = by_accuracy ? "1/epsilon" : "n, the stage of the trap",
        .y_label = by_accuracy ? "FOs over n" : "FOs in all",
        .log_x = true,
        .log_y = true,
        .count = CONTENDERS,
        .series = series,
        .reference = NAN,
        .caption = by_accuracy ? "epsilon is tied to n as in the proof: 1/epsilon is 8 over the formula."
                               : "Log-log: a straight line of slope 2 is n^2."};
    article_figure(article, by_accuracy ? "least-accuracy" : "least-points", &plot);
}

static void write_table(const struct growth *growths, const struct unit *units, struct article *article)
{
    article_table(article, "method|n|budget a stage|FO in all|FO/n^2|exponent in n|exponent of FO/n in 1/epsilon");
    for (size_t m = 0; m < CONTENDERS; m++) {
        const struct growth *one = &growths[m];
        const struct frame *last = &units[m * SIZES + SIZES - 1].frame;
        const char *unknown = strrchr(contenders[m].options, ' ') + 1;
        article_row(article, "%s|%.0f to %.0f|%s = %.0f|%.2e to %.2e|%.2g to %.2g|%.2f|%.3f", contenders[m].name,
                    one->n[0], one->n[SIZES - 1], unknown, frame_at(last, 0, BUDGET), one->fo[0], one->fo[SIZES - 1],
                    one->share[0] / one->n[0], one->share[SIZES - 1] / one->n[SIZES - 1], one->points, one->accuracies);
    }
    article_table_end(article);
}

static void find_growth(const struct growth *growths, bool by_accuracy, struct article *article)
{
    double bound = by_accuracy ? 0.25 : 2, slack = by_accuracy ? NEAR / 4 : NEAR;
    size_t good = 0, measured = 0;
    struct range range = range_empty();
    for (size_t m = 0; m < CONTENDERS; m++) {
        double exponent = by_accuracy ? growths[m].accuracies : growths[m].points;
        if (isnan(exponent))
            continue;
        measured++;
        good += exponent >= bound - slack;
        range_widen(&range, exponent);
    }
    article_finding(
        article, verdict_of(good, measured),
        by_accuracy ? "For any alpha < 1/4 no natural method needs only n/epsilon^alpha FOs (theorem 3)."
                    : "For any alpha > 0 no natural method needs only n^(2-alpha) log(1/epsilon) FOs (theorem 3).",
        "%s of the least budget that meets epsilon = formula/8 grows with an exponent of at least %.3g in %zu of %zu "
        "natural methods; the exponents are between %.3f and %.3f. Agreement means none below %.4g.",
        by_accuracy ? "FO/n, as a power of 1/epsilon," : "FO, as a power of n,", bound, good, measured, range.low,
        range.high, bound - slack);
}

size_t trap_budget_report(const struct unit *units, struct article *article)
{
    struct growth growths[CONTENDERS];
    for (size_t m = 0; m < CONTENDERS; m++)
        growths[m] = growth_of(units + m * SIZES);
    article_heading(article, "The least number of FOs");
    article_text(article,
                 "The natural methods that the paper names, each with the smallest budget a stage whose mean "
                 "gap at the trap is at most an eighth of the formula. The budget is the same at every stage: "
                 "who does not know where the trap is must pay everywhere. n^(2-alpha) log(1/epsilon) with "
                 "epsilon a power of 1/n is less than n^2, so both statements of theorem 3 say: at least n^2.");
    draw_growths(growths, false, article);
    draw_growths(growths, true, article);
    write_table(growths, units, article);
    find_growth(growths, false, article);
    find_growth(growths, true, article);
    return CONTENDERS * SIZES;
}
