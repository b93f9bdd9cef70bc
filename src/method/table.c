/* Continual SAGA, held and certified. The table has the factors of every point's gradient when it was last computed, and the
 * drift is their sum m. While all of them were taken at the current x, m is the exact gradient sum: x is held, a new
 * point joins the table with 1 FO, and the bound of every stage is proved.
 *
 * When the bound exceeds what epsilon asks for, x moves by SAGA's steps
 *
 *     x <- P(x - step * (grad f_u(x) - table_u + m/W + 2 lambda x)),   table_u <- grad f_u(x)                      (1 FO)
 *
 * until |m/W + 2 lambda x|^2/(2 mu), with a table that is now partly stale, is below half of that. Then the table is filled at the
 * new x (i FOs) and the bound is proved again, or the walk goes on. With --guarantee estimate the table is not filled and the
 * estimate counts.
 *
 * The step starts at 1/(3L), L the largest curvature of any point, and adapts: rounds that bring the estimate down make it
 * longer, up to a few times that, since hardly any point shows its largest curvature; a round that does not makes it shorter.
 *
 * In the whole space |m/W + 2 lambda x|^2 follows |m|^2, m.x and |x|^2, which a new point changes in O(nnz); they are computed
 * anew when x has moved, and before rounding adds up. */
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "certificate/goal.h"
#include "iterate/step.h"
#include "kernels/kernels.h"
#include "method/constants.h"
#include "method/method.h"
#include "problem/costs.h"
#include "problem/gap.h"

#define STEP_FIRST (1.0 / 3) /* speed: bench/tuning.md */
/* Only losses that bend less away from 0 than at it allow longer steps. */
#define STEP_MOST(loss) ((loss) && (loss)->probabilities ? 1.0 : STEP_FIRST)
#define STEP_LEAST 0.02 /* safety: rounding is what is left */
/* So many rounds and steps, or walks, without a hundredth less lead nowhere: epsilon is below what rounding leaves. */
#define ROUNDS_IDLE 1000  /* safety: an end */
#define STEPS_IDLE 100000 /* safety: an end */
#define WALKS_IDLE 8      /* safety: an end */
#define WORTH_WHILE 0.99  /* safety: an end */
#define PASSES_MOST 4     /* safety: an end; a round */
/* A round that ends this much worse than it began went astray. */
#define GONE_ASTRAY 1e3    /* safety: diverging */
#define USUAL_SHARE 0.75   /* speed: bench/tuning.md */
#define ESTIMATE_SHARE 0.5 /* speed: bench/tuning.md */
#define SYNCHRONISE                                                                                                    \
    1024 /* safety: rounding of so many additions; points, at most, between two computations of the three products */
/* They are computed anew at once where rounding in them is more than this share of the target, and the bound exceeds it. */
#define BLURRED_FROM 0.01 /* safety: rounding, of the target */

struct table {
    double *factors; /* of every point */
    size_t factors_capacity;
    double *before, *sum;  /* x before a walk; for a relative epsilon also m */
    double step;           /* times 1/L */
    double usual;          /* steps that a walk took lately */
    bool filled;           /* the table has all points but the newest */
    bool stale;            /* some were taken at another x */
    uint64_t taken;        /* points that have come or left since it was filled */
    double mm, mx, xx;     /* |m|^2, m.x, |x|^2 */
    double mm_off, mx_off; /* what rounding may have done to these, */
    double off, length;    /* and to m, as a length; |m|, or a little more */
    unsigned followed;     /* points since these were computed */
    struct kf_goal goal;
    struct kf_outcome now; /* of this stage, so far */
};

static keepfit_status table_create(struct kf_task *task, void *state, keepfit_error *error)
{
    struct table *table = state;
    (void)error;
    table->step = STEP_FIRST;
    bool relative = task->problem.options->epsilon_kind == KF_EPSILON_RELATIVE;
    bool room = kf_iterate_prepare(task, KF_NEEDS_DRIFT) && kf_task_vector(task, &table->before) &&
                (!relative || kf_task_vector(task, &table->sum));
    return room ? KEEPFIT_OK : KEEPFIT_NO_MEMORY;
}

