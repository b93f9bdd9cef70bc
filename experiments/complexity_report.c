/* complexity_report.c - log-log figures with fitted exponents beside the predicted ones. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "article.h"
#include "complexity.h"
#include "instance.h"
#include "statistics.h"

#define NEAR 0.15 /* exponents that differ by no more than this agree */
#define POINTS_A_STEP                                                                                                  \
    8 /* with so many points for each step of an epoch full gradients cost twice as much as the steps */

static const struct {
    const char *name, *title, *caption;
} growths[] = {
    [THEORY_ACCURACY] = {"accuracy", "FOs against accuracy, with the theorems' parameters",
                         "Each method on its own range of accuracies, where its theorem's parameters can be afforded."},
    [THEORY_POINTS] = {"points", "FOs against the number of points, with the theorems' parameters",
                       "Accuracy fixed for each method."},
    [LEAST_ACCURACY] =
        {"least", "FOs against accuracy, with the smallest budget that meets it",
         "The smallest number of inner steps (and the best alpha) with which the mean gap stays within epsilon."},
};

/* One sweep's measurements. */
struct line {
    double x[COMPLEXITY_VALUES], fo[COMPLEXITY_VALUES], exponent;
    double bare[COMPLEXITY_VALUES]; /* FOs without the logarithm that the theory's T has, whose exponent it is */
    size_t held;                    /* values of v at which the gap stayed within epsilon at every stage */
    double closest;                 /* the largest gap over epsilon */
};

/* sgd's T is a multiple of 1 + ln T; it is FO/n. */
static bool has_logarithm(const struct sweep *sweep)
{
    return sweep->growth != LEAST_ACCURACY && strcmp(sweep->method, "sgd") == 0;
}

static struct line line_of(const struct sweep *sweep, const struct unit *units)
{
    struct instance instance = instance_make(sweep->condition);
    struct line line = {.closest = 0};
    for (size_t v = 0; v < COMPLEXITY_VALUES; v++) {
        const struct frame *frame = &units[v].frame;
        double epsilon = frame_at(frame, 0, COMPLEXITY_EPSILON), worst = frame_at(frame, 0, COMPLEXITY_WORST);
        line.bare[v] = frame_at(frame, 0, COMPLEXITY_FO);
        if (has_logarithm(sweep))
            line.bare[v] /= 1 + log(line.bare[v] / frame_at(frame, 0, COMPLEXITY_N));
        line.x[v] = sweep->growth == THEORY_POINTS ? frame_at(frame, 0, COMPLEXITY_N)
                                                   : instance_epsilon(&instance, 1) / epsilon;
        line.fo[v] = frame_at(frame, 0, COMPLEXITY_FO);
        line.held += worst <= epsilon;
        line.closest = fmax(line.closest, worst / epsilon);
    }
    line.exponent = fitted_exponent(line.x, line.bare, COMPLEXITY_VALUES);
    return line;
}

static void write_row(struct article *article, const struct sweep *sweep, const struct line *line,
                      const struct unit *units)
{
    char range[80];
    snprintf(range, sizeof range, sweep->growth == THEORY_POINTS ? "%.0f to %.0f" : "%.1e to %.1e", line->x[0],
             line->x[COMPLEXITY_VALUES - 1]);
    article_row(article, "%s|%s|%.0f|%.3g|%.3g|%.2e to %.2e|%.2g", sweep->method, range,
                frame_at(&units[0].frame, 0, COMPLEXITY_N), sweep->exponent, line->exponent, line->fo[0],
                line->fo[COMPLEXITY_VALUES - 1], line->closest);
}

static void write_growth(struct article *article, enum growth growth, const struct line *lines,
                         const struct unit *units)
{
    struct plot_series series[12];
    char names[12][64];
    size_t count = 0;
    article_table(article,
                  growth == THEORY_POINTS
                      ? "method|n|smallest n|predicted exponent|fitted exponent|FOs|largest gap / epsilon"
                      : "method|G^2/(mu epsilon)|n|predicted exponent|fitted exponent|FOs|largest gap / epsilon");
    for (size_t k = 0; sweep_entry(k); k++) {
        const struct sweep *sweep = sweep_entry(k);
        if (sweep->growth != growth)
            continue;
        write_row(article, sweep, &lines[k], units + k * COMPLEXITY_VALUES);
        snprintf(names[count], sizeof names[count], "%s: exponent %.2f", sweep->method, lines[k].exponent);
        series[count] = (struct plot_series){names[count], COMPLEXITY_VALUES, lines[k].x, lines[k].fo, NULL, NULL};
        count++;
    }
    article_table_end(article);
    struct plot plot = {.title = growths[growth].title,
                        .x_label = growth == THEORY_POINTS ? "n, points in all" : "G^2/(mu epsilon)",
                        .y_label = "FOs in all",
                        .log_x = true,
                        .log_y = true,
                        .count = count,
                        .series = series,
                        .reference = NAN,
                        .caption = growths[growth].caption};
    article_figure(article, growths[growth].name, &plot);
}

