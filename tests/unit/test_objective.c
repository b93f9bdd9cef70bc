/* Laws of losses and objectives: gradients against difference quotients, Hessians against those of gradients, curvature
 * bounds never below the curvature, slope bounds never below the slope; what rounding may do to each, against more digits; labels. */
#include <float.h>
#include <string.h>

#include "kernels/kernels.h"
#include "objective/labels.h"
#include "support.h"

static double value_at(const struct kf_loss *loss, double *z, size_t k, double shift, size_t outputs, double b,
                       double delta)
{
    double kept = z[k];
    z[k] += shift;
    double value = loss->value(z, outputs, b, delta);
    z[k] = kept;
    return value;
}

static void test_loss(struct tap *tap, const struct kf_loss *loss)
{
    struct kf_random random;
    kf_random_seed(&random, 11);
    size_t outputs = loss->targets == KF_MANY_CLASSES ? 4 : 1;
    double slope_error = 0, curve_error = 0, recalled_error = 0, recalled_over = 0, worst_curve = 0, worst_slope = 0;
    for (int trial = 0; trial < 3000; trial++) {
        double z[4], slope[4], there[4], curve[16], h = 1e-5, delta = 0.3 + kf_random_unit(&random);
        double b = loss->targets == KF_MANY_CLASSES  ? (double)kf_random_below(&random, 4)
                   : loss->targets == KF_TWO_CLASSES ? (kf_random_unit(&random) < 0.5 ? -1 : 1)
                                                     : 2 * kf_random_normal(&random);
        for (size_t k = 0; k < outputs; k++)
            z[k] = 3 * kf_random_normal(&random);
        kf_loss_slopes(loss, z, outputs, b, delta, slope);
        loss->curve(z, outputs, b, delta, curve);
        if (loss->curves_of) {
            double recalled;
            loss->curves_of(1, slope, &recalled);
            recalled_error = fmax(recalled_error, fabs(recalled - curve[0]));
            recalled_over = fmax(recalled_over, recalled - curve[0]);
        }
        double scale = sqrt(kf_square(outputs, slope)), norm = sqrt(kf_square(outputs, z));
        worst_slope = fmax(worst_slope, scale / loss->slope_bound(norm, b, delta));
        for (size_t k = 0; k < outputs; k++) {
            double quotient =
                (value_at(loss, z, k, h, outputs, b, delta) - value_at(loss, z, k, -h, outputs, b, delta)) / (2 * h);
            slope_error = fmax(slope_error, fabs(quotient - slope[k]));
            double kept = z[k];
            z[k] += 1e-7;
            kf_loss_slopes(loss, z, outputs, b, delta, there);
            z[k] = kept;
            for (size_t l = 0; l < outputs; l++) {
                double bend = (there[l] - slope[l]) / 1e-7;
                bool kink = fabs(bend - curve[k * outputs + l]) > 1e-3; /* a kink lies between: rare, excluded */
                curve_error = fmax(curve_error, kink && outputs == 1 ? 0 : fabs(bend - curve[k * outputs + l]));
            }
        }
        double row = 0; /* Rayleigh quotient in the direction of z bounds the curvature from below */
        for (size_t k = 0; k < outputs; k++)
            row += z[k] * kf_dot(outputs, curve + k * outputs, z);
        worst_curve = fmax(worst_curve, row / (norm * norm) / loss->curve_bound(delta));
    }
    tap_check(tap, slope_error < 2e-4, "%s: slopes match difference quotients (%.1e)", loss->name, slope_error);
    tap_check(tap, curve_error < 1e-4, "%s: curves match difference quotients of slopes (%.1e)", loss->name,
              curve_error);
    if (loss->curves_of)
        tap_check(tap, recalled_error < 1e-14 && recalled_over < 1e-16,
                  "%s: a curve recalled from its slope is the same, or a little less (%.1e, %.1e)", loss->name,
                  recalled_error, recalled_over);
    tap_check(tap, worst_curve <= 1 + 1e-12, "%s: the curve bound holds (%.3f)", loss->name, worst_curve);
    tap_check(tap, worst_slope <= 1 + 1e-12, "%s: the slope bound holds (%.3f)", loss->name, worst_slope);
}