/* Whether three numbers tell the gradient's norm: in the whole space, where all coordinates are regularised. */
static bool has_products(const struct kf_problem *problem)
{
    return kf_domain_is_whole(&problem->domain) && !problem->objective.free && kf_is_single(&problem->objective);
}

static bool is_proved(const struct kf_problem *problem)
{
    return problem->options->guarantee == KF_GUARANTEE_PROVED;
}

/* What the gradient m/W + 2 lambda x may be off by, as a length. */
static double doubt_of(const struct kf_problem *problem, const struct table *table)
{
    double mean = kf_inverse_weight(&problem->objective), mu = 2 * problem->objective.lambda;
    return (mean * table->off + 6 * KF_UNIT * (mean * table->length + mu * sqrt(table->xx))) * KF_UPWARD;
}

/* The bound from all of m and x, or, where it is not to be proved, an estimate. */
static double measure(struct kf_task *task, struct table *table, bool proves)
{
    assert(!(proves && table->stale && is_proved(&task->problem))); /* m has to be the gradient sum at x */
    const double *x = kf_read(task);
    double *gradient = kf_borrow(task);
    size_t size = kf_size(&task->problem), free = task->problem.objective.free;
    double upward = 1 + kf_gamma((double)size + 8);
    kf_drift_read(task, gradient);
    table->mm = kf_square(size, gradient);
    table->mx = kf_dot(size, gradient, x);
    table->xx = kf_square(size - free, x + free) * upward;
    table->length = sqrt(table->mm) * upward;
    table->mm_off = kf_gamma((double)size + 8) * table->mm * upward;
    table->mx_off = kf_gamma((double)size + 8) * table->length * sqrt(table->xx) * upward;
    table->followed = 0;
    kf_spend(&task->stage, 2.0 * (double)size);
    kf_complete_gradient(&task->problem.objective, gradient, x, gradient);
    double bound = proves && kf_bounds_gap(&task->problem)
                       ? kf_gap_bound(&task->problem, x, gradient, NULL, doubt_of(&task->problem, table))
                       : kf_gap_estimate(&task->problem, x, gradient);
    kf_give_back(task, gradient);
    return bound;
}

/* Products of numbers that are smaller say nothing. */
#define SQUARES_FROM 0x1p-400 /* proof: "Theorem 20 (gradient bound in numbers)" */

/* The same from the three products, where they tell enough digits of it. */
static double bound_now(struct kf_task *task, struct table *table)
{
    if (!has_products(&task->problem) || table->followed > SYNCHRONISE)
        return measure(task, table, true);
    double mean = kf_inverse_weight(&task->problem.objective), mu = 2 * task->problem.objective.lambda;
    double of_m = mean * mean * table->mm, of_both = 2 * mean * mu * table->mx, of_x = mu * mu * table->xx;
    double off =
        mean * mean * table->mm_off + 2 * mean * mu * table->mx_off + 16 * KF_UNIT * (of_m + fabs(of_both) + of_x);
    double length = sqrt(fmax(of_m + of_both + of_x, 0) + off) + doubt_of(&task->problem, table);
    if (!(length > SQUARES_FROM)) /* what the products are sums of may have underflowed */
        return kf_gap_is_nothing(&task->problem, kf_read(task)) ? 0 : measure(task, table, true);
    double bound = length * length / (2 * mu) * KF_UPWARD + KF_UNDERFLOW;
    bool blurred = off / (2 * mu) > BLURRED_FROM * table->now.target;
    return bound > table->now.target && blurred ? measure(task, table, true) : bound;
}

/* The three products follow a change of m by factor times row j, whose score may be off by `blur`. */
static void follow(struct kf_task *task, struct table *table, double factor, size_t j, double blur)
{
    struct kf_pair on = kf_iterate_dots(task, j); /* with x and with m */
    keepfit_row row = kf_points_row(&task->problem.points, j);
    double square = kf_square(row.count, row.value), gamma = kf_gamma((double)row.count + 8);
    double length = fabs(factor) * sqrt(square);
    table->mm += factor * (2 * on.second + factor * square);
    table->mx += factor * on.first;
    table->mm_off += (gamma * length * (4 * table->length + 2 * length) + 2 * KF_UNIT * fabs(table->mm)) * KF_UPWARD;
    table->mx_off += (2 * fabs(factor) * blur + 2 * KF_UNIT * fabs(table->mx)) * KF_UPWARD;
    table->followed++;
}

