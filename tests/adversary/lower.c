/* How far the objective may fall below its value at a place: strong convexity, over the domain.
 *
 * For all y in the domain g(y) >= g(x) + v.(y-x) + mu/2 |y-x|^2. What is subtracted is the largest
 * -v.(y-x) - mu/2 |y-x|^2, or for balls and the simplex a Lagrangian of it, which is no smaller whatever its multiplier.
 * Each v is only known up to its error e, which costs |e.(y-x)| at most.
 *
 * A free intercept has no mu. For losses of one score tangents are taken with all scores moved back and forth a little, so that
 * the intercept's slope is below 0 there and above 0 here. The mean of the two that has none proves the rest, whose v is what it
 * is at the place up to the change of the slopes between the two. For softmax a best intercept cannot be far, since no loss may exceed all
 * of the objective. */
#include "reference.h"

#include <math.h>
#include <string.h>

struct fall {
    const struct reference *reference;
    const quad *x, *v;
    double error[SIZE_MOST];
    quad slack; /* of intercepts, and of rounding */
};

static quad fall_whole(const struct fall *fall)
{
    quad sum = 0;
    for (size_t k = fall->reference->held; k < fall->reference->size; k++) {
        quad most = quad_size(fall->v[k]) + fall->error[k];
        sum += most * most;
    }
    return sum / (4 * fall->reference->lambda);
}

/* Of one coordinate that moves from x to y. */
static quad fall_of(const struct fall *fall, quad v, quad x, quad y)
{
    return -(y - x) * (v + fall->reference->lambda * (y - x));
}

static quad fall_box(const struct fall *fall)
{
    const struct reference *reference = fall->reference;
    quad sum = 0, width = reference->high - reference->low;
    for (size_t k = reference->held; k < reference->size; k++) {
        quad y = fall->x[k] - fall->v[k] / (2 * reference->lambda);
        y = quad_most(reference->low, quad_least(reference->high, y));
        sum += fall_of(fall, fall->v[k], fall->x[k], y);
        sum += (fall->error[k] + 32 * QUAD_ROUNDING * quad_size(fall->v[k])) * width;
    }
    return sum;
}

/* The sum is the same for all y, so any number may be added to all of v. */
static quad fall_simplex(const struct fall *fall)
{
    const struct reference *reference = fall->reference;
    quad mu = 2 * reference->lambda, u[SIZE_MOST], sum = 0, most = 0;
    size_t held = reference->held, count = reference->size - held;
    for (size_t k = 0; k < count; k++)
        u[k] = mu * fall->x[held + k] - fall->v[held + k]; /* all times mu: nothing overflows where it is tiny */
    for (size_t k = 0; k < count; k++)
        u[k] /= mu;
    quad shift = mu * reference_threshold(count, u);
    for (size_t k = held; k < reference->size; k++) {
        quad v = fall->v[k] + shift, y = quad_most(0, fall->x[k] - v / mu);
        sum += fall_of(fall, v, fall->x[k], y);
        most = quad_most(most, fall->error[k] + 32 * QUAD_ROUNDING * (quad_size(fall->v[k]) + quad_size(shift)));
    }
    return sum + 4 * most;
}

static quad fall_ball(const struct fall *fall)
{
    const struct reference *reference = fall->reference;
    quad mu = 2 * reference->lambda, square = 0, radius = reference->high, sum = 0, norms = 0, errors = 0;
    for (size_t k = reference->held; k < reference->size; k++) {
        quad part = mu * fall->x[k] - fall->v[k];
        square += part * part;
    }
    quad both = quad_most(mu, sqrtq(square) / radius), after = 0;
    for (size_t k = reference->held; k < reference->size; k++) {
        quad y = (mu * fall->x[k] - fall->v[k]) / both;
        sum += fall_of(fall, fall->v[k], fall->x[k], y);
        after += y * y;
        norms += quad_size(fall->v[k]) + mu * radius;
        errors += fall->error[k];
    }
    sum -= (both - mu) / 2 * (after - radius * radius);
    return sum + (errors + 64 * QUAD_ROUNDING * (norms + both * radius)) * 2 * radius;
}

