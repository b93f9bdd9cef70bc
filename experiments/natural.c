/* natural.c - which methods are natural in the paper's sense, seen by the objective itself.
 *
 * A method is natural if it asks for gradients only at points that it has generated, and generates points only in the linear span of
 * earlier ones and of the gradients that it was given, projected. Since a round may also be one without a query, both together
 * say: every point at which a gradient is asked, and every output, lies in the span of the first point and of all gradients so
 * far. The objective here keeps that span (an orthonormal basis) and looks at every question. Rows are in general position in
 * more coordinates than there are points, so what was not asked cannot be guessed; the domain is a ball around 0, whose
 * projection stays in the span.
 *
 * The second stream is the trap: until its last stage all questions must be asked at 0 (lemma 11), and in it x2 must be 0 until f_k has
 * been asked elsewhere (lemma 12). Two methods that are not natural are there to be caught. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "article.h"
#include "must.h"
#include "runs.h"
#include "statistics.h"
#include "toolkit/draw.h"
#include "toolkit/exit_code.h"
#include "toolkit/output.h"
#include "trap.h"

enum { POINTS = 24, DIMENSION = 40, TRAP_POINTS = 30, LAMBDA_SHARE = 10 };

/* What differs from the span by no more than this share of its length is in it: a basis of so few vectors is orthonormal to 1e-14. */
#define IN_SPAN 1e-9

enum claim { NAMED, OTHER, CONTROL };

static const struct candidate {
    const char *name, *options;
    enum claim claim; /* whether the paper names it as natural */
} candidates[] = {
    {"gd", "method=gd inner=6", NAMED},
    {"sgd", "method=sgd inner=20", NAMED},
    {"sgd-sparse", "method=sgd-sparse inner=20 alpha=0.2", NAMED},
    {"svrg", "method=svrg outer=3 inner=10", NAMED},
    {"saga", "method=saga inner=20", NAMED},
    {"sarah", "method=sarah outer=3 inner=10", NAMED},
    {"katyusha", "method=katyusha outer=3 inner=10", NAMED},
    {"csvrg", "method=csvrg setting=paper inner=20", NAMED},
    {"strsaga", "method=strsaga inner=20", OTHER},
    {"dynasaga", "method=dynasaga inner=20", OTHER},
    {"table", "method=table", OTHER},
    {"refit", "method=refit", OTHER},
    {"adagrad", "each coordinate with a step of its own", CONTROL},
    {"jump", "gradient descent from a point drawn at random", CONTROL},
};

enum { CANDIDATES = sizeof candidates / sizeof candidates[0] };
enum column { METHOD, QUERIES, OUTSIDE, FARTHEST, EARLY, SIDEWAYS };

/* What the objective has seen. */
struct witness {
    size_t dimension, known; /* vectors of the basis */
    double basis[DIMENSION][DIMENSION];
    double queries, outside, farthest; /* questions and outputs; those not in the span; the largest distance from it */
    bool is_trap, in_last_stage, asked_hidden; /* hidden: f_k, away from 0 */
    double early, sideways; /* largest coordinate before the last stage; of x2 in it, f_k not yet asked */
};

static double norm(const double *x, size_t size)
{
    double sum = 0;
    for (size_t c = 0; c < size; c++)
        sum += x[c] * x[c];
    return sqrt(sum);
}

/* What is left of x without its share of the span; twice, so that rounding of the first time goes, too. */
static void take_off_span(const struct witness *witness, double *x)
{
    for (int twice = 0; twice < 2; twice++)
        for (size_t k = 0; k < witness->known; k++) {
            double share = 0;
            for (size_t c = 0; c < witness->dimension; c++)
                share += witness->basis[k][c] * x[c];
            for (size_t c = 0; c < witness->dimension; c++)
                x[c] -= share * witness->basis[k][c];
        }
}

static void look_at_point(struct witness *witness, const double *x)
{
    double rest[DIMENSION], length = norm(x, witness->dimension);
    memcpy(rest, x, witness->dimension * sizeof *rest);
    take_off_span(witness, rest);
    double off = length > 0 ? norm(rest, witness->dimension) / length : 0;
    witness->queries++;
    witness->outside += off > IN_SPAN;
    witness->farthest = fmax(witness->farthest, off);
    if (!witness->is_trap)
        return;
    if (!witness->in_last_stage)
        witness->early = fmax(witness->early, fmax(fabs(x[0]), fabs(x[1])));
    else if (!witness->asked_hidden)
        witness->sideways = fmax(witness->sideways, fabs(x[1]));
}