/* What theorem 1 and table 1 say of one method, against a line. */
static void find_exponent(struct article *article, size_t k, const struct line *line)
{
    const struct sweep *sweep = sweep_entry(k);
    char claim[200];
    double off = line->exponent - sweep->exponent;
    bool shows = sweep->growth != THEORY_POINTS || line->x[0] >= POINTS_A_STEP * sweep->steps;
    snprintf(claim, sizeof claim, "%s: the number of FOs grows as %s to the power %.3g%s.", sweep->method,
             sweep->growth == THEORY_POINTS ? "n" : "1/epsilon", sweep->exponent,
             sweep->growth == LEAST_ACCURACY ? ", also for the smallest budget that meets epsilon"
                                             : ", up to logarithms");
    article_finding(article,
                    !shows        ? NOT_JUDGED
                    : off > NEAR  ? DISAGREES
                    : off < -NEAR ? AGREES_IN_PART
                                  : AGREES,
                    claim,
                    "Fitted exponent %.3f over %zu values; agreement means within %.2f of %.3g. Below that is "
                    "agreement in part: the paper's upper bound holds, but is not reached.%s",
                    line->exponent, (size_t)COMPLEXITY_VALUES, NEAR, sweep->exponent,
                    has_logarithm(sweep) ? " The factor 1 + ln T of the textbook's bound is taken off."
                    : shows              ? ""
                                         : " The streams are too short for full gradients to cost more than steps.");
}

static void find_held(struct article *article, const struct line *lines)
{
    size_t good = 0, all = 0;
    double closest = 0;
    for (size_t k = 0; sweep_entry(k); k++) {
        if (sweep_entry(k)->growth == LEAST_ACCURACY)
            continue;
        good += lines[k].held;
        all += COMPLEXITY_VALUES;
        closest = fmax(closest, lines[k].closest);
    }
    article_finding(
        article, verdict_of(good, all),
        "With the theorems' parameters the expected gap is at most epsilon at every stage.",
        "The mean gap over the seeds was at most epsilon at every stage in %zu of %zu runs; the largest was %.2g "
        "epsilon.",
        good, all, closest);
}

/* Variance reduction and gd: FOs over log(1/epsilon) are to be constant, or to fall where a method stops by itself. */
static void find_logarithm(struct article *article, const struct line *lines)
{
    for (size_t k = 0; sweep_entry(k); k++) {
        const struct sweep *sweep = sweep_entry(k);
        if (sweep->growth != THEORY_ACCURACY || sweep->exponent > 0)
            continue;
        struct instance instance = instance_make(sweep->condition);
        double ratio[COMPLEXITY_VALUES];
        struct range range = range_empty();
        bool stops = strcmp(sweep->method, "gd") == 0;
        char claim[120];
        for (size_t v = 0; v < COMPLEXITY_VALUES; v++) {
            ratio[v] = lines[k].fo[v] /
                       log2(INSTANCE_DIAMETER * instance.lipschitz * lines[k].x[v] / instance_epsilon(&instance, 1));
            range_widen(&range, ratio[v]);
        }
        bool good = stops ? ratio[COMPLEXITY_VALUES - 1] <= 1.25 * ratio[0] : range.high <= 1.25 * range.low;
        snprintf(claim, sizeof claim, "%s: the number of FOs grows as log(1/epsilon)%s.", sweep->method,
                 stops ? " at most" : "");
        article_finding(
            article, good ? AGREES : DISAGREES, claim,
            "FOs over log2(|D|G/epsilon) are between %.3g and %.3g for epsilon over a range of %.0e; agreement means "
            "%s.",
            range.low, range.high, pow(sweep->ratio, 1.0 - COMPLEXITY_VALUES),
            stops ? "that they do not rise by more than a quarter" : "a quarter at most");
    }
}

void complexity_report(const struct setting *setting, const struct unit *units, struct article *article)
{
    enum { sweeps_most = 24 };
    struct line lines[sweeps_most];
    for (size_t k = 0; sweep_entry(k); k++)
        lines[k] = line_of(sweep_entry(k), units + k * COMPLEXITY_VALUES);
    article_text(
        article,
        "An instance made for this: two coordinates in the unit ball, mu = 1, L/mu near 1 (for the theorems' "
        "parameters) or 4 (for "
        "the smallest budgets), and an optimum that keeps moving at the speed that the theory allows for, because the "
        "targets change their sign at each power of 2. The constants mu, L and G are known exactly. Gaps are measured "
        "at "
        "every stage against the exact optimum%s.",
        setting->quick ? "; with --quick the streams are shorter than the range of accuracies asks for, which "
                         "bends the exponents"
                       : "");
    for (enum growth growth = THEORY_ACCURACY; growth <= LEAST_ACCURACY; growth++) {
        write_growth(article, growth, lines, units);
        for (size_t k = 0; sweep_entry(k); k++)
            if (sweep_entry(k)->growth == growth && (growth == THEORY_POINTS || sweep_entry(k)->exponent > 0))
                find_exponent(article, k, &lines[k]);
        if (growth == THEORY_ACCURACY)
            find_logarithm(article, lines);
    }
    find_held(article, lines);
}
