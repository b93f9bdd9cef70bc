#include "certificate/curvature.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "certificate/internal.h"
#include "kernels/exponential.h"
#include "kernels/kernels.h"

/* A point's curvature is less than it is by at most this times its weight (loss.h: curves_of). */
#define CURVES_OFF 0x1p-46 /* proof: "Lemma 12 (leverages carried over)" */

bool kf_curvature_suits(const struct kf_problem *problem)
{
    const struct kf_objective *objective = &problem->objective;
    return kf_is_single(objective) && kf_fall_of(objective->loss) && objective->lambda > 0 && kf_hessian_for(problem) &&
           kf_domain_is_whole(&problem->domain);
}

void kf_curvature_free(struct kf_curvature *curvature)
{
    if (curvature->hessian.type)
        curvature->hessian.type->free(&curvature->hessian);
    free(curvature->anchor);
    free(curvature->leverages.of);
    free(curvature->rooms.of);
    free(curvature->excesses);
    kf_curves_free(&curvature->curves);
    memset(curvature, 0, sizeof *curvature);
}

void kf_curvature_clear(struct kf_curvature *curvature)
{
    struct kf_leverages *leverages = &curvature->leverages;
    struct kf_followed *followed = &curvature->followed;
    curvature->phase = KF_PHASE_NONE;
    curvature->weight = curvature->lambda = curvature->rooms.radius = 0;
    curvature->since = (struct kf_since){.stretch = 0};
    *leverages = (struct kf_leverages){.of = leverages->of, .capacity = leverages->capacity};
    *followed = (struct kf_followed){.at_sum = followed->at_sum, .at_x = followed->at_x};
}

/* ---- room ---- */

/* p, H^-1 sum and H^-1 x. */
static bool grow_vectors(struct kf_curvature *curvature, size_t capacity)
{
    size_t old = curvature->anchor_capacity;
    double *moved = kf_allocate_numbers(3 * capacity);
    if (!moved)
        return false;
    for (size_t k = 0; k < 3 && old; k++)
        memcpy(moved + k * capacity, curvature->anchor + k * old, curvature->hessian.size * sizeof *moved);
    free(curvature->anchor);
    curvature->anchor = moved;
    curvature->followed.at_sum = moved + capacity;
    curvature->followed.at_x = moved + 2 * capacity;
    curvature->anchor_capacity = capacity;
    return true;
}

bool kf_curvature_room(struct kf_curvature *curvature, const struct kf_problem *problem, size_t capacity)
{
    struct kf_hessian *hessian = &curvature->hessian;
    if (!hessian->type)
        hessian->type = kf_hessian_for(problem);
    assert(hessian->type && capacity >= hessian->size);
    bool room = (capacity <= curvature->anchor_capacity || grow_vectors(curvature, capacity)) &&
                (capacity <= hessian->capacity || hessian->type->room(hessian, capacity));
    if (!room)
        kf_curvature_free(curvature);
    return room;
}

static bool reserve(struct kf_curvature *curvature, const struct kf_problem *problem, size_t size)
{
    size_t capacity = size < 16 ? 16 : (size + size / 2 + 7) / 8 * 8;
    return size <= curvature->hessian.capacity || kf_curvature_room(curvature, problem, capacity);
}

bool kf_curvature_choose(struct kf_curvature *curvature, struct kf_task *task, double target, bool *again)
{
    return kf_fall(&task->problem)->choose(curvature, task, target, again);
}

bool kf_curvature_recentres(const struct kf_problem *problem)
{
    return kf_curvature_suits(problem) && kf_fall(problem)->recentres;
}

bool kf_curvature_foretells(const struct kf_problem *problem)
{
    return kf_fall(problem)->inherits;
}

size_t kf_leverages_listed(const struct kf_curvature *curvature)
{
    return curvature->phase == KF_PHASE_MEASURING ? curvature->points : curvature->leverages.known;
}

/* The points of the anchor have nothing in new coordinates: there the Hessian is the regulariser's. */
static bool follow_size(struct kf_curvature *curvature, const struct kf_problem *problem)
{
    struct kf_hessian *hessian = &curvature->hessian;
    size_t size = kf_size(problem), before = hessian->size;
    if (size == before)
        return true;
    if (!reserve(curvature, problem, size))
        return false;
    for (size_t v = 0; v < 3; v++)
        memset(curvature->anchor + v * curvature->anchor_capacity + before, 0, (size - before) * sizeof(double));
    hessian->type->widen(hessian, size, 2 * curvature->lambda, curvature->phase == KF_PHASE_GATHERING);
    return true;
}