static void take_gradient(struct witness *witness, const double *gradient)
{
    double rest[DIMENSION], length = norm(gradient, witness->dimension);
    memcpy(rest, gradient, witness->dimension * sizeof *rest);
    take_off_span(witness, rest);
    double off = norm(rest, witness->dimension);
    if (witness->known < witness->dimension && off > IN_SPAN * length) {
        for (size_t c = 0; c < witness->dimension; c++)
            witness->basis[witness->known][c] = rest[c] / off;
        witness->known++;
    }
}

static double score_of(const struct witness *witness, const double *x, const keepfit_point *point)
{
    double sum = -point->target;
    for (size_t c = 0; c < witness->dimension; c++)
        sum += point->row.value[c] * x[c];
    return sum;
}

static int value(void *context, const double *x, const keepfit_point *point, double *value)
{
    double score = score_of(context, x, point);
    *value = score * score;
    return 0;
}

static int gradient(void *context, const double *x, const keepfit_point *point, double *out)
{
    struct witness *witness = context;
    double score = score_of(witness, x, point);
    look_at_point(witness, x);
    for (size_t c = 0; c < witness->dimension; c++)
        out[c] = 2 * score * point->row.value[c];
    take_gradient(witness, out);
    /* f_k of the trap is the one with the row (1,-1) */
    witness->asked_hidden |= witness->is_trap && point->row.value[1] < 0 && norm(x, 2) > 0;
    return 0;
}

static int curvature(void *context, const keepfit_point *point, double *curvature)
{
    double length = norm(point->row.value, ((struct witness *)context)->dimension);
    *curvature = 2 * length * length;
    return 0;
}

static int follow(struct unit *unit, const struct candidate *candidate, struct witness *witness, const char *problem,
                  const keepfit_point *points, size_t count)
{
    const keepfit_objective objective = {sizeof objective, "witness", witness->dimension, witness, value,
                                         gradient,         curvature};
    char options[256];
    keepfit_options *made = NULL;
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    snprintf(options, sizeof options, "%s %s", problem, candidate->options);
    int code = options_start(options, unit->seed, &made);
    if (code == EXIT_DONE && keepfit_fit_create_custom(made, &objective, &fit, &error) != KEEPFIT_OK)
        code = fail_status(error.status, message_of(&error).text);
    keepfit_options_free(made);
    for (size_t j = 0; j < count && code == EXIT_DONE; j++) {
        size_t size = 0;
        witness->in_last_stage = j + 1 == count;
        if (keepfit_fit_push(fit, &points[j]) != KEEPFIT_OK)
            code = fit_failed(unit, fit);
        else
            look_at_point(witness, keepfit_fit_iterate(fit, &size));
    }
    keepfit_fit_free(fit);
    return code;
}

/* The two that are not natural. */
static void follow_control(const struct candidate *candidate, struct witness *witness, const keepfit_point *points,
                           size_t count, uint64_t seed)
{
    double x[DIMENSION] = {0}, squares[DIMENSION] = {0}, g[DIMENSION];
    bool jumps = strcmp(candidate->name, "jump") == 0;
    struct source source = {seed};
    for (size_t c = 0; c < witness->dimension && jumps; c++)
        x[c] = 0.1 * normal(&source);
    for (size_t j = 0; j < count; j++) {
        witness->in_last_stage = j + 1 == count;
        for (size_t u = 0; u <= j; u++) {
            gradient(witness, x, &points[u], g);
            for (size_t c = 0; c < witness->dimension; c++) {
                squares[c] += g[c] * g[c];
                double step = jumps ? 0.02 : squares[c] > 0 ? 0.05 / sqrt(squares[c]) : 0;
                x[c] -= step * g[c];
            }
        }
    }
}

static int watch(struct unit *unit, const struct candidate *candidate, struct witness *witness, const char *problem,
                 const keepfit_point *points, size_t count)
{
    if (candidate->claim != CONTROL)
        return follow(unit, candidate, witness, problem, points, count);
    follow_control(candidate, witness, points, count, unit->seed);
    return EXIT_DONE;
}

