/* What stages promise, what came of it, and how much work a promise is worth.
 *
 * A stage of a method that holds epsilon has a target. It ends proved (bound <= target), missed (a finite bound above it) or
 * unproved (no finite bound), and is counted as one of the three. With --guarantee estimate nothing is proved: a stage is
 * missed by the estimate, or unproved.
 *
 * A stage may take STAGE_TOIL nominal nanoseconds, or, where the problem is large, a number of passes over its points or of
 * Newton's steps. That is far more than stages take where rounding lets the target be reached at all; one that has taken it
 * ends with the bound that it has. The stages after it may take little, so that a stream of such data goes on, until it is worth
 * another try: after 2, 4, 8, ... stages, when the number of points has doubled, or when the bound has doubled; but a bound that
 * doubles at every stage does not buy the whole amount at every stage. */
#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "fit/centre.h"
#include "fit/fit.h"
#include "problem/costs.h"
#include "problem/gap.h"

#define STAGE_TOIL 1e8 /* safety: 3 times the hardest stage of the tests */
/* In passes. Methods by whole gradients need about sqrt(condition) ln(1/accuracy) rounds of 3: this is a condition of 1e6 and 5
 * digits. Those by sampled ones need condition/points ln(1/accuracy), and 32 is that logarithm for 1e-14: twice as many. */
#define PASSES_MOST 30000         /* safety: a condition of 1e6 */
#define PASSES_LEAST_SAMPLED 1000 /* safety: as above */
#define PASSES_OF_CONDITION 64    /* safety: twice the 32 above */
/* Newton's steps, each with a Hessian, its factor, and so many passes to find the length. */
#define NEWTONS_MOST 200    /* safety: some tens have been enough */
#define PASSES_OF_NEWTON 10 /* safety: tries of a length, twice what was seen */
/* After failures: this share of it, or so many passes. What took less was no failure to speak of. */
#define LITTLE_SHARE 1e-2 /* safety: a hopeless stream costs a hundredth more */
#define LITTLE_PASSES 8   /* safety: a step and its proof */
/* The wait is at most 2^this, and what a worse bound or a success buys at least 2^-this. */
#define DOUBLINGS_MOST 40 /* safety: no stream is as long */
#define HALVINGS_MOST 5   /* safety: less than LITTLE_SHARE is not left */
#define WORSE 2.0         /* safety: a doubling cannot happen often */
/* The true optimum, when it is asked for, may take so many times what a stage may. */
#define MEASURING_TIMES 5 /* safety: an end, asked for by the user */

/* ---- classes ---- */

void kf_fit_forget_classes(keepfit_fit *fit)
{
    fit->account.classes.count = fit->account.classes.looked = 0;
}

/* Whether a class has no points (of a weight above 0), which sends a free intercept to infinity where no score is enough. Points
 * are looked at once, as long as none leaves. */
static bool lacks_class(keepfit_fit *fit)
{
    struct kf_presence_of_classes *classes = &fit->account.classes;
    const struct kf_points *points = &fit->task.problem.points;
    size_t count = fit->meaning.labels.count;
    if (count < 2)
        return true;
    if (!KF_RESERVE(classes->seen, classes->capacity, count)) {
        fit->task.problem.objective.memory_failed = true;
        return false;
    }
    if (classes->looked == 0)
        for (size_t k = 0; k < classes->capacity; k++)
            classes->seen[k] = false;
    for (; classes->looked < points->count && classes->count < count; classes->looked++) {
        const struct kf_place *place = &points->place[classes->looked];
        size_t k = fit->meaning.labels.kind == KF_MANY_CLASSES ? (size_t)place->target : place->target > 0;
        assert(k < count);
        classes->count += place->weight > 0 && !classes->seen[k];
        classes->seen[k] = classes->seen[k] || place->weight > 0;
    }
    return classes->count < count;
}

static bool has_no_optimum(keepfit_fit *fit)
{
    return !kf_bounds_gap(&fit->task.problem) && lacks_class(fit);
}

/* ---- patience ---- */

static double passes_of_samples(const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    double condition = kf_smoothness(objective) / (2 * objective->lambda);
    double passes = PASSES_OF_CONDITION * condition / (double)problem->points.count;
    return fmin(fmax(passes, PASSES_LEAST_SAMPLED), PASSES_MOST);
}

static double whole_toil(const keepfit_fit *fit)
{
    const struct kf_task *task = &fit->task;
    const struct kf_objective *objective = &task->problem.objective;
    double pass = kf_cost_pass(&task->problem);
    if (fit->running[fit->running_count - 1].method->scaled && !fit->choice.rival)
        return fmax(STAGE_TOIL, passes_of_samples(&task->problem) * pass);
    if (!objective->type->has_hessian || kf_size(&task->problem) > KF_DENSE_MOST)
        return fmax(STAGE_TOIL, PASSES_MOST * pass);
    return fmax(STAGE_TOIL, NEWTONS_MOST * (kf_cost_hessian(&task->problem) + PASSES_OF_NEWTON * pass));
}

static double little_toil(const keepfit_fit *fit)
{
    return fmax(LITTLE_SHARE * whole_toil(fit), LITTLE_PASSES * kf_cost_pass(&fit->task.problem));
}

/* Of the whole, where a failure is not long ago. */
static double part_of_toil(const keepfit_fit *fit)
{
    double halvings = fmin((double)fit->account.patience.failures, HALVINGS_MOST);
    return fmax(ldexp(whole_toil(fit), -(int)halvings), little_toil(fit));
}

