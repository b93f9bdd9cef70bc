/* theorems_report.c - measured over bound, for each lemma. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "article.h"
#include "instance.h"
#include "must.h"
#include "statistics.h"
#include "theorems.h"

/* One case: means over the seeds by stage, and what follows from them. */
struct outcome {
    uint64_t n;
    double *mean[THEOREMS_WIDTH]; /* [stage-1] */
    double *stage, *variance_bound, *gap_bound;
    double bias, path, variance, convergence, next, later, step,
        sharp;       /* the largest: bias as it is, the others over their bounds */
    double full, fo; /* number of stages with full gradients; FOs */
    bool same_fo;    /* the library's count is this program's at every stage of every seed */
    double library;  /* mean gap of the library over that of this program, last half */
};

static void take_means(struct outcome *outcome, const struct unit *units, size_t seeds)
{
    for (size_t c = 0; c < THEOREMS_WIDTH; c++) {
        outcome->mean[c] = must_allocate(outcome->n * sizeof(double));
        for (size_t k = 0; k < outcome->n; k++)
            for (size_t s = 0; s < seeds; s++)
                outcome->mean[c][k] += frame_at(&units[s].frame, k, c) / (double)seeds;
    }
    outcome->same_fo = true;
    for (size_t s = 0; s < seeds; s++)
        for (size_t k = 1; k < outcome->n; k++) {
            const struct frame *frame = &units[s].frame;
            outcome->bias = fmax(outcome->bias, frame_at(frame, k, THEOREMS_BIAS));
            outcome->path =
                fmax(outcome->path, frame_at(frame, k, THEOREMS_VARIANCE) / frame_at(frame, k, THEOREMS_PATH));
            outcome->later = fmax(outcome->later, frame_at(frame, k, THEOREMS_LATER));
            outcome->step = fmax(outcome->step, frame_at(frame, k, THEOREMS_STEP));
            outcome->sharp = fmax(outcome->sharp, frame_at(frame, k, THEOREMS_SHARP));
            outcome->same_fo &= frame_at(frame, k, THEOREMS_FO) == frame_at(frame, k, THEOREMS_LIBRARY_FO);
        }
}

/* Lemma on the variance: E |e - grad|^2 <= 8 L^2 E|x_t - x*|^2 + 64 (L G alpha/mu)^2 + 16 L^2 E|x_prev - x*_prev|^2. */
static void bound_variance(struct outcome *outcome, const struct theorems_case *parameters)
{
    struct instance instance = instance_make(parameters->condition);
    double square = instance.smoothness * instance.smoothness;
    double drift = instance.lipschitz * parameters->alpha / instance.convexity;
    for (size_t k = 1; k < outcome->n; k++) {
        outcome->variance_bound[k] = 8 * square * outcome->mean[THEOREMS_DISTANCE][k] + 64 * square * drift * drift +
                                     16 * square * outcome->mean[THEOREMS_ANCHOR][k];
        outcome->variance = fmax(outcome->variance, outcome->mean[THEOREMS_VARIANCE][k] / outcome->variance_bound[k]);
    }
}

/* Lemma on the inner loop, with epsilon the largest mean gap of the stages before and Z the sum of the weights. */
static void bound_gap(struct outcome *outcome, const struct theorems_case *parameters)
{
    struct instance instance = instance_make(parameters->condition);
    double mu = instance.convexity, slope = instance.lipschitz, alpha = parameters->alpha,
           steps = (double)parameters->inner;
    double beta = 72 * pow(instance.smoothness / mu, 2), kappa = 6 * instance.smoothness / mu;
    double sum = steps * (steps - 1) / 2 + steps * (beta - 1), epsilon = outcome->mean[THEOREMS_GAP][0];
    for (size_t k = 1; k < outcome->n; k++) {
        double start = mu / 8 * (beta - 1) * (beta - 2) * outcome->mean[THEOREMS_START][k];
        double noise = kappa * kappa * (slope * slope * alpha * alpha / mu + 2 * epsilon) * steps;
        outcome->gap_bound[k] = (start + noise) / sum;
        outcome->convergence = fmax(outcome->convergence, outcome->mean[THEOREMS_GAP][k] / outcome->gap_bound[k]);
        epsilon = fmax(epsilon, outcome->mean[THEOREMS_GAP][k]);
    }
}

