#include "objective/rounding.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"

/* Besides those of itself (loss.h), units of 1 that a slope may be off by: of softmax (exp, the sum of C numbers, the quotient, the 1 that is
 * taken away, the weight). */
static double units_of_many(size_t outputs)
{
    return outputs > 1 ? 2 * (double)outputs + 12 : 0;
}

/* ---- scores ---- */

double kf_score_most(const struct kf_objective *objective, const double *x)
{
    size_t outputs = objective->outputs;
    double most = 0;
    for (size_t k = 0; k < outputs; k++) {
        double sum = 0;
        for (size_t slot = 0; slot < objective->slots; slot++)
            sum += objective->most[slot] * fabs(x[slot * outputs + k]);
        most = fmax(most, sum);
    }
    return most * KF_UPWARD;
}

double kf_score_rounding(const struct kf_objective *objective, double z)
{
    return kf_gamma((double)objective->longest + 8) * z;
}

/* The scores of one row, as far as they matter here: the first one, and what each of them may be off by. */
struct blurred {
    double score, blur;
};

static struct blurred look_at_scores(const struct kf_objective *objective, const keepfit_row *row, const double *x)
{
    size_t outputs = objective->outputs;
    double most = 0, score = 0;
    if (outputs == 1 && !row->index) {
        struct kf_pair dot = objective->kernels->sized_dot(row->count, row->value, x);
        return (struct blurred){dot.first, kf_gamma((double)row->count + 8) * dot.second};
    }
    for (size_t k = 0; k < outputs; k++) {
        double sum = 0, sizes = 0;
        for (size_t e = 0; e < row->count; e++) {
            double term = row->value[e] * x[(row->index ? row->index[e] : e) * outputs + k];
            sum += term;
            sizes += fabs(term);
        }
        most = fmax(most, sizes);
        score = k == 0 ? sum : score;
    }
    return (struct blurred){score, kf_gamma((double)row->count + 8) * most};
}

/* How much a slope changes with its score (of softmax: the largest with the largest change of one). */
static double bend_most(const struct kf_objective *objective)
{
    return objective->outputs > 1 ? 1 : objective->loss->curve_bound(objective->delta);
}

/* What the slopes of point j may be off by for its scores' sake. */
static double rounding_of_slopes(const struct kf_objective *objective, size_t j, const double *factors,
                                 struct blurred at)
{
    double weight = objective->points->place[j].weight, slope = weight > 0 ? factors[0] / weight : 0;
    double target = objective->points->place[j].target;
    bool knows = objective->loss->bend && objective->outputs == 1;
    double bend =
        knows ? objective->loss->bend(at.score, target, objective->delta, slope, 2 * at.blur) : bend_most(objective);
    return bend * at.blur + KF_UNIT * units_of_many(objective->outputs);
}

/* Softmax with one class, whose loss is 0 everywhere, exactly. */
static bool is_constant(const struct kf_objective *objective)
{
    return objective->loss && objective->loss->targets == KF_MANY_CLASSES && objective->outputs == 1;
}

/* ---- sums ---- */

void kf_rounding_of_pass(const struct kf_objective *objective, const double *x, double *off)
{
    size_t outputs = objective->outputs;
    double depth = kf_pass_depth(objective), upward = KF_UPWARD * (1 + kf_gamma((double)objective->points->count));
    if (!objective->loss) { /* the pass has added up the sizes of the user's own gradients */
        for (size_t k = 0; k < kf_dimension(objective); k++)
            off[k] = kf_gamma(depth) * objective->mass[k] * upward;
        return;
    }
    if (is_constant(objective)) {
        memset(off, 0, kf_dimension(objective) * sizeof *off);
        return;
    }
    double z = kf_score_most(objective, x);
    double slope = objective->loss->slope_bound(z, objective->target_most, objective->delta);
    double share = kf_gamma(depth + KF_SLOPE_UNITS + 2) * slope + KF_UNIT * units_of_many(outputs) +
                   bend_most(objective) * kf_score_rounding(objective, z);
    for (size_t slot = 0; slot < objective->slots; slot++)
        for (size_t k = 0; k < outputs; k++)
            off[slot * outputs + k] = share * objective->mass[slot] * upward + KF_UNDERFLOW;
}

/* number += term, exactly but for what `low` is off by. */
static void add_exactly(double *number, double *low, double term)
{
    double sum = *number + term, other = sum - *number;
    *low += (*number - (sum - other)) + (term - other);
    *number = sum;
}

