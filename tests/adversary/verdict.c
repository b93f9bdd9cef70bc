#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the stage as the reference sees it ---- */

static bool is_numbers(const struct run *run)
{
    return is_for_numbers(run->trial->loss);
}

static size_t class_of(const struct run *run, double label)
{
    size_t k = 0;
    while (k + 1 < run->label_count && run->labels[k] != label)
        k++;
    return k;
}

/* The larger of two labels is 1; one alone is what its sign says. */
static double side_of(const struct run *run, double label)
{
    if (run->label_count < 2)
        return label > 0 ? 1 : -1;
    return label == fmax(run->labels[0], run->labels[1]) ? 1 : -1;
}

static bool has_lead(const struct trial *trial)
{
    return trial->intercept || trial->bias != 0;
}

/* The unit of a column: a power of two, or 1. */
static double scale_of(const struct run *run, size_t f)
{
    size_t count;
    const double *scale = keepfit_fit_scales(run->fit, &count);
    return f < count ? scale[f] : 1;
}

static void add_point(const struct run *run, struct reference *reference, size_t j)
{
    const struct trial *trial = run->trial;
    const keepfit_point *point = &trial->point[j];
    size_t at = reference->count, lead = has_lead(trial);
    if (!(point->weight > 0))
        return;
    if (lead)
        reference->row[at][0] = trial->intercept ? 1 : trial->bias;
    for (size_t f = 0; f < run->features; f++)
        reference->row[at][lead + f] = (quad)trial->value[j][f] / scale_of(run, f);
    reference->share[at] = trial_weight(trial, j, run->arrived);
    if (is_numbers(run))
        reference->target[at] = point->target;
    else if (trial->loss == SOFTMAX)
        reference->class[at] = class_of(run, point->target);
    else
        reference->target[at] = side_of(run, point->target);
    reference->count++;
}

/* A class without weight sends a free intercept to infinity. */
static bool is_reachable(const struct reference *reference, size_t classes)
{
    bool seen[OUTPUTS_MOST] = {false};
    size_t count = 0;
    if (!reference->free || (reference->loss != LOGISTIC && reference->loss != SOFTMAX))
        return true;
    for (size_t j = 0; j < reference->count; j++)
        seen[reference->loss == SOFTMAX ? reference->class[j] : (size_t)(reference->target[j] > 0)] = true;
    for (size_t k = 0; k < OUTPUTS_MOST; k++)
        count += seen[k];
    return count == (reference->loss == SOFTMAX ? classes : 2);
}

/* False: there is nothing to judge. */
static bool build(const struct run *run, struct reference *reference)
{
    const struct trial *trial = run->trial;
    quad total = 0;
    memset(reference, 0, sizeof *reference);
    reference->loss = trial->loss;
    reference->domain = trial->domain;
    reference->delta = trial->delta;
    reference->low = trial->low;
    reference->high = trial->high;
    reference->free = trial->intercept;
    reference->slots = run->features + has_lead(trial);
    reference->outputs = trial->loss == SOFTMAX ? run->label_count : 1;
    reference->size = reference->slots * reference->outputs;
    reference->held = reference->free ? reference->outputs : 0;
    for (size_t k = 0; k < run->count; k++)
        add_point(run, reference, run->present[k]);
    for (size_t j = 0; j < reference->count; j++)
        total += reference->share[j];
    for (size_t j = 0; j < reference->count; j++)
        reference->share[j] /= total;
    reference->lambda = trial->total ? trial->lambda / total : (quad)trial->lambda;
    reference->reachable = is_reachable(reference, run->label_count);
    reference_centre(reference);
    return reference->count > 0 && reference->size > 0;
}

/* ---- the model, as a user gets it ---- */