static struct outcome outcome_of(const struct theorems_case *parameters, const struct unit *units, size_t seeds)
{
    struct outcome outcome = {.n = units[0].frame.rows};
    size_t n = outcome.n;
    double own = 0, library = 0;
    take_means(&outcome, units, seeds);
    outcome.stage = outcome.mean[THEOREMS_STAGE];
    outcome.variance_bound = must_allocate(n * sizeof(double));
    outcome.gap_bound = must_allocate(n * sizeof(double));
    bound_variance(&outcome, parameters);
    bound_gap(&outcome, parameters);
    for (size_t k = 0; k < n; k++) {
        outcome.next = fmax(outcome.next, outcome.mean[THEOREMS_NEXT][k]);
        outcome.full += outcome.mean[THEOREMS_FULL][k];
        own += k >= n / 2 ? outcome.mean[THEOREMS_GAP][k] : 0;
        library += k >= n / 2 ? outcome.mean[THEOREMS_LIBRARY_GAP][k] : 0;
    }
    outcome.fo = outcome.mean[THEOREMS_FO][n - 1];
    outcome.library = library / own;
    return outcome;
}

static void free_outcome(struct outcome *outcome)
{
    for (size_t c = 0; c < THEOREMS_WIDTH; c++)
        free(outcome->mean[c]);
    free(outcome->variance_bound);
    free(outcome->gap_bound);
}

static void draw_pair(struct article *article, const struct theorems_case *parameters, const char *what,
                      const char *title, const struct outcome *outcome, const double *measured, const double *bound,
                      const char *label)
{
    char name[64], full_title[128];
    struct plot_series series[] = {{"measured", outcome->n - 1, outcome->stage + 1, measured + 1, NULL, NULL},
                                   {"the lemma's bound", outcome->n - 1, outcome->stage + 1, bound + 1, NULL, NULL}};
    snprintf(name, sizeof name, "%s-%s", what, parameters->name);
    snprintf(full_title, sizeof full_title, "%s, L/mu = %g", title, parameters->condition);
    struct plot plot = {.title = full_title,
                        .x_label = "stage",
                        .y_label = label,
                        .log_x = true,
                        .log_y = true,
                        .count = 2,
                        .series = series,
                        .reference = NAN,
                        .caption = "Mean over the seeds."};
    article_figure(article, name, &plot);
}

static void find_bias(struct article *article, const struct outcome *near, const struct outcome *four)
{
    article_finding(
        article, verdict_of((near->bias < 1e-12) + (four->bias < 1e-12), 2), "The estimator is unbiased (lemma 2).",
        "Over all u, at one step of each stage of each seed, its mean differs from the gradient by at most %.1e and "
        "%.1e (L/mu = 1.1 and 4). Agreement means rounding, 1e-12.",
        near->bias, four->bias);
}

static void find_variance(struct article *article, const struct outcome *near, const struct outcome *four)
{
    article_finding(
        article, verdict_of((near->variance <= 1) + (four->variance <= 1), 2),
        "The estimator's variance is at most 8L^2 E|x_t-x*|^2 + 64(LG alpha/mu)^2 + 16L^2 E|x_prev-x*_prev|^2 (lemma "
        "3).",
        "Variance over bound: at most %.2g and %.2g; on single paths, over 8L^2(|x_t-x*|^2 + |x*-x_prev|^2), at most "
        "%.2g and %.2g.",
        near->variance, four->variance, near->path, four->path);
}

static void find_next(struct article *article, const struct outcome *near, const struct outcome *four)
{
    article_finding(article, verdict_of((near->next <= 1) + (four->next <= 1), 2),
                    "Optima move slowly: |x*_{i+j} - x*_i| <= 2jG/(mu(2i+j)) (lemma 7).",
                    "Distance over bound: at most %.2g and %.2g over all i and j = 1, 2, 4, ...", near->next,
                    four->next);
}

static void find_later(struct article *article, const struct outcome *near, const struct outcome *four)
{
    article_finding(article, verdict_of((near->later <= 1) + (four->later <= 1), 2),
                    "Outputs stay near later optima: |x_j - x*_i|^2 <= (8/mu^2)(G(i-j)/(i+j))^2 + 2|x_j - x*_j|^2 "
                    "(lemma 6).",
                    "Distance over bound: at most %.2g and %.2g over all stages i, j = i-1, i-2, i-4, ..., and seeds.",
                    near->later, four->later);
}

