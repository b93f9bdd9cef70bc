#include "hold/spread.h"

#include <assert.h>
#include <math.h>

#include "kernels/kernels.h"
#include "hold/hold.h"

#define ROUNDS_MOST 100 /* safety: an end */
/* The bound is taken to grow by this multiple of what it did lately. */
#define HASTE 2.0         /* speed: bench/tuning.md */
#define LENGTH_LEAST 1e-6 /* safety: an end */
/* A job that leaves both the bound and the decrement above this share of what they were has met rounding. */
#define NO_GAIN 0.9 /* speed: bench/tuning.md */
#define PATIENCE 64 /* speed: bench/tuning.md; stages, before the next attempt then */

bool kf_spread_create(struct kf_task *task, struct kf_spread *spread)
{
    spread->length = 1;
    return kf_task_vector(task, &spread->x) && kf_task_vector(task, &spread->sum) && kf_task_vector(task, &spread->off);
}

void kf_spread_free(struct kf_spread *spread)
{
    kf_curvature_free(&spread->curvature);
}

void kf_spread_forget(struct kf_spread *spread)
{
    spread->job = KF_IDLE;
    spread->length = 1;
    spread->hopeless = 0;
    spread->fresh = spread->worn = spread->restart = false;
}

void kf_spread_archive(struct kf_task *task, struct kf_spread *spread, struct kf_archive *archive)
{
    double *reals[] = {&spread->length,  &spread->promise, &spread->losses,  &spread->fall,
                       &spread->at_zero, &spread->settled, &spread->hopeless};
    bool *flags[] = {&spread->restart, &spread->worn, &spread->fresh, &spread->chosen};
    size_t job = spread->job;
    kf_archive_count(archive, &job, KF_MEASURING);
    spread->job = (enum kf_job)job;
    kf_task_archive_vector(task, archive, &spread->x);
    kf_task_archive_vector(task, archive, &spread->sum);
    if (archive->version >= KF_VERSION_WITH_ROUNDING)
        kf_task_archive_vector(task, archive, &spread->off);
    if (job == KF_TRYING) /* otherwise it is what the last one left */
        kf_archive_count(archive, &spread->done, task->problem.points.count);
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
        kf_archive_real(archive, reals[k]);
    for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++)
        kf_archive_flag(archive, flags[k]);
    kf_archive_number(archive, &spread->stages);
    if (job != KF_GATHERING && job != KF_MEASURING)
        return;
    kf_curvature_archive(&spread->curvature, task, archive);
    const struct kf_curvature *curvature = &spread->curvature;
    kf_archive_require(archive, job == KF_GATHERING ? curvature->phase == KF_PHASE_GATHERING
                                                    : curvature->phase == KF_PHASE_MEASURING);
}

bool kf_spread_take(struct kf_task *task, struct kf_spread *spread)
{
    bool making = spread->job == KF_GATHERING || spread->job == KF_MEASURING;
    return !making || kf_curvature_take(&spread->curvature, task, task->problem.points.count - 1, 0);
}

/* ---- slices ---- */

static bool values_matter(const struct kf_problem *problem, const struct kf_spread *spread)
{
    return spread->promise > KF_HOLD_FAR || problem->options->epsilon_kind == KF_EPSILON_RELATIVE;
}

/* Point j joins what is known of x', or leaves it with sign -1. 1 FO. */
static void try_point(struct kf_task *task, struct kf_spread *spread, size_t j, double sign)
{
    assert(spread->job == KF_TRYING && (sign == 1 || sign == -1));
    struct kf_objective *objective = &task->problem.objective;
    struct kf_view there = kf_dense_view(spread->x);
    double *factors = task->vectors.factors[0];
    kf_factors(objective, &there, j, factors);
    objective->type->add(objective, sign, j, factors, spread->sum);
    kf_rounding_of_point(objective, spread->x, j, factors, 0, &(struct kf_tracked){spread->sum, spread->off});
    if (!values_matter(&task->problem, spread))
        return;
    double weight = sign * task->problem.points.place[j].weight;
    double after = weight * objective->type->value(objective, &there, j);
    spread->losses += after;
    if (spread->promise <= KF_HOLD_FAR)
        return;
    spread->fall += weight * objective->type->value(objective, &task->iterate.view, j) - after;
    spread->at_zero += weight * kf_loss_at_zero(objective, j);
}

static size_t slice(const struct kf_task *task, size_t done)
{
    assert(done <= task->problem.points.count);
    uint64_t left = kf_left(task), rest = task->problem.points.count - done;
    return (size_t)(left < rest ? left : rest);
}