/* ---- what is left of it ---- */

/* What points that have left leave of the rest of H: those that were given up are a part of H, too. (1-L)(1 - lost/(1-L')) is at most
 * 1 - L - lost for all L up to L'. */
static double kept(const struct kf_curvature *curvature)
{
    return fmax(1 - curvature->since.lost / (curvature->plain ? 1 : 1 - KF_GIVEN_UP_MOST), 0);
}

double kf_curvature_shrinkage(const struct kf_curvature *curvature, const struct kf_problem *problem, double stretch)
{
    double weight = fmin(curvature->weight / problem->objective.weight_total, 1);
    return kf_fall(problem)->share(curvature, problem, stretch) * weight * kept(curvature) *
           (1 - curvature->hessian.slack) / KF_UPWARD;
}

static double shrinkage(const struct kf_curvature *curvature, const struct kf_problem *problem)
{
    return kf_curvature_shrinkage(curvature, problem, curvature->since.stretch);
}

/* ---- making one ---- */

/* What cannot be done for want of memory is an error of the stage. */
static bool has_room(struct kf_task *task, bool room)
{
    task->problem.objective.memory_failed |= !room;
    return room;
}

bool kf_curvature_begin(struct kf_curvature *curvature, struct kf_task *task)
{
    const struct kf_objective *objective = &task->problem.objective;
    size_t size = kf_size(&task->problem);
    curvature->phase = KF_PHASE_NONE;
    if (!has_room(task, reserve(curvature, &task->problem, size)))
        return false;
    curvature->hessian.size = size;
    curvature->hessian.type->clear(&curvature->hessian);
    kf_copy(&task->problem, curvature->anchor, task->iterate.x);
    curvature->since.blur = kf_score_rounding(objective, kf_score_most(objective, task->iterate.x));
    curvature->points = curvature->leverages.known = 0;
    curvature->phase = KF_PHASE_GATHERING;
    return true;
}

bool kf_curvature_gather(struct kf_curvature *curvature, struct kf_task *task, const double *slopes, size_t to)
{
    struct kf_hessian *hessian = &curvature->hessian;
    assert(curvature->phase == KF_PHASE_GATHERING && to >= curvature->points && to <= task->problem.points.count);
    if (!has_room(task, follow_size(curvature, &task->problem) && kf_rooms_reserve(curvature, &task->problem, to)))
        return false;
    const double *known = kf_rooms_slopes(curvature, task, slopes, to);
    if (!has_room(task, hessian->type->gather(hessian, &curvature->curves, task, curvature->anchor, known,
                                              curvature->points, to)))
        return false;
    kf_rooms_measure(curvature, &task->problem, to);
    curvature->points = to;
    return true;
}

keepfit_status kf_curvature_close(struct kf_curvature *curvature, struct kf_task *task)
{
    const struct kf_objective *objective = &task->problem.objective;
    struct kf_hessian *hessian = &curvature->hessian;
    size_t size = hessian->size;
    assert(curvature->phase == KF_PHASE_GATHERING);
    curvature->phase = KF_PHASE_NONE;
    kf_spend(&task->stage, kf_cost_factor((double)size));
    if (!hessian->type->close(hessian, &task->problem))
        return KEEPFIT_DIVERGED;
    curvature->weight = objective->weight_total;
    curvature->lambda = objective->lambda;
    curvature->since.lost = curvature->since.stretch = curvature->since.before = curvature->leverages.later = 0;
    curvature->phase = KF_PHASE_ANCHORED;
    return KEEPFIT_OK;
}