/* ---- what proofs take for granted of a loss of one score (objective/loss.h) ---- */

/* The same by other formulas, with eleven more digits in binary. */
struct exact {
    long double value, slope, curve;
};

static struct exact exact_hinge(long double short_by, long double b, long double delta)
{
    bool round = short_by > 0 && short_by < delta;
    long double value = short_by <= 0 ? 0 : round ? short_by * short_by / (2 * delta) : short_by - delta / 2;
    return (struct exact){value, short_by <= 0 ? 0 : round ? -b * short_by / delta : -b, round ? 1 / delta : 0};
}

static struct exact exactly(const char *loss, double z, double b, double delta)
{
    long double r = (long double)z - b, size = fabsl(r), margin = (long double)b * z, gone = fmaxl(1 - margin, 0);
    long double small = expl(-fabsl(margin)), part = 1 / (1 + small), half = sinhl(size < 2 ? size / 2 : 0);
    bool near = size <= delta;
    if (strcmp(loss, "squared") == 0)
        return (struct exact){r * r, 2 * r, 2};
    if (strcmp(loss, "huber") == 0)
        return (struct exact){near ? r * r : delta * (2 * size - delta), near ? 2 * r : copysignl(2 * delta, r),
                              near ? 2 : 0};
    if (strcmp(loss, "logcosh") == 0)
        return (struct exact){size < 2 ? log1pl(2 * half * half) : size + log1pl(expl(-2 * size)) - logl(2), tanhl(r),
                              1 / (coshl(r) * coshl(r))};
    if (strcmp(loss, "logistic") == 0)
        return (struct exact){log1pl(small) + fmaxl(-margin, 0), -b * (margin > 0 ? small * part : part),
                              small * part * part};
    if (strcmp(loss, "squared-hinge") == 0)
        return (struct exact){gone * gone, -2 * b * gone, gone > 0 ? 2 : 0};
    TAP_NEED(strcmp(loss, "hinge") == 0);
    return exact_hinge(1 - margin, b, delta);
}

#define UNIT 0x1p-53L

/* How far off, in units of itself. */
static double units_off(double computed, long double exact)
{
    long double off = fabsl(computed - exact);
    return off < 1e-300L ? 0 : (double)(off / fabsl(exact) / UNIT);
}

/* Whether a curvature recalled from a slope with all the error that it may have lies where a proof thinks. */
static bool recalls(const struct kf_loss *loss, double slope, int units, long double exact)
{
    double there = slope * (1 + units * 0x1p-53), least;
    loss->curves_of(1, &there, &least);
    long double rounding = fabs(there) > 0.5 ? 0x1p-47L : 0x1p-46L * least, nothing = 0x1p-960L;
    return least >= 0 && least <= exact + nothing && exact <= least + rounding + nothing;
}

/* Whether a score may move by what is called its room, from any that the slope may have come from. Right next to the end of a piece there is
 * none. */
static bool has_room(const struct kf_loss *loss, double z, double b, double delta, double slope)
{
    double room = -1, curve = loss->piece(slope, delta, &room), weight = 1.7, far = 1e-12 * (1 + fabs(z));
    double weighed = slope * weight / weight;
    bool good = room >= 0 && curve >= 0;
    if (room > far)
        for (int way = -1; way <= 1; way++)
            good &= exactly(loss->name, z + way * (room - 4e-16 * (fabs(z) + room)), b, delta).curve >= curve;
    loss->piece(weighed, delta, &room);
    return good && (exactly(loss->name, z, b, delta).curve > 0 || room <= far);
}

/* Under valgrind they have the digits of a double, and nothing can be judged by them. */
static bool has_long_doubles(void)
{
    volatile long double one = 1, less = LDBL_EPSILON;
    return one + less != one;
}

