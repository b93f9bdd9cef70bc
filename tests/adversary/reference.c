#include "reference.h"

#include <math.h>
#include <string.h>

void reference_centre(struct reference *reference)
{
    memset(reference->centre, 0, sizeof reference->centre);
    if (!reference->free)
        return;
    for (size_t s = 1; s < reference->slots; s++) {
        quad mean = 0;
        for (size_t j = 0; j < reference->count; j++)
            mean += reference->share[j] * reference->row[j][s];
        reference->centre[s] = (double)mean; /* few bits, so that differences are exact */
        for (size_t j = 0; j < reference->count; j++)
            reference->row[j][s] -= reference->centre[s];
    }
}

static void shift(const struct reference *reference, quad sign, quad *x)
{
    size_t outputs = reference->outputs;
    for (size_t s = 1; s < reference->slots && reference->free; s++)
        for (size_t k = 0; k < outputs; k++)
            x[k] += sign * reference->centre[s] * x[s * outputs + k];
}

void reference_enter(const struct reference *reference, quad *x)
{
    shift(reference, 1, x);
}

void reference_leave(const struct reference *reference, quad *x)
{
    shift(reference, -1, x);
}

/* ---- losses ---- */

struct parts {
    quad value, slope[OUTPUTS_MOST], curve[OUTPUTS_MOST * OUTPUTS_MOST];
};

static void squared(quad z, quad b, struct parts *parts)
{
    parts->value = (z - b) * (z - b);
    parts->slope[0] = 2 * (z - b);
    parts->curve[0] = 2;
}

static void logistic(quad z, quad b, struct parts *parts)
{
    quad margin = b * z, small = expq(-quad_size(margin)), part = 1 / (1 + small);
    parts->value = log1pq(small) + (margin < 0 ? -margin : 0);
    parts->slope[0] = -b * (margin > 0 ? small * part : part);
    parts->curve[0] = small * part * part;
}

static void huber(quad z, quad b, quad delta, struct parts *parts)
{
    quad r = z - b;
    bool near = quad_size(r) <= delta;
    parts->value = near ? r * r : delta * (2 * quad_size(r) - delta);
    parts->slope[0] = near ? 2 * r : r > 0 ? 2 * delta : -2 * delta;
    parts->curve[0] = near ? 2 : 0;
}

static void hinge(quad z, quad b, quad delta, struct parts *parts)
{
    quad short_by = 1 - b * z;
    bool round = short_by > 0 && short_by < delta;
    parts->value = short_by <= 0 ? 0 : round ? short_by * short_by / (2 * delta) : short_by - delta / 2;
    parts->slope[0] = short_by <= 0 ? 0 : round ? -b * short_by / delta : -b;
    parts->curve[0] = round ? 1 / delta : 0;
}

static void logcosh(quad z, quad b, struct parts *parts)
{
    quad r = quad_size(z - b), small = expq(-2 * r), half = sinhq(r < 1 ? r / 2 : 0);
    parts->value = r < 1 ? log1pq(2 * half * half) : r + log1pq(small) - logq(2);
    parts->slope[0] = tanhq(z - b);
    parts->curve[0] = 4 * small / ((1 + small) * (1 + small));
}

static void squared_hinge(quad z, quad b, struct parts *parts)
{
    quad short_by = quad_most(1 - b * z, 0);
    parts->value = short_by * short_by;
    parts->slope[0] = -2 * b * short_by;
    parts->curve[0] = short_by > 0 ? 2 : 0;
}