/* m changes by scale times what the factors of point j stand for. Returns what the point's scores may be off by. */
static double change_drift(struct kf_task *task, struct table *table, double scale, size_t j, const double *factors)
{
    const struct kf_objective *objective = &task->problem.objective;
    keepfit_row row = kf_points_row(&task->problem.points, j);
    double blur, size = sqrt(kf_square(objective->type->factor_count(objective), factors));
    double length = objective->loss ? sqrt(kf_square(row.count, row.value)) * size : size;
    table->off += kf_rounding_length(objective, kf_read(task), j, factors, table->length + length, &blur);
    if (has_products(&task->problem))
        follow(task, table, scale * factors[0], j, blur);
    table->length += length * (1 + kf_gamma((double)row.count + 8));
    kf_drift_add(task, scale, j, factors);
    return blur;
}

/* The table is filled with gradients at x, and m is their sum. */
static void fill(struct kf_task *task, struct table *table)
{
    kf_drift_recompute(task, task->problem.points.count, table->factors);
    kf_rounding_of_pass(&task->problem.objective, kf_read(task), task->vectors.doubt);
    table->off = sqrt(kf_square(kf_size(&task->problem), task->vectors.doubt)) *
                 (1 + kf_gamma((double)kf_size(&task->problem) + 8));
    table->stale = false;
    table->taken = 0;
}

static void walk(struct kf_task *task, struct table *table, uint64_t steps)
{
    size_t count = task->problem.points.count;
    kf_steps(task,
             &(struct kf_course){.step = table->step / kf_constant_smoothness(&task->problem),
                                 .estimator = kf_estimate_by_table(count, kf_inverse_weight(&task->problem.objective)),
                                 .bound = count,
                                 .count = steps,
                                 .table = table->factors});
    bool inside = !task->iterate.scaled && !kf_domain_is_whole(&task->problem.domain);
    kf_spend(&task->stage, kf_cost_step(&task->problem, inside) * (double)steps);
    table->stale = true;
}

/* The step was too long: x is where the walk began again, the table is filled there, and steps are shorter from now on. */
static void go_back(struct kf_task *task, struct table *table)
{
    assert(table->stale);
    kf_read(task);
    kf_copy(&task->problem, task->iterate.x, table->before);
    kf_load(task);
    fill(task, table);
    task->iterate.overflown = false;
    table->step = fmax(0.25 * table->step, STEP_LEAST);
}

/* A look at the estimate costs O(d), and a round of steps should not be cheaper than that; but four passes over few points with
 * many features do as much as more of them, and cost fewer gradients. */
static uint64_t round_length(const struct kf_problem *problem)
{
    size_t i = problem->points.count, row = problem->points.entries / i + 1;
    uint64_t least = i / 8 + 8, most = PASSES_MOST * i, worth = 2 * kf_size(problem) / row;
    worth = worth < most ? worth : most;
    return worth > least ? worth : least;
}

/* The least that has been reached, and how often in vain since. */
struct progress {
    double least;
    uint64_t idle;
};

static void take_note(struct progress *progress, double reached)
{
    bool further = reached < WORTH_WHILE * progress->least;
    progress->idle = further ? 0 : progress->idle + 1;
    if (further)
        progress->least = reached;
}

/* Rounds of steps until the estimate is `enough`; the first one is most of what was needed lately. The budget has to leave
 * room for filling the table: once to go back, once after. False: it is not reached. */