/* Scores of all sizes, and near and far from their targets. */
static void draw_score(struct kf_random *random, const struct kf_loss *loss, double *z, double *b)
{
    double size = pow(10, -12 + 15 * kf_random_unit(random)), sign = kf_random_unit(random) < 0.5 ? -1 : 1;
    bool classes = loss->targets == KF_TWO_CLASSES;
    *b = classes ? (kf_random_unit(random) < 0.5 ? -1 : 1) : kf_random_below(random, 3) * kf_random_normal(random);
    *z = sign * (kf_random_unit(random) < 0.5 ? size : 6 * kf_random_unit(random)) +
         (kf_random_unit(random) < 0.5 ? *b : 0);
}

static void test_units(struct tap *tap, const struct kf_loss *loss)
{
    struct kf_random random;
    kf_random_seed(&random, 3);
    double value_off = 0, slope_off = 0, curve_off = 0, own;
    int unrecalled = 0, unbent = 0, changing = 0, cramped = 0;
    for (int trial = 0; trial < 200000; trial++) {
        double z, b, delta = 0.3 + kf_random_unit(&random), blur = pow(10, -17 + 17 * kf_random_unit(&random));
        draw_score(&random, loss, &z, &b);
        struct exact exact = exactly(loss->name, z, b, delta);
        double slope = loss->slope(z, b, delta);
        value_off = fmax(value_off, units_off(loss->value(&z, 1, b, delta), exact.value));
        slope_off = fmax(slope_off, units_off(slope, exact.slope));
        loss->curve(&z, 1, b, delta, &own);
        if (isfinite(loss->concordance) && exact.curve > 1e-290L)
            curve_off = fmax(curve_off, units_off(own, exact.curve));
        for (int units = -KF_SLOPE_UNITS; units <= KF_SLOPE_UNITS && loss->curves_of; units += KF_SLOPE_UNITS)
            unrecalled += !recalls(loss, (double)exact.slope, units, exact.curve);
        cramped += loss->piece && !has_room(loss, z, b, delta, slope);
        double there = z + (2 * kf_random_unit(&random) - 1) * blur, bend = loss->curve_bound(delta);
        long double curve = exactly(loss->name, there, b, delta).curve;
        if (loss->bend && fabs(there - z) <= blur)
            bend = loss->bend(z, b, delta, slope, blur);
        unbent += curve > bend * (1 + 0x1p-45L);
        long double moved = fabsl((long double)there - z), most = loss->concordance * moved;
        if (isfinite(loss->concordance) && curve > 1e-4000L && exact.curve > 1e-4000L)
            changing += fabsl(logl(curve / exact.curve)) > most * (1 + 1e-9L) + 1e-14L;
    }
    tap_check(tap, value_off <= KF_VALUE_UNITS - 1 && slope_off <= KF_SLOPE_UNITS - 1,
              "%s: value and slope are off by no more units than proofs think (%.2f, %.2f)", loss->name, value_off,
              slope_off);
    tap_check(tap, curve_off <= 60, "%s: a curvature is off by no more units of itself than proofs think (%.2f)",
              loss->name, curve_off);
    tap_check(tap, unrecalled == 0,
              "%s: a recalled curvature is a lower bound, and one plus its rounding an upper one (%d)", loss->name,
              unrecalled);
    tap_check(tap, unbent == 0, "%s: no curvature nearby is above `bend` (%d)", loss->name, unbent);
    tap_check(tap, cramped == 0, "%s: within a score's room the curvature stays (%d)", loss->name, cramped);
    tap_check(tap, changing == 0, "%s: curvatures change by exp(M |move|) at most (%d)", loss->name, changing);
    tap_check(tap, isinf(loss->concordance) || loss->curves_of, "%s: what has a concordance recalls curvatures",
              loss->name);
}

