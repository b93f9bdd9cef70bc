#include "domain/domain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "kernels/kernels.h"

static void whole_project(const struct kf_domain *domain, size_t count, double *x, double *scratch)
{
    (void)domain, (void)count, (void)x, (void)scratch;
}

static double whole_extent(const struct kf_domain *domain, size_t count)
{
    (void)domain, (void)count;
    return INFINITY;
}

static void ball_project(const struct kf_domain *domain, size_t count, double *x, double *scratch)
{
    (void)scratch;
    double norm = sqrt(kf_square(count, x));
    if (norm > domain->first)
        kf_scale(count, domain->first / norm, x);
}

static double ball_radius(const struct kf_domain *domain, size_t count)
{
    (void)count;
    return domain->first;
}

static double ball_diameter(const struct kf_domain *domain, size_t count)
{
    (void)count;
    return 2 * domain->first;
}

static void box_project(const struct kf_domain *domain, size_t count, double *x, double *scratch)
{
    (void)scratch;
    for (size_t k = 0; k < count; k++)
        x[k] = x[k] < domain->first ? domain->first : x[k] > domain->second ? domain->second : x[k];
}

static double box_radius(const struct kf_domain *domain, size_t count)
{
    return sqrt((double)count) * fmax(fabs(domain->first), fabs(domain->second));
}

static double box_diameter(const struct kf_domain *domain, size_t count)
{
    return sqrt((double)count) * (domain->second - domain->first);
}

static int descending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left < right) - (left > right);
}

/* The nearest point is max(x - t, 0) with the t that makes it sum to 1: with x sorted downwards, t follows from the
 * longest prefix whose members all stay positive. O(d log d). Coordinates are taken relative to the largest, which changes
 * nothing but keeps the digits when all are large. */
static void simplex_project(const struct kf_domain *domain, size_t count, double *x, double *scratch)
{
    (void)domain;
    if (count == 0)
        return;
    memcpy(scratch, x, count * sizeof *x);
    qsort(scratch, count, sizeof *scratch, descending);
    double top = scratch[0], sum = 0, threshold = -1;
    for (size_t k = 0; k < count; k++) {
        double below = scratch[k] - top;
        sum += below;
        double candidate = (sum - 1) / (double)(k + 1);
        if (below <= candidate)
            break;
        threshold = candidate;
    }
    for (size_t k = 0; k < count; k++)
        x[k] = fmax(x[k] - top - threshold, 0);
}

static double simplex_radius(const struct kf_domain *domain, size_t count)
{
    (void)domain, (void)count;
    return 1;
}

static double simplex_diameter(const struct kf_domain *domain, size_t count)
{
    (void)domain;
    return count < 2 ? 0 : sqrt(2);
}

static double box_lowest(const struct kf_domain *domain)
{
    return domain->first;
}

static double box_highest(const struct kf_domain *domain)
{
    return domain->second;
}

static double simplex_lowest(const struct kf_domain *domain)
{
    (void)domain;
    return 0;
}

static double simplex_highest(const struct kf_domain *domain)
{
    (void)domain;
    return INFINITY; /* 1 follows from the sum */
}

/* ---- rounding, in units of 2^-53, and supports ---- */

#define UNIT 0x1p-53 /* proof: "Theorem 20 (gradient bound in numbers)" */

static double none_lost(const struct kf_domain *domain, size_t count)
{
    (void)domain, (void)count;
    return 0; /* nothing is computed, or only compared */
}

/* The norm is a sum of squares, and what scales x a quotient: whoever is moved lands within so much of the sphere's right point. */
static double ball_rounding(const struct kf_domain *domain, size_t count)
{
    return ((double)count + 8) * UNIT * domain->first;
}

/* Those that stay lie within 1 of the largest, so the threshold comes from a sum of numbers below 1; each is off by that and by three
 * operations of its own. */
static double simplex_rounding(const struct kf_domain *domain, size_t count)
{
    (void)domain;
    return sqrt((double)count) * (2 * (double)count + 16) * UNIT;
}

static double whole_support(const struct kf_domain *domain, size_t count, const double *v)
{
    (void)domain, (void)count, (void)v;
    return INFINITY;
}