static bool walk_until(struct kf_task *task, struct table *table, double enough)
{
    bool proved = task->problem.options->guarantee == KF_GUARANTEE_PROVED;
    uint64_t round = round_length(&task->problem), walked = 0;
    uint64_t patience = STEPS_IDLE / round > ROUNDS_IDLE ? STEPS_IDLE / round : ROUNDS_IDLE;
    uint64_t after = proved ? 2 * task->problem.points.count : 0;
    double estimate = table->now.bound, most = STEP_MOST(task->problem.objective.loss);
    struct progress progress = {.least = estimate};
    while (!(estimate <= enough) && progress.idle < patience && kf_affords(task, round + after)) {
        uint64_t usual = (uint64_t)fmin(USUAL_SHARE * table->usual, (double)ROUNDS_IDLE * (double)round);
        uint64_t steps = walked == 0 && usual > round && kf_affords(task, usual + after) ? usual : round;
        walk(task, table, steps);
        double now = measure(task, table, false);
        walked += steps;
        take_note(&progress, now);
        if (!(now <= GONE_ASTRAY * estimate)) {
            go_back(task, table);
            estimate = measure(task, table, false);
            continue;
        }
        table->step = now < estimate ? fmin(1.1 * table->step, most) : fmax(0.5 * table->step, STEP_LEAST);
        estimate = now;
    }
    if (progress.idle < patience)
        table->usual += 0.5 * ((double)walked - table->usual);
    return estimate <= enough;
}

/* Where the walk began, and then by how much the losses have changed since, at least. */
static void remember_start(struct kf_task *task, struct table *table)
{
    kf_copy(&task->problem, table->before, kf_read(task));
    if (table->sum)
        kf_drift_read(task, table->sum);
}

/* sum.(x - before), less what rounding and the sum's own error may have added. */
static double least_change(const struct kf_problem *problem, const struct table *table, const double *x)
{
    double change = 0, sizes = 0, square = 0;
    for (size_t k = 0; k < kf_size(problem); k++) {
        double move = x[k] - table->before[k], term = table->sum[k] * move;
        change += term;
        sizes += fabs(term);
        square += move * move;
    }
    double gamma = kf_gamma((double)kf_size(problem) + 8);
    return change - (gamma * sizes + table->off * sqrt(square)) * (1 + gamma) * KF_UPWARD;
}

static void tell_goal(struct kf_task *task, struct table *table, bool exact)
{
    double change = NAN;
    const double *x = kf_read(task);
    if (table->sum && exact)
        change = least_change(&task->problem, table, x);
    kf_goal_move(&table->goal, task, x, change);
}

/* Makes m exact where that was asked for, and looks where that leaves us. */
static void make_exact(struct kf_task *task, struct table *table)
{
    bool proves = is_proved(&task->problem);
    if (proves && table->stale)
        fill(task, table);
    table->now.bound = measure(task, table, proves);
    table->now.target = kf_goal_target(&table->goal, &task->problem, table->xx);
}

static bool reserve(const struct kf_problem *problem, struct table *table)
{
    size_t i = problem->points.count, each = problem->objective.type->factor_count(&problem->objective);
    return i <= SIZE_MAX / each / sizeof(double) && KF_RESERVE(table->factors, table->factors_capacity, i * each);
}

/* All points at once, at the beginning and when remembered gradients are void. */
static void begin(struct kf_task *task, struct table *table)
{
    fill(task, table);
    kf_goal_move(&table->goal, task, kf_read(task), NAN);
    table->filled = true;
    measure(task, table, false);
}

/* The bound would do if it were not for what rounding has left of points that came and went: then the table is filled anew. */
static void clear_up(struct kf_task *task, struct table *table)
{
    if (table->stale || !table->taken || table->now.bound <= table->now.target || !is_proved(&task->problem) ||
        !kf_affords(task, task->problem.points.count) || !(measure(task, table, false) <= table->now.target))
        return;
    fill(task, table);
    table->now.bound = measure(task, table, true);
}

/* The bound, and what it takes to bring it down. */
static keepfit_status table_settle(struct kf_task *task, void *state, struct kf_outcome *outcome, keepfit_error *error)
{
    struct table *table = state;
    struct kf_objective *objective = &task->problem.objective;
    if (!table->filled && !reserve(&task->problem, table))
        return kf_fail_memory(error);
    if (!table->filled)
        begin(task, table);
    else if (table->stale && is_proved(&task->problem)) /* it is from a fit that estimates were enough for */
        begin(task, table);
    table->now.target = kf_goal_target(&table->goal, &task->problem, table->xx);
    table->now.bound = bound_now(task, table);
    clear_up(task, table);
    struct progress progress = {.least = table->now.bound};
    bool reached = true;
    while (reached && !(table->now.bound <= table->now.target) && progress.idle < WALKS_IDLE) {
        bool exact = !table->stale;
        uint64_t spent = objective->fo;
        remember_start(task, table);
        reached = walk_until(task, table, ESTIMATE_SHARE * table->now.target);
        if (objective->fo == spent)
            break; /* the budget is spent */
        tell_goal(task, table, exact);
        make_exact(task, table);
        take_note(&progress, table->now.bound);
    }
    table->now.proof = is_proved(&task->problem) ? KF_PROOF_GRADIENT : KF_PROOF_ESTIMATE;
    *outcome = table->now;
    if (!kf_bounds_gap(&task->problem)) { /* an estimate, which proves nothing */
        outcome->bound = NAN;
        outcome->proof = KF_PROOF_NONE;
    }
    return KEEPFIT_OK;
}