static int run(struct unit *unit)
{
    double rows[POINTS][DIMENSION];
    keepfit_point spread[POINTS], trap[TRAP_POINTS];
    struct source source = {unit->seed};
    for (size_t j = 0; j < POINTS; j++) {
        for (size_t c = 0; c < DIMENSION; c++)
            rows[j][c] = normal(&source) / sqrt(DIMENSION);
        spread[j] = (keepfit_point){.row = {DIMENSION, NULL, rows[j]}, .target = 4 * normal(&source), .weight = 1};
    }
    uint64_t k = 1 + draw(&source) % (TRAP_POINTS - 1);
    for (size_t j = 0; j < TRAP_POINTS; j++)
        trap[j] = trap_point(j + 1, k, TRAP_POINTS);
    struct witness *seen = must_allocate(2 * sizeof *seen);
    int code = EXIT_DONE;
    for (size_t m = 0; m < CANDIDATES && code == EXIT_DONE; m++) {
        seen[0] = (struct witness){.dimension = DIMENSION};
        seen[1] = (struct witness){.dimension = 2, .is_trap = true};
        code = watch(unit, &candidates[m], &seen[0], "lambda=0.1 domain=ball:1 epsilon=1e-4", spread, POINTS);
        if (code == EXIT_DONE)
            code = watch(unit, &candidates[m], &seen[1], "lambda=1 domain=box:-1:1 epsilon=1e-9", trap, TRAP_POINTS);
        if (code == EXIT_DONE)
            frame_add(&unit->frame, (double[]){(double)m, seen[0].queries, seen[0].outside, seen[0].farthest,
                                               seen[1].early, seen[1].sideways});
    }
    free(seen);
    return code;
}

void natural_plan(struct plan *plan)
{
    struct unit *unit = plan_unit(plan, 0, &(char){0}, 1);
    snprintf(unit->name, sizeof unit->name, "lower-bound-natural");
    snprintf(unit->key, sizeof unit->key, "lower-bound natural points=%d dimension=%d trap=%d seed=%llu methods=%d",
             POINTS, DIMENSION, TRAP_POINTS, (unsigned long long)unit->seed, CANDIDATES);
    unit->columns = "method,queries,outside,farthest,early,sideways";
    unit->run = run;
    unit->cost = 0.1;
}

/* Verdicts of one kind of candidate: how many there are, and how many were seen as natural, and as staying at 0. */
struct tally {
    size_t all, natural, trapped;
    double queries, farthest;
};

static struct tally tally_of(const struct frame *frame, enum claim claim)
{
    struct tally tally = {0};
    for (size_t m = 0; m < CANDIDATES; m++)
        if (candidates[m].claim == claim) {
            tally.all++;
            tally.natural += frame_at(frame, m, OUTSIDE) == 0;
            tally.trapped += frame_at(frame, m, EARLY) == 0 && frame_at(frame, m, SIDEWAYS) == 0;
            tally.queries += frame_at(frame, m, QUERIES);
            tally.farthest = fmax(tally.farthest, frame_at(frame, m, FARTHEST));
        }
    return tally;
}

static void write_table(const struct frame *frame, struct article *article)
{
    static const char *const kinds[] = {"natural", "not said", "not natural (ours, to be caught)"};
    article_table(article, "method|the paper says|points looked at|of these outside the span|farthest from the "
                           "span|trap: largest |x| before|trap: |x2| before f_k is asked");
    for (size_t m = 0; m < CANDIDATES; m++)
        article_row(article, "%s|%s|%.0f|%.0f|%.1e|%.1e|%.1e", candidates[m].name, kinds[candidates[m].claim],
                    frame_at(frame, m, QUERIES), frame_at(frame, m, OUTSIDE), frame_at(frame, m, FARTHEST),
                    frame_at(frame, m, EARLY), frame_at(frame, m, SIDEWAYS));
    article_table_end(article);
}

void natural_report(const struct unit *units, struct article *article)
{
    const struct frame *frame = &units[0].frame;
    struct tally named = tally_of(frame, NAMED), controls = tally_of(frame, CONTROL);
    article_heading(article, "Which methods are natural");
    article_text(article,
                 "An objective that watches: %d functions in general position in %d coordinates. Each gradient asked "
                 "for, and each output, must lie in the span of the gradients given so far; the share of a point "
                 "outside it is at most %.0e for rounding. And on the trap with %d points all must stay at 0 until "
                 "its last stage, and x2 until f_k is asked.",
                 POINTS, DIMENSION, IN_SPAN, TRAP_POINTS);
    write_table(frame, article);
    article_finding(article, verdict_of(named.natural * (controls.natural == 0), named.all),
                    "GD, SGD, SVRG, SAGA, SARAH, Katyusha and CSVRG are natural first-order methods.",
                    "Of %zu methods (SGD-sparse, too) %zu asked and answered in the span only, at %.0f points, the "
                    "farthest %.1e of its length away; of %zu methods made to be caught %zu were.",
                    named.all, named.natural, named.queries, named.farthest, controls.all,
                    controls.all - controls.natural);
    article_finding(article, verdict_of(named.trapped, named.all),
                    "Natural methods stay at 0 until the trap (lemma 11), and at x2 = 0 until they ask f_k (lemma 12).",
                    "%zu of %zu methods did so, exactly, at every point at which they asked.", named.trapped,
                    named.all);
}
