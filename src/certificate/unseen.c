/* Newton's steps without a pass: the slopes are those of an earlier x, and what curvatures make of the moves since (modelled.c)
 * says what they are now, and by how much at most that is off. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "certificate/certificate.h"
#include "kernels/kernels.h"

/* A step without a pass is good if what it may be off by is less than this share of the target, and with what the model says of the
 * gradient that one. */
#define UNSEEN_TO 0.4   /* speed: bench/tuning.md */
#define UNSEEN_MOST 0.6 /* speed: bench/tuning.md */

/* Two ends of a step, x + length * direction with lengths of at most 1, lie where they are computed to lie, and their difference is off by so
 * many units of x and the direction. */
#define UNITS_OF_ENDS 8 /* proof: "Theorem 2 (losses followed)" */

double kf_certificate_foresee_change(const struct kf_task *task, const struct kf_certificate *certificate,
                                     const double *direction, double length)
{
    size_t size = kf_size(&task->problem);
    const double *sum = certificate->sum, *x = task->iterate.x;
    const struct kf_curvature *curvature = &certificate->curvature;
    bool modelled = kf_is_modelled(certificate);
    double change = length * kf_dot(size, sum, direction), off = 0, ends = 0, unit = UNITS_OF_ENDS * KF_UNIT;
    if (!kf_goal_follows(&task->problem) || (modelled && !kf_is_certified(curvature)))
        return NAN;
    for (size_t k = 0; k < size; k++) {
        off += fabs(direction[k]) * (certificate->off[k] + kf_gamma((double)size + 8) * fabs(sum[k]));
        ends += (fabs(x[k]) + fabs(direction[k])) * (certificate->off[k] + fabs(sum[k]));
    }
    if (modelled) {
        double along = kf_curvature_length(curvature, direction), far = kf_curvature_length(curvature, x);
        off += curvature->since.error * along;
        ends += curvature->since.error * (along + far);
    }
    return change - (fabs(length) * off + unit * ends) * (1 + kf_gamma((double)size)) * KF_UPWARD;
}

/* Where the points' scores will have moved to by the direction. False: no memory. */
static bool foresee_moves(struct kf_task *task, struct kf_certificate *certificate, const double *direction)
{
    struct kf_slopes *slopes = &certificate->slopes;
    size_t count = task->problem.points.count;
    if (!KF_RESERVE(slopes->moved, slopes->moved_capacity, count) ||
        !KF_RESERVE(slopes->trial, slopes->trial_capacity, count)) {
        task->problem.objective.memory_failed = true;
        return false;
    }
    kf_single_scores(&task->problem.objective, direction, 0, count, slopes->trial);
    if (kf_is_modelled(certificate))
        kf_add(count, 1, slopes->moved, slopes->trial);
    kf_spend(&task->stage, kf_cost_pass(&task->problem));
    return true;
}

/* What the scores of a step along the direction, and with them the moves so far, are off by: in the products, in the sums, and in where x
 * gets to. */
static struct kf_moves foresee_rounding(const struct kf_task *task, const struct kf_slopes *slopes,
                                        const double *direction, double *most)
{
    const struct kf_objective *objective = &task->problem.objective;
    double along = kf_score_most(objective, direction);
    *most = slopes->moved_most + along;
    double off =
        kf_score_rounding(objective, along) + KF_UNIT * (*most + along + kf_score_most(objective, task->iterate.x));
    return (struct kf_moves){slopes->trial, (slopes->moved_off + off) * KF_UPWARD};
}

/* x moves along the direction, and everything that is known of it follows, but for `moved`. */
static void move(struct kf_task *task, struct kf_certificate *certificate, const double *direction, double error,
                 double most)
{
    struct kf_curvature *curvature = &certificate->curvature;
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    double change = kf_certificate_foresee_change(task, certificate, direction, 1);
    kf_curvature_follow(curvature, task, certificate->slopes.at, direction, &tracked);
    kf_add(kf_size(&task->problem), 1, direction, task->iterate.x);
    certificate->gradient = KF_GRADIENT_MODELLED;
    kf_certificate_measure_anew(task, certificate);
    kf_goal_move(&certificate->goal, task, task->iterate.x, change);
    kf_curvature_move(curvature, task, &tracked);
    kf_curvature_doubt(curvature, error, most);
}

/* What a step changes besides vectors. */
struct before {
    struct kf_goal goal;
    struct kf_since since;
    double square;
    enum kf_gradient gradient;
};

/* The step is taken back: nothing has happened, but that the intercept's proof is to be made anew. */
static void take_back(struct kf_task *task, struct kf_certificate *certificate, const struct before *before)
{
    struct kf_curvature *curvature = &certificate->curvature;
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    kf_copy(&task->problem, task->iterate.x, certificate->start.x);
    kf_copy(&task->problem, certificate->sum, certificate->start.sum);
    kf_copy(&task->problem, certificate->off, certificate->start.off);
    certificate->goal = before->goal;
    certificate->square = before->square;
    certificate->gradient = before->gradient;
    kf_curvature_move(curvature, task, &tracked);
    kf_curvature_doubt(curvature, before->since.error, before->since.stretch);
    curvature->since.rough = before->since.rough;
}

bool kf_certificate_step_unseen(struct kf_task *task, struct kf_certificate *certificate, const double *direction)
{
    struct kf_curvature *curvature = &certificate->curvature;
    struct kf_slopes *slopes = &certificate->slopes;
    double target = certificate->now.target, error, most, farthest;
    assert(kf_remembers_slopes(certificate) && kf_is_certified(curvature));
    if (!kf_curvature_foretells(&task->problem) || !foresee_moves(task, certificate, direction))
        return false;
    struct kf_moves moves = foresee_rounding(task, slopes, direction, &farthest);
    error = kf_curvature_error(curvature, &task->problem, slopes->at, &moves, &most);
    if (!(kf_curvature_foresee(curvature, &task->problem, error, most) <= UNSEEN_TO * target))
        return false;
    struct before before = {certificate->goal, curvature->since, certificate->square, certificate->gradient};
    kf_certificate_set_out(task, certificate);
    move(task, certificate, direction, error, most);
    struct kf_tracked tracked = kf_certificate_tracked(certificate);
    if (!(kf_curvature_bound(curvature, task, &tracked, UNSEEN_MOST * target) <= UNSEEN_MOST * target)) {
        take_back(task, certificate, &before);
        return false;
    }
    memcpy(slopes->moved, slopes->trial, task->problem.points.count * sizeof *slopes->moved);
    slopes->moved_most = farthest;
    slopes->moved_off = moves.off;
    task->stage.steps++;
    kf_certificate_check(task, certificate);
    return true;
}