/* As much of the job as the stage may do; *measures is how many leverages that is. True: the job is done. */
static bool go_on(struct kf_task *task, struct kf_spread *spread, size_t *measures)
{
    struct kf_curvature *curvature = &spread->curvature;
    size_t count = task->problem.points.count;
    switch (spread->job) {
    case KF_TRYING:
        for (size_t end = spread->done + slice(task, spread->done); spread->done < end; spread->done++)
            try_point(task, spread, spread->done, 1);
        return spread->done == count;
    case KF_GATHERING: {
        size_t end = curvature->points + slice(task, curvature->points);
        if (!kf_curvature_gather(curvature, task, NULL, end))
            spread->job = KF_IDLE; /* no memory: x is held as it is */
        return curvature->points == count;
    }
    case KF_MEASURING:
        *measures -= kf_leverages_measure(curvature, &task->problem, *measures);
        return curvature->leverages.known == curvature->points;
    default:
        return false;
    }
}

void kf_spread_leave(struct kf_task *task, struct kf_hold *hold, size_t j)
{
    struct kf_spread *spread = &hold->spread;
    if (spread->job == KF_TRYING && j < spread->done) {
        try_point(task, spread, j, -1);
        spread->done--;
    }
    if (spread->job != KF_GATHERING && spread->job != KF_MEASURING)
        return;
    kf_curvature_leave(&spread->curvature, task, j, 0);
    if (spread->curvature.phase != KF_PHASE_GATHERING && spread->curvature.phase != KF_PHASE_MEASURING)
        spread->job = KF_IDLE; /* too much of H has left */
}

/* ---- beginnings ---- */

static bool wants_anchor(const struct kf_task *task, struct kf_hold *hold)
{
    const struct kf_spread *spread = &hold->spread;
    if (!kf_has_factor(&hold->certificate.curvature) || (spread->worn && !spread->fresh))
        return true;
    return hold->reuse ? kf_hold_is_outgrown(task, hold) : !spread->fresh;
}

/* Whether there is reason to begin a job now. */
static bool is_needed(struct kf_task *task, struct kf_hold *hold)
{
    const struct kf_spread *spread = &hold->spread;
    if (spread->stages < PATIENCE && hold->certificate.now.bound <= 1.1 * spread->hopeless)
        return false;
    if (!kf_certificate_is_good(task, &hold->certificate))
        return true;
    double passes = wants_anchor(task, hold) ? 3 : 1, left = fmax((double)kf_left(task), 1);
    double growth =
        spread->stages ? fmax(hold->certificate.now.bound - spread->settled, 0) / (double)spread->stages : 0;
    return hold->certificate.now.bound + HASTE * growth * passes * (double)task->problem.points.count / left >
           hold->certificate.now.target;
}

static void begin_try(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_spread *spread = &hold->spread;
    kf_copy(&task->problem, spread->x, task->iterate.x);
    if (spread->restart)
        kf_clear(&task->problem, spread->x);
    else
        kf_add(kf_size(&task->problem), spread->length, hold->direction, spread->x);
    kf_clear(&task->problem, spread->sum);
    kf_clear(&task->problem, spread->off);
    spread->done = 0;
    spread->losses = spread->fall = spread->at_zero = 0;
    spread->job = KF_TRYING;
}

static bool begin_gathering(struct kf_task *task, struct kf_spread *spread)
{
    kf_curvature_clear(&spread->curvature); /* of an older one snapshots would have numbers that nothing depends on */
    bool room = kf_curvature_begin(&spread->curvature, task);
    spread->job = room ? KF_GATHERING : KF_IDLE;
    return room;
}

/* False: nothing to do, or no way to. */
static bool begin(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_spread *spread = &hold->spread;
    if (kf_left(task) == 0 || !is_needed(task, hold))
        return false;
    bool must_gather = !kf_has_factor(&hold->certificate.curvature);
    if (must_gather || (wants_anchor(task, hold) && !spread->restart))
        return begin_gathering(task, spread);
    spread->promise = kf_certificate_aim(task, &hold->certificate, hold->direction);
    if (spread->promise > KF_HOLD_FAR && !spread->fresh && !spread->restart)
        return begin_gathering(task, spread);
    if (isfinite(spread->promise) && spread->promise > 0)
        begin_try(task, hold);
    else
        spread->hopeless = hold->certificate.now.bound;
    return spread->job == KF_TRYING;
}

/* ---- ends ---- */

static void settle(struct kf_task *task, struct kf_hold *hold)
{
    kf_certificate_judge(task, &hold->certificate, 1);
    hold->spread.settled = hold->certificate.now.bound;
    hold->spread.stages = 0;
    hold->spread.job = KF_IDLE;
}

/* How much less the objective is at x' than at x, where that was gathered. */
static double fall_of(struct kf_task *task, const struct kf_spread *spread)
{
    struct kf_objective *objective = &task->problem.objective;
    return spread->fall * kf_inverse_weight(objective) + kf_regulariser(objective, task->iterate.x) -
           kf_regulariser(objective, spread->x);
}