static bool read_model(struct run *run, const struct reference *reference, quad *x)
{
    keepfit_model *model = NULL;
    keepfit_description description = {.struct_size = sizeof description};
    if (keepfit_fit_model(run->fit, &model) != KEEPFIT_OK) {
        run_found(run, FINDING_FAILED, "the model: %s", keepfit_fit_error(run->fit)->message);
        return false;
    }
    keepfit_model_describe(model, &description);
    size_t outputs = reference->outputs, lead = has_lead(run->trial);
    bool good = description.features == run->features && description.outputs == outputs, finite = true;
    for (size_t k = 0; good && k < outputs && lead; k++) {
        finite = finite && isfinite(description.intercepts[k]);
        x[k] = description.intercepts[k] / (run->trial->intercept ? (quad)1 : (quad)run->trial->bias);
    }
    for (size_t k = 0; good && k < run->features * outputs; k++) {
        finite = finite && isfinite(description.weights[k]);
        x[lead * outputs + k] = description.weights[k] * scale_of(run, k / outputs);
    }
    keepfit_model_free(model);
    if (!good)
        run_found(run, FINDING_SHAPE, "the model has other sizes than the data");
    if (!finite)
        run_found(run, FINDING_NAN, "of its weights");
    return good && finite;
}

static void judge_domain(struct run *run, const struct reference *reference, const quad *x)
{
    quad sum = 0, square = 0, least = 0, most = 0, tiny = 1e-13;
    for (size_t k = reference->held; k < reference->size; k++) {
        sum += x[k];
        square += x[k] * x[k];
        least = quad_least(least, x[k] - reference->low);
        most = quad_most(most, x[k] - reference->high);
    }
    bool inside = true;
    if (reference->domain == BALL)
        inside = sqrtq(square) <= reference->high * (1 + tiny);
    if (reference->domain == BOX)
        inside = least >= -tiny * quad_size(reference->low) && most <= tiny * quad_size(reference->high);
    if (reference->domain == SIMPLEX && reference->size > reference->held)
        inside = least >= 0 && quad_size(sum - 1) <= tiny;
    if (!inside)
        run_found(run, FINDING_OUTSIDE, "|x| %.17g sum %.17g", (double)sqrtq(square), (double)sum);
}

/* ---- counters ---- */

void judge_report(struct run *run)
{
    const keepfit_report *now = &run->report, *before = &run->before;
    double bound = now->bound;
    uint64_t missed = now->missed - before->missed, unproved = now->unproved - before->unproved;
    bool has_target = !isnan(now->target), finite = isfinite(bound), right;
    if (now->points != run->count || now->stage != run->arrived || now->features != run->features)
        run_found(run, FINDING_SHAPE, "points %d stage %d features %d", (int)now->points, (int)now->stage,
                  (int)now->features);
    if (run->calls == 1 && has_target)
        right = finite ? missed == (bound > now->target) && unproved == (run->trial->estimate && !missed)
                       : missed == 0 && unproved == 1;
    else
        right = missed + unproved <= (has_target ? run->calls : 0);
    if (!right)
        run_found(run, FINDING_COUNTERS, "bound %g target %g: missed %d more, unproved %d more", bound, now->target,
                  (int)missed, (int)unproved);
    if (bound < 0)
        run_found(run, FINDING_NAN, "the bound is %g", bound);
    run->all_seen = run->all_seen && run->calls <= 1;
    if (finite)
        run->worst = fmax(run->worst, bound);
    bool low = now->worst_bound < run->worst || (isnan(now->worst_bound) && !isnan(run->worst));
    bool high = run->all_seen && isfinite(now->worst_bound) && now->worst_bound > run->worst;
    if (low || high)
        run_found(run, FINDING_WORST, "it says %g, and it is %g", now->worst_bound, run->worst);
    if (!has_target || run->trial->estimate)
        return;
    run->tally->proved += bound <= now->target;
    run->tally->missed += finite && bound > now->target;
    run->tally->unproved += !finite;
}

/* ---- the gap ---- */

/* All that is known of a stage once the reference has looked at it. */
struct verdict {
    struct reference reference;
    struct place model; /* at the model */
    struct optimum optimum;
    quad zero; /* the objective where x is 0 */
};

/* The gap is more than this for certain. */
static quad certain_gap(const struct verdict *verdict)
{
    return verdict->model.value - verdict->model.value_error - verdict->optimum.upper;
}