/* The option's choices are written where the table cannot be seen. */
static void test_choices(struct tap *tap)
{
    char names[200] = "";
    keepfit_option option = {.struct_size = sizeof option};
    for (size_t k = 0; kf_loss_entry(k); k++) {
        const struct kf_loss *loss = kf_loss_entry(k);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", k ? "|" : "", loss->network ? loss->network : loss->name);
    }
    for (size_t k = 0; keepfit_option_entry(k, &option); k++)
        if (strcmp(option.key, "loss") == 0)
            tap_check(tap, strcmp(option.choices, names) == 0, "the option's choices are the table's losses: %s",
                      names);
    tap_check(tap,
              keepfit_loss_traits("logcosh") == KEEPFIT_LOSS_NUMBERS &&
                  keepfit_loss_traits("logistic") == (KEEPFIT_LOSS_TWO_CLASSES | KEEPFIT_LOSS_PROBABILITIES) &&
                  keepfit_loss_traits("network:5") == (KEEPFIT_LOSS_MANY_CLASSES | KEEPFIT_LOSS_PROBABILITIES) &&
                  keepfit_loss_traits("squared:5") == 0 && keepfit_loss_traits("cubic") == 0,
              "what losses predict, by name");
}

/* The gradient of the whole objective, with weights, bias and regulariser, against difference quotients; and the Hessian
 * product against those of the gradient. */
static void test_gradient(struct tap *tap, const char *loss, const char *extra)
{
    char text[128];
    snprintf(text, sizeof text, "loss=%s lambda=0.03 method=gd inner=1 %s", loss, extra);
    struct cloud *cloud = cloud_make(loss, 30, 6, true, true, 5);
    keepfit_fit *fit = fit_from(text);
    push_range(fit, cloud, 0, cloud->count);
    struct kf_task *task = &fit->task;
    struct kf_objective *objective = &task->problem.objective;
    size_t size = kf_size(&task->problem);
    double x[64], sum[64], gradient[64], there[64], v[64], product[64], curve[16], scratch[16], worst = 0, bent = 0;
    struct kf_random random;
    kf_random_seed(&random, 2);
    for (size_t k = 0; k < size; k++) {
        x[k] = kf_random_normal(&random);
        v[k] = kf_random_normal(&random);
        product[k] = k < objective->free ? 0 : 2 * objective->lambda * v[k];
    }
    kf_gradient_sum(objective, x, cloud->count, sum, NULL, task->vectors.factors[0]);
    kf_complete_gradient(objective, sum, x, gradient);
    for (size_t k = 0; k < size; k++) {
        double kept = x[k], h = 1e-5;
        x[k] = kept + h;
        double up = kf_objective_value(objective, x);
        x[k] = kept - h;
        double down = kf_objective_value(objective, x);
        x[k] = kept;
        worst = fmax(worst, fabs((up - down) / (2 * h) - gradient[k]));
    }
    tap_check(tap, worst < 1e-6, "%s %s: the gradient matches difference quotients (%.1e)", loss, extra, worst);
    for (size_t j = 0; j < cloud->count; j++) {
        struct kf_view view = kf_dense_view(x);
        objective->type->curve(objective, &view, j, curve);
        objective->type->hessian_product(objective, cloud->point[j].weight / objective->weight_total, j, curve, v,
                                         product, scratch);
    }
    for (size_t k = 0; k < size; k++)
        x[k] += 1e-7 * v[k];
    kf_gradient_sum(objective, x, cloud->count, sum, NULL, task->vectors.factors[0]);
    kf_complete_gradient(objective, sum, x, there);
    for (size_t k = 0; k < size; k++)
        bent = fmax(bent, fabs((there[k] - gradient[k]) / 1e-7 - product[k]));
    tap_check(tap, bent < 1e-5, "%s %s: Hessian products match those of gradients (%.1e)", loss, extra, bent);
    keepfit_fit_free(fit);
    free(cloud);
}