/* The product of two numbers as two, of which the second is what the first lacks (Dekker); for numbers below 1e290. */
static double product(double a, double b, double *low)
{
    const double split = 0x1p27 + 1;
    double high = a * b, of_a = split * a, of_b = split * b;
    double a1 = of_a - (of_a - a), a2 = a - a1, b1 = of_b - (of_b - b), b2 = b - b1;
    *low = ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2;
    return high;
}

/* The scores of point j, as if with twice the digits and then rounded. */
static struct blurred close_scores(const struct kf_objective *objective, const keepfit_row *row, const double *x,
                                   double *z)
{
    size_t outputs = objective->outputs;
    double blur = 0, twice = kf_gamma((double)row->count + 8);
    for (size_t k = 0; k < outputs; k++) {
        double sum = 0, low = 0, sizes = 0;
        for (size_t e = 0; e < row->count; e++) {
            double rest, term = product(row->value[e], x[(row->index ? row->index[e] : e) * outputs + k], &rest);
            add_exactly(&sum, &low, term);
            low += rest;
            sizes += fabs(term);
        }
        z[k] = sum + low;
        blur = fmax(blur, KF_UNIT * fabs(z[k]) + 2 * twice * twice * sizes);
    }
    return (struct blurred){z[0], blur * KF_UPWARD + KF_UNDERFLOW};
}

void kf_gradient_sum_closely(struct kf_objective *objective, const double *x, const struct kf_tracked *tracked,
                             double *low, double *remembered, double *scratch)
{
    size_t outputs = objective->outputs, size = kf_dimension(objective), count = objective->points->count;
    objective->fo += count;
    memset(tracked->sum, 0, size * sizeof *low);
    memset(tracked->off, 0, size * sizeof *low);
    memset(low, 0, size * sizeof *low);
    for (size_t j = 0; j < count; j++) {
        double *factors = remembered ? remembered + j * outputs : scratch;
        const struct kf_place *place = &objective->points->place[j];
        keepfit_row row = kf_points_row(objective->points, j);
        struct blurred scores = close_scores(objective, &row, x, factors);
        kf_loss_slopes(objective->loss, factors, outputs, place->target, objective->delta, factors);
        for (size_t k = 0; k < outputs; k++)
            factors[k] *= place->weight;
        double of_scores = place->weight * rounding_of_slopes(objective, j, factors, scores);
        for (size_t e = 0; e < row.count; e++)
            for (size_t k = 0; k < outputs; k++) {
                size_t at = (row.index ? row.index[e] : e) * outputs + k;
                add_exactly(&tracked->sum[at], &low[at], factors[k] * row.value[e]);
                tracked->off[at] +=
                    (of_scores + (KF_SLOPE_UNITS + 3) * KF_UNIT * fabs(factors[k])) * fabs(row.value[e]) + KF_UNDERFLOW;
            }
    }
    for (size_t k = 0; k < size; k++) {
        tracked->sum[k] += low[k];
        double own = is_constant(objective) ? 0 : tracked->off[k] * (1 + kf_gamma((double)count + 8)) * KF_UPWARD;
        tracked->off[k] = own + 2 * KF_UNIT * fabs(tracked->sum[k]);
    }
}

/* Of a user-written objective, whose factors are the gradient. */
static void rounding_of_own(const struct kf_objective *objective, const double *factors,
                            const struct kf_tracked *tracked)
{
    for (size_t k = 0; k < kf_dimension(objective); k++)
        tracked->off[k] += KF_UNIT * (fabs(tracked->sum[k]) + fabs(factors[k])) * KF_UPWARD;
}

double kf_rounding_of_point(const struct kf_objective *objective, const double *x, size_t j, const double *factors,
                            double more, const struct kf_tracked *tracked)
{
    if (!objective->loss)
        rounding_of_own(objective, factors, tracked);
    if (!objective->loss || is_constant(objective))
        return 0;
    keepfit_row row = kf_points_row(objective->points, j);
    size_t outputs = objective->outputs;
    struct blurred scores = look_at_scores(objective, &row, x);
    double common = objective->points->place[j].weight * rounding_of_slopes(objective, j, factors, scores) + more;
    for (size_t k = 0; k < outputs; k++) {
        double share = (common + (KF_SLOPE_UNITS + 2) * KF_UNIT * fabs(factors[k])) * KF_UPWARD;
        const double unit = KF_UNIT * KF_UPWARD;
        if (outputs == 1 && !row.index)
            objective->kernels->widen(row.count, share, row.value, unit, tracked->sum, tracked->off);
        for (size_t e = 0; (outputs > 1 || row.index) && e < row.count; e++) {
            size_t at = (row.index ? row.index[e] : e) * outputs + k;
            tracked->off[at] += share * fabs(row.value[e]) + unit * fabs(tracked->sum[at]);
        }
    }
    return scores.blur;
}