static void softmax(const quad *z, size_t outputs, size_t class, struct parts *parts)
{
    quad top = z[0], sum = 0, p[OUTPUTS_MOST];
    for (size_t k = 1; k < outputs; k++)
        top = quad_most(top, z[k]);
    size_t largest = 0;
    for (size_t k = 0; k < outputs; k++)
        largest = z[k] == top ? k : largest;
    for (size_t k = 0; k < outputs; k++) {
        p[k] = k == largest ? 1 : expq(z[k] - top);
        sum += k == largest ? 0 : p[k];
    }
    parts->value = log1pq(sum) + (top - z[class]);
    quad others = 0; /* what the class's slope is, without taking 1 from its probability */
    for (size_t k = 0; k < outputs; k++) {
        p[k] /= 1 + sum;
        others += k == class ? 0 : p[k];
    }
    for (size_t k = 0; k < outputs; k++) {
        parts->slope[k] = k == class ? -others : p[k];
        quad rest = 0;
        for (size_t l = 0; l < outputs; l++) {
            rest += l == k ? 0 : p[l];
            parts->curve[k * outputs + l] = -p[k] * p[l];
        }
        parts->curve[k * outputs + k] = p[k] * rest;
    }
}

static void find_parts(const struct reference *reference, size_t j, const quad *z, struct parts *parts)
{
    quad b = reference->target[j];
    switch (reference->loss) {
    case SQUARED:
        squared(z[0], b, parts);
        return;
    case LOGISTIC:
        logistic(z[0], b, parts);
        return;
    case HUBER:
        huber(z[0], b, reference->delta, parts);
        return;
    case HINGE:
        hinge(z[0], b, reference->delta, parts);
        return;
    case LOGCOSH:
        logcosh(z[0], b, parts);
        return;
    case SQUARED_HINGE:
        squared_hinge(z[0], b, parts);
        return;
    default:
        softmax(z, reference->outputs, reference->class[j], parts);
    }
}

quad reference_slope(const struct reference *reference, size_t j, quad score)
{
    struct parts parts;
    find_parts(reference, j, &score, &parts);
    return parts.slope[0];
}

double reference_bend(const struct reference *reference)
{
    static const double bends[LOSSES] = {2, 0.25, 2, 0, 0.5, 1, 2};
    if (reference->loss == SOFTMAX && reference->outputs == 1)
        return 0;
    return reference->loss == HINGE ? 1 / (double)reference->delta : bends[reference->loss];
}

/* ---- sums ---- */

/* The sizes of the terms of a point's scores, by the larger of the two ways to come by them. */
static double score_terms(const struct reference *reference, const struct place *place, size_t j)
{
    size_t outputs = reference->outputs;
    double most = 0;
    for (size_t k = 0; k < outputs; k++) {
        double sum = 0;
        for (size_t s = 0; s < reference->slots; s++)
            sum += ((double)quad_size(reference->row[j][s]) + 2 * (double)quad_size(reference->centre[s])) *
                   (double)quad_size(place->x[s * outputs + k]);
        most = fmax(most, sum);
    }
    return most + (reference->loss == SOFTMAX ? 1 : (double)quad_size(reference->target[j]));
}

static void find_scores(const struct reference *reference, struct place *place, size_t j)
{
    size_t outputs = reference->outputs;
    for (size_t k = 0; k < outputs; k++) {
        quad sum = 0;
        for (size_t s = 0; s < reference->slots; s++)
            sum += reference->row[j][s] * place->x[s * outputs + k];
        place->score[j][k] = sum;
    }
}

/* How far a point's loss is off if its score is by `off`, and all operations after it by u. */
static double loss_error(const struct reference *reference, const struct parts *parts, double off, double u)
{
    double slope = 0;
    for (size_t k = 0; k < reference->outputs; k++)
        slope = fmax(slope, (double)quad_size(parts->slope[k]));
    double bent = reference_bend(reference) * (double)reference->outputs * off * off;
    return 2 * slope * off + bent + 16 * u * (double)parts->value;
}