/* What losses of several scores make of slopes, beside what they make of scores. */
static void test_recalled(struct tap *tap, const struct kf_loss *loss)
{
    enum { MOST = 7 };
    struct kf_random random;
    double worst = 0;
    kf_random_seed(&random, 3);
    for (int trial = 0; trial < 200; trial++) {
        size_t outputs = 2 + kf_random_below(&random, MOST - 1), b = kf_random_below(&random, outputs);
        double z[MOST], slopes[MOST], v[MOST] = {0}, curve[MOST * MOST], recalled[MOST * MOST], diagonal[MOST];
        double weight = trial % 2 ? 1 : 3 * kf_random_unit(&random) + 0.01, reach = trial % 5 ? 3 : 30;
        for (size_t k = 0; k < outputs; k++) {
            z[k] = reach * kf_random_normal(&random);
            v[k] = kf_random_normal(&random);
        }
        loss->curve(z, outputs, (double)b, 1, curve);
        loss->slopes(z, outputs, (double)b, slopes);
        for (size_t k = 0; k < outputs; k++)
            slopes[k] *= weight;
        loss->curve_of(slopes, outputs, (double)b, weight, recalled);
        loss->diagonal_of(slopes, outputs, (double)b, weight, diagonal);
        double bent[MOST];
        memcpy(bent, v, sizeof bent);
        loss->bend_of(slopes, outputs, (double)b, weight, bent);
        for (size_t k = 0; k < outputs; k++) {
            double product = 0;
            for (size_t l = 0; l < outputs; l++) {
                product += weight * curve[k * outputs + l] * v[l];
                worst = fmax(worst, fabs(recalled[k * outputs + l] - weight * curve[k * outputs + l]) / weight);
            }
            worst = fmax(worst, fabs(bent[k] - product) / weight);
            worst = fmax(worst, fabs(diagonal[k] - weight * curve[k * outputs + k]) / weight);
        }
    }
    tap_check(tap, worst < 1e-14, "%s: slopes tell the curvature (%.1e)", loss->name, worst);
}

static void test_labels(struct tap *tap)
{
    static const struct {
        double first, second, sign_of_first_at_last;
        enum kf_label_news news;
    } cases[] = {{-1, 1, -1, KF_LABEL_NEW},    {1, -1, 1, KF_LABEL_NEW},      {1, 2, -1, KF_LABEL_FLIPPED},
                 {2, 1, 1, KF_LABEL_NEW},      {0, 1, -1, KF_LABEL_NEW},      {1, 0, 1, KF_LABEL_NEW},
                 {2, 4, -1, KF_LABEL_FLIPPED}, {-3, -7, 1, KF_LABEL_FLIPPED}, {-7, -3, -1, KF_LABEL_NEW}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct kf_labels labels = {.kind = KF_TWO_CLASSES};
        double target;
        kf_labels_take(&labels, cases[k].first, &target);
        enum kf_label_news foreseen = kf_labels_foresee(&labels, cases[k].second);
        enum kf_label_news news = kf_labels_take(&labels, cases[k].second, &target);
        kf_labels_find(&labels, cases[k].first, &target);
        tap_check(tap, news == cases[k].news && news == foreseen && target == cases[k].sign_of_first_at_last,
                  "labels %g then %g: the smaller is -1", cases[k].first, cases[k].second);
        tap_check(tap, kf_labels_take(&labels, 99, &target) == KF_LABEL_THIRD && labels.count == 2,
                  "a third is refused");
        free(labels.label);
    }
}

int main(void)
{
    struct tap tap = {0};
    for (size_t k = 0; kf_loss_entry(k); k++) {
        test_loss(&tap, kf_loss_entry(k));
        if (kf_loss_entry(k)->slope && has_long_doubles())
            test_units(&tap, kf_loss_entry(k));
        if (kf_loss_entry(k)->bend_of)
            test_recalled(&tap, kf_loss_entry(k));
        if (kf_loss_entry(k)->network)
            continue; /* test_network.c */
        test_gradient(&tap, kf_loss_entry(k)->name, "");
        test_gradient(&tap, kf_loss_entry(k)->name, "bias=2");
        test_gradient(&tap, kf_loss_entry(k)->name, "intercept=true");
    }
    test_choices(&tap);
    test_labels(&tap);
    return tap_end(&tap);
}
