/* regime_report.c - FOs against n where epsilon = c/n, with fitted exponents. */
#include "regime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "article.h"
#include "data.h"
#include "statistics.h"

#define NEAR 0.15 /* exponents that differ by no more than this agree */
#define SPAN 20   /* exponents are judged where the longest stream has so many times more points than the shortest */

struct line {
    double n[REGIME_VALUES], fo[REGIME_VALUES], share[REGIME_VALUES], exponent;
    double closest; /* the largest gap over epsilon */
    size_t count;   /* values; a short file has fewer */
};

static struct line line_of(const struct unit *units)
{
    struct line line = {.closest = 0};
    for (size_t v = 0; v < REGIME_VALUES; v++) {
        const struct frame *frame = &units[v].frame;
        double n = frame_at(frame, 0, REGIME_N), fo = frame_at(frame, 0, REGIME_FO);
        if ((line.count > 0 && n <= line.n[line.count - 1]) || !isfinite(fo))
            continue;
        line.n[line.count] = n;
        line.fo[line.count] = fo;
        line.share[line.count++] = fo / n;
        line.closest = fmax(line.closest, frame_at(frame, 0, REGIME_WORST) / frame_at(frame, 0, REGIME_EPSILON));
    }
    line.exponent = fitted_exponent(line.n, line.fo, line.count);
    return line;
}

static void write_stream(struct article *article, enum regime_stream stream, const struct line *lines)
{
    enum { most = 8 };
    static const struct {
        const char *name, *title;
    } texts[] = {[MOVING] = {"moving", "FOs in all, epsilon = 0.01 G^2/(mu n), the moving instance"},
                 [NEAR_ONE] = {"theorem", "FOs in all, epsilon = G^2/(mu n), with the theorems' parameters"},
                 [SETTLING] = {"settling", "FOs in all, epsilon = 0.01 G^2/(mu n), independent targets"},
                 [REAL] = {"real", "FOs in all, epsilon = 0.1/n, cod-rna"}};
    struct plot_series series[most];
    char names[most][80];
    size_t count = 0;
    article_table(article, "method|n|exponent the paper predicts|fitted exponent|FO in all|FO a point at the "
                           "end|largest gap / epsilon");
    for (size_t k = 0; regime_entry(k); k++) {
        const struct regime_sweep *sweep = regime_entry(k);
        const struct line *line = &lines[k];
        if (sweep->stream != stream || line->count == 0)
            continue;
        char predicted[16] = "(ours)";
        if (sweep->exponent > 1)
            snprintf(predicted, sizeof predicted, "%.3g", sweep->exponent);
        article_row(article, "%s|%.0f to %.0f|%s|%.3f|%.2e to %.2e|%.3g|%.2g", sweep->name, line->n[0],
                    line->n[line->count - 1], predicted, line->exponent, line->fo[0], line->fo[line->count - 1],
                    line->share[line->count - 1], line->closest);
        snprintf(names[count], sizeof names[count], "%s: exponent %.2f", sweep->name, line->exponent);
        series[count++] = (struct plot_series){names[count], line->count, line->n, line->fo, NULL, NULL};
    }
    article_table_end(article);
    for (size_t s = 0; s < count; s++)
        series[s].name = names[s];
    struct plot plot = {.title = texts[stream].title,
                        .x_label = "n, points in all (epsilon = c/n)",
                        .y_label = "FOs in all",
                        .log_x = true,
                        .log_y = true,
                        .count = count,
                        .series = series,
                        .reference = NAN,
                        .caption = "Each n is a run of its own with its own epsilon."};
    article_figure(article, texts[stream].name, &plot);
}

static void find_exponent(struct article *article, const struct regime_sweep *sweep, const struct line *line)
{
    char claim[240];
    double off = line->exponent - sweep->exponent, longest = line->count ? line->n[line->count - 1] : 0;
    bool by_theorem = sweep->stream == NEAR_ONE;
    snprintf(claim, sizeof claim, "With epsilon = c/n, %s needs n to the power %.3g FOs in all, up to logarithms%s.",
             sweep->name, sweep->exponent, by_theorem ? " (at most)" : "");
    article_finding(article,
                    line->count < 2 || longest < SPAN * line->n[0] ? NOT_JUDGED
                    : !(off <= NEAR)                               ? DISAGREES
                    : off < -NEAR && !by_theorem                   ? AGREES_IN_PART
                                                                   : AGREES,
                    claim,
                    "Fitted exponent %.3f over n = %.0f to %.0f; agreement means %s%.2f of %.3g.%s It is judged over "
                    "a factor of %d in n at least.",
                    line->exponent, line->n[0], longest, by_theorem ? "no more above than " : "within ", NEAR,
                    sweep->exponent,
                    by_theorem ? "" : " Below that is agreement in part: an upper bound that is not reached.", SPAN);
}