/* The slope at x' along the step says whether x' is better; of a step that promised much, the values. */
static bool is_better(struct kf_task *task, struct kf_spread *spread, double slope)
{
    if (spread->promise <= KF_HOLD_FAR)
        return slope <= KF_HOLD_SLOPE_MOST * spread->promise;
    double least = spread->restart ? 0 : 1e-4 * spread->length * spread->promise;
    bool turned = !spread->restart && slope > KF_HOLD_SLOPE_MOST * spread->promise;
    return !turned && fall_of(task, spread) >= least;
}

/* The step was too long. An old Hessian is to blame first; with one of this x the step is shortened. Where the losses are flat
 * and x is worse than 0, no way leads back: then 0 is the next to be tried. */
static void reject(struct kf_task *task, struct kf_hold *hold, double slope)
{
    struct kf_spread *spread = &hold->spread;
    double losses = spread->losses + spread->fall, weight = task->problem.objective.weight_total;
    bool far = spread->promise > KF_HOLD_FAR;
    spread->restart = !spread->restart && far &&
                      losses + weight * kf_regulariser(&task->problem.objective, task->iterate.x) > spread->at_zero;
    spread->worn = true;
    if (spread->fresh)
        spread->length *= slope > 0 ? fmax(spread->promise / (spread->promise + slope), 0.05) : 0.25;
    if (spread->length < LENGTH_LEAST)
        spread->hopeless = hold->certificate.now.bound;
    settle(task, hold);
}

static void end_try(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_spread *spread = &hold->spread;
    double bound = hold->certificate.now.bound, before = spread->promise;
    kf_complete_gradient(&task->problem.objective, spread->sum, spread->x, hold->certificate.complete);
    double slope = kf_dot(kf_size(&task->problem), hold->certificate.complete, hold->direction);
    if (!is_better(task, spread, slope)) {
        reject(task, hold, slope);
        return;
    }
    kf_copy(&task->problem, task->iterate.x, spread->x);
    kf_copy(&task->problem, hold->certificate.sum, spread->sum);
    kf_copy(&task->problem, hold->certificate.off, spread->off);
    kf_certificate_moved(task, &hold->certificate, spread->losses);
    settle(task, hold);
    bool serves = kf_has_factor(&hold->certificate.curvature); /* with a point that left meanwhile, it may be gone */
    double after = serves ? kf_certificate_aim(task, &hold->certificate, hold->direction) : INFINITY;
    spread->worn = spread->restart || !(after < KF_HOLD_CONTRACTION * before);
    bool whole = serves && spread->fresh && spread->length == 1 && !spread->restart;
    spread->hopeless = whole && after > NO_GAIN * before && hold->certificate.now.bound > NO_GAIN * bound
                           ? hold->certificate.now.bound
                           : 0;
    spread->fresh = spread->restart = false;
    spread->length = 1;
    task->stage.steps++;
}

/* The new curvature takes over. */
static void take_over(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_spread *spread = &hold->spread;
    struct kf_curvature curvature = hold->certificate.curvature;
    hold->certificate.curvature = spread->curvature;
    spread->curvature = curvature;
    spread->fresh = true;
    spread->worn = false;
    spread->length = 1;
    settle(task, hold);
}

static void end_gathering(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_spread *spread = &hold->spread;
    if (kf_curvature_close(&spread->curvature, task) != KEEPFIT_OK)
        spread->job = KF_IDLE;
    else if (kf_hold_is_early(&task->problem, hold))
        take_over(task, hold);
    else
        spread->job = kf_curvature_begin_measuring(&spread->curvature, task) ? KF_MEASURING : KF_IDLE;
    spread->chosen = false;
}

static void end_measuring(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_spread *spread = &hold->spread;
    assert(spread->curvature.phase == KF_PHASE_MEASURING);
    bool again = false;
    if (!spread->chosen && !kf_curvature_choose(&spread->curvature, task, hold->certificate.now.target, &again)) {
        spread->job = KF_IDLE;
        return;
    }
    spread->chosen = true;
    if (again)
        return;
    struct kf_tracked tracked = kf_certificate_tracked(&hold->certificate);
    kf_curvature_end_measuring(&spread->curvature, task, &tracked);
    take_over(task, hold);
}

void kf_spread_work(struct kf_task *task, struct kf_hold *hold)
{
    struct kf_spread *spread = &hold->spread;
    size_t measures = (size_t)kf_left(task);
    spread->stages++;
    for (int round = 0; round < ROUNDS_MOST; round++) {
        if (spread->job == KF_IDLE && !begin(task, hold))
            return;
        if (!go_on(task, spread, &measures))
            return;
        if (spread->job == KF_TRYING)
            end_try(task, hold);
        else if (spread->job == KF_GATHERING)
            end_gathering(task, hold);
        else if (spread->job == KF_MEASURING)
            end_measuring(task, hold);
    }
}