double kf_rounding_length(const struct kf_objective *objective, const double *x, size_t j, const double *factors,
                          double length, double *blur)
{
    size_t outputs = objective->outputs, each = objective->type->factor_count(objective);
    double size = sqrt(kf_square(each, factors));
    *blur = 0;
    if (!objective->loss)
        return KF_UNIT * (size + length) * KF_UPWARD;
    if (is_constant(objective))
        return 0;
    keepfit_row row = kf_points_row(objective->points, j);
    struct blurred scores = look_at_scores(objective, &row, x);
    double common = objective->points->place[j].weight * rounding_of_slopes(objective, j, factors, scores);
    *blur = scores.blur;
    double share = sqrt((double)outputs) * common + (KF_SLOPE_UNITS + 2) * KF_UNIT * size;
    double upward = KF_UPWARD * (1 + kf_gamma((double)row.count + (double)outputs));
    return (share * sqrt(kf_square(row.count, row.value)) + KF_UNIT * length) * upward + KF_UNDERFLOW;
}

/* What comes into number k is at most mass_k times the largest change of a slope, and so are its partial sums, beside what was there. */
void kf_rounding_of_correction(const struct kf_objective *objective, double most, double off, double operations,
                               const struct kf_tracked *tracked)
{
    double upward = KF_UPWARD * (1 + kf_gamma((double)objective->points->count)), many = kf_gamma(operations + 16);
    double share = objective->loss->curve_bound(objective->delta) * (many * most + off) * upward;
    for (size_t k = 0; k < objective->slots; k++)
        tracked->off[k] += share * objective->mass[k] + many * fabs(tracked->sum[k]);
}

void kf_rounding_of_follow(const struct kf_objective *objective, const double *x, const double *step, double operations,
                           const struct kf_tracked *tracked)
{
    double along = kf_score_most(objective, step), curve = objective->loss->curve_bound(objective->delta);
    double upward = KF_UPWARD * (1 + kf_gamma((double)objective->points->count));
    double many = kf_gamma(operations + 2 * (double)objective->slots + 16);
    double share = curve * (many * along + 2 * KF_UNIT * (along + kf_score_most(objective, x))) * upward;
    double ridge = 16 * KF_UNIT * objective->lambda * objective->weight_total * KF_UPWARD;
    for (size_t k = 0; k < objective->slots; k++)
        tracked->off[k] += share * objective->mass[k] + many * fabs(tracked->sum[k]) + ridge * fabs(step[k]);
}

void kf_complete_doubt(const struct kf_objective *objective, const struct kf_tracked *tracked, const double *x,
                       double *doubt)
{
    /* 1/W, the product, lambda (which may be a quotient itself), its product and the sum: 3 units of either term, and 1 of the sum. */
    double mean = kf_inverse_weight(objective) * KF_UPWARD, shrink = 2 * objective->lambda;
    size_t free = objective->free, dimension = kf_dimension(objective);
    for (size_t k = 0; k < dimension; k++) {
        double terms = mean * fabs(tracked->sum[k]) + (k < free ? 0 : shrink * fabs(x[k]));
        doubt[k] = mean * tracked->off[k] + 6 * KF_UNIT * terms;
    }
}

double kf_rounding_of_loss(const struct kf_objective *objective, size_t j, double loss, double blur)
{
    const struct kf_place *place = &objective->points->place[j];
    if (!objective->loss || is_constant(objective))
        return 4 * KF_UNIT * fabs(loss);
    /* No score is larger than what its rounding is a share of. */
    double slope = objective->loss->slope_bound(blur / KF_UNIT, place->target, objective->delta);
    return (place->weight * (2 * slope * blur + KF_UNIT * units_of_many(objective->outputs)) +
            KF_VALUE_UNITS * KF_UNIT * fabs(loss)) *
           KF_UPWARD;
}

double kf_rounding_of_losses(const struct kf_objective *objective, const double *x, double losses)
{
    if (!objective->loss || is_constant(objective))
        return 4 * KF_UNIT * fabs(losses);
    double z = kf_score_most(objective, x);
    double slope = objective->loss->slope_bound(z, objective->target_most, objective->delta);
    double each = 2 * slope * kf_score_rounding(objective, z) + KF_UNIT * units_of_many(objective->outputs);
    return (objective->weight_total * each + (KF_VALUE_UNITS + 8) * KF_UNIT * fabs(losses)) * KF_UPWARD;
}