static double ball_support(const struct kf_domain *domain, size_t count, const double *v)
{
    return domain->first * kf_norm(count, v);
}

static double box_support(const struct kf_domain *domain, size_t count, const double *v)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += fmax(-v[k] * domain->first, -v[k] * domain->second);
    return sum;
}

static double simplex_support(const struct kf_domain *domain, size_t count, const double *v)
{
    (void)domain;
    double most = count ? -v[0] : 0;
    for (size_t k = 1; k < count; k++)
        most = fmax(most, -v[k]);
    return most;
}

static const struct kf_domain_type types[] = {
    {
        .name = "none",
        .form = "none",
        .summary = "the whole space",
        .project = whole_project,
        .radius = whole_extent,
        .diameter = whole_extent,
        .rounding = none_lost,
        .support = whole_support,
    },
    {
        .name = "ball",
        .form = "ball:R",
        .summary = "Euclidean norm at most R",
        .numbers = 1,
        .project = ball_project,
        .radius = ball_radius,
        .diameter = ball_diameter,
        .rounding = ball_rounding,
        .support = ball_support,
    },
    {
        .name = "box",
        .form = "box:LO:HI",
        .summary = "every coordinate between LO and HI (a step costs the dimension)",
        .numbers = 2,
        .project = box_project,
        .radius = box_radius,
        .diameter = box_diameter,
        .rounding = none_lost,
        .support = box_support,
        .lowest = box_lowest,
        .highest = box_highest,
    },
    {
        .name = "simplex",
        .form = "simplex",
        .summary = "coordinates >= 0 that sum to 1 (a step costs the dimension)",
        .project = simplex_project,
        .radius = simplex_radius,
        .diameter = simplex_diameter,
        .rounding = simplex_rounding,
        .support = simplex_support,
        .lowest = simplex_lowest,
        .highest = simplex_highest,
        .constant_sum = true,
    },
};

const struct kf_domain_type *kf_domain_entry(size_t k)
{
    return k < sizeof types / sizeof types[0] ? &types[k] : NULL;
}

static keepfit_status refuse(const char *text, keepfit_error *error)
{
    keepfit_guess guess = {.word = text};
    for (size_t k = 0; kf_domain_entry(k); k++)
        keepfit_guess_offer(&guess, kf_domain_entry(k)->form);
    return kf_fail(error, KEEPFIT_USAGE,
                   "{domain}: '%s' is none of none, ball:R with R > 0, box:LO:HI with LO < HI, simplex%s", text,
                   keepfit_guess_hint(&guess, ""));
}

static bool read_number(const char **text, double *number)
{
    const char *end = *text + strcspn(*text, ":"), *stop;
    if (kf_read_real(*text, end, number, &stop) != KF_NUMBER_OK || stop != end)
        return false;
    *text = *end ? end + 1 : end;
    return true;
}

keepfit_status kf_domain_read(struct kf_domain *domain, const char *text, keepfit_error *error)
{
    size_t length = strcspn(text, ":");
    const struct kf_domain_type *type = NULL;
    for (size_t k = 0; kf_domain_entry(k); k++)
        if (strlen(types[k].name) == length && strncmp(types[k].name, text, length) == 0)
            type = &types[k];
    if (!type)
        return refuse(text, error);
    double numbers[2] = {0, 0};
    const char *at = text[length] ? text + length + 1 : text + length;
    if ((text[length] == ':') != (type->numbers > 0))
        return refuse(text, error);
    for (size_t k = 0; k < type->numbers; k++)
        if (!read_number(&at, &numbers[k]))
            return refuse(text, error);
    bool sound =
        type->numbers == 0 || (type->numbers == 1 && numbers[0] > 0) || (type->numbers == 2 && numbers[0] < numbers[1]);
    if (*at || !sound)
        return refuse(text, error);
    *domain = (struct kf_domain){.type = type, .first = numbers[0], .second = numbers[1]};
    return KEEPFIT_OK;
}

bool kf_domain_is_whole(const struct kf_domain *domain)
{
    return domain->type == &types[0];
}
