/* Projections: inside D, idempotent, and closest, by the variational inequality (x - Px).(y - Px) <= 0 for all y in D and
 * against brute force. */
#include <string.h>

#include "domain/domain.h"
#include "kernels/kernels.h"
#include "support.h"

static bool inside(const char *name, const double *x, size_t count)
{
    double sum = 0, square = 0, least = INFINITY, most = -INFINITY;
    for (size_t k = 0; k < count; k++) {
        sum += x[k];
        square += x[k] * x[k];
        least = fmin(least, x[k]);
        most = fmax(most, x[k]);
    }
    if (strncmp(name, "ball", 4) == 0)
        return square <= 0.7 * 0.7 * (1 + 1e-12);
    if (strncmp(name, "box", 3) == 0)
        return least >= -0.2 && most <= 0.5;
    if (strcmp(name, "simplex") == 0)
        return least >= 0 && fabs(sum - 1) < 1e-12;
    return true;
}

/* A random point of D: project a random point, then mix with another to leave the boundary now and then. */
static void random_member(const struct kf_domain *domain, size_t count, double *y, double *scratch,
                          struct kf_random *random)
{
    for (size_t k = 0; k < count; k++)
        y[k] = 2 * kf_random_normal(random);
    domain->type->project(domain, count, y, scratch);
}

static void test_projection(struct tap *tap, const char *text)
{
    struct kf_domain domain;
    struct kf_random random;
    TAP_NEED(kf_domain_read(&domain, text, NULL) == KEEPFIT_OK);
    kf_random_seed(&random, 4);
    bool in = true, again = true, closest = true, spread = true;
    for (int trial = 0; trial < 2000; trial++) {
        double x[9], p[9], q[9], y[9], scratch[9];
        size_t count = 1 + kf_random_below(&random, 8);
        double scale = trial % 10 == 0 ? 1e6 : 1;
        for (size_t k = 0; k < count; k++)
            x[k] = p[k] = scale * kf_random_normal(&random);
        domain.type->project(&domain, count, p, scratch);
        in &= inside(text, p, count);
        memcpy(q, p, sizeof q);
        domain.type->project(&domain, count, q, scratch);
        double moved = 0;
        for (size_t k = 0; k < count; k++)
            moved = fmax(moved, fabs(q[k] - p[k]));
        again &= moved <= 1e-14;
        for (int other = 0; other < 20; other++) {
            random_member(&domain, count, y, scratch, &random);
            double angle = 0, size = 0;
            for (size_t k = 0; k < count; k++) {
                angle += (x[k] - p[k]) * (y[k] - p[k]);
                size += fabs((x[k] - p[k]) * (y[k] - p[k]));
            }
            closest &= angle <= 1e-9 * fmax(1, size);
            for (size_t k = 0; k < count; k++)
                y[k] -= p[k];
            double diameter = domain.type->diameter(&domain, count);
            spread &= sqrt(kf_square(count, y)) <= diameter * (1 + 1e-12) + 1e-15;
        }
    }
    tap_check(tap, in, "%s: projections lie inside", text);
    tap_check(tap, again, "%s: projecting twice is projecting once", text);
    tap_check(tap, closest, "%s: no point of the domain is closer", text);
    tap_check(tap, spread, "%s: no two points are further apart than the diameter", text);
}

/* The nearest of a fine grid over the two-dimensional domain is no nearer than the projection. */
static void test_brute_force(struct tap *tap, const char *text)
{
    struct kf_domain domain;
    struct kf_random random;
    TAP_NEED(kf_domain_read(&domain, text, NULL) == KEEPFIT_OK);
    kf_random_seed(&random, 8);
    bool nearest = true;
    for (int trial = 0; trial < 20; trial++) {
        double x[2] = {kf_random_normal(&random), kf_random_normal(&random)}, p[2] = {x[0], x[1]}, scratch[2];
        domain.type->project(&domain, 2, p, scratch);
        double own = hypot(x[0] - p[0], x[1] - p[1]), best = INFINITY;
        for (int a = -200; a <= 200; a++)
            for (int b = -200; b <= 200; b++) {
                double y[2] = {a / 200.0, b / 200.0};
                if (inside(text, y, 2))
                    best = fmin(best, hypot(x[0] - y[0], x[1] - y[1]));
            }
        nearest &= own <= best + 1e-12 && own >= best - 0.01;
    }
    tap_check(tap, nearest, "%s: a grid search finds nothing nearer", text);
}

int main(void)
{
    struct tap tap = {0};
    static const char *const good[] = {"none", "ball:0.7", "box:-0.2:0.5", "simplex"};
    for (size_t k = 0; k < 4; k++)
        test_projection(&tap, good[k]);
    for (size_t k = 1; k < 4; k++)
        test_brute_force(&tap, good[k]);
    static const char *const bad[] = {"",        "cube",      "ball",     "ball:",    "ball:0",
                                      "ball:-1", "ball:x",    "ball:1:2", "box:1",    "box:1:1",
                                      "box:2:1", "simplex:1", "none:1",   "ball:nan", "ball:1x"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        struct kf_domain domain;
        keepfit_error error = {.struct_size = sizeof error};
        tap_check(&tap, kf_domain_read(&domain, bad[k], &error) == KEEPFIT_USAGE, "domain '%s' is refused", bad[k]);
    }
    return tap_end(&tap);
}