static void find_step(struct article *article, const struct outcome *near, const struct outcome *four)
{
    article_finding(article, verdict_of((near->step <= 1) + (four->step <= 1), 2),
                    "One projected step: E g_i(x_{t+1}) - g_i(x*) <= E [(9/16) s|e - grad|^2 + (1-mu s)/(2s)|x* - "
                    "x_t|^2 - |x* - x_{t+1}|^2/(2s)], s the step (lemma 9).",
                    "Over all u, at one step of each stage of each seed: gap over bound at most %.4f and %.4f; with "
                    "1/(2(1 - sL)) for 9/16, as in the lemma that it comes from (lemma 10), at most %.4f and %.4f.",
                    near->step, four->step, near->sharp, four->sharp);
}

static void find_convergence(struct article *article, const struct outcome *near, const struct outcome *four)
{
    article_finding(
        article, verdict_of((near->convergence <= 1) + (four->convergence <= 1), 2),
        "The inner loop's expected gap is at most its convergence bound (with the weights' sum as Z; lemma 8).",
        "Mean gap over bound: at most %.2g and %.2g over all stages.", near->convergence, four->convergence);
}

static void write_counts(struct article *article, const struct outcome *near, const struct outcome *four)
{
    double n = (double)near->n, passes[2], fos[2];
    const struct outcome *both[2] = {near, four};
    size_t good = 0;
    for (size_t c = 0; c < 2; c++) {
        double stages = ceil(log(n) / theorems_cases[c].alpha);
        passes[c] = both[c]->full / stages;
        fos[c] = both[c]->fo / (3 * n * (double)theorems_cases[c].inner + 2 * n * stages);
        good += passes[c] <= 1 && fos[c] <= 1;
    }
    article_finding(
        article, verdict_of(good, 2),
        "Full gradients are computed in at most ceil(log n/alpha) stages (lemma 1), and there are at most 3 sum T_i + "
        "2n ceil(log n/alpha) FOs (corollary 1).",
        "Stages with full gradients over the bound: %.2f and %.2f; FOs over the bound: %.2f and %.2f.", passes[0],
        passes[1], fos[0], fos[1]);
    article_text(article,
                 "These figures come from a second implementation of CSVRG, written from the paper without the "
                 "library. The library ran "
                 "beside it with the same parameters: its FOs are %s at every stage of every seed, and its mean gap "
                 "over the last "
                 "half is %.3f and %.3f times as large (the two draw different samples).",
                 near->same_fo && four->same_fo ? "the same" : "NOT the same", near->library, four->library);
}

void theorems_report(const struct setting *setting, const struct unit *units, struct article *article)
{
    struct outcome outcomes[THEOREMS_CASES];
    size_t seeds = theorems_seeds(setting);
    article_text(article,
                 "The lemmas behind the theorem, each measured against its bound on the moving instance: %llu points, "
                 "%zu seeds for the "
                 "method's choices, expectations over u by enumeration. alpha = %g; T = %llu and %llu.",
                 (unsigned long long)theorems_points(setting), seeds, theorems_cases[0].alpha,
                 (unsigned long long)theorems_cases[0].inner, (unsigned long long)theorems_cases[1].inner);
    struct outcome *near = &outcomes[0], *four = &outcomes[1];
    for (size_t c = 0; c < THEOREMS_CASES; c++)
        outcomes[c] = outcome_of(&theorems_cases[c], units + c * seeds, seeds);
    for (size_t c = 0; c < THEOREMS_CASES; c++)
        draw_pair(article, &theorems_cases[c], "variance", "Variance of the estimator", &outcomes[c],
                  outcomes[c].mean[THEOREMS_VARIANCE], outcomes[c].variance_bound, "variance");
    find_variance(article, near, four);
    find_bias(article, near, four);
    for (size_t c = 0; c < THEOREMS_CASES; c++)
        draw_pair(article, &theorems_cases[c], "convergence", "Gap after the inner loop", &outcomes[c],
                  outcomes[c].mean[THEOREMS_GAP], outcomes[c].gap_bound, "gap");
    find_convergence(article, near, four);
    find_next(article, near, four);
    find_later(article, near, four);
    find_step(article, near, four);
    write_counts(article, near, four);
    for (size_t c = 0; c < THEOREMS_CASES; c++)
        free_outcome(&outcomes[c]);
}