struct kf_heritage kf_curvature_bequeath(struct kf_curvature *curvature, const struct kf_problem *problem, double c)
{
    struct kf_hessian *hessian = &curvature->hessian;
    struct kf_heritage heritage = {
        .c = c,
        .slack = hessian->slack,
        .faint = CURVES_OFF * curvature->leverages.largest / (1 - hessian->slack) * KF_UPWARD,
        .size = hessian->size,
        .known = kf_is_certified(curvature) && kf_fall(problem)->inherits ? curvature->leverages.known : 0};
    if (heritage.known && !curvature->plain && hessian->type->compare && !kf_leverages_are_marked(curvature)) {
        for (size_t k = 0; k < hessian->size; k++)
            heritage.margin = fmax(heritage.margin, kf_hessian_margin(hessian, k) / kf_hessian_diagonal(hessian, k));
        hessian->type->put_by(hessian);
        heritage.compares = true;
    }
    return heritage;
}

keepfit_status kf_curvature_inherit(struct kf_curvature *curvature, struct kf_task *task,
                                    const struct kf_heritage *heritage)
{
    struct kf_hessian *hessian = &curvature->hessian;
    double least = heritage->c - heritage->faint, size = (double)hessian->size;
    curvature->leverages.known = heritage->known;
    if (heritage->compares && heritage->size == hessian->size && kf_leverages_are_dear(curvature, &task->problem)) {
        kf_spend(&task->stage, kf_cost_comparison(size));
        least = fmax(least, hessian->type->compare(hessian, heritage->margin) * (1 - heritage->slack));
    }
    if (!(least > 0))
        curvature->leverages.known = 0;
    else if (heritage->known)
        curvature->leverages.inflation *= KF_UPWARD / least;
    return KEEPFIT_OK;
}

keepfit_status kf_curvature_anchor(struct kf_curvature *curvature, struct kf_task *task, const double *slopes)
{
    struct kf_heritage heritage =
        kf_curvature_bequeath(curvature, &task->problem, shrinkage(curvature, &task->problem));
    if (!kf_curvature_begin(curvature, task) ||
        !kf_curvature_gather(curvature, task, slopes, task->problem.points.count))
        return KEEPFIT_NO_MEMORY;
    keepfit_status status = kf_curvature_close(curvature, task);
    return status == KEEPFIT_OK ? kf_curvature_inherit(curvature, task, &heritage) : status;
}

/* All is known that bounds at the anchor need. Points may have come since. */
static void be_certified(struct kf_curvature *curvature, const struct kf_task *task, const struct kf_tracked *tracked)
{
    curvature->leverages.later = 0;
    for (size_t j = curvature->points; j < task->problem.points.count; j++)
        curvature->leverages.later = fmax(curvature->leverages.later, kf_leverage(curvature, &task->problem, j));
    curvature->phase = KF_PHASE_CERTIFIED;
    kf_curvature_move(curvature, task, tracked);
    curvature->rooms.radius = kf_fall(&task->problem)->radius(curvature); /* what scores are off by is known now */
}

static bool reserve_leverages(struct kf_curvature *curvature)
{
    return KF_RESERVE(curvature->leverages.of, curvature->leverages.capacity, curvature->points);
}

bool kf_curvature_certify(struct kf_curvature *curvature, struct kf_task *task, const struct kf_tracked *tracked,
                          double target)
{
    if (!has_room(task, reserve_leverages(curvature)))
        return false;
    curvature->leverages.largest = 0;
    kf_spend(&task->stage, kf_cost_inverse((double)curvature->hessian.size));
    bool found = kf_fall(&task->problem)->find(curvature, task, target);
    if (found)
        be_certified(curvature, task, tracked);
    else
        curvature->leverages.known = 0;
    return found;
}

bool kf_curvature_begin_measuring(struct kf_curvature *curvature, struct kf_task *task)
{
    if (!has_room(task, reserve_leverages(curvature)) || !curvature->hessian.type->invert(&curvature->hessian))
        return false;
    memset(curvature->leverages.of, 0, curvature->points * sizeof *curvature->leverages.of);
    curvature->leverages.known = 0;
    curvature->phase = KF_PHASE_MEASURING;
    return true;
}

void kf_curvature_end_measuring(struct kf_curvature *curvature, const struct kf_task *task,
                                const struct kf_tracked *tracked)
{
    curvature->leverages.largest = 0;
    for (size_t j = 0; j < curvature->points; j++)
        curvature->leverages.largest = fmax(curvature->leverages.largest, curvature->leverages.of[j]);
    curvature->leverages.reach = sqrt(curvature->leverages.largest);
    curvature->leverages.inflation = 1;
    curvature->leverages.measured = curvature->weight;
    be_certified(curvature, task, tracked);
}