/* Begins where the last stage's optimum was, or at the model, whichever is better. */
static void choose_start(const struct run *run, const struct verdict *verdict, quad *x)
{
    static struct place place;
    const struct reference *reference = &verdict->reference;
    bool alike = run->optimum_outputs == reference->outputs && run->optimum_slots <= reference->slots;
    memcpy(x, verdict->model.x, reference->size * sizeof *x);
    reference_leave(reference, x);
    if (!run->has_optimum || !alike)
        return;
    memset(place.x, 0, sizeof place.x);
    memcpy(place.x, run->optimum.x, run->optimum_slots * run->optimum_outputs * sizeof *x);
    reference_enter(reference, place.x);
    reference_project(reference, place.x);
    reference_look(reference, &place, LOOK_VALUE);
    if (!(place.value < verdict->model.value) && reference->domain == WHOLE)
        return;
    memcpy(x, place.x, reference->size * sizeof *x);
    reference_leave(reference, x);
}

static void look_at_zero(struct verdict *verdict)
{
    static struct place place;
    memset(place.x, 0, sizeof place.x);
    reference_look(&verdict->reference, &place, LOOK_VALUE);
    verdict->zero = place.value;
}

/* How well the optimum has to be known, whatever the bound is. */
static quad enough_of(const struct verdict *verdict)
{
    return quad_most(verdict->model.value * (quad)1e-24, verdict->zero * (quad)1e-30);
}

static void solve(struct run *run, struct verdict *verdict, quad bound, bool fine)
{
    quad x[SIZE_MOST], value = verdict->model.value, enough = enough_of(verdict);
    quad settled = fine ? INFINITY : value + verdict->model.value_error - bound;
    choose_start(run, verdict, x);
    if (!fine)
        enough = quad_most(enough, bound / 1000);
    reference_solve(&verdict->reference, x, enough, settled, &verdict->optimum);
    run->optimum = verdict->optimum;
    run->optimum_slots = verdict->reference.slots;
    run->optimum_outputs = verdict->reference.outputs;
    run->has_optimum = true;
}

/* Where no optimum is reached: the model with the intercepts of classes without weight far out. */
static quad far_out(const struct verdict *verdict)
{
    static struct place place;
    const struct reference *reference = &verdict->reference;
    bool seen[OUTPUTS_MOST] = {false};
    quad far = 200;
    memcpy(place.x, verdict->model.x, sizeof place.x);
    reference_look(reference, &place, LOOK_VALUE);
    for (size_t j = 0; j < reference->count; j++)
        for (size_t k = 0; k < reference->outputs; k++)
            far = quad_most(far, 200 + 4 * quad_size(place.score[j][k]));
    for (size_t j = 0; j < reference->count; j++)
        seen[reference->class[j]] = true;
    for (size_t k = 0; k < reference->outputs && reference->loss == SOFTMAX; k++)
        place.x[k] -= seen[k] ? 0 : far;
    if (reference->loss == LOGISTIC)
        place.x[0] += reference->target[0] * far;
    reference_look(reference, &place, LOOK_VALUE);
    return place.value + place.value_error;
}

static void tell_gap(struct run *run, const struct verdict *verdict, enum finding finding, double bound)
{
    double gap = (double)certain_gap(verdict);
    run->tally->ratio = fmax(run->tally->ratio, bound > 0 ? gap / bound : INFINITY);
    run_found(run, finding, "gap %.6e bound %.6e (%.3g times) target %.3e g* %.6e error %.1e", gap, bound, gap / bound,
              run->report.target, (double)verdict->optimum.upper, (double)verdict->model.value_error);
}

static void judge_bound(struct run *run, struct verdict *verdict, double bound)
{
    quad most = verdict->model.value + verdict->model.value_error - verdict->optimum.lower;
    quad width = verdict->optimum.upper - verdict->optimum.lower;
    quad enough = quad_most(enough_of(verdict), (quad)bound / 1000);
    if (certain_gap(verdict) > bound)
        tell_gap(run, verdict, FINDING_BOUND, bound);
    if (certain_gap(verdict) > bound || most <= bound || width <= enough)
        run->tally->judged++;
    else
        run->tally->undecided++;
    if (run->settings->show)
        printf("#   gap from %.3e to %.3e, g* %.17g, width %.1e after %d rounds%s\n", (double)certain_gap(verdict),
               (double)most, (double)verdict->optimum.upper, (double)width, verdict->optimum.rounds,
               certain_gap(verdict) > bound || most <= bound || width <= enough ? "" : ": NOT JUDGED");
}

