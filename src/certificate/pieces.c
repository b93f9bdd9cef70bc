/* Losses that are made of pieces, in which the curvature is constant: a point's does not fall at all while its score stays inside its piece.
 * docs/guarantee.md, Theorem 27 (losses made of pieces).
 *
 * H is made of the points that lie inside a curved piece and are far enough from its ends. Point j's score may move by room_j, and moves by
 * at most R_j |v|_H, R_j^2 its leverage; so all curvatures that H is made of are there while x is within
 *
 *   radius  =  min room_j/R_j
 *
 * of the anchor, in |.|_H, or within what is left of it at x: radius - stretch. Along a way from x of unit length in |.|_H the slope of g
 * begins at -N or more, N = |g|_{H^-1}, and grows by c at least up to there, c what has become of H as for all losses. So it is not below 0 at N/c,
 * if that is not more than what is left, and
 *
 *   gap <= N^2/(2c)   where   N <= c (radius - stretch);   nothing is proved otherwise.
 *
 * Points whose room is small beside R_j times what the target needs are left out of H; they have a part in the gradient alone. */
#include <math.h>

#include "base/memory.h"
#include "certificate/internal.h"
#include "kernels/kernels.h"
#include "problem/costs.h"

/* Points are left out by their room_j/R_j, in steps of a bin; those beyond the last are always in H. */
#define BINS 64        /* safety: room on the stack */
#define BINS_A_UNIT 16 /* speed: bench/tuning.md */
/* With less than this left of the radius, times what N is at the target, a new H is worth its while. */
#define RADIUS_LEFT 1.0 /* speed: bench/tuning.md */
/* Scores, quotients and roots: few operations on a number that is subtracted from another. */
#define DOWNWARD (1 - 0x1p-40) /* proof: "Theorem 27 (losses made of pieces)" */

/* ---- rooms ---- */

bool kf_rooms_reserve(struct kf_curvature *curvature, const struct kf_problem *problem, size_t count)
{
    return !kf_fall(problem)->has_rooms || KF_RESERVE(curvature->rooms.of, curvature->rooms.capacity, count);
}

const double *kf_rooms_slopes(struct kf_curvature *curvature, struct kf_task *task, const double *slopes, size_t to)
{
    struct kf_view view = kf_dense_view(curvature->anchor);
    if (!kf_fall(&task->problem)->has_rooms)
        return slopes;
    for (size_t j = curvature->points; j < to; j++)
        if (slopes)
            curvature->rooms.of[j] = slopes[j];
        else
            kf_factors(&task->problem.objective, &view, j, curvature->rooms.of + j);
    return curvature->rooms.of;
}

/* How far point j's score may move, where its weighted slope is this; 0 where it has no curvature. */
static double room_of(const struct kf_problem *problem, size_t j, double slope)
{
    const struct kf_objective *objective = &problem->objective;
    double weight = problem->points.place[j].weight, room = 0;
    if (weight > 0 && objective->loss->piece(slope / weight, objective->delta, &room) > 0)
        return room;
    return 0;
}

void kf_rooms_measure(struct kf_curvature *curvature, const struct kf_problem *problem, size_t to)
{
    for (size_t j = curvature->points; j < to && kf_fall(problem)->has_rooms; j++)
        curvature->rooms.of[j] = room_of(problem, j, curvature->rooms.of[j]);
}

void kf_rooms_archive(struct kf_curvature *curvature, const struct kf_problem *problem, struct kf_archive *archive)
{
    if (!kf_fall(problem)->has_rooms)
        return;
    kf_archive_array(archive, &curvature->rooms.of, &curvature->rooms.capacity, curvature->points);
    if (kf_is_certified(curvature))
        kf_archive_real(archive, &curvature->rooms.radius);
    kf_archive_require(archive, curvature->rooms.radius >= 0);
}

/* How far x may move in |.|_H with point j's score moving by no more than `room`. */
static double ball_of(const struct kf_curvature *curvature, size_t j, double room)
{
    double left = room - curvature->since.blur, leverage = curvature->leverages.of[j];
    return leverage > 0 ? left / sqrt(leverage) * (left > 0 ? DOWNWARD : 1) : INFINITY;
}

/* ---- what H keeps ---- */

/* Points that have no room, whatever their leverage is. Returns whether there are such that H has been made of. */
static bool mark_roomless(struct kf_curvature *curvature)
{
    bool any = false;
    for (size_t j = 0; j < curvature->points; j++) {
        bool out = !(curvature->rooms.of[j] > curvature->since.blur);
        curvature->leverages.of[j] = out ? -1 : 0;
        any |= out && curvature->curves.of[j] > 0;
    }
    return any;
}

/* Those that do not reach so far. Returns how many. */
static size_t mark_near(struct kf_curvature *curvature, double radius)
{
    size_t count = 0;
    for (size_t j = 0; j < curvature->points; j++)
        if (curvature->leverages.of[j] >= 0 && !(ball_of(curvature, j, curvature->rooms.of[j]) >= radius)) {
            curvature->leverages.of[j] = -1;
            count++;
        }
    return count;
}

/* At which room_j/R_j, with H as it is, points had better be left out. With the share f of H left leverages are about R_j/sqrt(f), and N/sqrt(f)
 * takes N's place: the bound is at the target, and holds, up to N^2 = min(2 target f, (radius f)^2). */