static quad most_fall(const struct fall *fall)
{
    switch (fall->reference->domain) {
    case BALL:
        return fall_ball(fall);
    case BOX:
        return fall_box(fall);
    case SIMPLEX:
        return fall_simplex(fall);
    default:
        return fall_whole(fall);
    }
}

/* ---- free intercepts ---- */

#define DOUBLINGS_MOST 150

/* The slope in the intercept with all scores moved by `by`, and what summing it is off by. */
static quad slope_at(const struct reference *reference, const struct place *place, quad by, quad *slopes, quad *off)
{
    quad sum = 0, sizes = 0;
    for (size_t j = 0; j < reference->count; j++) {
        slopes[j] = reference_slope(reference, j, place->score[j][0] + by);
        sum += reference->share[j] * slopes[j];
        sizes += reference->share[j] * quad_size(slopes[j]);
    }
    *off = (quad)(reference->count + 16) * QUAD_ROUNDING * sizes;
    return sum;
}

/* False: no two places with slopes of different signs were found. */
static bool settle_intercept(struct fall *fall, const struct place *place)
{
    const struct reference *reference = fall->reference;
    quad below[POINTS_MOST], above[POINTS_MOST], curve = place->hessian[0], off;
    quad back = 64 * QUAD_ROUNDING * (1 + quad_size(place->x[0])), forth;
    if (curve > 0)
        back += 2 * (quad_size(place->gradient[0]) + place->gradient_error[0]) / curve;
    forth = back;
    for (int k = 0; k < DOUBLINGS_MOST && slope_at(reference, place, -back, below, &off) > -off; k++)
        back *= 4;
    for (int k = 0; k < DOUBLINGS_MOST && slope_at(reference, place, forth, above, &off) < off; k++)
        forth *= 4;
    bool good = slope_at(reference, place, -back, below, &off) <= -off;
    if (!good || slope_at(reference, place, forth, above, &off) < off)
        return false;
    for (size_t j = 0; j < reference->count; j++) {
        quad change = reference->share[j] * quad_size(above[j] - below[j]);
        fall->slack += change * quad_most(back, forth);
        for (size_t s = 1; s < reference->slots; s++)
            fall->error[s] += 1.001 * (double)change * (double)quad_size(reference->row[j][s]);
    }
    return true;
}

static quad norm_most(const struct reference *reference, quad value)
{
    quad norm = sqrtq(value / reference->lambda);
    if (reference->domain == BALL)
        return quad_least(norm, reference->high);
    if (reference->domain == SIMPLEX)
        return 1;
    return norm;
}

/* The intercepts of two classes at an optimum differ by this at most: the first's is larger. */
static quad difference_most(const struct reference *reference, quad value, size_t other)
{
    quad least = INFINITY;
    for (size_t j = 0; j < reference->count; j++) {
        if (reference->class[j] != other)
            continue;
        quad square = 0;
        for (size_t s = 1; s < reference->slots; s++)
            square += reference->row[j][s] * reference->row[j][s];
        least = quad_least(least, value / reference->share[j] + sqrtq(2 * square) * norm_most(reference, value));
    }
    return least;
}

static bool settle_intercepts(struct fall *fall, const struct place *place)
{
    const struct reference *reference = fall->reference;
    for (size_t k = 1; k < reference->outputs; k++) { /* the first stays where it is */
        quad most = quad_most(difference_most(reference, place->value, 0), difference_most(reference, place->value, k));
        if (!(most < (quad)1e300))
            return false;
        most += quad_size(place->x[k] - place->x[0]);
        fall->slack += (quad_size(place->gradient[k]) + place->gradient_error[k]) * most;
    }
    return true;
}

quad reference_lower(const struct reference *reference, const struct place *place)
{
    struct fall fall = {
        .reference = reference, .x = place->x, .v = place->gradient, .slack = 2 * (quad)place->value_error};
    memcpy(fall.error, place->gradient_error, sizeof fall.error);
    if (reference->free && reference->loss == SOFTMAX && !settle_intercepts(&fall, place))
        return -INFINITY;
    if (reference->free && reference->loss != SOFTMAX && !settle_intercept(&fall, place))
        return -INFINITY;
    return place->value - (most_fall(&fall) + fall.slack) * (1 + (quad)1e-9);
}