static void add_errors(const struct reference *reference, struct place *place, size_t j, const struct parts *parts,
                       enum look look)
{
    double share = (double)reference->share[j], terms = score_terms(reference, place, j);
    double many = (double)reference->slots + 4, off = many * QUAD_ROUNDING * terms;
    double sums = (double)(reference->count + 8);
    place->value_error +=
        share * (loss_error(reference, parts, off, QUAD_ROUNDING) + sums * QUAD_ROUNDING * (double)parts->value);
    off = many * DOUBLE_ROUNDING * terms;
    if (reference->loss == SOFTMAX && reference->outputs > 1)
        place->double_error += share * 16 * DOUBLE_ROUNDING; /* a logarithm of a number near 1 */
    place->double_error +=
        share * (loss_error(reference, parts, off, DOUBLE_ROUNDING) + sums * DOUBLE_ROUNDING * (double)parts->value);
    for (size_t s = 0; s < reference->slots && look >= LOOK_GRADIENT; s++)
        for (size_t k = 0; k < reference->outputs; k++)
            place->gradient_error[s * reference->outputs + k] += share * (double)quad_size(reference->row[j][s]) *
                                                                 sums * QUAD_ROUNDING *
                                                                 (double)quad_size(parts->slope[k]);
}

static void add_gradient(const struct reference *reference, struct place *place, size_t j, const struct parts *parts)
{
    size_t outputs = reference->outputs;
    for (size_t k = 0; k < outputs; k++) {
        quad factor = reference->share[j] * parts->slope[k];
        for (size_t s = 0; s < reference->slots; s++)
            place->gradient[s * outputs + k] += factor * reference->row[j][s];
    }
}

static void add_hessian(const struct reference *reference, struct place *place, size_t j, const struct parts *parts)
{
    size_t outputs = reference->outputs, size = reference->size;
    for (size_t k = 0; k < outputs; k++)
        for (size_t l = 0; l < outputs; l++) {
            quad factor = reference->share[j] * parts->curve[k * outputs + l];
            if (factor == 0)
                continue;
            for (size_t s = 0; s < reference->slots; s++) {
                quad left = factor * reference->row[j][s];
                quad *row = place->hessian + (s * outputs + k) * size;
                for (size_t t = 0; t <= s && left != 0; t++)
                    row[t * outputs + l] += left * reference->row[j][t];
            }
        }
}

static void add_regulariser(const struct reference *reference, struct place *place, enum look look)
{
    quad square = 0;
    size_t size = reference->size;
    for (size_t k = reference->held; k < size; k++) {
        square += place->x[k] * place->x[k];
        if (look >= LOOK_GRADIENT) {
            quad part = 2 * reference->lambda * place->x[k];
            place->gradient[k] += part;
            place->gradient_error[k] += 8 * QUAD_ROUNDING * (double)quad_size(part);
        }
        if (look >= LOOK_HESSIAN)
            place->hessian[k * size + k] += 2 * reference->lambda;
    }
    place->value += reference->lambda * square;
    double whole = (double)(reference->lambda * square) * (double)(size + 8);
    place->value_error += QUAD_ROUNDING * whole;
    place->double_error += DOUBLE_ROUNDING * whole;
}

void reference_look(const struct reference *reference, struct place *place, enum look look)
{
    size_t size = reference->size;
    place->value = 0;
    place->value_error = place->double_error = 0;
    if (look >= LOOK_GRADIENT) {
        memset(place->gradient, 0, size * sizeof *place->gradient);
        memset(place->gradient_error, 0, size * sizeof *place->gradient_error);
    }
    if (look >= LOOK_HESSIAN)
        memset(place->hessian, 0, size * size * sizeof *place->hessian);
    for (size_t j = 0; j < reference->count; j++) {
        struct parts parts;
        find_scores(reference, place, j);
        find_parts(reference, j, place->score[j], &parts);
        place->value += reference->share[j] * parts.value;
        add_errors(reference, place, j, &parts, look);
        if (look < LOOK_GRADIENT)
            continue;
        memcpy(place->slope[j], parts.slope, sizeof parts.slope);
        add_gradient(reference, place, j, &parts);
        if (look >= LOOK_HESSIAN)
            add_hessian(reference, place, j, &parts);
    }
    add_regulariser(reference, place, look);
}