static double best_radius(const struct kf_curvature *curvature, double target)
{
    double share[BINS + 1] = {0}, unit = sqrt(2 * target) / BINS_A_UNIT, total = 0, left = 0, best = 0, radius = 0;
    for (size_t j = 0; j < curvature->points; j++) {
        double leverage = curvature->leverages.of[j];
        if (!(leverage > 0) || !(curvature->curves.of[j] > 0))
            continue;
        double bin = ball_of(curvature, j, curvature->rooms.of[j]) / unit;
        share[bin < BINS ? (size_t)fmax(bin, 0) : BINS] += curvature->curves.of[j] * leverage;
        total += curvature->curves.of[j] * leverage;
    }
    for (size_t k = BINS + 1; k-- > 0;) {
        left += share[k] / total;
        double at = (double)k * unit, least = fmin(2 * target * left, at * left * at * left);
        if (least > best) {
            best = least;
            radius = at;
        }
    }
    return radius;
}

/* H again without the points that are marked. */
static bool without_marked(struct kf_curvature *curvature, struct kf_task *task)
{
    bool room = kf_leverages_assemble(curvature, task);
    kf_spend(&task->stage, kf_cost_squares(&task->problem, (double)curvature->points) +
                               kf_cost_inverse((double)curvature->hessian.size));
    task->problem.objective.memory_failed |= !room;
    curvature->since.lost = 0; /* those that have left are not in it */
    return room;
}

/* All leverages are known, and points are left out for what they say. *changed: there are such. False: no inverse without them. */
static bool leave_out_near(struct kf_curvature *curvature, struct kf_task *task, double target, bool *changed)
{
    *changed = mark_near(curvature, best_radius(curvature, target)) > 0;
    return !*changed || (without_marked(curvature, task) && curvature->hessian.type->invert(&curvature->hessian));
}

static bool piecewise_find(struct kf_curvature *curvature, struct kf_task *task, double target)
{
    bool changed;
    if ((mark_roomless(curvature) && !without_marked(curvature, task)) || !kf_leverages_invert(curvature, task))
        return false;
    kf_leverages_measure_all(curvature, task);
    if (!leave_out_near(curvature, task, target, &changed))
        return false;
    if (changed) {
        kf_leverages_measure_all(curvature, task);
    }
    curvature->leverages.inflation = 1;
    curvature->leverages.known = curvature->points;
    return true;
}

static bool piecewise_choose(struct kf_curvature *curvature, struct kf_task *task, double target, bool *again)
{
    if (!leave_out_near(curvature, task, target, again))
        return false;
    if (*again)
        curvature->leverages.known = 0;
    return true;
}

static double piecewise_radius(const struct kf_curvature *curvature)
{
    double least = INFINITY;
    for (size_t j = 0; j < curvature->points; j++)
        if (curvature->leverages.of[j] >= 0 && curvature->curves.of[j] > 0)
            least = fmin(least, ball_of(curvature, j, curvature->rooms.of[j]));
    return fmax(least, 0);
}

/* ---- how far x may go ---- */

static double piecewise_stretch_of(const struct kf_curvature *curvature, double length)
{
    (void)curvature;
    return length;
}

/* By the rooms at x, where the slopes there are known, otherwise by those at the anchor, and what scores have moved by. */
static double piecewise_look(const struct kf_curvature *curvature, const struct kf_problem *problem,
                             const double *slopes, const double *delta)
{
    const struct kf_objective *objective = &problem->objective;
    double least = INFINITY, radius = curvature->rooms.radius,
           off = slopes ? 0 : kf_score_rounding(objective, kf_score_most(objective, delta));
    for (size_t j = 0; j < curvature->points; j++) {
        if (curvature->leverages.of[j] < 0 || !(curvature->curves.of[j] > 0))
            continue;
        double room = slopes ? room_of(problem, j, slopes[j])
                             : curvature->rooms.of[j] - (fabs(kf_score(problem, j, delta)) + off) * KF_UPWARD;
        least = fmin(least, ball_of(curvature, j, room));
    }
    return least < radius ? (radius - least) * KF_UPWARD : 0;
}

static double radius_left(const struct kf_curvature *curvature)
{
    double radius = curvature->rooms.radius;
    return isinf(radius) ? radius : radius * DOWNWARD - curvature->since.stretch;
}

static bool piecewise_is_far(const struct kf_curvature *curvature, double target)
{
    return radius_left(curvature) < RADIUS_LEFT * sqrt(2 * target);
}

static double piecewise_share(const struct kf_curvature *curvature, const struct kf_problem *problem, double stretch)
{
    (void)curvature;
    (void)problem;
    (void)stretch;
    return 1;
}

static double piecewise_bound(const struct kf_curvature *curvature, const struct kf_problem *problem, double square,
                              double c, double most, double enough)
{
    (void)problem;
    (void)most;
    (void)enough;
    return sqrt(square) * KF_UPWARD <= c * radius_left(curvature) ? square / (2 * c) : INFINITY;
}

const struct kf_fall kf_piecewise_fall = {
    .name = "pieces",
    .has_rooms = true,
    .recentres = true,
    .find = piecewise_find,
    .choose = piecewise_choose,
    .radius = piecewise_radius,
    .stretch_of = piecewise_stretch_of,
    .look = piecewise_look,
    .is_far = piecewise_is_far,
    .share = piecewise_share,
    .bound = piecewise_bound,
};