/* csvrg against those that the paper says need n^2, at the largest n that both have. */
static void find_fewest(struct article *article, const struct line *lines)
{
    const struct line *csvrg = &lines[0];
    size_t good = 0, all = 0;
    double least = INFINITY;
    for (size_t k = 1; regime_entry(k); k++) {
        const struct regime_sweep *sweep = regime_entry(k);
        const struct line *line = &lines[k];
        if (sweep->stream != MOVING || sweep->exponent < 2 || line->count == 0 || csvrg->count < 2)
            continue;
        double n = line->n[line->count - 1], before = 1;
        for (size_t v = 1; v < csvrg->count; v++) /* between two measured values: a straight line in logarithms */
            if (csvrg->n[v - 1] <= n && n <= csvrg->n[v])
                before = csvrg->fo[v - 1] * pow(csvrg->fo[v] / csvrg->fo[v - 1],
                                                log(n / csvrg->n[v - 1]) / log(csvrg->n[v] / csvrg->n[v - 1]));
        double ratio = line->fo[line->count - 1] / before;
        all++;
        good += ratio > 1;
        least = fmin(least, ratio);
    }
    bool shows = csvrg->count && csvrg->n[csvrg->count - 1] >= SPAN * csvrg->n[0];
    article_finding(article, shows ? verdict_of(good, all) : NOT_JUDGED,
                    "With epsilon = c/n all previous first-order methods need more FOs than CSVRG.",
                    "At the largest n tried with each, sgd, svrg and katyusha need at least %.3g times csvrg's FOs, "
                    "all with the smallest budgets that meet epsilon on the moving instance.",
                    least);
}

/* What holding epsilon costs us at the end of the longest streams. */
static void find_own(struct article *article, const struct line *lines)
{
    for (size_t k = 0; regime_entry(k); k++) {
        const struct regime_sweep *sweep = regime_entry(k);
        const struct line *line = &lines[k];
        if (strncmp(sweep->name, "auto", 4) != 0 || line->count == 0)
            continue;
        article_text(article,
                     "%s, which is not in the paper, proves its epsilon at every stage: on %s it takes %.3g FOs a "
                     "point at n = %.0f, and its largest gap is %.2g epsilon.",
                     sweep->name,
                     sweep->stream == MOVING     ? "the moving instance"
                     : sweep->stream == NEAR_ONE ? "the well-conditioned instance"
                     : sweep->stream == SETTLING ? "the settling instance"
                                                 : "cod-rna",
                     line->share[line->count - 1], line->n[line->count - 1], line->closest);
    }
}

void regime_report(const struct setting *setting, const struct unit *units, struct article *article)
{
    enum { most = 24 };
    struct line lines[most];
    for (size_t k = 0; regime_entry(k); k++)
        lines[k] = line_of(units + k * REGIME_VALUES);
    article_text(article,
                 "The paper was written for epsilon = c/n, where the error of the optimisation is as large as that of "
                 "the statistics: there CSVRG is to need n^(4/3) FOs and all methods before it n^2. Methods without a "
                 "promise get the smallest budget whose mean gap is at most epsilon from the first quarter of the "
                 "stream on; table and auto hold epsilon by themselves, from the first stage on.%s%s",
                 setting->quick ? " With --quick the streams are short." : "",
                 setting->data->path ? "" : " No folder was given: cod-rna is made up.");
    for (enum regime_stream stream = MOVING; stream < REGIME_STREAMS; stream++) {
        article_heading(article, stream == MOVING     ? "Optima that keep moving"
                                 : stream == NEAR_ONE ? "With the theorems' parameters"
                                 : stream == SETTLING ? "An optimum that settles"
                                                      : "Real points");
        write_stream(article, stream, lines);
        for (size_t k = 0; regime_entry(k); k++)
            if (regime_entry(k)->stream == stream && stream <= NEAR_ONE && regime_entry(k)->exponent > 1)
                find_exponent(article, regime_entry(k), &lines[k]);
        if (stream == MOVING)
            find_fewest(article, lines);
    }
    article_text(article,
                 "Where points are independent, as on the last two streams, the optimum settles, an output stays good "
                 "for longer and longer, and exponents are below the worst case's. They are shown, not judged.");
    article_text(article,
                 "The instances have a ball that the paper's constants need and that holds every optimum. In a ball "
                 "auto has the gradient's bound alone and looks at all points whenever that exceeds epsilon; without "
                 "it, it has the curvature's, and sums the gradient of squared loss at a new place without a pass.");
    find_own(article, lines);
}