/* ---- using it ---- */

/* Both the product's rounding and H's own are at most gamma (sum |v_k| sqrt(H_kk))^2. */
double kf_curvature_length(const struct kf_curvature *curvature, const double *v)
{
    double *bent = kf_hessian_scratch(&curvature->hessian, 1), sizes = 0;
    curvature->hessian.type->times(&curvature->hessian, v, bent);
    for (size_t k = 0; k < curvature->hessian.size; k++)
        sizes += fabs(v[k]) * sqrt(curvature->hessian.peak[k]);
    double off = kf_gamma(curvature->hessian.operations + 2 * (double)curvature->hessian.size + 32) * sizes * sizes;
    return sqrt((fmax(kf_dot(curvature->hessian.size, v, bent), 0) + off) / (1 - curvature->hessian.slack)) * KF_UPWARD;
}

/* out = H^-1 v, and by how much times its width each number may be off: gamma sum |M_kl| |v_l|, |M_kl| <= width_k width_l. Returns |v|_{H^-1}. */
static double bend_vector(const struct kf_curvature *curvature, const double *v, double *out, double *off)
{
    double sizes = 0, gamma = kf_gamma((double)curvature->hessian.size + 8);
    curvature->hessian.type->times_inverse(&curvature->hessian, v, out);
    for (size_t k = 0; k < curvature->hessian.size; k++)
        sizes += curvature->hessian.width[k] * fabs(v[k]);
    *off = gamma * sizes * KF_UPWARD;
    return sqrt(fmax(kf_dot(curvature->hessian.size, v, out), 0) + 2 * gamma * sizes * sizes) * KF_UPWARD;
}

void kf_curvature_move(struct kf_curvature *curvature, const struct kf_task *task, const struct kf_tracked *tracked)
{
    if (!kf_is_certified(curvature))
        return;
    size_t size = curvature->hessian.size, free = task->problem.objective.free;
    double *delta = kf_hessian_scratch(&curvature->hessian, 0);
    for (size_t k = 0; k < size; k++)
        delta[k] = task->iterate.x[k] - curvature->anchor[k];
    const struct kf_fall *fall = kf_fall(&task->problem);
    double moved = fall->stretch_of(curvature, kf_curvature_length(curvature, delta));
    curvature->since.stretch = curvature->since.before + moved;
    curvature->since.rough = moved > fall->rough;
    kf_copy(&task->problem, delta, task->iterate.x);
    memset(delta, 0, free * sizeof *delta);
    curvature->followed.x_length = bend_vector(curvature, delta, curvature->followed.at_x, &curvature->followed.x_off);
    curvature->followed.sum_length =
        bend_vector(curvature, tracked->sum, curvature->followed.at_sum, &curvature->followed.sum_off);
    double blur = kf_score_rounding(&task->problem.objective, kf_score_most(&task->problem.objective, task->iterate.x));
    curvature->since.blur = fmax(curvature->since.blur, blur);
}

bool kf_curvature_refine(struct kf_curvature *curvature, const struct kf_task *task, const double *slopes)
{
    if (!kf_is_certified(curvature) || !curvature->since.rough)
        return false;
    double *delta = kf_hessian_scratch(&curvature->hessian, 0);
    for (size_t k = 0; k < curvature->hessian.size; k++)
        delta[k] = task->iterate.x[k] - curvature->anchor[k];
    double most = kf_fall(&task->problem)->look(curvature, &task->problem, slopes, delta);
    curvature->since.stretch = fmin(curvature->since.stretch, most);
    curvature->since.rough = false;
    return true;
}

bool kf_curvature_is_far(const struct kf_curvature *curvature, const struct kf_problem *problem, double target)
{
    return kf_is_certified(curvature) && kf_fall(problem)->is_far(curvature, target);
}

double kf_leverage_upward(const struct kf_curvature *curvature, const keepfit_row *row, double leverage)
{
    double sizes = kf_hessian_size_of_row(&curvature->hessian, row);
    return fmax(leverage, 0) + kf_gamma(2 * (double)row->count + 8) * sizes * sizes;
}