/* What epsilon says of a stage whose bound is at most the target. A relative one is at least 1e-14 of the objective at 0. */
static void judge_promise(struct run *run, struct verdict *verdict)
{
    const struct trial *trial = run->trial;
    const keepfit_report *report = &run->report;
    double target = trial->kind == STAT ? trial->epsilon / (double)run->count : trial->epsilon;
    quad promised = target;
    if (isnan(report->target))
        return;
    if (trial->kind != RELATIVE && report->target != target)
        run_found(run, FINDING_TARGET, "it is %.17g and not %.17g", report->target, target);
    if (trial->kind == RELATIVE)
        promised =
            quad_most((quad)1.001e-14 * verdict->zero, trial->epsilon * (1 + (quad)1e-14) * verdict->optimum.upper);
    if (report->bound <= report->target && certain_gap(verdict) > promised)
        tell_gap(run, verdict, FINDING_PROMISE, (double)promised);
}

/* ---- what is measured ---- */

static void judge_measured(struct run *run, struct verdict *verdict, unsigned what)
{
    keepfit_measurement measured = {.struct_size = sizeof measured};
    keepfit_status status = keepfit_fit_measure(run->fit, what, &measured);
    if (status != KEEPFIT_OK && status != KEEPFIT_UNSOLVED) {
        run_found(run, FINDING_FAILED, "measuring: %s", keepfit_fit_error(run->fit)->message);
        return;
    }
    double value = (double)verdict->model.value, off = 4 * verdict->model.double_error;
    if (!(fabs(measured.objective - value) <= off))
        run_found(run, FINDING_OBJECTIVE, "it is %.17g and not %.17g, more than %.1e", measured.objective, value, off);
    if (certain_gap(verdict) > measured.bound)
        tell_gap(run, verdict, FINDING_MEASURED_BOUND, measured.bound);
    if (status != KEEPFIT_OK || !(what & KEEPFIT_MEASURE_OPTIMUM))
        return;
    double lower = (double)verdict->optimum.lower, upper = (double)verdict->optimum.upper;
    double near = off + 1e-9 * fmax((double)verdict->zero, value);
    if (!(measured.optimum >= lower - near && measured.optimum <= upper + near))
        run_found(run, FINDING_OPTIMUM, "it is %.17g and not %.17g, more than %.1e", measured.optimum, upper, near);
}

void judge_stage(struct run *run)
{
    static struct verdict verdict;
    const keepfit_report *report = &run->report;
    struct random *random = &run->trial->random;
    bool looked = random_chance(random, 0.25), fine = random_chance(random, 0.06);
    if (!build(run, &verdict.reference) || !read_model(run, &verdict.reference, verdict.model.x))
        return;
    judge_domain(run, &verdict.reference, verdict.model.x);
    bool claims = isfinite(report->bound) || looked;
    if (run->trial->estimate || run->trial->lambda == 0 || !claims)
        return;
    reference_enter(&verdict.reference, verdict.model.x);
    reference_look(&verdict.reference, &verdict.model, LOOK_VALUE);
    look_at_zero(&verdict);
    double bound = isfinite(report->bound) ? report->bound * run->settings->bend : INFINITY;
    if (!verdict.reference.reachable) {
        run->tally->unreachable++;
        verdict.optimum.upper = far_out(&verdict);
        if (certain_gap(&verdict) > bound)
            tell_gap(run, &verdict, FINDING_BOUND, bound);
        return;
    }
    solve(run, &verdict, isfinite(bound) ? bound : 1e-6 * (double)verdict.model.value, fine);
    if (isfinite(bound))
        judge_bound(run, &verdict, bound);
    judge_promise(run, &verdict);
    if (looked)
        judge_measured(run, &verdict,
                       KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_BOUND | (fine ? KEEPFIT_MEASURE_OPTIMUM : 0u));
}