/* The newest point joins the table at the current x. */
static keepfit_status table_take(struct kf_task *task, void *state, double loss, keepfit_error *error)
{
    struct table *table = state;
    struct kf_objective *objective = &task->problem.objective;
    size_t newest = task->problem.points.count - 1, each = objective->type->factor_count(objective);
    if (!reserve(&task->problem, table))
        return kf_fail_memory(error);
    if (!table->filled)
        return KEEPFIT_OK; /* with all the others, when they settle */
    double *factors = table->factors + newest * each;
    kf_factors(objective, &task->iterate.view, newest, factors);
    kf_goal_take(&table->goal, task, loss, change_drift(task, table, 1, newest, factors));
    table->taken++;
    return KEEPFIT_OK;
}

static void table_leave(struct kf_task *task, void *state, size_t j)
{
    struct table *table = state;
    size_t count = task->problem.points.count,
           each = task->problem.objective.type->factor_count(&task->problem.objective);
    if (!table->filled)
        return;
    double blur = change_drift(task, table, -1, j, table->factors + j * each);
    kf_goal_drop(&table->goal, task, &task->iterate.view, j, blur);
    table->taken++;
    kf_points_close_gap(table->factors, count, each, j);
}

static void table_forget(struct kf_task *task, void *state)
{
    struct table *table = state;
    (void)task;
    table->filled = false;
    table->step = STEP_FIRST;
    table->usual = 0;
}

static void table_archive(struct kf_task *task, void *state, struct kf_archive *archive)
{
    struct table *table = state;
    size_t each = task->problem.objective.type->factor_count(&task->problem.objective);
    double *reals[] = {&table->step, &table->usual, &table->mm, &table->mx, &table->xx};
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
        kf_archive_real(archive, reals[k]);
    kf_archive_require(archive, table->step > 0 && table->step <= STEP_MOST(task->problem.objective.loss) &&
                                    table->usual >= 0 && table->usual <= (double)task->stage.steps);
    size_t followed = table->followed;
    kf_archive_count(archive, &followed, UINT_MAX);
    table->followed = (unsigned)followed;
    kf_archive_flag(archive, &table->filled);
    kf_archive_flag(archive, &table->stale);
    if (archive->version >= KF_VERSION_WITH_ROUNDING) {
        double *rounding[] = {&table->mm_off, &table->mx_off, &table->off, &table->length};
        for (size_t k = 0; k < sizeof rounding / sizeof rounding[0]; k++)
            kf_archive_real(archive, rounding[k]);
        kf_archive_number(archive, &table->taken);
    }
    kf_goal_archive(&table->goal, archive);
    kf_archive_array(archive, &table->factors, &table->factors_capacity,
                     table->filled ? task->problem.points.count * each : 0);
}

static void table_destroy(void *state)
{
    free(((struct table *)state)->factors);
}

const struct kf_method kf_table = {
    .name = "table",
    .summary = "hold the model with a table of all gradients; saga's steps when the proved bound exceeds epsilon",
    .does = "holds x with a table of all gradients; when the bound exceeds epsilon, saga's steps, then the table is "
            "filled anew",
    .gradients = "1, sometimes the steps and i",
    .output = "within epsilon, proved",
    .needs_convexity = true,
    .holds_epsilon = true,
    .scaled = true,
    .state_size = sizeof(struct table),
    .create = table_create,
    .forget = table_forget,
    .leave = table_leave,
    .take = table_take,
    .settle = table_settle,
    .archive = table_archive,
    .destroy = table_destroy,
};