/* The sum changes by factor*a_j: so does what H^-1 makes of it. Returns a_j'H^-1 a_j. */
static double change_sum(struct kf_curvature *curvature, const struct kf_problem *problem, size_t j, double factor)
{
    keepfit_row row = kf_points_row(&problem->points, j);
    const struct kf_hessian *hessian = &curvature->hessian;
    double *bent, on_row = hessian->type->bend(hessian, problem->objective.kernels, &row, &bent),
                  sizes = kf_hessian_size_of_row(hessian, &row);
    problem->objective.kernels->add(curvature->hessian.size, factor, bent, curvature->followed.at_sum);
    on_row = fmax(on_row, 0) + kf_gamma(2 * (double)row.count + 8) * sizes * sizes;
    curvature->followed.sum_length += fabs(factor) * sqrt(on_row) * KF_UPWARD;
    curvature->followed.sum_off += fabs(factor) * kf_gamma((double)row.count + 8) * sizes * KF_UPWARD +
                                   2 * KF_UNIT * curvature->followed.sum_length;
    return on_row;
}

/* The share of H that leaves with point j. */
static double share_of(const struct kf_curvature *curvature, size_t j, double leverage)
{
    return curvature->curves.of[j] / curvature->weight * leverage / (1 - curvature->hessian.slack) * KF_UPWARD;
}

void kf_curvature_leave(struct kf_curvature *curvature, struct kf_task *task, size_t j, double factor)
{
    if (curvature->phase == KF_PHASE_NONE)
        return; /* as it is for objectives without a loss, whose curvature is not known */
    bool inside = j<curvature->points, has_marks = kf_concordance(&task->problem)> 0;
    bool was_certified = kf_is_certified(curvature);
    size_t listed = kf_leverages_listed(curvature);
    if (was_certified || curvature->phase == KF_PHASE_MEASURING) {
        double leverage = was_certified ? change_sum(curvature, &task->problem, j, -factor)
                                        : kf_leverage(curvature, &task->problem, j);
        bool left_out = has_marks && inside && curvature->leverages.of[j] < 0;
        if (inside) /* without one that was left out H is the same, but its rounding is not that of the points that are there */
            curvature->since.lost += left_out ? KF_UNDERFLOW : share_of(curvature, j, leverage);
    }
    if (j < listed)
        kf_points_close_gap(curvature->leverages.of, listed, 1, j);
    curvature->leverages.known -= j < curvature->leverages.known;
    if (curvature->phase >= KF_PHASE_MEASURING && !(curvature->since.lost < 1)) {
        curvature->phase = KF_PHASE_ANCHORED;
        curvature->leverages.known = 0;
    }
    if (!inside)
        return;
    if (curvature->phase == KF_PHASE_GATHERING) {
        kf_hessian_note_peaks(&curvature->hessian);
        curvature->hessian.type->take_out(&curvature->hessian, &curvature->curves, &task->problem, j, 1);
    }
    kf_points_close_gap(curvature->curves.of, curvature->points, 1, j);
    if (kf_fall(&task->problem)->has_rooms)
        kf_points_close_gap(curvature->rooms.of, curvature->points, 1, j);
    curvature->points--;
    if (curvature->phase == KF_PHASE_ANCHORED)
        curvature->phase = KF_PHASE_NONE; /* nothing says what is left of H */
}

bool kf_curvature_take(struct kf_curvature *curvature, struct kf_task *task, size_t j, double factor)
{
    if (curvature->phase != KF_PHASE_NONE && !follow_size(curvature, &task->problem))
        return false;
    if (!kf_is_certified(curvature))
        return true;
    kf_spend(&task->stage, kf_cost_leverages(&task->problem, (double)curvature->hessian.size, 1));
    double leverage = change_sum(curvature, &task->problem, j, factor);
    curvature->leverages.later = fmax(curvature->leverages.later, leverage);
    if (curvature->plain || kf_concordance(&task->problem) == 0 || curvature->leverages.known != j)
        return true;
    if (!KF_RESERVE(curvature->leverages.of, curvature->leverages.capacity, j + 1))
        return false;
    curvature->leverages.of[curvature->leverages.known++] = leverage / curvature->leverages.inflation;
    return true;
}

void kf_curvature_step(const struct kf_curvature *curvature, const double *gradient, double *direction)
{
    for (size_t k = 0; k < curvature->hessian.size; k++)
        direction[k] = -gradient[k];
    curvature->hessian.type->step(&curvature->hessian, direction);
}