void kf_fit_limit_toil(keepfit_fit *fit)
{
    struct kf_task *task = &fit->task;
    struct kf_patience *patience = &fit->account.patience;
    task->stage.toil = 0;
    task->stage.toil_from = task->problem.objective.fo;
    task->stage.toil_most = INFINITY;
    if (!fit->running[fit->running_count - 1].method->holds_epsilon)
        return;
    bool waited = patience->wait == 1, grown = task->problem.points.count >= 2 * patience->points;
    patience->wait -= patience->wait > 0;
    if (patience->failures == 0 || waited || (patience->wait && grown))
        task->stage.toil_most = whole_toil(fit);
    else if (patience->wait == 0 || patience->worse)
        task->stage.toil_most = part_of_toil(fit);
    else
        task->stage.toil_most = little_toil(fit);
}

void kf_fit_limit_measuring(keepfit_fit *fit)
{
    fit->task.stage.toil = 0;
    fit->task.stage.toil_from = fit->task.problem.objective.fo;
    fit->task.stage.toil_most = MEASURING_TIMES * whole_toil(fit);
}

/* The stage has fallen short of its target. */
static void lose_patience(keepfit_fit *fit, double bound, bool waits)
{
    struct kf_patience *patience = &fit->account.patience;
    const struct kf_task *task = &fit->task;
    bool worn = kf_toil_done(task) > task->stage.toil_most / 2;
    assert(fit->running[fit->running_count - 1].method->holds_epsilon);
    bool vain = !isnan(bound) && !kf_is_limited(&task->problem) && kf_toil_done(task) > little_toil(fit);
    if (patience->wait && task->stage.toil_most <= little_toil(fit)) {
        patience->worse = bound > WORSE * patience->bound;
        fit->account.tally.given_up += !waits;
        return;
    }
    if (kf_is_raised(task->stage.stop) || !(worn || vain))
        return;
    fit->account.tally.given_up++;
    patience->failures++;
    patience->wait = (uint64_t)1 << (patience->failures < DOUBLINGS_MOST ? patience->failures : DOUBLINGS_MOST);
    patience->points = task->problem.points.count;
    patience->bound = isnan(bound) ? INFINITY : bound;
    patience->worse = false;
}

static void keep_patience(keepfit_fit *fit)
{
    fit->account.patience.failures -= fit->account.patience.failures > 0;
    fit->account.patience.wait = 0;
    fit->account.patience.worse = false;
}

/* ---- the account ---- */

void kf_fit_keep_account(keepfit_fit *fit)
{
    struct kf_task *task = &fit->task;
    struct kf_tally *tally = &fit->account.tally;
    bool estimated = task->problem.options->guarantee != KF_GUARANTEE_PROVED;
    struct kf_outcome *outcome = &fit->outcome;
    double bound = outcome->bound = kf_centre_bound(fit, outcome->bound); /* of the model as it is given out */
    if (!isfinite(bound))
        outcome->bound = NAN;
    else
        tally->worst_bound = fmax(tally->worst_bound, bound);
    fit->came_of_it = KEEPFIT_STAGE_NONE;
    if (isnan(outcome->target))
        return;
    bool met = isfinite(bound) && bound <= outcome->target, missed = isfinite(bound) && !met;
    bool waits = !met && !missed && has_no_optimum(fit);
    tally->proved += met && !estimated;
    tally->missed += missed;
    tally->unproved += !missed && (estimated || !met);
    tally->waiting += waits;
    assert(met + missed + waits <= 1 && tally->waiting <= tally->unproved);
    uint64_t given_up = tally->given_up;
    if (met)
        keep_patience(fit);
    else
        lose_patience(fit, bound, waits);
    if (met)
        fit->came_of_it = estimated ? KEEPFIT_STAGE_UNPROVED : KEEPFIT_STAGE_PROVED;
    else if (waits)
        fit->came_of_it = KEEPFIT_STAGE_WAITING;
    else if (kf_is_raised(task->stage.stop))
        fit->came_of_it = KEEPFIT_STAGE_STOPPED;
    else if (tally->given_up > given_up)
        fit->came_of_it = KEEPFIT_STAGE_GIVEN_UP;
    else
        fit->came_of_it = missed ? KEEPFIT_STAGE_MISSED : KEEPFIT_STAGE_UNPROVED;
}

/* Older snapshots did not know which stages had to wait, and took them all for such; nor how many were proved. */
void kf_fit_archive_tally(keepfit_fit *fit, struct kf_archive *archive)
{
    struct kf_tally *tally = &fit->account.tally;
    struct kf_patience *patience = &fit->account.patience;
    if (archive->version < 4) {
        tally->waiting = tally->unproved;
        return;
    }
    uint64_t *counts[] = {&tally->proved,      &tally->waiting, &tally->given_up,
                          &patience->failures, &patience->wait, &patience->points};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        kf_archive_number(archive, counts[k]);
    kf_archive_require(archive, tally->waiting <= tally->unproved);
    kf_archive_real(archive, &patience->bound);
    kf_archive_flag(archive, &patience->worse);
    size_t outcome = (size_t)fit->came_of_it;
    if (archive->version >= KF_VERSION_WITH_OUTCOME)
        kf_archive_count(archive, &outcome, KEEPFIT_STAGE_STOPPED);
    fit->came_of_it = (keepfit_outcome)outcome;
    if (archive->version >= KF_VERSION_WITH_IMPROVEMENTS) {
        kf_archive_number(archive, &tally->improvements);
        kf_archive_number(archive, &fit->task.stage.products);
    }
}
