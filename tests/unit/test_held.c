/* The results of docs/note.md on what holding costs: the drift law, the bound on all FOs, and the number that it predicts, without a
 * fitted constant, against what `refit` needs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "support.h"

/* ---- the drift law ---- */

/* Means of normal numbers: H = 2, S = 4, so c = 1. */
static void test_drift_law(struct tap *tap, size_t runs)
{
    enum { held = 20, end = 30 };
    struct kf_random random;
    kf_random_seed(&random, 5);
    double sum = 0;
    for (size_t run = 0; run < runs; run++) {
        keepfit_fit *fit = fit_from("loss=squared lambda=1e-12 method=exact");
        double one = 1, before = 0;
        size_t size = 0;
        for (size_t j = 1; j <= end; j++) {
            keepfit_point point = {
                .row = {.count = 1, .value = &one}, .target = kf_random_normal(&random), .weight = 1};
            TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
            before = j == held ? keepfit_fit_iterate(fit, &size)[0] : before;
        }
        double moved = keepfit_fit_iterate(fit, &size)[0] - before;
        sum += moved * moved;
        keepfit_fit_free(fit);
    }
    double ratio = sum / (double)runs / (1.0 / held - 1.0 / end), error = sqrt(2 / (double)runs);
    tap_check(tap, fabs(ratio - 1) < 4 * error, "the gap of a held mean is c (1/m - 1/n): %.3f times it, +- %.3f",
              ratio, error);
}

/* ---- the cost theorem ---- */

/* The first stage at which u (1/m - 1/i) > 1; at least the next one. */
static double next_stage(double m, double u)
{
    double rest = 1 / m - 1 / u;
    return rest > 0 ? fmax(m + 1, floor(1 / rest) + 1) : INFINITY;
}

/* The stages of improvements added up; with `random`, later ones than need be. */
static double improvements(double u, double n, struct kf_random *random)
{
    double sum = 0;
    for (double m = 1; m <= n; m = next_stage(m, u)) {
        sum += m > 1 ? m : 0;
        if (random && kf_random_unit(random) < 0.3)
            m = fmin(n, floor(m * (1 + kf_random_unit(random) / 4)));
    }
    return sum;
}

static double cost_bound(double u, double n)
{
    double root = sqrt(u), early = (root + 1) * (root + 1) / 2;
    return n + u + early + u * fmax(0, log(fmin(n, u) / root));
}

static void test_cost_bound(struct tap *tap)
{
    struct kf_random random;
    kf_random_seed(&random, 7);
    double closest = 0;
    for (size_t draw = 0; draw < 3000; draw++) {
        double u = exp(kf_random_unit(&random) * log(1e6)), n = floor(exp(kf_random_unit(&random) * log(1e5))) + 1;
        closest = fmax(closest, improvements(u, n, draw % 2 ? &random : NULL) / cost_bound(u, n));
    }
    tap_check(tap, closest <= 1,
              "improvements cost at most n + u + (sqrt(u)+1)^2/2 + u ln(min(n,u)/sqrt(u)) (%.3f of it)", closest);
    tap_check(tap, closest > 0.5, "which is no more than twice what they may cost");
}

/* ---- the prediction ---- */

struct stream {
    const char *loss;
    size_t features;
    double c; /* tr(H^-1 S)/2: d for squared loss and unit noise, d/2 for a logistic model that is right */
};

static double draw_target(struct kf_random *random, const struct stream *stream, double score)
{
    if (stream->loss[0] == 's')
        return score + kf_random_normal(random);
    return kf_random_unit(random) < 1 / (1 + exp(-score)) ? 1 : -1;
}

static double measure(const struct stream *stream, size_t n, double epsilon)
{
    char text[128];
    struct kf_random random;
    kf_random_seed(&random, 11);
    snprintf(text, sizeof text, "loss=%s lambda=1e-4 method=refit epsilon=%.17g", stream->loss, epsilon);
    keepfit_fit *fit = fit_from(text);
    for (size_t j = 0; j < n; j++) {
        double row[10], score = 0;
        for (size_t k = 0; k < stream->features; k++) {
            row[k] = kf_random_normal(&random);
            score += row[k] / sqrt((double)stream->features);
        }
        keepfit_point point = {.row = {.count = stream->features, .value = row},
                               .target = draw_target(&random, stream, score),
                               .weight = 1};
        TAP_NEED(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
    }
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    keepfit_fit_free(fit);
    return report.missed ? NAN : (double)report.fo;
}

static void test_prediction(struct tap *tap, size_t n)
{
    static const struct stream streams[] = {
        {"squared", 2, 2}, {"squared", 8, 8}, {"logistic", 2, 1}, {"logistic", 5, 2.5}, {"logistic", 10, 5}};
    for (size_t s = 0; s < sizeof streams / sizeof streams[0]; s++) {
        double u = 5 * (double)n, fo = measure(&streams[s], n, streams[s].c / u),
               hope = (double)n + improvements(u, (double)n, NULL);
        tap_check(tap, fo <= 2 * hope && hope <= 2 * fo, "%s, %zu features: %.0f FOs, %.2f times what c predicts",
                  streams[s].loss, streams[s].features, fo, fo / hope);
    }
}

int main(int count, char **words)
{
    struct tap tap = {0};
    bool quick = count > 1 && strcmp(words[1], "quick") == 0;
    test_drift_law(&tap, quick ? 400 : 4000);
    test_cost_bound(&tap);
    test_prediction(&tap, quick ? 500 : 3000);
    return tap_end(&tap);
}
